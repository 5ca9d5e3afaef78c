"""The functions of Python give what the verbs give; progress is a stream that can be stopped."""

import json
import threading

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

import likely as lk
from likely import tasks
from likely.cli.main import run as run_command
from likely.errors import InvalidInput
from likely.output.progress import report, stage
from likely.tasks.curve_run import curve_of_run, curved
from likely.tasks.request import Caller, DataOptions, Exit, Refusal
from likely.tasks.tuning_run import TuneRequest, tuned
from likely.workbench.models.registry import entry_for
from tests.cli.conftest import patients


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "patients.csv").write_text(patients())
    return tmp_path


def result_of(capsys, *words):
    capsys.readouterr()
    assert run_command(["--json", *words]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(
    ("model", "settings", "words"),
    [
        ("naive-bayes", {}, []),
        ("logistic", {"l2": 3.0}, ["--set", "l2=3"]),
        ("naive-bayes", {}, ["-x", "3"]),
    ],
)
def test_train_in_python_is_the_verb(model, settings, words, folder, capsys):
    folds = 3 if "-x" in words else None
    found = lk.train(
        "patients.csv", "ill", model, settings=settings, folds=folds, drop=["visits"], run="python"
    )
    said = result_of(
        capsys,
        *("train", "patients.csv", model, "--target", "ill", "--drop", "visits", "-o", "verb"),
        *words,
    )
    ours = json.loads(json.dumps({**found.to_json(), "run": None}))
    assert ours == {**said["result"], "run": None}
    assert list(found.notes) == said["findings"]
    one, other = (lk.load(folder / name) for name in ("python", "verb"))
    new = pd.read_csv("patients.csv")[[*one.feature_names_in_]]
    np.testing.assert_array_equal(one.predict_proba(new), other.predict_proba(new))
    facts = json.loads((folder / "python" / "run.json").read_text())
    assert facts["command"].startswith(f"likely train patients.csv {model} --target ill")
    assert "log loss" in str(found)
    assert "Saved to python." in str(found)


def test_the_command_that_a_run_of_python_records_makes_the_same_run(folder, capsys):
    lk.train("patients.csv", "ill", "logistic", settings={"l2": 2.0}, folds=3, run="one")
    command = json.loads((folder / "one" / "run.json").read_text())["command"]
    words = command.split()[1:]
    words[words.index("one")] = "two"
    result_of(capsys, *words)
    one, two = (lk.load(folder / name) for name in ("one", "two"))
    new = pd.read_csv("patients.csv")[[*one.feature_names_in_]]
    np.testing.assert_array_equal(one.predict_proba(new), two.predict_proba(new))


def test_nothing_is_written_unless_a_run_is_asked_for(folder):
    found = lk.train("patients.csv", "ill", "naive-bayes")
    assert found.run is None
    assert [path.name for path in folder.iterdir()] == ["patients.csv"]
    assert lk.train("patients.csv", "ill", "naive-bayes", run="new").run.name == "001-naive-bayes"


@pytest.mark.parametrize("library", [pd, pl])
def test_predictions_are_those_of_the_verb_in_the_library_of_the_rows(library, folder, capsys):
    lk.train("patients.csv", "ill", "naive-bayes", run="r")
    result_of(capsys, "predict", "r", "patients.csv", "--proba", "--keep", "age", "-o", "out.csv")
    theirs = pd.read_csv("out.csv")
    found = lk.predict("r", library.read_csv("patients.csv"), proba=True, keep=["age"])
    frame = found.to_frame()
    assert isinstance(frame, library.DataFrame)
    assert list(frame.columns) == list(theirs.columns) == list(found.names)
    assert list(frame["prediction"]) == list(theirs["prediction"])
    assert_allclose(frame["p_yes"], theirs["p_yes"], rtol=1e-12)


def test_predictions_stream_to_an_iterator_and_to_a_file(folder):
    found = lk.train("patients.csv", "ill", "naive-bayes")
    chunks = list(lk.predict(found, "patients.csv"))
    assert sum(chunk.num_rows for chunk in chunks) == 200
    written = lk.predict(found, "patients.csv", output="p.parquet")
    assert written.n_rows == 200
    assert written.to_frame().column("prediction").to_pylist() == [
        value for chunk in chunks for value in chunk.column("prediction").to_pylist()
    ]


def test_results_print_as_tables(folder):
    found = lk.train("patients.csv", "ill", "naive-bayes")
    predicted = lk.predict(found, "patients.csv", proba=True, keep=["age"])
    head, *rows, last = str(predicted).splitlines()
    assert head.split() == ["age", "prediction", "p_no", "p_yes"]
    assert len(rows) == 10
    assert last == "The first 10 of 200 rows."
    assert predicted.to_frame().num_rows == 200  # printing reads nothing away
    assert str(predicted).splitlines() == [head, *rows, last]
    three = lk.predict(found, pd.read_csv("patients.csv")[:3], output="p.csv")
    assert str(three).endswith("Predictions of 3 rows, written to p.csv.")
    none = lk.predict(found, "patients.csv")
    assert sum(1 for _ in none) == 1
    assert "log loss" in str(found.score)
    assert "95 % interval" in str(found.score)
    assert str(found.verdict).startswith("The model is")


def test_predictions_are_not_written_over_their_input(folder):
    found = lk.train("patients.csv", "ill", "naive-bayes")
    before = (folder / "patients.csv").read_bytes()
    with pytest.raises(InvalidInput, match="also the input"):
        lk.predict(found, "patients.csv", output="patients.csv")
    assert (folder / "patients.csv").read_bytes() == before


@pytest.mark.parametrize("given", [{"threshold": 3}, {"threshold": "many"}, {"interval": 95}])
def test_a_threshold_or_level_beyond_0_and_1_is_refused_as_by_the_verb(given, folder, capsys):
    found = lk.train("patients.csv", "ill", "logistic", run="r")
    ((name, value),) = given.items()
    with pytest.raises(InvalidInput, match=f"{value!r} was given; a number between 0 and 1"):
        lk.predict(found, "patients.csv", **given)
    assert run_command(["predict", "r", "patients.csv", f"--{name}", str(value)]) == 1
    assert "was given; a number between 0 and 1" in " ".join(capsys.readouterr().err.split())


def test_explanations_of_a_run_are_those_of_the_verb(folder, capsys):
    lk.train("patients.csv", "ill", "naive-bayes", run="r")
    said = result_of(capsys, "explain", "r", "patients.csv", "--row", "7")["result"]
    found = lk.explain("r", "patients.csv", rows=[7])
    assert json.loads(json.dumps(found.to_json()))["rows"] == said["rows"]
    assert "row 7" in str(found)
    assert lk.explain("r").title  # without rows the model is described
    plain = lk.explain(lk.load("r"), pd.read_csv("patients.csv").iloc[[7]].drop(columns="ill"))
    assert_allclose(plain.contributions, found.explanation.contributions, rtol=1e-12)


@pytest.mark.parametrize(
    "model",
    [lk.NaiveBayes(), lk.Prepared(lk.LogisticRegression()), DecisionTreeClassifier(max_depth=2)],
)
@pytest.mark.parametrize("library", [pd, pl, np])
def test_the_rows_that_are_named_are_explained_of_a_model(model, library, folder):
    table = pd.read_csv("patients.csv")
    y, X = table["ill"], table[["age", "visits"]]
    X = {pd: X, pl: pl.from_pandas(X), np: X.to_numpy(float)}[library]
    fitted = clone(model).fit(X, y.to_numpy())
    whole, some = lk.explain(fitted, X), lk.explain(fitted, X, rows=[17, 3])
    assert some.rows == (17, 3)
    assert some.cells == (whole.cells[17], whole.cells[3])
    assert_allclose(some.contributions, whole.contributions[[17, 3]], rtol=1e-9, atol=1e-12)
    assert "row 17" in str(some)
    assert lk.explain(fitted, X, rows=17).rows == (17,)
    with pytest.raises(InvalidInput, match="Row 200 was given; X has 200 rows"):
        lk.explain(fitted, X, rows=[0, 200])


@pytest.mark.long
def test_one_row_of_a_run_is_a_number_and_rows_need_a_table(folder):
    found = lk.train("patients.csv", "ill", "naive-bayes")
    assert lk.explain(found, "patients.csv", rows=17).explanation.rows == (17,)
    with pytest.raises(InvalidInput, match=r"rows=\[17\] was given without X"):
        lk.explain(found, rows=[17])
    for wrong in ("17", [1.5], [True, False]):
        with pytest.raises(InvalidInput, match="numbers of rows, from 0, were expected"):
            lk.explain(found, "patients.csv", rows=wrong)
    steps = lk.HiddenMarkovModel(2, random_state=0).fit(pd.read_csv("patients.csv")[["age"]])
    with pytest.raises(InvalidInput, match=r"other rows of its sequence\. Leave rows out"):
        lk.explain(steps, pd.read_csv("patients.csv")[["age"]], rows=3)


def test_a_study_predicts_and_explains_with_its_best_settings(folder):
    study = lk.tune("patients.csv", "ill", model="naive-bayes", trials=3, folds=2)
    rows = pd.read_csv("patients.csv")
    found = lk.predict(study, rows, proba=True, keep=["age"]).to_frame()
    expected = study.refit().predict_proba(rows.drop(columns="ill"))
    assert_allclose(found[["p_no", "p_yes"]], expected, rtol=1e-12)
    assert lk.explain(study, rows, rows=[3]).predictions == (found["prediction"][3],)


def test_words_of_documents_are_explained(folder, capsys):
    texts = pd.DataFrame({"text": ["good film", "bad film"] * 20, "label": ["up", "down"] * 20})
    texts.to_csv("t.csv", index=False)
    lk.train("t.csv", "label", "naive-bayes", text=["text"], run="r")
    said = result_of(capsys, "explain", "r", "--text", "good good film")["result"]
    found = lk.explain("r", texts=["good good film"])
    assert json.loads(json.dumps(found.to_json()))["rows"] == said["rows"]
    assert "<" in found.html()


def test_documents_of_a_text_classifier_are_explained_word_by_word():
    model = lk.TextClassifier().fit(["good film", "bad film"] * 20, ["up", "down"] * 20)
    documents = pd.DataFrame({"text": ["good good film", "a bad one"]})
    found = lk.explain(model, documents, rows=1, against="up")
    assert found.chances[0][0] == ("down", model.predict_proba(["a bad one"])[0, 0])
    (told,) = found.explanations
    assert str(told) == str(model.explain("a bad one", "up"))
    assert isinstance(told.to_frame(), pd.DataFrame)
    assert str(lk.explain(model, texts="a bad one")) == str(found)
    assert str(lk.explain(model)) == str(model.describe())
    with pytest.raises(InvalidInput, match="X has 2 rows, numbered from 0"):
        lk.explain(model, documents, rows=2)
    with pytest.raises(InvalidInput, match="for RUNs and a TextClassifier"):
        lk.explain(lk.NaiveBayes().fit([[0.0], [1.0]], [0, 1]), texts=["a bad one"])


def test_a_final_score_in_python_is_that_of_the_verb(folder, capsys):
    lk.seal("patients.csv", "ill", name="patients", folder=".")
    lk.train("patients.seal", model="naive-bayes", run="r")
    found = tasks.final(folder / "r")
    assert found.model == "naive-bayes"
    assert found.files == (folder / "r" / "final.json",)
    said = result_of(capsys, "final", "r")["result"]  # does not use another evaluation
    ours = json.loads(json.dumps(found.to_json()))
    assert ours["verdict"] == said["verdict"]
    assert {**ours, "resumed": True} == {name: said[name] for name in ours}
    with pytest.raises(Refusal, match="is a SEAL"):
        tasks.final("patients.seal")


def test_the_curve_of_a_run_is_that_of_the_verb(folder, capsys):
    lk.train("patients.csv", "ill", "naive-bayes", run="r")
    heard = []
    with tasks.listening(heard.append):
        request = curve_of_run(Caller(), "r", None, DataOptions())
        found = curved(request, "size", [0.5, 1.0], folds=3, seed=0, metric=None)
    assert heard[0] == tasks.StageStarted("curve of naive-bayes", unit="fits")
    said = result_of(capsys, "curve", "r", "--values", "0.5,1", "--folds", "3")["result"]
    without_times = [
        [{**point, "seconds": 0} for point in facts["points"]]
        for facts in (json.loads(json.dumps(found.facts)), said)
    ]
    assert without_times[0] == without_times[1]
    assert found.kept


def test_a_search_in_python_writes_the_run_of_the_verb(folder, capsys):
    arguments = {"trials": 3, "folds": 3, "repeats": 1}
    options = DataOptions(target="ill")
    request = TuneRequest("patients.csv", entry_for("naive-bayes"), arguments, options)
    running = tasks.start(lambda: tuned(request, "python"))
    events = list(running)
    assert sum(getattr(event, "what", "") == "trials run" for event in events) == 3
    found = running.result()
    verb = ("tune", "patients.csv", "naive-bayes", "--target", "ill", "-o", "verb")
    said = result_of(capsys, *verb, *("--trials", "3", "--folds", "3", "--repeats", "1"))
    assert found.study.best_parameters_ == said["result"]["best_parameters"]
    assert found.trained.facts["scores"] == said["result"]["scores"]
    one, other = ({f.name for f in (folder / name).iterdir()} for name in ("python", "verb"))
    assert one == other


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda: lk.train("patients.csv", "sick", "logistic"), "There is no column 'sick'"),
        (lambda: lk.train("patients.csv", model="logistic"), "No target was given"),
        (lambda: lk.train("patients.csv", "ill", "logistics"), "There is no model 'logistics'"),
        (lambda: lk.train("patients.csv", "ill", "logistic", settings={"C": 1}), "setting"),
        (lambda: lk.train("patients.csv", "ill"), "No model was given"),
        (lambda: lk.predict("nowhere", "patients.csv"), "nowhere"),
        (lambda: lk.predict(lk.NaiveBayes(), "patients.csv"), "RUN folder"),
        (lambda: tasks.start(3), "function without arguments"),
    ],
)
def test_a_request_that_cannot_be_met_says_why(call, match, folder):
    with pytest.raises((lk.LikelyError, ValueError), match=match):
        call()


