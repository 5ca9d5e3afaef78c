"""``--interval``, ``--of`` and ``--threshold`` of ``likely predict``."""

import shlex
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.cli.answer import Exit, Refusal

if TYPE_CHECKING:
    from likely._typing import Array
    from likely.workbench.scoring.prediction_intervals import PredictionIntervals

Command = Callable[..., Any]
LEVEL = 0.95


def _share(context: click.Context, parameter: click.Parameter, value: str | None) -> float | None:
    """A number between 0 and 1."""
    if value is None:
        return None
    try:
        share = float(value)
    except ValueError:
        share = float("nan")
    if not 0 < share < 1:
        raise click.BadParameter(
            f"{value!r} was given; a number between 0 and 1 was expected. Write RUN and DATA "
            "first, then --interval, --interval 0.9 or --threshold 0.3, for instance."
        )
    return share


def interval_option(command: Command) -> Command:
    """Add ``--interval [LEVEL]``."""
    return click.option(
        "--interval",
        callback=_share,
        is_flag=False,
        flag_value=str(LEVEL),
        metavar="[LEVEL]",
        help="Also write the ends of an interval, low and high: for a new value of the target, or "
        f"for two classes for the probability of the second [default level: {LEVEL}].",
    )(command)


def interval_of_option(command: Command) -> Command:
    """Add ``--of y|mean``."""
    return click.option(
        "--of",
        type=click.Choice(["y", "mean"]),
        help="What --interval is for: y, a new value of the target, or its mean (for two classes, "
        "the probability of the second) [default: y, and mean for two classes].",
    )(command)


def threshold_option(command: Command) -> Command:
    """Add ``--threshold P``."""
    return click.option(
        "--threshold",
        callback=_share,
        metavar="P",
        help="For two classes: predict the second one where its probability is at least P.",
    )(command)


class PredictionOptions(NamedTuple):
    """What is computed in addition to the predictions, or in place of their rule."""

    intervals: "PredictionIntervals | None"
    level: float
    threshold: float | None

    @classmethod
    def of(
        cls,
        model: Any,
        run: str,
        data: str,
        interval: float | None,
        of: str | None,
        threshold: float | None,
    ) -> "PredictionOptions":
        """The options, checked against the model of a run."""
        from likely.errors import InvalidInput
        from likely.workbench.scoring.prediction_intervals import prediction_intervals

        plain = shlex.join(["likely", "predict", run, data])
        if of is not None and interval is None:
            raise Refusal(
                f"--of {of} was given without --interval; it says what an interval is for. Add "
                "--interval.",
                Exit.DATA,
                f"{plain} --interval --of {of}",
            )
        if threshold is not None:
            _refuse_without_two_classes(model, run, plain)
        try:
            intervals = None if interval is None else prediction_intervals(model, of or "auto")
        except InvalidInput as error:
            raise Refusal(str(error), Exit.DATA, plain) from None
        return cls(intervals, interval or LEVEL, threshold)

    @property
    def names(self) -> tuple[str, ...]:
        """The columns of the interval, where one was asked for."""
        return () if self.intervals is None else self.intervals.names

    @property
    def remarks(self) -> tuple[str, ...]:
        """What to know about the intervals."""
        none = self.intervals is None or not self.intervals.remark
        return () if none else (self.intervals.remark,)  # type: ignore[union-attr]  # not None

    def predictions(self, model: Any, table: Any, given: Mapping[str, Any]) -> "Array":
        """The predictions: at the threshold, where one was given."""
        import numpy as np

        if self.threshold is None:
            return np.asarray(model.predict(table, **given))
        likely = model.predict_proba(table, **given)[:, 1] >= self.threshold
        return np.asarray(model.classes_)[likely.astype(np.intp)]

    def ends(self, table: Any, given: Mapping[str, Any]) -> "list[Array]":
        """The lower and the upper ends, where an interval was asked for."""
        if self.intervals is None:
            return []
        return list(self.intervals.values(table, self.level, given).T)


def _refuse_without_two_classes(model: Any, run: str, plain: str) -> None:
    from likely.workbench.scoring.predictions import has_probabilities, probability_labels

    labels = probability_labels(model)
    if len(labels) == 2 and has_probabilities(model) and hasattr(model, "classes_"):
        return
    what = f"{len(labels)} classes or components" if labels else "a number"
    raise Refusal(
        f"--threshold was given, and {run} predicts {what}; a threshold decides between two "
        "classes. Leave it out.",
        Exit.DATA,
        plain,
    )
