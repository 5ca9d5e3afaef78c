"""Steps of training as recorded CUDA graphs.

A step of a small network is some dozens of kernels that take less time than their launches.  A
recording is made once for each shape of the batches, and replayed with other numbers in its
buffers.  Where recording fails, the steps are launched one by one, with a warning.

References
----------
https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, final

from likely.errors import LikelyWarning, warn_user
from likely.neural.tensors.library import torch_library
from likely.solvers.updates import Compiled

MOST_RECORDINGS = 8
WARM_UPS = 2  # runs before a recording, in which libraries reserve their memory

TakeSteps = Callable[[Compiled, Any], None]  # the steps of some batches


class Recording(NamedTuple):
    graph: Any
    batches: Any  # what the graph reads


@final
class RecordedSteps:
    """The recordings of one group of networks, by the shapes of what they read."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self.refused: str | None = None  # why nothing can be recorded
        self._recordings: dict[Any, Recording] = {}

    def run(self, rule: Compiled, batches: Any, steps: TakeSteps, state: Sequence[Any]) -> None:
        """``steps(rule, batches)``, which changes the tensors of ``state`` in place."""
        if self.refused is None:
            with on_its_device(self.device):
                recording = self._recording(rule, batches, steps, state)
                if recording is not None:
                    for here, given in zip(
                        recording.batches.tensors(), batches.tensors(), strict=True
                    ):
                        here.copy_(given)
                    recording.graph.replay()
                    return
        steps(rule, batches)

    def _recording(
        self, rule: Compiled, batches: Any, steps: TakeSteps, state: Sequence[Any]
    ) -> Recording | None:
        shapes = tuple(tuple(each.shape) for each in batches.tensors())
        key = (shapes, tuple(mask is None for mask in batches.masks), rule.kind, *rule.hyper)
        if key not in self._recordings:
            if len(self._recordings) == MOST_RECORDINGS:
                self._recordings.clear()
            before = [each.clone() for each in state]
            try:
                self._recordings[key] = recorded(rule, batches.cloned(), steps)
            except RuntimeError as error:
                self.refused = str(error)
                warn_user(
                    f"The steps of training could not be recorded on {self.device}: {error}. They "
                    "are launched one by one, which is slower.",
                    LikelyWarning,
                )
                return None
            finally:
                for here, saved in zip(state, before, strict=True):
                    here.copy_(saved)
        return self._recordings[key]


def recorded(rule: Compiled, batches: Any, steps: TakeSteps) -> Recording:
    """A recording that reads ``batches``; making it changes what the steps change."""
    cuda = torch_library().cuda
    stream = cuda.Stream()
    stream.wait_stream(cuda.current_stream())
    with cuda.stream(stream):
        for _ in range(WARM_UPS):
            steps(rule, batches)
    cuda.current_stream().wait_stream(stream)
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        steps(rule, batches)
    return Recording(graph, batches)


def on_its_device(device: Any) -> AbstractContextManager[Any]:
    """Within it, launches go to the device, if there are several."""
    context: AbstractContextManager[Any] = torch_library().cuda.device(device)
    return context
