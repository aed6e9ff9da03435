"""The formats for machines: each against its schema and an independent reader, with ordinary and
with hostile input.
"""

from __future__ import annotations

import io
import json
import os
import re
import urllib.parse
import xml.etree.ElementTree as ET
from dataclasses import replace
from pathlib import Path

import pytest
from test_report import HOSTILE, finding

from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Certainty, Claim, Edit, Finding, Fix, Step
from tfnanlint.diagnostics.grades import severity
from tfnanlint.pipeline.check import Checked, unread
from tfnanlint.report import FORMATS, PLAIN, escape, open_format
from tfnanlint.report.place import Paths, region, utf8_bytes, utf16_units
from tfnanlint.report.sarif import Sarif
from tfnanlint.syntax.source import Source, Span

SCHEMAS = Path(__file__).parent / "schemas"
TEXT = "import tensorflow as tf\np = tf.nn.softmax(z)\ns = 'é😀'; y = tf.math.log(p)\n"


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """An empty working directory that is no repository, and no CI service around it."""
    for name in (
        "GITHUB_WORKSPACE",
        "CI_PROJECT_DIR",
        "GITHUB_SERVER_URL",
        "GITHUB_REPOSITORY",
        "GITHUB_SHA",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def sample(path: str = "model.py", text: str = TEXT, **more) -> Checked:
    source = Source(path, text)
    piece = "tf.math.log(p)"
    span = Span(text.index(piece), text.index(piece) + len(piece))
    step = Span(text.index("tf.nn.softmax"), text.index("tf.nn.softmax") + 16)
    one = finding(
        source,
        piece,
        **{
            "message": "log of a softmax, which reaches 0",
            "range": "between 0 and 1",
            "trace": (
                Step(path, step, 2, "softmax is between 0 and 1"),
                Step("layers.py", Span(9, 9), 77, "z is anything"),
            ),
            "fixes": (
                Fix("use log_softmax", Claim.EQUAL, (Edit(span, "tf.nn.log_softmax(z)"),)),
                Fix("floor it", Claim.SHIFTED, (Edit(span, "tf.math.log(p + 1e-7)"),), "by 1e-7"),
            ),
            **more,
        },
    )
    return Checked(source, (one,))


def report(name: str, *files: Checked) -> str:
    shape = open_format(name, PLAIN)
    return shape.start() + "".join(map(shape.file, files)) + shape.end()


# Schemas


def against(schema: str, text: str):
    """A JSON report as data, after its schema has been checked."""
    jsonschema = pytest.importorskip("jsonschema")
    text.encode("ascii")
    data = json.loads(text)
    json.dumps(data, ensure_ascii=False).encode("utf-8")  # strict readers refuse lone surrogates
    problems = jsonschema.Draft202012Validator(
        json.loads((SCHEMAS / schema).read_text())
    ).iter_errors(data)
    assert [f"{list(one.absolute_path)}: {one.message}" for one in problems] == []
    return data


def junit(text: str) -> ET.Element:
    """A JUnit report as a tree, after its schema has been checked."""
    xmlschema = pytest.importorskip("xmlschema")
    schema = xmlschema.XMLSchema(str(SCHEMAS / "junit-10.xsd"))
    assert [one.reason for one in schema.iter_errors(io.BytesIO(text.encode("ascii")))] == []
    return ET.fromstring(text)


def sarif(text: str) -> dict:
    return against("sarif-2.1.0.json", text)["runs"][0]


def command(line: str) -> tuple[str, dict[str, str], str]:
    """A workflow command as GitHub's runner reads it."""
    name, _, rest = line.removeprefix("::").partition(" ")
    stated, _, data = rest.partition("::")

    def plain(text: str, pairs: str) -> str:
        for code in pairs.split():
            text = text.replace(code, chr(int(code[1:], 16)))
        return text.replace("%25", "%")

    properties = dict(part.split("=", 1) for part in stated.split(","))
    return (
        name,
        {key: plain(value, "%0D %0A %3A %2C") for key, value in properties.items()},
        plain(data, "%0D %0A"),
    )


# What each says


def test_sarif_tells_the_whole_story():
    run = sarif(report("sarif", sample()))
    (result,) = run["results"]
    rule = run["tool"]["driver"]["rules"][result["ruleIndex"]]
    assert rule["id"] == result["ruleId"] == "TFN101" and run["columnKind"] == "utf16CodeUnits"
    assert rule["help"]["text"] and "```python\n" in rule["help"]["markdown"]
    assert result["message"]["text"] == "log of a softmax, which reaches 0. Value: between 0 and 1."
    assert result["level"] == "warning" and result["properties"]["certainty"] == "may"
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"] == {"uri": "model.py", "uriBaseId": "%SRCROOT%"}
    where = {"startLine": 3, "startColumn": 16, "endLine": 3, "endColumn": 30}
    assert place["region"] == {**where, "snippet": {"text": "tf.math.log(p)"}}
    assert (
        place["contextRegion"]["startLine"] == 2
        and "softmax" in place["contextRegion"]["snippet"]["text"]
    )
    flow = [one["location"] for one in result["codeFlows"][0]["threadFlows"][0]["locations"]]
    assert [one["message"]["text"] for one in flow] == [
        "z is anything",
        "softmax is between 0 and 1",
        result["message"]["text"],
    ]
    assert [one["physicalLocation"]["artifactLocation"]["uri"] for one in flow] == [
        "layers.py",
        "model.py",
        "model.py",
    ]
    assert flow[0]["physicalLocation"]["region"] == {"startLine": 77}
    first, second = result["fixes"]
    assert first["artifactChanges"][0]["replacements"] == [
        {"deletedRegion": where, "insertedContent": {"text": "tf.nn.log_softmax(z)"}}
    ]
    assert second["description"]["text"] == "floor it (by 1e-7) [shifted]"
    assert set(result["partialFingerprints"]) == {"primaryLocationLineHash", "tfnanlint/v1"}


def test_sarif_describes_the_rules_of_its_results_and_nothing_of_this_machine(here):
    other = sample("other.py")
    other = replace(other, findings=(replace(other.findings[0], code="TFN501"),))
    text = report("sarif", sample(), other, sample("third.py"))
    run = sarif(text)
    codes = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(codes) == 2 and set(codes) == {"TFN501", run["results"][0]["ruleId"]}
    assert all(codes[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    assert str(here) not in text and "file:" not in text


def test_sarif_fingerprints_survive_moved_lines():
    def marks(checked):
        return sarif(report("sarif", checked))["results"][0]["partialFingerprints"]

    assert marks(sample(text="import os\n\n" + TEXT)) == marks(sample())


def test_sarif_leaves_out_the_least_sure_and_says_so():
    grades = [Certainty.UNKNOWN, Certainty.MUST, Certainty.MAY]
    files = [sample(f"f{n}.py", certainty=grades[n % 3]) for n in range(30)]
    shape = Sarif(max_results=15)
    for one in files:
        shape.file(one)
    run = sarif(shape.end())
    assert [one["level"] for one in run["results"]].count("error") == 10 and len(
        run["results"]
    ) == 15
    assert {one["level"] for one in run["results"]} == {"error", "warning"}
    (note,) = run["invocations"][0]["toolExecutionNotifications"]
    assert note["message"]["text"].startswith("15 of 30 findings are left out")


def test_sarif_stays_below_the_size_that_github_takes():
    import gzip

    whole = Sarif()
    whole.file(sample())
    limit = len(gzip.compress(whole.end().encode())) + 10_000  # room for some findings
    shape = Sarif(max_bytes=limit)
    for n in range(200):
        shape.file(
            sample(f"f{n}.py", message="".join(chr(33 + (n * 7 + k * k) % 90) for k in range(400)))
        )
    text = shape.end()
    run = sarif(text)
    assert len(gzip.compress(text.encode())) <= limit and 0 < len(run["results"]) < 200
    assert "left out" in run["invocations"][0]["toolExecutionNotifications"][0]["message"]["text"]


def test_sarif_says_that_the_analysis_failed():
    source = Source("a.py", "")
    run = sarif(
        report(
            "sarif", Checked(source, (notices.INTERNAL.finding(source, Span(0, 0), "it failed"),))
        )
    )
    assert not run["invocations"][0]["executionSuccessful"]
    assert run["results"][0]["level"] == "error" and "properties" not in run["results"][0]


def test_github_annotates_the_line():
    (line,) = report("github", sample()).splitlines()
    name, properties, text = command(line)
    assert name == "warning" and text.splitlines()[0] == "log of a softmax, which reaches 0"
    where = {"file": "model.py", "line": "3", "endLine": "3", "col": "15", "endColumn": "29"}
    assert properties == {"title": "TFN101 log-of-nonpositive", **where}


def test_github_gives_no_columns_over_several_lines():
    source = Source("a.py", "y = f(\n  x)\n")
    (line,) = report("github", Checked(source, (finding(source, "f(\n  x)"),))).splitlines()
    assert command(line)[1] == {
        "title": "TFN101 log-of-nonpositive",
        "file": "a.py",
        "line": "1",
        "endLine": "2",
    }


def test_gitlab_lists_issues_that_keep_their_fingerprint():
    (one,) = against("gitlab-codequality.json", report("gitlab", sample()))
    assert one["description"] == "TFN101 log of a softmax, which reaches 0 (value: between 0 and 1)"
    assert one["severity"] == "major" and one["location"]["positions"]["begin"] == {
        "line": 3,
        "column": 15,
    }
    (moved,) = against("gitlab-codequality.json", report("gitlab", sample(text="\n\n" + TEXT)))
    assert moved["fingerprint"] == one["fingerprint"] and moved["location"] != one["location"]
    two = against("gitlab-codequality.json", report("gitlab", sample(), sample("copy.py")))
    assert len({issue["fingerprint"] for issue in two}) == 2


def test_junit_counts_findings_as_failures_and_clean_files_as_passed():
    tree = junit(report("junit", sample(), Checked(Source("clean.py", TEXT))))
    bad, good = tree.findall("testsuite")
    assert (bad.get("name"), bad.get("failures"), good.get("name"), good.get("failures")) == (
        "model.py",
        "1",
        "clean.py",
        "0",
    )
    failure = bad.find("testcase/failure")
    assert (
        failure.get("message") == "log of a softmax, which reaches 0"
        and "layers.py:77: z is anything" in failure.text
    )
    assert len(junit(report("junit")).findall("testsuite/testcase")) == 1


def test_rdjson_counts_bytes_and_suggests_the_fix():
    (one,) = against("rdjson.json", report("rdjson", sample()))["diagnostics"]
    assert one["location"]["range"]["start"] == {
        "line": 3,
        "column": 1 + len("s = 'é😀'; y = ".encode()),
    }
    assert one["suggestions"] == [
        {"range": one["location"]["range"], "text": "tf.nn.log_softmax(z)"}
    ]
    assert one["severity"] == "WARNING" and one["code"]["value"] == "TFN101"


def test_rdjson_joins_near_edits_and_leaves_out_far_ones():
    source = Source("a.py", "import tf\n" + "x = 1\n" * 40 + "y = f(a) + g(a)\n")
    at = source.text.index("y =")
    near = Fix(
        "t", Claim.EQUAL, (Edit(Span(at + 4, at + 5), "F"), Edit(Span(at + 11, at + 12), "G"))
    )
    far = Fix("t", Claim.EQUAL, (Edit(Span(0, 0), "import K\n"), Edit(Span(at, at + 1), "z")))
    found = Checked(
        source, (finding(source, "f(a)", fixes=(near,)), finding(source, "g(a)", fixes=(far,)))
    )
    first, second = against("rdjson.json", report("rdjson", found))["diagnostics"]
    assert first["suggestions"][0]["text"] == "F(a) + G" and "suggestions" not in second


def test_json_lines_are_the_objects_of_json():
    lines = [
        json.loads(line) for line in report("json-lines", sample(), sample("b.py")).splitlines()
    ]
    assert lines == json.loads(report("json", sample(), sample("b.py"))) and len(lines) == 2
    assert lines[0]["severity"] == "warning" and lines[0]["fingerprint"] == lines[1]["fingerprint"]


def test_grouped_puts_findings_under_their_file():
    two = sample()
    two = Checked(two.source, (*two.findings, finding(two.source, "tf.nn", message="n")))
    assert report("grouped", two, Checked(Source("b.py", ""))) == (
        "model.py:\n  3:15 warning TFN101 [*] log of a softmax, which reaches 0\n  2:5  warning TFN101 n\n\n"
    )


def test_markdown_counts_and_lists(monkeypatch):
    cells = rows(report("markdown", sample()))
    assert ["TFN101 log-of-nonpositive", "1", "1"] in cells
    assert [
        "warning",
        "model.py:3:15",
        "TFN101",
        "log of a softmax, which reaches 0 (value: between 0 and 1) [*]",
    ] in cells
    assert "Nothing was found." in report("markdown", Checked(Source("b.py", "")))
    for name, value in (
        ("SERVER_URL", "https://github.example"),
        ("REPOSITORY", "o/r"),
        ("SHA", "abc"),
    ):
        monkeypatch.setenv(f"GITHUB_{name}", value)
    assert "(https://github.example/o/r/blob/abc/model.py#L3)" in report("markdown", sample())


def test_markdown_lists_the_surest_first_and_not_without_end():
    grades = [Certainty.UNKNOWN, Certainty.MUST]
    text = report("markdown", *(sample(f"f{n}.py", certainty=grades[n % 2]) for n in range(1100)))
    levels = [row[0] for row in rows(text) if len(row) == 4 and row[0] in ("error", "note")]
    assert (
        levels == ["error"] * 500
        and "600 more are not shown." in text
        and len(text.encode()) < 1 << 20
    )


def tokens(text: str):
    markdown_it = pytest.importorskip("markdown_it")
    return markdown_it.MarkdownIt("gfm-like", {"linkify": False}).parse(text)


def rows(text: str) -> list[list[str]]:
    """The tables of a Markdown text, as they are shown."""
    found: list[list[str]] = []
    inside = False
    for token in tokens(text):
        inside = token.type == "tr_open" or (inside and token.type != "tr_close")
        if token.type == "tr_open":
            found.append([])
        elif token.type == "inline" and inside:
            found[-1].append("".join(child.content for child in token.children))
    return found


@pytest.mark.parametrize(
    "grade, name",
    [(Certainty.MUST, "error"), (Certainty.MAY, "warning"), (Certainty.UNKNOWN, "note")],
)
def test_levels(grade, name):
    assert severity(sample(certainty=grade).findings[0]) == name
    assert severity(unread("a.py", "gone").findings[0]) == "error"
    source = Source("a.py", "")
    assert severity(notices.IDLE.finding(source, Span(0, 0), "idle")) == "warning"


# Places


def test_paths_start_at_the_top_of_the_repository(here, monkeypatch):
    (here / "r" / ".git").mkdir(parents=True)
    (here / "r" / "sub").mkdir()
    (here / "r" / "sub" / "a b.py").write_text("")
    (here / "r" / "link.py").symlink_to(here / "r" / "sub" / "a b.py")
    monkeypatch.chdir(here / "r" / "sub")
    assert [Paths().of(path) for path in ("a b.py", "../link.py", "-")] == [
        "sub/a b.py",
        "sub/a b.py",
        "-",
    ]
    assert Paths().uri("a b.py") == "sub/a%20b.py"
    outside = str(here / "x y.py")
    assert Paths().of(outside) == os.path.realpath(outside) and Paths().uri(outside).startswith(
        "file:///"
    )
    assert Paths().uri(outside).endswith("/x%20y.py")
    monkeypatch.setenv("CI_PROJECT_DIR", str(here / "r" / "sub"))
    assert Paths().of("a b.py") == "a b.py"
    monkeypatch.setenv("GITHUB_WORKSPACE", str(here / "elsewhere"))
    assert Paths().of("a b.py") == "a b.py"


def test_columns_in_each_unit():
    source = Source("a.py", "é😀x\n中y\n")
    span = Span(2, 5)
    assert [
        region(source, span).column,
        region(source, span, utf16_units).column,
        region(source, span, utf8_bytes).column,
    ] == [3, 4, 7]
    assert region(source, span, utf8_bytes).end_column == 4 and region(source, span).end_row == 2


# Hostile names and source

NAMES = [
    "a\nb.py",
    "::error::b.py",
    "a::b,c=d.py",
    "%0A%25.py",
    "\x1b[31m.py",
    "\u202egnp.py",
    "\udcff.py",
    "</failure>&.py",
    "a|b`<i>*_c.py",
    "[x](y).py",
    "C:.py",
    "\ufffe\x00.py",
    "a\r\nb.py",
    "##[error]x.py",
    "]]>.py",
    "\x85\u2028.py",
]


@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_name_stays_a_name(name, monkeypatch):
    checked = sample(name)
    monkeypatch.setattr(os.path, "realpath", os.path.abspath)  # a name may be none for this system
    (line,) = report("github", checked).splitlines()
    assert command(line)[1]["file"] == escape(name) and len(command(line)[1]) == 6
    (result,) = sarif(report("sarif", checked))["results"]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert urllib.parse.unquote_to_bytes(uri) == os.fsencode(name) and re.fullmatch(
        r"[\w.%/~-]+", uri
    )
    (issue,) = against("gitlab-codequality.json", report("gitlab", checked))
    (diagnostic,) = against("rdjson.json", report("rdjson", checked))["diagnostics"]
    readable = name.replace("\udcff", "\\udcff")
    assert issue["location"]["path"] == diagnostic["location"]["path"] == readable
    for one in ("json", "json-lines"):
        data = json.loads(report(one, checked))
        assert (data if one == "json-lines" else data[0])["filename"].endswith(
            f"/{readable}".rpartition("/")[2]
        )
    (suite,) = junit(report("junit", checked)).findall("testsuite")
    assert (
        suite.get("name") == escape(name).replace("\ufffe", "\\ufffe")
        and len(suite.findall("testcase/failure")) == 1
    )
    shown = [row[1] for row in rows(report("markdown", checked)) if row[0] == "warning"]
    assert shown == [f"{escape(name)}:3:15"]


@pytest.mark.parametrize(
    "text",
    [
        *HOSTILE,
        "::error::x",
        "%0A::error::x",
        "]]><x a='",
        "|",
        "`",
        "<img src=x>",
        "![a](b)",
        "##[error]",
        "\ufffe",
        "*a*",
        "@you",
        "[a](3)",
        "http://e.org www.e.org",
    ],
)
@pytest.mark.parametrize("name", [one for one in FORMATS if one not in ("full", "concise")])
def test_hostile_source_stays_text(name, text):
    code = text.replace("\n", "").replace("\r", "").replace("'", "")
    checked = sample(
        text=TEXT.replace("é😀", code),
        message=f"m{text}",
        range=f"r{text}",
        trace=(Step("model.py", Span(0, 1), 1, f"t{text}"),),
        fixes=(Fix(f"f{text}", Claim.EQUAL, (Edit(Span(0, 0), code),), f"c{text}"),),
    )
    out = report(name, checked)
    assert not re.search(
        "[\x00-\x09\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff]", out
    )
    if name == "github":
        (line,) = out.splitlines()
        assert command(line)[2].startswith(f"m{escape(text)}")
    elif name == "junit":
        assert len(junit(out).findall("testsuite/testcase/failure")) == 1
    elif name == "markdown":
        kinds = {child.type for token in tokens(out) for child in token.children or ()}
        assert kinds <= {"text", "text_special", "code_inline"} and "html_block" not in {
            token.type for token in tokens(out)
        }
        assert f"m{escape(text)} (value: r{escape(text)}) [*]" in [row[-1] for row in rows(out)]
    elif name == "sarif":
        (result,) = sarif(out)["results"]
        assert result["message"]["text"].startswith(
            f"m{escape(text)}".replace("](", "] (").rstrip(".")
        )
        assert ("fixes" in result) == (text != "\ud83d")
    elif name in ("gitlab", "rdjson"):
        against({"gitlab": "gitlab-codequality.json", "rdjson": "rdjson.json"}[name], out)
    elif name == "grouped":
        assert out.count("\n") == 3


def test_a_file_without_text_has_a_place_in_every_format():
    checked = unread("\udcff.py", "it is a pipe")
    for name in FORMATS:
        out = report(name, checked)
        out.encode("utf-8")
        assert "it is a pipe" in out
    assert sarif(report("sarif", checked))["results"][0]["level"] == "error"


def test_many_equal_findings_keep_apart():
    source = Source("a.py", "tf.log(p)\n" * 50)
    found = tuple(
        Finding(
            "TFN101", "log-of-nonpositive", "a.py", Span(n * 10, n * 10 + 9), "m", Certainty.MAY
        )
        for n in range(50)
    )
    issues = against("gitlab-codequality.json", report("gitlab", Checked(source, found)))
    assert len({one["fingerprint"] for one in issues}) == 50
    marks = [
        one["partialFingerprints"]["primaryLocationLineHash"]
        for one in sarif(report("sarif", Checked(source, found)))["results"]
    ]
    assert len(set(marks)) == 50


# Notebooks


def notebook(shell, *cells: str) -> None:
    """A notebook with a Markdown cell in front, in JSON with non-ASCII letters as they are."""
    code = [
        {
            "cell_type": "code",
            "execution_count": None,
            "metadata": {},
            "outputs": [],
            "source": text.splitlines(True),
        }
        for text in cells
    ]
    document = {
        "cells": [{"cell_type": "markdown", "metadata": {}, "source": ["# é"]}, *code],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    shell.write("n.ipynb", json.dumps(document, indent=1, ensure_ascii=False))


def test_a_notebook_in_every_format(shell, monkeypatch):
    """People get cell and line, programs the line of the file, which holds the code as JSON."""
    notebook(
        shell, "import tensorflow as tf\n", "%time 1\ns = '😀é'; y = tf.log(tf.nn.softmax(z))\n"
    )
    lines = (shell.directory / "n.ipynb").read_text().splitlines()
    row = next(number for number, line in enumerate(lines, 1) if "softmax" in line)
    before = lines[row - 1].partition("tf.log(")[0]
    said = {name: shell.run("check", "--output-format", name).text for name in FORMATS}
    assert "n.ipynb:cell 3:2:" in said["full"] and "n.ipynb:cell 3:2:" in said["concise"]
    assert "  cell 3:2:15 warning TFN301 [*]" in said["grouped"]
    assert json.loads(said["json"])[0]["cell"] == json.loads(said["json-lines"])["cell"] == 3
    (line,) = said["github"].splitlines()
    assert command(line)[1]["line"] == str(row) and command(line)[2].startswith(
        "line 2 of cell 3: log of a softmax"
    )
    (issue,) = against("gitlab-codequality.json", said["gitlab"])
    assert issue["location"]["positions"]["begin"] == {"line": row, "column": 1 + len(before)}
    assert issue["description"].startswith("TFN301 line 2 of cell 3: ")
    (diagnostic,) = against("rdjson.json", said["rdjson"])["diagnostics"]
    assert diagnostic["location"]["range"]["start"] == {
        "line": row,
        "column": 1 + len(before.encode()),
    }
    assert "suggestions" not in diagnostic
    (result,) = sarif(said["sarif"])["results"]
    place = result["locations"][0]["physicalLocation"]
    assert place["region"]["startLine"] == row and place["region"][
        "startColumn"
    ] == 1 + utf16_units(before)
    assert lines[row - 1][place["region"]["startColumn"] - 2 :].startswith("tf.log(")
    assert place["region"]["snippet"]["text"] == "tf.log(tf.nn.softmax(z))"
    assert "softmax" in place["contextRegion"]["snippet"]["text"] and "fixes" not in result
    assert (
        result["message"]["text"].startswith("line 2 of cell 3: ")
        and "primaryLocationLineHash" in result["partialFingerprints"]
    )
    (case,) = junit(said["junit"]).findall("testsuite/testcase")
    assert (
        case.get("name") == "TFN301 log-softmax, line 2 of cell 3, column 15"
        and "n.ipynb:cell 3:2:15" in case.find("failure").text
    )
    assert ["warning", "n.ipynb:cell 3:2:15"] in [row[:2] for row in rows(said["markdown"])]


def test_paths_of_windows_in_reports(monkeypatch):
    import ntpath

    from tfnanlint.report import place

    paths = place.Paths()
    monkeypatch.setattr(place.os, "path", ntpath)
    monkeypatch.setattr(place.os, "sep", "\\")
    paths._top = "C:\\work"
    assert paths.of("C:\\work\\sub\\a b.py") == "sub/a b.py"
    assert paths.uri("C:\\work\\sub\\a b.py") == "sub/a%20b.py"
    assert paths.of("D:\\x\\a.py") == "D:/x/a.py"
    assert paths.uri("D:\\x\\a.py") == "file:///D%3A/x/a.py"
    assert paths.uri("\\\\server\\share\\a.py") == "file://server/share/a.py"
