"""A fit is the same for any blocks, executor, file and batches, and EM's likelihood never falls."""

import pickle
import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

import likely
from likely.compute.executor import Executor, Serial, Threads
from likely.data import block, source_blocks
from likely.errors import CollapsedComponent
from tests.fits import (
    CLASSIFIERS,
    FITS,
    MIXTURES,
    REGRESSORS,
    SEQUENCES,
    answers,
    assert_same_fit,
    gaussians,
    mixture,
    naive_bayes,
    rows,
)

# rows of another seed may lie outside those of the fit
pytestmark = pytest.mark.filterwarnings("ignore::likely.errors.OutsideFit")

TOTALLED = [name for name in FITS if hasattr(FITS[name].estimator, "executor")]


def fitted(name, X=None, y=None, **options):
    fit = FITS[name]
    if X is None:
        X, y = fit.data()
    return clone(fit.estimator).set_params(**options).fit(X, y)


@pytest.mark.diagonal(2)
@pytest.mark.parametrize("name", TOTALLED)
@pytest.mark.parametrize("rows_per_block", [1, 33])
def test_any_cut_and_any_executor_give_the_same_fit(name, rows_per_block, monkeypatch):
    X, y = FITS[name].data()
    whole = fitted(name, X, y, executor=Serial())
    said = answers(whole, X)
    monkeypatch.setattr(block, "block_rows", lambda *shape: rows_per_block)
    # blocks of one row are many: they go through threads alone
    for executor in (Threads(3),) if rows_per_block == 1 else (Serial(), Threads(2)):
        model = fitted(name, X, y, executor=executor)
        assert_same_fit(model, whole)
        assert_allclose(answers(model, X), said, rtol=1e-7, atol=1e-9)


@pytest.mark.long
def test_a_temperature_does_not_depend_on_the_cut_or_the_executor(monkeypatch):
    X, y = FITS["nb-gaussian"].data(n=200)
    X = np.hstack([X, X])  # counted twice, so there is something to cool
    whole = naive_bayes(calibrate="temperature").fit(X, y)
    assert whole.temperature_ > 1.2
    for rows_per_block in (1, 33):
        monkeypatch.setattr(block, "block_rows", lambda *shape, size=rows_per_block: size)
        for executor in (Serial(), Threads(3)):
            model = naive_bayes(calibrate="temperature", executor=executor).fit(X, y)
            assert_allclose(model.temperature_, whole.temperature_, rtol=1e-9)
            assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9, atol=1e-9)


class Travelling(Executor):
    """Sends every term through pickle, as a cluster would."""

    def __init__(self):
        self.sent = []

    def map(self, term, blocks):
        function = term.func if isinstance(term, partial) else term
        self.sent.append(function.__qualname__)
        return map(pickle.loads(pickle.dumps(term)), blocks)


@pytest.mark.parametrize("name", TOTALLED)
def test_every_term_travels(name):
    X, y = FITS[name].data()
    executor = Travelling()
    model = fitted(name, X, y, executor=executor)
    answers(model, X)
    if hasattr(model, "partial_fit") and name not in ("nb-unlabelled", "nb-bins"):
        model.partial_fit(X, y)
    assert executor.sent
    assert not [sent for sent in executor.sent if "<" in sent]  # no lambda, no closure


WRITERS = {
    "csv": lambda frame, path: frame.to_csv(path, index=False),
    "tsv": lambda frame, path: frame.to_csv(path, sep="\t", index=False),
    "parquet": lambda frame, path: frame.to_parquet(path),
    "jsonl": lambda frame, path: frame.to_json(
        path, orient="records", lines=True, double_precision=15
    ),
}
IN_MEMORY = {"nb-bins", "nb-laplace", *SEQUENCES} | {n for n in FITS if n.startswith("bn-")}
IN_MEMORY |= {n for n in FITS if sparse.issparse(FITS[n].data()[0])}


