"""Graph files for tests: where the shared ones lie, small ones written here, and equality."""

import os
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).resolve()
SHARED = Path(os.environ.get("LIKELY_BENCH_DATA", HERE.parents[2] / "shared" / "data")) / "graphs"
needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the networks of ../shared/data/graphs are not here"
)
NETWORKS = sorted(path.name for path in SHARED.glob("bif/*.bif.gz"))
PROBLEMS = sorted(p.name for end in ("", ".gz", ".xz") for p in SHARED.glob(f"uai/*.uai{end}"))

DOG = """// after Charniak (1991)
network "Dog problem" { property author = Charniak; }
variable light-on { type discrete [ 2 ] { true, false }; property position = (218, 195) ; }
variable bowel-problem { type discrete[2] { true, false }; }
variable dog-out { type discrete [ 3 ] { <5, 5-12, >=7.5 }; }
variable family-out { type discrete [ 2 ] { "not at home", Asy/Patch }; }
probability ( light-on | family-out ) {
  ("not at home") 0.6, 0.4;
  (Asy/Patch) 0.05, 0.95; /* a comment
  of two lines */
}
probability ( bowel-problem ) { table 0.01 0.99; }
probability ( dog-out | bowel-problem family-out ) {
  default 0.25 0.25 0.5;
  (true, Asy/Patch) 0.97, 0.02, 0.01;
}
probability ( family-out ) { table 0.15, 0.85; }
"""
FIELD = """MARKOV
3
2 2 3
3
2 0 1
2 1 2
1 2

4
 4.000 2.400
 1.000 0.000

6
 2.2500 3.2500 3.7500
 0.0000 0.0000 10.0000
3
 1.1000 4.0000 0.3333
"""
BAYES = """BAYES
3
2 2 3
3
1 0
2 0 1
2 1 2

2
 0.436 0.564

4
 0.128 0.872
 0.920 0.080

6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""


def assert_same_graph(ours, theirs):
    """The same kind, names, states, scopes, scales and bits."""
    assert type(ours) is type(theirs)
    assert ours.name == theirs.name
    assert ours.variables == theirs.variables
    assert [f.scope for f in ours.factors] == [f.scope for f in theirs.factors]
    assert [f.scale for f in ours.factors] == [f.scale for f in theirs.factors]
    assert [f.name for f in ours.factors] == [f.name for f in theirs.factors]
    for a, b in zip(ours.factors, theirs.factors, strict=True):
        assert a.stored.shape == b.stored.shape
        assert np.array_equal(a.stored, b.stored)
