"""Model files: how they are written, and every way in which one is refused."""

import errno
import json
import os
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file, save_file

import likely
import likely.runtime
from likely.distributions import (
    DiagonalGaussian,
)
from likely.errors import CannotWrite, InvalidFile
from likely.features.discretize import Discretizer
from likely.generative.naive_bayes import NaiveBayes
from likely.graphical.exact.chain import Chain
from likely.storage.model_file import load, save
from likely.storage.tensors import checksum_of

X = np.random.default_rng(0).normal(size=(30, 3))


@pytest.fixture
def fitted():
    return Discretizer(edges={0: [0.0, 1.0]}).fit(X)


@pytest.fixture
def path(tmp_path, fitted):
    save(fitted, tmp_path / "bins.likely")
    return tmp_path / "bins.likely"


def header_of(path):
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    return json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["likely"])


def forge(path, edit, tensors=None):
    """Rewrite a file as an attacker would: changed, with the checksum made right again."""
    header, tensors = header_of(path), load_file(path) if tensors is None else tensors
    del header["checksum"]
    edit(header)
    contents = (tensors[name].tobytes() for name in sorted(tensors))
    header["checksum"] = checksum_of(header, contents)
    save_file(tensors, path, metadata={"likely": json.dumps(header)})


def test_the_header_says_what_the_model_is(path):
    header = header_of(path)
    assert header["format"] == 2
    assert header["class"] == "Discretizer"
    assert header["arguments"]["strategy"] == "quantile"
    assert header["feature_names"] is None
    assert header["versions"]["likely"] == likely.__version__
    assert set(header["versions"]) == {"likely", "numpy", "safetensors", "scikit-learn"}
    assert len(header["checksum"]) == 64
    assert set(header["tensors"]) == set(load_file(path))


def test_equal_models_make_equal_files(tmp_path, fitted):
    save(fitted, tmp_path / "a")
    save(load(tmp_path / "a"), tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_an_unfitted_model_and_its_output_setting_are_kept(tmp_path):
    bins = Discretizer(n_bins=np.int64(7)).set_output(transform="pandas")
    save(bins, tmp_path / "m.likely")
    back = load(tmp_path / "m.likely")
    assert back.get_params() == bins.get_params()
    assert not hasattr(back, "edges_")
    assert type(back.fit(X).transform(X)).__name__ == "DataFrame"


def test_a_model_that_holds_a_model_is_kept(tmp_path, fitted):
    outer = Discretizer(edges=fitted)
    save(outer, tmp_path / "m.likely")
    assert_array_equal(load(tmp_path / "m.likely").edges.transform(X), fitted.transform(X))


def test_a_save_that_fails_leaves_the_old_file_and_nothing_else(path, fitted, monkeypatch):
    before = path.read_bytes()

    def no_space(descriptor):
        raise OSError(errno.ENOSPC, "no space left")

    monkeypatch.setattr(os, "fsync", no_space)
    fitted.n_bins = 9
    with pytest.raises(CannotWrite, match=r"bins\.likely cannot be written \(no space.*Free some"):
        save(fitted, path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == ["bins.likely"]


def test_file_and_folder_are_synced_around_the_renaming(tmp_path, fitted, monkeypatch):
    events, replace, fsync = [], os.replace, os.fsync
    monkeypatch.setattr(os, "replace", lambda *names: (events.append("rename"), replace(*names)))
    monkeypatch.setattr(os, "fsync", lambda fd: (events.append("sync"), fsync(fd)))
    save(fitted, tmp_path / "m.likely")
    assert events == ["sync", "rename", "sync"]


def test_an_existing_file_is_replaced(path, fitted):
    save(Discretizer(n_bins=2).fit(X), path)
    assert load(path).n_bins == 2


def test_missing_files_and_folders_are_refused(tmp_path):
    with pytest.raises(InvalidFile, match=r"m\.likely: there is no such file; .* Check the path"):
        load(tmp_path / "m.likely")
    with pytest.raises(InvalidFile, match="is not a file"):
        load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"abc", b"a,b\n1,2\n" * 9, b"\x02" + bytes(7) + b"{}"])
def test_files_of_another_kind_are_refused(tmp_path, content):
    (tmp_path / "m.likely").write_bytes(content)
    with pytest.raises(InvalidFile, match=r"safetensors file.*Check the name"):
        load(tmp_path / "m.likely")


