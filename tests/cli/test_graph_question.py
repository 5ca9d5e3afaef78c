"""Questions that ``likely graph`` refuses: what was wrong, and a command that does better."""

import pytest

import likely as lk
from tests.cli.graphs import asia, grid, suggested, words_of


@pytest.mark.parametrize(
    ("words", "message", "instead"),
    [
        (["--given", "Lung=yes"], "no variable 'Lung'", ["--given", "lung=yes"]),
        (["--given=lnug=yes"], "no variable 'lnug'", ["--given=lung=yes"]),
        (["--given", "lung=ye"], "'lung' has no state 'ye'", ["--given", "lung=yes"]),
        (["--given", "lung=maybe"], "'lung' has no state 'maybe'", ["--query", "lung"]),
        (["--given", "abcdefgh=1"], "no variable 'abcdefgh'", []),
        (["--query", "lng"], "no variable 'lng'", ["--query", "lung"]),
        (["--query", "smoke,lng,tub"], "no variable 'lng'", ["--query", "smoke,lung,tub"]),
        (["--soft", "lnug=1,2"], "no variable 'lnug'", ["--soft", "lung=1,2"]),
    ],
)
def test_an_unknown_name_suggests_the_nearest_in_the_next_command(
    likely, network_file, words, message, instead
):
    outcome = likely("graph", network_file, *words)
    assert outcome.exit == 2
    assert message in words_of(outcome)
    assert suggested(outcome) == ["graph", network_file, *instead]
    assert likely(*suggested(outcome)).exit == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--given", "lung"], "a variable and its value were expected"),
        (["--soft", "lung=a,b"], "Write --soft lung=0.5,0.5"),
        (["--given", "lung=yes", "--given", "lung=no"], "is given as 'yes' and as 'no'"),
        (["--query", "lung,lung"], "a joint of different variables was expected"),
        (["--method", "fast"], "no method of inference 'fast'; choose one of auto"),
        (["--memory", "lots"], "text such as '8GB' was expected"),
        (["--messages", "--query", "lung,tub"], "is a joint"),
        (["--messages", "--method", "enumeration"], "messages are those of the method tree"),
        (["--table", "rows.csv", "--given", "lung=yes"], "--table and --given were given"),
        (["--table", "rows.csv", "--messages"], "--table and --messages were given"),
        (["--impossible", "nan"], "--impossible was given without --table"),
        ([], "Missing argument"),
    ],
)
def test_wrong_words_are_a_matter_of_usage(likely, network_file, words, message):
    outcome = likely("graph", *([network_file] if words else []), *words)
    assert outcome.exit == 1
    assert message in words_of(outcome)
    assert suggested(outcome) == ["graph", "--help"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--soft", "lung=1"], "one likelihood for each of its 2 states was expected"),
        (["--soft", "lung=-1,1"], "finite likelihoods of at least 0 were expected"),
        (["--evidence", "none.evid"], "none.evid: it cannot be read"),
        (["--draw", "asia.jpg"], "one of .svg, .dot, .txt, .gv, .png, .pdf was expected"),
        (["--write", "asia.csv"], "does not say a format of graphs"),
    ],
)
def test_wrong_values_are_a_matter_of_data(likely, network_file, words, message):
    outcome = likely("graph", network_file, *words)
    assert outcome.exit == 2
    assert message in words_of(outcome)


def test_impossible_evidence_names_an_observation_without_which_it_is_possible(
    likely, network_file
):
    words = (
        "graph",
        network_file,
        "--given",
        "smoke=yes",
        "--given",
        "lung=yes",
        "--given",
        "either=no",
    )
    for more in ([], ["--map"], ["--query", "tub"]):
        outcome = likely(*words, *more)
        assert outcome.exit == 2
        assert "has probability 0" in words_of(outcome)
        assert "Without either=no it is possible." in words_of(outcome)
        assert likely(*suggested(outcome)).exit == 0


