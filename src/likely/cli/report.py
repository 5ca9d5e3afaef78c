"""``likely report``: everything about one or more runs, in one HTML file."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from likely.cli.answer import Answer
from likely.cli.terminal import GlobalOptions, global_options, wrapped
from likely.output.formatting import count

if TYPE_CHECKING:
    from likely.reports.page import Report
    from likely.runs import RunFacts

OUTPUT = "report.html"


@click.command()
@click.argument("runs", nargs=-1, required=True, metavar="RUN...")
@click.option(
    "-o", "output", metavar="FILE", default=OUTPUT, show_default=True, help="File to write."
)
@global_options
@click.pass_obj
def report(settings: GlobalOptions, runs: tuple[str, ...], output: str) -> Answer:
    """Write a report on each RUN (a folder, or @last): one HTML file that needs no network.

    It shows the score and its baseline, the number of evaluations of the test set, the data checks,
    and the comparisons, curves and predictions that were saved.
    """
    from likely.reports.page import report_of
    from likely.reports.report import facts_of_run
    from likely.storage.files import write_atomically

    about = [facts_of_run(name) for name in runs]
    made = report_of(about)
    content = made.html.encode()
    write_atomically(Path(output), content)
    return Answer(
        text=_text(made, output, len(content)),
        result={
            "report": output,
            "bytes": len(content),
            "sections": {part.title: [each.key for each in part.sections] for part in made.parts},
            "left_out": [{"title": each.title, "why": each.why} for each in made.left_out],
        },
        findings=made.warnings,
        files=(Path(output),),
        next=_next(runs, about),
    )


def _next(runs: tuple[str, ...], about: "list[RunFacts]") -> str:
    """The next command: verify a seal that was changed, or that has another score; else predict.

    A model that was not saved has to be trained again.
    """
    from likely.runs.folder import UNSAVED
    from likely.storage.foreign import INSTALL

    broken = [
        each for each in about if each.ledger and (each.final_problem or not each.ledger.sound)
    ]
    if not broken and UNSAVED.items() <= about[0].run.items():
        return f"{INSTALL} && {about[0].run['command']}"
    if not broken:
        return shlex.join(["likely", "predict", runs[0], "FILE", "-o", "predictions.csv"])
    return shlex.join(["likely", "ledger", "verify", str(broken[0].run["seal"]["path"])])


def _text(made: "Report", output: str, size: int) -> str:
    sections = sum(len(part.sections) for part in made.parts)
    text = (
        f"Wrote {click.style(output, bold=True)}: {count(sections, 'section')} on "
        f"{count(len(made.parts), 'run')}, {size / 1000:,.0f} kB. Open it in a browser."
    )
    missing = list(dict.fromkeys(f"{each.title} ({each.why})" for each in made.left_out))
    left = f"\nNot in the report: {'; '.join(missing)}." if missing else ""
    return wrapped(text + left)
