"""Kill every verb at random times, and check that nothing is lost, doubled or half-written.

    python -m benchmarks.kills                     # 1,000 kills, about 15 minutes on two cores
    python -m benchmarks.kills --kills 100

Each kill is a SIGKILL of a process that runs one command in a fresh copy of a small folder, at a
time drawn uniformly from its duration.  The process is forked from one that has imported
everything, so that no kill is spent on imports; it opens, locks and writes files as a new
one does.  Some commands are killed two or three times.  Then the command is run to its end, and:

* the seal exists as a whole or not at all, and its ledger verifies;
* every folder in ``runs/`` has a model that is as it was written, or is a search to be resumed;
* one evaluation is counted, whatever was killed: no look is lost, none is counted twice;
* a resumed search has the trials and the best settings of one that was not interrupted;
* files that are written are whole, and no draft is left.

Exit code 1 if anything did not hold.
"""

import argparse
import contextlib
import io
import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

VERBS = {  # the command, the folder that it starts from, and how often it is killed, in shares
    "seal": ("seal rows.csv --target y", "bare", 3),
    "train": ("train rows.seal naive-bayes -o mine", "sealed", 3),
    "train, numbered": ("train rows.seal naive-bayes", "sealed", 2),
    "tune": ("tune rows.seal discriminant --trials 4 --folds 2 --jobs 1 -o mine", "sealed", 4),
    "compare": ("compare rows.seal naive-bayes discriminant --folds 2", "sealed", 2),
    "curve": ("curve @last --folds 2", "trained", 1),
    "final": ("final @last", "trained", 6),
    "final, again": ("final mine --again a-reason", "evaluated", 4),
    "predict": ("predict @last rows.csv -o out.csv", "trained", 2),
    "report": ("report @last -o out.html", "trained", 1),
    "look": ("look rows.csv --target y", "bare", 1),
    "explain": ("explain @last", "trained", 1),
    "ledger": ("ledger show rows.seal", "evaluated", 1),
    "models": ("models naive-bayes", "bare", 1),
    "graph": ("graph net.bif --draw out.svg --write out.json -o out.csv", "bare", 2),
}
NETWORK = """network net {}
variable a { type discrete [ 2 ] { no, yes }; }
variable b { type discrete [ 2 ] { no, yes }; }
probability ( a ) { table 0.4, 0.6; }
probability ( b | a ) { (no) 0.9, 0.1; (yes) 0.2, 0.8; }
"""
MOST_SECONDS = 120.0  # for a command that is not killed
WORKERS = 2


class Kill(NamedTuple):
    """One kill, and what did not hold after it."""

    verb: str
    interrupted: bool  # else the command had ended
    problems: list[str]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--workers", type=int, default=WORKERS)
    given = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="likely-kills-") as place:
        stages = Path(place) / "stages"
        seconds = make_stages(stages)
        kills = in_workers(stages, seconds, given)
    print(table(kills, seconds))
    wrong = [kill for kill in kills if kill.problems]
    for kill in wrong[:20]:
        print(f"{kill.verb}: {'; '.join(kill.problems)}")
    print(f"{len(kills)} kills in {time.monotonic() - began:.0f} s, seed {given.seed}.")
    sys.exit(bool(wrong))


def make_stages(stages: Path) -> dict[str, float]:
    """The folders that commands start from, and the duration of each command when it is warm."""
    bare = stages / "bare"
    bare.mkdir(parents=True)
    draw = random.Random(0)
    rows = [(draw.gauss(0, 1), draw.gauss(0, 1)) for _ in range(60)]
    lines = [f"{a:.4f},{b:.4f},{'yes' if a - b + draw.gauss(0, 1) > 0 else 'no'}" for a, b in rows]
    (bare / "rows.csv").write_text("\n".join(["a,b,y", *lines]) + "\n")
    (bare / "net.bif").write_text(NETWORK)
    for before, after, commands in (
        ("bare", "sealed", ["seal rows.csv --target y"]),
        ("sealed", "trained", ["train rows.seal naive-bayes"]),
        ("trained", "evaluated", ["final @last", "train rows.seal discriminant -o mine"]),
    ):
        shutil.copytree(stages / before, stages / after)
        for words in commands:
            assert told(stages / after, words)["exit"] == 0, words
    seconds = {}
    for verb, (words, start, _) in VERBS.items():
        for _ in range(2):  # the first imports and compiles
            with fresh(stages / start) as folder:
                began = time.monotonic()
                assert told(folder, words)["exit"] == 0, words
                seconds[verb] = time.monotonic() - began
                if verb == "tune":
                    BEST[verb] = best_of(folder)
    return seconds


