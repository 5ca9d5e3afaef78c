"""torch, which is imported when it is first needed and is no dependency; and its devices."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from likely.errors import InvalidInput, OutOfDeviceMemory
from likely.host_arrays import is_tensor, on_host

DEVICE_NAMES = "'cpu', 'cuda', 'cuda:0', …"
DEVICE_NAME = re.compile(r"(cpu|cuda|mps|xpu)(:\d+)?")


def torch_library() -> Any:
    """The module torch."""
    try:
        return import_module("torch")
    except ImportError:
        raise InvalidInput(
            "A device was given; devices need the package torch, which is not installed. Run: "
            "pip install 'likely[torch]', or leave device out to compute with NumPy."
        ) from None


def cuda_is_there() -> bool:
    """Whether torch is installed and finds a GPU; torch is imported where it is installed."""
    return find_spec("torch") is not None and bool(torch_library().cuda.is_available())


def device_for(device: Any, X: Any = None) -> Any:
    """The torch device that is asked for; None is this machine's processor, without torch.

    A device that is not given is that of X, if X is a tensor on a GPU.
    """
    if device is None:
        return X.device if is_tensor(X) and X.device.type != "cpu" else None
    return None if isinstance(device, str) and device == "cpu" else checked_device(device)


def checked_device(device: Any) -> Any:
    """A torch device that is there."""
    unknown = InvalidInput(
        f"device={device!r} was given; expected {DEVICE_NAMES}, or None for NumPy."
    )
    if isinstance(device, str) and not DEVICE_NAME.fullmatch(device):
        raise unknown  # said without torch, too
    torch = torch_library()
    try:
        chosen = torch.device(device)
    except (RuntimeError, TypeError):
        raise unknown from None
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise InvalidInput(
            f"device={str(device)!r} was given; torch finds {torch.cuda.device_count()} CUDA "
            "devices here. Use device='cpu', or leave device out to compute with NumPy."
        )
    return chosen


@contextmanager
def memory_of(device: Any) -> Iterator[None]:
    """Say what to change where a device has too little memory; None is NumPy."""
    if device is None:
        yield
        return
    try:
        yield
    except torch_library().cuda.OutOfMemoryError as error:
        why = str(error).partition(". ")[0]
        raise OutOfDeviceMemory(
            f"{why}; {device} has too little memory for this training. Lower batch, or the units "
            "of hidden; use dtype='float32' if it is float64; train fewer networks at once; or "
            "leave device out to compute on the processor."
        ) from error


def as_array(values: Any) -> np.ndarray[Any, Any]:
    """A tensor of any device, or an array, as a NumPy array."""
    return np.asarray(on_host(values))
