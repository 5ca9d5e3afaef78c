"""Documents that no setting was developed on, from what a machine has, and hard cases of others.

    python -m benchmarks.text_recipes FOLDER [--recipes NAME …]

FOLDER holds the files of ``benchmarks.text_quality``.  Each recipe makes documents to learn from
and to test on; nothing is stored or downloaded.  A recipe whose files the machine does not have
(manual pages, translations, source code) is left out with a note.

Printed are accuracy, log loss and calibration error (the mean distance between the probability of
the predicted class and its accuracy, in ten bins) of the class shares, of ours with
``smoothing="auto", calibrate="length"``, of scikit-learn's defaults and its best options by the log
loss of the *test* documents, and of ours with the temperature and smoothing that would have been
best on the test documents.
"""

import argparse
import gettext
import gzip
import itertools
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.naive_bayes import ComplementNB, MultinomialNB

import likely as lk
from benchmarks.text_quality import Documents, documents
from likely.calibrate.length_temperature import ScoredDocuments, search_cooling
from likely.workbench.data.builtin_data import TARGET, TEXT, pydoc_table

ALPHAS = (1.0, 0.1, 0.01, 0.001)
FACTORS = (1 / 16, 1 / 4, 1.0, 4.0, 16.0)  # of the smoothing that was chosen
CHARACTERS = {"analyzer": "char_wb", "ngram_range": (1, 3)}
MARKUP = r'^[.\'].{0,3}\\"?.*$|^\.[A-Z]{2,}\s?|\\[a-zA-Z]\S?'  # of manual pages
LANGUAGES = [
    "de",
    "fr",
    "es",
    "it",
    "pt",
    "nl",
    "sv",
    "da",
    "nb",
    "pl",
    "cs",
    "sk",
    "hu",
    "ro",
    "tr",
    "fi",
    "et",
    "lt",
    "id",
    "ca",
]
MOST = 6000  # documents of a recipe
LEAST = 1e-300  # a probability that is 0: its logarithm is finite


class Recipe(NamedTuple):
    """How documents are made, and read."""

    make: Callable[[Path], Documents]
    words: Mapping[str, Any] = MappingProxyType({})
    weighted: bool = False  # rows of tf-idf weights in place of counts


def split(texts: list[str], labels: list[str], seed: int = 0, test: float = 0.3) -> Documents:
    """Some of the documents at random, a part of them to test on."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(texts))[:MOST]
    n_test = int(test * len(order))
    held, seen = order[:n_test], order[n_test:]
    y = np.array(labels)
    held = held[np.isin(y[held], y[seen])]
    return Documents([texts[i] for i in seen], y[seen], [texts[i] for i in held], y[held])


def pydoc(folder: Path) -> Documents:
    """Docstrings of Python's standard library, by module."""
    table = pydoc_table()
    return split(table[TEXT].to_pylist(), table[TARGET].to_pylist())


