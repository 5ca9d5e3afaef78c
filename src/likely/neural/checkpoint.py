"""Checkpoints of training: everything that the next epoch depends on, in one file.

    state     θ, what the update rule remembers, the number of steps
    best      θ of the best epoch so far
    curve     losses, rates and seconds of the epochs so far
    meaning   the architecture and the settings; other ones are refused

Orders of rows, masks of dropout and learning rates are functions of the seed, the epoch and the
curve, so that training that continues from a file is, bit for bit, training that never stopped.
The file is written under another name and renamed, so that it is always whole.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidFile, InvalidInput
from likely.neural.history import LossCurve
from likely.storage.files import write_atomically
from likely.storage.tensors import TensorFormat

FORMAT = 1  # raised when an older version of likely could misread the file
CHECKPOINTS = TensorFormat(
    "likely checkpoint",
    "a checkpoint",
    "a fit with checkpoint=…",
    "Start a new training, without resume.",
)
HEADER_FIELDS = {"format", "meaning", "phase", "seed", "start_loss", "tensors"}
CURVES = ("curve", "earlier")  # of this phase, and of the one before
Meaning = dict[str, str]  # settings in words, by name
AnyPath = str | os.PathLike[str]


@final
@dataclass(frozen=True, eq=False)
class Checkpoint:
    """Training after an epoch."""

    state: dict[str, Array]
    best: Array  # θ of the best epoch
    curve: LossCurve
    start_loss: float  # before the first epoch
    seed: int
    phase: int = 0  # 0: training; 1: the end game
    earlier: LossCurve | None = None  # of phase 0, in phase 1


def path_of_network(path: AnyPath, number: int | None) -> AnyPath:
    """The file of one of several networks, counted from 0: ``training.checkpoint.1`` is the first.

    A training of one network has no number.
    """
    return path if number is None else f"{os.fspath(path)}.{number + 1}"


def meaning_of_network(meaning: Meaning, number: int, n_networks: int) -> Meaning:
    """What the checkpoint of one of several networks means; empty where none is written."""
    return {**meaning, "the network": f"{number + 1} of {n_networks}"} if meaning else {}


def write_checkpoint(path: AnyPath, meaning: Meaning, checkpoint: Checkpoint) -> None:
    """Write the file, or leave the one before."""
    tensors = {f"state.{name}": array for name, array in checkpoint.state.items()}
    tensors["best"] = checkpoint.best
    for name, curve in zip(CURVES, (checkpoint.curve, checkpoint.earlier), strict=True):
        if curve is not None:
            for each in fields(curve):
                tensors[f"{name}.{each.name}"] = np.array(getattr(curve, each.name), dtype=float)
    header = {
        "format": FORMAT,
        "meaning": meaning,
        "phase": checkpoint.phase,
        "seed": checkpoint.seed,
        "start_loss": repr(checkpoint.start_loss),  # JSON has no infinity
    }
    write_atomically(Path(path), CHECKPOINTS.content(header, tensors))


def read_checkpoint(path: AnyPath, meaning: Meaning) -> Checkpoint:
    """The training of a file, if it has this meaning."""
    content = CHECKPOINTS.read(Path(path), path)
    try:
        tensors = CHECKPOINTS.tensors(content, path)
        header = CHECKPOINTS.header(content, path)
        CHECKPOINTS.check(header, tensors, path)
        if set(header) != HEADER_FIELDS or header["format"] != FORMAT:
            raise InvalidInput(
                f"it has format {str(header.get('format'))[:20]}; format {FORMAT} was expected. "
                "Use the version of likely that wrote it."
            )
        _refuse_other_meaning(header["meaning"], meaning)
        return _checkpoint(header, CHECKPOINTS.arrays(header["tensors"], tensors))
    except InvalidFile:
        raise
    except InvalidInput as error:
        raise InvalidFile(path, str(error)) from None
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InvalidFile(
            path,
            f"its header is not well formed ({type(error).__name__}: {str(error)[:80]}); expected "
            f"{CHECKPOINTS.what}. {CHECKPOINTS.remedy}",
        ) from None


def digest_of(*arrays: Any) -> str:
    """A short SHA-256 of arrays: of different ones, it differs."""
    from hashlib import sha256

    digest = sha256()
    for array in arrays:
        values = np.ascontiguousarray(array)
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()[:16]


def _checkpoint(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Checkpoint:
    curves = [_curve(name, arrays) for name in CURVES]
    assert curves[0] is not None  # or the header was not well formed
    return Checkpoint(
        state={
            name.removeprefix("state."): array
            for name, array in arrays.items()
            if name.startswith("state.")
        },
        best=arrays["best"],
        curve=curves[0],
        start_loss=float(header["start_loss"]),
        seed=int(header["seed"]),
        phase=int(header["phase"]),
        earlier=curves[1],
    )


def _curve(name: str, arrays: Mapping[str, Array]) -> LossCurve | None:
    if f"{name}.loss" not in arrays:
        return None
    return LossCurve(*(tuple(arrays[f"{name}.{each.name}"].tolist()) for each in fields(LossCurve)))


def _refuse_other_meaning(found: Mapping[str, str], expected: Meaning) -> None:
    """Refuse a checkpoint of another network, of other rows or of other settings."""
    for name in [*expected, *(each for each in found if each not in expected)]:
        theirs, ours = found.get(name, "absent"), expected.get(name, "absent")
        if theirs != ours:
            length = " (a schedule by name may have the length of max_epochs)"
            about = (
                length if name == "schedule" and "epochs=" in theirs and "epochs=" in ours else ""
            )
            raise InvalidInput(
                f"it is a checkpoint of another training: {name} was {theirs}, and is {ours} now"
                f"{about}. Resume with the same settings and rows, or start a new training, "
                "without resume."
            )
