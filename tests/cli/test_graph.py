"""``likely graph``: beliefs, best states, messages, and the files that it writes."""

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import likely as lk
from likely.cli.belief_tables import MOST_STATES, MOST_VARIABLES, bar, probability
from likely.examples import five_variables, four_cycle
from likely.graphical.methods import INFERENCE
from tests.cli.graphs import asia, chain, grid, records, suggested, words_of
from tests.graphical.model.test_exactness import WEIGHING

KEYS = ["command", "version", "exit", "seed", "result", "findings", "files", "next"]
FACTS = ["name", "kind", "variables", "factors", "edges", "tree", "parameters"]


# ── beliefs ───────────────────────────────────────────────────────────────────────────────────────


def test_beliefs_stand_beside_those_without_evidence(likely):
    outcome = likely("graph", "five-variables", "--given", "x4=1")
    assert outcome.exit == 0
    lines = [line.split() for line in outcome.out.splitlines()]
    assert ["variable", "state", "probability", "no", "evidence"] in lines
    assert ["x4", "1", "observed", "0.4180"] in lines
    assert ["x1", "0", "0.2105", "0.4000", "████░░░░"] in lines
    assert ["1", "0.7895", "0.6000", "████████████▒▒▒▒"] in lines
    assert (
        "Given x4=1, which has probability 0.4180. Exact, by messages on the tree." in outcome.out
    )


def test_the_object_has_the_beliefs_of_the_library(likely, network_file):
    said = likely("graph", network_file, "--given", "xray=yes", "--json").json
    expected = asia().query(given={"xray": "yes"})
    result = said["result"]
    assert list(said) == KEYS
    assert list(result["graph"]) == FACTS
    assert result["given"] == {"xray": "yes"}
    assert result["log_evidence"] == pytest.approx(expected.log_evidence, abs=1e-12)
    assert list(result["beliefs"]) == list(asia().names)
    for name, values in result["beliefs"].items():
        assert values == pytest.approx(expected[name], abs=1e-12)
        assert result["without_evidence"][name] == pytest.approx(asia().query(name)[name])
    assert (result["method"], result["exact"]) == ("junction-tree", True)


def test_a_field_says_log_z(likely):
    outcome = likely("graph", "four-cycle")
    log_z = four_cycle().log_partition()
    assert f"Without evidence (log Z {log_z:.4f})" in outcome.out
    assert "Markov field, 4 variables, 8 factors; its factor graph has cycles" in outcome.out
    facts = likely("graph", "four-cycle", "--json").json["result"]["graph"]
    assert (facts["edges"], facts["parameters"]) == (12, None)


def test_joints_have_a_line_for_each_combination(likely, network_file):
    outcome = likely("graph", network_file, "--query", "smoke", "--query", "lung, bronc")
    joint = asia().query([("lung", "bronc")])["lung", "bronc"]
    lines = [line.split() for line in outcome.out.splitlines()]
    assert ["lung", "bronc", "probability"] in lines
    for i, lung in enumerate(("yes", "no")):
        for j, bronc in enumerate(("yes", "no")):
            cells = [lung, bronc, f"{joint[i, j]:.4f}"]
            assert [line[:3] for line in lines].count(cells) == 1
    said = likely("graph", network_file, "--query", "lung,bronc", "--json").json["result"]
    assert said["joints"] == [{"variables": ["lung", "bronc"], "probability": joint.tolist()}]
    assert said["beliefs"] == {}


def test_large_joints_show_the_most_probable_cells(likely, tmp_path):
    lk.write_graph(chain(3, 4), tmp_path / "chain.json")
    outcome = likely("graph", "chain.json", "--query", "x0,x1,x2")
    lines = outcome.out.splitlines()
    assert sum(line.rstrip("█ ").endswith("0.2025") for line in lines) == 4  # ¼ · 0.9 · 0.9
    assert "… 40 others" in outcome.out


def test_a_name_with_a_comma_or_an_equals_sign_is_a_name(likely, tmp_path):
    network = lk.BayesianNetwork.from_tables(
        {"a,b": 2, "c=d": ["e=f", "g"]}, {"a,b": [0.5, 0.5], "c=d": [0.1, 0.9]}
    )
    lk.write_graph(network, tmp_path / "odd.json")
    said = likely("graph", "odd.json", "--query", "a,b", "--given", "c=d=e=f", "--json").json
    assert said["result"]["given"] == {"c=d": "e=f"}
    assert list(said["result"]["beliefs"]) == ["a,b"]


