"""Warming up compiles every loop there is."""

import subprocess
import sys

CHECK = """
import likely
likely.warmup()
import importlib, pkgutil
import likely.fast
loops = {
    f"{module.name}.{name}": loop
    for module in pkgutil.iter_modules(likely.fast.__path__)
    for name, loop in vars(importlib.import_module(f"likely.fast.{module.name}")).items()
    if hasattr(loop, "signatures")
}
assert len(loops) >= 20, loops
cold = [name for name, loop in loops.items() if not loop.signatures and "._" not in name]
assert not cold, cold
"""


def test_every_public_loop_is_compiled_after_a_warm_up():
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
