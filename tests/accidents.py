"""Accidents while files are written: kills, full disks, Ctrl-C, at every point there is.

A kill is told by its picture: the folder is copied at each point, as a power cut there would
leave it, and the next command is run on the copy.  Of what is not whole yet half is kept, since
nobody may read it; of a line that was just appended there is a picture with half of it, too.
Pictures that show the same are taken once.
"""

import errno
import os
import re
import shutil
from hashlib import sha256
from itertools import count
from pathlib import Path
from typing import NamedTuple

from likely.storage.files import DRAFT, watching

TIMES = re.compile(rb'"(elapsed|seconds|time)": ?("[^"]*"|[^,}\n]*)')


class Seen(NamedTuple):
    point: str
    name: str


def points_of(work):
    """Every point of the work, in order."""
    seen = []
    with watching(lambda point, path: seen.append(Seen(point, path.name))):
        work()
    return seen


def raising(error, which):
    """A watcher to which the error happens at the point of that number."""
    numbers = count()

    def watcher(point, path):
        if next(numbers) == which:
            raise error

    return watcher


def full_disk_at(which):
    return raising(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), which)


def pictures(folder, place, work):
    """Copies of the folder, one for each state that a kill during the work can leave."""
    taken = {}

    def take(point, path, *, cut=0):
        state = state_of(folder), cut
        if state not in taken:
            taken[state] = place / f"{len(taken):02}-{point}-{path.name}"
            shutil.copytree(folder, taken[state])
            _halve_drafts(taken[state])
            if cut:
                os.truncate(taken[state] / path.relative_to(folder.resolve()), cut)

    def watcher(point, path):
        path = path.resolve()
        take(point, path)
        if point == "appended" and DRAFT not in str(path):
            take("cut", path, cut=_half_of_last_line(path))

    with watching(watcher):
        work()
    return list(taken.values())


def drafts(folder):
    return [path.name for path in folder.rglob(f".*{DRAFT}")]


def contents(folder):
    """Every file and what is in it."""
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def state_of(folder):
    """Names and contents, but for seconds and times; of drafts only that they are there."""
    state = set()
    for path in folder.rglob("*"):
        name = re.sub(r"[0-9a-f]{16}", "", str(path.relative_to(folder)))
        if DRAFT in name:
            state.add(name[: name.index(DRAFT)])
        else:
            content = TIMES.sub(b"", path.read_bytes()) if path.is_file() else b""
            state.add((name, sha256(content).hexdigest()))
    return frozenset(state)


def _halve_drafts(folder):
    for path in folder.rglob("*"):
        if DRAFT in str(path.relative_to(folder)) and path.is_file():
            os.truncate(path, path.stat().st_size // 2)


def _half_of_last_line(path: Path) -> int:
    content = path.read_bytes()
    start = content.rstrip(b"\n").rfind(b"\n") + 1
    return (start + len(content)) // 2
