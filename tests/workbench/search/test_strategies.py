"""Searches on functions whose best settings are known."""

from dataclasses import dataclass
from math import exp, nan
from typing import Any

import numpy as np
import pytest

from likely.compute.executor import Threads
from likely.errors import InvalidInput, UnknownName
from likely.numerics.intervals import Estimate
from likely.spaces import Choice, Conditional, Integer, Real, Space
from likely.workbench.search.exploration import FINISHED, INTERRUPTED, OUT_OF_TIME, best_of, explore
from likely.workbench.search.strategies import (
    SEARCHES,
    Grid,
    Halving,
    Plan,
    Random,
    Search,
    ranked,
    search_named,
)
from likely.workbench.search.trials import Trial, TrialLog, TrialScore

SQUARE = Space({"x": Real(-1.0, 1.0), "y": Real(-1.0, 1.0)})
MIXED = Space(
    {
        "kind": Choice(("a", "b")),
        "depth": Conditional(Integer(1, 8), "kind", ("b",)),
        "rate": Real(1e-4, 1.0, log=True, zero=0.2),
    }
)


@dataclass
class Function:
    """An objective that is a plain function, and remembers what it was asked."""

    function: Any
    asked: list[dict[str, Any]]

    @classmethod
    def of(cls, function: Any) -> "Function":
        return cls(function, [])

    def evaluate(self, parameters: Any, *, share: float = 1.0) -> TrialScore:
        self.asked.append(dict(parameters))
        value = float(self.function(parameters, share))
        return TrialScore(Estimate(value, value, value, np.nan), (value,), 0.0)


def bowl(p: Any, share: float) -> float:
    return float((p["x"] - 0.3) ** 2 + (p["y"] + 0.2) ** 2)


def mixed(p: Any, share: float) -> float:
    return abs(p["rate"] - 0.01) + (p["depth"] / 8 if p["kind"] == "b" else 0.5)


def settings(trials: tuple[Trial, ...]) -> list[tuple[int, dict[str, Any], float, float]]:
    return [(t.number, t.parameters, t.share, t.value) for t in trials]


@pytest.mark.parametrize("name", SEARCHES)
def test_one_declaration_drives_every_search(name: str) -> None:
    explored = explore(
        Function.of(mixed), MIXED, search=search_named(name), plan=Plan(seed=3, trials=40)
    )
    assert explored.stopped == FINISHED
    assert len(explored.trials) > 10
    assert [trial.number for trial in explored.trials] == list(range(len(explored.trials)))
    for trial in explored.trials:
        assert MIXED.to_unit(trial.parameters) is not None
        assert ("depth" in trial.parameters) == (trial.parameters["kind"] == "b")
    best = best_of(explored.trials, "lower")
    assert best is not None
    assert best.value == min(trial.value for trial in explored.trials if trial.share == 1.0)


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("trials", [6, 9, 23, 60])
def test_no_search_tries_more_settings_than_it_may(name: str, trials: int) -> None:
    plan = Plan(trials=trials, by_hand=({"kind": "a", "rate": 0.5},))
    found = explore(Function.of(mixed), MIXED, search=search_named(name), plan=plan).trials
    assert len({trial.proposal.key for trial in found if trial.share == found[0].share}) <= trials
    if name != "halving":  # which tries the best of them again, on more rows
        assert len(found) <= trials


def test_a_limited_refinement_still_refines() -> None:
    line = Space({"x": Real(0.0, 1.0)})

    def found(trials: int | None) -> list[float]:
        objective = Function.of(lambda p, share: abs(p["x"] - 0.4))
        search = search_named("refine")
        explored = explore(objective, line, search=search, plan=Plan(trials=trials))
        return [trial.parameters["x"] for trial in explored.trials]

    assert found(17) == found(1000) == found(None)  # 9 and twice 4
    assert found(6)[:3] == [0.0, 0.5, 1.0]
    np.testing.assert_allclose(found(6)[3:], [1 / 6, 1 / 3, 2 / 3])
    with pytest.raises(InvalidInput, match=r"9 combinations or more; 6 trials were allowed"):
        explore(Function.of(bowl), SQUARE, search=Grid(points=3), plan=Plan(trials=6))


@pytest.mark.parametrize("name", SEARCHES)
def test_a_seed_fixes_the_search_and_threads_do_not_change_it(name: str) -> None:
    def run(seed: int, executor: Any) -> list[Any]:
        plan = Plan(seed=seed, trials=24)
        search = search_named(name)
        found = explore(Function.of(mixed), MIXED, search=search, plan=plan, executor=executor)
        return settings(found.trials)

    assert run(1, "serial") == run(1, Threads(3))
    if name not in ("grid", "refine"):  # which draw nothing
        assert run(1, "serial") != run(2, "serial")


