"""What makes a training fail silently: the scale of columns and weights, and the order of rows."""

from typing import Any

import numpy as np
from scipy import sparse

from likely._typing import Array
from likely.data.coding import Coding
from likely.errors import InvalidInput, SortedRows, UnscaledColumns, warn_user
from likely.formatting import quoted
from likely.neural.training.examples import Examples
from likely.neural.training.options import Options
from likely.solvers.mini_batches import WINDOW, Batches, ShuffledBatches, share_between_windows

ROWS_FOR_SCALE = 10_000
LARGE_COLUMN = 200.0  # root mean square
SMALL_COLUMN = 1e-3  # largest |x|: rare flags are 1
LARGEST_WEIGHT = 1e30  # float32 ends at 1e38
SORTED = 0.05  # of the variance of y between windows; rows in random order have about 1e-5


def refuse_extreme_weights(weight: Array | None) -> None:
    """Refuse weights whose products with slopes are 0 or infinite in float32."""
    largest = 1.0 if weight is None else float(weight.max(initial=0.0))
    if not 1 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise InvalidInput(
            f"The largest sample_weight is {largest:.3g}; one between {1 / LARGEST_WEIGHT:g} and "
            f"{LARGEST_WEIGHT:g} was expected. Divide all weights by it, and l1 and l2 too."
        )


def warn_of_unscaled_columns(model: Any, examples: Examples, coding: Coding) -> None:
    """Warn of columns that kill units, or that no unit sees, because of their scale."""
    X = examples.some_columns()
    X = X[:: 1 + X.shape[0] // ROWS_FOR_SCALE].astype(np.float64)
    square = np.asarray((X.multiply(X) if sparse.issparse(X) else np.square(X)).mean(axis=0))
    most = abs(X).max(axis=0)
    most = np.ravel(most.toarray() if sparse.issparse(most) else most)
    far = (np.sqrt(np.ravel(square)) > LARGE_COLUMN) | ((most > 0) & (most < SMALL_COLUMN))
    if not far.any():
        return
    names = np.array(coding.names(), dtype=object)[far]
    size = most[far][0]
    warn_user(
        f"{type(model).__name__}: {quoted(names.tolist())} {'is' if len(names) == 1 else 'are'} "
        f"far from unit scale (|x| up to {size:.3g} in {str(names[0])!r}); one learning rate "
        "serves all weights, so that units can die and columns be ignored. Standardise the "
        "columns: likely.Prepared(model), or scikit-learn's StandardScaler.",
        UnscaledColumns,
    )


def warn_of_sorted_rows(model: Any, options: Options, examples: Examples) -> None:
    """Warn where batches would have one class after another, though they are to be shuffled."""
    whole = options.quasi_newton or not model.shuffle or vars(model).get("balanced", False)
    given = model.batch
    windows = isinstance(given, ShuffledBatches) or not isinstance(given, Batches)
    window = given.window if isinstance(given, ShuffledBatches) else WINDOW
    if whole or not windows or given == "full" or examples.n_rows <= window:
        return
    if share_between_windows(examples.y, window) > SORTED:
        warn_user(
            f"The rows are sorted by y, or nearly so, and are shuffled only inside windows of "
            f"{window} rows, so that many batches have targets of one kind. Shuffle the rows "
            "before the fit.",
            SortedRows,
        )