@pytest.mark.parametrize("role", ["drop", "category", "feature", "text", "order"])
@pytest.mark.parametrize("verb", ["dataset", "look", "compare", "train", "tune", "seal"])
def test_a_string_is_no_list_of_columns(role, verb, folder):
    model = {"train": {"model": "naive-bayes"}, "tune": {"model": "naive-bayes"}}.get(verb, {})
    model |= {"seal": {"name": "s", "folder": "."}}.get(verb, {})
    with pytest.raises(InvalidInput, match=rf"{role} is 'age'; a list .*Write {role}=\['age'\]"):
        getattr(lk, verb)("patients.csv", "ill", **model, **{role: "age"})


def test_options_that_exclude_each_other_are_refused_as_usage():
    with pytest.raises(Refusal, match="only ordinal targets") as found:
        DataOptions(kind="count", order=("a", "b"))
    assert found.value.exit == Exit.USAGE
    with pytest.raises(Refusal, match="held out by one of them"):
        DataOptions(group="a", by_time="b")


def test_events_are_the_stages_of_a_task_in_order(folder):
    running = tasks.start(lambda: lk.train("patients.csv", "ill", "naive-bayes", folds=3))
    events = list(running)
    stages = [type(event).__name__ for event in events if not hasattr(event, "amount")]
    assert stages == ["StageStarted", "StageEnded"] * 2  # the folds, and what the columns do
    assert any(hasattr(event, "amount") for event in events)
    assert [stages[0], stages[-1]] == [type(events[k]).__name__ for k in (0, -1)]
    assert running.result().score.n_rows == 200
    assert list(running) == []


