"""The command line: ``likely`` and one file per verb."""