def test_a_graph_that_is_too_large_says_its_size_and_a_command_that_may_do(likely, tmp_path):
    lk.write_graph(grid(10), tmp_path / "grid.json")
    outcome = likely("graph", "grid.json", "--memory", "10kB")
    assert outcome.exit == 2
    assert "the limit is 10 kB" in words_of(outcome)
    assert suggested(outcome)[:3] == ["graph", "grid.json", "--memory"]
    assert likely(*suggested(outcome)).exit == 0
    lk.write_graph(grid(40), tmp_path / "large.json")
    outcome = likely("graph", "large.json")
    assert outcome.exit == 2
    assert "of memory; the limit is" in words_of(outcome)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("bad.bif", "network a {\n}\nvariable x {\n type discrete [ 2 ] { a, b\n", "bad.bif, line"),
        ("bad.uai", "MARKOV\n2\n2 x\n", "bad.uai, line 3"),
        ("bad.json", "{", "bad.json, line 1"),
        ("bad.xmlbif", "<BIF>", "bad.xmlbif, line 1"),
        ("empty.bif", "", "empty.bif, line 1"),
        ("what", "hello", "neither its name nor its content says which format it has"),
    ],
)
def test_a_malformed_file_is_named_with_its_line(likely, tmp_path, name, content, message):
    (tmp_path / name).write_text(content)
    outcome = likely("graph", name)
    assert outcome.exit == 2
    assert message in words_of(outcome)


def test_a_cycle_is_named(likely, tmp_path):
    (tmp_path / "cycle.bif").write_text(
        "network unknown {\n}\n"
        "variable a {\n  type discrete [ 2 ] { y, n };\n}\n"
        "variable b {\n  type discrete [ 2 ] { y, n };\n}\n"
        "probability ( a | b ) {\n  (y) 0.5, 0.5;\n  (n) 0.5, 0.5;\n}\n"
        "probability ( b | a ) {\n  (y) 0.5, 0.5;\n  (n) 0.5, 0.5;\n}\n"
    )
    outcome = likely("graph", "cycle.bif")
    assert outcome.exit == 2
    assert "The edges have a cycle: b → a → b" in words_of(outcome)


def test_a_file_that_does_not_exist_suggests_the_nearest(likely, network_file):
    outcome = likely("graph", "asai.bif", "--query", "lung")
    assert outcome.exit == 2
    assert suggested(outcome) == ["graph", network_file, "--query", "lung"]
    assert suggested(likely("graph", "five-variable")) == ["graph", "five-variables"]
    assert likely(*suggested(likely("graph", "zzz"))).exit == 0


def test_a_file_is_read_before_an_example_of_that_name(likely, tmp_path):
    lk.write_graph(asia(), tmp_path / "four-cycle", format="json")
    assert likely("graph", "four-cycle", "--json").json["result"]["graph"]["variables"] == 8


@pytest.mark.parametrize(
    ("content", "words", "says"),
    [
        ("who knows", ["--query", "a"], "Rename the file."),
        ("[1]", ["--query", "a"], None),
    ],
)
def test_a_file_of_an_unknown_format_is_to_be_renamed(likely, tmp_path, content, words, says):
    for name in ("graph.txt", "graph.uai", "graph.json"):
        (tmp_path / name).write_text(content)
        outcome = likely("graph", name, *words)
        assert outcome.exit == 2 and "format=" not in words_of(outcome)
        assert says is None or name != "graph.txt" or says in words_of(outcome)


def test_a_table_in_place_of_a_graph_is_told_what_can_be_done_with_it(likely, tmp_path):
    (tmp_path / "table.csv").write_text("a,b\nyes,no\n")
    outcome = likely("graph", "table.csv")
    assert outcome.exit == 2 and "Rename" not in words_of(outcome)
    assert "its name is that of a table" in words_of(outcome)
    assert "BayesianNetwork.from_data('table.csv')" in words_of(outcome)
    assert "likely graph GRAPH --table table.csv" in words_of(outcome)


def test_messages_speak_of_options(likely, network_file, tmp_path):
    cyclic = words_of(likely("graph", "four-cycle", "--messages"))
    assert "Leave --messages out" in cyclic and "with --given" in cyclic
    tree = words_of(likely("graph", "four-cycle", "--method", "tree"))
    assert "--method tree was given" in tree and "Use --method junction-tree." in tree
    root = likely("graph", "five-variables", "--messages", "--query", "x1", "--given", "x1=0")
    assert "Choose another variable with --query." in words_of(root)
    assert "--memory lots was given" in words_of(likely("graph", network_file, "--memory", "lots"))
    outcome = likely("graph", network_file, "--write", "graph.txt")
    assert outcome.exit == 2 and words_of(outcome).count("Use one.") == 1
    for said in (cyclic, tree, words_of(root)):
        assert "='" not in said
