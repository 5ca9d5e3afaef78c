"""A CSV file that may be larger than memory: read in chunks, for the fit and the prediction."""

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa

import likely as lk

N_ROWS = 50_000  # may be any number; memory use stays the same


def write_rows(path: Path) -> None:
    rng = np.random.default_rng(0)
    with open(path, "w", encoding="utf-8") as file:
        file.write("length,colour,kind\n")
        for _ in range(N_ROWS):
            kind = rng.choice(["pike", "perch"])
            length = rng.normal(80 if kind == "pike" else 30, 12)
            colour = "green" if rng.random() < (0.8 if kind == "pike" else 0.3) else "grey"
            file.write(f"{length:.1f},{colour},{kind}\n")


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "fish.csv"
    write_rows(path)

    model = lk.NaiveBayes().fit(path, "kind")  # y is the name of a column
    print(f"{int(model.class_count_.sum()):,} rows, classes {', '.join(model.classes_)}")

    right = 0
    for batch in lk.read(path):  # Arrow batches of a few thousand rows
        rows = pa.Table.from_batches([batch])
        predicted = model.predict(rows.select(["length", "colour"]))
        right += int((predicted == rows.column("kind").to_numpy()).sum())
    print(f"accuracy on the training rows: {right / N_ROWS:.3f}")
