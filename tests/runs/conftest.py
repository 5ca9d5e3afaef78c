from tests.report.conftest import copied, whole  # noqa: F401
