"""Sums over hidden variables in plates, without unrolling them.

    Σ_h Π_n f(h, x_n) g(h)        terms within a plate are multiplied over it before h is summed

Variables in most plates are summed first.  What is left of a term is then multiplied over the
plates that none of its variables is in.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from likely._typing import Array
from likely.errors import InvalidInput
from likely.special import logsumexp


class Term(NamedTuple):
    """A log-factor with an axis for each plate, then an axis for each hidden variable."""

    plates: tuple[str, ...]
    names: tuple[str, ...]
    log_values: Array


def log_total(terms: Sequence[Term], plates_of: Mapping[str, tuple[str, ...]]) -> float:
    """The log of the product of all terms over their plates, summed over all their variables."""
    left = list(terms)
    names = dict.fromkeys(name for term in left for name in term.names)
    for name in sorted(names, key=lambda each: -len(plates_of[each])):
        own = plates_of[name]
        touched = [_multiplied_over_plates(t, plates_of) for t in left if name in t.names]
        left = [term for term in left if name not in term.names]
        for term in touched:
            if set(term.plates) - set(own):
                others = ", ".join(each for each in term.names if each != name)
                raise InvalidInput(
                    f"Hidden variables in different plates ({name}, {others}) depend on each other "
                    "in every copy; they cannot be summed out copy by copy. Use unroll and "
                    "log_partition, or give their values."
                )
        left.append(_summed(touched, name, own))
    return float(sum(term.log_values.sum() for term in left))


def _multiplied_over_plates(term: Term, plates_of: Mapping[str, tuple[str, ...]]) -> Term:
    """The product over the plates that none of a term's variables is in."""
    needed = {plate for name in term.names for plate in plates_of[name]}
    extra = tuple(i for i, plate in enumerate(term.plates) if plate not in needed)
    kept = tuple(plate for plate in term.plates if plate in needed)
    return Term(kept, term.names, term.log_values.sum(axis=extra) if extra else term.log_values)


def _summed(terms: Sequence[Term], name: str, plates: tuple[str, ...]) -> Term:
    """The product of terms, summed over one of their variables."""
    names = tuple(dict.fromkeys(each for term in terms for each in term.names))
    rest = tuple(each for each in names if each != name)
    axes = (*plates, *rest, name)
    total: Array = np.zeros(())
    for term in terms:
        own = (*term.plates, *term.names)
        places = np.array([axes.index(each) for each in own], dtype=int)
        order = np.argsort(places)
        turned, present = term.log_values.transpose(order), places[order].tolist()
        shape = [1] * len(axes)
        for axis, size in zip(present, turned.shape, strict=True):
            shape[axis] = size
        total = total + turned.reshape(shape)
    return Term(plates, rest, np.asarray(logsumexp(total, axis=-1)))
