"""Any input data as a ``Dataset``, opened once.

path of a file, ``-``        rows that are read when needed, the table at most once
path of a folder             texts, in a folder for each class
path of a seal, ``Sealed``   its training rows, and what it records
built-in name                iris, wine, breast-cancer, digits, diabetes, pydoc
frame, array, Source         as it is

``compare``, ``tune``, ``seal`` and others take the same keyword arguments about the data, and hand
them on to ``dataset``.  They declare them once, as ``**about: Unpack[DataArguments]``, from which
type checkers and editors know their names and types; ``help`` shows each of them with its default.
"""

import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from difflib import get_close_matches
from functools import cache, partial, wraps
from hashlib import sha256
from inspect import Parameter, signature
from pathlib import Path
from typing import IO, Any, NamedTuple, TypedDict, TypeVar, cast, final

from likely.data.arrow import (
    TableSource,
    arrow_table_of,
    digest_of_file,
    digest_of_table,
    in_one_table,
    plain_types,
    with_target,
)
from likely.data.formats import folders, mbox
from likely.data.formats.csv_files import delimiter_of
from likely.data.formats.folders import FolderSource
from likely.data.formats.mbox import MboxSource
from likely.data.formats.registry import HowToRead, read, read_as
from likely.data.formats.workbooks import has_sheet
from likely.data.frames import library_of
from likely.data.readings.table_readings import (
    AskedReadings,
    Given,
    TableReadings,
    readings_of,
    with_readings,
)
from likely.data.source import Source
from likely.errors import InvalidFile, InvalidInput, LikelyError, UnknownName
from likely.kinds import TargetKind, order_with_positive
from likely.sealing.folder import TRAIN, SealFolder, is_seal, open_folder
from likely.sealing.sealed import Sealed, folder_of
from likely.workbench.data.builtin_data import BUILTIN, builtin_table
from likely.workbench.data.dataset import UNNAMED, Dataset
from likely.workbench.data.roles import UnusedColumns

STANDARD_INPUT = "-"
HEADER_BYTES = 2**16  # a header is shorter
Function = TypeVar("Function", bound=Callable[..., Any])


def dataset(
    data: Any,
    target: Any = None,
    *,
    kind: TargetKind | None = None,
    order: Sequence[Any] | None = None,
    positive: Any = None,
    group: str | None = None,
    by_time: str | None = None,
    weight: str | None = None,
    offset: str | None = None,
    exposure: str | None = None,
    clusters: str | None = None,
    drop: Sequence[str] = (),
    category: Sequence[str] = (),
    feature: Sequence[str] = (),
    text: Sequence[str] = (),
    number: Given | None = None,
    date: Given | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
) -> Dataset:
    """Open the data, unless they are a ``Dataset``, and add what was given now.

    Parameters
    ----------
    data : data frame, array, Source, Sealed, Dataset, built-in name, or path of a file or a seal
        Of a seal only the training part is read.  ``"-"`` is the standard input.
    target : str, or one label for each row
        The column to predict; a seal and built-in data have their own.
    kind, order
        The kind of target, and its classes from lowest to highest; a seal records both.
    positive
        The class of two that F₁, average precision and thresholds are about, by default the last in
        alphabetical order; a seal records it.
    group, by_time, weight, offset, exposure, clusters : str
        Columns that are not features: by the first two rows are held out together, or in the order
        of time; a seal records them.
    drop, category : sequence of str
        Columns to leave out, and columns of numeric codes to treat as categories.
    feature : sequence of str
        Columns to use as they are, although they look like identifiers or free text.
    text : sequence of str
        Columns of text whose words are counted, whatever they look like.
    number, date : sequence of str, or mapping of str to str
        Columns of text to read as numbers or dates; with the form in which they are written where
        their values leave it open: ``{"price": ","}``, ``{"when": "%d/%m/%Y"}`` (see ``read``).
    decimal : {".", ","}
        The decimal mark of all columns in which both are possible.
    sheet : str
        The sheet of a workbook.

    Examples
    --------
    >>> import likely, pyarrow as pa
    >>> rows = pa.table({"x": range(60), "days": [1, 2, 3] * 20, "visits": [0, 2, 5] * 20})
    >>> found = likely.dataset(rows, "visits", kind="count", exposure="days")
    >>> found.features.column_names
    ['x']
    >>> likely.compare(found, models=["glm-poisson"], folds=2, repeats=1).rows.exposure
    'days'
    """
    order = order_with_positive(positive, order, kind)
    asked = AskedReadings.of(number, date, decimal)
    known = data if isinstance(data, Dataset) else None
    if known is not None and (asked or sheet is not None):
        raise InvalidInput(
            f"number, date, decimal or sheet were given for {known.label}, which is open; they say "
            "how a file or a frame is read. Give them where it is opened, to likely.dataset."
        )
    if known is None or not (target is None or isinstance(target, str)):
        whole, target = with_target(data, target)
        library = known.library if known is not None else library_of(data)
        known = _remembered(whole, HowToRead(asked, sheet))
        if whole is not data:  # an Arrow table, with the labels
            known = replace(known, library=library)
    if target is not None and target != known.target:
        _refuse_other_target(known, target)
        known = replace(known, target=target, kind=None, order=None, task=None)
    if kind is None and order is None:
        kind, order = known.kind, known.order
    elif order is None and kind in ("ordinal", "binary"):
        order = known.order
    if group is None and by_time is None:
        group, by_time = known.group, known.by_time
    columns = {"weight": weight, "offset": offset, "exposure": exposure, "clusters": clusters}
    roles: dict[str, Any] = {role: name for role, name in columns.items() if name is not None}
    _refuse_other_roles(known, roles)
    given = replace(
        known,
        source=known.source_now,
        kind=kind,
        order=None if order is None else in_list(order, "order", of="classes"),
        group=group,
        by_time=by_time,
        task=known.task if (kind, order) == (known.kind, known.order) else None,
        **roles,
    )
    declared = {"drop": drop, "category": category, "feature": feature, "text": text}
    listed = {role: in_list(names, role) for role, names in declared.items()}
    return _declared(given, **{role: tuple(dict.fromkeys(each)) for role, each in listed.items()})


