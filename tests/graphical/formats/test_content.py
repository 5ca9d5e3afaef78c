"""Compressed content: read by its first bytes, written by its suffix, and never without end."""

import gzip
import lzma

import pytest

from likely.errors import InvalidFile
from likely.graphical.formats import content
from likely.graphical.formats.content import file_content, format_suffix, write_content


@pytest.mark.parametrize("name", ["a.uai", "a.uai.gz", "a.uai.xz", "a.GZ"])
def test_what_is_written_is_read(tmp_path, name):
    path = tmp_path / name
    write_content(path, b"some bytes " * 100)
    assert file_content(path) == b"some bytes " * 100
    assert (path.stat().st_size < 200) == (name != "a.uai")
    first = path.read_bytes()
    write_content(path, b"some bytes " * 100)
    assert path.read_bytes() == first


def test_the_first_bytes_say_whether_it_is_compressed(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(b"plain, whatever its name")
    assert file_content(path) == b"plain, whatever its name"
    path.write_bytes(lzma.compress(b"one") + lzma.compress(b" two"))
    assert file_content(path) == b"one two"
    path.write_bytes(gzip.compress(b"one") + gzip.compress(b" two"))
    assert file_content(path) == b"one two"


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_content_that_expands_beyond_the_limit_is_refused(tmp_path, monkeypatch, compress):
    path = tmp_path / "a.bif"
    path.write_bytes(compress(bytes(3 * 2**20)))
    monkeypatch.setattr(content, "MOST_EXPANDED", 2 * 2**20)
    with pytest.raises(InvalidFile, match=r"expands to more than 2 MiB.*decompress it first"):
        file_content(path)


@pytest.mark.parametrize("compress", [gzip.compress, lzma.compress])
def test_damaged_content_is_refused(tmp_path, compress):
    path = tmp_path / "a.bif"
    whole = compress(bytes(range(256)) * 4)
    for damaged in (whole[:-9], whole[:20], whole + b"more", whole[:30] + b"\xff" + whole[31:]):
        path.write_bytes(damaged)
        with pytest.raises(InvalidFile, match=r"cannot be decompressed .*Get the file again"):
            file_content(path)


def test_a_dictionary_larger_than_any_file_needs_is_refused(tmp_path, monkeypatch):
    path = tmp_path / "a.bif"
    path.write_bytes(lzma.compress(b"a", preset=6))  # it asks for 9 MiB
    monkeypatch.setattr(content, "XZ_MEMORY", 2**22)
    with pytest.raises(InvalidFile, match=r"cannot be decompressed .*[Mm]emory"):
        file_content(path)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(InvalidFile, match=r"none.bif: it cannot be read \(No such file"):
        file_content(tmp_path / "none.bif")
    with pytest.raises(InvalidFile, match="Is a directory"):
        file_content(tmp_path)


def test_the_suffix_of_the_format_is_before_that_of_the_compression(tmp_path):
    names = {"a.bif": ".bif", "a.BIF.GZ": ".bif", "a.b.xz": ".b", "a.gz": "", "a": ""}
    assert {name: format_suffix(tmp_path / name) for name in names} == names
