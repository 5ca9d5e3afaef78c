"""
Words of documents, and hashed columns
======================================

The docstrings of some modules of Python's standard library as a bag of words.  Left: few words are
in many documents, and most are in one.  Right: with hashed columns, words that share a column are
counted together; of V words in n columns, a share of about 1 − exp(−V/n) has company.
"""

import argparse
import asyncio
import decimal
import inspect
import json
import logging
import pathlib
import statistics
import subprocess

import matplotlib.pyplot as plt
import numpy as np

import likely as lk

modules = [argparse, asyncio, decimal, json, logging, pathlib, statistics, subprocess]
things = [thing for module in modules for _, thing in inspect.getmembers(module)]
documents = sorted({inspect.getdoc(thing) or "" for thing in things if callable(thing)})
words = lk.BagOfWords().fit(documents)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
frequency = np.sort(words.document_frequency_)[::-1]
left.loglog(np.arange(1, frequency.size + 1), frequency, linewidth=2)
left.set(xlabel="rank of the word", ylabel="documents with the word")
left.set_title(f"{len(documents)} documents, {frequency.size:,} words", loc="left")

sizes = 2 ** np.arange(8, 21)
shared = []
for size in sizes:
    columns = lk.BagOfWords(n_features=int(size)).columns_of(words.terms_.names)
    taken = np.bincount(columns, minlength=size)
    shared.append((taken[columns] > 1).mean())
right.plot(sizes, 1 - np.exp(-frequency.size / sizes), color="0.6", label="1 − exp(−V/n)")
right.plot(sizes, shared, "o", label="BagOfWords(n_features=n)")
right.set_xscale("log", base=2)
right.set(xlabel="columns, n", ylabel="words that share a column")
right.legend()

plt.show()
