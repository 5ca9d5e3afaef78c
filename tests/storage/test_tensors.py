"""Files of arrays with a header: what is written is read, and nothing else is."""

from hashlib import sha256

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from safetensors.numpy import load_file

from likely.errors import InvalidFile, InvalidInput
from likely.storage import tensors
from likely.storage.tensors import TENSOR_DTYPES, TensorFormat

FORM = TensorFormat("test", "a thing", "likely.things", "Make it again.")
ARRAYS = {
    **{name: np.ones(3, dtype=name) for name in TENSOR_DTYPES},
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "empty": np.empty((0, 2)),
    "no rows in Fortran order": np.empty((2, 0)).T,
    "one number": np.array(3.0),
}
COUNTS = np.arange(5000.0) % 300


def read(path):
    content = FORM.read(path, path)
    tensors, header = FORM.tensors(content, path), FORM.header(content, path)
    FORM.check(header, tensors, path)
    return header, FORM.arrays(header["tensors"], tensors)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "thing").write_bytes(bytes(FORM.content({"words": ["a", 1, None]}, ARRAYS)))
    return tmp_path / "thing"


def test_arrays_of_every_type_and_order_come_back(path):
    header, arrays = read(path)
    assert header["words"] == ["a", 1, None]
    assert set(arrays) == set(ARRAYS)
    for name, array in ARRAYS.items():
        assert_array_equal(arrays[name], array)
        assert arrays[name].dtype == array.dtype
        assert arrays[name].flags.writeable
    assert arrays["fortran"].flags.f_contiguous


def there_and_back(tmp_path, array):
    """The array that is read, and how many bytes a number of it has in the file."""
    (tmp_path / "thing").write_bytes(bytes(FORM.content({}, {"array": array})))
    stored = load_file(tmp_path / "thing")["array"]
    return read(tmp_path / "thing")[1]["array"], stored.dtype.itemsize


@pytest.mark.parametrize(("largest", "n_bytes"), [(255, 1), (256, 2), (65_536, 4), (2**32 - 1, 4)])
def test_many_whole_numbers_are_stored_in_as_few_bytes_as_they_need(tmp_path, largest, n_bytes):
    array = np.asfortranarray(np.minimum(COUNTS, 255).reshape(2, -1))
    array[1, 7] = largest
    back, stored = there_and_back(tmp_path, array)
    assert_array_equal(back, array)
    assert (back.dtype, back.flags.f_contiguous, stored) == (np.float64, True, n_bytes)


@pytest.mark.parametrize("other", [-0.0, -1.0, 0.5, 2.0**32, 1e300, np.nan, np.inf, -np.inf])
def test_other_numbers_keep_all_their_bits(tmp_path, other):
    array = COUNTS.copy()
    array[4321] = other
    back, stored = there_and_back(tmp_path, array)
    assert (back.tobytes(), stored) == (array.tobytes(), 8)


def test_few_whole_numbers_and_other_types_are_stored_as_they_are(tmp_path):
    assert there_and_back(tmp_path, COUNTS[:100])[1] == 8
    assert there_and_back(tmp_path, COUNTS.astype(np.float32))[1] == 4
    assert there_and_back(tmp_path, COUNTS.astype(np.int64))[1] == 8


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda x: x[::2, ::3]])
@pytest.mark.parametrize("piece", [8, 100, 900])
def test_an_array_is_written_in_pieces(tmp_path, monkeypatch, layout, piece):
    array = layout(np.random.default_rng(0).normal(size=(6, 7, 5)))
    whole = bytes(FORM.content({}, {"array": array, "b": np.arange(3, dtype=np.int8)}))
    monkeypatch.setattr(tensors, "PIECE", piece)
    content = FORM.content({}, {"array": array, "b": np.arange(3, dtype=np.int8)})
    assert b"".join(content) == whole
    assert max(map(len, list(content)[1:])) <= piece
    assert content.sha256() == sha256(whole).hexdigest()
    assert_array_equal(there_and_back(tmp_path, array)[0], array)


def test_an_array_whose_columns_lie_together_is_stored_as_its_transpose(path):
    assert_array_equal(load_file(path)["fortran"], ARRAYS["fortran"].T)


def test_an_array_is_declared_in_fortran_order_by_older_versions():
    array = np.arange(6.0).reshape(2, 3)
    stored = {"array": {"dtype": "F64", "shape": [2, 3], "data": array.tobytes()}}
    back = FORM.arrays({"array": ["float64", [2, 3], "F"]}, stored)["array"]
    assert_array_equal(back, array)
    assert back.flags.f_contiguous
    assert back.flags.writeable


def test_a_file_of_another_form_is_refused(path):
    other = TensorFormat("other", "another thing", "likely.others", "Make it again.")
    content = other.read(path, path)
    with pytest.raises(InvalidFile, match="without the header of another thing; expected one from"):
        other.header(content, path)
    with pytest.raises(InvalidFile, match="no such file; expected another thing from"):
        other.read(path.with_name("none"), "none")
    with pytest.raises(InvalidFile, match="is not a file"):
        other.read(path.parent, "folder")


def test_every_flipped_byte_of_the_content_is_noticed(path):
    content = path.read_bytes()
    for place in range(len(content) - 200, len(content), 7):
        changed = bytearray(content)
        changed[place] ^= 1
        path.write_bytes(bytes(changed))
        with pytest.raises((InvalidFile, InvalidInput)):
            read(path)
