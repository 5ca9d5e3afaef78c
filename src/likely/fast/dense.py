"""Compiled products with a dense matrix whose columns are centred by c.

    η_i = Σ_j (x_ij − c_j) θ_j        g_j = Σ_i (x_ij − c_j) r_i        z_ij = s_i (x_ij − c_j)

The difference is taken before any product: Σ x_ij θ_j − Σ c_j θ_j would cancel where |c| is
much larger than the spread of the column.  X is float64 or float32, C-contiguous; everything
else float64, and sums are float64.  The caller checks.
"""

from numba import njit

VECTOR = {"reassoc", "contract", "nsz"}  # sums may be reordered into vector lanes


@njit(cache=True, nogil=True, fastmath=VECTOR)
def centred_matvec(X, centre, theta, eta):
    """Overwrite ``eta`` (n,)."""
    n, p = X.shape
    for i in range(n):
        x = X[i]
        total = 0.0
        for j in range(p):
            total += (x[j] - centre[j]) * theta[j]
        eta[i] = total


@njit(cache=True, nogil=True, fastmath=VECTOR)
def centred_rmatvec(X, centre, residual, out):
    """Add to ``out`` (p,)."""
    n, p = X.shape
    for i in range(n):
        x = X[i]
        r = residual[i]
        for j in range(p):
            out[j] += (x[j] - centre[j]) * r


@njit(cache=True, nogil=True)
def centre_and_scale(X, centre, factor, out):
    """Overwrite ``out`` (n, p), of X's dtype, with the centred rows times their factors."""
    n, p = X.shape
    for i in range(n):
        x = X[i]
        z = out[i]
        s = factor[i]
        for j in range(p):
            z[j] = (x[j] - centre[j]) * s
