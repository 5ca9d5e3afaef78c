"""Mailboxes: parts, encodings and headers of messages."""

import mailbox
from email.message import EmailMessage

import pytest

import likely as lk
from likely.data.arrow import in_one_table
from likely.errors import InvalidFile


def box_of(path, *messages):
    box = mailbox.mbox(path)
    for message in messages:
        box.add(message)
    box.close()
    return path


def message(text="plain words", subject="Grüße", **headers):
    found = EmailMessage()
    found["Subject"] = subject
    for name, value in headers.items():
        found[name.replace("_", "-")] = value
    found.set_content(text, cte="base64")
    return found


def test_a_row_has_the_subject_the_text_and_the_headers(tmp_path):
    path = box_of(tmp_path / "a.mbox", message(X_Label="työ"), message("naïve — text"))
    table = in_one_table(lk.read(path))
    assert table["text"].to_pylist() == ["Grüße\nplain words\n", "Grüße\nnaïve — text\n"]
    assert table["X-Label"].to_pylist() == ["työ", None]
    assert table.column_names[:2] == ["text", "Subject"]


def test_html_is_read_only_where_there_is_no_plain_text_and_attachments_are_not(tmp_path):
    both = message("plain")
    both.add_alternative("<p>not <b>this</b></p>", subtype="html")
    both.add_attachment(b"secret", maintype="text", subtype="plain", filename="a.txt")
    page = EmailMessage()
    page.set_content(
        "<head><title>t</title></head><p>caf&eacute; <b>noir</b><script>x()</script></p>",
        subtype="html",
    )
    path = box_of(tmp_path / "a.mbox", both, page)
    texts = in_one_table(lk.read(path).select(["text"]))["text"].to_pylist()
    assert texts == ["Grüße\nplain\n", "café noir"]


@pytest.mark.parametrize(
    ("charset", "data", "expected"),
    [
        ("latin-1", "grün".encode("latin-1"), "grün"),
        ("utf-8", b"gr\xfcn", "gr\ufffdn"),
        ("no-such-set", b"gr\xfcn", "grün"),
    ],
)
def test_character_sets_are_decoded_and_unknown_bytes_replaced(tmp_path, charset, data, expected):
    head = f"Content-Type: text/plain; charset={charset}\nContent-Transfer-Encoding: 8bit\n\n"
    (tmp_path / "a.mbox").write_bytes(b"From me Mon Jan  1 00:00:00 2024\n" + head.encode() + data)
    found = in_one_table(lk.read(tmp_path / "a.mbox"))
    assert found["text"].to_pylist() == [expected]


def test_a_header_of_raw_bytes_and_a_broken_address_are_read(tmp_path):
    (tmp_path / "a.mbox").write_bytes(
        b"From me Mon Jan  1 00:00:00 2024\n"
        b"Subject: gr\xfc\xdfe\nTo: <<>@@,;\nDate: no date\n\nhi\n"
    )
    found = in_one_table(lk.read(tmp_path / "a.mbox"))
    assert found["text"].to_pylist()[0].endswith("hi\n") and found.num_rows == 1


def test_a_file_that_is_no_mailbox_is_refused(tmp_path):
    (tmp_path / "a.mbox").write_text("Dear all,\n")
    with pytest.raises(InvalidFile, match="mbox"):
        lk.read(tmp_path / "a.mbox")
