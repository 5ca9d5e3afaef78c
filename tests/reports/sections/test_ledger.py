"""What a run recorded about a seal that was not found."""

from likely.reports.sections.question import ledger
from likely.runs import RunFacts


def test_a_seal_that_is_gone_is_told_from_what_the_run_remembers():
    seal = {"path": "a/visits.seal", "name": "visits.seal", "evaluations": 1, "budget": 2}
    seal |= {"judge": "plain", "rows": 180, "count": 4, "head": "f" * 64}
    section = ledger(RunFacts("run", {"seal": seal}))
    remark, facts = section.blocks
    assert remark.text.startswith("visits.seal was not found")
    assert dict(facts.rows) == {
        "Sealed rows": "180",
        "Judge": "plain",
        "Evaluations": "1 of 2",
        "Lines when the run was trained": "4",
        "Hash of the last line when the run was trained": "f" * 64,
    }