BEST: dict[str, object] = {}  # the answer of a search that was not interrupted


def in_workers(stages: Path, seconds: dict[str, float], given: argparse.Namespace) -> list[Kill]:
    """The kills, shared by processes that are copies of this one."""
    plan = [verb for verb, (_, _, share) in VERBS.items() for _ in range(share)]
    wanted = [plan[k % len(plan)] for k in range(given.kills)]
    pipes = []
    for worker in range(given.workers):
        reading, writing = os.pipe()
        if os.fork() == 0:
            os.close(reading)
            found = [
                one_kill(stages, verb, seconds[verb], random.Random(f"{given.seed} {k}"))
                for k, verb in list(enumerate(wanted))[worker :: given.workers]
            ]
            with os.fdopen(writing, "w") as file:
                json.dump(found, file)
            os._exit(0)
        os.close(writing)
        pipes.append(reading)
    kills = []
    for reading in pipes:
        with os.fdopen(reading) as file:
            kills += [Kill(*each) for each in json.load(file)]
    return kills


def one_kill(stages: Path, verb: str, seconds: float, draw: random.Random) -> Kill:
    words, start, _ = VERBS[verb]
    with fresh(stages / start) as folder:
        interrupted = [
            killed(folder, words, draw.uniform(0, 1.1 * seconds))
            for _ in range(draw.choice([1, 1, 2, 3]))
        ]
        try:
            return Kill(verb, any(interrupted), problems_of(folder, verb, words))
        except Exception as error:  # a check that cannot be made is a problem
            return Kill(verb, any(interrupted), [f"{type(error).__name__}: {error}"])


def killed(folder: Path, words: str, after: float) -> bool:
    """Run a command, kill it after some seconds; whether it was still running."""
    child = os.fork()
    if child == 0:
        silent = os.open(os.devnull, os.O_RDWR)
        for number in range(3):
            os.dup2(silent, number)
        told(folder, words)
        os._exit(0)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def problems_of(folder: Path, verb: str, words: str) -> list[str]:
    """What is wrong in the folder: as the kill left it, and after the command has been repeated."""
    found = problems_left(folder)
    made = folder / "mine"
    done = (verb == "seal" and (folder / "rows.seal").exists()) or (
        verb in ("train", "tune") and (made / "model.likely").exists()
    )
    if not done:
        answer = in_child(folder, words)
        if answer["exit"] != 0:
            found.append(f"the next command failed: {answer['findings']}")
    found += problems_left(folder)
    found += [f"a draft is left: {path.name}" for path in folder.rglob(".*.part")]
    return found + wrong_answers(folder, verb)


def problems_left(folder: Path) -> list[str]:
    """Seals, runs and ledgers that are not whole."""
    from likely.runs.catalogue import open_run
    from likely.runs.folder import RunFolder
    from likely.sealing.ledger import verify_ledger

    found = []
    for seal in folder.glob("*.seal"):
        found += [f"{seal.name}: {each}" for each in verify_ledger(seal).problems]
        events = Counter(entry["event"] for entry in entries_of(seal))
        if not 0 <= events["commit"] - events["score"] <= 1:
            found.append(f"{events['commit']} commits and {events['score']} scores")
    for path in [*folder.glob("runs/[0-9]*"), *folder.glob("mine")]:
        run = RunFolder(path)
        if run.is_whole and not open_run(str(path)).is_as_written():
            found.append(f"{path.name}: its model is not as written")
        elif not run.is_whole and any(path.iterdir()) and not run.has_study:
            found.append(f"{path.name}: neither a run nor a search")
    return found


