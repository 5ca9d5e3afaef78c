"""Train where everything is installed, predict where only NumPy and safetensors are.

The second half runs in a Python of its own, and prints which packages it has imported.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import likely as lk

PREDICT = """
import sys
import likely.runtime

model = likely.runtime.load(sys.argv[1])
rows = [{"text": "buy cheap pills", "caps": 0.9}, {"text": "lunch at noon", "caps": 0.1}]
for row, label, p in zip(rows, model.predict(rows), model.predict_proba(rows), strict=True):
    print(f"{row['text']:16} {label:5} {dict(zip(model.classes.tolist(), p.round(3).tolist()))}")
others = {"scipy", "sklearn", "numba", "pyarrow", "narwhals"} & {*sys.modules}
print("other packages that were imported:", ", ".join(sorted(others)) or "none")
"""

texts = ["cheap pills, buy now", "lunch at noon?", "buy cheap watches now", "see you at lunch"] * 15
table = {
    "text": [f"{text} {i}" for i, text in enumerate(texts)],
    "caps": [0.8, 0.1, 0.7, 0.2] * 15,
}

with tempfile.TemporaryDirectory() as folder:
    import pyarrow as pa

    path = Path(folder) / "mail.likely"
    model = lk.Prepared(lk.NaiveBayes()).fit(pa.table(table), ["spam", "ham"] * 30)
    lk.save(model, path)
    command = [sys.executable, "-c", PREDICT, str(path)]
    print(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
