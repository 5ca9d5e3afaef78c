"""Lines of the ledger as a person reads them."""

from likely.report.sections.ledger import _told, ledger
from likely.runs import RunFacts


def line(event, **own):
    return {"n": 1, "time": "2026-01-01T00:00:00Z", "event": event, "previous": "0" * 64, **own}


def test_settings_have_four_digits_and_room_to_break():
    model = "Prepared(model=LogisticRegression(l1=3.6182758782714144,l2=0.00012345678901234))"
    said = _told(line("commit", look=1, model=model))
    assert "l1=3.618, l2=0.0001235" in said
    assert said.split()[-1] == "l2=0.0001235))"  # a line can end before it


def test_whole_numbers_and_words_are_left_as_they_are():
    assert _told(line("sealed", rows=1400, seed=20260131)) == "rows 1400, seed 20260131"
    assert "0.25" in _told(line("commit", look=1, model="Model(alpha=0.25)"))


def test_no_line_ends_with_an_empty_colon():
    accident = line("refused", doing="compare", data="churn.csv", rows=240)
    assert _told(accident) == "compare of churn.csv, which holds 240 sealed rows"
    assert _told(line("refused", doing="final", look=2, why="budget")) == "final: budget"
    assert _told(line("refused", doing="train")) == "train"


def test_a_score_says_the_level_of_its_interval():
    ends = {"value": 0.5, "low": 0.4, "high": 0.6, "constant": 0.7, "level": 0.975}
    assert "(97.5 % interval 0.40 to 0.60)" in _told(
        line("score", look=2, metric="log loss", **ends)
    )


def test_a_seal_that_is_gone_is_told_from_what_the_run_remembers():
    seal = {"path": "a/visits.seal", "name": "visits.seal", "looks": 1, "budget": 2}
    seal |= {"judge": "plain", "rows": 180, "count": 4, "head": "f" * 64}
    section = ledger(RunFacts("run", {"seal": seal}))
    remark, facts = section.blocks
    assert remark.text.startswith("visits.seal is not here")
    assert dict(facts.rows) == {
        "Sealed rows": "180",
        "Judge": "plain",
        "Looks": "1 of 2",
        "Lines when the run was trained": "4",
        "Head when the run was trained": "f" * 64,
    }
