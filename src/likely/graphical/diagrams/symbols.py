"""Symbols with subscripts and superscripts, as Unicode writes them."""

from collections.abc import Sequence

SUBSCRIPTS = str.maketrans("0123456789aehijklmnoprstuvx", "₀₁₂₃₄₅₆₇₈₉ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ")
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def subscripted(symbol: str, indices: Sequence[str]) -> str:
    """A symbol with the lower-case letters of its indices below it, if Unicode has all of them.

    >>> subscripted("x", ["N"]), subscripted("x", ["Q"])
    ('xₙ', 'x')
    """
    below = "".join(indices).lower()
    written = below.translate(SUBSCRIPTS)
    return symbol + written if not set(below) & set(written) else symbol


def superscripted(symbol: str, number: str) -> str:
    """A symbol with the digits of a number above it.

    >>> superscripted("h", "12")
    'h¹²'
    """
    return symbol + number.translate(SUPERSCRIPTS)
