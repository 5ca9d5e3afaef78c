"""Calibrated classifiers of real documents: the numbers of the pipeline, and believable ones."""

import os
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.pipeline import make_pipeline

from likely import BagOfWords, NaiveBayes, TextClassifier

HERE = Path(__file__).resolve()
SHARED = Path(os.environ.get("LIKELY_BENCH_DATA", HERE.parents[3] / "shared" / "data")) / "text"
MOST_LOSS = {"20news": 1.0, "debian": 1.3, "sms": 0.1}  # of documents that were held out
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not SHARED.is_dir(), reason="the texts of ../shared/data/text are not here"),
]


@pytest.mark.parametrize("corpus", list(MOST_LOSS))
def test_the_default_is_the_calibrated_pipeline_and_believable(corpus):
    from benchmarks.text_quality import documents

    train, y, test, truth = documents(SHARED, corpus)
    ours = TextClassifier().fit(train, y)
    model = NaiveBayes("multinomial", smoothing="auto", calibrate="length")
    theirs = make_pipeline(BagOfWords(), model).fit(train, y)
    assert_allclose(ours.model_.temperature_, theirs[1].temperature_, rtol=1e-6)
    assert_allclose(ours.model_.length_rate_, theirs[1].length_rate_, rtol=1e-6)
    log_proba = ours.predict_log_proba(test)
    assert_allclose(log_proba, theirs.predict_log_proba(test), rtol=1e-6, atol=1e-8)
    codes = np.searchsorted(ours.classes_, truth)
    assert -log_proba[np.arange(len(codes)), codes].mean() < MOST_LOSS[corpus]
