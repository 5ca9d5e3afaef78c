"""Tensors of another library as NumPy arrays, in the memory of this machine's processor."""

from typing import Any


def is_tensor(values: Any) -> bool:
    """Whether it is a torch tensor; torch is not imported to find out."""
    return type(values).__module__.partition(".")[0] == "torch"


def on_host(values: Any) -> Any:
    """A torch tensor of any device as a NumPy array; anything else as it is."""
    return values.detach().cpu().numpy() if is_tensor(values) else values
