"""Compile the loops ahead of time, so that the first large fit does not wait for it."""

from dataclasses import replace

import numpy as np

from likely._typing import Array
from likely.data.block import ArrayBlocks
from likely.data.layouts.base import Csr, Design
from likely.data.layouts.dense import Centred, Dense
from likely.data.layouts.intercept import Mixed
from likely.distributions import CategoricalFamily, DiagonalFamily, FullGaussian, Labels
from likely.distributions.full_moments import gappy_sums, whitened_sums
from likely.distributions.responsibility import weighted_sums
from likely.graphical.exact.chain import FAST_ROWS, Chain
from likely.graphical.exact.row_propagation import row_beliefs, row_families, row_most_probable
from likely.graphical.learning.coded_rows import array_blocks
from likely.graphical.learning.family_counts import Families, block_family_counts
from likely.graphical.learning.hill_climbing import ScoredFamilies
from likely.graphical.learning.mutual_information import block_pair_counts
from likely.graphical.learning.structure_scores import BIC
from likely.graphical.model.bayesian_network import BayesianNetwork
from likely.graphical.model.factor import Factor
from likely.graphical.model.factor_graph import FactorGraph
from likely.likelihoods.responses import likelihood_of
from likely.neural.architecture import Architecture
from likely.neural.engine import EngineSettings
from likely.neural.outputs import output_of
from likely.numerics.additive import FAST_CELLS
from likely.objectives.columns import Columns, LeastSquaresColumns
from likely.objectives.rows import Rows
from likely.objectives.value_counts import CAP, PADDING
from likely.solvers.coordinate_descent import CoordinateDescent
from likely.solvers.dual_coordinate_descent import DualCoordinateDescent
from likely.solvers.group_model import Grouping
from likely.solvers.lasso_path import lasso_path
from likely.solvers.minimise import search
from likely.solvers.proximal_newton import minimise_model
from likely.solvers.updates import Plain
from likely.text.bag_of_words import BagOfWords
from likely.text.reader import FIRST_SIZE

ROOM_FOR_A_ROW = 4000  # bytes: the tables of a small tree fit, those of a block of rows do not


def warmup() -> None:
    """Run every compiled loop once, on data just large enough to choose it."""
    _statistics()
    _text_scores()
    _designs()
    _descents()
    _families()
    _chains()
    _graphs()
    _networks()
    _words()


def _statistics() -> None:
    """The loops of generative models."""
    from scipy import sparse

    from likely.fast.counts import count_small_values

    n, d = FAST_CELLS // 8 + 1, 8
    labels = Labels(np.zeros(n, dtype=np.int64), 1)
    X = np.zeros((n, d))
    DiagonalFamily(floor=1e-9).statistics(X, labels)
    weighted_sums(labels, sparse.csr_array(X + 1.0))
    for dtype in (np.int32, np.int64):
        codes = np.zeros((n, d), dtype=dtype)
        CategoricalFamily((1,) * d).statistics(codes, labels)
        counts = np.zeros((1, d * (CAP + PADDING)), dtype=np.uint32)
        count_small_values(codes, labels.codes, CAP, CAP + PADDING, counts)
    member = FullGaussian(np.zeros((1, d)), np.eye(d)[None])
    whitened_sums(member.mean, member.factors, X[:1], np.zeros(1), None)
    gappy_sums(member.mean, member.covariance, member.factors, X[:1], np.zeros(1), None)


def _text_scores() -> None:
    """The sums over the terms of documents."""
    from likely.fast.text_scores import add_weights, add_weights_once, count_by_class

    ids, stops = np.zeros(2, np.int32), np.array([1, 2])
    sums, seen, last = np.zeros((1, 2)), np.zeros((1, 3), np.int64), np.zeros(1, np.int64)
    count_by_class(ids, stops, 1, np.zeros(2, np.int64), np.ones(2), False, seen, sums)
    add_weights(ids, stops, sums, np.zeros((2, 2)), np.zeros(2))
    add_weights_once(ids, stops, last, sums, np.zeros((2, 2)), np.zeros(2))


def _designs() -> None:
    """The loops of the layouts."""
    from scipy import sparse

    from likely.fast.sparse import repeats_cells

    n, p = FAST_CELLS // 4 + 1, 4
    X = np.ones((n, p))
    codes = np.zeros((n, 2), dtype=np.int32)
    designs: list[Design] = [
        Centred(X, np.zeros(p)),
        Mixed(X, codes, (2, 2), np.zeros(p)),
        Csr(sparse.csr_array(X)),
    ]
    for design in designs:
        _every_verb(design, np.ones(n))
    unsorted = sparse.csr_array(X[:, ::-1])
    repeats_cells(unsorted.indptr, unsorted.indices, p)


