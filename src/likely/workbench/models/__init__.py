"""The models of the workbench: the registry, its entries, and what any model answers."""
