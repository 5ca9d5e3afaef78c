"""Run benchmarks:  python -m benchmarks.run [NAME] [--quick] [--render]

Without a name all of them run, one after the other, and RESULTS.md is written anew.  Each
leaves its figures in ``benchmarks/results/`` as JSON; ``--render`` writes RESULTS.md from those
and keeps the sections of the others, so that a machine may run them one by one.  ``--quick`` uses
small data, to see that everything works; it touches neither RESULTS.md nor the results of full
runs.
"""

import argparse
import json
import sys
import traceback
from collections.abc import Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path

from benchmarks.render import Result, page, section

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results"
PAGE = HERE / "RESULTS.md"
QUICK = 20  # times fewer rows

ORDER = (
    "gaussian_naive_bayes",
    "categorical_naive_bayes",
    "text",
    "text_stream",
    "gaussian_mixture",
    "scaling",
    "large_csv",
    "dense_logistic",
    "softmax",
    "sparse_logistic",
    "sparse_logistic_l1",
    "lasso_path",
    "lasso_path_noisy",
    "glm_mixed",
    "binary_links",
    "ordinal",
    "large_glm",
    "graph_networks",
    "graph_queries",
    "graph_rows",
    "graph_learning",
    "chain",
    "neural_epochs",
    "neural_digits",
    "neural_gpu",
    "neural_tune",
    "small_fits",
    "import",
)


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    if options.render:
        return _write_page()
    names = [_known(options.name)] if options.name else list(ORDER)
    failed = [name for name in names if not _run(name, quick=options.quick)]
    if failed:
        print(f"Failed: {', '.join(failed)}. RESULTS.md is as it was.", file=sys.stderr)
        return 1
    return 0 if options.name or options.quick else _write_page()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.run", description="Measure what is promised."
    )
    parser.add_argument("name", nargs="?", help=f"one of {', '.join(ORDER)}; all if left out")
    parser.add_argument("--quick", action="store_true", help="small data; numbers mean nothing")
    parser.add_argument(
        "--render", action="store_true", help="write RESULTS.md from earlier full runs"
    )
    return parser


def _known(name: str) -> str:
    plain = name.removesuffix(".py").removeprefix("bench_")
    if plain in ORDER:
        return plain
    near = get_close_matches(plain, ORDER, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise SystemExit(f"There is no benchmark {name!r}; choose one of {', '.join(ORDER)}.{hint}")


def _run(name: str, *, quick: bool) -> bool:
    """Measure, print and keep; a failure is told and the next one runs."""
    print(f"{name} …", file=sys.stderr, flush=True)
    shrink = QUICK if quick else 1
    try:
        report = import_module(f"benchmarks.bench_{name}").measure(shrink)
        result = report.as_json(name, shrink)
    except Exception:
        traceback.print_exc()
        return False
    folder = RESULTS / "quick" if quick else RESULTS
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n")
    print(section(result), flush=True)
    return True


def _write_page() -> int:
    """From the results of this machine; other benchmarks keep their sections."""
    files = [RESULTS / f"{name}.json" for name in ORDER]
    results: list[Result] = [json.loads(file.read_text()) for file in files if file.exists()]
    PAGE.write_text(page(results, ORDER, PAGE.read_text() if PAGE.exists() else ""))
    print(f"Wrote {PAGE.name}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
