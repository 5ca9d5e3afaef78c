"""A table with its target and roles: how it is opened, what it holds, how its rows are divided."""
