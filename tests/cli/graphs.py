"""Graphs for the tests of ``likely graph``, and what a command said."""

import csv
import io
import shlex

import numpy as np

import likely as lk


def asia():
    """Lauritzen and Spiegelhalter (1988): eight variables with a cycle, and a table of zeros."""
    names = ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")
    tables = {
        "asia": [0.01, 0.99],
        "tub": [[0.05, 0.95], [0.01, 0.99]],
        "smoke": [0.5, 0.5],
        "lung": [[0.1, 0.9], [0.01, 0.99]],
        "bronc": [[0.6, 0.4], [0.3, 0.7]],
        "either": [[[1, 0], [1, 0]], [[1, 0], [0, 1]]],
        "xray": [[0.98, 0.02], [0.05, 0.95]],
        "dysp": [[[0.9, 0.1], [0.8, 0.2]], [[0.7, 0.3], [0.1, 0.9]]],
    }
    parents = {
        "tub": ["asia"],
        "lung": ["smoke"],
        "bronc": ["smoke"],
        "either": ["lung", "tub"],
        "xray": ["either"],
        "dysp": ["bronc", "either"],
    }
    states = dict.fromkeys(names, ("yes", "no"))
    return lk.BayesianNetwork.from_tables(states, tables, parents)


def chain(n=30, n_states=2):
    """x0 → x1 → …, each like the one before it with probability 0.9."""
    names = [f"x{i}" for i in range(n)]
    stay = np.full((n_states, n_states), 0.1 / (n_states - 1)) + np.eye(n_states) * (
        0.9 - 0.1 / (n_states - 1)
    )
    first = np.full(n_states, 1 / n_states)
    tables = {name: first if i == 0 else stay for i, name in enumerate(names)}
    parents = {name: [names[i - 1]] for i, name in enumerate(names) if i}
    return lk.BayesianNetwork.from_tables(dict.fromkeys(names, n_states), tables, parents)


def grid(side):
    """A square of coupled variables, whose junction tree grows as 2^side."""
    names = [[f"v{i}_{j}" for j in range(side)] for i in range(side)]
    pairs = [(names[i][j], names[i][j + 1]) for i in range(side) for j in range(side - 1)]
    pairs += [(names[j][i], names[j + 1][i]) for i in range(side) for j in range(side - 1)]
    states = {name: 2 for row in names for name in row}
    return lk.MarkovField.from_potentials(states, {pair: [[2, 1], [1, 2]] for pair in pairs})


def words_of(outcome):
    return " ".join((outcome.out + outcome.err).split())


def records(path):
    """The rows of a CSV file."""
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def suggested(outcome):
    """The command that was suggested, as the words after ``likely``."""
    said = (outcome.err if outcome.exit else outcome.out).rstrip().splitlines()
    start = next(i for i, line in enumerate(said) if line.startswith("Next: "))
    return shlex.split(" ".join(said[start:]).removeprefix("Next: likely "))
