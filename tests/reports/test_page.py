import re
from html.parser import HTMLParser

import numpy as np
import pyarrow as pa
import pytest

from likely import GLM, LinearRegression, LogisticRegression, NaiveBayes, load
from likely.cli.main import run
from likely.reports.page import report_of
from likely.runs import RunFacts, read_run
from tests.reports.runs_by_hand import churn, counts, flowers, rewritten, whole_run, write_run

LIMIT = 2_000_000  # bytes of a report


class Page(HTMLParser):
    """Headings, ids, links and attributes that could fetch something."""

    def __init__(self, html):
        super().__init__()
        self.headings, self.ids, self.links, self.fetched, self.tags = [], [], [], [], []
        self.pictures = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.tags.append(tag)
        if re.fullmatch(r"h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "svg":
            self.pictures.append(given)
        for name in ("href", "src", "xlink:href", "srcset", "action", "data"):
            if name in given:
                (self.links if given[name].startswith("#") else self.fetched).append(given[name])


def html_of(*folders):
    return report_of([read_run(folder) for folder in folders]).html


@pytest.fixture(scope="module")
def html(whole, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    assert run(["report", str(whole), "-o", str(path)]) == 0
    return path.read_text(encoding="utf-8")


def test_the_page_asks_nothing_of_a_network(html):
    assert not re.search(r"https?:|//[a-z]", html, flags=re.IGNORECASE)
    assert all(link.startswith("data:image/png;base64,") for link in Page(html).fetched)
    assert "script" not in Page(html).tags
    assert not re.search(r"url\((?!#)|@import", html)


def test_headings_go_down_one_level_at_a_time_and_ids_are_unique(html, tmp_path):
    model = GLM(response="poisson")
    other = write_run(tmp_path / "b", counts(), "visits", model, "glm", kind="count")
    for text in (html, html_of(other, other)):
        page = Page(text)
        assert page.headings[0] == 1
        assert page.headings.count(1) == 1
        assert max(np.diff(page.headings)) <= 1
        assert len(set(page.ids)) == len(page.ids)
        assert {link[1:] for link in page.links} <= set(page.ids)


def test_every_picture_has_a_role_and_words(html):
    pictures = Page(html).pictures
    assert len(pictures) >= 9
    for each in pictures:
        assert each["role"] == "img"
        assert len(each["aria-label"]) > 20


def test_every_section_of_a_whole_run_is_there_in_order(html):
    wanted = (
        "Result,Run,Data checks,Comparison,Tuning,Curves,Calibration,Ranking,"
        "Mistakes,Importance of columns,Model,Ledger,Command"
    )
    assert re.findall(r'<h2 id="[^"]*">([^<]*)</h2>', html) == wanted.split(",")


def test_what_the_product_promises_is_said(html, whole):
    text = re.sub(r"<[^>]*>", " ", html)
    for words in (
        "sealed rows; evaluation 1 of 1. Baseline (constant):",
        "Cross-validation estimate: 0.570",
        "ab" * 32,
        "Evaluations of the test set",
        "LK102",
        "no line was changed",
        f"Chosen: {load(whole).describe().n_iter}",  # of the curve by iterations
        "reliability",
        "Brier score",
        "standard error",
        "likely train data.csv logistic --target churn --seed 0",
        "filled with the median",
        "scikit-learn 1.",
    ):
        assert words in re.sub(r"\s+", " ", text), words


@pytest.mark.long
def test_the_same_run_gives_the_same_page(whole):
    assert html_of(whole) == html_of(whole)


def test_colours_of_pictures_are_those_of_the_page(html):
    assert "#0102" not in html
    body, style = html.split("</style>")[1], html.split("</style>")[0]
    used = set(re.findall(r"var\((--[a-z0-9-]+)\)", body))
    assert used
    assert all(f"{name}:" in style for name in used)


@pytest.mark.parametrize(
    ("make", "target", "model", "kind", "wanted"),
    [
        (flowers, "species", NaiveBayes(), None, ("Calibration", "Ranking", "Mistakes")),
        (flowers, "species", LogisticRegression(), "binary", ("Calibration", "Ranking")),
        (counts, "visits", GLM(response="poisson"), "count", ("Residuals", "Mistakes")),
        (counts, "age", LinearRegression(), None, ("Residuals", "Mistakes")),
    ],
)
def test_each_kind_of_task_has_its_own_sections(tmp_path, make, target, model, kind, wanted):
    table = make()
    if kind == "binary":
        table = table.filter(pa.compute.not_equal(table["species"], "setosa"))
    folder = write_run(tmp_path / "run", table, target, model, "some", kind=kind)
    page = html_of(folder)
    for title in wanted:
        assert f">{title}</h2>" in page
    absent = "Residuals" if "Calibration" in wanted else "Calibration"
    assert f">{absent}</h2>" not in page
    assert len(page.encode()) < LIMIT


def test_what_a_run_does_not_hold_is_said(whole):
    told = report_of([RunFacts("bare", read_run(whole).run)])
    titles = {each.title for each in told.left_out}
    assert {"Data checks", "Comparison", "Tuning", "Curves"} <= titles
    assert "churn.seal was not found" in told.html  # it came from one all the same
    assert any(title.startswith("Calibration") for title in titles)
    assert "Not in this report" in told.html
    said = {each.title: each.why for each in told.left_out}
    seal = read_run(whole).run["seal"]["path"]
    assert said["Comparison"] == f"none was made; run likely compare {seal}"
    assert said["Curves"] == "none was saved; run likely curve RUN"


def test_what_is_missing_of_unsealed_data_is_said_as_a_command_to_type(tmp_path):
    model = GLM(response="poisson")
    folder = write_run(tmp_path / "a", counts(), "visits", model, "glm", kind="count")
    said = {each.title: each.why for each in report_of([read_run(folder)]).left_out}
    assert said["Data checks"].endswith("run likely look data.csv --target visits")
    assert said["Ledger"].endswith("run likely seal data.csv --target visits")
    assert said["Curves"] == "none was saved; run likely curve a"
    assert said["Tuning"] == "no settings were searched"  # a glm has no default search space


@pytest.mark.long
def test_a_bare_run_with_scores_of_train_has_a_verdict(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for words in (["iris", "naive-bayes"], ["diabetes", "linear"], ["iris", "mixture"]):
        assert run(["train", *words]) == 0
        assert run(["report", "@last"]) == 0
        page = (tmp_path / "report.html").read_text()
        assert re.search("held-out row|rows not used for the scored fit", page)
        assert "no rows were sealed" in page


EVIL = "<script>alert('x')</script>&\"$\\alpha$"


def test_names_of_columns_classes_and_files_are_text(tmp_path):
    table = churn(200)
    names = [EVIL, "a{{ 7 * 7 }}", "</svg><b>", "http:", EVIL + " target"]
    labels = pa.array(np.where(np.asarray(table["churn"]) == "yes", EVIL, "<i>no</i>"))
    table = table.set_column(4, "churn", labels).rename_columns(names)
    from likely.workbench.comparison.comparison import compare
    from likely.workbench.look.look import look

    target = names[-1]
    folder = write_run(
        tmp_path / "run",
        table,
        target,
        NaiveBayes(),
        "naive-bayes",
        look=look(table, target).facts(),
        comparison=compare(table, target, ["naive-bayes"], folds=3, repeats=1).facts(),
    )
    rewritten(folder, "run.json", lambda facts: facts["data"].update(name=EVIL))
    path = tmp_path / "report.html"
    assert run(["report", str(folder), "-o", str(path)]) == 0
    html = path.read_text(encoding="utf-8")
    assert not {"script", "b", "i"} & set(Page(html).tags)
    assert "49" not in re.findall(r"a\{\{ 7 \* 7 \}\}|a49", html)
    assert "a{{ 7 * 7 }}" in html
    assert "&lt;script&gt;" in html
    assert "$\\alpha$" in html  # no mathematics is made of a name


@pytest.mark.long
def test_a_report_on_many_rows_is_small(tmp_path):
    model = GLM(response="poisson")
    folder = write_run(tmp_path / "run", counts(20_000), "visits", model, "glm", kind="count")
    assert len(html_of(folder).encode()) < LIMIT
    assert "800 of 20,000 rows are drawn" in html_of(folder)


@pytest.mark.long
def test_no_cell_of_a_sealed_row_is_in_the_report(tmp_path):
    """A row of the test set, with cells that no other row has, is nowhere in the page."""
    folder = whole_run(tmp_path)
    from pyarrow.parquet import read_table

    sealed = read_table(tmp_path / "churn.seal" / "test-features.parquet")
    seen = read_table(tmp_path / "churn.seal" / "train.parquet")
    known = set(seen["charge"].to_pylist())
    alone = [c for c in sealed["charge"].to_pylist() if c is not None and c not in known]
    page = html_of(folder)
    assert len(alone) > 50
    cells = set(re.findall(r">([\d.]+)</t[dh]>", page))
    shown = [row for row in read_run(folder).validation.surprising if row["cells"]["charge"]]
    assert {f"{row['cells']['charge']:.4g}" for row in shown} <= cells
    own = {f"{row['cells']['charge']}" for row in shown}
    assert not {str(value) for value in alone} & own
    assert {row["row"] for row in shown} <= set(range(seen.num_rows))
