"""What is done with the result of a scan: the examples of `docs/scale.md`, and the HTML page."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import re
import shutil
from dataclasses import fields

import pytest

pa = pytest.importorskip("pyarrow", reason="the extra `scan` is not installed")
import pyarrow.parquet as pq  # noqa: E402

from tfnanlint.batch import FileRow, FindingRow  # noqa: E402
from tfnanlint.dev.repository import ROOT  # noqa: E402
from tfnanlint.scan import pool, run, summary  # noqa: E402
from tfnanlint.scan.inputs import references  # noqa: E402
from tfnanlint.scan.schema import files_schema, findings_schema  # noqa: E402

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")
LOG = "import tensorflow as tf\n\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
ROOTS = LOG + "\n\ndef norm(x):\n    return tf.sqrt(tf.reduce_sum(x * x))\n"
HOSTILE = "<img src=x onerror=\"document.title='stolen'\">"
PAGE = (ROOT / "docs" / "scale.md").read_text()


def examples(word):
    """The Python blocks of the page that have a word, from imports on."""
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)
    return [block for block in blocks if word in block]


def scan(folder, out):
    run.Scan(references([str(folder)], each=True), str(out), pool.Orders(memory=0)).run()


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    """A folder with the results of two scans, `old` and `result`."""
    top = tmp_path_factory.mktemp("reading")
    for name, text in {
        "a": LOG,
        "b": ROOTS,
        "c": "print(1)\n",
        "d": "import keras\nx = (\n",
    }.items():
        (top / "code" / name).mkdir(parents=True)
        (top / "code" / name / "loss.py").write_text(text)
    scan(top / "code", top / "old")
    (top / "code" / "a" / "loss.py").write_text("import tensorflow as tf\n")
    (top / "code" / "a" / "more.py").write_text(ROOTS.replace("loss", "cost") + "\n" * 400)
    scan(top / "code", top / "result")
    return top


def test_the_duckdb_examples(results, monkeypatch):
    pytest.importorskip("duckdb")
    monkeypatch.chdir(results)
    first, second = examples("duckdb")
    names = {}
    exec(compile(first, "docs/scale.md", "exec"), names)
    codes = pq.read_table("result/findings").column("code").to_pylist()
    rules = names["rules"].fetchall()
    assert {(code, count) for code, _, count, _ in rules} == {
        (code, codes.count(code)) for code in set(codes)
    }
    assert ("TFN301", "log-softmax", 2, 2) in rules
    assert [name for name, *_ in names["density"].fetchall()] == ["b", "a"]
    reason = "syntax error: '(' was never closed; line N is not checked"
    assert names["unchecked"].fetchall() == [("failed", reason, 1)]
    assert dict(names["gone"].fetchall())["TFN301"] == dict(names["new"].fetchall())["TFN301"] == 1
    with open("sample.csv", newline="") as file:
        sample = list(csv.DictReader(file))
    assert [row["code"] for row in sample] == ["TFN301"] * 2
    with open("sample.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, sample[0])
        writer.writeheader()
        writer.writerows(row | {"verdict": word} for row, word in zip(sample, ("yes", "no")))
    exec(compile(second, "docs/scale.md", "exec"), names)
    assert names["precision"].fetchall() == [("TFN301", 2, 0.5)]


def test_the_pandas_example(results, monkeypatch):
    pytest.importorskip("pandas")
    monkeypatch.chdir(results)
    [block] = examples("import pandas")
    names = {}
    exec(compile(block, "docs/scale.md", "exec"), names)
    assert dict(names["rules"].loc["TFN301"]) == {"findings": 2, "repositories": 2}
    assert list(names["density"].index) == ["b", "a"]
    assert len(names["sample"]) == 2
    assert dict(names["change"].loc["TFN301"]) == {"old": 2, "new": 2}


def test_the_python_example():
    [block] = examples("from tfnanlint.batch import")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(block, "docs/scale.md", "exec"), {})
    assert "code='TFN301'" in out.getvalue() and "status='checked'" in out.getvalue()


def test_schemas_are_those_of_the_rows():
    assert files_schema().names == [field.name for field in fields(FileRow)]
    assert findings_schema().names == [field.name for field in fields(FindingRow)]


def test_density_counts_findings_in_lines():
    totals = run.Totals()
    for name, findings, lines in (("small", 5, 499), ("dense", 5, 1000), ("large", 9, 9000)):
        weights = [(name, findings, 1, lines)]
        dense = [weight for weight in weights if weight[3] >= run.DENSE]
        totals.add(
            dict.fromkeys(("repositories", "bytes", "seconds", "lines"), 1)
            | {
                "files": {},
                "findings": {},
                "names": {},
                "failures": [],
                "most": weights,
                "densest": dense,
            }
        )
    assert [weight[0] for weight in totals.most] == ["large", "dense", "small"]
    assert [(weight[0], run.density(weight)) for weight in totals.densest] == [
        ("dense", 5.0),
        ("large", 1.0),
    ]


def test_the_page_in_a_browser(results, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("there is no Chromium")
    totals = summary.totals_of(str(results / "result"))
    totals.most = [(HOSTILE, 30, 3, 3000), ("tame", 15, 3, 3000)]
    totals.densest = list(totals.most)
    (tmp_path / "summary.html").write_text(summary.page(totals))
    with sync_api.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 900, "height": 800})
        asked, wrong = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto((tmp_path / "summary.html").as_uri())
        assert page.title() == "tfnanlint scan"
        assert len(asked) == 1 and wrong == []
        headings = page.locator("h2").all_text_contents()
        assert [heading.split(" (")[0] for heading in headings] == [
            "Findings by rule",
            "Repositories by density",
            "Repositories by number",
            "Files",
        ]
        density = page.locator("table").nth(1).locator("tbody tr")
        assert density.locator("th").all_text_contents() == [HOSTILE, "tame"]
        assert density.locator("td.number").all_text_contents() == ["10.0", "5.0"]
        first, second = (
            density.nth(number).locator("rect").bounding_box()["width"] for number in (0, 1)
        )
        assert first == pytest.approx(2 * second, rel=0.02) and first > 100
        rules = page.locator("table").nth(0).locator("tbody th").all_text_contents()
        assert "TFN301 log-softmax" in rules
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        page.set_viewport_size({"width": 360, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        browser.close()
    assert os.path.getsize(tmp_path / "summary.html") < 100_000
