"""Damaged files: a typed error, or a graph that is whole; nothing else, and soon.

Files are damaged by bytes and by words, with words that break careless readers among them.
"""

import gzip
import lzma
import time
from pathlib import Path

import numpy as np
import pytest

from likely.errors import InvalidFile, LikelyError
from likely.graphical.formats.content import file_content
from likely.graphical.formats.graph_files import FORMATS, read_graph
from likely.graphical.formats.uai import read_answer, read_evidence_sets
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.conditional_table import FILE_ROUNDING
from tests.graph_files import BAYES, DOG, FIELD, SHARED, assert_same_graph

pytestmark = pytest.mark.filterwarnings("ignore::likely.errors.RoundedTables")

WORDS = "-1 0 1 2 3 1e9 1000000000 999999999999999999999 1e999 -inf nan inf 1e-400 1_0 0x1 ١ 2.0 .5"
WORDS += ' MARKOV BAYES # // /* */ " "a" \\ { } ( ) [ ] ; , | network variable probability table'
WORDS += " default property type discrete <5"
ODD_WORDS = [word.encode() for word in WORDS.split()] + [b"9" * 5000, b"", b"\x00", b"\xff", b"\n"]
TEXTS = {"uai": [FIELD, BAYES], "bif": [DOG]}
SMALL = ("asia", "cancer", "earthquake", "survey", "sachs", "child")
REAL = {
    "uai": ["Grids_11.uai", "CSP_11.uai", "Pedigree_11.uai"],
    "bif": [f"{name}.bif.gz" for name in SMALL],
}
EVIDENCE = [b"2\n1 4 2\n2 4 1 0 0\n", b"3 1 0 2 1 0 0", b"0"]
ANSWERS = [b"MAR\n2 2 1 0 1 1\n-BEGIN-\n1\n2 2 0.3 0.7 3 0.1 0.2 0.7\n", b"PR\n1\n-13.5\n"]
ANSWERS += [b"MPE\n1\n3 0 1 2\n", b"MAP 3 0 1 2"]
LONGEST = 5.0  # seconds of the processor for one file; the slowest takes a few hundredths


def seeds(format):
    """Small whole files of a format; real ones where they are."""
    found = [text.encode() for text in TEXTS.get(format, [])]
    if not found:
        network = FORMATS["bif"].read(Path("dog.bif"), DOG.encode())
        return [FORMATS[format].content(network, Path("dog"))]
    real = [SHARED / format / name for name in REAL[format]]
    return found * 3 + [file_content(path) for path in real if path.exists()]


def damaged(content, rng):
    """The content with one to three mutations."""
    for _ in range(rng.integers(1, 4)):
        content = _damaged_by_word(content, rng) if rng.random() < 0.6 else _damaged(content, rng)
    return content


def _damaged(content, rng):
    at, length = int(rng.integers(len(content) + 1)), int(rng.integers(1, 9))
    match int(rng.integers(5)):
        case 0:
            return content[:at] + content[at + length :]
        case 1:
            return content[: at + length] + content[at:]
        case 2:
            return content[:at] + rng.bytes(1) + content[at + 1 :]
        case 3:
            return content[:at] + rng.bytes(length) + content[at:]
        case _:
            return content[:at]


def _damaged_by_word(content, rng):
    words = content.split(b" ")
    at, other = (int(i) for i in rng.integers(len(words), size=2))
    match int(rng.integers(5)):
        case 0:
            del words[at]
        case 1:
            words.insert(at, words[at])
        case 2:
            words[at], words[other] = words[other], words[at]
        case 3:
            words[at] = ODD_WORDS[rng.integers(len(ODD_WORDS))]
        case _:
            words.insert(at, ODD_WORDS[rng.integers(len(ODD_WORDS))])
    return b" ".join(words)


def assert_refused_or_right(format, content):
    """Whether the content is read as a graph; then it is written and read as the same."""
    path = Path(f"damaged.{format}")
    begin = time.process_time()
    try:
        graph = FORMATS[format].read(path, content)
    except LikelyError as error:
        assert "damaged" in str(error)
        assert time.process_time() - begin < LONGEST
        return False
    assert all((f.stored >= 0).all() and np.isfinite(f.stored).all() for f in graph.factors)
    if isinstance(graph, BayesianNetwork):
        for factor in graph.factors:
            assert np.abs(factor.table.sum(axis=-1) - 1).max() <= FILE_ROUNDING
    again = FORMATS[format].read(path, FORMATS[format].content(graph, path))
    assert_same_graph(again, graph)
    assert time.process_time() - begin < LONGEST
    return True


def try_many(format, n, seed):
    """How many of ``n`` damaged files are read as graphs."""
    rng, whole = np.random.default_rng(seed), seeds(format)
    n_read = 0
    for i in range(n):
        content = damaged(whole[i % len(whole)], rng)
        try:
            n_read += assert_refused_or_right(format, content)
        except Exception as error:
            error.add_note(f"in the file {content[:300]!r} …, number {i}")
            raise
    return n_read


@pytest.mark.parametrize(
    ("format", "n"), [("uai", 250), ("bif", 250), ("xmlbif", 50), ("json", 50)]
)
def test_damaged_files_are_refused_or_right(format, n):
    assert 0 < try_many(format, n, seed=0) < n


@pytest.mark.parametrize(
    ("read", "whole"), [(read_evidence_sets, EVIDENCE), (read_answer, ANSWERS)]
)
def test_damaged_evidence_and_answers_are_refused_or_read(read, whole, tmp_path):
    rng, path, n_refused = np.random.default_rng(0), tmp_path / "a", 0
    for i in range(100):
        path.write_bytes(damaged(whole[i % len(whole)], rng))
        try:
            read(path)
        except InvalidFile:
            n_refused += 1
    assert 0 < n_refused < 100


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_damaged_compressed_files_are_refused_or_right(compress, tmp_path):
    rng, path, n_refused = np.random.default_rng(0), tmp_path / "a.bif", 0
    for _ in range(50):
        path.write_bytes(_damaged(compress(DOG.encode()), rng))
        try:
            assert read_graph(path).name == "Dog problem"
        except InvalidFile:
            n_refused += 1
    assert n_refused > 0


@pytest.mark.slow
@pytest.mark.parametrize("format", ["uai", "bif"])
def test_ten_thousand_damaged_files_are_refused_or_right(format):
    assert 0 < try_many(format, 10_000, seed=1) < 10_000


@pytest.mark.parametrize("format", ["uai", "bif"])
def test_every_beginning_of_a_file_is_refused_or_right(format):
    content = seeds(format)[0]
    read = [assert_refused_or_right(format, content[:end]) for end in range(len(content))]
    assert sum(read) <= 40  # digits and white space at the end may be missing
