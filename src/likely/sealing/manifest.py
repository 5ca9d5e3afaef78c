"""What was sealed, written once: where the rows came from, how they were split, and the judge.

Manifest, ledger and head are *canonical* JSON: sorted keys, no spaces, UTF-8, and a line feed at
the end, so that the same content always has the same SHA-256.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Self, final

from likely.errors import BrokenLedger
from likely.storage.json import with_escapes

LATER = (
    "kind",
    "order",
    "weight",
    "offset",
    "exposure",
    "dropped",
    "categories",
    "declared_features",
    "declared_texts",
    "identifiers",
    "texts",
    "findings",
    "readings",
)  # left out where nothing was declared or found
COUNTS = ("seed", "n_train", "n_test", "budget")  # whole numbers
FORMAT = 1  # raised when an older version of likely could misread the folder


@final
@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The facts of a seal, written once; its hash is in line 0 of the ledger."""

    name: str
    data: str  # what was sealed: a file's name, or what kind of table
    data_sha256: str
    target: str
    library: str | None  # of the frame that was given: rows come back as such a frame
    rule: str  # of the split, in words
    group: str | None
    by_time: str | None
    seed: int
    n_train: int
    n_test: int
    budget: int
    judge: str
    escrow: bool
    salt: str  # of the fingerprints
    files: Mapping[str, str]  # name: SHA-256
    labels_sha256: str  # of the file of labels, wherever it is
    notes: tuple[str, ...] = ()
    earlier: tuple[str, ...] = ()  # seals of the same rows
    kind: str | None = None  # of task, where the values alone do not say it
    order: tuple[Any, ...] | None = None  # of the classes, from lowest to highest
    weight: str | None = None  # columns that are not features
    offset: str | None = None
    exposure: str | None = None
    dropped: tuple[str, ...] = ()  # columns that no model is to see
    categories: tuple[str, ...] = ()  # columns declared to be categories
    declared_features: tuple[str, ...] = ()  # columns used as they are
    declared_texts: tuple[str, ...] = ()  # columns whose words are counted
    identifiers: tuple[str, ...] | None = None  # of the whole table; None is not known
    texts: tuple[str, ...] | None = None  # columns of free text, of the whole table
    findings: tuple[Mapping[str, Any], ...] = ()  # of look: code, columns and text of each
    readings: Mapping[str, Any] = field(default_factory=dict)  # how text was read as numbers, dates
    format: int = FORMAT

    @property
    def roles(self) -> dict[str, str]:
        """The columns that are not features, by role."""
        roles = {"weight": self.weight, "offset": self.offset, "exposure": self.exposure}
        return {role: name for role, name in roles.items() if name is not None}

    @classmethod
    def read(cls, path: Path) -> Self:
        try:
            content = json.loads(path.read_bytes())
            unknown = set(content) - {each.name for each in fields(cls)}
            if content["format"] != FORMAT or unknown:
                what = f"format {content['format']}"
                if unknown:
                    what = f"unknown fields {', '.join(sorted(unknown))}"
                raise BrokenLedger(
                    path,
                    f"it has {what}; this version of likely reads format {FORMAT}. Install a newer "
                    "likely.",
                )
            for name in ("notes", "earlier", *LATER):
                if isinstance(content.get(name), list):
                    content[name] = tuple(content[name])
            if not all(isinstance(content[name], int) for name in COUNTS):
                raise TypeError
            return cls(**content)
        except (OSError, ValueError, TypeError, KeyError):
            raise BrokenLedger(
                path,
                "it is not the manifest of a seal; expected the file that likely seal wrote. "
                "Put the folder back as it was, or seal the data again.",
            ) from None

    def to_bytes(self) -> bytes:
        """The manifest as JSON; fields that were not declared are left out."""
        declared = asdict(self)
        for name in LATER:
            known = name in ("identifiers", "texts") and declared[name] is not None
            if not declared[name] and not known:
                del declared[name]
        return canonical(declared) + b"\n"


def canonical(content: Mapping[str, Any]) -> bytes:
    """JSON in its canonical form, without a line feed."""
    text = json.dumps(
        content, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )
    return with_escapes(text).encode()
