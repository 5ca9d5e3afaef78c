"""RUN folders with everything a report can tell, made from real fits."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa

import likely
from likely.data.arrow import digest_of_file
from likely.metrics import constant_prediction, metrics_for, score_of
from likely.numerics.intervals import Estimate
from likely.runs import RunFolder, versions
from likely.sealing.folder import TRAIN
from likely.sealing.sealed import folder_of
from likely.storage.json import as_json
from likely.workbench.comparison.comparison import compare
from likely.workbench.curves.curves import CurvePoint, learning_curve
from likely.workbench.data.opening import dataset
from likely.workbench.data.task import task_of
from likely.workbench.final.final import final_score_of_fit
from likely.workbench.final.final_scorer import scorer_for
from likely.workbench.look.look import look
from likely.workbench.preparation.prepared import Prepared
from likely.workbench.scoring.column_effects import held_out_effects
from likely.workbench.scoring.cross_validation import Loop, cross_validate
from likely.workbench.scoring.validation import validation_of


def churn(n=700, seed=3):
    """A mixed table with missing cells and two classes."""
    rng = np.random.default_rng(seed)
    months, charge = rng.gamma(2, 12, n), rng.normal(65, 20, n)
    contract = rng.choice(["monthly", "yearly", "two years"], n, p=[0.5, 0.3, 0.2])
    risk = 0.9 * (contract == "monthly") - 0.05 * months + 0.02 * (charge - 65)
    missing = rng.uniform(size=n) < 0.06
    return pa.table(
        {
            "months": months.round(1),
            "charge": pa.array(charge.round(2), mask=missing),
            "contract": contract,
            "country": ["Belgium"] * n,
            "churn": np.where(risk + rng.logistic(size=n) > 0, "yes", "no"),
        }
    )


def flowers():
    """Three classes."""
    from sklearn.datasets import load_iris

    data = load_iris()
    columns = {name: data.data[:, j] for j, name in enumerate(data.feature_names)}
    return pa.table({**columns, "species": data.target_names[data.target]})


def counts(n=900, seed=5):
    """A Poisson count; more rows than are drawn."""
    rng = np.random.default_rng(seed)
    age, town = rng.uniform(20, 70, n), rng.choice(["Ulm", "Bonn"], n)
    rate = np.exp(0.8 + 0.025 * (age - 20) + 0.3 * (town == "Ulm"))
    return pa.table({"age": age, "town": town, "visits": rng.poisson(rate)})


def held_out(model, table, task, folds=None):
    """A cross-validation of the rows that have a target, as a run keeps it."""
    places = np.flatnonzero(task.known(table))
    rows = dataset(table, task.target).of_task(task)
    folds = rows.folds(5) if folds is None else folds
    held = cross_validate(model, Loop(rows, folds)).held
    return validation_of(held, rows.shown, held.score(), places=places)


def rescored(held, **changes):
    """Held-out rows with something changed by hand, and the score that they then have."""
    held = replace(held, **changes)
    constant = constant_prediction(held.truth, held.truth)
    held = replace(held, gain=held.prediction.gain_over(constant, held.truth))
    score = score_of(metrics_for(held.kind), held.truth, held.prediction, constant)
    return replace(held, score=replace(score, folds=held.score.folds))


def write_run(folder, table, target, model, name, *, kind=None, seal=None, **files):
    """A run of ``model`` on the table, with its held-out predictions and what else is given."""
    folder.mkdir(parents=True)
    task = task_of(table, target, kind=kind)
    fitted = Prepared(model).fit(table, target)
    RunFolder(folder).write_validation(held_out(Prepared(model), table, task))
    likely.save(fitted, folder / "model.likely")
    facts = {
        "command": f"likely train data.csv {name} --target {target}",
        "seed": 0,
        "time": "2026-01-31T09:30:00+00:00",
        "model": name,
        "parameters": {},
        "target": target,
        "columns": [column for column in table.column_names if column != target],
        "classes": list(task.classes) or None,
        "task": {"kind": task.kind, "reason": task.reason},
        "data": {"name": "data.csv", "sha256": "ab" * 32, "rows": table.num_rows},
        "scores": None,
        "versions": versions(),
        "model_sha256": digest_of_file(folder / "model.likely"),
    }
    if seal is not None:
        verdict = seal.verify()
        facts["seal"] = {"path": str(seal.path), "count": verdict.lines, "head": verdict.head}
        facts["seal"] |= {"evaluations": 0, "budget": 1}
    for file, content in {"run": facts, **files}.items():
        (folder / f"{file}.json").write_text(as_json(content))
    return folder


def iterations():
    """Early stopping, as a model that learns in epochs would show it."""
    points = []
    for k in range(1, 13):
        held = 0.45 + 0.5 / k + 0.012 * k
        train = Estimate(0.7 / k, 0.65 / k, 0.75 / k, 0.66)
        validation = Estimate(held, held - 0.03, held + 0.03, 0.66)
        points.append(CurvePoint(k, train, validation).to_json())
    about = {"model": "logistic", "of": "iterations", "metric": "log-loss", "better": "lower"}
    return {**about, "points": points}


def tuned():
    trials = [
        {
            "number": k,
            "parameters": {"l2": 10.0**-k},
            "value": 0.56 + 0.01 * k,
            "interval": [0.5, 0.6],
        }
        for k in range(12)
    ]
    nested = {"value": 0.571, "interval": [0.53, 0.61]}
    asked = {"model": "logistic", "metric": "log-loss", "better": "lower", "search": "random"}
    return {**asked, "trials": trials, "baseline": 0.66, "nested": nested}


def whole_run(folder):
    """Two classes, sealed rows and every file."""
    seal = likely.seal(churn(), "churn", name="churn", folder=folder)
    table = pa.table(seal.train)
    model = likely.LogisticRegression(l2=1.0)
    run = write_run(
        folder / "runs" / "001-logistic",
        table,
        "churn",
        model,
        "logistic",
        seal=seal,
        look=look(table, "churn").facts(),
        comparison=compare(table, "churn", ["logistic", "naive-bayes"]).facts(),
        curve=[
            learning_curve(table, "churn", "logistic", folds=3).facts(),
            iterations(),
        ],
        study=tuned(),
        effects=measured_effects(table, Prepared(model)),
    )
    RunFolder(run).write_final(_evaluated(run, folder_of(seal)).to_json())
    return run


def _evaluated(run, seal):
    """The score of a run on the sealed rows, as ``likely final`` finds it."""
    fitted = likely.load(run / "model.likely")
    return final_score_of_fit(
        seal,
        fitted,
        trained_on=seal.manifest.files[TRAIN],
        scorer=scorer_for(fitted, seal),
        cv_estimate=0.57,
        model_sha256=digest_of_file(run / "model.likely"),
    )


def measured_effects(table, model):
    """The importance and the effects of columns of a model of churn."""
    rows = dataset(table, "churn").with_task(model)
    return held_out_effects(model, rows).to_json()


def rewritten(run, file, change):
    """Change what a JSON file of a run says."""
    path = run / file
    content = json.loads(path.read_text())
    change(content)
    path.write_text(json.dumps(content))
