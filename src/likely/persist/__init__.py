"""A fitted model as one file: arrays and a JSON header, no pickle; ``save`` and ``load``."""

from likely.persist.model_file import MODEL_FILE, load, model_bytes, save

__all__ = ["MODEL_FILE", "load", "model_bytes", "save"]
