"""``likely demo``: the story on built-in data, in under a minute.

Train, score on rows that were held out, mend what the score shows, explain, and look for
groups without labels.  Nothing is written.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from likely.cli.answer import Answer
from likely.cli.settings import Settings, global_options
from likely.cli.show import heading, number, table, wrapped

if TYPE_CHECKING:
    from likely.cli.comparing import Compared, Scores
    from likely.data.source import Source

DATA = "breast-cancer"
ERASED = 0.3  # of the cells, to show that models go on without them

RULES = (
    "Models see four fifths of the rows and are asked about the others. A log loss is what a "
    "model pays for the truth, in nats: sure and wrong is dear. The best constant knows the class "
    "shares and nothing else."
)


@click.command()
@global_options
@click.pass_obj
def demo(settings: Settings) -> Answer:
    """Tell the whole story on built-in data, in under a minute; nothing is written."""
    from likely.cli.using import using_jobs

    with using_jobs(settings.jobs):
        chapters = [_compare(settings.seed), _erased(settings.seed), _groups(settings.seed)]
    return Answer(
        text="\n\n".join(chapter.text for chapter in chapters),
        result={chapter.name: chapter.facts for chapter in chapters},
        next=f"likely train {DATA} naive-bayes --set calibrate=temperature",
    )


class Chapter(NamedTuple):
    """A part of the story."""

    name: str
    text: str
    facts: Any


class Scored(NamedTuple):
    """A fitted model and its score on held-out rows."""

    name: str
    model: Any
    scores: "Scores"

    @property
    def loss(self) -> "Compared":
        return self.scores["log loss"]

    @property
    def accuracy(self) -> float:
        return self.scores["accuracy"].model.mean


def _compare(seed: int) -> Chapter:
    """Three models of the same rows, and what naive Bayes looks at."""
    import likely
    from likely.cli.explain import explanation
    from likely.cli.tables import open_data

    data = open_data(DATA)
    assert data.target is not None  # built-in data know theirs
    n_columns = len(data.source.names) - 1
    tried = [
        _scored("naive-bayes", likely.NaiveBayes, data.source, data.target, seed),
        _scored(
            "naive-bayes, calibrated",
            lambda: likely.NaiveBayes(calibrate="temperature", random_state=seed),
            data.source,
            data.target,
            seed,
        ),
        _scored("discriminant", likely.DiscriminantAnalysis, data.source, data.target, seed),
    ]
    plain, calibrated, discriminant = (one.loss.model.mean for one in tried)
    best = min(tried, key=lambda one: one.loss.model.mean)
    told, _ = explanation(tried[1].model, seed, top=4)
    paragraphs = [
        heading("1. Is it benign?"),
        wrapped(f"{data.source.n_rows} tumours, {n_columns} measurements each. {RULES}"),
        _score_table(tried),
        wrapped(_moral(plain, calibrated, discriminant)),
        heading("2. What does it look at?"),
        told,
    ]
    facts = {
        "data": DATA,
        "scores": {one.name: one.loss.model.mean for one in tried},
        "best_constant": tried[0].loss.baseline.mean,
        "best": best.name,
    }
    return Chapter("compare", "\n\n".join(paragraphs), facts)


def _moral(plain: float, calibrated: float, discriminant: float) -> str:
    told = "Naive Bayes takes each column as news, although they repeat one another. "
    if calibrated < plain:
        told += (
            "So it is too sure of itself: right most of the time, and ruinous when it is wrong. "
            "One temperature, learned on rows set aside, makes its probabilities believable. "
        )
    told += "Discriminant analysis models the dependence"
    return told + (", which pays here as well." if discriminant < plain else " instead.")


def _scored(name: str, make: Callable[[], Any], source: "Source", target: str, seed: int) -> Scored:
    from likely.cli.held_out import class_shares, fitted, split
    from likely.cli.measures import class_scores
    from likely.cli.roles import Roles

    seen, held_out = split(source, seed)
    roles = Roles(target)
    model = fitted(make(), seen, roles, in_memory=True)
    share = class_shares(seen, roles, model.classes_.tolist())
    scores = class_scores(model, held_out, roles, share)
    assert scores is not None  # the built-in data have rows on both sides
    return Scored(name, model, scores)


def _score_table(tried: list[Scored]) -> str:
    rows = [
        [
            one.name,
            number(one.loss.model.mean),
            " to ".join(number(max(end, 0.0)) for end in one.loss.model.interval),
            f"{one.accuracy:.3f}",
        ]
        for one in tried
    ]
    constant = tried[0].loss.baseline
    interval = " to ".join(number(end) for end in constant.interval)
    rows.append(["best constant", number(constant.mean), interval, ""])
    header = [f"on {tried[0].scores.rows} held-out rows", "log loss", "95 %", "accuracy"]
    return table(header, rows)


def _erased(seed: int) -> Chapter:
    """The same with cells missing, in the fit and in the rows that are asked about."""
    import likely
    from likely.cli.tables import open_data, table_source

    data = open_data(DATA)
    assert data.target is not None
    holes = table_source(_with_holes(data.source.table, data.target, seed))  # type: ignore[attr-defined]  # built-in data are tables
    scored = _scored(
        "naive-bayes",
        lambda: likely.NaiveBayes(calibrate="temperature", random_state=seed),
        holes,
        data.target,
        seed,
    )
    text = wrapped(
        f"With {ERASED:.0%} of all cells erased, calibrated naive Bayes pays "
        f"{number(scored.loss.model.mean)} and is right about "
        f"{scored.accuracy:.0%} of the rows. Nothing was filled in: a "
        "missing cell is summed out."
    )
    facts = {"erased": ERASED, "log_loss": scored.loss.model.mean}
    return Chapter("missing", f"{heading('3. What if cells are missing?')}\n\n{text}", facts)


def _with_holes(rows: Any, target: str, seed: int) -> Any:
    import numpy as np
    import pyarrow as pa

    rng = np.random.default_rng(seed)
    for j, name in enumerate(rows.column_names):
        if name != target:
            column = rows.column(name).to_numpy()
            holes = pa.array(column, mask=rng.random(len(column)) < ERASED)
            rows = rows.set_column(j, name, holes)
    return rows


def _groups(seed: int) -> Chapter:
    """Flowers without their species, by a mixture."""
    import likely
    from likely.cli.tables import open_data

    data = open_data("iris")
    assert data.target is not None
    rows = data.source.table  # type: ignore[attr-defined]  # built-in data are tables
    model = likely.GaussianMixture(n_components="auto", max_components=6, random_state=seed)
    group = model.fit_predict(rows.drop_columns([data.target])).tolist()
    species = rows.column(data.target).to_pylist()
    pairs = list(zip(group, species, strict=True))
    kinds = sorted(set(species))
    counts = {k: [pairs.count((k, kind)) for kind in kinds] for k in sorted(set(group))}
    text = wrapped(
        f"{len(group)} irises, with the species hidden. A Gaussian mixture, its size chosen by "
        f"BIC, finds {len(counts)} groups. Here they are beside the species that it never saw:"
    )
    body = table(
        ["group", *kinds],
        [[f"group {k}", *map(str, row)] for k, row in counts.items()],
    )
    facts = {"groups": len(counts), "counts": counts}
    head = heading("4. And without labels?")
    return Chapter("groups", f"{head}\n\n{text}\n\n{body}", facts)
