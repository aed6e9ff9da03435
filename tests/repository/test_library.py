"""The library: `tfnanlint.check` and `tfnanlint.fix`, the same as the command line."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tfnanlint

RISKY = "import tensorflow as tf\n\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"
FIXED = "import tensorflow as tf\n\n\ndef loss(z):\n    return tf.nn.log_softmax(z)\n"
HERE = Path(__file__).parents[2]


@pytest.mark.parametrize("source", [RISKY, RISKY.encode()])
def test_check_says_what_the_command_line_says(tmp_path, monkeypatch, source):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text(RISKY)
    done = subprocess.run(
        [sys.executable, "-m", "tfnanlint", "check", "--output-format", "json", "a.py"],
        capture_output=True,
        text=True,
    )
    (shown,) = json.loads(done.stdout)
    checked = tfnanlint.check(source, "a.py")
    (finding,) = checked.findings
    assert isinstance(checked, tfnanlint.Checked) and isinstance(finding, tfnanlint.Finding)
    assert (finding.code, finding.message, finding.range) == (
        shown["code"],
        shown["message"],
        shown["range"],
    )
    row, column = checked.source.position(finding.span.start)
    assert {"row": row, "column": column} == shown["location"]


def test_paths_are_checked_as_on_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.py").write_text(RISKY)
    (tmp_path / "sub" / "b.py").write_text("import torch\n")
    (tmp_path / "tfnanlint.toml").write_text("unsafe-fixes = true\n")
    command = [sys.executable, "-m", "tfnanlint", "check", "--output-format", "json", "sub"]
    shown = json.loads(subprocess.run(command, capture_output=True, text=True).stdout)
    for path in (Path("sub"), "sub", Path("sub") / "a.py"):
        (checked,) = tfnanlint.check_path(path)
        assert json.loads(json.dumps(tfnanlint.to_dict(checked))) == shown
    assert [one.path for one in tfnanlint.check_path("sub", settings={"exclude": ["a.py"]})] == []
    (missing,) = tfnanlint.check_path(tmp_path / "gone.py")
    assert [finding.code for finding in missing.findings] == ["TFN002"]
    assert tfnanlint.check(RISKY, Path("a.py")).path == "a.py"
    assert tfnanlint.fix(RISKY, Path("a.py")).after == FIXED


def test_fix_keeps_the_kind_of_source():
    assert tfnanlint.fix(RISKY).after == FIXED
    fixed = tfnanlint.fix(RISKY.replace("\n", "\r\n").encode("utf-8-sig"))
    assert fixed.after == FIXED.replace("\n", "\r\n").encode("utf-8-sig")
    assert (
        fixed.changed
        and [one.code for one in fixed.applied] == ["TFN301"]
        and not fixed.checked.findings
    )


def test_text_is_taken_as_it_is_whatever_encoding_it_declares():
    text = "# coding: latin-1\n" + RISKY + "# öäü €\n"
    assert tfnanlint.fix(text).after == text.replace(
        "tf.math.log(tf.nn.softmax(z))", "tf.nn.log_softmax(z)"
    )


def test_settings_are_those_of_the_configuration():
    text = "import tensorflow as tf\n\n\ndef f(x):\n    return tf.math.log(tf.nn.relu(x))\n"
    assert [one.code for one in tfnanlint.check(text).findings] == ["TFN101"]
    assert not tfnanlint.check(text, settings={"ignore": ["TFN101"]}).findings
    assert not tfnanlint.check(text, settings={"select": ("TFN3",)}).findings
    assert not tfnanlint.fix(text).changed
    named = {"unsafe-fixes": True, "rules": {"TFN101": {"fix": ["floor"]}}}
    assert tfnanlint.fix(text, settings=named).changed
    for wrong in ({"selct": []}, {"select": "TFN1"}, {"select": ["TFN999"]}):
        with pytest.raises(tfnanlint.ConfigError):
            tfnanlint.check(text, settings=wrong)


def test_files_are_looked_up_only_on_demand(tmp_path):
    (tmp_path / "tfnanlint.toml").write_text('ignore = ["TFN3"]\n')
    path = str(tmp_path / "a.py")
    assert [one.code for one in tfnanlint.check(RISKY, path).findings] == ["TFN301"]
    assert not tfnanlint.check(RISKY, path, lookup=True).findings  # nor does TFN101 take its place


def test_what_cannot_be_parsed_is_a_finding():
    (finding,) = tfnanlint.check("import tensorflow\nprint 'a'\n").findings
    assert finding.code == "TFN001"
    assert tfnanlint.fix("import tensorflow\nprint 'a'\n").problems == ()
    assert not tfnanlint.check("").findings and not tfnanlint.check(b"\xff\xfe").findings


def test_a_failure_is_a_finding(monkeypatch):
    from tfnanlint.pipeline import analysis as flow

    def fail(*_):
        raise ZeroDivisionError("on purpose")

    monkeypatch.setattr(flow, "Analysis", fail)
    (finding,) = tfnanlint.check(RISKY).findings
    assert finding.code == "TFN000" and "on purpose" in finding.message


def test_every_name_is_there_and_described():
    page = (HERE / "docs" / "api.md").read_text()
    for name in tfnanlint.__all__:
        assert getattr(tfnanlint, name).__doc__, name
        assert f"`{name}" in page, name
        assert name in dir(tfnanlint)
    with pytest.raises(AttributeError):
        tfnanlint.nothing


def test_the_page_runs(tmp_path):
    """Every Python block of docs/api.md, in order, as one program."""
    blocks = re.findall(r"```python\n(.*?)```", (HERE / "docs" / "api.md").read_text(), re.S)
    assert blocks
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(blocks)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    shown = re.search(r"```text\n(.*?)```", (HERE / "docs" / "api.md").read_text(), re.S)
    assert done.stdout == shown[1]


def test_importing_it_loads_nothing():
    code = "import sys; import tfnanlint; print([name for name in sys.modules if name.startswith('tfnanlint.')])"
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
        == "[]\n"
    )


def test_it_is_typed(tmp_path):
    assert (HERE / "tfnanlint" / "py.typed").exists()
    mypy = pytest.importorskip("mypy.api")
    (tmp_path / "use.py").write_text(
        "import tfnanlint\n"
        "text: str = tfnanlint.fix('').after\ndata: bytes = tfnanlint.fix(b'').after\n"
        "codes: list[str] = [one.code for one in tfnanlint.check('').findings]\n"
        "wrong: int = tfnanlint.check('').findings[0].code\n"
    )
    out, err, _ = mypy.run(
        [
            "--no-incremental",
            "--follow-imports=silent",
            f"--cache-dir={os.devnull}",
            str(tmp_path / "use.py"),
        ]
    )
    errors = [line for line in out.splitlines() if "error:" in line and "use.py" in line]
    assert len(errors) == 1 and "use.py:5" in errors[0], out + err