def dataset_like(
    data: object, record: Mapping[str, Any], asked: AskedReadings, sheet: str | None = None
) -> Dataset:
    """Data whose columns are read as a RUN recorded it, unless something else was said."""
    if sheet is None and has_sheet(data, record.get("sheet")):
        sheet = record["sheet"]
    return _remembered(data, HowToRead(asked.before(AskedReadings.of_record(record)), sheet))


def _remembered(data: Any, how: HowToRead) -> Dataset:
    """Newly opened data, with what their seal records."""
    given = opened(data, how)
    found = Dataset(**given._asdict(), readings=readings_of(given.source))
    if found.seal is None:
        return found
    manifest, known = found.seal.manifest, found.seal.manifest.identifiers
    return replace(
        found,
        kind=cast("TargetKind | None", manifest.kind),
        order=manifest.order,
        group=manifest.group,
        by_time=manifest.by_time,
        dropped=manifest.dropped,
        categories=manifest.categories,
        declared_features=manifest.declared_features,
        declared_texts=manifest.declared_texts,
        readings=TableReadings.from_json(manifest.readings),
        found_unused=None if known is None else UnusedColumns(known, manifest.texts or (), None),
        **cast("dict[str, Any]", manifest.roles),
    )


def _refuse_other_target(known: Dataset, target: str) -> None:
    if known.seal is not None:
        raise InvalidInput(
            f"{known.label} seals the target {known.target!r}, and {target!r} was given; its "
            "sealed rows can score one target. Leave the target out, or seal the data for the "
            "other."
        )


def _refuse_other_roles(known: Dataset, roles: Mapping[str, str]) -> None:
    """Refuse a weight, offset or exposure that differs from that of the seal."""
    sealed = {} if known.seal is None else known.seal.manifest.roles
    for role, column in roles.items():
        if sealed.get(role) not in (None, column):
            raise InvalidInput(
                f"{known.label} seals the {role} {sealed[role]!r}, and {column!r} was given; its "
                "rows are scored with one. Leave it out, or seal the data with the other."
            )


def in_list(given: Sequence[Any], role: str, *, of: str = "columns") -> tuple[Any, ...]:
    """What a list names; a string, which Python would take as a list of letters, is refused."""
    if isinstance(given, str):
        raise InvalidInput(
            f"{role} is {given!r}; a list of {of} was expected. Write {role}=[{given!r}]."
        )
    return tuple(given)


def _declared(
    given: Dataset,
    drop: tuple[str, ...],
    category: tuple[str, ...],
    feature: tuple[str, ...],
    text: tuple[str, ...],
) -> Dataset:
    """The data without dropped columns, and with declared categories, features and texts.

    A dropped column by which rows are held out stays in the table, but is not a feature."""
    drop = tuple(name for name in drop if name not in given.dropped)
    category = tuple(name for name in category if name not in given.categories)
    feature = tuple(name for name in feature if name not in given.declared_features)
    text = tuple(name for name in text if name not in given.declared_texts)
    _check_columns(given, drop, category, feature, text)
    if not drop and not category and not feature and not text:
        return given
    gone = [name for name in drop if name not in (given.group, given.by_time)]
    return replace(
        given,
        source=given.source.drop(gone).with_categories(category),
        dropped=(*given.dropped, *drop),
        categories=(*given.categories, *category),
        declared_features=(*given.declared_features, *feature),
        declared_texts=(*given.declared_texts, *text),
    )