@pytest.mark.diagonal(4)
@pytest.mark.parametrize("suffix", WRITERS)
@pytest.mark.parametrize("name", [name for name in TOTALLED if name not in IN_MEMORY])
def test_a_fit_from_a_file_equals_one_in_memory(name, suffix, tmp_path):
    X, y = FITS[name].data()
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X).rename(columns="x{}".format)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    path = str(tmp_path / f"rows.{suffix}")
    WRITERS[suffix](frame.assign(target=y, weight=weight), path)
    here = clone(FITS[name].estimator).fit(frame, y, sample_weight=weight)
    if name in CLASSIFIERS + REGRESSORS:
        there = clone(FITS[name].estimator).fit(path, y="target", sample_weight="weight")
    else:
        features = likely.read(path).drop(["target"])
        there = clone(FITS[name].estimator).fit(features, sample_weight="weight")
    if name in CLASSIFIERS:
        assert_array_equal(there.classes_, here.classes_)
    assert there.feature_names_in_.tolist() == list(frame.columns)
    tolerance = 1e-6 if suffix == "jsonl" and name in MIXTURES else 1e-9  # 15 digits are written
    assert_same_fit(there, here, rtol=tolerance, atol=tolerance)
    assert_allclose(answers(there, frame), answers(here, frame), atol=1e-6)


@pytest.mark.parametrize("name", ["nb-gaussian", "da-full"])
def test_rows_of_weight_zero_in_a_file_are_absent(name, tmp_path):
    X, y = FITS[name].data()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    weight = np.where(y == 2, 0, 1)  # a class of nothing is no class
    frame.assign(target=y, weight=weight).to_csv(tmp_path / "rows.csv", index=False)
    there = clone(FITS[name].estimator).fit(tmp_path / "rows.csv", "target", "weight")
    here = fitted(name, frame[y < 2], y[y < 2])
    assert_array_equal(there.classes_, [0, 1])
    assert_same_fit(there, here)


LARGE_FILES = ["nb-mixed", "nb-unlabelled", "da-tied-gaps", "gm-full-gaps"]
LARGE_FILES += ["lin-mixed", "glm-mixed", "log-mixed", "soft-mixed", "ord-mixed", "lin-lasso"]
LARGE_FILES += ["add-events", "add-gaps"]


@pytest.mark.parametrize("name", LARGE_FILES)
def test_a_file_of_many_blocks_on_threads_equals_memory(name, tmp_path, monkeypatch):
    X, y = FITS[name].data()
    frame = X if isinstance(X, pd.DataFrame) else pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(target=y).to_csv(tmp_path / "rows.csv", index=False)
    here = fitted(name, frame, y)
    monkeypatch.setattr(source_blocks, "block_rows", lambda *shape: 7)
    data = likely.read(tmp_path / "rows.csv")
    model = clone(FITS[name].estimator).set_params(executor=Threads(3))
    supervised = name in CLASSIFIERS + REGRESSORS
    there = model.fit(data, "target") if supervised else model.fit(data.drop(["target"]))
    assert_same_fit(there, here)


@pytest.mark.parametrize("name", ["nb-gaussian", "da-tied", "da-full", "da-diagonal"])
def test_single_precision_agrees_to_four_digits(name):
    X, y = FITS[name].data()
    double, single = fitted(name, X, y), fitted(name, X.astype(np.float32), y)
    assert_allclose(single.distribution_.log_prob(X), double.distribution_.log_prob(X), rtol=1e-4)
    assert_allclose(single.predict_proba(X.astype(np.float32)), double.predict_proba(X), atol=1e-4)


LINEAR = [n for n in TOTALLED if n.startswith(("lin", "glm", "log", "soft", "ord", "max"))]
DENSE = [n for n in LINEAR if isinstance(FITS[n].data()[0], np.ndarray)]


@pytest.mark.parametrize("name", DENSE)
def test_linear_models_of_single_precision_agree_to_four_digits(name):
    X, y = FITS[name].data()
    options = {"tol": 1e-8}  # the default; sums of single precision reach no 1e-14
    double, single = (fitted(name, kind(X), y, **options) for kind in (np.float64, np.float32))
    size = np.abs(answers(double, X)).max()
    said = answers(single, X.astype(np.float32))
    assert_allclose(said, answers(double, X), rtol=1e-4, atol=1e-4 * size)


