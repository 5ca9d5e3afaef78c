"""Files of texts as they come: words that look like missing cells, mailboxes, one class."""

import json
import mailbox
from email.message import EmailMessage

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely as lk

PLAIN = [("good", f"a warm day {i}") if i % 2 else ("bad", f"a cold day {i}") for i in range(20)]
ODD = [("NA", "NA"), ("None", "None"), ("null", "null")] * 4
OPTIONS = ("--text", "body", "--target", "label")


def told(outcome):
    return " ".join((outcome.out + outcome.err).split())


def write(path, rows):
    """The rows, and one without a label, and one without a text."""
    labels = [*(label for label, _ in rows), None, "good"]
    texts = [*(text for _, text in rows), "without a label", None]
    if path.suffix == ".parquet":
        pq.write_table(pa.table({"label": labels, "body": texts}), path)
    elif path.suffix == ".jsonl":
        both = zip(labels, texts, strict=True)
        path.write_text("".join(json.dumps({"label": a, "body": b}) + "\n" for a, b in both))
    else:
        mark = "," if path.suffix == ".csv" else "\t"
        both = zip(labels, texts, strict=True)
        lines = [mark.join([a or "", b or ""]) for a, b in both]
        path.write_text("\n".join([f"label{mark}body", *lines]) + "\n")


@pytest.mark.parametrize(
    ("suffix", "n_learned", "classes", "words"),
    [  # text files have no other way to write a missing cell than NA and null
        (".csv", 25, ["None", "bad", "good"], {"none"}),
        (".tsv", 25, ["None", "bad", "good"], {"none"}),
        (".jsonl", 33, ["NA", "None", "bad", "good", "null"], {"na", "none", "null"}),
        (".parquet", 33, ["NA", "None", "bad", "good", "null"], {"na", "none", "null"}),
    ],
)
def test_words_that_look_missing_are_documents_and_labels_where_null_is_written_otherwise(
    likely, tmp_path, suffix, n_learned, classes, words
):
    path = tmp_path / f"odd{suffix}"
    write(path, PLAIN + ODD)
    outcome = likely("train", path, "naive-bayes", *OPTIONS, "-o", "r", "--json")
    assert outcome.exit == 0, outcome.err
    found = outcome.json["result"]
    assert (found["rows"], found["classes"]) == (n_learned, classes)
    model = lk.load(tmp_path / "r" / "model.likely")
    assert words == {"na", "none", "null"} & {
        name.removeprefix("body: ") for name in model.preparation_.word_names
    }
    n_left = len(PLAIN + ODD) + 2 - n_learned
    left = f"{n_left} row{'s' * (n_left > 1)} without a target"
    assert any(note.startswith(left) for note in outcome.json["findings"])


@pytest.fixture
def box(tmp_path):
    """A mailbox with headers of all kinds."""
    made = mailbox.mbox(tmp_path / "mail.mbox")
    for i, (label, text) in enumerate(PLAIN):
        message = EmailMessage()
        message["From"], message["To"] = f"{i}@example.org", "me@example.org"
        message["Importance"], message["X-Label"] = f"level {i % 3}", label
        message["Message-ID"] = f"<{i}@example.org>"
        if i % 2:
            message["X-Seen"] = f"in {i % 4}"
        message.set_content(text)
        made.add(message)
    made.close()
    return tmp_path


@pytest.mark.parametrize("words", [("train", "mail.mbox", "naive-bayes"), ("compare", "mail.mbox")])
def test_a_mailbox_without_a_target_lists_the_headers_that_may_be_one(likely, box, words):
    outcome = likely(*words)
    assert outcome.exit == 2 and "the label of a message is one of its headers" in told(outcome)
    assert "X-Label (2 values), Importance (3 values). Add" in told(outcome)
    assert f"Next: likely {' '.join(words)} --target X-Label" in told(outcome)


def test_a_mailbox_without_labels_says_how_to_give_them(likely, tmp_path):
    made = mailbox.mbox(tmp_path / "mail.mbox")
    for _ in range(3):
        message = EmailMessage()
        message["To"] = "me@example.org"
        made.add(message)
    made.close()
    outcome = likely("train", "mail.mbox", "naive-bayes")
    assert outcome.exit == 2 and "label the messages with a header such as X-Label" in told(outcome)