def _check_columns(given: Dataset, *declared: tuple[str, ...]) -> None:
    """Refuse columns that are missing, or that have two roles."""
    if given.group is not None and given.by_time is not None:
        raise InvalidInput(
            f"Both group={given.group!r} and by_time={given.by_time!r} were given; rows are held "
            "out by one of them. Leave one out."
        )
    one_role = [*given.roles.columns, *(name for names in declared for name in names)]
    for name in (*one_role, given.group, given.by_time):
        if name is not None and name not in given.source.names:
            raise UnknownName("column", name, given.source.names)
    if given.target is not None and given.target in (given.group, given.by_time):
        raise InvalidInput(
            f"{given.target!r} is the target; another column was expected to say which rows are "
            "held out together. Name that one."
        )
    twice = next((name for name in one_role if one_role.count(name) > 1), None)
    if twice is not None:
        raise InvalidInput(
            f"Column {twice!r} was given two roles; each column has one. Name another column for "
            "one of them."
        )


class GivenData(NamedTuple):
    """A source, and what is known about it from its origin."""

    source: Source
    label: str  # what the data are called
    hashing: Callable[[], str]  # SHA-256 of the data; once computed, kept
    target: str | None = None  # of built-in data, and of a seal
    place: Path | None = None  # the file or the seal
    seal: SealFolder | None = None
    library: str | None = None  # of a frame
    declared_texts: tuple[str, ...] = ()  # of texts in a folder or a mailbox
    aside: tuple[str, ...] = ()  # columns that are features only where they are declared


@final
class HeaderAlone(InvalidFile):
    """An error for a file with a single line: a table without rows, if the line is a header."""

    def __init__(self, error: InvalidFile, names: tuple[str, ...]) -> None:
        LikelyError.__init__(self, str(error))
        self.path, self.line, self.names = error.path, error.line, names
        self.option, self.next = "", error.next


def opened(data: Any, how: HowToRead = HowToRead()) -> GivenData:  # noqa: B008  # a frozen value
    """Open any data except a ``Dataset``; anything that is not a table is refused."""
    if isinstance(data, str | Path) and is_seal(Path(data)):
        data = open_folder(data)
    if isinstance(data, Sealed):
        data = folder_of(data)
    if isinstance(data, SealFolder):
        if how.sheet is not None or (how.asked and not how.asked.of_run):
            raise InvalidInput(
                f"number, date, decimal or sheet were given for {data.path}, whose columns were "
                "read when it was sealed; they are for files. Seal the file again with them."
            )
        return _training_part(data)
    if isinstance(data, str | Path):
        return _named(str(data), how)
    if isinstance(data, Source):
        given = GivenData(data, UNNAMED, cache(lambda: digest_of_table(in_one_table(data))))
    else:
        given = _in_memory(data)
    return given._replace(source=with_readings(given.source, how.asked)) if how.asked else given


def _training_part(seal: SealFolder) -> GivenData:
    """The training rows of a seal, which must be unchanged."""
    seal.check(TRAIN)
    manifest = seal.manifest
    return GivenData(
        read(seal.path / TRAIN),
        str(seal.path),
        lambda: manifest.files[TRAIN],
        manifest.target,
        seal.path,
        seal,
        library=manifest.library,
    )


def _named(name: str, how: HowToRead) -> GivenData:
    """The data with that name; a name that is neither a file nor built-in is refused."""
    if not Path(name).exists() and name.replace("_", "-") in BUILTIN:
        name = name.replace("_", "-")
    if name in BUILTIN:
        table = builtin_table(name)
        hashing = cache(partial(digest_of_table, table))
        entry = BUILTIN[name]
        given = GivenData(TableSource(table), name, hashing, entry.target)
        return given._replace(declared_texts=entry.texts)
    if name == STANDARD_INPUT:
        import sys

        stream = _Hashed(sys.stdin)
        with _header_alone(lambda: stream.first):
            source = read_as(cast(IO[Any], stream), how)
        return GivenData(source, stream.name, stream.digest.hexdigest)
    _refuse_unknown(name)
    path = Path(name)
    with _header_alone(lambda: _first_bytes(path)):
        source = read_as(path, how)
    hashing = cache(
        source.digest if isinstance(source, FolderSource) else partial(_digest_of, path)
    )
    given = GivenData(source, name, hashing, place=path)
    if isinstance(source, FolderSource):
        return given._replace(target=folders.LABEL, declared_texts=(folders.TEXT,))
    if isinstance(source, MboxSource):
        return given._replace(declared_texts=(mbox.TEXT,), aside=source.names[1:])
    return given


