"""The GitHub Action, the GitLab template and docs/ci.md: what they promise is run here as the
services run it.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tfnanlint.cli.flags import parser
from tfnanlint.report import FORMATS
from tfnanlint.report.outputs import wanted

yaml = pytest.importorskip("yaml")
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "ci.md").read_text()
BAD = "import tensorflow as tf\n\n\ndef loss(z):\n    return tf.math.log(tf.nn.softmax(z))\n"


# The action


def action() -> dict:
    return yaml.safe_load((ROOT / "action.yml").read_text())


def test_the_action_is_well_formed():
    pytest.importorskip("check_jsonschema")
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.github-actions",
        str(ROOT / "action.yml"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout


def test_every_input_reaches_the_script_and_none_its_text():
    steps = [step for step in action()["runs"]["steps"] if "run" in step]
    assert not [step["name"] for step in steps if "${{" in step["run"]]
    used = set(re.findall(r"inputs\.([\w-]+)", (ROOT / "action.yml").read_text()))
    assert used == set(action()["inputs"])
    script = (ROOT / "integrations" / "github" / "github-action.sh").read_text()
    for name in [one for step in steps for one in step.get("env", {}) if one.startswith("INPUT_")]:
        assert f"${{{name}:-" in script


@pytest.fixture
def runner(tmp_path):
    """Runs the action's script as GitHub's runner does, in a work tree of its own."""
    if shutil.which("bash") is None:
        pytest.skip("needs bash")
    top, temp = tmp_path / "work", tmp_path / "temp"
    top.mkdir()
    temp.mkdir()
    program = tmp_path / "tfnanlint"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m tfnanlint "$@"\n')
    program.chmod(0o755)
    inputs = {
        f"INPUT_{name.replace('-', '_').upper()}": one["default"]
        for name, one in action()["inputs"].items()
    }

    def run(**stated: str) -> subprocess.CompletedProcess:
        environ = {
            **os.environ,
            **inputs,
            **{f"INPUT_{name}": value for name, value in stated.items()},
            "GITHUB_ACTIONS": "true",
            "RUNNER_TEMP": str(temp),
            "GITHUB_WORKSPACE": str(top),
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
            "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        }
        script = ["bash", str(ROOT / "integrations" / "github" / "github-action.sh"), str(program)]
        return subprocess.run(
            script, cwd=top, env=environ, capture_output=True, text=True, timeout=60
        )

    run.top, run.summary, run.temp = top, tmp_path / "summary.md", temp
    return run


def test_findings_are_annotated_summed_up_and_uploaded(runner):
    (runner.top / "model.py").write_text(BAD)
    runner.summary.write_text("before\n")
    done = runner(SARIF_FILE="out/t.sarif")
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("::warning title=TFN301 log-softmax,file=model.py,line=5,")
    assert (
        runner.summary.read_text().startswith("before\n## tfnanlint\n")
        and "model.py:5:12" in runner.summary.read_text()
    )
    assert json.loads((runner.top / "out" / "t.sarif").read_text())["runs"][0]["results"]
    assert list(runner.temp.iterdir()) == []


def test_inputs_switch_things_off(runner):
    (runner.top / "model.py").write_text(BAD)
    done = runner(ANNOTATIONS="false", SUMMARY="false", FAIL="false")
    assert (
        done.returncode == 0
        and done.stdout.startswith("model.py:5:12: warning: TFN301")
        and not runner.summary.exists()
    )
    assert runner(ARGS="--select=TFN101\n\n--certainty=must").returncode == 0
    assert runner(ARGS="--no-such-flag", FAIL="false").returncode == 2


def test_inputs_are_no_code(runner):
    (runner.top / "a b.py").write_text(BAD)
    (runner.top / "c.py").write_text(BAD)
    done = runner(PATHS="a b.py\r\n$(touch pwned); *\n`touch pwned`\n--fix", ANNOTATIONS="false")
    assert (
        "a b.py:5:12: warning: TFN301" in done.stdout
        and "c.py:" not in done.stdout
        and done.stdout.count("TFN002") == 3
    )
    assert (
        sorted(os.listdir(runner.top)) == ["a b.py", "c.py"]
        and "log_softmax" not in (runner.top / "a b.py").read_text()
    )


# GitLab


def test_the_template_is_well_formed_and_writes_what_it_declares(tmp_path):
    pytest.importorskip("check_jsonschema")
    spec, job = (ROOT / "integrations" / "gitlab" / "tfnanlint.yml").read_text().split("---\n")
    inputs = yaml.safe_load(spec)["spec"]["inputs"]
    assert set(re.findall(r"\$\[\[ inputs\.(\w+) \]\]", job)) == set(inputs)
    text = re.sub(
        r"\$\[\[ inputs\.(\w+) \]\]",
        lambda match: json.dumps(inputs[match[1]]["default"]).strip('"'),
        job,
    )
    path = tmp_path / "job.yml"
    path.write_text(text)
    command = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.gitlab-ci",
        "--data-transform",
        "gitlab-ci",
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    stated = yaml.safe_load(text)["tfnanlint"]
    reports = {one.name: one.path for one in wanted(None, None, stated["variables"])}
    declared = stated["artifacts"]["reports"]
    assert reports == {"gitlab": declared["codequality"], "junit": declared["junit"], "full": None}


def test_the_page_includes_the_template_with_inputs_that_it_has():
    (included,) = yaml.safe_load(PAGE.split("## GitLab")[1].split("```yaml\n")[1].split("```")[0])[
        "include"
    ]
    template = ROOT / included["file"].lstrip("/")
    spec = template.read_text().split("---\n")[0]
    assert set(included["inputs"]) <= set(yaml.safe_load(spec)["spec"]["inputs"])


# The page


def test_the_page_names_every_format():
    rows = re.findall(r"^\| (`.*?) \| ", PAGE.partition("A format may be")[0], re.M)
    assert {name for row in rows for name in re.findall(r"`([\w-]+)`", row)} == set(FORMATS)


def commands() -> list[str]:
    found = re.findall(r"^(?:\s*- (?:run: )?|\s+)?(tfnanlint check[^|\n]*)", PAGE, re.M)
    return [text.partition(" > ")[0] for text in found]


def test_the_commands_of_the_page_are_understood():
    assert len(commands()) >= 4
    for text in commands():
        arguments = parser().parse_args(shlex.split(text)[1:])
        assert wanted(arguments.output_format, arguments.output_file, {})


def test_the_workflow_of_suggestions_is_one(tmp_path):
    pytest.importorskip("check_jsonschema")
    block = (
        PAGE.split("### Suggestions in reviews on GitHub")[1].split("```yaml\n")[1].split("```")[0]
    )
    (tmp_path / "review.yml").write_text(block)
    schema = ["--builtin-schema", "vendor.github-workflows", "review.yml"]
    command = [sys.executable, "-m", "check_jsonschema", *schema]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout
    workflow = yaml.safe_load(block)
    assert workflow["permissions"]["pull-requests"] == "write"
    (step,) = [one for one in workflow["jobs"]["tfnanlint"]["steps"] if "reviewdog -f" in str(one)]
    assert "-reporter=github-pr-review" in step["run"] and "${{" not in step["run"]


def test_the_yaml_of_the_page_is_yaml():
    blocks = re.findall(r"```yaml\n(.*?)```", PAGE, re.S)
    assert len(blocks) == 6 and all(yaml.safe_load(block) for block in blocks)
    used = yaml.safe_load(blocks[0])["steps"][1]["with"]
    assert set(used) <= set(action()["inputs"])
