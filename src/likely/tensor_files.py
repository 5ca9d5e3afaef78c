"""A file of arrays with a JSON header: safetensors, with a checksum of all that it holds.

    header    whatever the writer says about the arrays, their types, shapes and memory order
    checksum  SHA-256 of the header without it, and of the bytes of all arrays in order of name

Models and checkpoints are such files.  Reading executes nothing, and a file that is incomplete,
changed or not what was expected is refused with ``InvalidFile``.
"""

import json
import os
from collections.abc import Iterable, Mapping
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

    def content(self, header: Mapping[str, Json], tensors: Mapping[str, Array]) -> bytes:
        """The bytes of a file; the header is given the declarations of its arrays."""
        from safetensors.numpy import save as serialise

        plain = {  # in C order and little-endian, as safetensors requires
            name: np.asarray(tensor, dtype=tensor.dtype.newbyteorder("<"), order="C")
            for name, tensor in tensors.items()
        }
        declared = {name: _declared(tensor) for name, tensor in tensors.items()}
        whole = {**header, "tensors": declared}
        checksum = checksum_of(whole, (plain[name].tobytes() for name in sorted(plain)))
        return serialise(plain, metadata={self.key: _canonical({**whole, "checksum": checksum})})

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
            header = stream.read(length)
            if file.stat().st_size != 8 + length + _n_bytes(header):
                raise self._not_safetensors(named)  # a file of holes is not read
            return start + header + stream.read()

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
        """The tensors as writable arrays, each as the header declares it."""
        if set(declared) != set(tensors):
            raise InvalidInput(
                f"The tensors were expected to be {', '.join(sorted(declared)) or 'none'}; found "
                f"{', '.join(sorted(tensors)) or 'none'}. {self.remedy}"
            )
        return {name: self._array(name, declared[name], tensors[name]) for name in declared}

    def _array(self, name: str, declared: Json, tensor: Any) -> Array:
        dtype, shape, order = declared
        if dtype not in TENSOR_DTYPES or order not in ("C", "F"):
            raise InvalidInput(
                f"tensor {name!r} is declared as {dtype!r} in order {order!r}; expected numbers or "
                f"Booleans in order C or F. {self.remedy}"
            )
        pairs = (("shape", tensor["shape"], shape), ("type", tensor["dtype"], TENSOR_DTYPES[dtype]))
        for part, found, expected in pairs:
            if found != expected:
                raise InvalidInput(
                    f"The {part} of tensor {name!r} is {found}; {expected} was declared. "
                    f"{self.remedy}"
                )
        stored = np.uint8 if dtype == "bool" else np.dtype(dtype).newbyteorder("<")
        flat = np.frombuffer(tensor["data"], dtype=stored)
        return np.array(flat.reshape(shape), dtype=dtype, order=order)

    def _not_safetensors(self, named: object) -> InvalidFile:
        return InvalidFile(
            named,
            f"it is incomplete, or not a safetensors file; expected {self.what}. Check the name, "
            f"or copy the file again. {self.remedy}",
        )


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
    fortran = tensor.flags.f_contiguous and not tensor.flags.c_contiguous
    return [tensor.dtype.name, list(tensor.shape), "F" if fortran else "C"]
