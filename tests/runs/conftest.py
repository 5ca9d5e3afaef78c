from tests.reports.conftest import copied, whole  # noqa: F401
