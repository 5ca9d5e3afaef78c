"""Texts on the command line: every kind of file, every verb, a pipe, and explanations."""

import html
import json
import mailbox
import os
import re
import subprocess
import sys
from email.message import EmailMessage

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import likely as lk

SPAM = [
    "win a cash prize now",
    "cheap pills for you",
    "free entry, text now to win",
    "urgent offer",
]
HAM = ["see you at lunch", "the meeting is at noon", "call me when you are home", "thank you all"]
N = 160


def messages(n=N, seed=0):
    """Labels and texts, with some noise."""
    rng = np.random.default_rng(seed)
    labels = np.where(rng.random(n) < 0.4, "spam", "ham").tolist()
    texts = []
    for i, label in enumerate(labels):
        kinds = [SPAM if (label == "spam") ^ (rng.random() < 0.1) else HAM for _ in range(3)]
        texts.append(f"{' '.join(kind[rng.integers(4)] for kind in kinds)} no {i}")
    return labels, texts


LABELS, TEXTS = messages()
SIZES = (50 * np.random.default_rng(1).random(N)).round(2).tolist()


@pytest.fixture
def files(tmp_path):
    """The messages in files of every format, and in folders."""
    table = pa.table({"label": LABELS, "body": TEXTS})
    pq.write_table(table, tmp_path / "sms.parquet")
    rows = [{"label": label, "body": text} for label, text in zip(LABELS, TEXTS, strict=True)]
    (tmp_path / "sms.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    for suffix, sign in ((".csv", ","), (".tsv", "\t")):
        lines = [sign.join(["label", "body"])]
        lines += [sign.join([row["label"], f'"{row["body"]}"']) for row in rows]
        (tmp_path / f"sms{suffix}").write_text("\n".join(lines) + "\n")
    box = mailbox.mbox(tmp_path / "sms.mbox")
    for i, row in enumerate(rows):
        folder = tmp_path / "sms" / row["label"]
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{i:03d}.txt").write_text(row["body"])
        message = EmailMessage()
        message["From"], message["X-Label"] = f"{i}@example.org", row["label"]
        message["Message-ID"] = f"<{i}@example.org>"
        message.set_content(row["body"])
        box.add(message)
    box.close()
    return tmp_path


def done(outcome):
    assert outcome.exit == 0, outcome.err
    return outcome.out + outcome.err


OPTIONS = ("--text", "body", "--target", "label")


@pytest.mark.parametrize("suffix", [".tsv", ".jsonl", ".parquet"])
def test_every_format_gives_the_same_table(files, suffix):
    found, other = (lk.dataset(files / f"sms{each}", "label") for each in (suffix, ".csv"))
    assert found.texts == ("body",)
    assert found.table.to_pydict() == other.table.to_pydict()


def test_a_run_is_that_of_the_estimator(likely, files):
    said = done(likely("train", "sms.csv", "naive-bayes", *OPTIONS, "-o", "r"))
    assert "Progressive validation" in said and "baseline" in said
    facts = json.loads((files / "r" / "run.json").read_text())
    assert facts["texts"] == facts["declared_texts"] == ["body"] and facts["columns"] == ["body"]
    assert facts["parameters"]["smoothing"] == "auto"
    assert facts["parameters"]["calibrate"] == "length"
    rows = pa.table({"body": TEXTS})
    model = lk.load(files / "r" / "model.likely")
    own = lk.Prepared(lk.NaiveBayes(smoothing="auto", calibrate="length")).fit(rows, LABELS)
    np.testing.assert_allclose(model.predict_proba(rows), own.predict_proba(rows), rtol=1e-9)


def test_a_folder_for_each_class_and_a_mailbox_are_read(likely, files):
    plain = ("--set", "calibrate=none")  # folds of rows in another order differ
    done(likely("train", "sms", "naive-bayes", *plain, "-o", "r"))
    folder = lk.load(files / "r" / "model.likely")
    done(likely("train", "sms.mbox", "naive-bayes", "--target", "X-Label", *plain, "-o", "s"))
    mail = lk.load(files / "s" / "model.likely")
    new = pa.table({"text": messages(seed=3)[1]})
    np.testing.assert_allclose(folder.predict_proba(new), mail.predict_proba(new), rtol=1e-9)
    done(likely("predict", "s", "sms.mbox", "--keep", "Message-ID", "-o", "out.csv"))
    lines = (files / "out.csv").read_text().splitlines()
    assert lines[0] == "Message-ID,prediction" and lines[1].startswith("<0@example.org>,")
    outcome = likely("train", "sms.mbox", "naive-bayes", "--target", "x-label")
    assert outcome.exit == 2 and "Did you mean 'X-Label'?" in " ".join(outcome.err.split())


def test_a_folder_without_classes_and_a_file_in_another_encoding_are_refused(likely, files):
    (files / "empty").mkdir()
    outcome = likely("train", "empty", "naive-bayes")
    assert outcome.exit == 2 and "a folder of texts for each class" in " ".join(outcome.err.split())
    (files / "sms" / "ham" / "zz.txt").write_bytes("grüße".encode("latin-1"))
    outcome = likely("train", "sms", "naive-bayes")
    assert outcome.exit == 2 and "zz.txt" in outcome.err and "UTF-8" in outcome.err


def test_losses_of_documents_that_were_not_learned_from_are_in_the_answer(likely, files):
    outcome = likely("train", "sms.csv", "naive-bayes", *OPTIONS, "--json")
    losses = outcome.json["result"]["progressive"]
    assert [each["rows"] for each in losses] == [N]
    assert losses[0]["loss"] < losses[0]["baseline"]
    assert not likely("train", "sms.csv", "logistic", *OPTIONS, "--json").json["result"][
        "progressive"
    ]


@pytest.mark.slow
def test_texts_go_from_look_to_report(likely, files):
    words = ("--folds", "3")
    done(likely("look", "sms.csv", "--text", "body", "--target", "label"))
    done(likely("seal", "sms.csv", *OPTIONS))
    said = done(likely("compare", "sms.seal", *words, "--repeats", "1"))
    assert "naive-bayes" in said and "logistic" in said and "they read no text: " in said
    done(likely("tune", "sms.seal", "naive-bayes", "--trials", "2", *words))
    done(likely("curve", "sms.seal", "naive-bayes", "--values", "0.5,1", *words))
    done(likely("train", "sms.seal", "naive-bayes", "-o", "r"))
    done(likely("final", "r"))
    done(likely("report", "r", "-o", "report.html"))
    assert "body: win" in (files / "report.html").read_text()


def test_a_text_beside_other_columns(likely, files):
    table = pa.table({"label": LABELS, "body": TEXTS, "size": SIZES})
    pq.write_table(table, files / "both.parquet")
    said = done(likely("train", "both.parquet", "logistic", "--target", "label", "-o", "r"))
    assert "Read as text" in said
    outcome = likely("predict", "r", "-", stdin="size,body\n3,free prize\n")
    assert outcome.exit == 0 and outcome.out.startswith("prediction\n")
    outcome = likely("explain", "r", "--text", "free prize")
    assert outcome.exit == 2 and "body, size" in " ".join(outcome.err.split())
    said = done(likely("explain", "r", "both.parquet", "--row", "0", "--top", "30"))
    assert "size" in said and "body: no" in said


@pytest.fixture
def run(likely, files):
    done(likely("train", "sms.csv", "naive-bayes", *OPTIONS, "-o", "r"))
    return files / "r"


def test_documents_are_read_from_standard_input(likely, run):
    given = "free entry, win a cash prize now\n\nsee you at lunch"
    outcome = likely("predict", "r", "-", "--proba", stdin=given)
    lines = outcome.out.splitlines()
    assert lines[0] == "prediction,p_ham,p_spam" and len(lines) == 4
    assert lines[1].startswith("spam,") and lines[3].startswith("ham,")
    model = lk.load(run / "model.likely")
    expected = model.predict_proba(pa.table({"body": given.split("\n")}))
    found = [[float(cell) for cell in line.split(",")[1:]] for line in lines[1:]]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert likely("predict", "r", "-", stdin="").out == "prediction\n"


@pytest.mark.long
def test_a_line_is_answered_before_the_next_is_written(run):
    code = "import sys; from likely.cli.main import main; sys.argv[0] = 'likely'; sys.exit(main())"
    child = subprocess.Popen(
        [sys.executable, "-c", code, "predict", str(run), "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.stdin is not None and child.stdout is not None
    answers = []
    for line in (b"free cash prize win\n", b"see you at lunch, thank you\n"):
        child.stdin.write(line)
        child.stdin.flush()
        if not answers:
            assert child.stdout.readline() == b"prediction\n"
        answers.append(child.stdout.readline())
    assert answers == [b"spam\n", b"ham\n"]
    many = b"win a cash prize now\n" * 20_000  # more than a pipe holds
    rest, _ = child.communicate(many, timeout=240)
    assert rest == b"spam\n" * 20_000 and child.returncode == 0


def test_bytes_that_are_no_text_are_noted_and_do_not_end_a_stream(likely, run, monkeypatch):
    import io

    stdin = io.TextIOWrapper(io.BytesIO(b"lunch\nwin a \xff prize\nlunch \xff\n"))
    monkeypatch.setattr(sys, "stdin", stdin)
    outcome = likely("predict", "r", "-")
    assert outcome.exit == 0 and "Line 2" in outcome.err and "0xff" in outcome.err
    assert outcome.out.split() == ["prediction", "ham", "spam", "ham"]
    assert outcome.err.count("is not UTF-8") == 1 and "Line 3" not in outcome.err


def test_a_document_is_explained_word_by_word(likely, run):
    said = done(likely("explain", "r", "--text", "free prize at lunch"))
    assert said.split("\n\n")[1] == "free prize at lunch" and "probability: " in said
    assert re.search(r"^prize +[+-]\d", said, re.MULTILINE)
    outcome = likely("explain", "r", "--text", SPAM[0], "--text", HAM[0], "--json")
    rows = outcome.json["result"]["rows"]
    assert [word["word"] for word in rows[0]["words"]] == ["win", "cash", "prize", "now"]
    assert [row["prediction"] for row in rows] == ["spam", "ham"]
    outcome = likely("explain", "r", "sms.csv", "--text", "prize")
    assert outcome.exit == 1 and "Leave one of them out" in " ".join(outcome.err.split())


@pytest.mark.parametrize("model", ["logistic", "softmax", "naive-bayes"])
def test_words_in_place_add_up_to_what_the_run_predicts(likely, files, model):
    """Counts, or weights that are scaled: the total is the log-odds of the model itself."""
    done(likely("train", "sms.csv", model, *OPTIONS, "-o", "r"))
    texts = ["free prize at lunch lunch", "", SPAM[2]]
    given = [part for text in texts for part in ("--text", text)]
    rows = likely("explain", "r", *given, "--json").json["result"]["rows"]
    log_proba = lk.load(files / "r" / "model.likely").predict_log_proba(pa.table({"body": texts}))
    log_odds = np.abs(log_proba[:, 1] - log_proba[:, 0])
    np.testing.assert_allclose([row["total"] for row in rows], log_odds, rtol=1e-9)
    swapped = likely("explain", "r", "--text", texts[0], "--against", rows[0]["class"], "--json")
    assert swapped.json["result"]["rows"][0]["prediction"] == rows[0]["class"]
    assert swapped.json["result"]["rows"][0]["total"] == pytest.approx(-rows[0]["total"])
    for row in rows:
        assert sum(word["contribution"] for word in row["words"]) + row["base"] == pytest.approx(
            row["total"]
        )


def test_a_file_that_is_larger_than_memory_is_read_once(likely, files, monkeypatch):
    from likely.workbench.data import dataset
    from likely.workbench.scoring import progressive

    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(progressive, "AT_ONCE", 32)
    monkeypatch.setattr(progressive, "N_COLUMNS", 2**12)
    rows = [json.loads(line) for line in (files / "sms.jsonl").read_text().splitlines()]
    rows[3]["body"] = None
    (files / "big.jsonl").write_text("".join(json.dumps({**row, "n": 1}) + "\n" for row in rows))
    said = done(likely("train", "big.jsonl", "naive-bayes", *OPTIONS, "-o", "r"))
    assert "hashed" in said and "Progressive validation" in said and "Left out" in said
    told = " ".join(said.split())
    assert "Scored on the last 32 rows, predicted by a model of those before them." in told
    assert "of the best constant prediction for them (baseline)" in told
    model = lk.load(files / "r" / "model.likely")
    words = lk.BagOfWords(n_features=2**12)
    texts = [row["body"] or "" for row in rows]
    assert "calibrated on all of its 160 rows" in said
    bayes = lk.NaiveBayes("multinomial", smoothing="auto", calibrate="length")
    own = lk.TextClassifier(bayes, words)
    own.fit(texts, [row["label"] for row in rows])
    np.testing.assert_allclose(model.predict_proba(texts), own.predict_proba(texts), rtol=1e-6)
    outcome = likely("predict", "r", "-", stdin="win a cash prize now\nsee you at lunch\n")
    assert outcome.out == "prediction\nspam\nham\n"
    done(likely("predict", "r", "sms.csv", "--proba", "-o", "out.csv"))
    assert "prize" in done(likely("explain", "r", "--text", "a cash prize"))
    assert "160 documents" in done(likely("explain", "r"))
    done(likely("report", "r", "-o", "stream.html"))
    assert "Log loss" in (files / "stream.html").read_text()


@pytest.fixture
def large(files, monkeypatch):
    """Files are read as if they were larger than memory; big.csv has a weight, sorted.csv none."""
    from likely.workbench.data import dataset
    from likely.workbench.scoring import progressive

    monkeypatch.setattr(dataset, "IN_MEMORY_BYTES", 1)
    monkeypatch.setattr(progressive, "AT_ONCE", 32)
    monkeypatch.setattr(progressive, "N_COLUMNS", 2**12)
    rows = [f'{label},"{text}"' for label, text in zip(LABELS, TEXTS, strict=True)]
    weighed = [f"{row},{i % 7},{1 + i % 3}" for i, row in enumerate(rows)]
    (files / "big.csv").write_text("\n".join(["label,body,n,wt", *weighed]) + "\n")
    (files / "sorted.csv").write_text("\n".join(["label,body", *sorted(rows)]) + "\n")
    return files


def test_a_large_file_in_the_order_of_its_classes_has_no_score(likely, large):
    outcome = likely("train", "sorted.csv", "naive-bayes", *OPTIONS, "-o", "r")
    told = " ".join(done(outcome).split())
    note = "The file is sorted by its target 'label', or drifts, so progressive validation says"
    assert note in " ".join(outcome.out.split()) and note in " ".join(outcome.err.split())
    assert "Shuffle the lines (shuf" in told and "too few" not in told
    assert json.loads((large / "r" / "run.json").read_text())["scores"] is None


def test_a_large_file_of_texts_has_weights_and_no_groups(likely, large):
    done(likely("train", "big.csv", "naive-bayes", *OPTIONS, "--weight", "wt", "-o", "r"))
    facts = json.loads((large / "r" / "run.json").read_text())
    assert facts["columns"] == ["body"] and facts["roles"] == {"weight": "wt"}
    for option in ("--group", "--by-time"):
        outcome = likely("train", "big.csv", "naive-bayes", *OPTIONS, option, "n")
        assert outcome.exit == 1
        assert f"{option} n was given with a file of texts" in " ".join(outcome.err.split())


def test_the_docstrings_of_python_are_a_built_in_corpus(likely):
    found = lk.dataset("pydoc")
    assert found.target == "module" and found.texts == ("text",) == found.declared_texts
    assert found.table.num_rows > 1500 and len(set(found.table["module"].to_pylist())) > 10
    again = lk.dataset("pydoc")
    assert again.digest == found.digest
    outcome = likely("look", "pydoc", "--json")
    assert outcome.exit == 0 and outcome.json["result"]["target"] == "module"


def test_an_explained_document_is_written_as_a_page(likely, files):
    done(likely("train", "sms.csv", "naive-bayes", *OPTIONS, "-o", "r"))
    documents = ("--text", "win a <b>prize</b> now", "--text", "see you at lunch")
    outcome = likely("explain", "r", *documents, "-o", "why.html", "--json")
    assert outcome.json["files"] == ["why.html"]
    page = (files / "why.html").read_text()
    assert page.startswith("<!doctype html>") and page.count("log-odds") == 3  # with the title
    assert "background:rgba(" in page and ">lunch</span>" in page
    assert "<b>prize" not in page and "&lt;b&gt;" in page
    for words in (("-o", "why.html"), ("--text", "free", "-o", "why.txt")):
        refused = likely("explain", "r", *words)
        assert refused.exit == 1 and "words in colours" in " ".join(refused.err.split())


@pytest.mark.long
def test_a_report_on_texts_speaks_of_words_and_shows_whole_documents(likely, files):
    given = ("--set", "words.ngram_range=1,2")
    done(likely("train", "sms.csv", "naive-bayes", *OPTIONS, *given, "-o", "r"))
    said = " ".join(done(likely("report", "r", "-o", "report.html")).split())
    page = (files / "report.html").read_text()
    assert "Importance of columns (the model reads one column, body; Model has its words)" in said
    assert "run likely compare sms.csv --target label --text body" in said
    assert "words.ngram_range=[1, 2]" in page and "words__" not in page
    worst = lk.runs.read_run(files / "r").validation.surprising
    assert all(len(each["cells"]["body"]) > 40 for each in worst)
    for each in worst:
        assert html.escape(each["cells"]["body"], quote=False) in page
    table = pa.table({"label": LABELS, "body": TEXTS, "size": SIZES})
    pq.write_table(table, files / "both.parquet")
    done(likely("train", "both.parquet", "logistic", "--target", "label", "-o", "s"))
    done(likely("report", "s", "-o", "both.html"))
    assert "when a column is shuffled" in " ".join((files / "both.html").read_text().split())
