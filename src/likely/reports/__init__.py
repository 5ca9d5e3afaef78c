"""The report: one HTML file about one or more runs, without other files."""
