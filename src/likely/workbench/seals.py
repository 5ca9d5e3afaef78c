"""``likely.seal`` and ``likely.open_seal``: sealing, joined to the models and the metrics.

Sealing knows no model: ``Sealed`` is handed the function that fits and scores one.
"""

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from likely.data.arrow import plain_types, refuse_twins, with_target
from likely.data.formats.registry import read
from likely.data.frames import library_of
from likely.data.memory import in_one_table
from likely.data.source import Source
from likely.errors import InvalidInput
from likely.kinds import TargetKind
from likely.sealing.create import Origin, Terms, seal_table
from likely.sealing.final_score import FinalScore
from likely.sealing.folder import SUFFIX, SealFolder, open_folder
from likely.sealing.manifest import sha256_of_file
from likely.sealing.scorer import Scorer
from likely.sealing.sealed import Sealed
from likely.workbench.task import task_of

if TYPE_CHECKING:
    import pyarrow as pa


def seal(
    data: Any,
    target: Any,
    *,
    test: Any = 0.2,
    group: str | None = None,
    by_time: str | None = None,
    kind: str | None = None,
    order: Sequence[Any] | None = None,
    budget: int = 1,
    judge: str = "plain",
    escrow: str | Path | None = None,
    seed: int = 0,
    name: str | None = None,
    folder: str | Path = ".",
) -> Sealed:
    """Seal part of the rows, to be scored on once, at the end.

    Writes the folder ``NAME.seal``: the training rows, the features of the sealed rows, their
    labels under a keystream, and a ledger of every look.

    Parameters
    ----------
    data : path or data frame
        A CSV, TSV, JSON lines or Parquet file, or a frame of any library narwhals knows.
    target : str, or one label for each row
        The column to be predicted.
    test : float or sequence
        The share of the rows that is sealed; or the rows, by index or by a Boolean for each.
    group : str, optional
        A column of which equal values stay on one side.
    by_time : str, optional
        A column of times; the latest rows are sealed.
    kind : {"binary", "classes", "ordinal", "count", "positive", "real"}, optional
        What the target is, where its values could be several: grades from 1 to 5, for instance.
        All that works on the seal takes it from there.
    order : sequence, optional
        The classes from lowest to highest; the kind is then ordinal.
    budget : int
        How many looks are allowed without a reason.
    judge : {"plain", "ladder", "thresholdout"}
        What a look tells; the last two allow many looks.
    escrow : path, optional
        Where the labels go, instead of into the folder; ``final`` will ask for the file.
    seed : int
        Of the split.
    name : str, optional
        Of the folder, without its suffix; by default the file's.
    folder : path
        Where the seal is made.

    Examples
    --------
    >>> import tempfile, likely, pyarrow as pa
    >>> rows = pa.table({"x": range(50), "y": ["no", "yes"] * 25})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sealed = likely.seal(rows, "y", name="toy", folder=folder)
    ...     print(sealed)
    <Sealed toy.seal: 40 rows to train on, 10 sealed, target 'y'; 0 looks of 1 used>
    """
    data, target = with_target(data, target)
    terms = Terms(
        target=_named(target),
        test=test,
        group=group,
        by_time=by_time,
        budget=budget,
        judge=judge,
        escrow=None if escrow is None else Path(escrow),
        seed=seed,
        kind=kind,
        order=order,
    )
    origin = origin_of(data)
    stem = name or (origin.path.name.split(".")[0] if origin.path is not None else "data")
    return seal_origin(origin, terms, Path(folder) / f"{stem.removesuffix(SUFFIX)}{SUFFIX}")


def open_seal(path: str | Path) -> Sealed:
    """The seal in a folder such as ``churn.seal``."""
    folder = open_folder(path)
    folder.ledger.entries()  # a broken ledger is refused here
    return Sealed(folder, _final)


def seal_origin(origin: Origin, terms: Terms, path: Path) -> Sealed:
    """Seal a table as the folder ``path``; the kind and order given must suit its target."""
    if terms.kind is not None or terms.order is not None:
        kind = cast("TargetKind | None", terms.kind)
        task = task_of(origin.table, terms.target, ordered=terms.order, kind=kind)
        terms = replace(terms, kind=task.kind, order=None if terms.order is None else task.order)
    return Sealed(seal_table(origin, terms, path), _final)


def _final(
    seal: SealFolder,
    estimator: Any,
    *,
    again: str | None,
    escrow: str | Path | None,
    promised: float | None,
    scorer: Scorer | None,
) -> FinalScore:
    from likely.workbench.final import final_score  # brings every model; a seal is made without

    return final_score(
        seal, estimator, again=again, escrow=escrow, promised=promised, scorer=scorer
    )


def _named(target: str | None) -> str:
    if target is None:
        raise InvalidInput(
            "No target was given; the column to be predicted was expected. Name it, because its "
            "values are what is sealed."
        )
    return target


def origin_of(data: Any) -> Origin:
    """A file or a frame as a table in memory, with its hash."""
    if isinstance(data, str | Path):
        table = in_one_table(read(data))
        path = Path(data)
        return Origin(table, path.name, sha256_of_file(path), path=path)
    if isinstance(data, Source):
        table = in_one_table(data)
        return Origin(table, "a table", digest_of_table(table))
    table = _arrow_table(data)
    library = library_of(data)
    return Origin(table, f"a {library or 'pyarrow'} table", digest_of_table(table), library)


def digest_of_table(table: "pa.Table") -> str:
    """SHA-256 of the table in Arrow's stream format."""
    import pyarrow as pa

    plain = table.replace_schema_metadata(None).combine_chunks()
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, plain.schema) as writer:
        writer.write_table(plain)
    return sha256(sink.getvalue()).hexdigest()


def _arrow_table(data: Any) -> "pa.Table":
    import narwhals as nw
    import pyarrow as pa

    names = getattr(data, "column_names", getattr(data, "columns", ()))
    refuse_twins([str(name) for name in names])
    try:
        frame = nw.from_native(data, eager_only=True)
        table = plain_types(frame.to_arrow().select(frame.columns))  # without pandas' index
    except TypeError:
        raise InvalidInput(
            f"data is a {type(data).__name__}; expected the path of a file or a data frame with "
            "the target as a column. Convert it, for instance with pandas.DataFrame."
        ) from None
    except (pa.ArrowException, nw.exceptions.DuplicateError) as error:
        raise InvalidInput(
            f"The data frame cannot be written as a table ({error}); each column needs one type "
            "and a name of its own. Convert the column, or rename it."
        ) from None
    for field in table.schema:
        inner = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if isinstance(inner, pa.BaseExtensionType):  # such as pandas' periods and intervals
            raise InvalidInput(
                f"Column {field.name!r} holds {inner}; numbers, text, Booleans or dates were "
                "expected. Convert it, for instance with astype(str)."
            )
    return table
