"""A fitted model as one file: arrays and a JSON header, no pickle; ``save`` and ``load``."""

from likely.model_content import MODEL_FILE
from likely.persist.model_file import file_content, load, save

__all__ = ["MODEL_FILE", "file_content", "load", "save"]
