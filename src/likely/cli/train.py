"""``likely train``: one model on one table, with a score on held-out rows.

It also has options as in Weka: -t training data, -T test data, -c the class (a name, a number from
1, first or last; the last if not given), -x folds, -s seed, -d file to save the model to, -l file
to load a model from.
"""

import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.cli.answer import Answer
from likely.cli.models import assigned, model_named, set_option
from likely.cli.options import OPTIONS, data_options, gathered
from likely.cli.terminal import GlobalOptions, global_options, on_terminal, shown
from likely.errors import BrokenLedger, UnusableRun
from likely.tasks.final_run import scored_elsewhere
from likely.tasks.request import DataOptions

if TYPE_CHECKING:
    from likely.runs import Run
    from likely.sealing.folder import SealFolder


class Weka(NamedTuple):
    """The options as in Weka."""

    train: str | None = None
    test: str | None = None
    target: str | None = None
    folds: int | None = None
    seed: int | None = None
    save: str | None = None
    load: str | None = None

    @property
    def used(self) -> bool:
        return self.train is not None or self.load is not None


WEKA_OPTIONS = (  # letter, field of Weka, metavar, help
    ("-l", "load", "FILE", "As in Weka: saved model to score on the file -T."),
    ("-d", "save", "FILE", "As in Weka: file to save a copy of the model to."),
    ("-s", "seed", "N", "As in Weka: the same as --seed."),
    ("-x", "folds", "N", "As in Weka: number of folds of cross-validation."),
    ("-c", "target", "COL", "As in Weka: target column; a name, a number from 1, first or last."),
    (
        "-T",
        "test",
        "FILE",
        "As in Weka: extra test file; its scores are not recorded in any ledger.",
    ),
    ("-t", "train", "FILE", "As in Weka: the same as DATA."),
)


LEAST = {"seed": 0, "folds": 2}


def weka_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a verb, which gets them as its argument ``weka``."""
    names = {f"weka_{field}": field for _, field, _, _ in WEKA_OPTIONS}
    command = gathered(command, names, "weka", Weka)
    for letter, field, metavar, text in WEKA_OPTIONS:
        kind = click.IntRange(min=LEAST[field]) if field in LEAST else click.STRING
        add = click.option(letter, f"weka_{field}", type=kind, metavar=metavar, help=text)
        command = add(command)
    return command


@click.command()
@click.argument("words", nargs=-1, metavar="DATA|SEAL MODEL")
@data_options(*OPTIONS)
@set_option
@click.option("-o", "output", metavar="RUN", help="Folder to write [default: runs/NNN-MODEL].")
@weka_options
@global_options
@click.pass_obj
def train(
    settings: GlobalOptions,
    words: tuple[str, ...],
    options: DataOptions,
    weka: Weka,
    assignments: tuple[str, ...],
    output: str | None,
) -> Answer:
    """Train MODEL on DATA or the training rows of a SEAL, and score it on held-out rows.

    A SEAL, DATA with -x, --group, --by-time, --kind, --order or --positive, and DATA with missing
    cells or dates that MODEL cannot use as they are, are scored by cross-validation, with the
    columns prepared inside each fit. Otherwise the columns are used as they are, and a fifth of
    the rows is held out for the score. The saved model is fitted to all rows.
    """
    from likely.runs import RunFolder
    from likely.tasks.fits import TrainRequest
    from likely.tasks.training_run import trained

    if weka.seed is not None:
        settings.seed = weka.seed
    if weka.load is not None:
        return score_loaded(settings, weka)
    data, model = words_of(words, weka)
    chosen = model_named(model)
    given = assigned(chosen, assignments)
    opened = options.opened(data)
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
    folder, run = RunFolder(Path(place)), "@last" if output is None else shlex.quote(place)
    after = "final" if found.data.seal is not None and chosen.supervised else "explain"
    what = "Saved" if folder.is_whole else "The scores, without the model, were saved"
    return Answer(
        text=f"{shown(found.parts, chosen.name)}\n\n{what} to {click.style(place, bold=True)}.",
        result=found.to_json(),
        findings=found.notes,
        files=(*folder.model_files, *copies),
        next=f"likely {after if folder.is_whole else 'report'} {run}",
    )


def words_of(words: Sequence[str], weka: Weka) -> tuple[str, str]:
    """DATA and MODEL; -t may give DATA."""
    given = [*([] if weka.train is None else [weka.train]), *words]
    for place, name in enumerate(("DATA", "MODEL")):
        if len(given) <= place:
            raise click.UsageError(f"Missing argument '{name}'.")
    if len(given) > 2:
        raise click.UsageError(f"Got unexpected extra argument ({given[2]})")
    return given[0], given[1]


def target_named(weka: Weka, names: Sequence[str]) -> str | None:
    """The column that -c names; Weka's own default is the last."""
    given = weka.target
    if given is None:
        return names[-1] if weka.used else None
    if given in names:
        return given
    places = {"first": 1, "last": len(names)}
    place = int(given) if given.isdecimal() else places.get(given, 0)
    return names[place - 1] if 1 <= place <= len(names) else given


def score_loaded(settings: GlobalOptions, weka: Weka) -> Answer:
    """``-l MODEL -T FILE``: no training."""
    from likely.cli.terminal import wrapped
    from likely.runs import open_run
    from likely.workbench.data.opening import dataset

    if weka.load is None or weka.test is None:
        raise click.UsageError(
            "-l was given without -T; a saved model is scored on a file. Add -T FILE."
        )
    opened = open_run(weka.load)
    learned = DataOptions.in_run(opened.facts)
    if weka.target is not None or learned.target is None:
        named = target_named(weka, dataset(weka.test).source.names)
        learned = replace(learned, target=named)
    text, facts = scored_elsewhere(opened.model, weka.test, learned, seal=_seal_of(opened))
    return Answer(
        text=wrapped(text),
        result={"model": weka.load, "unguarded": facts},
        next=f"likely explain {shlex.quote(weka.load)}",
    )


def _seal_of(run: "Run") -> "SealFolder | None":
    """The seal that the model was trained on, if it still exists."""
    from likely.runs.seals import seal_of

    try:
        return seal_of(run)
    except (BrokenLedger, UnusableRun):
        return None