def _in_memory(data: Any) -> GivenData:
    """A frame of any library, a record batch, or an array."""
    import pyarrow as pa

    library = library_of(data)
    if library == "likely":
        raise InvalidInput(
            f"A {type(data).__name__} was given; a table or a seal was expected. Pass the data "
            "frame or the path of the file."
        )
    if isinstance(data, pa.RecordBatch):
        data = pa.Table.from_batches([data])
    table = plain_types(data if isinstance(data, pa.Table) else arrow_table_of(data))
    if not table.num_rows or not table.num_columns:
        raise InvalidInput(
            f"The table has {table.num_rows} rows and {table.num_columns} columns; at least "
            "one of each was expected. Check how it was made."
        )
    hashing = cache(partial(digest_of_table, table))
    return GivenData(TableSource(table), UNNAMED, hashing, library=library)


@final
class _Hashed:
    """A stream that is hashed as it is read."""

    name = "standard input"

    def __init__(self, stream: Any) -> None:
        self._stream = getattr(stream, "buffer", stream)
        self.digest = sha256()
        self.first = b""

    def read(self, size: int = -1) -> bytes:
        given = self._stream.read(size)
        data: bytes = given.encode() if isinstance(given, str) else given
        self.digest.update(data)
        if len(self.first) < HEADER_BYTES:
            self.first += data[:HEADER_BYTES]
        return data


@contextmanager
def _header_alone(first: Callable[[], bytes]) -> Iterator[None]:
    """Raise ``HeaderAlone`` if a file that cannot be read is a single line of names."""
    try:
        yield
    except InvalidFile as error:
        lines = first().decode("utf-8-sig", errors="replace").splitlines()
        if len(lines) != 1:
            raise
        cells = next(csv.reader(lines, delimiter=delimiter_of(lines[0])))
        raise HeaderAlone(error, tuple(cells)) from None


def _first_bytes(path: Path) -> bytes:
    """The beginning of a file; nothing of a pipe, which would wait for its writer."""
    if path.is_file():
        with suppress(OSError), open(path, "rb") as stream:
            return stream.read(HEADER_BYTES)
    return b""


def _digest_of(path: Path) -> str:
    try:
        return digest_of_file(path)
    except OSError as error:
        raise InvalidFile(path, f"it cannot be read ({error.strerror}). Check it.") from None


def _refuse_unknown(name: str) -> None:
    """Refuse a word that is neither a file nor a built-in name, with the nearest one."""
    if Path(name).suffix or Path(name).exists():
        return
    files = [path.name for path in Path(".").iterdir()] if "/" not in name else []
    close = get_close_matches(name, [*BUILTIN, *files], n=1)
    hint = f" Did you mean {close[0]!r}?" if close else ""
    raise InvalidInput(
        f"There is no file {name!r}, and no built-in data of that name. Give a CSV, TSV, ARFF, "
        f"JSON lines, .xlsx, .ods or Parquet file, or one of {', '.join(BUILTIN)}.{hint}"
    )


class DataArguments(TypedDict, total=False):
    """What is known about the columns; ``likely.dataset`` has the meanings and the defaults."""

    kind: TargetKind | None
    order: Sequence[Any] | None
    positive: Any
    group: str | None
    by_time: str | None
    weight: str | None
    offset: str | None
    exposure: str | None
    drop: Sequence[str]
    category: Sequence[str]
    feature: Sequence[str]
    text: Sequence[str]
    number: Given | None
    date: Given | None
    decimal: str | None
    sheet: str | None


def takes_data_arguments(function: Function) -> Function:
    """The function with the arguments about the data in its signature; others are refused."""
    own = signature(function)
    of_dataset = signature(dataset).parameters
    named = {k: p for k, p in own.parameters.items() if p.kind is not Parameter.VAR_KEYWORD}
    named |= {name: of_dataset[name] for name in DataArguments.__annotations__}

    @wraps(function)
    def with_known_names(*args: Any, **given: Any) -> Any:
        for name in given:
            if name not in named:  # else ``dataset`` would be named, which nobody called
                raise TypeError(
                    f"{function.__name__}() got an unexpected keyword argument {name!r}"
                )
        return function(*args, **given)

    with_known_names.__signature__ = own.replace(  # type: ignore[attr-defined]  # inspect reads it
        parameters=[*named.values()]
    )
    return cast(Function, with_known_names)
