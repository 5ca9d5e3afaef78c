"""Raw text to a fitted naive Bayes, and raw text to predicted classes.

Ours and scikit-learn's are the same model, CountVectorizer's words and MultinomialNB's estimates,
from the same list of Python strings, on one thread; the answer of both is the share of the
documents that they put into their class.  Vowpal Wabbit and fastText fit other (linear) models, in
one pass over a file of their own; they are here for the speed, and their share is in the note.
"""

import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from benchmarks import ours_text
from benchmarks.against import fasttext_text, scikit_learn_text, vowpal_wabbit
from benchmarks.child import Sizes, peak_of_fit
from benchmarks.race import Skipped, first_fits
from benchmarks.report import Goal, Report, Row, at_most, times_faster
from benchmarks.text_corpora import NAMES, RESAMPLED, Corpus, corpus
from benchmarks.workbench import Timed, Work, best_of

LARGE = 128_000_000  # bytes of the resampled corpus
SMALL = {"bytes": 300_000}
REPEATS = 3
FIT, PREDICT = 0, 1
GOALS = {FIT: times_faster(8), PREDICT: times_faster(10)}
HASHED = "scikit-learn, hashed"
SIDES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "ours": (ours_text.fit, ours_text.predict),
    "ours, hashed": (partial(ours_text.fit, hashed=True), ours_text.predict),
    "scikit-learn": (scikit_learn_text.fit, scikit_learn_text.predict),
    HASHED: (partial(scikit_learn_text.fit, hashed=True), scikit_learn_text.predict),
}
OF_FILES = {"Vowpal Wabbit": vowpal_wabbit, "fastText": fasttext_text}


class Speeds(NamedTuple):
    """The best time of a side, and the share of documents that it puts into their class."""

    seconds: float
    share: float


def measure(shrink: int) -> Report:
    rows, said = [], []
    for number, name in enumerate(NAMES):
        nbytes = (LARGE if name == RESAMPLED else 0) // shrink or (0 if shrink == 1 else 1_500_000)
        sizes = {"corpus": number, "bytes": nbytes}
        given = _corpus(sizes)
        found, n_words = _speeds(given)
        said.append(
            f"{name}: {len(given.texts):,} documents of {len(set(given.labels.tolist()))} classes, "
            f"{given.megabytes:.1f} MB, a vocabulary of {n_words:,}"
        )
        rows += [
            _row(name, what, peer, given, found, sizes)
            for what in (FIT, PREDICT)
            for peer in _peers(found)
        ]
        if name == RESAMPLED:
            rows += [
                *_threads(given),
                _memory(given, sizes),
                *first_fits(__name__, "ours", {**sizes, **SMALL}),
            ]
    claim = f"{'; '.join(said)}. One thread, Python strings, where nothing else is said."
    return Report("Text", claim, rows, theirs="", answer="share of the documents in their class")


def prepare(name: str, sizes: Sizes) -> Work:
    """For child processes."""
    given = _corpus(sizes)
    if name in OF_FILES:
        raise Skipped("its memory is not measured: it is not Python's")
    fit, predict = SIDES[name]
    if sizes.get("what", FIT) == FIT:
        return lambda: fit(given)
    model = fit(given)
    return lambda: predict(model, given)


def _corpus(sizes: Sizes) -> Corpus:
    return corpus(NAMES[sizes["corpus"]], sizes["bytes"])


def _speeds(given: Corpus) -> tuple[dict[tuple[str, int], Speeds], int]:
    """The times of all sides that are installed, and the size of our vocabulary."""
    codes = np.unique(given.labels, return_inverse=True)[1]
    works: dict[str, tuple[Work, Callable[[Any], Work]]] = {}
    for name, (fit, predict) in SIDES.items():
        works[name] = (partial(fit, given), partial(_later, predict, given))
    found: dict[tuple[str, int], Speeds] = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, side in OF_FILES.items():
            path = side.written(given, folder)
            works[name] = (
                partial(side.fit, path, len(set(codes.tolist()))),
                partial(_later, side.predict, path),
            )
        fitted, skipped = _fitted(works)
        for name in skipped:
            del works[name]
        predicted = best_of(
            REPEATS, {name: partial(works[name][1], fitted[name].answer) for name in works}
        )
    for name in works:
        answer = predicted[name].answer
        own = codes if name in OF_FILES else given.labels
        share = float((answer == own).mean())
        found[name, FIT] = Speeds(fitted[name].seconds, share)
        found[name, PREDICT] = Speeds(predicted[name].seconds, share)
    return found, fitted["ours"].answer.words_.n_columns


