"""Steps of training as recorded CUDA graphs.

A step of a small network is some dozens of kernels that take less time than their launches.  A
recording is made once for each shape of the batches, and replayed with other numbers in its
buffers.

References
----------
https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, final

from likely.neural.tensors.library import torch_library
from likely.solvers.updates import Compiled

MOST_RECORDINGS = 8
WARM_UPS = 2  # runs before a recording, in which libraries reserve their memory


class Recording(NamedTuple):
    graph: Any
    batches: Any  # what the graph reads


@final
class RecordedSteps:
    """The recordings of one group of networks, by the shapes of what they read."""

    def __init__(self, device: Any) -> None:
        self.device = device
        self._recordings: dict[Any, Recording] = {}

    def run(
        self,
        rule: Compiled,
        batches: Any,
        steps: Callable[[Compiled, Any], None],
        state: Sequence[Any],
    ) -> None:
        """``steps(rule, batches)``, which changes the tensors of ``state`` in place."""
        shapes = tuple(tuple(each.shape) for each in batches.tensors())
        key = (shapes, tuple(mask is None for mask in batches.masks), rule.kind, *rule.hyper)
        with torch_library().cuda.device(self.device):
            if key not in self._recordings:
                if len(self._recordings) == MOST_RECORDINGS:
                    self._recordings.clear()
                self._recordings[key] = _recorded(rule, batches, steps, state)
            recording = self._recordings[key]
            for here, given in zip(recording.batches.tensors(), batches.tensors(), strict=True):
                here.copy_(given)
            recording.graph.replay()


def _recorded(
    rule: Compiled, batches: Any, steps: Callable[[Compiled, Any], None], state: Sequence[Any]
) -> Recording:
    """A recording; ``state`` is as before."""
    cuda = torch_library().cuda
    own, before = batches.cloned(), [each.clone() for each in state]
    stream = cuda.Stream()
    stream.wait_stream(cuda.current_stream())
    with cuda.stream(stream):
        for _ in range(WARM_UPS):
            steps(rule, own)
    cuda.current_stream().wait_stream(stream)
    graph = cuda.CUDAGraph()
    with cuda.graph(graph):
        steps(rule, own)
    for here, saved in zip(state, before, strict=True):
        here.copy_(saved)
    return Recording(graph, own)
