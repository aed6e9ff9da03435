"""The HTML report: one page that loads nothing, in which nothing of a file becomes markup; opened in
a real browser where there is one.
"""

from __future__ import annotations

import builtins
import json
import re
import shutil
from html.parser import HTMLParser

import pytest

from tfnanlint.diagnostics.findings import Certainty, Claim, Edit, Finding, Fix, Step
from tfnanlint.diagnostics.verdicts import (
    Curve,
    InMode,
    Line,
    Proof,
    Result,
    Shown,
    Verdict,
    Witness,
)
from tfnanlint.html.number_line import bounds
from tfnanlint.pipeline.check import Checked
from tfnanlint.report.html import Html
from tfnanlint.syntax.source import Source, Span
from tfnanlint.values.value import INF, Value, words

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
HOSTILE = (
    "</script><script>document.title='stolen'</script>",
    "<img src=x onerror=\"document.title='stolen'\">",
    "<!--<script>",
    "${document.title='stolen'}",
    "'\"&amp;",
    "\u2028\u2029\u202e",
    "{{ 7 * 7 }}{% raw %}",
    "\udcff\x00\x1b[2J",
)


def finding(source: Source, piece: str, **more) -> Finding:
    start = source.text.index(piece)
    given = {"message": "logarithm of 0", "certainty": Certainty.MAY, **more}
    span = Span(start, start + len(piece))
    return Finding("TFN101", "log-of-nonpositive", source.path, span, **given)


def page(*checked: Checked) -> str:
    shape = Html()
    return shape.start() + "".join(map(shape.file, checked)) + shape.end()


def sample(path: str = "model.py", count: int = 1, **more) -> Checked:
    text = "import tensorflow as tf\n\ndef loss(p):\n    return tf.math.log(p)  # why\n"
    source = Source(path, text)
    new = "tf.math.log(tf.maximum(p, 1e-37))"
    start = text.index("tf.math.log(p)")
    given = {
        "range": "between 0 and 1",
        "trace": (
            Step(path, Span(start, start), 4, "p is between 0 and 1", "between 0 and 1", "loss"),
        ),
        "fixes": (Fix("floor it", Claim.SHIFTED, (Edit(Span(start, start + 14), new),), "a bit"),),
        **more,
    }
    return Checked(source, (finding(source, "tf.math.log(p)", **given),) * count)


def proved(text: str = "x") -> Verdict:
    """A verdict with all that one can have; `text` is what a program calls its input."""
    before = Curve((float("-inf"), 0.5, 1.0), (float("nan"), 2.0, None))
    line = Line(text, f"value {text}", 0.0, (0.0, 0.5, 1.0), before, Curve((0.0,) * 3, (1.0,) * 3))
    witness = Witness(
        f"the value of {text} is -inf",
        "eager",
        (Shown(text, text, "tf.zeros([2])", text),),
        f"print(1)  # {text}\n\nprint(2)\n",
        (InMode("eager", False, True), InMode("xla", None)),
        (Result("value", "-inf", "0"), Result(f"gradient of {text}", "nan", "1")),
        line,
    )
    return Verdict(Proof.PROVED, "", witness, True, "finite", 0.1)


def many() -> list[Checked]:
    """Findings of all severities in files of their own, 10,000 of them."""
    grades = (Certainty.MUST, Certainty.MAY, Certainty.UNKNOWN, Certainty.MAY)
    return [
        sample(f"pkg/model{i}.py", 100, certainty=grades[i % 4], message=f"logarithm number {i}")
        for i in range(100)
    ]


class Elements(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, text: str):
        super().__init__()
        self.found: list[tuple[str, dict]] = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def data_of(text: str) -> dict:
    found = re.findall(r'<script type="application/json" id="data">(.*?)</script>', text, re.S)
    assert len(found) == 1
    return json.loads(found[0])


def test_the_page_loads_nothing():
    elements = Elements(page(sample())).found
    assert not [tag for tag, more in elements if tag in ("link", "img", "iframe") or "src" in more]
    policy = next(more["content"] for tag, more in elements if "http-equiv" in more)
    assert policy.startswith("default-src 'none'") and "sha256-" in policy
    assert "http" not in re.sub(r"http://www\.w3\.org/2000/svg|http-equiv", "", page(sample()))


def test_a_finding_has_all_that_is_known():
    (found,) = data_of(page(sample()))["findings"]
    assert found["place"] == "model.py:4:12"
    assert found["span"] == [4, 11, 4, 25]
    assert found["lines"][-2] == [4, 4, "    return tf.math.log(p)  # why"]
    assert (found["range"], found["bounds"]) == ("between 0 and 1", [0.0, 1.0])
    assert found["steps"] == [
        {
            "place": "model.py:4 in loss",
            "line": "return tf.math.log(p)  # why",
            "text": "p",
            "value": "between 0 and 1",
        }
    ]
    assert found["fixes"] == [
        {
            "title": "floor it",
            "promise": "changes results: a bit; needs --unsafe-fixes",
            "before": ["return tf.math.log(p)  # why"],
            "after": ["return tf.math.log(tf.maximum(p, 1e-37))  # why"],
        }
    ]