def _fitted(works: Mapping[str, tuple[Work, Any]]) -> tuple[dict[str, Timed], list[str]]:
    skipped = []
    for name, (fit, _) in works.items():
        try:
            if name in OF_FILES:
                fit()  # whether it can be imported
        except Skipped as reason:
            print(f"{name}: skipped: {reason}")
            skipped.append(name)
    here = {name: partial(_same, fit) for name, (fit, _) in works.items() if name not in skipped}
    return best_of(REPEATS, here), skipped


def _later(predict: Callable[..., Any], given: Any, model: Any) -> Work:
    return lambda: predict(model, given)


def _peers(found: Mapping[tuple[str, int], Speeds]) -> list[str]:
    return [name for name, what in found if what == FIT and not name.startswith("ours")]


def _row(
    name: str,
    what: int,
    peer: str,
    given: Corpus,
    found: Mapping[tuple[str, int], Speeds],
    sizes: Sizes,
) -> Row:
    mine = "ours, hashed" if peer == HASHED else "ours"
    ours, theirs = found[mine, what], found[peer, what]
    same = peer == "scikit-learn"
    goal: Goal | None = GOALS[what] if same else None
    inside = {**sizes, "what": what}
    speed = given.megabytes / ours.seconds
    note = (
        f"{speed:.0f} MB/s, {len(given.texts) / ours.seconds:,.0f} documents/s; theirs "
        f"{given.megabytes / theirs.seconds:.0f} MB/s"
    )
    if not same:
        note += f"; in their class: ours {ours.share:.3f}, theirs {theirs.share:.3f}"
    return Row(
        work=f"{'predict' if what == PREDICT else 'fit'}, {name}",
        peer=peer,
        ours=ours.seconds,
        theirs=theirs.seconds,
        our_answer=ours.share if same else None,
        their_answer=theirs.share if same else None,
        our_peak=peak_of_fit(__name__, mine, inside) if same else None,
        their_peak=peak_of_fit(__name__, peer, inside) if same else None,
        goal=goal,
        note=note,
    )


def _threads(given: Corpus) -> list[Row]:
    """What threads gain: Arrow's strings, which need no GIL, and Python's."""
    import pyarrow as pa

    from likely.compute.executor import usable_cores

    arrow = given._replace(texts=pa.array(given.texts, type=pa.large_string()))
    rows = []
    for form, here in (("Arrow strings", arrow), ("Python strings", given)):
        for work, best in _by_executor(here).items():
            rows.append(
                Row(
                    work=f"{work}, {RESAMPLED}, {form}",
                    peer=f"one thread against {usable_cores()}",
                    ours=best["threads"].seconds,
                    theirs=best["serial"].seconds,
                    note=f"{given.megabytes / best['threads'].seconds:.0f} MB/s",
                )
            )
    return rows


def _by_executor(given: Corpus) -> dict[str, dict[str, Timed]]:
    names = ("serial", "threads")
    fits = {name: partial(ours_text.fit, given, executor=name) for name in names}
    models = {name: fit() for name, fit in fits.items()}
    return {
        "fit": best_of(REPEATS, {name: partial(_same, fits[name]) for name in names}),
        "predict": best_of(
            REPEATS,
            {name: partial(_later, ours_text.predict, given, models[name]) for name in names},
        ),
    }


def _same(work: Work) -> Work:
    return work


def _memory(given: Corpus, sizes: Sizes) -> Row:
    """The goal is on the peak beyond the documents, which are in memory before."""
    peak = peak_of_fit(__name__, "ours", sizes)
    return Row(
        work=f"peak memory of the fit, {RESAMPLED}, beside the texts",
        unit="MB",
        ours=peak / 1e6,
        goal=at_most(round(2 * given.megabytes), "MB"),
    )
