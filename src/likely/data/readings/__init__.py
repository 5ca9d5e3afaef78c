"""Numbers and dates as spreadsheets write them: what a text means, a column, and a sheet."""
