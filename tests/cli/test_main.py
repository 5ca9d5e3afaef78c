"""The command itself: start-up, help, global options, JSON, demo, models."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import likely as lk
from likely.cli.main import VERBS
from likely.cli.models import assigned, model_named, parameters
from likely.likelihoods.responses import RESPONSES
from likely.workbench.data.builtin_data import BUILTIN, builtin_table
from likely.workbench.models.registry import trainable
from tests.machine import costs_at_most, import_libraries, n_calls

SOURCE = str(Path(lk.__file__).parents[1])
KEYS = ["command", "version", "exit", "seed", "result", "findings", "files", "next"]
COMMAND = "from likely.cli.main import main; main()"
ALLOWED_CALLS = 200_000  # of functions; 83,000 were counted, half of them in click


def python(code, *words, **options):
    environment = {**os.environ, "PYTHONPATH": SOURCE, **options.pop("env", {})}
    return subprocess.run(
        [sys.executable, "-c", code, *words],
        capture_output=True,
        text=True,
        env=environment,
        timeout=240,
        **options,
    )


def test_help_is_quick():
    help = "from likely.cli.main import run; run(['--help'])"
    assert n_calls(help, PYTHONPATH=SOURCE) < ALLOWED_CALLS


@pytest.mark.parametrize(
    "words", [["--help"], ["train", "--help"], ["graph", "--help"], ["models"]]
)
def test_nothing_heavy_is_imported_for_help(words):
    code = (
        "import sys; from likely.cli.main import run; run(sys.argv[1:]);"
        "print({'sklearn', 'pyarrow', 'rich', 'scipy', 'numba', 'numpy'} & set(sys.modules))"
    )
    assert python(code, *words).stdout.splitlines()[-1] == "set()"


def test_help_lists_every_verb_and_ends_with_a_command(likely):
    outcome = likely("--help")
    assert outcome.exit == 0
    for verb, summary in VERBS.items():
        assert re.search(rf"{verb}\s+{re.escape(summary)}", outcome.out)
    assert likely().out == outcome.out
    assert outcome.out.rstrip().endswith("likely demo")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_the_global_options(likely, verb):
    said = likely(verb, "--help").out
    for option in ("--seed", "--jobs", "--quiet", "--no-color", "--json"):
        assert option in said


@pytest.mark.parametrize(
    "words",
    [
        ["models"],
        ["models", "mixture"],
        ["train", "iris", "naive-bayes"],
        ["train"],
        ["graph", "five-variables", "--given", "x4=1"],
        ["graph", "five-variables", "--given", "x4=2"],
    ],
)
def test_json_is_one_object_with_exactly_these_keys(likely, words):
    outcome = likely(*words, "--json")
    assert list(outcome.json) == KEYS
    assert outcome.err == ""
    assert outcome.json["exit"] == outcome.exit
    assert outcome.json["command"] == " ".join(["likely", *words, "--json"])
    assert outcome.json["version"] == lk.__version__


def test_global_options_may_stand_before_the_verb(likely):
    outcome = likely("--json", "--seed", "4", "train", "iris", "naive-bayes")
    assert outcome.json["seed"] == 4
    assert lk.load("runs/001-naive-bayes/model.likely").random_state == 4


def test_json_has_no_number_that_json_lacks(likely, tmp_path):
    rows = "".join(f"{'u' if i % 2 else 'v'},{i % 2}\n" for i in range(60))
    (tmp_path / "sure.csv").write_text("x,y\n" + rows + "u,0\nv,1\n" * 20)
    words = ("--target", "y", "--set", "smoothing=0", "--json")
    outcome = likely("train", "sure.csv", "naive-bayes", *words)
    assert outcome.exit == 0
    json.loads(outcome.out, parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))


def test_quiet_keeps_the_answer_and_drops_the_rest(likely):
    outcome = likely("train", "iris", "mixture", "--set", "n_components=2", "--quiet")
    assert "Saved to runs/001-mixture" in outcome.out
    assert "Next" not in outcome.out
    assert outcome.err == "Seed 0.\n"  # always printed


def test_the_seed_stands_beside_data_on_the_standard_output(likely):
    likely("train", "iris", "naive-bayes")
    outcome = likely("predict", "@last", "iris", "--quiet", "--seed", "3")
    assert outcome.err.splitlines()[-1] == "Seed 3."
    assert "Seed" not in outcome.out


def test_jobs_hold_for_the_command_only(likely, monkeypatch):
    monkeypatch.delenv("LIKELY_JOBS", raising=False)
    assert likely("train", "iris", "naive-bayes", "--jobs", "1").exit == 0
    assert "LIKELY_JOBS" not in os.environ
    assert likely("train", "iris", "naive-bayes", "--jobs", "0").exit == 1


@pytest.mark.parametrize("words", [["--no-color"], []])
def test_colours_can_be_turned_off(monkeypatch, words):
    from likely.cli.terminal import GlobalOptions

    monkeypatch.setenv("NO_COLOR", "" if words else "1")
    assert GlobalOptions(no_color=bool(words)).color is False
    monkeypatch.delenv("NO_COLOR")
    assert GlobalOptions().color is None


@pytest.mark.diagonal(2)
@pytest.mark.parametrize("words", ["predict @last digits --proba", "models naive-bayes"])
@pytest.mark.long
def test_a_reader_that_stops_early_is_no_error(likely, tmp_path, words):
    assert likely("train", "digits", "naive-bayes").exit == 0
    process = subprocess.Popen(
        [sys.executable, "-c", COMMAND, *words.split()],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": SOURCE},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=240) == 0


@pytest.mark.parametrize("name", [entry.name for entry in trainable()])
def test_every_parameter_of_every_model_is_documented(likely, name):
    outcome = likely("models", name)
    for parameter in parameters(model_named(name)):
        assert parameter.name in outcome.out
        assert len(parameter.doc) > 5, parameter.name


def test_a_model_for_classes_and_numbers_shows_both_of_its_estimators(likely):
    outcome = " ".join(likely("models", "additive").out.split())
    assert (
        "For a target of numbers: likely.AdditiveModel, whose response (--set response=" in outcome
    )
    assert "negative-binomial for counts, tweedie for amounts with many zeros, gaussian" in outcome
    assert set(RESPONSES) <= set(re.findall(r"[\w-]+", outcome))
    assert likely("models", "additive", "--json").json["result"]["for_numbers"] == "AdditiveModel"
    assert "likely.NeuralNetworkRegressor" in likely("models", "neural-network").out
    assert "For a target of numbers" not in likely("models", "glm").out


@pytest.mark.parametrize("name", BUILTIN)
def test_built_in_tables_have_tidy_names_and_their_target_last(name):
    table = builtin_table(name)
    assert table.column_names[-1] == BUILTIN[name].target
    assert all(re.fullmatch(r"\w+", column) for column in table.column_names)
    assert sum(column.null_count for column in table.columns) == 0


DEMO_IMPORTS = 50  # times what the libraries need to be imported: a minute was promised


@pytest.mark.slow
def test_the_demo_takes_less_than_a_minute(likely):
    folders = iter("abcd")
    demo = lambda: likely("demo", "-o", next(folders))  # noqa: E731
    assert costs_at_most(DEMO_IMPORTS, import_libraries, demo)


@pytest.mark.long
def test_the_demo_tells_the_whole_story_and_ends_with_the_report(likely, tmp_path):
    outcome = likely("demo", "-o", "story")
    assert outcome.exit == 0
    for verb in ("look", "seal", "compare", "tune", "final", "report"):
        assert f"$ likely {verb}" in outcome.out
    assert "114 sealed rows; evaluation 1 of 1. Baseline (constant)" in " ".join(
        outcome.out.split()
    )
    facts = json.loads((tmp_path / "story/runs/001-logistic/final.json").read_text())
    assert facts["interval"][1] < facts["baseline"] / 2
    report = tmp_path / "story" / "report.html"
    assert "Report: story/report.html" in outcome.out
    assert report.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert [path.name for path in tmp_path.iterdir()] == ["story"]
    next_command = outcome.out.rstrip().splitlines()[-1].removeprefix("Next: likely ")
    assert likely(*next_command.split()).exit == 0


def test_names_and_values_of_the_data_cannot_steer_the_terminal(likely, tmp_path):
    evil = "\x1b]52;c;aGk=\x07\x1b[2J\x9b1A\u202e"
    rows = "".join(f"{k},{'a' if k % 2 else evil},{k % 3}\n" for k in range(60))
    (tmp_path / "evil.csv").write_text(f"x,na{evil}me,y\n{rows}", encoding="utf-8")
    for words in (("look",), ("train", "naive-bayes"), ("look", "--mute", evil)):
        verb, *rest = words
        said = likely(verb, "evil.csv", *rest, "--target", "y")
        assert said.exit == (1 if evil in words else 0)
        for character in ("\x07", "\x1b]", "\x1b[2J", "\x9b", "\u202e"):
            assert character not in said.out + said.err
    assert "\\x1b]52" in likely("look", "evil.csv", "--target", "y").out


@pytest.mark.parametrize("verb", ["train", "compare", "tune", "curve", "models"])
def test_help_calls_a_setting_by_one_word(likely, verb):
    """What a user chooses is a setting; a parameter is what a fit estimates."""
    assert "parameter" not in likely(verb, "--help").out.lower()
    assert "parameter" not in likely("--help").out.lower()


@pytest.mark.parametrize(("word", "value"), [("no", False), ("Off", False), ("yes", True)])
def test_words_for_true_and_false_set_what_is_one_of_them(word, value):
    model = model_named("neural-network")
    texts = (f"early_stopping={word}", f"hidden={word}")
    assert assigned(model, texts) == {"early_stopping": value, "hidden": word}


def test_the_package_runs_as_the_command():
    shown = subprocess.run(
        [sys.executable, "-m", "likely", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": SOURCE},
    )
    assert shown.stdout.startswith(f"likely, version {lk.__version__}")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_shell_completes_commands_and_options(shell):
    """As docs/cli.rst says: a script for the shell, which asks for the words that fit."""
    code = "from likely.cli.main import main; import sys; sys.argv[0] = 'likely'; main()"

    def asked(**variables):
        known = {**os.environ, **variables}
        run = [sys.executable, "-c", code]
        return subprocess.run(run, env=known, capture_output=True, text=True).stdout

    assert f"_LIKELY_COMPLETE={shell}_complete" in asked(_LIKELY_COMPLETE=f"{shell}_source")
    if shell == "bash":
        words = {"COMP_WORDS": "likely com", "COMP_CWORD": "1"}
        assert asked(_LIKELY_COMPLETE="bash_complete", **words) == "plain,compare\n"
        words = {"COMP_WORDS": "likely compare --sec", "COMP_CWORD": "2"}
        assert asked(_LIKELY_COMPLETE="bash_complete", **words) == "plain,--seconds\n"
