"""stub"""
from typing import Any
def merged_fits(estimator: Any, table: Any, task: Any, fold: Any) -> Any:
    return None