def test_a_listener_hears_what_the_terminal_shows(folder):
    heard = []
    with tasks.listening(heard.append):
        lk.train("patients.csv", "ill", "naive-bayes")
    assert [e.what for e in heard if isinstance(e, tasks.StageStarted)] == [
        "scoring naive-bayes",
        "fitting naive-bayes",
        "measuring what the columns do",
    ]


@pytest.mark.parametrize(
    ("task", "what", "unit"),
    [
        (
            lambda: lk.compare("iris", models=["naive-bayes"], folds=2, repeats=1),
            "comparing",
            "fits",
        ),
        (
            lambda: lk.tune("iris", model="naive-bayes", trials=2, folds=2, repeats=1),
            "tuning naive-bayes",
            "trials run",
        ),
        (
            lambda: lk.learning_curve("iris", model="naive-bayes", values=[1.0], folds=2),
            "curve of naive-bayes",
            "fits",
        ),
        (
            lambda: list(lk.predict(lk.train("iris", model="naive-bayes"), "iris")),
            "predicting",
            "rows",
        ),
    ],
)
def test_each_long_task_is_a_stage_with_its_steps(task, what, unit):
    heard = []
    with tasks.listening(heard.append):
        task()
    names = [event.what for event in heard]
    began = next(
        k for k, e in enumerate(heard) if isinstance(e, tasks.StageStarted) and e.what == what
    )
    ended = names.index(what, began + 1)
    assert isinstance(heard[ended], tasks.StageEnded)
    assert heard[began].unit == unit
    assert unit in names[began:ended]


