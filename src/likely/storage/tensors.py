"""A file of arrays with a JSON header: safetensors, with a checksum of all that it holds.

    header    whatever the writer says about the arrays, their types, shapes and memory order
    checksum  SHA-256 of the header without it, and of the bytes of all arrays in order of name

The order of an array is C, or T if its columns lie together: then its transpose is stored.  (F, in
older files, is such an array stored in order C.)  A long array of floats that are whole numbers,
such as counts of words, is stored in as few bytes as they need.  Models and checkpoints are such
files.  Reading executes nothing, and a file that is incomplete,
changed or not what was expected is refused with ``InvalidFile``.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, final

import numpy as np

from likely._typing import Array
from likely.errors import InvalidFile, InvalidInput

Json = Any  # what the json module reads and writes

TENSOR_DTYPES = {  # NumPy's names of types, and safetensors'
    "bool": "BOOL",
    **{f"int{bits}": f"I{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"U{bits}" for bits in (8, 16, 32, 64)},
    **{f"float{bits}": f"F{bits}" for bits in (16, 32, 64)},
}
LONGEST_HEADER = 10**8  # bytes: what safetensors itself allows
PIECE = 2**22  # bytes of an array that are written at once
MANY = 2**12  # numbers of an array from which on whole numbers are stored in fewer bytes
COUNTS = ("uint8", "uint16", "uint32")  # types of whole numbers, the narrowest first


@final
@dataclass(frozen=True)
class TensorFormat:
    """What a file holds, in words and under which key of its metadata."""

    key: str  # of the header in the metadata of safetensors
    noun: str  # "a model", for messages
    writer: str  # "likely.save"
    remedy: str  # "Save the model again."

    @property
    def what(self) -> str:
        return f"{self.noun} from {self.writer}"

    def content(self, header: Mapping[str, Json], tensors: Mapping[str, Array]) -> "TensorContent":
        """The content of a file; the header is given the declarations of its arrays."""
        stored = {name: StoredArray.of(tensors[name]) for name in sorted(tensors)}
        declared = {name: _declared(tensor) for name, tensor in tensors.items()}
        whole = {**header, "tensors": declared}
        checksum = checksum_of(whole, (piece for each in stored.values() for piece in each))
        metadata = {self.key: _canonical({**whole, "checksum": checksum})}
        return TensorContent(metadata, stored)

    def read(self, file: Path, named: str | os.PathLike[str]) -> bytes:
        """The bytes of a file that looks like safetensors; other large files are not read.

        ``named`` is what the user called it.
        """
        if not file.is_file():
            given = "is not a file" if file.exists() else "there is no such file"
            raise InvalidFile(named, f"{given}; expected {self.what}. Check the path.")
        with open(file, "rb") as stream:
            start = stream.read(8)
            length = int.from_bytes(start, "little")
            if len(start) < 8 or length > min(LONGEST_HEADER, file.stat().st_size - 8):
                raise self._not_safetensors(named)
            if file.stat().st_size != 8 + length + _n_bytes(stream.read(length)):
                raise self._not_safetensors(named)  # a file of holes is not read
            stream.seek(0)
            return stream.read()

    def header(self, content: bytes, named: object) -> dict[str, Json]:
        """The header alone, with its checksum."""
        length = int.from_bytes(content[:8], "little")
        metadata = json.loads(content[8 : 8 + length]).get("__metadata__", {})
        if self.key not in metadata:
            raise InvalidFile(
                named,
                f"it is a safetensors file without the header of {self.noun}; expected one from "
                f"{self.writer}. Check the name.",
            )
        found: dict[str, Json] = json.loads(metadata[self.key])
        return found

    def tensors(self, content: bytes, named: object) -> dict[str, Any]:
        """The raw tensors of safetensors."""
        from safetensors import SafetensorError, deserialize

        try:
            return dict(deserialize(content))
        except SafetensorError:
            raise self._not_safetensors(named) from None

    def check(self, header: dict[str, Json], tensors: dict[str, Any], named: object) -> None:
        """Refuse a file that was changed; the checksum leaves the header."""
        checksum = header.pop("checksum", None)
        found = checksum_of(header, (tensors[name]["data"] for name in sorted(tensors)))
        if checksum != found:
            raise InvalidFile(
                named,
                f"it was changed or damaged after it was saved: its SHA-256 is {found[:12]}… and "
                f"{str(checksum)[:12]}… was expected. Copy the file again. {self.remedy}",
            )

    def arrays(self, declared: Json, tensors: dict[str, Any]) -> dict[str, Array]:
        """The tensors as writable arrays, each as the header declares it.

        They are taken out of the dict one by one, so that a large file is not held twice.
        """
        if set(declared) != set(tensors):
            raise InvalidInput(
                f"The tensors were expected to be {', '.join(sorted(declared)) or 'none'}; found "
                f"{', '.join(sorted(tensors)) or 'none'}. {self.remedy}"
            )
        return {name: self._array(name, declared[name], tensors.pop(name)) for name in declared}

    def _array(self, name: str, declared: Json, tensor: Any) -> Array:
        dtype, shape, order = declared
        if dtype not in TENSOR_DTYPES or order not in ("C", "F", "T"):
            raise InvalidInput(
                f"tensor {name!r} is declared as {dtype!r} in order {order!r}; expected numbers or "
                f"Booleans in order C, F or T. {self.remedy}"
            )
        narrow = {TENSOR_DTYPES[count]: count for count in COUNTS if dtype == "float64"}
        stored = narrow.get(tensor["dtype"], dtype)
        pairs = (
            ("shape", tensor["shape"], shape[::-1] if order == "T" else shape),
            ("type", tensor["dtype"], TENSOR_DTYPES[stored]),
        )
        for part, found, expected in pairs:
            if found != expected:
                raise InvalidInput(
                    f"The {part} of tensor {name!r} is {found}; {expected} was declared. "
                    f"{self.remedy}"
                )
        plain = np.uint8 if stored == "bool" else np.dtype(stored).newbyteorder("<")
        found = np.frombuffer(tensor["data"], dtype=plain).reshape(tensor["shape"])
        ordered = np.require(found, dtype, ["F" if order == "F" else "C", "ALIGNED", "WRITEABLE"])
        return ordered.T if order == "T" else ordered

    def _not_safetensors(self, named: object) -> InvalidFile:
        return InvalidFile(
            named,
            f"it is incomplete, or not a safetensors file; expected {self.what}. Check the name, "
            f"or copy the file again. {self.remedy}",
        )


@final
@dataclass(frozen=True, eq=False)
class StoredArray:
    """An array as its bytes are stored: in C order and little-endian, as safetensors requires."""

    array: Array  # transposed, if its columns lie together
    dtype: "np.dtype[Any]"  # which may be narrower than that of the array

    @classmethod
    def of(cls, array: Array) -> "StoredArray":
        stored = array.T if _columns_lie_together(array) else array
        return cls(stored, _counts_type(stored) or array.dtype.newbyteorder("<"))

    @property
    def n_bytes(self) -> int:
        return self.array.size * self.dtype.itemsize

    def __iter__(self) -> Iterator[bytes]:
        """The bytes piece by piece: a copy of the whole array could be larger than memory."""
        for block in _blocks(self.array):
            yield np.asarray(block, dtype=self.dtype, order="C").tobytes()


@final
@dataclass(frozen=True, eq=False)
class TensorContent:
    """The content of a file, piece by piece, as often as it is asked for; ``bytes`` joins it."""

    metadata: Mapping[str, str]
    stored: Mapping[str, StoredArray]

    def __iter__(self) -> Iterator[bytes]:
        # the widest first, so that each array begins at a multiple of the size of its numbers
        names = sorted(self.stored, key=lambda name: (-self.stored[name].dtype.itemsize, name))
        entries: dict[str, Json] = {"__metadata__": dict(self.metadata)}
        end = 0
        for name in names:
            each, start = self.stored[name], end
            end += each.n_bytes
            entries[name] = {
                "dtype": TENSOR_DTYPES[each.dtype.name],
                "shape": list(each.array.shape),
                "data_offsets": [start, end],
            }
        header = json.dumps(entries, separators=(",", ":")).encode("ascii")
        header += b" " * (-len(header) % 8)
        yield len(header).to_bytes(8, "little") + header
        for name in names:
            yield from self.stored[name]

    def __bytes__(self) -> bytes:
        return b"".join(self)

    def sha256(self) -> str:
        """Of all bytes, in hexadecimal."""
        digest = sha256()
        for piece in self:
            digest.update(piece)
        return digest.hexdigest()


def _blocks(array: Array) -> Iterator[Array]:
    """The array in parts along its first axis, in C order; none is much larger than ``PIECE``."""
    if array.nbytes <= PIECE:
        yield array
        return
    rows = PIECE // max(1, array.nbytes // len(array))
    for start in range(0, len(array), max(1, rows)):
        block = array[start : start + max(1, rows)]
        yield from _blocks(block[0]) if rows < 1 else (block,)


def _counts_type(array: Array) -> "np.dtype[Any] | None":
    """The narrowest type of whole numbers that has all values of a long array of floats."""
    if array.dtype.name != "float64" or array.size < MANY:
        return None
    most = 0
    for block in _blocks(array):
        with np.errstate(invalid="ignore"):
            counts = block.astype(np.uint32)
        if not np.array_equal(counts, block) or np.signbit(block).any():  # −0.0 is not 0
            return None
        most = max(most, int(counts.max()))
    narrowest = next(name for name in COUNTS if most <= np.iinfo(name).max)
    return np.dtype(narrowest).newbyteorder("<")


def _n_bytes(header: bytes) -> int:
    """The bytes of all arrays, as the header of safetensors says; −1 if it does not."""
    try:
        entries = json.loads(header).items()
        return max(
            (int(e["data_offsets"][1]) for n, e in entries if n != "__metadata__"), default=0
        )
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        return -1


def _canonical(header: Mapping[str, Json]) -> str:
    return json.dumps(header, sort_keys=True, separators=(",", ":"), allow_nan=False)


def checksum_of(header: Mapping[str, Json], contents: Iterable[bytes | bytearray]) -> str:
    """SHA-256 of the header without a checksum, and of the tensors in order of name."""
    digest = sha256(_canonical(header).encode("ascii"))
    for content in contents:
        digest.update(content)
    return digest.hexdigest()


def _declared(tensor: Array) -> Json:
    """Memory order is kept: another one could round sums differently."""
    order = "T" if _columns_lie_together(tensor) else "C"
    return [tensor.dtype.name, list(tensor.shape), order]


def _columns_lie_together(array: Array) -> bool:
    return bool(array.flags.f_contiguous and not array.flags.c_contiguous)