def test_soft_evidence_is_a_likelihood(likely, network_file):
    said = likely("graph", network_file, "--soft", "lung=0.2,0.8", "--json").json["result"]
    expected = asia().query(soft={"lung": [0.2, 0.8]})
    assert said["beliefs"]["smoke"] == pytest.approx(expected["smoke"], abs=1e-12)
    assert said["soft"] == {"lung": [0.2, 0.8]}
    text = likely("graph", network_file, "--soft", "lung=0.2,0.8").out
    assert "Given likelihoods of lung, log evidence -0.26" in text


def test_a_file_of_evidence_is_read_by_position(likely, tmp_path):
    (tmp_path / "seen.evid").write_text("1 3 1\n")
    said = likely("graph", "five-variables", "--evidence", "seen.evid", "--json").json["result"]
    assert said["given"] == {"x4": "1"}
    assert said["beliefs"]["x1"]["0"] == pytest.approx(4 / 19)


def test_many_variables_are_cut_to_those_that_the_evidence_changes_most(likely, tmp_path):
    lk.write_graph(chain(30), tmp_path / "chain.json")
    outcome = likely("graph", "chain.json", "--given", "x29=1")
    shown = [line.split()[0] for line in outcome.out.splitlines() if line.startswith("  x")]
    assert shown == ["x29", *(f"x{i}" for i in range(28, 28 - MOST_VARIABLES, -1))]
    assert "… and 9 more variables, whose probabilities the evidence changes by at most" in (
        words_of(outcome)
    )
    assert len(likely("graph", "chain.json", "--json").json["result"]["beliefs"]) == 30
    assert "… and 10 more variables; --query NAME" in words_of(likely("graph", "chain.json"))


def test_many_states_are_cut_to_the_most_probable(likely, tmp_path):
    lk.write_graph(chain(2, 40), tmp_path / "wide.json")
    outcome = likely("graph", "wide.json", "--query", "x1", "--given", "x0=7")
    rows = [line.split() for line in outcome.out.splitlines()]
    first = next(row for row in rows if row[:1] == ["x1"])
    assert first[:3] == ["x1", "7", "0.9000"]
    rest = next(row for row in rows if row[:1] == ["…"])
    assert rest[1:3] == [str(40 - MOST_STATES), "others"]
    assert float(rest[3]) == pytest.approx(0.1 * (40 - MOST_STATES) / 39, abs=1e-4)


def test_beliefs_without_evidence_that_do_not_fit_are_left_out_with_a_note(likely, tmp_path):
    lk.write_graph(grid(8), tmp_path / "grid.json")
    cut = [word for i in range(8) for word in ("--given", f"v{i}_4=0")]
    outcome = likely("graph", "grid.json", *cut, "--memory", "20kB", "--query", "v0_0")
    assert outcome.exit == 0, outcome.err
    assert "no evidence" not in outcome.out.split("observed")[0].splitlines()[3]
    assert "The beliefs without evidence are not shown: " in words_of(outcome)
    said = likely("graph", "grid.json", *cut, "--memory", "20kB", "--query", "v0_0", "--json").json
    assert (said["result"]["without_evidence"], said["result"]["log_evidence"]) == (None, None)


@pytest.mark.parametrize(
    ("p", "before", "drawn"),
    [(1.0, None, "█" * 20), (0.0, None, ""), (0.5, 0.25, "█" * 5 + "▒" * 5), (0.0, 0.1, "░░")],
)
def test_bars_show_what_was_gained_and_lost(p, before, drawn):
    assert bar(p, before) == drawn


def test_small_probabilities_keep_their_digits():
    assert [probability(p) for p in (0.0, 1.2342e-7, 0.00006, 0.5, 1.0)] == [
        "0.0000",
        "1.234e-07",
        "0.0001",
        "0.5000",
        "1.0000",
    ]


# ── the most probable states, and messages ────────────────────────────────────────────────────────


def test_the_most_probable_states_mark_what_was_observed(likely, network_file):
    outcome = likely("graph", network_file, "--given", "asia=yes", "--map")
    best = asia().most_probable({"asia": "yes"})
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["asia", "yes", "observed"] in rows
    assert ["dysp", best["dysp"]] in rows
    assert f"with probability {np.exp(best.log_probability):.4f}" in words_of(outcome)
    said = likely("graph", network_file, "--given", "asia=yes", "--map", "--json").json["result"]
    assert said["states"] == dict(best.states)
    assert said["log_score"] == pytest.approx(best.log_score)
    assert said["unique"] is True
    few = [
        line.split()[:1]
        for line in likely("graph", network_file, "--map", "--query", "lung").out.split("\n")
    ]
    assert ["lung"] in few
    assert ["dysp"] not in few


