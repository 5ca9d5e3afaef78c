"""The mistakes: rows with the largest loss, and how the columns of their table are set."""

from dataclasses import replace

import numpy as np

from likely.metrics import Prediction, Truth, constant_prediction, metrics_for, score_of
from likely.output.description import Description, NamedColumn, NamedTable
from likely.reports.page import report_of
from likely.reports.sections.mistakes import MOST_CELLS, mistakes
from likely.runs import RunFacts
from likely.workbench.scoring.validation import Validation

CELLS = {"code": "A7", "months": 3.5, "town": "Ulm", "visits": 2}


def held(cells=CELLS, identifier="code"):
    """Two rows of two classes, one of them predicted badly."""
    truth = Truth(np.array([0, 1]), None, ("no", "yes"), "binary")
    prediction = Prediction.of_classes(np.log([[0.9, 0.1], [0.8, 0.2]]))
    constant = constant_prediction(truth, truth)
    said = {"predicted": {"class": "no", "p": 0.8}, "loss": 1.609, "truth": "yes", "row": 1}
    return Validation(
        kind="binary",
        target="churn",
        truth=truth,
        prediction=prediction,
        row=np.arange(2),
        fold=np.arange(2),
        score=score_of(metrics_for("binary"), truth, prediction, constant),
        surprising=({**said, "cells": cells},),
        facts={"identifier": identifier},
    )


def facts_of(validation, description=None):
    return RunFacts("run", {"target": "churn"}, validation=validation, description=description)


def worst_rows(validation, description=None):
    return mistakes(facts_of(validation, description)).blocks[-1]


def kinds(table):
    """The head of each column, and whether it is set as words and as a name of the data."""
    return {
        head: (j < table.left or j in table.words, j in table.names)
        for j, head in enumerate(table.head)
    }


def test_columns_of_the_data_keep_their_names_and_only_words_are_set_as_words():
    assert kinds(worst_rows(held())) == {
        "code": (True, True),
        "row": (True, False),
        "churn": (True, True),
        "predicted": (True, False),
        "loss in nats": (False, False),
        "months": (False, True),
        "town": (True, True),
        "visits": (False, True),
    }


def test_without_an_identifier_the_columns_are_set_one_place_earlier():
    table = worst_rows(held(identifier=None))
    assert table.head[0] == "row"
    found = kinds(table)
    assert found["code"] == found["town"] == (True, True)
    assert found["months"] == found["visits"] == (False, True)
    assert found["predicted"] == (True, False)


def test_the_page_writes_names_of_the_data_as_they_are_and_capitalises_the_others():
    html = report_of([facts_of(held())]).html
    part = html[html.index("Rows with the largest held-out loss") :]
    head = part[part.index("<thead>") : part.index("</thead>")]
    for name in ("code", "churn", "months", "town", "visits", "Row", "Predicted", "Loss in nats"):
        assert f">{name}</th>" in head
    assert 'class="number short">months' in head
    assert 'class=" short">town' in head


def test_a_row_has_a_cell_for_each_head_in_the_same_order():
    table = worst_rows(held())
    (row,) = table.rows
    assert dict(zip(table.head, row, strict=True)) == {
        "code": "A7",
        "row": "1",
        "churn": "yes",
        "predicted": "no (0.8000)",
        "loss in nats": "1.609",
        "months": "3.5",
        "town": "Ulm",
        "visits": "2",
    }


def test_of_many_columns_the_first_are_shown_and_the_rest_counted():
    wide = {f"c{j}": j for j in range(MOST_CELLS + 3)}
    table = worst_rows(held(wide, identifier=None))
    assert table.head[4:] == tuple(f"c{j}" for j in range(MOST_CELLS))
    assert table.more == "3 more columns"


def test_the_most_important_columns_come_first_whatever_their_names_hold():
    cells = {f"c{j}": j for j in range(MOST_CELLS)} | {"fee [EUR]": 9.5, "town": "Ulm", "[x": "a"}
    terms = ("town[Ulm]", "fee [EUR]", "town[Bonn]", "[x[a]", "c3")
    weights = tuple((float(len(terms) - j),) for j in range(len(terms)))
    rows = tuple((term,) for term in terms)
    table = NamedTable("terms", (NamedColumn("term", "term"),), rows, weights=weights)
    found = worst_rows(held(cells, identifier=None), Description("model", tables=(table,)))
    assert found.head[4:8] == ("town", "fee [EUR]", "[x", "c3")
    assert found.caption == "The most important columns of the model."


def test_a_loss_of_numbers_without_a_density_is_a_squared_error():
    numbers = Truth(np.array([1.0, 2.0]), None, (), "real")
    prediction = Prediction.of_numbers(np.array([1.0, 5.0]))
    worst = {"row": 1, "truth": 2.0, "predicted": {"mean": 5.0}, "loss": 9.0, "cells": CELLS}
    changes = {"kind": "real", "truth": numbers, "prediction": prediction, "surprising": (worst,)}
    table = worst_rows(replace(held(), **changes))
    assert "squared error" in table.head
    assert table.rows[0][2:5] == ("2", "5.000", "9.000")
