"""Checkpoints: what is written is read, and what does not fit is refused in words."""

import json

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidFile, InvalidInput
from likely.neural.checkpoint import (
    CHECKPOINTS,
    Checkpoint,
    check_state,
    digest_of,
    read_checkpoint,
    write_checkpoint,
)
from likely.neural.history import LossCurve

MEANING = {"the architecture": "2-3-1", "l2": "0.5"}
STATE = {"theta": np.arange(5, dtype=np.float32), "slots": np.zeros((2, 5)), "step": np.array([7])}


@pytest.fixture
def path(tmp_path):
    curve = LossCurve((2.0, 1.0), (3.0, 2.5), (0.1, 0.05), (0.2, 0.3))
    found = Checkpoint(
        STATE,
        np.ones(5),
        curve,
        4.0,
        seed=3,
        phase=1,
        earlier=LossCurve((9.0,), (), (0.1,), (0.2,)),
    )
    write_checkpoint(tmp_path / "a.checkpoint", MEANING, found)
    return tmp_path / "a.checkpoint"


def test_what_is_written_is_read_bit_for_bit(path):
    found = read_checkpoint(path, MEANING)
    assert set(found.state) == set(STATE)
    for name, array in STATE.items():
        assert found.state[name].dtype == array.dtype
        assert_array_equal(found.state[name], array)
    assert_array_equal(found.best, np.ones(5))
    assert (found.start_loss, found.seed, found.phase) == (4.0, 3, 1)
    assert found.curve.validation == (3.0, 2.5)
    assert found.earlier is not None and found.earlier.loss == (9.0,)


def test_losses_that_are_not_finite_are_kept(tmp_path):
    found = Checkpoint(STATE, np.ones(5), LossCurve((np.inf,), (), (0.1,), (0.2,)), np.inf, seed=0)
    write_checkpoint(tmp_path / "b", MEANING, found)
    again = read_checkpoint(tmp_path / "b", MEANING)
    assert (again.start_loss, again.curve.loss, again.earlier) == (np.inf, (np.inf,), None)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"the architecture": "2-4-1"}, "the architecture was 2-3-1, and is 2-4-1 now"),
        ({"l2": "1.0"}, "l2 was 0.5, and is 1.0 now"),
        ({"dropout": "0.1"}, "dropout was absent, and is 0.1 now"),
    ],
)
def test_another_training_is_refused(path, changed, message):
    with pytest.raises(InvalidFile, match=message):
        read_checkpoint(path, {**MEANING, **changed})


@pytest.mark.parametrize("share", [0.0, 0.01, 0.3, 0.99])
def test_a_file_that_is_cut_short_is_refused(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(InvalidFile, match="incomplete, or not a safetensors file"):
        read_checkpoint(path, MEANING)


def test_a_changed_file_is_refused(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    with pytest.raises(InvalidFile, match="changed or damaged"):
        read_checkpoint(path, MEANING)


def test_another_file_is_refused(tmp_path):
    with pytest.raises(InvalidFile, match="no such file; expected a checkpoint"):
        read_checkpoint(tmp_path / "none", MEANING)
    import likely

    model = likely.Discretizer(edges=[1.0]).fit([[0.0], [2.0]])
    likely.save(model, tmp_path / "model.likely")
    with pytest.raises(InvalidFile, match="without the header of a checkpoint"):
        read_checkpoint(tmp_path / "model.likely", MEANING)


def test_a_digest_tells_arrays_apart():
    a = np.arange(6.0)
    assert digest_of(a) == digest_of(a.copy())
    assert len({digest_of(a), digest_of(a.reshape(2, 3)), digest_of(a + 1), digest_of(a, a)}) == 4


def changed_file(path, header=lambda head: None, arrays=lambda tensors: None):
    """The checkpoint after changes, its checksum right."""
    content = path.read_bytes()
    head = CHECKPOINTS.header(content, path)
    del head["checksum"]
    tensors = dict(CHECKPOINTS.arrays(head.pop("tensors"), CHECKPOINTS.tensors(content, path)))
    header(head)
    arrays(tensors)
    path.write_bytes(bytes(CHECKPOINTS.content(head, tensors)))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"header": lambda head: head.update(phase=2)}, "phase is '2'"),
        ({"header": lambda head: head.update(seed=-1)}, "seed must be 0 or more"),
        ({"header": lambda head: head.update(start_loss="nan")}, "start_loss must be numbers"),
        ({"header": lambda head: head.update(start_loss=[[1]])}, "not well formed"),
        ({"arrays": lambda arrays: arrays.pop("curve.loss")}, "it has no curve of losses"),
        ({"arrays": lambda arrays: arrays.pop("earlier.loss")}, "without the epochs before it"),
        ({"arrays": lambda arrays: arrays.pop("best")}, "not well formed"),
        ({"arrays": lambda arrays: arrays.update(best=np.full(5, np.nan))}, "best must be finite"),
        ({"arrays": lambda arrays: arrays.update(best=np.ones(4))}, "state.theta has"),
        (
            {"arrays": lambda arrays: arrays.update({"state.slots": np.full((2, 5), np.inf)})},
            "The state's slots must be finite",
        ),
        (
            {"arrays": lambda arrays: arrays.update({"curve.rate": np.ones(9)})},
            "rate has 9 entries",
        ),
    ],
)
def test_what_no_training_writes_is_refused(path, change, message):
    changed_file(path, **change)
    with pytest.raises(InvalidFile, match=message):
        read_checkpoint(path, MEANING)


def test_a_nested_header_is_refused(path):
    deep = "[" * 100_000 + "]" * 100_000
    header = json.dumps({"__metadata__": {CHECKPOINTS.key: deep}}).encode()
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with pytest.raises(InvalidFile):
        read_checkpoint(path, MEANING)


def test_a_state_of_another_shape_is_refused():
    check_state(STATE, STATE)
    name = next(iter(STATE))
    with pytest.raises(InvalidInput, match=f"The state's {name}"):
        check_state({**STATE, name: STATE[name][..., :-1]}, STATE)
    with pytest.raises(InvalidInput, match="The arrays of the state"):
        check_state({**STATE, "more": np.ones(1)}, STATE)
    pairs = {"steps": np.ones((2, 5)), "changes": np.ones((2, 5))}
    check_state(pairs, {"steps": np.empty((0, 5)), "changes": np.empty((0, 5))})
    with pytest.raises(InvalidInput, match="The state's steps"):
        check_state({**pairs, "steps": np.array(1.0)}, pairs)
