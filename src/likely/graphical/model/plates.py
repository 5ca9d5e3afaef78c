"""Plates: a network whose nodes are repeated, so that many examples are one small picture.

    P(data) = Π_n P(c_n) P(x_n | c_n)        the plate N around c and x

A plate says that its members are repeated for n = 1, …, N with the same conditionals, and share
whatever lies outside.  Plates may be nested, and may cross.

Hidden variables are summed without unrolling the plates:

    Σ_h Π_n f(h, x_n) g(h)        terms within a plate are multiplied over it before h is summed

Variables in most plates are summed first.  What is left of a term is then multiplied over the
plates that none of its variables is in.

References
----------
Buntine, Operations for learning with graphical models, 1994.
Obermeyer et al., Tensor variable elimination for plated factor graphs, 2019.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike

from likely._typing import Array
from likely.distributions.base import Distribution
from likely.errors import InvalidInput, UnknownName
from likely.graphical.drawing.diagram import Diagram, Edge, Node, Plate, subscripted
from likely.graphical.exact.enumeration import spread
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.graph_evidence import is_missing
from likely.graphical.model.variable import State, Variable
from likely.inputs.tables import is_frame
from likely.output.formatting import all_listed
from likely.special import logsumexp


class PlateTerm(NamedTuple):
    """A log-factor with an axis for each plate, then an axis for each hidden variable."""

    plates: tuple[str, ...]
    names: tuple[str, ...]
    log_values: Array


def log_total(terms: Sequence[PlateTerm], plates_of: Mapping[str, tuple[str, ...]]) -> float:
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


def _multiplied_over_plates(term: PlateTerm, plates_of: Mapping[str, tuple[str, ...]]) -> PlateTerm:
    """The product over the plates that none of a term's variables is in."""
    needed = {plate for name in term.names for plate in plates_of[name]}
    extra = tuple(i for i, plate in enumerate(term.plates) if plate not in needed)
    kept = tuple(plate for plate in term.plates if plate in needed)
    return PlateTerm(
        kept, term.names, term.log_values.sum(axis=extra) if extra else term.log_values
    )


def _summed(terms: Sequence[PlateTerm], name: str, plates: tuple[str, ...]) -> PlateTerm:
    """The product of terms, summed over one of their variables."""
    names = tuple(dict.fromkeys(each for term in terms for each in term.names))
    rest = tuple(each for each in names if each != name)
    axes = (*plates, *rest, name)
    total: Array = np.zeros(())
    for term in terms:
        places = [axes.index(each) for each in (*term.plates, *term.names)]
        total = total + spread(term.log_values, places, len(axes))
    return PlateTerm(plates, rest, np.asarray(logsumexp(total, axis=-1)))


Conditional = ArrayLike | Distribution