def tags(text: str) -> list[str]:
    """The tags of a page, except where a path may be broken, which is behind each slash."""
    return [tag for tag, _ in Elements(text).found if tag != "wbr"]


@pytest.mark.parametrize("text", HOSTILE)
def test_nothing_of_a_file_becomes_markup(text):
    usual = tags(page(sample(verdict=proved())))
    code = text.replace("\n", " ").replace("\udcff", "").replace("\x00", "")
    source = Source(f"na{text}me.py", f"y = log({code!r})\n")
    found = finding(
        source,
        "log",
        message=text,
        range=text,
        trace=(Step(source.path, Span(0, 1), 1, text, text, text),),
        fixes=(Fix(text, Claim.SHIFTED, (Edit(Span(4, 5), code),), text),),
        help=text,
        verdict=proved(code),
    )
    out = page(Checked(source, (found,)))
    assert tags(out) == usual
    out.encode("utf-8")
    assert data_of(out)["findings"][0]["lines"][0][2].startswith("y = log(")


def test_nothing_found_is_said():
    out = page(Checked(Source("a.py", "")))
    assert "Nothing was found" in out and "<script" not in out


def test_without_jinja_one_line_says_what_is_missing(shell, monkeypatch):
    imported = builtins.__import__

    def refuse(name, *more):
        if name == "jinja2":
            raise ImportError(name)
        return imported(name, *more)

    monkeypatch.setattr(builtins, "__import__", refuse)
    shell.write("a.py", "import tensorflow as tf\ny = tf.log(x)\n")
    done = shell.run("check", "--output-format", "html=report.html")
    assert done.code == 2
    assert done.err == (
        "error: the HTML report needs the package Jinja2: pip install 'tfnanlint[html]'\n"
    )


@pytest.mark.parametrize(
    "lo, hi, expected",
    [
        (0.0, 1.0, (0, 1)),
        (-1.5e-7, 1e38, (-1.5e-7, 1e38)),
        (0.0, INF, (0, None)),
        (-INF, -2.0, (None, -2)),
        (-INF, INF, (None, None)),
        (3.0, 3.0, (3, 3)),
    ],
)
@pytest.mark.parametrize("zero", [False, True])
def test_words_of_ranges_are_read_back(lo, hi, expected, zero):
    value = Value(lo, hi, zero)
    if (lo, hi) == (-INF, INF):
        assert bounds("unbounded") == expected
    else:
        assert bounds(words(value)) == pytest.approx(expected)
    assert bounds("a mask") is None


# ---------------------------------------------------------------------------------------------------------
# In a browser


def expect(locator):
    """What waits until a place of the page is as wanted."""
    from playwright.sync_api import expect

    return expect(locator)


@pytest.fixture(scope="module")
def browser():
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    with sync_api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield started
        started.close()


@pytest.fixture
def opened(browser, tmp_path):
    """What opens a page; at the end nothing was loaded and nothing was complained of."""
    complaints: list[str] = []

    def open_page(*checked: Checked, **more):
        path = tmp_path / "report.html"
        path.write_text(page(*checked), encoding="utf-8")
        tab = browser.new_page(**more)
        tab.on("console", lambda said: complaints.append(said.text))
        tab.on("pageerror", lambda error: complaints.append(str(error)))
        tab.on("request", lambda asked: asked.url == path.as_uri() or complaints.append(asked.url))
        tab.goto(path.as_uri())
        return tab

    yield open_page
    assert complaints == []


def test_browser_opens_filters_searches_and_expands(opened):
    tab = opened(*many())
    assert tab.title() == "tfnanlint: 10000 findings"
    assert tab.locator("article").count() == 50
    assert tab.inner_text("#shown") == "10000 of 10000 shown"
    tab.click(".filter[data-key='error']")
    assert tab.inner_text("#shown") == "2500 of 10000 shown"
    assert tab.get_attribute(".filter[data-key='error']", "aria-pressed") == "true"
    tab.fill("#search", "number 44")
    expect(tab.locator("#shown")).to_have_text("100 of 10000 shown")
    tab.click("#next")
    assert tab.inner_text("#page") == "page 2 of 2" and tab.is_disabled("#next")
    tab.locator(".title").first.click()
    assert tab.locator(".body mark").first.inner_text() == "tf.math.log(p)"
    assert tab.locator(".body svg.line .range").count() == 1
    assert tab.locator(".added").first.inner_text().strip().startswith("return tf.math.log(tf.max")
    assert tab.locator(".steps li").count() == 2
    tab.locator(".title").first.click()
    assert tab.locator(".body").count() == 0
    tab.click("#reset")
    assert tab.inner_text("#shown") == "10000 of 10000 shown"


