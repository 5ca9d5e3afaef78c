"""``likely seal``: set test rows aside, to be evaluated once."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.options import SEALING, data_options
from likely.cli.terminal import GlobalOptions, global_options
from likely.errors import InvalidInput
from likely.tasks.request import SCORED, DataOptions, Exit, Refusal, open_with_target

if TYPE_CHECKING:
    from likely.sealing.manifest import Manifest
    from likely.sealing.sealed import Sealed

JUDGES = ("plain", "ladder", "thresholdout")


@click.command()
@click.argument("data")
@data_options(*SCORED, choices=SEALING)
@click.option(
    "--test", default=0.2, metavar="SHARE", show_default=True, help="Share of the rows to seal."
)
@click.option(
    "--budget", default=1, metavar="N", show_default=True, help="Number of evaluations allowed."
)
@click.option(
    "--judge",
    type=click.Choice(JUDGES),
    default="plain",
    show_default=True,
    help="What an evaluation reveals: the score (plain); the score only if it improves on the best "
    "so far (ladder); the training score, unless the test score differs from it (thresholdout).",
)
@click.option(
    "--escrow", metavar="FILE", help="File for the test labels, to be kept by someone else."
)
@click.option("-o", "output", metavar="SEAL", help="Folder to write [default: NAME.seal].")
@global_options
@click.pass_obj
def seal(
    settings: GlobalOptions,
    data: str,
    options: DataOptions,
    test: float,
    budget: int,
    judge: str,
    escrow: str | None,
    output: str | None,
) -> Answer:
    """Seal some rows of DATA as a test set, to be evaluated once, at the end, by likely final.

    Writes the folder NAME.seal: training rows, sealed test rows, and a ledger that records every
    evaluation. From then on, compare, tune and train on NAME.seal.
    """
    from likely.runs.seal_surface import seal as seal_rows

    opened = open_with_target(settings.caller, data, options)
    if opened.sealed:
        raise Refusal(
            f"{data} is a SEAL already; a file or a built-in table was expected. Use it as it is.",
            Exit.DATA,
            f"likely compare {shlex.quote(data)}",
        )
    from likely.sealing.folder import is_seal

    place = _place(data, output)
    known = is_seal(place)
    try:
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
    except InvalidInput as error:
        if known:
            use = f"likely compare {shlex.quote(str(place))}"
            raise Refusal(str(error), Exit.DATA, use) from None
        raise
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
    """The target, with its order or kind if one was given."""
    if manifest.order is not None:
        if manifest.kind == "binary":
            return f"{manifest.target} (positive: {manifest.order[-1]})"
        return f"{manifest.target} ({' < '.join(map(str, manifest.order))})"
    return manifest.target if manifest.kind is None else f"{manifest.target} ({manifest.kind})"


def _about_target(sealed: "Sealed") -> tuple[str, ...]:
    """A note where the values of the training rows leave the kind of the target in doubt."""
    from likely.tasks.suitability import about_task
    from likely.workbench.data.opening import dataset

    try:
        return about_task(dataset(sealed).with_task().settled)
    except (InvalidInput, UnicodeEncodeError):  # a name that Arrow cannot read
        return ()  # compare says why no model predicts it


def _answer(sealed: "Sealed", data: str, escrow: str | None) -> Answer:
    from likely.cli.terminal import headed, wrapped
    from likely.output.formatting import count
    from likely.sealing.ledger import allowed_in_words

    manifest, name = sealed.manifest, shlex.quote(str(sealed.path))
    text = (
        f": {count(manifest.n_train, 'training row')}, "
        f"{count(manifest.n_test, 'sealed row')} ({manifest.rule}), target {_what(manifest)}"
        f"{''.join(f', {role} {column}' for role, column in manifest.roles.items())}; "
        f"{allowed_in_words(manifest.budget, manifest.judge)}."
    )
    kept = () if escrow is None else (Path(escrow),)
    notes = [*sealed.notes, *_about_target(sealed)]
    lines = [headed(str(sealed.path), text), *map(wrapped, notes)]
    if escrow is not None:
        lines.append(
            wrapped(f"The test labels are only in {escrow}; likely final needs that file.")
        )
    return Answer(
        text="\n".join(lines),
        result={
            "seal": str(sealed.path),
            "data": data,
            "target": manifest.target,
            "kind": manifest.kind,
            "order": manifest.order,
            "roles": manifest.roles,
            "dropped": list(manifest.dropped),
            "categories": list(manifest.categories),
            "rows": {"train": manifest.n_train, "sealed": manifest.n_test},
            "rule": manifest.rule,
            "budget": manifest.budget,
            "judge": manifest.judge,
            "escrow": escrow,
            "notes": notes,
            "head": sealed.verify().head,
        },
        files=(*sorted(sealed.path.iterdir()), *kept),
        next=f"likely compare {name}",
    )
