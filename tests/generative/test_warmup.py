"""Warming up compiles every loop there is."""

import subprocess
import sys

CHECK = """
import likely
likely.warmup()
import likely.fast.counts, likely.fast.mixture
loops = {
    f"{module.__name__}.{name}": loop
    for module in (likely.fast.counts, likely.fast.mixture)
    for name, loop in vars(module).items()
    if hasattr(loop, "signatures")
}
assert len(loops) >= 6, loops
cold = [name for name, loop in loops.items() if not loop.signatures and "._" not in name]
assert not cold, cold
"""


def test_every_public_loop_is_compiled_after_a_warm_up():
    done = subprocess.run([sys.executable, "-c", CHECK], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
