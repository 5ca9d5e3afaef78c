import pytest

from tests.reports.runs_by_hand import whole_run


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """A RUN with every file; tests that change it take a copy."""
    return whole_run(tmp_path_factory.mktemp("whole"))


@pytest.fixture
def copied(whole, tmp_path):
    import shutil

    return shutil.copytree(whole, tmp_path / "run")
