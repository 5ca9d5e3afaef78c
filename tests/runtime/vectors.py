"""The test vectors: documents, options, and the terms of each document."""

import json
from pathlib import Path

VECTORS = json.loads(Path(__file__).with_name("vectors.json").read_text(encoding="utf-8"))
DOCUMENTS = VECTORS["documents"]
CASES = [(_case["options"], _case["terms"]) for _case in VECTORS["cases"]]
NAMES = [", ".join(f"{k}={v}" for k, v in options.items()) or "default" for options, _ in CASES]