@pytest.mark.parametrize("name", SEARCHES)
def test_a_search_cut_anywhere_goes_on_to_the_same_end(name: str, tmp_path: Any) -> None:
    search, plan = search_named(name), Plan(seed=5, trials=18)
    whole = explore(Function.of(mixed), MIXED, search=search, plan=plan).trials
    for kept in range(0, len(whole), max(3, len(whole) // 6)):
        log = TrialLog(tmp_path / f"{kept}.jsonl")
        for trial in whole[:kept]:
            log.append(trial)
        objective = Function.of(mixed)
        again = explore(
            objective, MIXED, search=search, plan=plan, log=TrialLog(tmp_path / f"{kept}.jsonl")
        )
        assert settings(again.trials) == settings(whole)
        keys = [trial.proposal.key for trial in whole]
        assert len(objective.asked) == len({*keys} - {*keys[:kept]})  # nothing is run twice


def test_a_grid_has_the_product_of_its_points() -> None:
    explored = explore(
        Function.of(bowl), SQUARE, search=Grid({"x": 5, "y": 7}), plan=Plan(trials=None)
    )
    assert len(explored.trials) == 35
    assert Grid().generation(SQUARE, explored.trials, Plan()) == []
    best = best_of(explored.trials, "lower")
    assert best is not None
    assert best.number == int(np.argmin([trial.value for trial in explored.trials]))


def test_a_grid_takes_as_many_points_as_the_trials_allow() -> None:
    assert len(Grid().generation(SQUARE, (), Plan(trials=50))) == 49
    assert len(Grid().generation(SQUARE, (), Plan(trials=50, by_hand=({}, {"x": 9.0})))) == 36 + 2
    assert len(Grid().generation(SQUARE, (), Plan(trials=49, by_hand=({},), default={}))) == 50
    line = Space({"x": Real(0.0, 1.0)})
    for trials in (1, 2, 3, 6, 7, 8, 31, 1000):
        assert len(Grid().generation(line, (), Plan(trials=trials))) == trials
    assert len(Grid().generation(Space({"c": Choice((1, 2, 3))}), (), Plan(trials=50))) == 3
    many = Space({"a": Choice(tuple(range(30))), "b": Choice((1, 2))})
    with pytest.raises(InvalidInput, match="60 combinations or more; 50 trials were allowed"):
        Grid().generation(many, (), Plan(trials=50))


def test_settings_by_hand_come_first_and_count_as_trials() -> None:
    plan = Plan(trials=6, by_hand=({"x": 0.3, "y": -0.2},))
    explored = explore(Function.of(bowl), SQUARE, search=Random(), plan=plan)
    assert len(explored.trials) == 6
    best = best_of(explored.trials, "lower")
    assert best is not None
    assert best.number == 0
    assert best.value == 0.0


def test_random_finds_a_narrow_optimum_more_often_than_a_grid_of_as_many_trials() -> None:
    """Of 36 trials a grid has 6 different x; the second setting is idle (SEL-11)."""
    hits = {"grid": 0, "random": 0}
    places = np.random.default_rng(99).uniform(-1, 1, 60)  # of no seed that a search draws from
    for seed, place in enumerate(places):
        for name in hits:
            plan = Plan(seed=seed, trials=36)
            found = explore(
                Function.of(lambda p, _, at=place: abs(p["x"] - at)),
                SQUARE,
                search=search_named(name),
                plan=plan,
            )
            hits[name] += min(trial.value for trial in found.trials) < 0.02
    # P(hit): 1 − 0.98³⁶ = 0.52 at random; a grid covers 6 · 0.04 of a length of 2, about 0.11
    assert hits["random"] >= 20
    assert hits["grid"] <= 15


def test_halving_keeps_the_best_and_ends_on_all_rows() -> None:
    objective = Function.of(lambda p, share: p["x"] + 0.1 * (1 - share))
    explored = explore(objective, SQUARE, search=Halving(), plan=Plan(seed=2, trials=27))
    by_share: dict[float, list[float]] = {}
    for trial in explored.trials:
        by_share.setdefault(trial.share, []).append(trial.parameters["x"])
    assert {share: len(xs) for share, xs in by_share.items()} == {1 / 9: 27, 1 / 3: 9, 1.0: 3}
    assert by_share[1.0] == sorted(by_share[1 / 9])[:3]
    best = best_of(explored.trials, "lower")
    assert best is not None
    assert best.share == 1.0
    assert best.parameters["x"] == min(by_share[1 / 9])


def test_halving_of_few_settings_has_fewer_rounds() -> None:
    assert Halving().sizes(50) == [50, 16, 5]
    assert Halving().sizes(2) == [2]
    with pytest.raises(InvalidInput, match="never halves"):
        Halving(factor=1)


def test_bayes_continues_from_earlier_trials_of_any_search() -> None:
    past = explore(Function.of(mixed), MIXED, search=Random(), plan=Plan(trials=12)).trials
    failed = Trial(12, {"kind": "a", "rate": 0.5}, 1.0, None, "no fit")
    outside = Trial(13, {"kind": "c"}, 1.0, past[0].score)
    proposals = search_named("bayes").generation(MIXED, (*past, failed, outside), Plan(trials=20))
    assert [proposal.number for proposal in proposals] == [14, 15]


def test_without_optuna_bayes_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "optuna", None)
    with pytest.raises(InvalidInput, match=r"pip install 'likely\[search\]'"):
        search_named("bayes").generation(SQUARE, (), Plan())


def test_an_unknown_search_is_named_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'random'"):
        search_named("randm")


def test_a_trial_that_fails_is_kept_and_ranks_last() -> None:
    def sometimes(p: Any, _: float) -> float:
        if p["x"] > 0:
            raise InvalidInput("x is positive; expected less. Lower it.")
        return float(p["x"])

    explored = explore(Function.of(sometimes), SQUARE, search=Random(), plan=Plan(trials=20))
    failed = [trial for trial in explored.trials if trial.score is None]
    assert failed
    assert all(
        trial.problem == "InvalidInput: x is positive; expected less. Lower it." for trial in failed
    )
    assert [trial.score for trial in ranked(explored.trials, "lower")[-len(failed) :]] == [
        None
    ] * len(failed)


def test_higher_is_better_where_the_plan_says_so() -> None:
    explored = explore(
        Function.of(lambda p, _: exp(-bowl(p, 1.0))),
        SQUARE,
        search=Random(),
        plan=Plan(trials=30, better="higher"),
    )
    best = best_of(explored.trials, "higher")
    assert best is not None
    assert best.value == max(trial.value for trial in explored.trials)


def test_time_ends_a_search_that_has_no_last_trial() -> None:
    explored = explore(
        Function.of(bowl), SQUARE, search=Random(), plan=Plan(trials=None), minutes=0.05 / 60
    )
    assert explored.stopped == OUT_OF_TIME
    assert len(explored.trials) >= 1
    spent = TrialLog()
    spent.append(Trial(0, explored.trials[0].parameters, 1.0, explored.trials[0].score, "", 9.0))
    again = explore(
        Function.of(bowl),
        SQUARE,
        search=Random(),
        plan=Plan(trials=None),
        log=spent,
        minutes=9.0 / 60,
    )
    assert len(again.trials) == 1  # the time was spent at an earlier sitting


def test_no_time_at_all_still_allows_one_trial() -> None:
    explored = explore(Function.of(bowl), SQUARE, search=Random(), plan=Plan(), minutes=0.0)
    assert len(explored.trials) == 1


@pytest.mark.parametrize("executor", ["serial", Threads(2)])
def test_an_interrupt_keeps_the_trials_that_are_done(executor: Any) -> None:
    class Interrupted:
        count = 0

        def evaluate(self, parameters: Any, *, share: float = 1.0) -> TrialScore:
            self.count += 1
            if self.count == 6:
                raise KeyboardInterrupt
            return TrialScore(Estimate(0.0, 0.0, 0.0, np.nan), (0.0,), 0.0)

    plan = Plan(trials=30)
    explored = explore(Interrupted(), SQUARE, search=Random(), plan=plan, executor=executor)
    assert explored.stopped == INTERRUPTED
    assert [trial.number for trial in explored.trials] == [0, 1, 2, 3, 4]


def test_ranks_put_what_is_not_a_number_last_and_equals_in_order() -> None:
    trials = [
        Trial(k, {}, 1.0, None if m is None else TrialScore(Estimate(m, m, m, np.nan), (), 0.0))
        for k, m in enumerate([2.0, None, 1.0, nan, 1.0])
    ]
    assert [trial.number for trial in ranked(trials, "lower")] == [2, 4, 0, 1, 3]
    assert [trial.number for trial in ranked(trials, "higher")] == [0, 2, 4, 1, 3]


def test_every_registered_search_is_a_search_of_its_name() -> None:
    for name in SEARCHES:
        search = search_named(name)
        assert isinstance(search, Search)
        assert search.name == name
        assert search_named(search) is search