def wrong_answers(folder: Path, verb: str) -> list[str]:
    """What a command should have left, whatever was killed before."""
    seal, found = folder / "rows.seal", []
    if verb.startswith("final"):
        wanted = 1 if verb == "final" else 2
        events = Counter(entry["event"] for entry in entries_of(seal))
        counts = events["commit"], events["score"], events["again"]
        if counts != (wanted, wanted, wanted - 1):
            found.append(f"commits, scores and reasons are {counts}, expected {wanted} evaluations")
        run = folder / "mine" if wanted == 2 else next(folder.glob("runs/*"))
        kept = json.loads((run / "final.json").read_text())
        last = [entry for entry in entries_of(seal) if entry["event"] == "score"][-1]
        if (kept["evaluation"], kept["value"]) != (wanted, last["value"]):
            found.append("final.json is not the last score of the ledger")
    elif verb in ("train", "tune") and not (folder / "mine" / "model.likely").is_file():
        found.append("there is no model")
    if verb == "tune" and best_of(folder) != BEST[verb]:
        found.append("the search has another answer than one that was not interrupted")
    if verb == "predict" and len((folder / "out.csv").read_text().splitlines()) != 61:
        found.append("predictions are missing")
    if verb == "report" and not (folder / "out.html").read_text().rstrip().endswith("</html>"):
        found.append("the report is not whole")
    if verb == "graph":
        whole = (folder / "out.svg").read_text().rstrip().endswith("</svg>")
        whole &= bool(json.loads((folder / "out.json").read_text()))
        if not whole or len((folder / "out.csv").read_text().splitlines()) != 5:
            found.append("the picture, the graph or the beliefs are not whole")
    if verb == "compare" and not (seal / "comparison.json").is_file():
        found.append("the comparison was not kept")
    return found


def best_of(folder: Path) -> object:
    study = json.loads((folder / "mine" / "study.json").read_text())
    return len(study["trials"]), [trial["value"] for trial in study["trials"]], study["best"]


def entries_of(seal: Path) -> list[dict[str, object]]:
    """The lines of a ledger, with one that a kill has left unfinished."""
    from likely.sealing.ledger import Ledger

    return [dict(entry) for entry in Ledger(seal).entries()]


def in_child(folder: Path, words: str) -> dict[str, object]:
    """The answer of a command in a copy of this process, which a hanging command cannot hold up."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.alarm(int(MOST_SECONDS))  # ends the child
        with os.fdopen(writing, "w") as file:
            json.dump(told(folder, words), file)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as file:
        said = file.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else {"exit": None, "findings": "it did not end"}


def told(folder: Path, words: str) -> dict[str, object]:
    """What a command says, as JSON."""
    from likely.cli.main import run

    out = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(io.StringIO()),
    ):
        run([*words.split(), "--json"])
    said: dict[str, object] = json.loads(out.getvalue())
    return said


@contextlib.contextmanager
def fresh(stage: Path) -> Iterator[Path]:
    """A copy of a folder."""
    with tempfile.TemporaryDirectory(prefix="kill-", dir=stage.parent.parent) as place:
        yield Path(shutil.copytree(stage, Path(place) / "work"))


def table(kills: list[Kill], seconds: dict[str, float]) -> str:
    """Kills by verb: all, those that found the command running, and those after which all held."""
    lines = [f"{'command':<18}{'seconds':>9}{'kills':>8}{'running':>9}{'held':>7}"]
    for verb in (*VERBS, "all"):
        own = [kill for kill in kills if verb in (kill.verb, "all")]
        running, held = sum(k.interrupted for k in own), sum(not k.problems for k in own)
        took = "" if verb == "all" else f"{seconds[verb]:.2f}"
        lines.append(f"{verb:<18}{took:>9}{len(own):>8}{running:>9}{held:>7}")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
