from likely.reports.sections.comparison import tuning
from likely.runs import RunFacts


def study(*settings):
    trials = [
        {"number": k, "parameters": given, "value": 0.5 + k / 100, "interval": [0.4, 0.6]}
        for k, given in enumerate(settings)
    ]
    asked = {"model": "logistic", "metric": "log-loss", "better": "lower", "search": "random"}
    return {**asked, "trials": trials, "baseline": 0.66, "nested": None}


def test_settings_have_one_order_in_all_rows():
    section = tuning(
        RunFacts("run", {}, study=study({"l2": 1.0, "l1": 0.5}, {"l1": 0.25, "l2": 3.123456}))
    )
    table = section.blocks[-1]
    assert [row[0] for row in table.rows] == ["l2=1, l1=0.5", "l2=3.123, l1=0.25"]


def test_the_chosen_settings_are_first_and_marked_and_the_reason_is_said():
    asked = study({"l2": 1.0}, {"l2": 2.0}, {"l2": 3.0})
    asked |= {
        "best": {"number": 7, "parameters": {"l2": 9.0}, "value": 0.6},
        "beside": {"number": 7, "parameters": {"l2": 9.0}, "value": 0.6, "interval": [0.4, 0.8]},
        "choice": {"text": "The default settings are kept."},
    }
    section = tuning(RunFacts("run", {}, study=asked))
    table = section.blocks[-1]
    assert [row[0] for row in table.rows] == ["l2=9", "l2=1", "l2=2", "l2=3"]
    assert table.marked == {0}
    assert section.blocks[0].text.startswith("3 trials of logistic")
    assert section.blocks[1].text == "The default settings are kept."


def test_what_the_interval_is_of_is_said():
    said = tuning(RunFacts("run", {}, study=study({}))).blocks[0].text
    assert "Intervals are for the held-out rows." in said
