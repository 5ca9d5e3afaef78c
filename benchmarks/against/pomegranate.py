"""pomegranate: tables by counts, chains; its queries are loopy sum-product in float32."""

from typing import Any

import numpy as np

from benchmarks.race import Skipped
from likely import BayesianNetwork


def _torch() -> Any:
    try:
        import pomegranate  # noqa: F401
        import torch
    except ImportError as error:
        raise Skipped(str(error)) from error
    return torch


def model(graph: BayesianNetwork) -> Any:
    """The same network, with codes for states."""
    torch = _torch()
    from pomegranate.bayesian_network import BayesianNetwork as Network
    from pomegranate.distributions import Categorical, ConditionalCategorical

    nodes = {}
    for name in graph.names:
        table = torch.tensor(graph.tables[name].table, dtype=torch.float32)
        kind = ConditionalCategorical if graph.parents[name] else Categorical
        nodes[name] = kind([table] if graph.parents[name] else table[None])
    # Edges in the order of a table's parents: its axes follow that order.
    edges = [(nodes[parent], nodes[name]) for name in graph.names for parent in graph.parents[name]]
    return Network(list(nodes.values()), edges)


def marginals(bn: Any, names: list[str], codes: dict[str, int]) -> list[np.ndarray]:
    """Approximate in a network with loops."""
    torch = _torch()
    seen = torch.tensor([[name in codes for name in names]])
    values = torch.tensor([[codes.get(name, 0) for name in names]])
    found = bn.predict_proba(torch.masked.MaskedTensor(values, seen))
    return [each[0].numpy() for each, name in zip(found, names, strict=True) if name not in codes]


def learned_by_counts(graph: BayesianNetwork, codes: np.ndarray) -> Any:
    """Tables from an array of codes, the structure given; one pseudo-count in each cell."""
    torch = _torch()
    from pomegranate.bayesian_network import BayesianNetwork as Network

    place = {name: j for j, name in enumerate(graph.names)}
    structure = [tuple(place[parent] for parent in graph.parents[name]) for name in graph.names]
    return Network(structure=structure, pseudocount=1.0).fit(torch.tensor(codes))


def chain(start: np.ndarray, move: np.ndarray, log_emission: np.ndarray) -> Any:
    """Forward–backward of one sequence, from logs of emissions."""
    torch = _torch()
    from pomegranate.distributions import Categorical
    from pomegranate.hmm import DenseHMM

    n_states = len(start)
    silent = [Categorical([[1.0]]) for _ in range(n_states)]  # emissions are given
    ones = np.ones(n_states)  # a sequence may end anywhere
    move, start, ones = (each.astype(np.float32) for each in (move, start, ones))
    hmm = DenseHMM(silent, edges=move, starts=start, ends=ones)
    emission = torch.tensor(log_emission[None], dtype=torch.float32)
    return lambda: float(hmm.forward_backward(emissions=emission)[4])
