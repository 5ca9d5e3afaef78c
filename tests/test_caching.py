"""A cached property has no lock: processes that are forked while threads predict give answers."""

import copy
import pickle
import re
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

import pytest

from likely.caching import cached_property

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Square:
    """A frozen value with a cached answer."""

    side: float

    @cached_property
    def area(self):
        """Side by side."""
        COMPUTED.append(self.side)
        return [self.side**2]


COMPUTED: list[float] = []


def test_it_is_computed_once_and_kept_under_its_own_name():
    COMPUTED.clear()
    square = Square(3.0)
    assert "area" not in vars(square)
    assert square.area is square.area
    assert (vars(square)["area"], COMPUTED) == ([9.0], [3.0])
    assert Square.area.__doc__ == "Side by side."
    assert isinstance(Square.area, cached_property)


def test_copies_and_pickles_take_the_value_along():
    square = Square(2.0)
    _ = square.area
    COMPUTED.clear()
    assert copy.copy(square).area is square.area
    assert pickle.loads(pickle.dumps(square)).area == [4.0]
    assert COMPUTED == []


def test_threads_that_compute_it_together_all_get_the_same_object():
    together = threading.Barrier(2, timeout=120)

    class Slow:
        @cached_property
        def value(self):
            together.wait()  # a lock would keep the second thread out
            return object()

    slow, got = Slow(), []
    threads = [threading.Thread(target=lambda: got.append(slow.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 2
    assert got[0] is got[1] is slow.value


def test_the_library_uses_no_cache_with_a_lock():
    importing = re.compile(r"^from functools import .*\bcached_property\b", re.MULTILINE)
    texts = {path: path.read_text("utf-8") for path in (ROOT / "src" / "likely").rglob("*.py")}
    assert sum("from likely.caching import cached_property" in text for text in texts.values()) > 40
    assert [str(path) for path, text in texts.items() if importing.search(text)] == []


FORKS = """
import os, sys, threading, time, signal
import numpy as np
import likely as lk

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 4))
y = (X[:, 0] + rng.logistic(size=300) > 0).astype(int)
models = [lk.LogisticRegression().fit(X, y), lk.NaiveBayes().fit(X, y)]
expected = [model.predict_proba(X) for model in models]
stop = threading.Event()

def predict():
    while not stop.is_set():
        for model in models:
            lk.LogisticRegression().fit(X[:60], y[:60])
            model.predict_proba(X)
            time.sleep(0)

threads = [threading.Thread(target=predict, daemon=True) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(12):
    child = os.fork()
    if not child:
        signal.alarm(200)  # a child that hangs is killed
        new = lk.LogisticRegression().fit(X, y).predict_proba(X)
        same = all(np.array_equal(m.predict_proba(X), e) for m, e in zip(models, expected))
        os._exit(0 if same and np.array_equal(new, expected[0]) else 3)
    _, status = os.waitpid(child, 0)
    if status:
        print("child ended with", status)
        os._exit(1)
stop.set()
os._exit(0)
"""

STARTED = """
import multiprocessing, sys, threading
import numpy as np
import likely as lk

rng = np.random.default_rng(0)
X = rng.normal(size=(200, 3))
y = (X[:, 0] + rng.logistic(size=200) > 0).astype(int)

if __name__ == "__main__":
    model = lk.NaiveBayes().fit(X, y)
    expected, stop = model.predict_proba(X), threading.Event()

    def predict():
        while not stop.is_set():
            model.predict_proba(X)
            stop.wait(0.001)

    thread = threading.Thread(target=predict, daemon=True)
    thread.start()
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        answers = pool.map(model.predict_proba, [X, X])
    stop.set()
    thread.join()
    assert all(np.array_equal(answer, expected) for answer in answers)
"""


def run(script, *words):
    return subprocess.run(
        [sys.executable, script, *words],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


@pytest.mark.long
def test_children_forked_while_threads_fit_and_predict_give_the_same_answers(tmp_path):
    script = tmp_path / "forks.py"
    script.write_text(FORKS)
    done = run(script)
    assert (done.returncode, done.stdout) == (0, ""), done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_started_while_a_thread_predicts_give_the_same_answers(tmp_path, method):
    script = tmp_path / "started.py"
    script.write_text(STARTED)
    done = run(script, method)
    assert done.returncode == 0, done.stderr