def test_a_model_of_one_text_reads_folders_and_mailboxes_whatever_its_column_is_called(likely, box):
    write(box / "plain.csv", PLAIN)
    assert likely("train", "plain.csv", "naive-bayes", *OPTIONS, "-o", "r").exit == 0
    outcome = likely("predict", "r", "mail.mbox", "--keep", "X-Label")
    assert outcome.out.splitlines()[0] == "X-Label,prediction" and outcome.exit == 0
    assert [line.split(",")[1] for line in outcome.out.splitlines()[1:]] == [y for y, _ in PLAIN]
    (box / "new" / "unknown").mkdir(parents=True)
    (box / "new" / "unknown" / "1.txt").write_text("warm")
    assert likely("predict", "r", "new").out.splitlines() == ["prediction", "good"]
    assert "body: warm" in likely("explain", "r", "new").out


def test_a_folder_of_one_class_is_refused_with_advice(likely, tmp_path):
    (tmp_path / "mail" / "ham").mkdir(parents=True)
    for i in range(25):
        (tmp_path / "mail" / "ham" / f"{i}.txt").write_text(f"see you at {i}")
    outcome = likely("train", "mail", "naive-bayes")
    assert outcome.exit == 2
    assert "holds nothing but 'ham'" in told(outcome) and "Add rows with other values" in told(
        outcome
    )


def test_awkward_files_of_a_folder_are_read_or_named(likely, tmp_path):
    good, bad = tmp_path / "aw" / "good news", tmp_path / "aw" / "bad news"
    for folder in (
        good / "nested" / "deep",
        bad,
        tmp_path / "aw" / ".hidden",
        tmp_path / "aw/empty",
    ):
        folder.mkdir(parents=True)
    for i in range(15):
        (good / f"{i}.txt").write_text(f"warm bread {i}")
        (bad / f"{i}.txt").write_text(f"cold soup {i}")
    (good / "nested" / "deep" / "x.md").write_text("deep text")
    (good / "empty.txt").write_text("")
    (good / "bom.txt").write_bytes(b"\xef\xbb\xbfmarked\r\nby a byte order\r\n")
    for path in (tmp_path / "aw/.hidden/a.txt", bad / ".DS_Store", tmp_path / "aw/README"):
        path.write_bytes(b"\xff hidden")
    outcome = likely("train", "aw", "naive-bayes", "-o", "r", "--json")
    assert outcome.exit == 0, outcome.err
    found = outcome.json["result"]
    assert found["rows"] == 33 and found["classes"] == ["bad news", "good news"]
    words = {*lk.load(tmp_path / "r" / "model.likely").preparation_.word_names}
    assert {"text: deep", "text: marked"} <= words and "text: hidden" not in words
    for content, what in (
        (b"\xff\xfew\0a\0", "the file is text in UTF-16"),
        (b"\x89PNG\r\n\x1a\n\0", "the file is a picture"),
        (b"\x80\0\0", "the file is binary"),
        ("schöne Grüße".encode("latin-1"), "byte 0xf6 is not UTF-8"),
    ):
        (bad / "odd.bin").write_bytes(content)
        outcome = likely("train", "aw", "naive-bayes")
        assert outcome.exit == 2 and "odd.bin" in told(outcome) and what in told(outcome)


def test_quotes_line_ends_and_byte_order_marks_of_tables(likely, tmp_path):
    rows = "".join(f'"good, very","warm\r\nbread {i}"\r\nbad,cold soup {i}\r\n' for i in range(15))
    (tmp_path / "a.csv").write_bytes(b"\xef\xbb\xbf" + f"label,body\r\n{rows}".encode())
    lines = [json.dumps({"label": label, "body": text}) for label, text in PLAIN]
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    for name, n_rows, classes in (
        ("a.csv", 30, ["bad", "good, very"]),
        ("a.jsonl", 20, ["bad", "good"]),
    ):
        outcome = likely("train", name, "naive-bayes", *OPTIONS, "--json")
        assert outcome.exit == 0, outcome.err
        found = outcome.json["result"]
        assert (found["rows"], found["classes"]) == (n_rows, classes)


def test_each_line_of_standard_input_has_one_answer(likely, tmp_path):
    write(tmp_path / "plain.csv", PLAIN)
    assert likely("train", "plain.csv", "naive-bayes", *OPTIONS, "-o", "r").exit == 0
    long = "warm " * (1 << 20)  # 5 MB, longer than a block
    given = f"{long}\n\n\r\ncold\n\n{long}cold\nwarm"  # the last line has no end
    lines = likely("predict", "r", "-", stdin=given).out.splitlines()
    assert lines[0] == "prediction" and len(lines) == 1 + 7
    assert [lines[k] for k in (1, 4, 6, 7)] == ["good", "bad", "good", "good"]
