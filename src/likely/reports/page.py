"""The page: the sections of each run in one self-contained HTML file."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, final

from likely.reports.figures import ID
from likely.reports.section import LeftOut, Picture, Section
from likely.reports.sections.calibration import calibration, ranking
from likely.reports.sections.comparison import comparison, tuning
from likely.reports.sections.curves import curves
from likely.reports.sections.mistakes import mistakes, residuals
from likely.reports.sections.model import importance, model_page
from likely.reports.sections.question import (
    badge_of,
    checks,
    command,
    ledger,
    question,
    warning_of,
    with_warning,
)
from likely.reports.sections.verdict import overview, verdict
from likely.runs.folder import RunFacts

SECTIONS: tuple[Callable[[RunFacts], Section | LeftOut | None], ...] = (  # as on the page
    verdict,
    question,
    checks,
    comparison,
    tuning,
    curves,
    calibration,
    ranking,
    residuals,
    mistakes,
    importance,
    model_page,
    ledger,
    command,
)


SHELL_SECTIONS = ("Comparison", "Tuning", "Curves", "Ledger", "Command")  # filled by commands


class RunPart(NamedTuple):
    """The part of the page about one run: its sections, and those that are missing."""

    key: str
    title: str
    sections: tuple[Section, ...]
    left_out: tuple[LeftOut, ...]
    warning: str | None = None  # about a changed ledger or score


@final
@dataclass(frozen=True, eq=False)
class Report:
    """The page as HTML, with its parts."""

    html: str
    parts: tuple[RunPart, ...]

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        return tuple(each for part in self.parts for each in part.left_out)

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(part.warning for part in self.parts if part.warning is not None)


def report_of(runs: Sequence[RunFacts]) -> Report:
    """The report of these runs."""
    parts = tuple(_part(facts, f"run-{k + 1}") for k, facts in enumerate(runs))
    html = _template().render(
        title=_title(runs),
        subtitle=_subtitle(runs),
        parts=parts,
        overview=overview(runs) if len(runs) > 1 else None,
        level=2 if len(runs) == 1 else 3,
        version=_version(),
        svg=_PictureNumbers(),
    )
    return Report(html, parts)


def _part(facts: RunFacts, key: str) -> RunPart:
    answers = [section(facts) for section in SECTIONS]
    sections = [each for each in answers if isinstance(each, Section)]
    left_out = tuple(each for each in answers if isinstance(each, LeftOut))
    if facts.in_python:  # advice is about commands of the shell
        left_out = tuple(each for each in left_out if each.title not in SHELL_SECTIONS)
    warning = warning_of(facts)
    if warning is not None:  # before anything else is claimed
        sections[0] = with_warning(sections[0], warning, badge_of(facts))
    return RunPart(key, facts.name, tuple(sections), left_out, warning)


class _PictureNumbers:
    """Gives each picture unique ids, in the order of the page."""

    def __init__(self) -> None:
        self.n = 0

    def __call__(self, picture: Picture) -> Any:
        from markupsafe import Markup

        self.n += 1
        return Markup(picture.svg.replace(ID, f"picture-{self.n}-"))


def _title(runs: Sequence[RunFacts]) -> str:
    targets = list(dict.fromkeys(str(facts.run.get("target")) for facts in runs))
    known = [target for target in targets if target != "None"]
    if not known:
        return "A description of the data"
    return f"Predicting {', '.join(known)}"


def _subtitle(runs: Sequence[RunFacts]) -> str:
    data = dict.fromkeys(str((facts.run.get("data") or {}).get("name", "")) for facts in runs)
    models = dict.fromkeys(str(facts.run.get("model", "")) for facts in runs)
    return f"{', '.join(models)} on {', '.join(data)}"


def _template() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("likely.reports", ""),
        autoescape=True,  # every name and cell is text; only pictures are markup
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html")


def _version() -> str:
    import likely

    return likely.__version__
