"""``likely ledger``: every event is shown, and every change is found."""

import pytest


@pytest.fixture
def sealed(likely, tmp_path):
    likely("seal", "iris", "--budget", "2")
    likely("train", "iris.seal", "discriminant")
    assert likely("final", "@last").exit == 0
    return tmp_path / "iris.seal"


def test_show_has_a_line_for_each_event(likely, sealed):
    outcome = likely("ledger", "show", "iris.seal")
    assert outcome.exit == 0
    assert "3 lines, 1 of 2 evaluations used" in outcome.out
    lines = [line.split(maxsplit=3)[3] for line in outcome.out.splitlines() if line[2:3].isdigit()]
    events = ["sealed", "predictions recorded", "score"]
    assert all(line.startswith(event) for line, event in zip(lines, events, strict=True))
    assert "evaluation 1: log loss" in outcome.out


def test_json_has_the_lines_as_they_are(likely, sealed):
    result = likely("ledger", "show", "iris.seal", "--json").json["result"]
    assert [entry["event"] for entry in result["entries"]] == ["sealed", "commit", "score"]
    assert result["evaluations"] == 1
    verified = likely("ledger", "verify", "iris.seal", "--json").json["result"]
    assert verified == {"seal": "iris.seal", "sound": True, "lines": 3, "head": result["head"]}


def removed(lines):
    return [lines[0], *lines[2:]]


def swapped(lines):
    return [lines[0], lines[2], lines[1]]


def cut(lines):
    return lines[:-1]


def edited(lines):
    return [*lines[:-1], lines[-1].replace('"evaluation":1', '"evaluation":2')]


@pytest.mark.parametrize("change", [removed, swapped, cut, edited])
def test_verify_exits_4_on_any_break(likely, sealed, change):
    path = sealed / "ledger.jsonl"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(change(lines)) + "\n")
    outcome = likely("ledger", "verify", "iris.seal")
    assert outcome.exit == 4
    assert "was changed after it was written" in " ".join(outcome.err.split())
    assert outcome.err.splitlines()[-1].startswith("Next: likely ")


def test_what_is_no_seal_is_a_problem_of_the_data(likely, tmp_path):
    for action in ("show", "verify"):
        assert likely("ledger", action, "iris.seal").exit == 2


def test_an_unknown_action_is_a_usage_error(likely):
    assert likely("ledger", "burn", "iris.seal").exit == 1


def test_show_says_where_the_seal_is_not_as_it_was_written(likely, sealed):
    assert likely("ledger", "show", "iris.seal", "--json").json["findings"] == []
    manifest = sealed / "manifest.json"
    manifest.write_text(manifest.read_text().replace('"budget":2', '"budget":9'))
    (finding,) = likely("ledger", "show", "iris.seal", "--json").json["findings"]
    assert "was changed after it was written" in finding
    assert "manifest.json" in finding
