"""The ledger: every change to it shows, and a kill while it is written does not hurt it."""

import json
import shutil
import threading
from datetime import datetime
from hashlib import sha256

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import likely
from likely.cli.main import run
from likely.errors import BrokenLedger, HonestyRefusal
from likely.sealing.ledger import EVENTS, HEAD, LEDGER, ZEROS, Ledger, verify_ledger
from likely.sealing.manifest import canonical
from likely.storage.files import watching

FILES = (LEDGER, HEAD, "manifest.json", "train.parquet", "test-features.parquet")


@pytest.fixture
def folder(sealed):
    for event in ("predict", "refused", "predict"):
        Ledger(sealed.path).add(event, {"data": "churn.csv", "rows": 7})
    return sealed.path


def lines(folder):
    return (folder / LEDGER).read_bytes().splitlines()


def test_lines_are_canonical_and_each_names_the_one_before(folder):
    found = lines(folder)
    entries = [json.loads(line) for line in found]
    assert [entry["n"] for entry in entries] == [0, 1, 2, 3]
    assert entries[0]["event"] == "sealed"
    assert entries[0]["previous"] == ZEROS
    manifest = (folder / "manifest.json").read_bytes()
    assert entries[0]["manifest"] == sha256(manifest).hexdigest()
    for line, entry in zip(found, entries[1:], strict=False):
        assert entry["previous"] == sha256(line).hexdigest()
    for line, entry in zip(found, entries, strict=True):
        again = json.dumps(entry, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
        assert again.encode() == line
    head = json.loads((folder / HEAD).read_bytes())
    assert head == {"count": 4, "head": sha256(found[-1]).hexdigest()}
    assert verify_ledger(folder) == (True, 4, head["head"], (), ())


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow], deadline=None
)
@given(data=st.data(), name=st.sampled_from([*FILES, "test-labels.bin", "fingerprints.bin"]))
def test_any_flipped_bit_is_found(folder, data, name):
    path = folder / name
    content = bytearray(path.read_bytes())
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] ^= 1 << data.draw(st.integers(0, 7))
    before = path.read_bytes()
    path.write_bytes(content)
    try:
        assert not verify_ledger(folder).sound
    finally:
        path.write_bytes(before)
    assert verify_ledger(folder).sound


def test_every_byte_of_the_ledger_and_its_head_matters(folder):
    for name in (LEDGER, HEAD):
        content = (folder / name).read_bytes()
        for place in range(len(content)):
            changed = bytearray(content)
            changed[place] ^= 1
            (folder / name).write_bytes(changed)
            assert not verify_ledger(folder).sound, (name, place)
        (folder / name).write_bytes(content)
    assert verify_ledger(folder).sound


@pytest.mark.parametrize("gone", range(4))
def test_a_removed_line_is_found(folder, gone):
    kept = [line for n, line in enumerate(lines(folder)) if n != gone]
    (folder / LEDGER).write_bytes(b"".join(line + b"\n" for line in kept))
    assert not verify_ledger(folder).sound


@pytest.mark.parametrize("pair", [(0, 1), (1, 2), (2, 3), (1, 3)])
def test_moved_lines_are_found(folder, pair):
    found = lines(folder)
    i, j = pair
    found[i], found[j] = found[j], found[i]
    (folder / LEDGER).write_bytes(b"".join(line + b"\n" for line in found))
    assert not verify_ledger(folder).sound


def test_a_ledger_cut_anywhere_is_found(folder):
    content = (folder / LEDGER).read_bytes()
    for length in range(len(content)):
        (folder / LEDGER).write_bytes(content[:length])
        assert not verify_ledger(folder).sound, length


def test_a_doubled_or_added_line_is_found(folder):
    content = (folder / LEDGER).read_bytes()
    (folder / LEDGER).write_bytes(content + lines(folder)[-1] + b"\n")
    assert not verify_ledger(folder).sound
    (folder / LEDGER).write_bytes(content + b"\n")
    assert not verify_ledger(folder).sound


@pytest.mark.parametrize("name", [LEDGER, HEAD, "manifest.json", "train.parquet"])
def test_a_file_that_is_gone_is_named(folder, name):
    (folder / name).unlink()
    verdict = verify_ledger(folder)
    assert not verdict.sound
    assert name in verdict.problems[0]


def test_nothing_is_added_to_a_broken_ledger(folder):
    (folder / LEDGER).write_bytes((folder / LEDGER).read_bytes().replace(b"churn", b"chirp"))
    with pytest.raises(BrokenLedger, match=r"Line 2 .* does not contain the hash.*from a backup"):
        Ledger(folder).add("predict", {})
    with pytest.raises(BrokenLedger):
        likely.open_seal(folder)


