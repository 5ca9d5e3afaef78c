"""``likely seal``: set rows aside, to be looked at once."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.exits import Exit, Refusal
from likely.cli.options import DataOptions, data_options, open_with_target
from likely.cli.settings import Settings, global_options

if TYPE_CHECKING:
    from likely.sealing.manifest import Manifest
    from likely.sealing.sealed import Sealed

JUDGES = ("plain", "ladder", "thresholdout")


@click.command()
@click.argument("data")
@data_options("target", "kind", "order", "group", "by_time", "drop", "category")
@click.option("--test", default=0.2, metavar="SHARE", help="Of the rows, to be sealed; 0.2.")
@click.option("--budget", default=1, metavar="N", help="Looks that need no reason; 1.")
@click.option("--judge", type=click.Choice(JUDGES), default="plain", help="What a look tells.")
@click.option("--escrow", metavar="FILE", help="Where the labels go, to be kept by someone else.")
@click.option("-o", "output", metavar="SEAL", help="The folder to write; NAME.seal if not set.")
@global_options
@click.pass_obj
def seal(
    settings: Settings,
    data: str,
    options: DataOptions,
    test: float,
    budget: int,
    judge: str,
    escrow: str | None,
    output: str | None,
) -> Answer:
    """Seal some rows of DATA, to be scored on once, at the end, by likely final.

    Writes NAME.seal in the working folder: training rows, sealed rows, and a ledger of every
    look.  Train, compare and tune on NAME.seal from then on.
    """
    from likely.workbench.seals import seal as seal_rows

    opened = open_with_target(settings, data, options)
    if opened.sealed:
        raise Refusal(
            f"{data} is sealed already; a file or built-in data were expected. Use it as it is.",
            Exit.DATA,
            f"likely compare {shlex.quote(data)}",
        )
    place = _place(data, output)
    sealed = seal_rows(
        opened,
        test=test,
        budget=budget,
        judge=judge,
        escrow=escrow,
        seed=settings.seed,
        name=place.name,
        folder=place.parent,
    )
    return _answer(sealed, data, escrow)


def _place(data: str, output: str | None) -> Path:
    """``churn.csv`` becomes ``churn.seal`` in the working folder."""
    from likely.sealing.folder import SUFFIX

    if output is not None:
        place = Path(output)
        return place if place.suffix == SUFFIX else place.with_name(place.name + SUFFIX)
    stem = "data" if data == "-" else Path(data).name.split(".")[0]
    return Path(f"{stem}{SUFFIX}")


def _what(manifest: "Manifest") -> str:
    """The target, and what it was declared to be."""
    if manifest.order is not None:
        return f"{manifest.target} ({' < '.join(map(str, manifest.order))})"
    return manifest.target if manifest.kind is None else f"{manifest.target} ({manifest.kind})"


def _answer(sealed: "Sealed", data: str, escrow: str | None) -> Answer:
    from likely.cli.show import heading, wrapped
    from likely.formatting import count

    manifest, name = sealed.manifest, shlex.quote(str(sealed.path))
    text = (
        f"{heading(str(sealed.path))}: {count(manifest.n_train, 'row')} to learn from, "
        f"{count(manifest.n_test, 'row')} sealed ({manifest.rule}), target {_what(manifest)}; "
        f"{count(manifest.budget, 'look')}, judge {manifest.judge}."
    )
    kept = () if escrow is None else (Path(escrow),)
    told = [wrapped(text), *(wrapped(note) for note in sealed.notes)]
    if escrow is not None:
        told.append(wrapped(f"The labels are in {escrow} alone: likely final will ask for it."))
    return Answer(
        text="\n".join(told),
        result={
            "seal": str(sealed.path),
            "data": data,
            "target": manifest.target,
            "kind": manifest.kind,
            "order": manifest.order,
            "dropped": list(manifest.dropped),
            "categories": list(manifest.categories),
            "rows": {"train": manifest.n_train, "sealed": manifest.n_test},
            "rule": manifest.rule,
            "budget": manifest.budget,
            "judge": manifest.judge,
            "escrow": escrow,
            "notes": list(sealed.notes),
            "head": sealed.verify().head,
        },
        files=(*sorted(sealed.path.iterdir()), *kept),
        next=f"likely compare {name}",
    )
