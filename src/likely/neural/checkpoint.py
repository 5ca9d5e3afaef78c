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
from scipy import sparse

from likely._typing import Array
from likely.errors import InvalidInput
from likely.neural.examples import Examples
from likely.neural.history import LossCurve
from likely.neural.options import Options
from likely.neural.outputs import Output
from likely.neural.settings import Batches, Training
from likely.storage.checks import Contents, Declared, Reader, check
from likely.storage.declarations import Present, SameCount, SameShape, check_range
from likely.storage.files import write_atomically
from likely.storage.tensors import TensorFormat
from likely.storage.values import refusals, same_count, same_names

ROWS_IN_DIGEST = 64
FORMAT = 1  # raised when an older version of likely could misread the file
CHECKPOINTS = TensorFormat(
    "likely checkpoint",
    "a checkpoint",
    "a fit with checkpoint=…",
    "Start a new training, without resume.",
)
HEADER_FIELDS = {"format", "meaning", "phase", "seed", "start_loss", "tensors"}
PAIRS, MEASURES = ("steps", "changes"), "measures"  # of the state of L-BFGS
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

    def check_saved(self) -> None:
        """Refuse an end game without the epochs before it, and a state that cannot go on."""
        if self.phase and (self.earlier is None or not self.earlier.n_epochs):
            raise InvalidInput(
                "it is of an end game, without the epochs before it. Start a new training, without "
                "resume."
            )
        for name, array in self.state.items():
            if name != MEASURES:
                check_range(f"The state's {name}", array, "finite")


def check_state(found: Mapping[str, Array], like: Mapping[str, Array]) -> None:
    """Refuse arrays of a state that have not the shapes of those at the start of a training."""
    same_names("The arrays of the state", dict(found), like)
    for name, array in like.items():
        ours, theirs = array.shape, found[name].shape
        if name in PAIRS:  # as many as there were steps
            same_count(f"The state's {name}", theirs[:1], found[PAIRS[0]].shape[:1])
            ours, theirs = ours[1:], theirs[1:]
        same_count(f"The state's {name}", theirs, ours)
        same_count(f"The type of the state's {name}", found[name].dtype.kind, array.dtype.kind)
        if array.dtype.kind == "i":
            check_range(f"The state's {name}", found[name], "not negative")


CURVE = Declared(
    {each.name: ["numbers", ["row", "float"], "not NaN"] for each in fields(LossCurve)},
    rules=(SameCount("loss", "rate", "seconds"),),
)
DECLARED = Declared(
    {
        "state": ["dict", "text", "array"],
        "best": ["numbers", "array", "finite"],
        "curve": ["named", LossCurve.__name__],
        "start_loss": ["numbers", "float", "not NaN"],
        "seed": ["numbers", "int", "not negative"],
        "phase": ["literal", 0, 1],
        "earlier": ["or", "none", ["named", LossCurve.__name__]],
    },
    rules=(
        Present("state.theta"),
        SameShape("best", "state.theta"),
        SameCount(1, "best.shape"),
    ),
)


@final
@dataclass(frozen=True)
class CheckpointValues(Reader):
    """What the walker asks, of a checkpoint."""

    def contents(self, value: Any) -> Contents | None:
        if isinstance(value, Checkpoint):
            return Contents("Checkpoint", vars(value), DECLARED, self, last=value.check_saved)
        if isinstance(value, LossCurve):
            return Contents("LossCurve", vars(value), CURVE, self, last=value.check_saved)
        return None

    def is_model(self, value: Any) -> bool:
        return False

    def is_class(self, value: Any) -> bool:
        return False

    def belongs(self, value: Any, group: str) -> bool:
        return type(value).__name__ == group


@final
@dataclass(frozen=True, eq=False)
class Keeper:
    """Where the checkpoints of a training go, and what they mean."""

    path: AnyPath
    meaning: Meaning
    seed: int
    phase: int = 0
    earlier: LossCurve | None = None

    def __call__(
        self, state: dict[str, Array], best: Array, curve: LossCurve, start_loss: float
    ) -> None:
        held = Checkpoint(state, best, curve, start_loss, self.seed, self.phase, self.earlier)
        write_checkpoint(self.path, self.meaning, held)


