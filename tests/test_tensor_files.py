"""Files of arrays with a header: what is written is read, and nothing else is."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from likely.errors import InvalidFile, InvalidInput
from likely.tensor_files import TENSOR_DTYPES, TensorFormat

FORM = TensorFormat("test", "a thing", "likely.things", "Make it again.")
ARRAYS = {
    **{name: np.ones(3, dtype=name) for name in TENSOR_DTYPES},
    "fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "empty": np.empty((0, 2)),
}


def read(path):
    content = FORM.read(path, path)
    tensors, header = FORM.tensors(content, path), FORM.header(content, path)
    FORM.check(header, tensors, path)
    return header, FORM.arrays(header["tensors"], tensors)


@pytest.fixture
def path(tmp_path):
    (tmp_path / "thing").write_bytes(FORM.content({"words": ["a", 1, None]}, ARRAYS))
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