def test_ties_are_reported(likely, tmp_path):
    even = lk.MarkovField.from_potentials({"a": 2, "b": 2}, {("a", "b"): [[1, 0], [0, 1]]})
    lk.write_graph(even, tmp_path / "even.json")
    assert "Another configuration has the same probability." in words_of(
        likely("graph", "even.json", "--map")
    )
    assert likely("graph", "even.json", "--map", "--json").json["result"]["unique"] is False


def test_messages_are_the_trace_of_the_lectures(likely):
    words = ("graph", "five-variables", "--given", "x4=1", "--query", "x3", "--messages")
    outcome = likely(*words)
    rows = [line.split() for line in outcome.out.splitlines()]
    assert ["1a", "x5", "→", "fE", "x5", "0:", "1,", "1:", "1"] in rows
    assert ["6a", "fC", "→", "x3", "x3", "0:", "0.1694,", "1:", "0.2486"] in rows
    assert ["x3", "0", "0.4053", "████████"] in rows
    said = likely(*words, "--json").json["result"]
    assert [each["label"] for each in said["messages"]] == [
        "1a",
        "1c",
        "1d",
        "2a",
        "3a",
        "4a",
        "5a",
        "6a",
    ]
    assert (said["root"], said["semiring"]) == ("x3", "sum-product")
    assert said["log_partition"] == pytest.approx(np.log(0.418))
    assert said["beliefs"]["x3"]["0"] == pytest.approx(77 / 190)


def test_messages_in_both_directions_and_of_maxima(likely):
    both = likely("graph", "five-variables", "--messages", "--json").json["result"]
    assert len(both["messages"]) == 2 * five_variables().n_edges
    assert both["root"] is None
    words = ("graph", "five-variables", "--given", "x4=1", "--map", "--messages")
    best = likely(*words, "--json").json["result"]
    assert best["semiring"] == "max-sum"
    assert set(best["states"].values()) == {"1"}
    assert "The best states, followed back (log score -2.400)" in likely(*words).out


def test_messages_need_a_tree(likely):
    outcome = likely("graph", "four-cycle", "--messages")
    assert outcome.exit == 2
    assert "has a cycle through x4, x1, x2, x3" in words_of(outcome)
    assert likely(*suggested(outcome)).exit == 0


# ── files ─────────────────────────────────────────────────────────────────────────────────────────


def test_all_numbers_go_to_a_file(likely, network_file, tmp_path):
    said = likely("graph", network_file, "-o", "beliefs.csv", "--json").json
    assert said["files"] == ["beliefs.csv"]
    rows = records(tmp_path / "beliefs.csv")
    assert len(rows) == 16
    assert list(rows[0]) == ["variable", "state", "probability"]
    likely("graph", network_file, "--map", "-o", "best.jsonl")
    best = [json.loads(line) for line in (tmp_path / "best.jsonl").read_text().splitlines()]
    assert {row["variable"]: row["state"] for row in best} == dict(asia().most_probable().states)
    likely("graph", "five-variables", "--messages", "-o", "sent.csv")
    sent = records(tmp_path / "sent.csv")
    assert len(sent) == 2 * 2 * 9
    assert list(sent[0]) == ["step", "source", "target", "variable", "state", "value"]


def test_numbers_may_go_to_standard_output(likely, network_file):
    outcome = likely("graph", network_file, "--query", "lung", "-o", "-")
    assert outcome.out.splitlines()[0] == "variable,state,probability"
    assert len(outcome.out.splitlines()) == 3
    assert "Without evidence" in outcome.err
    refused = likely("graph", network_file, "-o", "-", "--json")
    assert refused.exit == 1
    assert "only one can be" in refused.json["findings"][0]


@pytest.mark.parametrize("suffix", ["uai", "bif", "xmlbif", "json", "bif.gz", "json.xz"])
def test_a_graph_is_written_in_another_format(likely, network_file, tmp_path, suffix):
    said = likely("graph", network_file, "--write", f"other.{suffix}", "--json").json
    assert said["files"] == [f"other.{suffix}"]
    other = lk.read_graph(tmp_path / f"other.{suffix}")
    assert [f.table.tolist() for f in other.factors] == [f.table.tolist() for f in asia().factors]
    assert any("names" in note for note in said["findings"]) == (suffix == "uai")


@pytest.mark.parametrize("suffix", ["svg", "dot", "txt"])
def test_a_picture_is_drawn_with_the_evidence_shaded(likely, network_file, tmp_path, suffix):
    outcome = likely("graph", network_file, "--given", "lung=yes", "--draw", f"asia.{suffix}")
    assert f"Wrote asia.{suffix}." in outcome.out
    drawn = (tmp_path / f"asia.{suffix}").read_text(encoding="utf-8")
    for name in asia().names:
        assert name in drawn
    if suffix == "svg":
        ElementTree.fromstring(drawn)
    if suffix == "txt":
        assert "● lung" in drawn


