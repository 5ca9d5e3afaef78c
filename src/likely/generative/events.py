"""Which event model reads which column, the product of families that follows, and the encoded rows.

    event="auto"   number → gaussian,  boolean → bernoulli,  category → categorical,
                   sparse, words of a text → multinomial    (types are read, never values)

A mapping names columns; those it leaves out are ``auto``.  Columns with the same event
model form one part of the product, so the multinomial columns are one group of counts.

Small whole numbers that are all read as categories are found and counted in one pass; any other
rows are encoded first, and counted by the fit.

Documents may be sequences of word ids.  They have the estimates and the posterior of their counts;
log p(x, k) differs by ln B, the log-number of the orders of their words:

    p(x_1, …, x_d | k) = Π_j φ_k(x_j)        p(counts | k) = B Π_v φ_kv^counts_v
                                             B = d! / Π_v counts_v!

Numbers that are binned inside naive Bayes move from the numbers of a design to its codes, after the
categories: bins are learned in the fit and applied to new rows.

Lists of whole numbers are ids or counts.  A model to be fitted takes lists of unequal length for
ids, and others for a matrix; a fitted one takes all of them for what it was fitted to.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.utils import Tags

from likely._typing import Array, NumbersAndCodes
from likely.caching import cached_property
from likely.data.block import ArrayBlocks, Blocks
from likely.data.frames import is_sparse
from likely.data.layouts.base import Design
from likely.data.layouts.dense import Dense
from likely.data.layouts.intercept import Mixed
from likely.data.schema import Schema
from likely.data.sequences import Sequences, is_lists, is_sequences
from likely.data.source import TableKinds
from likely.distributions import (
    DISTRIBUTIONS,
    CategoricalFamily,
    DiagonalFamily,
    Family,
    FullFamily,
    JointTableFamily,
    LaplaceFamily,
    ProductFamily,
    ProductPart,
    Selection,
    Takes,
)
from likely.distributions.product import ProductStatistics
from likely.errors import InvalidInput, UnknownName
from likely.features.discretize import Discretizer, intervals_in_words
from likely.inputs.rows import CheckedRows, EncodedRows, RowsInMemory, recode_rows
from likely.numerics.quantiles import LIMIT
from likely.objectives.components import ComponentTotals
from likely.objectives.value_counts import count_values
from likely.storage.declarations import SameCount

AUTO = {
    "number": "gaussian",
    "boolean": "bernoulli",
    "category": "categorical",
    "word": "multinomial",
}
EVENTS = tuple(sorted([*DISTRIBUTIONS, "categorical"]))
TAKES = {  # what X may be, by event model
    "auto": Takes(text=True),
    "categorical": CategoricalFamily.takes,
    **{name: family.takes for name, family in DISTRIBUTIONS.items()},
}
Event = str | Family


def are_ids(X: Any, *, reads_ids: bool, n_columns: int) -> bool:
    """Whether a fitted model reads rows as sequences of ids; ``reads_ids`` if fitted to them."""
    if reads_ids:
        return is_lists(X) or is_sequences(X)
    if is_lists(X) and is_sequences(X):
        raise InvalidInput(
            "X is a list of rows of unequal length, and the model was fitted to columns; rows of "
            f"{n_columns} values were expected. If these are ids of words, give "
            f"likely.Sequences.of(lists, {n_columns})."
        )
    return is_sequences(X)


def counts_of_documents(X: Any, event: Any, n_words: int | None = None) -> Any:
    """Counts of sequences of ids, or presence for Bernoulli models, as CSR.

    ``n_words`` is the size of the vocabulary, if a model is fitted already.
    """
    sequences = Sequences.of(X, n_words)
    return sequences.to_presence() if event == "bernoulli" else sequences.to_counts()


def log_orders(X: Any, event: Any) -> Array:
    """ln B of each sequence, where the event model is one of counts that has it; else 0."""
    sequences = Sequences.of(X)
    return sequences.log_orders() if event in ("multinomial", "auto") else np.zeros(len(sequences))


@final
@dataclass(frozen=True, eq=False)
class EventPlan:
    """One event model per column."""

    saved_rules = (SameCount("events", "discretised"),)

    events: tuple[Event, ...]
    discretised: tuple[bool, ...]  # numbers that are cut into bins and read as codes

    @cached_property
    def as_codes(self) -> tuple[bool, ...]:
        """Which columns a schema reads as categories."""
        if len({*self.events}) == 1 and not any(self.discretised):  # text has many columns
            coded = _coded(self.events[0])
            return (True,) * len(self.events) if coded else self.discretised
        pairs = zip(self.events, self.discretised, strict=True)
        return tuple(_coded(event) and not cut for event, cut in pairs)


def plan_events(
    event: Any, table: TableKinds, *, sparse: bool = False, discretise: bool = False
) -> EventPlan:
    """Read the ``event`` argument; ``discretise`` bins columns that auto would call Gaussian."""
    n_columns = len(table.kinds)
    if isinstance(event, Mapping):
        known = {*range(n_columns), *(table.names or ())}
        for name in event:
            if name not in known:
                raise UnknownName("column", name, [str(n) for n in table.names or sorted(known)])
        names = range(n_columns) if table.names is None else table.names
        named = [_checked(event.get(n, event.get(j, "auto"))) for j, n in enumerate(names)]
    else:
        named = [_checked(event)] * n_columns  # text has many columns
    if len({*named}) == 1 and named[0] != "auto" and not {*table.kinds} - {"number"}:
        _refuse_mismatch(named[0], "number", table, 0)
        return EventPlan((named[0],) * n_columns, (False,) * n_columns)
    events: list[Event] = []
    cut: list[bool] = []
    for position, (kind, choice) in enumerate(zip(table.kinds, named, strict=True)):
        if choice == "auto":
            choice = "multinomial" if sparse else AUTO[kind]
            cut.append(discretise and choice == "gaussian")
            events.append("categorical" if cut[-1] else choice)
        else:
            _refuse_mismatch(choice, kind, table, position)
            events.append(choice)
            cut.append(False)
    return EventPlan(tuple(events), tuple(cut))


def with_input_tags(tags: Tags, event: Any) -> Tags:
    """The tags of X, if one event model applies to all columns."""
    takes = TAKES.get(event if isinstance(event, str) else "auto", Takes())
    tags.input_tags.allow_nan = takes.missing
    tags.input_tags.positive_only = not takes.negative
    tags.input_tags.sparse = takes.sparse
    tags.input_tags.string = takes.text
    tags.input_tags.categorical = takes.text  # categories, as text or as codes
    if tags.classifier_tags is not None:
        tags.classifier_tags.poor_score = not takes.missing  # counts tell little about blobs
    return tags


def product_family(
    plan: EventPlan,
    sizes: tuple[int, ...],
    *,
    gaussian: DiagonalFamily | FullFamily,
    sketch: bool = False,
    with_words: bool = False,
) -> ProductFamily:
    """The families of the plan; ``sizes`` are those of the columns of codes, bins last.

    ``gaussian`` is the family of Gaussian columns; Laplace columns have its floor.  Numbers beside
    words are stored with them, as sparse rows.
    """
    n_coded = len(sizes)
    events = list(dict.fromkeys(plan.events))
    if len(events) == 1 and not any(plan.discretised):  # text: there may be a million columns
        everywhere = range(len(plan.events))
        selection = Selection(_coded(events[0]), everywhere, everywhere, everything=True)
        family = _family(events[0], sizes, gaussian=gaussian, sketch=sketch)
        return ProductFamily((ProductPart(family, selection),))
    positions = _positions(plan)
    n_numeric = len(plan.events) - n_coded
    parts = []
    for event in events:
        features = tuple(j for j, e in enumerate(plan.events) if e == event)
        columns = tuple(positions[j] for j in features)
        coded = _coded(event)
        everything = columns == tuple(range(n_coded if coded else n_numeric))
        own = tuple(sizes[c] for c in columns) if coded else ()
        family = _family(event, own, gaussian=gaussian, sketch=sketch)
        sparse = isinstance(event, str) and TAKES[event].sparse
        dense = with_words and not coded and not sparse
        selection = Selection(coded, columns, features, everything, dense)
        parts.append(ProductPart(family, selection))
    return ProductFamily(tuple(parts))


def declared_categories(plan: EventPlan, schema: Schema) -> Schema:
    """The schema with every category that a ``CategoricalFamily`` event declares."""
    if all(isinstance(event, str) or not event.coded for event in {*plan.events}):
        return schema
    categories = list(schema.categories)
    for position, event in enumerate(plan.events):
        if not plan.as_codes[position] or isinstance(event, str):
            continue
        declared = np.arange(_declared_size(event, position, len(plan.events)))
        found = categories[position]
        assert found is not None  # it is read as codes
        if not np.isin(found, declared).all():
            raise InvalidInput(
                f"Column {position} was declared to have {len(declared)} categories, 0 to "
                f"{len(declared) - 1}; found {found[~np.isin(found, declared)][0]}. "
                "Declare more, or let event='categorical' find them."
            )
        categories[position] = declared
    return Schema(schema.names, schema.kinds, schema.as_codes, tuple(categories))


def recoded(
    statistics: ProductStatistics, family: ProductFamily, schema: Schema, wider: Schema
) -> ProductStatistics:
    """Statistics under ``schema``, recoded for ``wider``, which has more categories."""
    if schema.sizes == wider.sizes:
        return statistics
    mapping, sizes = schema.recoding(wider), wider.sizes
    parts = []
    for part, own in zip(family.parts, statistics.parts, strict=True):
        if part.selection.coded:
            columns = part.selection.columns
            own = own.recoded(tuple(mapping[c] for c in columns), tuple(sizes[c] for c in columns))
        parts.append(own)
    return ProductStatistics(tuple(parts))


def _positions(plan: EventPlan) -> list[int]:
    """The position of each column among the numbers, or among the codes (bins last)."""
    categories, bins = np.array(plan.as_codes), np.array(plan.discretised)
    numbers = ~categories & ~bins
    out = np.empty(len(plan.events), dtype=np.int64)
    out[numbers] = np.arange(numbers.sum())
    out[categories] = np.arange(categories.sum())
    out[bins] = categories.sum() + np.arange(bins.sum())
    return list(out.tolist())


def _coded(event: Event) -> bool:
    return event == "categorical" if isinstance(event, str) else event.coded


def _family(
    event: Event, sizes: tuple[int, ...], *, gaussian: DiagonalFamily | FullFamily, sketch: bool
) -> Family:
    if event == "categorical" or isinstance(event, CategoricalFamily):
        return CategoricalFamily(sizes)
    if isinstance(event, JointTableFamily):
        return JointTableFamily(sizes)
    if event == "gaussian":
        return gaussian
    if event == "laplace":
        return LaplaceFamily(limit=LIMIT if sketch else None, floor=gaussian.floor)
    return DISTRIBUTIONS[event] if isinstance(event, str) else event


def _declared_size(event: Any, position: int, n_columns: int) -> int:
    sizes = event.sizes
    if len(sizes) not in (1, n_columns):
        raise InvalidInput(
            f"The event model declares {len(sizes)} numbers of categories for {n_columns} columns; "
            "give one number, or one per column."
        )
    return int(sizes[0] if len(sizes) == 1 else sizes[position])


def _checked(event: Any) -> Event:
    """A name, a family, or ``auto``."""
    if isinstance(event, str):
        if event != "auto" and event not in EVENTS:
            raise UnknownName("event model", event, ["auto", *EVENTS])
        return event
    if event is None or not callable(getattr(event, "from_statistics", None)):
        raise InvalidInput(
            f"event must be a name, a mapping from columns to names, or a family of "
            f"distributions; found {event!r}. Choose one of auto, {', '.join(EVENTS)}."
        )
    family: Event = event
    return family


def _refuse_mismatch(event: Event, kind: str, table: TableKinds, position: int) -> None:
    if kind == "category" and not _coded(event):
        column = position if table.names is None else repr(table.names[position])
        raise InvalidInput(
            f"Column {column} holds text; the event model {event!r} needs numbers. "
            "Use 'categorical' for it, or leave it to 'auto'."
        )


class EventRows(NamedTuple):
    """Encoded rows, and their totals where these were counted in the same pass."""

    rows: EncodedRows[Schema]
    totals: ComponentTotals | None = None


def encode_events(given: CheckedRows, plan: EventPlan) -> EncodedRows[Schema]:
    """The rows with the declared categories, or those that occur."""
    rows = given.encode(plan.as_codes)
    declared = declared_categories(plan, rows.coding)
    return rows if declared is rows.coding else recode_rows(rows, declared)


def encode_or_count(given: CheckedRows, plan: EventPlan) -> EventRows:
    """Rows with classes, encoded; small whole numbers are counted in the same pass."""
    counted = _counted(given, plan) if isinstance(given, RowsInMemory) else None
    return EventRows(encode_events(given, plan)) if counted is None else counted


def _counted(given: RowsInMemory, plan: EventPlan) -> EventRows | None:
    """Small whole numbers read as categories: one pass finds and counts them."""
    X, codes, n_classes = given.table.native, given.y, len(given.classes)
    if not all(plan.as_codes) or not isinstance(X, np.ndarray) or X.dtype.kind != "i":
        return None
    assert codes is not None  # the rows have classes
    counted = count_values(ArrayBlocks(Dense(X), codes, given.weight), n_classes, given.executor)
    sizes = None if counted is None else counted.sizes()
    if counted is None or sizes is None:
        return None
    categories = tuple(np.arange(size) for size in sizes)
    schema = Schema(given.kinds.names, given.kinds.kinds, plan.as_codes, categories)
    if declared_categories(plan, schema) is not schema:
        return None
    blocks = ArrayBlocks(Mixed(np.empty((len(X), 0)), X, sizes), codes)
    totals = ComponentTotals(
        np.bincount(codes[codes >= 0], minlength=n_classes).astype(float),
        ProductStatistics((counted.statistics(sizes),)),
    )
    return EventRows(EncodedRows(blocks, schema, given.classes, given.executor, None), totals)


# ── Numbers that are binned ───────────────────────────────────────────────────────────────────────


def fit_bins(
    discretize: str | Discretizer | None, plan: EventPlan, blocks: Blocks, names: tuple[str, ...]
) -> Discretizer | None:
    """A discretizer fitted to the columns that are to be binned; None if there are none."""
    if discretize is None or not any(plan.discretised):
        return None
    if not isinstance(blocks, ArrayBlocks):
        raise InvalidInput(
            "Learning bins needs the rows in memory; X is a file. "
            "Read it into a frame, or use event='gaussian'."
        )
    asked = Discretizer(strategy=discretize) if isinstance(discretize, str) else discretize
    bins = Discretizer(asked.strategy, asked.n_bins, edges=_by_position(asked.edges, plan, names))
    numbers, y, weight = numbers_to_cut(blocks.X, plan), blocks.y, blocks.weight
    if bins.strategy == "entropy" and y is not None and (y < 0).any():
        labelled = y >= 0  # a missing label is not a class
        numbers, y = numbers[labelled], y[labelled]
        weight = None if weight is None else weight[labelled]
    return bins.fit(numbers, y, sample_weight=weight)


def edges_are_given(discretize: str | Discretizer | None) -> bool:
    """Whether all bins are given, so that batches have the same bins."""
    if not isinstance(discretize, Discretizer):
        return discretize is None
    return discretize.edges is not None and not isinstance(discretize.edges, Mapping)


def refuse_partial(unlabelled: Any, calibrate: Any, discretize: str | Discretizer | None) -> None:
    """Refuse settings that need all rows at once."""
    learned = None if edges_are_given(discretize) else discretize
    options = {"unlabelled": unlabelled, "calibrate": calibrate, "discretize": learned}
    for name, value in options.items():
        if value is not None:
            raise InvalidInput(
                f"partial_fit cannot be exact with {name}={value!r}; "
                f"set {name}=None, or call fit on all rows."
            )


def cut_numbers(design: Design, plan: EventPlan, bins: Discretizer) -> Mixed:
    """The design with its discretised numbers replaced by codes; NaN becomes −1."""
    numeric, codes = _parts(design)
    cut = bins.transform(numbers_to_cut(design, plan))
    new = np.where(np.isnan(cut), -1, cut).astype(np.int32)
    kept = [i for i, j in enumerate(_numbers(plan)) if not plan.discretised[j]]
    together = np.concatenate([codes.astype(np.int32), new], axis=1)
    return Mixed(numeric[:, kept], np.ascontiguousarray(together), ())


def joined_numbers(drawn: NumbersAndCodes, plan: EventPlan, bins: Discretizer) -> NumbersAndCodes:
    """The inverse: codes of bins as the midpoints of their intervals, in their columns."""
    n_bins = len(bins.edges_)
    n_codes = drawn.codes.shape[1] - n_bins
    binned = drawn.codes[:, n_codes:]
    middles = bins.inverse_transform(np.where(binned < 0, np.nan, binned))
    cut = np.array([plan.discretised[j] for j in _numbers(plan)])
    numeric = np.empty((len(middles), len(cut)))
    numeric[:, cut], numeric[:, ~cut] = middles, drawn.numeric
    return NumbersAndCodes(numeric, drawn.codes[:, :n_codes])


def numbers_to_cut(design: Design, plan: EventPlan) -> Array:
    """The columns of the design that are to be discretised, as float64."""
    numeric, _ = _parts(design)
    columns = [i for i, j in enumerate(_numbers(plan)) if plan.discretised[j]]
    chosen = numeric[:, columns]
    return np.asarray(chosen.toarray() if is_sparse(chosen) else chosen, dtype=float)


def _parts(design: Design) -> NumbersAndCodes:
    stored = design.stored()
    if isinstance(stored, NumbersAndCodes):
        return stored
    numbers = stored if is_sparse(stored) else np.asarray(stored)
    return NumbersAndCodes(numbers, np.empty((design.n_rows, 0), np.int32))


def _numbers(plan: EventPlan) -> list[int]:
    """The columns of the table that are read as numbers before any are binned."""
    return [j for j, coded in enumerate(plan.as_codes) if not coded]


def _by_position(edges: Any, plan: EventPlan, names: tuple[str, ...]) -> Any:
    """Edges by name or position in the table, as edges by position among the binned columns."""
    if not isinstance(edges, Mapping):
        return edges
    cut = [j for j, is_cut in enumerate(plan.discretised) if is_cut]
    out = {}
    for key, value in edges.items():
        position = names.index(key) if key in names else key
        if position not in cut:
            raise InvalidInput(
                f"edges are given for column {key!r}, which is not one of the columns that are "
                f"binned: {', '.join(names[j] for j in cut)}. Name one of these, or remove its "
                "event."
            )
        out[cut.index(position)] = value
    return out


def bins_in_words(plan: EventPlan, bins: Discretizer | None) -> dict[int, list[str]]:
    """The intervals of each column that is binned, by its position."""
    if bins is None:
        return {}
    cut = [j for j, discretised in enumerate(plan.discretised) if discretised]
    return {j: intervals_in_words(edges) for j, edges in zip(cut, bins.edges_, strict=True)}