@final
class PlateModel:
    """A Bayesian network with plates: declared once, unrolled, scored and drawn.

    Parameters
    ----------
    states
        The states of each discrete variable, as in ``BayesianNetwork.from_tables``.
    conditionals
        For each discrete variable its table, indexed [parents…, variable], which all its copies
        share.  For any other variable a member of ``likely.distributions``, with one component for
        each combination of its parents' states; such a variable has no children.
    parents
        The parents of each variable, by name.
    plates
        The members of each plate, by the symbol for its size: ``{"N": ["c", "x"]}``.  A variable in
        several plates is repeated for every combination, in the order of this mapping.
    observed
        Variables that are drawn shaded.
    name
        A title for pictures.

    Examples
    --------
    A mixture: the class of each example is hidden, and its value depends on the class.

    >>> mixture = PlateModel(
    ...     {"c": 2, "x": ["low", "high"]},
    ...     {"c": [0.5, 0.5], "x": [[0.9, 0.1], [0.2, 0.8]]},
    ...     {"x": ["c"]},
    ...     {"N": ["c", "x"]},
    ...     observed=["x"],
    ... )
    >>> print(mixture.draw().text)
    plate N:
      ○ cₙ
      ● xₙ ← cₙ
    >>> mixture.unroll({"N": 3}).names
    ('c[1]', 'x[1]', 'c[2]', 'x[2]', 'c[3]', 'x[3]')
    >>> bool(np.isclose(mixture.log_likelihood({"x": ["low", "high"]}), np.log(0.55 * 0.45)))
    True
    """

    def __init__(
        self,
        states: Mapping[str, int | Iterable[State]],
        conditionals: Mapping[str, Conditional],
        parents: Mapping[str, str | Iterable[str]] | None = None,
        plates: Mapping[str, str | Iterable[str]] | None = None,
        *,
        observed: str | Iterable[str] = (),
        name: str = "",
    ) -> None:
        self.names = tuple(conditionals)
        self.parents = {each: _names((parents or {}).get(each, ())) for each in self.names}
        self.plates = {size: _names(members) for size, members in (plates or {}).items()}
        self.observed = _names(observed)
        self.name = name
        for each in (*(parents or {}), *(p for above in self.parents.values() for p in above)):
            self._known(each)
        for each in (*(m for members in self.plates.values() for m in members), *self.observed):
            self._known(each)
        self.distributions = {
            each: given for each, given in conditionals.items() if isinstance(given, Distribution)
        }
        self._refuse_children_of_distributions()
        tables: dict[str, Any] = {
            each: given for each, given in conditionals.items() if each not in self.distributions
        }
        above = {each: self.parents[each] for each in tables}
        self.template = BayesianNetwork.from_tables(states, tables, above, name=name)
        for each in self.distributions:
            self._refuse_wrong_components(each)
        self._refuse_leaving_a_plate()

    def plates_of(self, name: str) -> tuple[str, ...]:
        """The plates around a variable, in the order of ``plates``."""
        return tuple(size for size, members in self.plates.items() if name in members)

    # ── unrolling and scores ─────────────────────────────────────────────────────────────────

    def unroll(self, sizes: Mapping[str, int]) -> BayesianNetwork:
        """The network with each variable repeated, for plates of these sizes.

        The copies of x in a plate are ``x[1]``, ``x[2]``, …, in two plates ``x[1,1]``, ….
        """
        if self.distributions:
            raise InvalidInput(
                f"{all_listed([repr(n) for n in self.distributions])} has a distribution instead "
                "of a table; only discrete variables can be unrolled into a network. Use log_prob "
                "or log_likelihood, which read its values."
            )
        self._check_sizes(sizes)
        order = {name: i for i, name in enumerate(self.names)}
        copies = [
            (indices, name)
            for name in self.names
            for indices in product(*(range(1, sizes[size] + 1) for size in self.plates_of(name)))
        ]
        copies.sort(key=lambda copy: (copy[0], order[copy[1]]))
        variables = {
            (indices, name): Variable(
                f"{name}[{','.join(map(str, indices))}]" if indices else name,
                self._variable(name).values,
            )
            for indices, name in copies
        }
        factors = []
        for indices, name in copies:
            at = dict(zip(self.plates_of(name), indices, strict=True))
            above = [
                variables[tuple(at[size] for size in self.plates_of(parent)), parent]
                for parent in self.parents[name]
            ]
            scope = [*above, variables[indices, name]]
            factors.append(Factor(scope, self.template.tables[name].table))
        return BayesianNetwork(factors, variables.values(), name=self.name)

    def log_prob(self, data: Mapping[str, Any]) -> float:
        """log P of all variables: the sum over plates of the logs of the conditionals.

        ``data`` has an array for each variable, with an axis for each of its plates; that of a
        distribution may have a last axis for the features.
        """
        absent = [name for name in self.names if name not in data]
        if absent:
            raise InvalidInput(
                f"The data have no values of {', '.join(absent)}; values of every variable were "
                "expected. Use log_likelihood to sum over hidden variables."
            )
        values = self._values(data)
        gaps = [name for name, codes in values.items() if (codes < 0).any()]
        if gaps:
            raise InvalidInput(
                f"{gaps[0]!r} has missing values; a value in every cell was expected. Use "
                "log_likelihood, which sums over them."
            )
        return self._log_total(data, values)

    def log_likelihood(self, data: Mapping[str, Any]) -> float:
        """log P of the variables in ``data``, the others and missing cells summed out.

        It is exact, and costs what one copy costs, times the sizes of the plates.  For a mixture it
        is Σ_n log Σ_c P(c) P(x_n | c).
        """
        return self._log_total(data, self._values(data))

    def _log_total(self, data: Mapping[str, Any], values: Mapping[str, Array]) -> float:
        sizes = self._sizes(data, values)
        plates_of = {name: self.plates_of(name) for name in self.names}
        tables = self.template.tables
        terms = [self._term(name, tables[name].log_table, values, sizes) for name in tables]
        for name, codes in values.items():
            if (codes < 0).any():
                states = np.arange(self._variable(name).n_states)
                fits = (codes[..., None] == states) | (codes[..., None] < 0)
                terms.append(PlateTerm(plates_of[name], (name,), np.where(fits, 0.0, -np.inf)))
        for name in self.distributions:
            if name in data:
                terms.append(self._distribution_term(name, data[name], values, sizes))
        return log_total(terms, plates_of)

    def _term(
        self, name: str, log_table: Array, values: Mapping[str, Array], sizes: Mapping[str, int]
    ) -> PlateTerm:
        """A table at what was observed, in every cell of its plates.

        Its axes are those of the variable's scope, after its plates where it differs by cell.
        """
        own = self.plates_of(name)
        scope = self.parents[name] if name in self.distributions else (*self.parents[name], name)
        hidden = [n for n in scope if n not in values or (values[n] < 0).any()]
        axes = (*own, *hidden)
        length = {size: sizes.get(size, 1) for size in own}
        length |= {each: self._variable(each).n_states for each in hidden}

        def along(values: Array, *of: str) -> Array:
            return values.reshape(tuple(length[axis] if axis in of else 1 for axis in axes))

        index = [along(np.arange(length[size]), size) for size in own]
        index = index if log_table.ndim > len(scope) else []
        for each in scope:
            if each in hidden:
                index.append(along(np.arange(length[each]), each))
            else:
                index.append(along(values[each], *self.plates_of(each)))
        found = log_table[tuple(index)] if index else log_table
        return PlateTerm(
            own, tuple(hidden), np.broadcast_to(found, [length[axis] for axis in axes])
        )

    def _distribution_term(
        self, name: str, given: ArrayLike, values: Mapping[str, Array], sizes: Mapping[str, int]
    ) -> PlateTerm:
        """log p(x | parents) of every cell, at what was observed of the parents."""
        member = self.distributions[name]
        shape = tuple(sizes[size] for size in self.plates_of(name))
        rows = np.asarray(given, dtype=float).reshape(-1, member.n_features)
        states = [self._variable(parent).n_states for parent in self.parents[name]]
        log_table = np.asarray(member.log_prob(rows)).reshape(*shape, *states)
        return self._term(name, log_table, values, sizes)

    # ── pictures ─────────────────────────────────────────────────────────────────────────────

    def draw(self, path: str | Path | None = None) -> Diagram:
        """The picture of the model with its plates; with ``path``, it is also saved there."""
        nodes = tuple(
            Node(
                name,
                label=subscripted(name, self.plates_of(name)),
                shaded=name in self.observed,
            )
            for name in self.names
        )
        edges = tuple(Edge(above, name) for name in self.names for above in self.parents[name])
        plates = tuple(Plate(size, members) for size, members in self.plates.items() if members)
        diagram = Diagram(nodes, edges, plates, title=self.name)
        if path is not None:
            diagram.save(path)
        return diagram

    def _repr_svg_(self) -> str | None:
        return self.draw()._repr_svg_()

    def __repr__(self) -> str:
        plates = ", ".join(f"{size}: {', '.join(m)}" for size, m in self.plates.items())
        return f"<PlateModel: {', '.join(self.names)}; plates {plates or 'none'}>"

    # ── checks ───────────────────────────────────────────────────────────────────────────────

    def _variable(self, name: str) -> Variable:
        return self.template.by_name[name]

    def _known(self, name: str) -> None:
        if name not in self.names:
            raise UnknownName("variable with a conditional", name, self.names)

    def _refuse_children_of_distributions(self) -> None:
        for name, above in self.parents.items():
            for parent in above:
                if parent in self.distributions:
                    raise InvalidInput(
                        f"{parent!r} has a distribution and is a parent of {name!r}; parents with "
                        "states and a table were expected. Discretize it, or reverse the edge."
                    )

    def _refuse_wrong_components(self, name: str) -> None:
        states = [self._variable(parent).n_states for parent in self.parents[name]]
        expected, given = int(np.prod(states, dtype=int)), self.distributions[name].n_components
        if given != expected:
            raise InvalidInput(
                f"The distribution of {name!r} has {given} components; {expected} were expected, "
                f"one for each state of its parents ({', '.join(self.parents[name]) or 'none'})."
            )

    def _refuse_leaving_a_plate(self) -> None:
        for name, above in self.parents.items():
            for parent in above:
                left = [s for s in self.plates_of(parent) if s not in self.plates_of(name)]
                if left:
                    raise InvalidInput(
                        f"{parent!r} is in the plate {left[0]} and its child {name!r} is not; a "
                        f"child of a repeated variable is repeated with it. Put {name!r} into the "
                        f"plate {left[0]}, or take {parent!r} out of it."
                    )

    def _check_sizes(self, sizes: Mapping[str, int]) -> None:
        if not isinstance(sizes, Mapping):
            shown = ", ".join(f"{size!r}: 3" for size in self.plates)
            raise InvalidInput(
                f"The sizes are {sizes!r}; the size of each plate by its name was expected. Give "
                f"{{{shown}}}."
            )
        for size in sizes:
            if size not in self.plates:
                raise UnknownName("plate", size, self.plates)
        for size in self.plates:
            n = sizes.get(size)
            if not isinstance(n, int | np.integer) or isinstance(n, bool) or n < 1:
                raise InvalidInput(
                    f"The size of the plate {size} is {n!r}; a whole number from 1 up was "
                    f"expected. Give {{{size!r}: 3}}."
                )

    def _values(self, data: Mapping[str, Any]) -> dict[str, Array]:
        """The codes of the discrete variables in the data; −1 is missing."""
        if not isinstance(data, Mapping) and not is_frame(data):
            raise InvalidInput(
                f"The data are of the type {type(data).__name__}; values by the names of variables "
                f"were expected, such as {{{self.names[0]!r}: [...]}}."
            )
        for name in data:
            self._known(name)
            self._refuse_ragged(name, data[name])
        found = {}
        for name in self.template.names:
            if name in data:
                found[name] = _codes(self._variable(name), data[name])
                if found[name].ndim != len(self.plates_of(name)):
                    self._refuse_shape(name, found[name].shape)
        return found

    def _sizes(self, data: Mapping[str, Any], values: Mapping[str, Array]) -> dict[str, int]:
        """The size of each plate, from the shapes of the data."""
        sizes: dict[str, int] = {}
        for name in data:
            own = self.plates_of(name)
            shape = values[name].shape if name in values else np.shape(data[name])
            if name in self.distributions:
                n_features = self.distributions[name].n_features
                features = (n_features,) if len(shape) > len(own) else ()
                if shape[len(own) :] != features or (not features and n_features > 1):
                    self._refuse_shape(name, shape)
            for size, n in zip(own, shape, strict=False):
                if sizes.setdefault(size, n) != n:
                    raise InvalidInput(
                        f"The plate {size} has {n} copies of {name!r} and {sizes[size]} of another "
                        "variable; the same number was expected."
                    )
        for name in self.names:
            unknown = [size for size in self.plates_of(name) if size not in sizes]
            if unknown and name not in self.distributions:
                raise InvalidInput(
                    f"The data do not show the size of the plate {unknown[0]}; values of one of "
                    f"its members were expected ({', '.join(self.plates[unknown[0]])})."
                )
        return sizes

    def _refuse_ragged(self, name: str, values: ArrayLike) -> None:
        """Refuse lists of different lengths: a plate has as many copies in each copy around it."""
        if isinstance(values, Mapping):
            raise InvalidInput(
                f"The values of {name!r} are a dictionary; an array with an axis for each of its "
                "plates was expected."
            )
        try:
            np.shape(values)
        except ValueError:  # NumPy has no array of such lists
            inner = self.plates_of(name)[-1] if self.plates_of(name) else "inner"
            raise InvalidInput(
                f"The values of {name!r} are lists of different lengths; every copy of the plate "
                f"{inner} was expected to be as long as the others. Fill the shorter lists with "
                "None, in this variable and in those that depend on it: log_likelihood sums over "
                "such copies, so that they have no effect."
            ) from None

    def _refuse_shape(self, name: str, shape: tuple[int, ...]) -> None:
        own = self.plates_of(name)
        features = ""
        if name in self.distributions and self.distributions[name].n_features > 1:
            features = f", and one for its {self.distributions[name].n_features} features"
        expected = f"an axis for each of {', '.join(own)}" if own else "one value"
        raise InvalidInput(
            f"The values of {name!r} have the shape {shape}; {expected} was expected{features}."
        )


def _names(given: str | Iterable[str]) -> tuple[str, ...]:
    """Names, of which one may be given as text."""
    return (given,) if isinstance(given, str) else tuple(given)


def _codes(variable: Variable, values: ArrayLike) -> Array:
    """The code of each value; −1 is missing."""
    given = np.asarray(values, dtype=object)
    codes = np.empty(given.shape, dtype=int)
    known: dict[Any, int] = {}
    for at, value in np.ndenumerate(given):
        key = (type(value), value)
        if key not in known:
            known[key] = -1 if is_missing(value, variable) else variable.code(value)
        codes[at] = known[key]
    return codes
