"""Networks from files, and observations that can occur in them."""

from pathlib import Path

import numpy as np

from benchmarks.race import Skipped
from likely import BayesianNetwork, read_graph

NETWORKS = Path(__file__).resolve().parents[2] / "shared" / "data" / "graphs" / "bif"


def network(name: str) -> BayesianNetwork:
    """A network of the folder of problems, which is not part of the project."""
    file = NETWORKS / f"{name}.bif.gz"
    if not file.exists():
        raise Skipped(f"there is no {file.name}")
    return read_graph(file)


def observations(
    graph: BayesianNetwork, n_rows: int, share: float, *, seed: int = 0, same_set: bool = True
) -> list[dict[str, int]]:
    """Codes of observed variables, drawn from the network: a share of them in each row.

    With ``same_set`` the same variables are observed in every row.
    """
    rng = np.random.default_rng(seed)
    drawn = graph.sample(n_rows, random_state=seed)
    columns = {name: drawn[name].to_pylist() for name in graph.names}
    n_seen = max(1, round(share * len(graph.names)))
    found = []
    for row in range(n_rows):
        if row == 0 or not same_set:
            seen = [graph.names[j] for j in rng.permutation(len(graph.names))[:n_seen]]
        found.append({name: graph.variable(name).codes[columns[name][row]] for name in seen})
    return found


def states_of(graph: BayesianNetwork, codes: dict[str, int]) -> dict[str, str]:
    return {name: graph.variable(name).states[code] for name, code in codes.items()}


def codes_of_samples(graph: BayesianNetwork, n_rows: int, *, seed: int) -> np.ndarray:
    """Rows drawn from the network, as codes in the order of its variables."""
    drawn = graph.sample(n_rows, random_state=seed)
    columns = []
    for name in graph.names:
        encoded = drawn[name].combine_chunks().dictionary_encode()
        states = graph.variable(name).codes
        code = np.array([states[state] for state in encoded.dictionary.to_pylist()])
        columns.append(code[encoded.indices.to_numpy()])
    return np.column_stack(columns).astype(np.int32)