@pytest.mark.parametrize("name", DENSE)
def test_dense_and_sparse_columns_give_the_same_linear_model(name):
    X, y = FITS[name].data()
    X = np.where(np.abs(X - X.mean(axis=0)) < 0.5 * X.std(axis=0), 0.0, X)  # a third of them 0
    assert_same_fit(fitted(name, sparse.csr_array(X), y), fitted(name, X, y), 1e-8, 1e-8)


MIXED = [n for n in LINEAR if n.endswith("mixed")]


@pytest.mark.parametrize("name", MIXED)
def test_codes_give_the_linear_model_of_columns_of_indicators(name):
    X, y = FITS[name].data()
    model = fitted(name, X, y)
    columns = X.assign(sold=X["sold"].astype(float))
    words = sorted(set(X["colour"]))[int(model.coding_.reference[0]) :]
    for word in words:
        columns[f"colour[{word}]"] = (X["colour"] == word).astype(float)
    del columns["colour"]
    options = {}
    if isinstance(getattr(model, "l2", None), dict):
        others = {f"colour[{word}]": model.l2["colour"] for word in words}
        options = {"l2": {"size": model.l2["size"], **others}}
    expanded = fitted(name, columns, y, **options)
    assert list(model.terms_) == list(expanded.terms_)
    assert_same_fit(model, expanded, 1e-8, 1e-8)


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_mixtures_of_single_precision_agree_to_four_digits(covariance):
    X, _ = FITS["gm-full"].data()
    start = np.arange(len(X)) % 2
    models = [
        gaussians(covariance, start=start, max_iter=20, tol=0.0, regularisation=0.0)
        for _ in range(2)
    ]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # twenty steps, converged or not
        double, single = models[0].fit(X), models[1].fit(X.astype(np.float32))
    assert_allclose(single.means_, double.means_, rtol=1e-4)
    assert_allclose(single.score(X), double.score(X), rtol=1e-4)


BATCHED = [n for n in CLASSIFIERS if n.startswith("nb") and n not in ("nb-unlabelled", "nb-bins")]


@pytest.mark.diagonal(3)
@pytest.mark.parametrize("name", BATCHED)
@pytest.mark.parametrize("cuts", [(45,), (1, 2, 80), (30, 31, 60, 61)])
def test_batches_equal_one_fit(name, cuts):
    X, y = FITS[name].data()
    weight = np.random.default_rng(3).integers(0, 3, len(y)).astype(float)
    weight[list(cuts)] = 1.0  # a batch of nothing is refused
    weight[0] = 1.0
    model = clone(FITS[name].estimator)
    for batch in np.split(np.arange(len(y)), cuts):
        model.partial_fit(rows(X, batch), y[batch], [0, 1, 2], sample_weight=weight[batch])
    whole = clone(FITS[name].estimator).fit(X, y, sample_weight=weight)
    assert_same_fit(model, whole)
    assert_allclose(model.class_count_, whole.class_count_)
    assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-9)


def test_categories_may_appear_late():
    frame = pd.DataFrame(
        {"colour": list("cabbaccd"), "size": ["s", "s", "l", "l", "s", "m", "l", "s"]}
    )
    y = np.array([0, 1, 0, 1, 1, 0, 1, 0])
    model = naive_bayes(smoothing=0.5)
    for start in (0, 3, 6):
        batch = slice(start, start + 3)
        model.partial_fit(frame.iloc[batch], y[batch], classes=[0, 1])
    whole = naive_bayes(smoothing=0.5).fit(frame, y)
    assert_same_fit(model, whole)
    assert_allclose(model.predict_proba(frame), whole.predict_proba(frame))


def assert_never_falls(history):
    for trace in history:
        steps = np.diff(trace)
        assert np.isfinite(trace).all()
        assert (steps >= -1e-10 * np.maximum(1.0, np.abs(trace[1:]))).all()