def test_browser_is_usable_with_keys_alone(opened):
    tab = opened(*many())
    tab.keyboard.press("/")
    tab.keyboard.type("number 7")
    expect(tab.locator("#shown")).to_have_text("1900 of 10000 shown")
    for key in ("Escape", "n", "j", "j", "Enter"):
        tab.keyboard.press(key)
    assert tab.inner_text("#page") == "page 2 of 38"
    assert [one.get_attribute("aria-expanded") for one in tab.locator(".title").all()][:3] == [
        "false",
        "true",
        "false",
    ]
    tab.keyboard.press("Enter")
    assert tab.locator(".body").count() == 0


@pytest.mark.parametrize("text", HOSTILE)
def test_browser_shows_hostile_text_as_it_is(opened, text):
    code = text.replace("\udcff", "").replace("\x00", "")
    source = Source(f"na{text}me.py", f"y = log({code!r})\n")
    found = finding(source, "log", message=text, range=text, help=text, verdict=proved(code))
    tab = opened(Checked(source, (found,)))
    scripts = 2  # that of the page, and its data
    assert tab.locator(".body").count() == 1  # a report of one finding shows it at once
    assert tab.title() == "tfnanlint: 1 finding"
    assert tab.locator("svg.curves").count() == 1 and tab.locator("parsererror").count() == 0
    assert tab.locator("script, img").count() == scripts
    if text.isprintable():
        assert text in tab.inner_text(".message") and text in tab.inner_text(".place")


def test_browser_shows_a_proof(opened):
    tab = opened(sample(verdict=proved()), permissions=["clipboard-read", "clipboard-write"])
    shown = tab.locator(".proof")
    assert shown.locator("p").first.inner_text() == "proved the value of x is -inf"
    assert tab.locator(".place .badge").inner_text() == "proved"
    rows = [row.inner_text().split("\t") for row in shown.locator("tbody tr").all()]
    assert rows == [
        ["x", "x (given by x)", "tf.zeros([2])"],
        ["value", "-inf", "0"],
        ["gradient of x", "nan", "1"],
        ["eager", "NaN or Inf", "finite"],
        ["xla", "not run", "not run"],
    ]
    fills = [one.get_attribute("fill") for one in shown.locator("svg.curves rect").all()]
    assert fills == ["url(#inf0)", "url(#nan0)"]
    assert shown.locator("svg.curves").evaluate("(svg) => svg.getBoundingClientRect().width") > 300
    shown.locator("summary").click()
    shown.locator(".copy").click()
    expect(shown.locator(".copy")).to_have_text("Copied")
    assert tab.evaluate("navigator.clipboard.readText()") == "print(1)  # x\n\nprint(2)\n"
    assert shown.locator(".program").inner_text().startswith("print(1)  # x\n")


def test_browser_filters_by_proof(opened):
    tab = opened(sample(verdict=proved()), sample("b.py"))
    tab.click(".filter[data-key='proved']")
    assert tab.inner_text("#shown") == "1 of 2 shown"


@pytest.mark.parametrize("scheme, light", [("light", True), ("dark", False)])
def test_browser_colours_and_print(opened, scheme, light):
    tab = opened(sample(verdict=proved()), color_scheme=scheme)
    strokes = tab.evaluate(
        """[...document.querySelectorAll("svg.curves path.before, svg.curves .nan path")].map(
            (path) => getComputedStyle(path).stroke)"""
    )
    assert len(set(strokes)) == 2 and "none" not in strokes
    back = "getComputedStyle(document.body).backgroundColor"
    brightness = f"{back}.match(/\\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0)"
    assert (tab.evaluate(brightness) > 382) == light
    tab.click("#theme")
    assert (tab.evaluate(brightness) > 382) != light
    tab.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert tab.locator(".body").count() == 1
    tab.emulate_media(media="print")
    assert not tab.is_visible(".controls")


@pytest.mark.slow
def test_browser_is_quick_with_10_000_findings(opened):
    tab = opened(*many())
    took = tab.evaluate(
        """() => {
            const start = performance.now();
            const search = document.getElementById("search");
            for (const button of document.querySelectorAll(".filter")) button.click();
            return (performance.now() - start) / document.querySelectorAll(".filter").length;
        }"""
    )
    assert took < 500  # milliseconds for each of 104 filters, on a busy machine
