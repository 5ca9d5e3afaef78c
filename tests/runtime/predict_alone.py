"""Predict from saved models in a Python that has NumPy and safetensors only; run as a script.

    python predict_alone.py FOLDER

FOLDER holds NAME.likely, and cases.json with the rows of each; the answers are written to
answers.npz.  Every other package is refused, and so is one that is installed but not needed.
"""

import importlib.abc
import json
import sys
import warnings
from pathlib import Path

ALLOWED = {"likely", "numpy", "safetensors"}


class OthersRefused(importlib.abc.MetaPathFinder):
    """Finds nothing, and refuses what is neither allowed nor of the standard library."""

    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        if top not in ALLOWED and top not in sys.stdlib_module_names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


def main(folder):
    sys.meta_path.insert(0, OthersRefused())
    import numpy as np

    import likely.runtime

    warnings.simplefilter("ignore")
    cases = json.loads((folder / "cases.json").read_text())
    answers = {}
    for name, case in cases.items():
        predictor = likely.runtime.load(folder / f"{name}.likely")
        rows = case["rows"]
        rows = np.array(rows) if case["array"] else rows
        if isinstance(predictor, likely.runtime.WordCounts):
            found = [np.array([json.dumps(predictor.tokens(text)) for text in rows])]
        elif predictor.classes is None:
            found = [predictor.predict(rows, **case["beside"])]
        else:
            found = [predictor.predict_proba(rows), predictor.predict(rows)]
        for i, each in enumerate(found):
            answers[f"{name}/{i}"] = each.astype(str) if each.dtype.kind == "O" else each
    np.savez(folder / "answers.npz", **answers)
    loaded = {module.partition(".")[0] for module in sys.modules}
    sys.stdout.write("\n".join(sorted(loaded - sys.stdlib_module_names)) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