def test_another_safetensors_file_is_refused(tmp_path):
    save_file({"a": np.zeros(2)}, tmp_path / "m.likely")
    with pytest.raises(InvalidFile, match="without the header of a model"):
        load(tmp_path / "m.likely")


def test_every_truncation_is_refused(path):
    content = path.read_bytes()
    for length in range(0, len(content), 7):
        path.write_bytes(content[:length])
        with pytest.raises(InvalidFile):
            load(path)


def test_every_flip_is_refused_or_harmless(path, fitted):
    content, rng = path.read_bytes(), np.random.default_rng(1)
    expected, refused = fitted.transform(X), 0
    for _ in range(300):
        changed = bytearray(content)
        changed[rng.integers(len(content))] ^= 1 << int(rng.integers(8))
        path.write_bytes(changed)
        try:
            assert_array_equal(load(path).transform(X), expected)
        except InvalidFile:
            refused += 1
    assert refused > 290


def nodes(value):
    """Every place in a JSON value, as its holder and its key or position."""
    keys = range(len(value)) if isinstance(value, list) else value
    for key in keys if isinstance(value, list | dict) else ():
        yield value, key
        yield from nodes(value[key])


def test_whatever_a_forged_header_holds_it_loads_or_is_refused(path):
    y = np.arange(30) % 2
    table = np.array([[*row, "ab"[label]] for row, label in zip(X, y, strict=True)], dtype=object)
    save(NaiveBayes().fit(table, y), path)
    whole, rng, refused = path.read_bytes(), np.random.default_rng(2), 0
    junk = [None, -1, 2.5, "os.system", [], {}, {"tuple": []}, {"class": "Bernoulli"}, [[1]]]

    def edit(header):
        places = [
            (holder, key) for part in ("arguments", "fitted") for holder, key in nodes(header[part])
        ]
        holder, key = places[rng.integers(len(places))]
        holder[key] = junk[rng.integers(len(junk))]

    for _ in range(200):
        path.write_bytes(whole)
        forge(path, edit)
        try:
            assert type(load(path)) is NaiveBayes
        except InvalidFile:
            refused += 1
    assert refused > 50  # how many of the random changes matter depends on the model


