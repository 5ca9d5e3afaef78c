"""A fitted model as one file: arrays and a JSON header, no pickle; ``save`` and ``load``."""

from likely.persist.model_file import load, model_bytes, save

__all__ = ["load", "model_bytes", "save"]
