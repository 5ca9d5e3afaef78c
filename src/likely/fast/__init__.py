"""Compiled loops.  They trust their arguments; nothing is checked here."""

from likely.fast.kept_loops import keep_by_all_sources, report_compilation

keep_by_all_sources()
report_compilation()
