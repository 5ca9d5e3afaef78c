"""Labelled rows for networks: drawn from a network, or the digits of a folder of problems."""

import lzma
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.race import Skipped

DIGITS = Path(__file__).resolve().parents[2] / "shared" / "data" / "mnist"


class LabelledRows(NamedTuple):
    X: np.ndarray  # float32, (n, p)
    y: np.ndarray  # codes of classes, int64


def drawn(n_rows: int, n_features: int, n_classes: int, *, seed: int = 0) -> LabelledRows:
    """Classes from a random network with one hidden layer."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features)).astype(np.float32)
    hidden = np.tanh(X @ rng.normal(size=(n_features, 30)) / np.sqrt(n_features))
    score = 3 * hidden @ rng.normal(size=(30, n_classes)) + rng.gumbel(size=(n_rows, n_classes))
    return LabelledRows(X, score.argmax(axis=1))


def digits(part: str) -> LabelledRows:
    """MNIST, "train" or "t10k": 784 grey values between 0 and 1."""
    images = _bytes(f"{part}-images-idx3-ubyte.xz", 16)
    labels = _bytes(f"{part}-labels-idx1-ubyte.xz", 8)
    X = images.reshape(len(labels), -1).astype(np.float32) / 255
    return LabelledRows(X, labels.astype(np.int64))


def _bytes(name: str, header: int) -> np.ndarray:
    file = DIGITS / name
    if not file.exists():
        raise Skipped(f"there is no {name}")
    return np.frombuffer(lzma.decompress(file.read_bytes()), np.uint8, offset=header)
