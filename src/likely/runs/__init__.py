"""RUN folders, ``runs/NNN-model/``: what they hold, how they are made, found, read and joined.

Every file but the first two may be absent.

model.likely        the fitted model; a folder that has it is a whole RUN
run.json            written by ``train`` and ``tune``:
    command, seed, time, model, parameters, target, columns, classes, versions, model_sha256
    data            {name, sha256, rows}
    scores          of the rows that ``train`` held out, or null
    task            {kind, reason}                                          (optional)
    group, by_time  the column by which rows were held out, or null         (optional)
    model_saved     false where the model cannot be saved, so there is no model.likely  (optional)
    seal            {path, name, evaluations, budget, judge, rows, count, head}   (optional) of
                    the sealed folder that the data came from: count and head are those of its
                    ledger when the RUN was written, so that removed lines are detected
look.json           ``Look.facts()``
comparison.json     a list of ``Comparison.facts()``, or one; with those in the sealed folder.  On
                    the same folds by the same metric they are one, and the newest result of a model
                    is kept
curve.json          ``Curve.facts()``, or a list of them; with those in the sealed folder, which are
                    newer.  Each may have ``run`` (the name of the run whose settings it has)
study.json          {model, metric, better, search, trials: [{number, parameters, value, interval,
                    seconds}], best, baseline, nested: {value, interval} or null}, and
                    model_saved: false if the model cannot be saved, so there is no RUN
study/              the search itself, with ``command.txt``, the command that resumes it
final.json          ``FinalScore.to_json``; the newest evaluation
validation.parquet  one row per row of the training data that was held out once:
    row             its place in the training data, from 0
    fold            the fold that held it out
    truth           the code of its class, or the number
    log_p_0 …       log p of each class, in the order of ``classes``
    mean            of numbers: what was predicted
    log_density     of numbers: log p(y | x); absent where a model has none
    pit             of numbers: the quantile of y in the predicted distribution, in (0, 1); may be
    absent weight          the weight of the row; absent where all weights are equal
validation.json     kind, target, classes, seed, by_time, rows, and
    score           ``Score.to_json()`` of all rows that were held out, as in run.json
    surprising      [{row, truth, predicted, loss, cells: {column: value}}], the largest loss first
    identifier      the column that names rows, or null

The validation is of training rows that were held out, so no sealed row can be among them.  A SEAL
keeps ``comparison.json`` and ``curve.json`` too, under the same names.

No other module contains the names of these files.
"""

from likely.runs.catalogue import LAST, Run, new_run, open_run
from likely.runs.folder import RunFacts, RunFolder, read_run, versions

__all__ = [
    "LAST",
    "Run",
    "RunFacts",
    "RunFolder",
    "new_run",
    "open_run",
    "read_run",
    "versions",
]