def _every_verb(design: Design, d: Array) -> None:
    columns = np.ones((design.n_features, 2))
    design.matmat(columns[:, 0].copy())
    design.matmat(columns)
    design.rmatmat(d)
    design.rmatmat(np.ones((len(d), 2)))
    design.sandwich(d)
    design.row_quadratic(np.eye(design.n_features))


def _chains() -> None:
    """The passes over sequences of hidden states, in linear arithmetic and in logs."""
    rows, lengths = np.zeros((FAST_ROWS, 2)), np.array([FAST_ROWS])
    even, stuck = np.log(np.full((2, 2), 0.5)), np.array([[0.0, -np.inf], [-np.inf, 0.0]])
    chain = Chain(even[0], even)
    chain.beliefs(rows, lengths)
    chain.most_probable(rows, lengths)
    rows[-1, 0], start = -np.inf, np.array([0.0, -np.inf])
    Chain(start, stuck).beliefs(rows, lengths)


def _graphs() -> None:
    """The loops of inference: one question, rows in blocks and one by one, and wide numbers."""
    from likely.fast import propagation  # noqa: F401  # loaded, they serve small graphs too

    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    network = BayesianNetwork.from_edges(edges, dict.fromkeys("abcd", 2))
    far = Factor(network.variables[:2], [[0.0, -2000.0], [-2000.0, 0.0]], scale="log")
    for graph in (network, FactorGraph([*network.factors, far])):
        graph.query(given={"d": "0"})
        graph.most_probable({"d": "0"})
        graph.sample(2, {"d": "0"}, random_state=0)
    codes = np.array([[0, -1, -1, -1], [-1, 0, -1, 1]], dtype=np.int32)
    for memory in (None, ROOM_FOR_A_ROW):
        row_beliefs(network, codes, network.names, memory)
        row_families(network, codes, np.ones(2), memory)
        row_most_probable(network, codes, memory)


def _descents() -> None:
    """The loops over rows and columns."""
    from scipy import sparse

    X = np.random.default_rng(0).normal(size=(20, 3))
    y = (X[:, 0] > 0).astype(float)
    dense, csr = ArrayBlocks(Dense(X), y), ArrayBlocks(Csr(sparse.csr_array(X)), y)
    search(DualCoordinateDescent(), Rows.of(csr, ridge=1.0), np.zeros(4), max_iter=2)
    for blocks in (dense, csr):
        logistic = Columns.of(likelihood_of("bernoulli"), blocks, l1=0.1)
        search(CoordinateDescent(), logistic, np.zeros(4), max_iter=2)
    lasso_path(LeastSquaresColumns.of(dense), n_penalties=3)
    minimise_model(np.eye(2), np.ones(2), np.ones(2), np.zeros(2), 1e-9)
    together = Grouping(np.zeros(2, dtype=np.intp), np.ones(2))
    minimise_model(np.eye(2), np.ones(2), np.zeros(2), np.zeros(2), 1e-9, together)


def _families() -> None:
    """The counts of discrete networks."""
    n, p = FAST_CELLS // 4 + 1, 4
    network = BayesianNetwork.from_edges([], {f"x{j}": 1 for j in range(p)})
    codes = np.zeros((n, p), dtype=np.int32)
    (block,) = replace(array_blocks(network.variables, codes), rows_per_block=n)
    block_family_counts(Families.of(network), block)
    block_pair_counts((1,) * p, None, block)
    ScoredFamilies(np.ascontiguousarray(codes.T), np.ones(n), (1,) * p, BIC()).of_family(0, (1,))


def _networks() -> None:
    """An epoch of a neural network in both types, its loss and its predictors."""
    from likely.neural.compiled_engine import CompiledEngine

    output, X, y = output_of(n_classes=2), np.zeros((2, 1)), np.array([0, 1])
    architecture = Architecture.of(1, (1,), 1)
    for dtype in (np.float32, np.float64):
        engine = CompiledEngine(EngineSettings(architecture, output, Plain(), 2, dtype=dtype))
        rows, state = engine.prepare(X, y), engine.start(np.zeros(architecture.n_parameters))
        engine.epoch(state, rows, np.arange(2), batch=2, rate=0.1, epoch=0)
        engine.loss(state.theta, rows)
        engine.eta(state.theta, rows)


def _words() -> None:
    """The loops that read documents."""
    documents = ["one two three", " ".join(map(str, range(FIRST_SIZE)))]  # the table grows
    for options in ({"ngram_range": (1, 2)}, {"analyzer": "char"}, {"stop_words": ["two"]}):
        BagOfWords(**options).fit(documents).transform(documents)
        BagOfWords(n_features=16, **options).fit_transform(documents)
