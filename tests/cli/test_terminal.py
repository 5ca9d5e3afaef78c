"""Progress: plain lines off a terminal, a bar on one, silence where it is not wanted."""

import numpy as np
import pytest

import likely
from likely.cli import terminal as screen
from likely.cli.terminal import GlobalOptions
from likely.output.progress import ModelScored, report, tell


def work(settings, monkeypatch, *, terminal):
    monkeypatch.setattr(screen, "PATIENCE_S", 0.0)
    monkeypatch.setattr(screen, "LINE_EVERY_S", 0.0)
    monkeypatch.setattr(screen.sys.stderr, "isatty", lambda: terminal, raising=False)
    with screen.showing_progress(settings, "fitting", 2000):
        report("rows", 1000)
        report("EM step", 1, "objective 3.5")


def test_plain_lines_say_how_far_it_is(monkeypatch, capsys):
    work(GlobalOptions(), monkeypatch, terminal=False)
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == [
        "fitting: 1,000 of 2,000 rows",
        "fitting: 1,000 of 2,000 rows, EM step objective 3.5",
    ]


def test_epochs_of_rows_in_memory_are_said_without_a_count_of_rows(monkeypatch, capsys):
    monkeypatch.setattr(screen, "LINE_EVERY_S", 0.0)
    rows = np.random.default_rng(0).normal(size=(30, 2))
    network = likely.NeuralNetworkRegressor((2,), batch=10, max_epochs=1, tol=None)
    with screen.showing_progress(GlobalOptions(), "cross-validating neural-network"):
        network.fit(rows, rows[:, 0])
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith("cross-validating neural-network: epoch 1 of at most 1: loss ")


@pytest.mark.parametrize("terminal", [False, True])
def test_trials_are_counted_and_the_steps_of_their_fits_are_not(monkeypatch, capsys, terminal):
    monkeypatch.setattr(screen, "PATIENCE_S", 0.0)
    monkeypatch.setattr(screen, "LINE_EVERY_S", 0.0)
    monkeypatch.setattr(screen.sys.stderr, "isatty", lambda: terminal, raising=False)
    with screen.showing_progress(GlobalOptions(), "tuning", 50, unit="trials run"):
        report("EM step", 1, "objective 3.5")
        report("trials run", 1, "best 0.4")
    said = capsys.readouterr().err
    assert "EM step" not in said
    if not terminal:
        assert said == "tuning: 1 of 50 trials run, best 0.4\n"


def test_fits_are_counted_of_all_with_the_time_so_far(monkeypatch, capsys):
    monkeypatch.setattr(screen, "LINE_EVERY_S", 0.0)
    with screen.showing_progress(GlobalOptions(), "comparing", None, unit="fits"):
        report("fits", 1, "discriminant", total=70)
    assert capsys.readouterr().err == "comparing: 1 of 70 fits, discriminant, 0 s\n"


def test_a_terminal_gets_a_bar_that_ends_with_the_work(monkeypatch, capsys):
    work(GlobalOptions(), monkeypatch, terminal=True)
    said = capsys.readouterr()
    assert said.out == ""
    assert "fitting" in said.err


@pytest.mark.parametrize("settings", [GlobalOptions(quiet=True), GlobalOptions(json=True)])
def test_quiet_and_json_say_nothing(monkeypatch, capsys, settings):
    work(settings, monkeypatch, terminal=False)
    assert capsys.readouterr() == ("", "")


def test_short_work_says_nothing(monkeypatch, capsys):
    with screen.showing_progress(GlobalOptions(), "fitting", 10):
        report("rows", 10)
    assert capsys.readouterr() == ("", "")


SCORED = ModelScored("naive-bayes", "log loss", 0.4123, 0.39, 0.4321, 0.0123)
LATE = ModelScored("glm", "log loss", np.nan, np.nan, np.nan, np.nan, "not finished in 3 s")


def test_models_are_shown_as_they_are_scored(monkeypatch, capsys):
    monkeypatch.setattr(screen, "LINE_EVERY_S", 0.0)
    with screen.showing_progress(GlobalOptions(), "comparing", 10, unit="fits"):
        tell(SCORED)
        tell(LATE)
    assert capsys.readouterr().err.splitlines() == [
        "comparing: naive-bayes: log loss 0.412 (0.390 to 0.432), 0.012 s per fit",
        "comparing: glm: not finished in 3 s",
    ]


def test_scores_of_a_quick_comparison_are_in_its_table_only(capsys):
    with screen.showing_progress(GlobalOptions(), "comparing", 10, unit="fits"):
        tell(SCORED)
    assert capsys.readouterr().err == ""


def test_on_a_terminal_the_scores_so_far_are_above_the_bar(monkeypatch, capsys):
    monkeypatch.setattr(screen, "PATIENCE_S", 0.0)
    monkeypatch.setattr(screen.sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with screen.showing_progress(GlobalOptions(), "comparing", 10, unit="fits"):
        tell(SCORED)
        report("fits", 5, "glm")
    shown = capsys.readouterr().err
    assert "naive-bayes" in shown and "0.390 to 0.432" in shown
    assert shown.index("naive-bayes") < shown.index("5 fits, glm")


def test_a_long_fit_reports_its_rows(likely, table, monkeypatch):
    monkeypatch.setattr(screen, "LINE_EVERY_S", 0.0)
    outcome = likely("train", table, "naive-bayes", "--target", "ill")
    assert "fitting naive-bayes: 200 of 200 rows" in outcome.err


@pytest.mark.parametrize("unit", ["rows", "trials run"])
def test_compiling_is_said_at_once_and_one_time(monkeypatch, capsys, unit):
    with screen.showing_progress(GlobalOptions(), "fitting", 10, unit=unit):
        for _ in range(3):
            report("compiling", 0, "once")
    assert capsys.readouterr() == ("", "fitting: compiling, once\n")
    monkeypatch.setattr(screen.sys.stderr, "isatty", lambda: True, raising=False)
    with screen.showing_progress(GlobalOptions(), "fitting", 10, unit=unit):
        report("compiling", 0, "once")
    assert "compiling, once" in capsys.readouterr().err


def test_scores_are_said_while_a_slow_model_is_fitted(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(screen.time, "monotonic", lambda: now[0])
    with screen.showing_progress(GlobalOptions(), "comparing", 10, unit="fits"):
        tell(SCORED)
        assert capsys.readouterr().err == ""
        now[0] = 7.0
        report("EM step", 1, "objective 3.5")  # of a fit of the next model
        assert capsys.readouterr().err.startswith("comparing: naive-bayes: log loss 0.412")
        report("fits", 1, "mixture", total=10)
        assert "naive-bayes" not in capsys.readouterr().err