@final
@dataclass(frozen=True, eq=False)
class CheckpointFiles:
    """The files of a fit: of one network, or one for each of several.

    Those of several have a number: ``training.checkpoint.1`` is of the first.
    """

    training: Training
    meaning: Meaning
    n_networks: int = 1

    def keeper(self, number: int, seed: int) -> Keeper | None:
        """What writes the file of a network, numbered from 0; None where none is kept."""
        path = self.training.checkpoint
        return None if path is None else Keeper(self._path(path, number), self._of(number), seed)

    def resumed(self, number: int) -> Checkpoint | None:
        """The checkpoint to continue from; ``resume=True`` is that of ``checkpoint``, if it exists.

        Of several networks, the later ones may not have begun.
        """
        resume, kept = self.training.resume, self.training.checkpoint
        if resume is None or resume is False:
            return None
        if resume is True and kept is None:
            raise InvalidInput(
                "resume=True was given without checkpoint, the file to resume from. Use "
                "training=Training(checkpoint='training.checkpoint', resume=True)."
            )
        path = self._path(kept if resume is True else resume, number)
        if (resume is True or number) and not Path(path).exists():
            return None
        return read_checkpoint(path, self._of(number))

    def _path(self, path: AnyPath, number: int) -> AnyPath:
        return path if self.n_networks == 1 else f"{os.fspath(path)}.{number + 1}"

    def _of(self, number: int) -> Meaning:
        """What the file of one network means."""
        if self.n_networks == 1:
            return self.meaning
        return {**self.meaning, "the network": f"{number + 1} of {self.n_networks}"}


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
    with refusals(path, CHECKPOINTS):
        tensors = CHECKPOINTS.tensors(content, path)
        header = CHECKPOINTS.header(content, path)
        CHECKPOINTS.check(header, tensors, path)
        if set(header) != HEADER_FIELDS or header["format"] != FORMAT:
            raise InvalidInput(
                f"it has format {str(header.get('format'))[:20]}; format {FORMAT} was expected. "
                "Use the version of likely that wrote it."
            )
        _refuse_other_meaning(header["meaning"], meaning)
        found = _checkpoint(header, CHECKPOINTS.arrays(header["tensors"], tensors))
        check(found, CheckpointValues())
        return found


def meaning_of(
    n_features: int,
    examples: Examples,
    output: Output,
    options: Options,
    held: Examples | None,
    own: Mapping[str, Any],
) -> Meaning:
    """What a checkpoint must share with the training that continues from it.

    ``own`` are further arguments by name.  The names are those of the first checkpoints.
    """
    batch = options.batch
    plain = batch if isinstance(batch, Batches) else Batches()
    start = options.start.values
    sizes = (n_features, *options.hidden, output.n_outputs)
    given = {
        "activation": options.activation,
        "bias": options.bias,
        "batch": batch.size if isinstance(batch, Batches) else batch,
        "shuffle": plain.shuffle,
        "dropout": options.dropout,
        "penalty_scaling": options.penalty.scaling,
        "trainable": options.start.trainable,
        "end_game": options.end_game,
        **own,
    }
    return {
        "the architecture": "-".join(map(str, sizes)),
        "the response": repr(output),  # its name lacks the link of an ordinal one, and powers
        "solver": repr(options.update or "lbfgs"),
        "schedule": repr(options.schedule),
        "dtype": str(options.dtype),
        "initialise": start if isinstance(start, str) else _digest_of_start(start),
        "validation": repr(options.held_out) if held is None else _digest_of_rows(held),
        **{name: repr(value) for name, value in given.items()},
        "the digest of the rows": _digest_of_rows(examples),
    }


def digest_of(*arrays: Any) -> str:
    """A short SHA-256 of arrays: of different ones, it differs."""
    from hashlib import sha256

    digest = sha256()
    for array in arrays:
        values = np.ascontiguousarray(array)
        digest.update(f"{values.dtype.str}{values.shape}".encode())
        digest.update(values.tobytes())
    return digest.hexdigest()[:16]


def _digest_of_start(start: Any) -> str:
    parts = start if isinstance(start, np.ndarray) else [part for pair in start for part in pair]
    return digest_of(*(np.asarray(part, dtype=float) for part in parts if part is not None))


def _digest_of_rows(examples: Examples) -> str:
    """Of the targets, the weights and some rows."""
    X = examples.some_columns()
    some = X[:: max(1, X.shape[0] // ROWS_IN_DIGEST)]
    some = some.toarray() if sparse.issparse(some) else some
    weight = np.zeros(0) if examples.weight is None else examples.weight
    return digest_of(np.array([examples.n_rows]), some, examples.y, weight)


def _checkpoint(header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Checkpoint:
    curve, earlier = (_curve(name, arrays) for name in CURVES)
    if curve is None:
        raise InvalidInput(
            "it has no curve of losses; that of its epochs was expected. Remove it, and train "
            "again from the start."
        )
    return Checkpoint(
        state={
            name.removeprefix("state."): array
            for name, array in arrays.items()
            if name.startswith("state.")
        },
        best=arrays["best"],
        curve=curve,
        start_loss=float(header["start_loss"]),
        seed=int(header["seed"]),
        phase=int(header["phase"]),
        earlier=earlier,
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
