"""Laws of the plate diagrams of every public estimator that is a model."""

from itertools import combinations
from xml.etree import ElementTree

import pytest
from sklearn.base import clone

from likely.graphical.drawing.dot import read_dot
from likely.graphical.model.model_plates import ROWS
from tests.estimators import made, public_estimators
from tests.fits import FITS

FEATURES = (
    "BasisFunctions",
    "Discretizer",
    "LogCountRatios",
    "PolynomialFeatures",
)  # maps of columns, no models
MODELS = [kind for kind in public_estimators() if kind.__name__ not in FEATURES]
MODEL_FITS = [name for name, fit in FITS.items() if type(fit.estimator).__name__ not in FEATURES]
every_model = pytest.mark.parametrize("kind", MODELS, ids=lambda kind: kind.__name__)


@every_model
def test_every_model_has_a_plate_for_its_rows(kind):
    """What was observed is in the plate of the rows, what is shared is outside."""
    diagram = made(kind).plate()
    rows = next(plate for plate in diagram.plates if plate.label == ROWS)
    nodes = {node.name: node for node in diagram.nodes}
    assert all("ₙ" in nodes[name].label for name in rows.members)
    assert not any("ₙ" in node.label for node in nodes.values() if node.name not in rows.members)
    assert any(nodes[name].shaded for name in rows.members)
    shared = [node for node in nodes.values() if node.name not in rows.members]
    assert shared and not any(node.shaded for node in shared)
    assert any(
        edge.target in rows.members for edge in diagram.edges if edge.source not in rows.members
    )


@every_model
def test_a_plate_diagram_is_drawn_without_overlaps_and_read_back(kind):
    diagram = made(kind).plate()
    ElementTree.fromstring(diagram.svg)
    assert read_dot(diagram.dot) == diagram
    assert not any(one.overlaps(other) for one, other in combinations(diagram.boxes(), 2))


@pytest.mark.parametrize("name", MODEL_FITS)
def test_the_diagram_is_the_same_before_and_after_the_fit(name):
    model = clone(FITS[name].estimator)
    before = model.plate()
    X, y = FITS[name].data()
    assert model.fit(X, y).plate() == before