def test_a_changed_tensor_breaks_the_checksum(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    with pytest.raises(InvalidFile, match=r"changed or damaged .* SHA-256"):
        load(path)


def test_a_later_format_is_refused_whatever_its_checksum(path):
    forge(path, lambda header: header.update(format=3, news="unknown"))
    with pytest.raises(InvalidFile, match=r"format 3; likely .* reads format 2 and older ones"):
        load(path)


@pytest.mark.parametrize("format", [0, True, 1.0, "1", None, [1]])
def test_a_format_that_never_was_is_refused(path, format):
    forge(path, lambda header: header.update(format=format))
    with pytest.raises(InvalidFile, match="it has format"):
        load(path)


def put(*keys_and_value):
    *keys, last, value = keys_and_value

    def edit(header):
        for key in keys:
            header = header[key]
        header[last] = value

    return edit


def runs(*pairs):
    return {"repeats": ["tuple", list(pairs)]}


MEAN = {"part": ["DiagonalGaussian", {"mean": {"tensor": "n_bins_"}, "variance": 1}]}


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put("class", "os.system"), "estimator 'os.system'"),
        (put("class", "save"), "estimator 'save'"),
        (put("class", ["Discretizer"]), "estimator"),
        (put("news", 1), "fields of the header .* found .*news"),
        (put("arguments", "news", 1), "arguments of Discretizer .* found .*news"),
        (put("arguments", {}), "arguments of Discretizer"),
        (put("arguments", 3), "arguments of Discretizer"),
        (put("arguments", "edges", {"eval": "1"}), "kind of value 'eval'"),
        (put("arguments", "edges", {"class": "os.system"}), "part 'os.system'"),
        (put("arguments", "edges", {"class": "ExponentialFamily"}), "part 'ExponentialFamily'"),
        (put("arguments", "edges", {"part": ["Popen", {}]}), "part 'Popen'"),
        (put("arguments", "edges", MEAN), "fields of DiagonalGaussian .* mean, spherical, var"),
        (put("arguments", "edges", {"tensor": "news"}), "tensor 'news'"),
        (put("arguments", "edges", {"tensor": []}), "not well formed"),
        (put("arguments", "edges", {"scalar": ["object", 1]}), "type of number 'object'"),
        (put("arguments", "edges", {"scalar": ["int8", 300]}), "not well formed"),
        (put("arguments", "edges", {"scalar": ["float64", "1"]}), "number '1'"),
        (put("arguments", "edges", {"text": [[10**12], []]}), "has 0 entries where 1000000000000"),
        (put("arguments", "edges", {"text": [[-1, -1], ["a"]]}), "shape"),
        (put("arguments", "edges", {"objects": [[1], [{"class": "Bernoulli"}]]}), "cell 'ABCMeta'"),
        (put("arguments", "edges", {"dict": [[[], 1]]}), "not well formed"),
        (put("arguments", "edges", {"float": "1e999"}), "number '1e999'"),
        (put("arguments", "edges", {"exponential family": "news"}), "exponential family 'news'"),
        (put("arguments", "edges", {}), "tagged value has 0 entries"),
        (put("arguments", "edges", runs([0, 10**12])), "repeats values 1,000,000,000,000 times"),
        (put("arguments", "edges", runs(*[[0, 10**5]] * 20)), "repeats values 2,000,000 times"),
        (put("arguments", "edges", [runs([0, 10**6])] * 9), "repeats values 9,000,000 times"),
        (put("arguments", "edges", {"range": [0, 10**12, 1]}), "repeats values 1,000,000,000,000"),
        (put("arguments", "edges", {"range": [0, 10**30, 1]}), "not well formed"),
        (put("arguments", "edges", {"range": [0, 3, 0]}), "not well formed"),
        (put("arguments", "edges", {"range": [0, 3]}), "not well formed"),
        (put("arguments", "edges", {"range": [0, 3.0, 1]}), "range"),
        (put("arguments", "edges", {"range": 3}), "list"),
        (put("arguments", "edges", runs([0, -1])), "repeated -1 times; expected a whole number"),
        (put("arguments", "edges", runs([0, 1.5])), "repeated 1.5 times"),
        (put("arguments", "edges", runs([0, True])), "repeated True times"),
        (put("arguments", "edges", runs([0, "3"])), "repeated 3 times"),
        (put("arguments", "edges", runs([0])), "not well formed"),
        (put("arguments", "edges", {"repeats": ["set", [[0, 3]]]}), "kind of sequence 'set'"),
        (put("arguments", "edges", {"repeats": ["tuple", 3]}), "list"),
        (put("arguments", "edges", {"repeats": "tuple"}), "list"),
        (put("fitted", "__class__", 1), "attribute of Discretizer '__class__'"),
        (put("fitted", "transform", 1), "attribute of Discretizer 'transform'"),
        (put("fitted", "_sklearn_tags_", 1), "attribute of Discretizer"),
        (put("fitted", "n_features_in_", "3"), "n_features_in_ is '3'"),
        (put("fitted", "feature_names_in_", {"text": [[2], ["a", "b"]]}), r"feature_names_in_ has"),
        (put("feature_names", ["a"]), "feature names differ"),
        (put("tensors", "news", ["float64", [1], "C"]), "The tensors .* found"),
        (put("tensors", "n_bins_", ["int64", [3, 1], "C"]), "shape of tensor 'n_bins_'"),
        (put("tensors", "n_bins_", ["int32", [3], "C"]), "type of tensor 'n_bins_'"),
        (put("tensors", "n_bins_", ["object", [3], "C"]), "declared as 'object'"),
        (put("tensors", "n_bins_", ["int64", [3], "X"]), "in order 'X'"),
        (put("output", 3), "output"),
    ],
)
def test_a_forged_file_is_refused(path, edit, message):
    forge(path, edit)
    with pytest.raises(InvalidFile, match=message) as caught:
        load(path)
    assert str(caught.value).startswith(str(path))


def test_a_missing_tensor_is_refused(path):
    tensors = load_file(path)
    del tensors["n_bins_"]
    forge(path, lambda header: None, tensors)
    with pytest.raises(InvalidFile, match=r"The tensors were expected to be .*n_bins_"):
        load(path)


@pytest.mark.parametrize("depth", [900, 10**5])  # too deep for our reader, and for JSON's
def test_a_header_as_deep_as_a_well_is_refused(path, depth):
    header = header_of(path)
    header["arguments"]["edges"] = "here"
    text = json.dumps(header).replace('"here"', "[" * depth + "]" * depth)
    checksum = "0" * 64
    if depth < 1000:
        del (header := json.loads(text))["checksum"]
        tensors = load_file(path)
        contents = (tensors[name].tobytes() for name in sorted(tensors))
        checksum = checksum_of(header, contents)
    text = text.replace(header_of(path)["checksum"], checksum)
    save_file(load_file(path), path, metadata={"likely": text})
    with pytest.raises(InvalidFile, match="not well formed"):
        load(path)


