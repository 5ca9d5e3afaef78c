"""The report in a real browser: it opens without a network, draws everything, and fits."""

import os
from pathlib import Path

import pytest

from likely.cli.main import run
from tests.reports.chromium import chromium
from tests.reports.runs_by_hand import counts, flowers, whole_run, write_run

pytestmark = pytest.mark.slow  # CI runs them in a step of their own
SIZES = [(1280, "light"), (1280, "dark"), (390, "light"), (390, "dark")]
TOO_FAINT = 4.5  # contrast of text that small, by WCAG 2.2, 1.4.3

WIDER_THAN_PAGE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
PICTURES = """[...document.querySelectorAll("figure svg")].map(svg => {
  const box = svg.getBoundingClientRect(), drawn = svg.querySelectorAll("path, use, image").length;
  return {width: box.width, height: box.height, drawn, label: svg.getAttribute("aria-label")};
})"""
CUT_OFF = """[...document.querySelectorAll("figure svg")].flatMap(svg => {
  const box = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].map(text => text.getBoundingClientRect())
    .filter(t => t.left < box.left - 2 || t.right > box.right + 2
              || t.top < box.top - 2 || t.bottom > box.bottom + 2)
    .map(t => svg.getAttribute("aria-label"));
})"""
LOST = """[...document.querySelectorAll("p, li, dd, dt, h1, h2, h3, h4, pre, figcaption")]
  .filter(e => e.getBoundingClientRect().right > document.documentElement.clientWidth + 1)
  .map(e => e.textContent.slice(0, 60))"""
BROKEN_IMAGES = "[...document.images].filter(image => !image.naturalWidth).length"
FAINT = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  const luminance = colour => {
    canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    const rgb = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3).map(v => v / 255)
      .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * rgb[0] + 0.7152 * rgb[1] + 0.0722 * rgb[2];
  };
  const page = luminance(getComputedStyle(document.body).backgroundColor);
  const faint = new Set();
  for (const e of document.querySelectorAll("p, th, td, dt, dd, a, h1, h2, h3, span, text")) {
    const style = getComputedStyle(e);
    const ink = luminance(e.tagName === "text" ? style.fill : style.color);
    const contrast = (Math.max(ink, page) + 0.05) / (Math.min(ink, page) + 0.05);
    if (contrast < LIMIT) faint.add(`${e.tagName} ${contrast} ${e.textContent.slice(0, 30)}`);
  }
  return [...faint];
})()""".replace("LIMIT", str(TOO_FAINT))


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    from likely import GLM, NaiveBayes

    folder = tmp_path_factory.mktemp("report")
    runs = [
        whole_run(folder),
        write_run(folder / "runs/2", flowers(), "species", NaiveBayes(), "naive-bayes"),
        write_run(
            folder / "runs/3", counts(), "visits", GLM(response="poisson"), "glm", kind="count"
        ),
    ]
    path = folder / "report.html"
    assert run(["report", *map(str, runs), "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    with chromium(tmp_path_factory.mktemp("chromium")) as opened:
        yield opened


@pytest.fixture(params=SIZES, ids=lambda size: f"{size[0]}-{size[1]}")
def page(request, browser, report):
    width, scheme = request.param
    browser.open(report, width=width, scheme=scheme)
    keep = os.environ.get("LIKELY_SCREENSHOTS")
    if keep:
        Path(keep, f"report-{width}-{scheme}.png").write_bytes(browser.screenshot())
    return browser


def test_nothing_is_said_in_the_console_and_nothing_is_asked_of_a_network(page, report):
    assert page.problems == []
    others = [url for url in page.asked_for if not url.startswith("data:")]
    assert others == [report.resolve().as_uri()]


def test_every_picture_is_drawn(page):
    pictures = page.ask(PICTURES)
    assert len(pictures) >= 14
    for each in pictures:
        assert each["width"] > 150, each
        assert each["height"] > 50, each
        assert each["drawn"] > 3, each
        assert each["label"], each
    assert page.ask(BROKEN_IMAGES) == 0


def test_nothing_is_wider_than_the_page(page):
    assert page.ask(WIDER_THAN_PAGE) <= 0
    assert page.ask(LOST) == []


def test_no_label_or_legend_is_cut_off(page):
    assert page.ask(CUT_OFF) == []


def test_text_stands_out_from_the_page(page):
    assert page.ask(FAINT) == []


def test_light_and_dark_differ(browser, report):
    colours = []
    for scheme in ("light", "dark"):
        browser.open(report, width=1280, scheme=scheme)
        ask = "getComputedStyle(document.querySelector('{}')).{}"
        page = browser.ask(ask.format("body", "backgroundColor"))
        colours.append((page, browser.ask(ask.format("figure svg text", "fill"))))
    assert colours[0][0] != colours[1][0]
    assert colours[0][1] != colours[1][1]


def test_it_prints(browser, report):
    browser.open(report, width=1280, scheme="dark")
    pdf = browser.pdf()
    assert pdf.startswith(b"%PDF-")
    assert pdf.count(b"/Type /Page\n") + pdf.count(b"/Type /Page ") + pdf.count(b"/Type /Page/") > 2


LETTERS = """[...document.querySelectorAll("figure svg")].flatMap(svg => {
  const scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  return [...svg.querySelectorAll("text")]
    .map(text => parseFloat(getComputedStyle(text).fontSize) * scale)
    .filter(size => size < LEAST);
})""".replace("LEAST", "8.9")
EMPTY_HALF = """[...document.querySelectorAll("figure")].filter(figure => {
  const beside = figure.closest(".gallery");
  return !beside || [...beside.children].length < 2;
}).map(figure => figure.textContent.trim().slice(0, 60))"""


def test_letters_in_pictures_can_be_read_on_a_phone(browser, tmp_path):
    """Also in a confusion matrix of many classes, which is wider than the screen."""
    import numpy as np
    import pyarrow as pa

    from likely import NaiveBayes

    rng = np.random.default_rng(0)
    codes = rng.integers(0, 12, 600)
    names = np.array([f"species {k:02d}" for k in range(12)])
    table = pa.table({"x": codes + rng.normal(size=600), "kind": names[codes]})
    folder = write_run(tmp_path / "run", table, "kind", NaiveBayes(), "naive-bayes")
    path = tmp_path / "report.html"
    assert run(["report", str(folder), "-o", str(path)]) == 0
    browser.open(path, width=400, scheme="light")
    assert browser.ask(LETTERS) == []
    assert browser.ask(WIDER_THAN_PAGE) <= 0


def test_pictures_stand_beside_something_on_a_wide_page(browser, report):
    browser.open(report, width=1280, scheme="light")
    assert browser.ask(EMPTY_HALF) == []
    hints = 'document.querySelectorAll(".more-right").length'
    shown = 'getComputedStyle(document.querySelector(".more-right")).display'
    assert browser.ask(hints) > 0
    assert browser.ask(shown) == "none"


def test_tables_wider_than_a_phone_say_so_and_others_do_not(browser, report):
    browser.open(report, width=400, scheme="light")
    wrong = """[...document.querySelectorAll(".scroll")].filter(box => {
      const hint = box.previousElementSibling?.className === "more-right";
      return box.scrollWidth > box.clientWidth + 1 && !hint;
    }).map(box => box.textContent.slice(0, 80))"""
    assert browser.ask(wrong) == []
