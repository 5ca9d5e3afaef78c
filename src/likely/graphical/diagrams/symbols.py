"""Symbols with subscripts, as Unicode writes them."""

from collections.abc import Sequence

SUBSCRIPTS = str.maketrans("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")


def subscripted(symbol: str, indices: Sequence[str]) -> str:
    """A symbol with the lower-case letters of its indices below it, if Unicode has all of them.

    >>> subscripted("x", ["N"]), subscripted("x", ["Q"])
    ('xₙ', 'x')
    """
    below = "".join(indices).lower()
    written = below.translate(SUBSCRIPTS)
    return symbol + written if not set(below) & set(written) else symbol