def states_of_an_addition(folder, place):
    """The folder as a kill at each point of an addition would leave it."""
    found = []

    def snapshot(point, path):
        found.append(place / f"{len(found)}-{point}")
        shutil.copytree(folder, found[-1])

    with watching(snapshot):
        Ledger(folder).add("refused", {"reason": "a kill", "data": "ü"})
    return found


def test_a_kill_at_any_point_of_an_addition_is_no_break(folder, tmp_path):
    for state in states_of_an_addition(folder, tmp_path / "states"):
        ledger = Ledger(state)
        assert verify_ledger(state).sound, state.name
        before = ledger.entries()
        ledger.add("predict", {})
        assert [*before, ledger.entries()[-1]] == ledger.entries()
        assert verify_ledger(state).sound
        assert not list(state.glob(".*")), "drafts are taken away"


def test_a_line_that_is_half_written_is_finished(folder, tmp_path):
    states = states_of_an_addition(folder, tmp_path / "states")
    (state,) = (state for state in states if state.name.endswith("-append"))
    line = lines(folder)[-1]
    before = (state / LEDGER).read_bytes()
    for length in range(len(line)):
        (state / LEDGER).write_bytes(before + line[:length])
        assert verify_ledger(state) == (True, 5, sha256(line).hexdigest(), (), ())
        copy = shutil.copytree(state, tmp_path / f"half-{length}")
        assert Ledger(copy).recovered()[-1]["reason"] == "a kill"
        assert (copy / LEDGER).read_bytes() == (folder / LEDGER).read_bytes()
        assert (copy / HEAD).read_bytes() == (folder / HEAD).read_bytes()


def test_a_flipped_byte_beside_an_interrupted_addition_is_found(folder, tmp_path):
    states = states_of_an_addition(folder, tmp_path / "states")
    for state in states:
        content = (state / LEDGER).read_bytes()
        for place in range(0, len(content), 7):
            changed = bytearray(content)
            changed[place] ^= 4
            (state / LEDGER).write_bytes(changed)
            assert not verify_ledger(state).sound, (state.name, place)
        (state / LEDGER).write_bytes(content)


def test_only_known_events_are_believed(folder):
    ledger = Ledger(folder)
    known = {"sealed", "commit", "score", "repeat", "again", "predict", "seen", "refused"}
    assert set(EVENTS) == known
    ledger.add("party", {})
    assert "Line 4" in verify_ledger(folder).problems[0]


def test_a_reader_beside_a_writer_sees_no_break(folder):
    ledger = Ledger(folder)
    writer = threading.Thread(target=lambda: [ledger.add("predict", {}) for _ in range(60)])
    writer.start()
    seen = set()
    while writer.is_alive():
        verdict = verify_ledger(folder)
        assert verdict.sound, verdict
        seen.add(verdict.lines)
    writer.join()
    assert len(seen) > 5
    assert verify_ledger(folder).lines == 64


def other(value):
    """Another value of the same kind."""
    if isinstance(value, bool | str | list | dict) or value is None:
        return not value if isinstance(value, bool) else [value]
    return value + 1


def test_every_field_of_every_line_matters(sealed):
    sealed.final("logistic")
    with pytest.raises(HonestyRefusal):
        sealed.final("naive-bayes")
    sealed.final("naive-bayes", again="a reason")
    found = lines(sealed.path)
    tried = 0
    for n, line in enumerate(found):
        entry = json.loads(line)
        for key in entry:
            for changed in (
                {**entry, key: other(entry[key])},
                {k: v for k, v in entry.items() if k != key},
            ):
                content = [*found[:n], canonical(changed), *found[n + 1 :]]
                (sealed.path / LEDGER).write_bytes(b"\n".join(content) + b"\n")
                assert not sealed.verify().sound, (n, key)
                tried += 1
    assert tried > 100
    (sealed.path / LEDGER).write_bytes(b"\n".join(found) + b"\n")
    assert sealed.verify().sound


def test_a_clock_that_was_set_back_is_noted(folder, monkeypatch):
    class Earlier(datetime):
        @classmethod
        def now(cls, tz=None):
            return cls(2001, 2, 3, tzinfo=tz)

    assert verify_ledger(folder).notes == ()
    monkeypatch.setattr("likely.sealing.ledger.datetime", Earlier)
    Ledger(folder).add("predict", {"data": "churn.csv", "rows": 7})
    verdict = verify_ledger(folder)
    assert verdict.sound
    assert "Line 4 (2001-02-03T00:00:00Z) is earlier than line 3" in verdict.notes[0]
    assert run(["ledger", "verify", str(folder), "--json"]) == 0
