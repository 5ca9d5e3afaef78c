"""Attack model files:  python -m benchmarks.mutated_models [--files N] [--jobs N] [--only NAME]

Files of every class that can be saved are changed as somebody would who knows their form: values
of the header, arrays, shapes, types, names of classes, keys that are missing or too many; the
checksum is made right again.  Each file must be refused with ``InvalidFile``, or be a model that
answers rows without NaN, without an error that is not typed and without ending the process.
``likely.runtime`` must refuse what ``likely.load`` refuses, and answer what it answers.  What
does not is listed with the numbers that make the file again.
"""

import argparse
import faulthandler
import resource
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from copy import deepcopy
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import likely
import likely.runtime
from benchmarks.mutated_foreign import foreign_models, forged_foreign
from likely.errors import InvalidFile, LikelyError, OutsideLink
from likely.graphical.model.factor_graph import FactorGraph
from likely.storage.model_file import MODELS, file_content

BATCH = 50  # files of one task of a process
MOST_SECONDS = 60  # for one file
MOST_MEMORY = 6 * 2**30  # bytes of addresses of a process
CELLS = 120_000  # of rows that reach the compiled loops
DOCUMENTS = 600  # that reach the compiled loops
HASHED = 2**11  # columns: many enough to be written as runs
ROWS = 6
NUMBERS = [
    *(-1, 0, 1, 2, 3, 7, 100, 2**31, 2**63, -(2**63), 10**12, 10**400),
    *(0.5, -0.5, 1e308, -1e308, 1e-320, 1.5),
    *({"float": "nan"}, {"float": "inf"}, {"float": "-inf"}),
]
JUNK = [
    *(None, True, False, "", "x", "number", "category", [], [[1]], {}, [None]),
    *({"tuple": []}, {"tuple": [1, 2]}, {"class": "Bernoulli"}, {"dict": []}),
    *({"scalar": ["float64", 1.0]}, {"scalar": ["int64", 3]}, {"scalar": ["str", "a"]}),
    *({"text": [[1], ["a"]]}, {"objects": [[2], [None, 1]]}, {"objects": [[0], []]}),
    *({"part": ["Serial", {}]}, {"part": ["links.Log", {}]}, {"part": ["likelihoods.Poisson", {}]}),
]
CELLS_OF_ARRAYS = [
    np.nan,
    np.inf,
    -np.inf,
    -1.0,
    0.0,
    1e308,
    -1e308,
    1e-320,
    3.0,
    0.5,
    2**31,
    2**62,
]


class Outcome(NamedTuple):
    """What became of one file."""

    kind: str  # refused, valid, typed; or NaN, untyped, crash, slow
    model: str
    seed: int
    detail: str = ""


BAD = ("nan", "untyped", "crash", "slow", "memory", "runtime")


def main() -> int:
    """Run the attack; the exit code is 1 if a file got through."""
    parser = argparse.ArgumentParser(prog="mutated_models", description=__doc__)
    parser.add_argument("--files", type=int, default=10_000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="part of the name of a model")
    options = parser.parse_args()
    names = [name for name in saved_models() if options.only in name]
    tasks = list(_tasks(names, options.files, options.seed))
    pools = Pools(options.jobs, saved_models())
    counts, shown = Counter[str](), Counter[str]()
    for done, outcomes in enumerate(_outcomes(tasks, pools), start=1):
        for outcome in outcomes:
            counts[outcome.kind] += 1
            if outcome.kind in BAD:
                shown[f"{outcome.kind} {outcome.model.partition('-')[0]} {outcome.detail}"] += 1
                if shown[f"{outcome.kind} {outcome.model.partition('-')[0]} {outcome.detail}"] == 1:
                    print("  ", *outcome, flush=True)
        if done % 20 == 0:
            print(dict(counts), flush=True)
    print(dict(counts), "of", sum(counts.values()), "files of", len(names), "models")
    for what, number in shown.most_common():
        print(f"{number:6} {what}")
    return int(any(counts[kind] for kind in BAD))