def test_parts_that_do_not_fit_together_are_refused(path):
    fitted = likely.NaiveBayes("gaussian").fit(np.arange(12.0).reshape(6, 2), np.arange(6) % 3)
    counts, fitted.class_count_ = fitted.class_count_, np.ones(2)
    save(fitted, path)
    with pytest.raises(InvalidFile, match="class_count_ has 2 entries where 3"):
        load(path)
    fitted.class_count_ = counts
    distribution = DiagonalGaussian.trusted(np.zeros((3, 2)), np.ones((2, 2)))
    fitted.components_ = replace(fitted.components_, distribution=distribution)
    save(fitted, path)
    with pytest.raises(
        InvalidFile, match=r"DiagonalGaussian has shape \(3, 2\) and the variance \(2, 2\)"
    ):
        load(path)


@pytest.fixture
def linear_path(tmp_path):
    y = X[:, 0] + 0.1 * np.random.default_rng(1).normal(size=len(X))
    save(likely.LinearRegression().fit(X, y), tmp_path / "line.likely")
    return tmp_path / "line.likely"


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put("fitted", "coef_", {"tensor": "inference_.theta"}), "A row of coef_"),
        (put("fitted", "coef_", {"tensor": "inference_.covariance"}), "A row of coef_"),
        (put("fitted", "coef_", 1.0), "coef_ is .1.0., a float"),
        (put("fitted", "coding_", None), "coding_ is .None."),
        (put("fitted", "intercept_", {"tensor": "coef_"}), "intercept_"),
        (put("fitted", "n_features_in_", 2), "schema.kinds has 3"),
    ],
)
def test_a_linear_model_whose_parts_do_not_fit_is_refused(linear_path, edit, message):
    forge(linear_path, edit)
    with pytest.raises(InvalidFile, match=message):
        load(linear_path)


def test_an_inference_of_another_size_is_refused(linear_path):
    def edit(header):
        part = header["fitted"]["inference_"]["part"][1]
        part["names"] = {"tuple": ["a"]}

    forge(linear_path, edit)
    with pytest.raises(InvalidFile, match="theta has 4"):
        load(linear_path)


@pytest.mark.parametrize(
    ("chain", "message"),
    [
        (Chain(np.log(np.full(3, 1 / 3)), np.log(np.full((3, 3), 1 / 3))), "log_mixing has 2"),
        (Chain(np.zeros(2), np.zeros((2, 3))), "A row of log_transition"),
        (Chain(np.zeros((2, 2)), np.zeros((2, 2))), "The shape of log_start"),
    ],
)
def test_a_chain_of_other_states_is_refused(tmp_path, chain, message):
    model = likely.HiddenMarkovModel(2, random_state=0).fit(X)
    model.chain_ = chain
    save(model, tmp_path / "m.likely")
    with pytest.raises(InvalidFile, match=message):
        load(tmp_path / "m.likely")


def test_a_model_inside_a_model_is_checked_as_well(tmp_path):
    y = np.arange(len(X)) % 3
    model = likely.FrankHall(likely.LogisticRegression()).fit(X, y)
    save(model, tmp_path / "m.likely")

    def edit(header):
        header["fitted"]["estimators_"][1]["model"]["fitted"]["n_features_in_"] = 2

    forge(tmp_path / "m.likely", edit)
    with pytest.raises(InvalidFile, match="kinds has"):
        load(tmp_path / "m.likely")


def test_a_run_is_loaded_by_its_folder(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), [0, 1] * 3
    model = NaiveBayes().fit(X, y)
    save(model, tmp_path / "model.likely")
    assert_array_equal(load(tmp_path).predict(X), model.predict(X))


@pytest.mark.parametrize("load_file_of", [load, likely.runtime.load])
def test_a_nested_header_is_refused(tmp_path, load_file_of):
    deep = "[" * 100_000 + "]" * 100_000
    header = json.dumps({"__metadata__": {"likely": deep}}).encode()
    (tmp_path / "m.likely").write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(InvalidFile):
        load_file_of(tmp_path / "m.likely")