def test_a_cancelled_task_stops_at_its_next_step():
    began, go_on, steps = threading.Event(), threading.Event(), []

    def work():
        with stage("working", 1000):
            for k in range(1000):
                report("rows", 1)
                steps.append(k)
                began.set()
                go_on.wait(120)

    running = tasks.start(work)
    assert began.wait(120)
    running.cancel()
    go_on.set()
    with pytest.raises(KeyboardInterrupt):
        running.result(240)
    assert steps == [0]
    assert running.cancelled
    assert running.done
    assert type(list(running)[-1]).__name__ == "StageEnded"


def test_a_cancelled_comparison_stops_its_worker_threads(folder):
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(3000, 30)))
    table["y"] = (table[0] > 0).astype(int)
    running = tasks.start(lambda: lk.compare(table, "y", folds=20, repeats=20))
    next(iter(running))
    running.cancel()
    with pytest.raises(KeyboardInterrupt):
        running.result(240)


def test_an_error_of_a_task_is_raised_where_its_result_is_asked_for():
    running = tasks.start(lambda: lk.train("nowhere.csv", "y", "logistic"))
    list(running)
    with pytest.raises(lk.LikelyError, match="nowhere"):
        running.result()


def test_every_public_name_of_the_tasks_is_there():
    for name in tasks.__all__:
        assert getattr(tasks, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = tasks.nothing
