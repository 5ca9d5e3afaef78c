"""The report: one HTML file about one or more runs, that needs nothing else to be read."""

from likely.report.page import Report, report_of

__all__ = ["Report", "report_of"]