def test_messages_are_drawn_beside_the_edges(likely, tmp_path):
    words = ("graph", "five-variables", "--given", "x4=1", "--query", "x3", "--messages")
    assert likely(*words, "--draw", "sent.svg").exit == 0
    drawn = (tmp_path / "sent.svg").read_text(encoding="utf-8")
    assert "6a" in drawn
    assert "fC" in drawn


def test_no_input_is_overwritten(likely, network_file, tmp_path):
    before = (tmp_path / network_file).read_text()
    for option in ("--write", "-o", "--draw"):
        outcome = likely("graph", network_file, option, f"./{network_file}")
        assert outcome.exit == 2
        assert "is also an input" in words_of(outcome)
    assert (tmp_path / network_file).read_text() == before


def test_nothing_is_written_when_there_is_no_answer(likely, network_file, tmp_path):
    words = ("--given", "either=no", "--given", "lung=yes")
    assert likely("graph", network_file, *words, "--draw", "a.svg", "--write", "a.json").exit == 2
    assert [path.name for path in tmp_path.iterdir()] == [network_file]


# ── what it suggests, and what it loads ───────────────────────────────────────────────────────────


def test_each_answer_suggests_a_question_that_can_be_answered(likely, network_file):
    outcome = likely("graph", network_file)
    seen = []
    for _ in range(3):
        seen.append(suggested(outcome))
        outcome = likely(*seen[-1])
        assert outcome.exit == 0
    assert seen[0][2] == "--given"
    assert seen[1][-1] == "--map"
    assert seen[2][-2:] == ["--draw", "graph.svg"]


def test_the_help_names_the_methods_of_the_library(likely):
    text = " ".join(likely("graph", "--help").out.split())
    assert all(name in text for name in INFERENCE)


@pytest.mark.parametrize("method", ["auto", *INFERENCE])
def test_every_method_gives_the_same_answer(likely, method):
    words = ("graph", "five-variables", "--given", "x4=1", "--method", method, "--json")
    said = likely(*words).json["result"]
    assert said["beliefs"]["x1"]["0"] == pytest.approx(4 / 19)
    assert said["method"] == ("tree" if method == "auto" else method)


def test_the_command_line_marks_its_answers(likely, tmp_path, monkeypatch):
    monkeypatch.setitem(INFERENCE, "weighing", WEIGHING)
    words = ("graph", "five-variables", "--given", "x4=1", "--method", "weighing")
    assert "Approximate, by likelihood weighting" in likely(*words).out.replace("\n", " ")
    result = likely(*words, "--json").json["result"]
    assert result["exact"] is False
    assert result["bound"] == "estimate"
    assert result["report"] == {"draws": 2000}
    assert len(result["standard_errors"]["x1"]) == 2
    (tmp_path / "rows.csv").write_text("x4\n1\n0\n")
    table = ("graph", "five-variables", "--table", "rows.csv", "--method", "weighing", "--json")
    result = likely(*table).json["result"]
    assert result["exact"] is False
    assert result["columns"]["approximate"] == ["weighing", "weighing"]


def test_names_in_a_graph_cannot_steer_the_terminal(likely, tmp_path):
    evil = "\x1b]52;c;aGk=\x07\x1b[2J\x9b1A\u202e"
    network = lk.BayesianNetwork.from_tables(
        {f"a{evil}": [f"s{evil}", "t"]}, {f"a{evil}": [0.5, 0.5]}, name=f"n{evil}"
    )
    lk.write_graph(network, tmp_path / "evil.json")
    for words in ([], ["--map"], ["--messages"], ["--given", f"a{evil}=t"], ["--query", "b"]):
        said = likely("graph", "evil.json", *words)
        assert said.exit in (0, 2)
        for character in ("\x07", "\x1b]", "\x1b[2J", "\x9b", "\u202e"):
            assert character not in said.out + said.err


def test_a_graph_of_one_variable_and_one_without_factors(likely, tmp_path):
    for name, graph in {
        "one.json": lk.BayesianNetwork.from_tables({"a": 1}, {"a": [1.0]}),
        "none.json": lk.FactorGraph([], [lk.graphical.Variable("a", 2)]),
    }.items():
        lk.write_graph(graph, tmp_path / name)
        for words in ([], ["--map"], ["--messages"]):
            outcome = likely("graph", name, *words)
            assert outcome.exit == 0, outcome.err
            assert likely(*suggested(outcome)).exit == 0


def test_the_working_folder_is_not_needed(likely, tmp_path):
    folder = tmp_path / "graphs"
    folder.mkdir()
    lk.write_graph(asia(), folder / "asia.bif")
    assert likely("graph", Path("graphs") / "asia.bif").exit == 0