def debian_by_name(folder: Path, label: Callable[[str], str], seed: int = 0) -> Documents:
    """Descriptions of Debian packages, labelled by a function of the name of the package."""
    import lzma

    with lzma.open(folder / "debian-descriptions.tsv.xz", "rt", encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    named = [(row[2], label(row[1])) for row in rows]
    kept = [pair for pair in named if pair[1]]
    return split([text for text, _ in kept], [own for _, own in kept], seed)


def last_letter(name: str) -> str:
    """Whether the last letter of the name is in the first half of the alphabet."""
    return "early" if name.rstrip("0123456789.+-")[-1:] < "n" else "late"


def interface(name: str) -> str:
    """What a package offers, by the end of its name."""
    ends = {
        "-dev": "headers",
        "-doc": "manual",
        "-perl": "perl",
        "-common": "data",
        "-dbg": "debug",
    }
    starts = {"python3-": "python", "ruby-": "ruby", "golang-": "go", "node-": "javascript"}
    for end, kind in ends.items():
        if name.endswith(end):
            return kind
    return next((kind for start, kind in starts.items() if name.startswith(start)), "")


def many_classes(folder: Path) -> Documents:
    """200 families of packages, ten documents of each."""
    import lzma

    with lzma.open(folder / "debian-descriptions.tsv.xz", "rt", encoding="utf8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    family = [row[1].split("-")[0].rstrip("0123456789.") for row in rows]
    common = {name for name, n in Counter(family).most_common(200)}
    rng, seen = np.random.default_rng(0), Counter[str]()
    train, test = [], []
    for i in rng.permutation(len(rows)):
        if family[i] in common and seen[family[i]] < 15:
            (train if seen[family[i]] < 10 else test).append(i)
            seen[family[i]] += 1
    y = np.array(family)
    return Documents([rows[i][2] for i in train], y[train], [rows[i][2] for i in test], y[test])


def manual_pages(folder: Path) -> Documents:
    """The first words of manual pages, by section."""
    texts, labels = [], []
    for section in "1235678":
        pages = sorted(Path(f"/usr/share/man/man{section}").glob(f"*.{section}*.gz"))
        for page in pages[:: max(1, len(pages) // 800)]:
            try:
                with gzip.open(page, "rt", encoding="utf8", errors="replace") as file:
                    text = file.read(6000)
            except OSError:
                continue
            body = re.sub(
                r'^[.\'].{0,3}\\"?.*$|^\.[A-Z]{2,}\s?|\\[a-zA-Z]\S?', " ", text, flags=re.M
            )
            texts.append(" ".join(body.split()[20:140]))
            labels.append(f"section {section}")
    return split(texts, labels)


def translations(folder: Path) -> Documents:
    """Messages of programs in their languages, by runs of characters."""
    texts, labels = [], []
    for language in LANGUAGES:
        found: list[str] = []
        for path in sorted(Path("/usr/share").rglob(f"{language}/LC_MESSAGES/*.mo")):
            with path.open("rb") as file:
                catalogue = gettext.GNUTranslations(file)._catalog  # type: ignore[attr-defined]
            found += [
                v for k, v in sorted(catalogue.items(), key=str) if k and len(v) > 10 and v != k
            ]
            if len(found) > 4000:
                break
        chosen = np.random.default_rng(0).permutation(len(found))[:250]
        texts += [found[i] for i in chosen]
        labels += [language] * len(chosen)
    return split(texts, labels)


def source_lines(folder: Path) -> Documents:
    """Single lines of Python, C and JavaScript."""
    texts, labels = [], []
    for kind, roots in {"py": "/usr/lib/python3", "h": "/usr/include", "js": "/usr/lib"}.items():
        files = itertools.islice(sorted(Path(roots).rglob(f"*.{kind}")), 0, 4000, 20)
        lines = [
            line.strip()
            for file in files
            for line in file.read_text(errors="replace").splitlines()[:300]
            if 8 < len(line.strip()) < 200
        ]
        chosen = np.random.default_rng(0).permutation(len(lines))[:1500]
        texts += [lines[i] for i in chosen]
        labels += [kind] * len(chosen)
    return split(texts, labels)


def newsgroups(folder: Path, n: int = 4000, groups: int = 20) -> Documents:
    """Posts of some newsgroups, from its own split."""
    given = documents(folder, "20news")
    names = np.unique(given.y)[:: 20 // groups][:groups]
    rng = np.random.default_rng(0)

    def some(texts: list[str], y: Any, most: int) -> tuple[list[str], Any]:
        chosen = rng.permutation(np.flatnonzero(np.isin(y, names)))[:most]
        return [texts[i] for i in chosen], y[chosen]

    return Documents(*some(given.train, given.y, n), *some(given.test, given.truth, 2500))


def shuffled_labels(folder: Path) -> Documents:
    given, rng = newsgroups(folder), np.random.default_rng(0)
    return given._replace(y=rng.permutation(given.y), truth=rng.permutation(given.truth))


def unbalanced(folder: Path) -> Documents:
    """One document in a thousand is of the rare class, when learning and when testing."""
    given = documents(folder, "debian")

    def rare(texts: list[str], y: Any) -> tuple[list[str], Any]:
        is_rare = y == "games"
        often = np.flatnonzero(~is_rare)[:MOST]
        chosen = np.concatenate([np.flatnonzero(is_rare)[: len(often) // 1000], often])
        return [texts[i] for i in chosen], np.where(is_rare, "games", "other")[chosen]

    return Documents(*rare(given.train, given.y), *rare(given.test, given.truth))


def few_documents(folder: Path, n: int = 5) -> Documents:
    """Two newsgroups with five documents each."""
    given = newsgroups(folder, 100_000, groups=2)
    kept = np.concatenate([np.flatnonzero(given.y == k)[:n] for k in np.unique(given.y)])
    return given._replace(train=[given.train[i] for i in kept], y=given.y[kept])


def sms_few(folder: Path) -> Documents:
    """One message in a hundred is labelled."""
    given = documents(folder, "sms")
    kept = np.arange(0, len(given.train), 100)
    return given._replace(train=[given.train[i] for i in kept], y=given.y[kept])


def books(folder: Path, posts: int = 10) -> Documents:
    """Ten posts of a newsgroup in one document."""

    def joined(texts: list[str], y: Any) -> tuple[list[str], Any]:
        found: list[tuple[str, str]] = []
        for k in np.unique(y):
            own = [texts[i] for i in np.flatnonzero(y == k)]
            found += [(" ".join(own[i : i + posts]), k) for i in range(0, len(own), posts)]
        return [text for text, _ in found], np.array([k for _, k in found])

    given = newsgroups(folder, 100_000)
    return Documents(*joined(given.train, given.y), *joined(given.test, given.truth))


def _some_words(texts: list[str], n: int, seed: int) -> list[str]:
    rng = np.random.default_rng(seed)
    each = [text.split() or ["nothing"] for text in texts]
    return [" ".join(rng.choice(words, n)) for words in each]


def three_words(folder: Path) -> Documents:
    given = newsgroups(folder)
    return given._replace(train=_some_words(given.train, 3, 0), test=_some_words(given.test, 3, 1))


def short_tests(folder: Path) -> Documents:
    """Learned from whole posts, tested on ten words."""
    given = newsgroups(folder)
    return given._replace(test=_some_words(given.test, 10, 1))


def long_tests(folder: Path) -> Documents:
    """Learned from ten words, tested on whole posts."""
    given = newsgroups(folder)
    return given._replace(train=_some_words(given.train, 10, 1))


def copies(folder: Path, times: int = 5, changed: float = 0.0) -> Documents:
    """Each document several times, with a share of its words taken from another document."""
    given, rng = newsgroups(folder, 1500), np.random.default_rng(0)
    texts, labels = [], []
    for text, label in zip(given.train, given.y, strict=True):
        for _ in range(times):
            words, other = text.split(), given.train[rng.integers(len(given.train))].split()
            if changed and other:
                words = [w if rng.random() > changed else str(rng.choice(other)) for w in words]
            texts.append(" ".join(words))
            labels.append(label)
    order = rng.permutation(len(texts))
    return given._replace(train=[texts[i] for i in order], y=np.array(labels)[order])


def unknown_language(folder: Path) -> Documents:
    """Messages in words that no document has."""
    given = documents(folder, "sms")
    rng = np.random.default_rng(0)
    unknown = [" ".join(f"zq{rng.integers(10**9)}" for _ in range(12)) for _ in range(1000)]
    return given._replace(test=unknown, truth=rng.choice(given.y, 1000))


RECIPES = {
    "pydoc": Recipe(pydoc),
    "last letter": Recipe(partial(debian_by_name, label=last_letter)),
    "interface": Recipe(partial(debian_by_name, label=interface)),
    "200 classes": Recipe(many_classes),
    "manual pages": Recipe(manual_pages),
    "translations": Recipe(translations, CHARACTERS),
    "source lines": Recipe(source_lines, CHARACTERS),
    "noise: shuffled": Recipe(shuffled_labels),
    "1 in 1000": Recipe(unbalanced),
    "2 × 5 documents": Recipe(few_documents),
    "sms, 1 %": Recipe(sms_few),
    "books": Recipe(books),
    "three words": Recipe(three_words),
    "short tests": Recipe(short_tests),
    "long tests": Recipe(long_tests),
    "5 copies": Recipe(copies),
    "3 near copies": Recipe(partial(copies, times=3, changed=0.1)),
    "tf-idf": Recipe(newsgroups, weighted=True),
    "unknown words": Recipe(unknown_language),
}


class Scores(NamedTuple):
    accuracy: float
    log_loss: float
    error: float  # of calibration


def scores(probability: Any, classes: Any, truth: Any) -> Scores:
    own = probability[np.arange(len(truth)), np.searchsorted(classes, truth)]
    top, right = probability.max(axis=1), classes[probability.argmax(axis=1)] == truth
    bins = np.minimum((top * 10).astype(int), 9)
    n = np.maximum(np.bincount(bins, minlength=10), 1)
    gap = np.abs(np.bincount(bins, top - right, 10)) / n
    error = float(np.dot(gap, np.bincount(bins, minlength=10)) / len(truth))
    loss = -float(np.mean(np.log(np.maximum(own, LEAST))))
    return Scores(float(right.mean()), loss, error)


def rows_of(recipe: Recipe, given: Documents) -> tuple[Any, Any]:
    words = lk.BagOfWords(**recipe.words)
    X, new = words.fit_transform(given.train), words.transform(given.test)
    if not recipe.weighted:
        return X, new
    weights = TfidfTransformer(sublinear_tf=True).fit(X)
    return weights.transform(X), weights.transform(new)


def results(recipe: Recipe, given: Documents) -> Iterator[tuple[str, Scores]]:
    """The scores of each model."""
    X, new = rows_of(recipe, given)
    classes, count = np.unique(given.y, return_counts=True)
    shares = np.tile(count / count.sum(), (len(given.truth), 1))
    yield "class shares", scores(shares, classes, given.truth)
    for event in ("multinomial", "complement", "bernoulli"):
        A, B = (X.sign(), new.sign()) if event == "bernoulli" else (X, new)
        model = lk.NaiveBayes(event, smoothing="auto", calibrate="length").fit(A, given.y)
        yield event, scores(model.predict_proba(B), classes, given.truth)
        if event == "multinomial":
            yield "… in hindsight", hindsight(model, A, B, given)
    theirs = [
        scores(kind(alpha=alpha).fit(A, given.y).predict_proba(B), classes, given.truth)
        for kind in (MultinomialNB, ComplementNB)
        for A, B in ((X, new), (X.sign(), new.sign()))
        for alpha in ALPHAS
    ]
    yield "MultinomialNB()", theirs[0]
    yield "ComplementNB()", theirs[2 * len(ALPHAS)]
    yield "best of theirs", min(theirs, key=lambda each: each.log_loss)


def hindsight(model: Any, X: Any, new: Any, given: Documents) -> Scores:
    """Ours with the smoothing and the temperature that are best for the test documents."""
    found, truth = [], np.searchsorted(model.classes_, given.truth)
    n, length = len(truth), np.asarray(new.sum(axis=1)).ravel()
    for factor in FACTORS:
        model.smoothing_ = factor * model.smoothing_
        components = model._learner(model.totals_)
        model.smoothing_ = model.smoothing_ / factor
        score = components.distribution.log_score(new)
        score -= score.max(axis=1, keepdims=True)
        log_prior = np.broadcast_to(components.log_mixing, score.shape)
        rows = ScoredDocuments(score, log_prior, truth, np.ones(n), length, np.empty((n, 0)))
        log_p = search_cooling(rows).evidence.log_posterior(log_prior, score, length)
        found.append(scores(np.exp(log_p), model.classes_, given.truth))
    return min(found, key=lambda each: each.log_loss)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--recipes", nargs="*", default=list(RECIPES), choices=list(RECIPES))
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    for name in given.recipes:
        found = RECIPES[name].make(given.folder)
        if len(np.unique(found.y)) < 2:
            print(f"\n{name}: this machine does not have the files")
            continue
        n_classes = len(np.unique(found.y))
        print(f"\n{name}: {len(found.train):,} + {len(found.test):,}, {n_classes} classes")
        for model, (accuracy, loss, error) in results(RECIPES[name], found):
            print(f"  {model:20}{accuracy:9.3f}{loss:10.3f}{error:8.3f}", flush=True)


if __name__ == "__main__":
    main()