def _tasks(names: list[str], files: int, seed: int) -> Iterator[tuple[str, int]]:
    for start in range(0, files, BATCH):
        yield names[start // BATCH % len(names)], seed + start


class Pools(NamedTuple):
    """How processes are started."""

    jobs: int
    models: dict[str, tuple[bytes, Any]]

    def started(self, jobs: int) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(
            jobs, mp_context=get_context("spawn"), initializer=_begin, initargs=(self.models,)
        )


MODELS_HERE: dict[str, tuple[bytes, Any]] = {}  # of this process


def _outcomes(tasks: list[tuple[str, int]], pools: Pools) -> Iterator[list[Outcome]]:
    """The outcomes of each task; a process that dies is replaced, and its task tried alone."""
    waiting = [(name, start, BATCH) for name, start in tasks]
    while waiting:
        with pools.started(pools.jobs) as pool:
            running = {task: pool.submit(attack, *task) for task in waiting}
            broken = []
            for task, future in running.items():
                try:
                    yield future.result()
                except BrokenProcessPool:
                    broken.append(task)
        for name, start, size in broken[: 2 * pools.jobs]:
            yield from _alone(name, start, size, pools)
        waiting = broken[2 * pools.jobs :]


def _alone(name: str, start: int, size: int, pools: Pools) -> Iterator[list[Outcome]]:
    """The files of a task that was running when a process died; a process ends with its file."""
    seed = start
    while seed < start + size:
        with pools.started(1) as pool:
            try:
                while seed < start + size:
                    yield pool.submit(attack, name, seed, 1).result()
                    seed += 1
            except BrokenProcessPool:
                yield [Outcome("crash", name, seed)]
                seed += 1


def _begin(models: dict[str, tuple[bytes, Any]]) -> None:
    MODELS_HERE.update(models)
    faulthandler.enable(file=sys.stderr)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    signal.signal(signal.SIGALRM, _too_slow)


def _too_slow(*_: object) -> None:
    raise TimeoutError("slow")


def attack(name: str, start: int, size: int) -> list[Outcome]:
    """The outcomes of files made by these seeds."""
    return [_attack_once(name, seed) for seed in range(start, start + size)]


def _attack_once(name: str, seed: int) -> Outcome:
    content, X = MODELS_HERE[name]
    rng = np.random.default_rng(seed)
    foreign = name.startswith(FOREIGN)
    file = forged_foreign(content, rng, ARRAYS) if foreign else forged(content, rng)
    signal.alarm(MOST_SECONDS)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return Outcome(*_judged(file, X, name, seed))
    except TimeoutError:
        return Outcome("slow", name, seed)
    except MemoryError as error:
        return Outcome("memory", name, seed, str(error)[:100])
    finally:
        signal.alarm(0)


def _judged(file: bytes, X: Any, name: str, seed: int) -> tuple[str, str, int, str]:
    try:
        model = loaded(file)
    except InvalidFile:
        wrong = None if name.startswith(FOREIGN) else runtime_fault(file, X, None)
        return ("refused", name, seed, "") if wrong is None else ("runtime", name, seed, wrong)
    except TimeoutError:
        raise
    except Exception as error:
        return "untyped", name, seed, f"load: {_where(error)}"
    kind, detail = "valid", ""
    many = X if isinstance(model, FactorGraph) else _many(X, seed)
    for what, ask in questions(model, X, many):
        try:
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                bad = has_nan(ask())
            known = any(issubclass(each.category, OutsideLink) for each in caught)
            if bad and not known and what not in unanswered(name):
                return "nan", name, seed, what
        except (LikelyError, NotFittedError) as error:
            kind, detail = "typed", f"{what}: {_where(error)}"
        except (TimeoutError, MemoryError):
            raise
        except Exception as error:
            if not name.startswith(FOREIGN):  # whose errors are not ours
                return "untyped", name, seed, f"{what}: {_where(error)}"
            kind, detail = "typed", f"{what}: {_where(error)}"
    wrong = None if name.startswith(FOREIGN) else runtime_fault(file, X, model)
    return (kind, name, seed, detail) if wrong is None else ("runtime", name, seed, wrong)


def runtime_fault(file: bytes, X: Any, model: Any) -> str | None:
    """How ``likely.runtime`` differs from ``likely.load``; ``model`` is None where that refused."""
    try:
        predictor = loaded(file, likely.runtime.load)
    except InvalidFile:
        return None
    except Exception as error:
        return f"load: {_where(error)}"
    if model is None:
        return f"answers what load refuses: {predictor!r}"
    if not isinstance(predictor, likely.runtime.Predictor):
        return None
    rows = {name: X[name].tolist() for name in X.columns} if hasattr(X, "columns") else X
    try:
        found = predictor.predict(rows)
    except LikelyError:
        return None
    except Exception as error:
        return f"predict: {_where(error)}"
    with suppress(LikelyError):
        expected = model.predict(X)
        if has_nan(found) and not has_nan(expected):
            return "predict: NaN"
        return None if _alike(found, expected) else "predict: other answers"
    return None


def _alike(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype.kind == "f" or b.dtype.kind == "f":
        return a.shape == b.shape and np.allclose(a, b, rtol=1e-9, atol=1e-12, equal_nan=True)
    return a.tolist() == b.tolist()


@cache
def unanswered(name: str) -> set[str]:
    """The questions to which the model as it was saved answers NaN, as for missing cells."""
    content, X = MODELS_HERE[name]
    found = set()
    for what, ask in questions(loaded(content), X, None):
        with suppress(LikelyError):
            found |= {what} if has_nan(ask()) else set()
    return found


def _where(error: BaseException) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = (
        "" if trace is None else f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
    )
    return f"{type(error).__name__} {place} {str(error)[:70]}"


def loaded(file: bytes, load: Callable[[str], Any] = likely.load) -> Any:
    folder = Path("/dev/shm") if Path("/dev/shm").is_dir() else None
    with tempfile.NamedTemporaryFile(suffix=".likely", dir=folder) as place:
        place.write(file)
        place.flush()
        return load(place.name)


ANSWERS = (
    "predict",
    "predict_proba",
    "predict_log_proba",
    "predict_joint_log_proba",
    "score_samples",
    "decision_function",
    "expected_rank",
    "predict_interval",
    "transform",
)


def questions(model: Any, X: Any, many: Any) -> Iterator[tuple[str, Callable[[], Any]]]:
    """What is asked of a model, by name."""
    if isinstance(model, FactorGraph):
        yield "query", lambda: list(model.query().values())
        yield "most_probable", model.most_probable
        yield "log_partition", model.log_partition
        yield "repr", lambda: repr(model)
        yield "write_graph", lambda: written(model)
        return
    for name in ANSWERS:
        for rows in (X,) if many is None else (X, many):
            method = getattr(model, name, None)
            if method is not None:
                yield name, lambda method=method, rows=rows: method(rows)
    yield "repr", lambda: repr(model)
    if hasattr(model, "effect"):
        yield "effect", lambda: list(map(effect_of(model), model.term_names_))
    if hasattr(model, "n_bounded"):
        yield "n_bounded", lambda: model.n_bounded(X)
    if hasattr(model, "explain"):
        yield "explain", lambda: (model.explain(X), None)[1]
    if hasattr(model, "describe"):
        yield "describe", lambda: (str(model.describe()), None)[1]
    if getattr(model, "inference_", None) is not None and hasattr(model, "summary"):
        yield "summary", lambda: (str(model.summary()), None)[1]


def effect_of(model: Any) -> Callable[[str], Any]:
    """What the effect of a term holds."""
    return lambda term: (model.effect(term).effect, model.effect(term).se)


def written(graph: Any) -> None:
    """The graph as a file of each form."""
    with tempfile.TemporaryDirectory() as folder:
        for suffix in ("json", "uai", "bif", "xmlbif", "xdsl"):
            with suppress(LikelyError):
                likely.write_graph(graph, Path(folder) / f"graph.{suffix}")


def has_nan(answer: Any) -> bool:
    """Whether a number of an answer is NaN."""
    if isinstance(answer, tuple | list):
        return any(map(has_nan, answer))
    if answer is None or isinstance(answer, str):
        return False
    values = np.asarray(getattr(answer, "values", answer))
    return values.dtype.kind == "f" and bool(np.isnan(values).any())


def _many(X: Any, seed: int) -> Any:
    """The rows repeated until they reach the compiled loops, for some of the files."""
    if seed % 4:
        return None
    if isinstance(X, list):  # documents
        return X * (DOCUMENTS // len(X))
    repeats = CELLS // (len(X) * X.shape[1]) + 1
    if isinstance(X, np.ndarray):
        return np.tile(X, (repeats, 1))
    return X.iloc[np.tile(np.arange(len(X)), repeats)].reset_index(drop=True)


# --- how files are changed -------------------------------------------------------------------


def forged(content: bytes, rng: np.random.Generator) -> bytes:
    """A file with one to three changes and a right checksum."""
    header = MODELS.header(content, "")
    del header["checksum"]
    declared = header.pop("tensors")
    tensors = dict(sorted(MODELS.arrays(declared, MODELS.tensors(content, "")).items()))
    for _ in range(int(rng.integers(1, 4))):
        change = CHANGES[rng.integers(len(CHANGES))]
        change(header, tensors, rng)
    ordered = {
        name: np.asfortranarray(each) if declared[name][2] == "T" else np.ascontiguousarray(each)
        for name, each in tensors.items()
    }
    return bytes(MODELS.content(header, ordered))


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every place in a JSON value, as its holder and its key or position."""
    keys = range(len(value)) if isinstance(value, list) else value
    for key in list(keys) if isinstance(value, list | dict) else ():
        yield value, key
        yield from places(value[key])


def _place(header: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    found = [each for part in ("arguments", "fitted") for each in places(header[part])]
    return found[rng.integers(len(found))]


def _changed_number(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    found = [
        (holder, key)
        for part in ("arguments", "fitted")
        for holder, key in places(header[part])
        if isinstance(holder[key], int | float)
    ]
    if found:
        holder, key = found[rng.integers(len(found))]
        holder[key] = NUMBERS[rng.integers(len(NUMBERS))]


def _junk(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    holder, key = _place(header, rng)
    holder[key] = deepcopy(JUNK[rng.integers(len(JUNK))])


def _swapped(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    """Two values of the header change places."""
    (a, i), (b, j) = _place(header, rng), _place(header, rng)
    a[i], b[j] = deepcopy(b[j]), deepcopy(a[i])


def _removed(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    holder, key = _place(header, rng)
    del holder[key]


def _repeated(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    holder, key = _place(header, rng)
    if isinstance(holder, list):
        holder.insert(key, deepcopy(holder[key]))
    else:
        holder[f"{key}_"] = deepcopy(holder[key])


def _added(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    """An attribute that another class has."""
    name = LEARNED[rng.integers(len(LEARNED))]
    header["fitted"][name] = deepcopy((JUNK + NUMBERS)[rng.integers(len(JUNK) + len(NUMBERS))])


def _other_class(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    from likely.storage import registry

    names = [*registry.estimator_names(), "BayesianNetwork", "MarkovField", "FactorGraph"]
    parts = [*registry._parts()]
    named = [
        (holder, key)
        for part in ("arguments", "fitted")
        for holder, key in places(header[part])
        if isinstance(holder[key], str) and (key == "class" or holder[key] in parts)
    ]
    if named and rng.random() < 0.8:
        holder, key = named[rng.integers(len(named))]
        alike = [each for each in parts if each.partition(".")[0] == holder[key].partition(".")[0]]
        chosen = alike if rng.random() < 0.5 and len(alike) > 1 else parts
        holder[key] = chosen[rng.integers(len(chosen))]
    else:
        header["class"] = names[rng.integers(len(names))]


def _tensor(tensors: Any, rng: np.random.Generator) -> str | None:
    names = [name for name, each in tensors.items() if each.size]
    return names[rng.integers(len(names))] if names else None


def _cells(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    """Some cells of an array have another value."""
    if (name := _tensor(tensors, rng)) is not None:
        flat = tensors[name].reshape(-1)
        many = rng.integers(flat.size, size=int(rng.choice([1, 1, 2, flat.size])))
        value = CELLS_OF_ARRAYS[rng.integers(len(CELLS_OF_ARRAYS))]
        with np.errstate(all="ignore"):
            flat[many] = np.array(value).astype(flat.dtype)


def _function_of_array(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    if (name := _tensor(tensors, rng)) is not None:
        value = tensors[name]
        functions: list[Callable[[Any], Any]] = [
            lambda x: -x if x.dtype.kind != "b" else ~x,
            lambda x: x[::-1].copy() if x.ndim else x,
            lambda x: (x * 1e6).astype(x.dtype) if x.dtype.kind == "f" else x,
            lambda x: rng.permutation(x.ravel()).reshape(x.shape),
        ]
        with np.errstate(all="ignore"):
            tensors[name] = functions[rng.integers(len(functions))](value)


def _reshaped(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    if (name := _tensor(tensors, rng)) is not None:
        value = tensors[name]
        shapes: list[Callable[[Any], Any]] = [
            lambda x: x[:-1] if x.ndim else x,
            lambda x: np.concatenate([x, x]) if x.ndim else x[None],
            lambda x: x.ravel(),
            lambda x: x.T,
            lambda x: x[None],
            lambda x: x[..., :-1] if x.ndim else x,
            lambda x: x[:0] if x.ndim else x,
            lambda x: x.ravel()[0],
        ]
        tensors[name] = np.array(shapes[rng.integers(len(shapes))](value))


def _retyped(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    if (name := _tensor(tensors, rng)) is not None:
        types = ["bool", "int8", "int32", "int64", "uint64", "float16", "float32", "float64"]
        with np.errstate(all="ignore"):
            tensors[name] = tensors[name].astype(types[rng.integers(len(types))])


def _exchanged(header: Any, tensors: Any, rng: np.random.Generator) -> None:
    """Two arrays change places."""
    a, b = _tensor(tensors, rng), _tensor(tensors, rng)
    if a is not None and b is not None:
        tensors[a], tensors[b] = tensors[b], tensors[a]


CHANGES = (
    _changed_number,
    _changed_number,
    _junk,
    _swapped,
    _removed,
    _repeated,
    _added,
    _other_class,
    _cells,
    _cells,
    _function_of_array,
    _reshaped,
    _retyped,
    _exchanged,
)
ARRAYS = (_junk, _swapped, _removed, _repeated, _reshaped, _retyped, _exchanged)
FOREIGN = "foreign"
LEARNED = (
    "inference_",
    "coef_",
    "classes_",
    "schema_",
    "chain_",
    "network_",
    "beside_",
    "average_",
)


# --- the models ------------------------------------------------------------------------------


@cache
def saved_models() -> dict[str, tuple[bytes, Any]]:
    """By name: the file of a fitted model, and some rows that it answers."""
    from tests.laws.test_persistence import cases, fitted
    from tests.storage import test_learned

    found = {f"hashed-{k}": pair for k, pair in enumerate(_hashed())}
    for case in test_learned.named_cases():
        model, X, target = case.values
        found[f"{case.id}-settings"] = (
            bytes(file_content(test_learned.fitted(clone(model), X, target))),
            X[:ROWS],
        )
    for case in cases():
        model, X, _ = fitted(*case.values)
        found[str(case.id)] = (bytes(file_content(model)), X[:ROWS])
    found |= {f"graph-{k}": (bytes(file_content(graph)), None) for k, graph in enumerate(_graphs())}
    found |= dict(foreign_models())
    found |= {f"Prepared-{k}": pair for k, pair in enumerate(_prepared())}
    found |= {f"Additive-{k}": pair for k, pair in enumerate(_additive())}
    return found


def _graphs() -> Iterator[Any]:
    from likely.graphical.model.bayesian_network import BayesianNetwork
    from likely.graphical.model.factor import Factor
    from likely.graphical.model.markov_field import MarkovField

    edges = [("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")]
    network = BayesianNetwork.from_edges(edges, dict.fromkeys("abcd", 2))
    rows = {name: [str(i % (k + 2)) for i in range(30)] for k, name in enumerate("abc")}
    yield network
    yield BayesianNetwork.from_data(rows, structure="chow-liu")
    yield MarkovField([Factor(network.variables[:2], [[0.0, 1.0], [2.0, 0.0]], scale="log")])


def _prepared() -> Iterator[tuple[bytes, Any]]:
    from likely.workbench.models.registry import MODELS as ENTRIES
    from tests.laws.test_persistence import data

    frame, labels = data("mixed")
    frame["date"] = np.datetime64("2024-01-01") + np.arange(len(frame)).astype("timedelta64[D]")
    for model in (
        likely.NaiveBayes(),
        likely.LogisticRegression(l2=1.0),
        likely.NeuralNetworkClassifier(max_epochs=5, tol=None),
        likely.BayesianNetworkClassifier(),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = likely.Prepared(model).fit(frame, labels)
        yield bytes(file_content(fitted)), frame[:ROWS]
    assert ENTRIES


def _additive() -> Iterator[tuple[bytes, Any]]:
    """Additive models of every kind of term, alone and prepared."""
    from tests.laws.test_persistence import data

    frame, labels = data("mixed")
    frame["hour"] = np.arange(len(frame)) % 24
    three = np.where(frame["number"] > 5, "high", labels)
    pairs = [("number", "text"), ("number", "hour")]
    fits = [
        (likely.AdditiveModel(interactions=pairs), frame["count"] + 0.5),
        (likely.AdditiveModel("poisson", terms={"count": "category"}), frame["count"]),
        (likely.AdditiveModel("gamma", extrapolate="linear"), frame["count"] + 0.5),
        (likely.AdditiveModel("bernoulli", "probit"), labels == "yes"),
        (likely.AdditiveClassifier(interactions=pairs), labels),
        (likely.AdditiveClassifier(), three),
        (likely.AdditiveClassifier("ordinal"), three),
        (likely.Prepared(likely.AdditiveModel("poisson")), frame["count"]),
        (likely.Prepared(likely.AdditiveClassifier(interactions=pairs)), three),
    ]
    for model, y in fits:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fitted = model.fit(frame, np.asarray(y))
        yield bytes(file_content(fitted)), frame[:ROWS]


def _hashed() -> Iterator[tuple[bytes, Any]]:
    """Models of hashed words, whose columns are written as runs."""
    words = likely.BagOfWords(n_features=HASHED)
    texts = [f"{('cat', 'dog', 'bird', 'fish')[i % 4]} number {i}" for i in range(60)]
    labels = ["even", "odd"] * 30
    for model in (
        None,
        likely.NaiveBayes("bernoulli"),
        likely.NaiveBayes("multinomial", smoothing="auto"),
        likely.SoftmaxRegression(l2=1.0),
    ):
        presence = isinstance(model, likely.NaiveBayes) and model.event == "bernoulli"
        own = clone(words).set_params(binary=presence)
        fitted = likely.TextClassifier(model, own).fit(texts, labels)
        yield bytes(file_content(fitted)), texts[:ROWS]
    counts = words.fit_transform(texts).toarray()
    fitted = likely.NaiveBayes("multinomial").fit(counts, labels)
    yield bytes(file_content(fitted)), counts[:ROWS]


if __name__ == "__main__":
    sys.exit(main())