@pytest.mark.parametrize("name", MIXTURES)
def test_the_likelihood_of_a_mixture_never_falls(name):
    starts = 0
    for seed in range(5):
        X, _ = FITS[name].data(seed, n=30)
        model = clone(FITS[name].estimator).set_params(
            random_state=seed, n_init=2, n_components=2, max_iter=60
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        assert_never_falls(model.log_likelihood_traces_)
        starts += len(model.log_likelihood_traces_)
    assert starts >= 10


@pytest.mark.parametrize("covariance", ["full", "tied", "diagonal", "spherical"])
def test_maximum_likelihood_never_falls_over_a_hundred_starts(covariance):
    """MIX-5, without a prior: soft random starts on small random data."""
    steps = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(40, 2)) * rng.exponential(size=2) + rng.integers(0, 3, (40, 1))
        start = rng.dirichlet(np.ones(3), size=40)
        model = gaussians(covariance, 3, start=start, regularisation=0.0, max_iter=25, tol=0.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X)
        assert_never_falls(model.log_likelihood_traces_)
        assert_allclose(-model.solution_.trace[-1], model.log_likelihood(X), rtol=1e-9)
        steps += model.n_iter_
    assert steps > 200


@pytest.mark.parametrize(
    "event", ["gaussian", "bernoulli", "poisson", "multinomial", "categorical"]
)
def test_the_likelihood_of_half_labelled_rows_never_falls(event):
    source = {"gaussian": "nb-gaps", "categorical": "nb-categorical", "bernoulli": "nb-bernoulli"}
    for seed in range(4):
        X, y = FITS[source.get(event, "nb-poisson")].data(seed, n=40)
        y = np.where(np.random.default_rng(seed).random(40) < 0.7, -1, y)
        y[:3] = [0, 1, 2]
        model = naive_bayes(event, unlabelled=-1, tol=1e-9, max_iter=300).fit(X, y)
        trace = -np.array(model.solution_.trace)
        assert len(trace) > 2
        assert_never_falls([trace])


@pytest.mark.parametrize("name", ["da-tied-gaps", "da-full-gaps"])
def test_the_likelihood_of_rows_with_gaps_never_falls(name):
    for seed in range(5):
        X, y = FITS[name].data(seed, n=40)
        model = fitted(name, X, y)
        trace = -np.array(model.solution_.trace)
        assert len(trace) > 2
        assert_never_falls([trace])
        assert_allclose(trace[-1], model.log_likelihood(X, y), rtol=1e-6)


@pytest.mark.parametrize("name", [n for n in MIXTURES if n.startswith("gm") or n == "mm-gaussian"])
def test_clusters_do_not_depend_on_the_unit(name):
    X, _ = FITS[name].data()
    here, small = fitted(name, X), fitted(name, 1e-4 * X)
    assert adjusted_rand_score(here.predict(X), small.predict(1e-4 * X)) == 1.0
    assert_allclose(small.weights_, here.weights_, rtol=1e-6)
    assert_allclose(small.distribution_.n_parameters, here.distribution_.n_parameters)


def test_a_mixture_that_collapses_on_repeated_rows_still_never_falls():
    X = np.repeat([[0.0, 0.0], [5.0, 1.0], [9.0, 9.0]], 6, axis=0)
    model = gaussians("full", 3, n_init=2)
    with pytest.warns(CollapsedComponent):
        model.fit(X)
    assert_never_falls(model.log_likelihood_traces_)
    assert len(model.log_likelihood_traces_) > 2


def test_online_steps_on_the_same_rows_approach_the_fit():
    X, _ = FITS["gm-full"].data(n=200)
    whole = gaussians(tol=1e-9).fit(X)
    online = gaussians(start=whole)
    online.partial_fit(X)
    for _ in range(30):
        online.partial_fit(X)
    assert_allclose(online.score(X), whole.score(X), atol=1e-3)
    assert online.online_steps_ == 30


def test_a_mixture_of_words_learns_words_that_come_late():
    frame = pd.DataFrame({"word": list("aabbaabb")})
    model = mixture("categorical").partial_fit(frame)
    model.partial_fit(pd.DataFrame({"word": list("abcc")}))
    assert model.schema_.categories[0].tolist() == ["a", "b", "c"]
    assert np.isfinite(model.score_samples(pd.DataFrame({"word": ["c"]}))).all()
