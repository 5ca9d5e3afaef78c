"""``likely train``: one model on one table, with a score on held-out rows."""

import shlex
from dataclasses import replace
from pathlib import Path

import click

from likely.cli.answer import Answer
from likely.cli.models import assigned, model_named, set_option
from likely.cli.options import OPTIONS, data_options
from likely.cli.terminal import Settings, global_options, on_terminal, shown
from likely.cli.weka import Weka, score_loaded, target_named, weka_options, words_of
from likely.tasks.request import DataOptions


@click.command()
@click.argument("words", nargs=-1, metavar="DATA|SEAL MODEL")
@data_options(*OPTIONS)
@set_option
@click.option("-o", "output", metavar="RUN", help="Folder to write [default: runs/NNN-MODEL].")
@weka_options
@global_options
@click.pass_obj
def train(
    settings: Settings,
    words: tuple[str, ...],
    options: DataOptions,
    weka: Weka,
    assignments: tuple[str, ...],
    output: str | None,
) -> Answer:
    """Train MODEL on DATA or the training rows of a SEAL, and score it on held-out rows.

    A SEAL, DATA with -x, --group, --by-time, --kind or --order, and DATA with missing cells or
    dates that MODEL cannot use as they are, are scored by cross-validation, with the columns
    prepared inside each fit. Otherwise the columns are used as they are, and a fifth of the rows
    is held out for the score. The saved model is fitted to all rows.
    """
    from likely.runs import RunFolder
    from likely.tasks.fits import TrainRequest
    from likely.tasks.training_run import trained
    from likely.workbench.data.opening import dataset

    if weka.seed is not None:
        settings.seed = weka.seed
    if weka.load is not None:
        return score_loaded(settings, weka)
    data, model = words_of(words, weka)
    chosen = model_named(model)
    given = assigned(chosen, assignments)
    opened = dataset(data)
    if weka.target is not None or (weka.used and options.target is None and opened.target is None):
        options = replace(options, target=target_named(weka, opened.source.names))
    request = TrainRequest(
        opened,
        chosen,
        given,
        options,
        folds=weka.folds,
        test=weka.test,
        copy=weka.save,
        caller=settings.caller,
        label=data,
    )
    with on_terminal(settings), settings.using_jobs():
        found = trained(request, "" if output is None else output)
    place = str(found.run)
    copies = () if weka.save is None else (Path(weka.save),)
    after = "final" if found.data.seal is not None and chosen.supervised else "explain"
    run = "@last" if output is None else shlex.quote(place)
    return Answer(
        text=f"{shown(found.parts, chosen.name)}\n\nSaved to {click.style(place, bold=True)}.",
        result=found.to_json(),
        findings=found.notes,
        files=(*RunFolder(Path(place)).model_files, *copies),
        next=f"likely {after} {run}",
    )
