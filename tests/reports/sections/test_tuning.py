from likely.reports.sections.tuning import tuning
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


def test_what_the_interval_is_of_is_said():
    said = tuning(RunFacts("run", {}, study=study({}))).blocks[0].text
    assert "Intervals are for the held-out rows." in said
