"""Learning alarm from rows drawn from it, with gaps and without: how far from the truth it ends.

KL(P ‖ Q) = Σ_x Σ_pa P(pa) KL(P(x | pa) ‖ Q(x | pa))        in nats per row
"""

import numpy as np
import pytest

from likely.graphical.formats.graph_files import read_graph
from tests.graph_files import SHARED, needs_shared

pytestmark = needs_shared

N_ROWS, MISSING = 100_000, 0.2


def divergence(truth, learned):
    """KL of a network with the same edges, from the exact joints of the families."""
    joints = truth.query([factor.scope for factor in truth.factors])
    total = 0.0
    for name, factor in truth.tables.items():
        joint, p, q = joints[factor.scope], factor.table, learned.tables[name].table
        with np.errstate(divide="ignore", invalid="ignore"):
            total += np.where(joint > 0, joint * np.log(p / q), 0.0).sum()
    return total


def rows_with_gaps(network, n_rows):
    """Codes of rows drawn from a network, complete and with a fifth of the cells missing."""
    rng = np.random.default_rng(0)
    drawn = network.ancestral_sample(rng.random((n_rows, len(network.names))))
    codes = np.stack([drawn[name] for name in network.names], axis=1)
    return codes, np.where(rng.random(codes.shape) < MISSING, -1, codes)


@pytest.mark.slow  # EM: some tens of iterations of half a second
def test_em_with_a_fifth_of_the_cells_missing_comes_close_to_complete_rows():
    alarm = read_graph(SHARED / "bif" / "alarm.bif.gz")
    complete, gappy = rows_with_gaps(alarm, N_ROWS)
    counted, learned = alarm.fit(complete), alarm.fit(gappy)
    assert learned.fit_report.method == "em" and learned.fit_report.converged
    assert divergence(alarm, counted) < 0.005
    assert divergence(alarm, learned) < 2 * divergence(alarm, counted)
    trace = np.array(learned.fit_report.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1])).all()  # the bound never falls
