"""A third of the irises, for studies that take no time."""

from typing import Any

import pytest
from sklearn.datasets import load_iris


@pytest.fixture(scope="session")
def iris() -> Any:
    return load_iris(as_frame=True).frame.iloc[::3].reset_index(drop=True)
