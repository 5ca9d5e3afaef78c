"""One chain of 100,000 steps with ten hidden states: marginals and the most probable path.

    forward–backward: P(z_t | x) for every t        Viterbi: argmax_z P(z, x)

Both sides are given log p(x_t | z_t) for every step and state.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from benchmarks.against import pomegranate
from benchmarks.race import Skipped
from benchmarks.report import Report, Row, times_faster
from benchmarks.workbench import best_of, clocked
from likely.graphical.exact.chain import Chain

STEPS, STATES, TURNS = 100_000, 10, 9
NO_SLOWER = times_faster(1 / 1.2)


def measure(shrink: int) -> Report:
    n = STEPS // shrink
    rng = np.random.default_rng(0)
    start, move = rng.dirichlet(np.ones(STATES)), rng.dirichlet(np.ones(STATES), STATES)
    log_emission = 3 * rng.normal(size=(n, STATES)) - 5
    chain, lengths = Chain(np.log(start), np.log(move)), np.array([n])
    theirs = _hmmlearn(start, move, log_emission)
    ours: dict[str, Callable[[], Any]] = {
        "forward–backward": lambda: chain.beliefs(log_emission, lengths),
        "Viterbi": lambda: chain.most_probable(log_emission, lengths),
    }
    rows = []
    for work, own in ours.items():
        own()  # compiles
        sides = {"ours": lambda own=own: own, "theirs": lambda work=work: theirs[work]}
        best = best_of(TURNS, sides)
        value, peer = best["ours"].answer, best["theirs"].answer
        if work == "Viterbi":
            answer = float(chain.log_score(log_emission, lengths, value.state)[0])
        else:
            answer = float(value.log_likelihood[0])
        rows.append(
            Row(
                work=f"{work}, {n:,} steps, {STATES} states",
                peer="hmmlearn",
                unit="ms",
                ours=1e3 * best["ours"].seconds,
                theirs=1e3 * best["theirs"].seconds,
                our_answer=answer,
                their_answer=float(peer),
                goal=NO_SLOWER,
            )
        )
    rows += _pomegranate(start, move, log_emission, rows[0])
    return Report(
        "Hidden Markov chains",
        f"One sequence; the best of {TURNS} in turns. Ours also counts pairs of states.",
        rows,
        theirs="",
        answer="log-likelihood, log score of the path",
    )


def _pomegranate(start: Any, move: Any, log_emission: Any, ours: Row) -> list[Row]:
    """The same sequence through torch, in float32, once."""
    timed = clocked(pomegranate.chain(start, move, log_emission))
    return [
        replace(
            ours,
            peer="pomegranate",
            theirs=1e3 * timed.seconds,
            their_answer=timed.answer,
            goal=None,
            note="float32",
        )
    ]


def _hmmlearn(start: Any, move: Any, log_emission: Any) -> dict[str, Callable[[], Any]]:
    """hmmlearn's compiled loops in linear numbers with a scale, and its Viterbi."""
    try:
        from hmmlearn import _hmmc
    except ImportError as error:
        raise Skipped(str(error)) from error

    def forward_backward() -> float:
        emission = np.exp(log_emission)
        log_likelihood, forward, scale = _hmmc.forward_scaling(start, move, emission)
        backward = _hmmc.backward_scaling(start, move, emission, scale)
        state = forward * backward
        state /= state.sum(axis=1, keepdims=True)
        return float(log_likelihood)

    def viterbi() -> float:
        score, _ = _hmmc.viterbi(start, move, log_emission)
        return float(score)

    return {"forward–backward": forward_backward, "Viterbi": viterbi}
