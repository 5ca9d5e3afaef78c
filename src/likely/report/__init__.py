"""The report: one HTML file about one or more runs, that needs nothing else to be read."""

from likely.report.page import Report, report_of
from likely.report.run_files import RunFacts, read_run

__all__ = ["Report", "RunFacts", "read_run", "report_of"]
