"""Folders of texts: one for each class."""

import pytest

import likely as lk
from likely.data.arrow import in_one_table
from likely.errors import InvalidFile, LinksOutside


@pytest.fixture
def corpus(tmp_path):
    for name, text in {
        "b/2.txt": "zwei",
        "b/10.txt": "\ufeffzehn",
        "a/deep/x.txt": "tief",
        "a/1": "",
        "b/.hidden": "no",
        ".git/config": "no",
        "README": "no",
    }.items():
        path = tmp_path / "corpus" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "corpus"


def test_texts_are_in_the_order_of_their_names(corpus):
    table = in_one_table(lk.read(corpus))
    assert table["label"].to_pylist() == ["a", "a", "b", "b"]
    assert table["text"].to_pylist() == ["", "tief", "zehn", "zwei"]
    found = lk.dataset(str(corpus))
    assert found.target == "label" and found.declared_texts == ("text",)


def test_the_hash_is_of_names_and_contents(corpus):
    before = lk.dataset(str(corpus)).digest
    assert lk.dataset(corpus).digest == before
    (corpus / "README").write_text("more")
    assert lk.dataset(corpus).digest == before
    (corpus / "b" / "2.txt").rename(corpus / "b" / "3.txt")
    assert lk.dataset(corpus).digest != before


def test_bytes_that_are_no_text_are_refused_with_file_and_line(corpus):
    (corpus / "b" / "3.txt").write_bytes(b"one\ntwo \xe4\n")
    with pytest.raises(InvalidFile, match=r"3\.txt.*line 2.*0xe4"):
        in_one_table(lk.read(corpus))


def test_links_to_files_outside_the_folder_are_not_read(corpus, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    (corpus / "a" / "link.txt").symlink_to(secret)
    (corpus / "a" / "within.txt").symlink_to(corpus / "b" / "2.txt")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "1.txt").write_text("other")
    (corpus / "c").symlink_to(tmp_path / "other")
    with pytest.warns(LinksOutside, match=r"2 links to files outside .* such as a/link\.txt, are"):
        source = lk.read(corpus)
    assert in_one_table(source)["text"].to_pylist() == ["", "tief", "zwei", "zehn", "zwei"]


def test_a_folder_of_links_alone_is_refused(tmp_path):
    (tmp_path / "out.txt").write_text("text")
    (tmp_path / "links" / "a").mkdir(parents=True)
    (tmp_path / "links" / "a" / "1.txt").symlink_to(tmp_path / "out.txt")
    with pytest.raises(InvalidFile, match=r"1 links to files outside.*Copy the files"):
        lk.read(tmp_path / "links")
