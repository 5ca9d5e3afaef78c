"""SIGKILL at random times, over all verbs: a few of the thousand of ``benchmarks.kills``."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_nothing_is_lost_or_counted_twice_by_kills_at_random_times():
    words = [sys.executable, "-m", "benchmarks.kills", "--kills", "64", "--seed", "3"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "64 kills" in done.stdout
