"""The repository keeps its own promises: rules are complete, imports point one way, little is
loaded, generated text is fresh.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import fixture_sizes
import outcomes
import pytest
from claims import cases
from crossings import Crossings
from expectations import expectations

from tfnanlint.dev import catalogue, docs, repository
from tfnanlint.diagnostics.fix_names import TITLES, name_of
from tfnanlint.rule.registry import load
from tfnanlint.syntax.source import Source

ROOT = repository.ROOT
RULES = pytest.mark.parametrize("rule", load(), ids=lambda rule: rule.slug)


# Rules


@RULES
def test_rule_is_complete(rule):
    assert rule.doc.count("\n") >= 6, "the docstring of the file explains the rule"
    assert catalogue.examples(rule, "Bad") and catalogue.examples(rule, "Good")
    assert repository.rule_file(rule).exists(), (
        f"{rule.code} stands in rules/{repository.stem(rule)}.py"
    )
    for path in (
        repository.rule_file(rule),
        repository.fixture(rule),
        repository.golden(rule),
        repository.claims(rule),
    ):
        assert path.exists(), path.relative_to(ROOT)
        assert "TODO" not in path.read_text(), path.relative_to(ROOT)
    kinds = {
        one.kind
        for one in expectations(repository.fixture(rule).read_text())
        if one.code in ("", rule.code)
    }
    assert {"want", "ok"} <= kinds


@pytest.mark.parametrize("rule", fixture_sizes.rules())
def test_every_fix_is_executed(rule):
    """Each title that the rule's file states, and each that its fixture shows, has a case in
    fixtures/claims.
    """
    executed = {case.title for case in cases(rule)}
    stated = {one.text: one.pattern for one in catalogue.stated_fixes(rule)}
    assert [
        text for text, pattern in stated.items() if not any(map(pattern.fullmatch, executed))
    ] == []
    path = repository.fixture(rule)
    findings = outcomes.findings(Source.from_bytes(path.name, path.read_bytes()), [rule])
    shown = {fix.title for one in findings if one.code == rule.code for fix in one.fixes}
    plain = set(map(catalogue.plain_title, executed))
    named = {
        title
        for title in shown
        if any(one.pattern.fullmatch(title) for one in catalogue.stated_fixes(rule))
    }
    assert {catalogue.plain_title(title) for title in shown - named} <= plain


@RULES
def test_the_fixes_of_a_rule_have_the_names_that_it_declares(rule):
    titles = [one.text for one in catalogue.stated_fixes(rule)]
    titles += [case.title for case in cases(rule)]
    assert set(map(name_of, titles)) == set(rule.fixes) <= set(TITLES)


@RULES
def test_a_rule_without_a_fix_says_why(rule):
    """What can be repaired is executed; of the rest the page says why not, and what to do by hand."""
    text = " ".join(rule.doc.split()).lower()
    assert bool(cases(rule)) != ("there is no automatic fix" in text)


@RULES
def test_page_links_to_real_cases(rule):
    """A public report of it, or the plain statement that none is known."""
    case = re.search(
        r"https://(github\.com/[\w.-]+/[\w.-]+/(issues|pull)/\d+|stackoverflow\.com/questions/\d+|e-com-net\.com/article/\d+)",
        rule.doc,
    )
    # the guide to tfdbg shows the bug itself
    guide = "https://github.com/tensorflow/docs/" in rule.doc
    assert bool(case or guide) != ("No public report known" in rule.doc)


@pytest.mark.parametrize("rule", fixture_sizes.rules())
def test_fixture_shows_the_ways_to_the_hazard(rule):
    """A want through a name and one through a function, each gone when that is taken away; one op
    in two spellings.
    """
    path = repository.fixture(rule)
    shown = Crossings(rule, Source.from_bytes(path.name, path.read_bytes()))
    assert shown.variable() is not None, "no want rests on a value that a name carries"
    assert rule.code in OWN_CALL or shown.helper() is not None, (
        "no want rests on what another function of the file does"
    )
    assert any(len(ways) > 1 for ways in shown.spellings().values()), shown.spellings()


# The finding is a call that stands there: what other functions give does not change it.
OWN_CALL = {"TFN901"}


# Groups of codes and how far each goes: a code that is promised has a rule.
CATALOGUE = {1: 8, 2: 12, 3: 14, 4: 8, 5: 7, 6: 4, 8: 7, 9: 2}


def test_every_code_of_the_catalogue_has_its_rule():
    assert {one.code for one in load()} == {
        f"TFN{group}{number:02}"
        for group, last in CATALOGUE.items()
        for number in range(1, last + 1)
    }


def test_codes_and_names():
    rules = load()
    assert len({one.code for one in rules}) == len({one.slug for one in rules}) == len(rules) >= 40
    known = {one.code for one in rules}
    files = {path.stem for path in (ROOT / "rules").glob("*.py")} - {"__init__"}
    assert files == {repository.stem(one) for one in rules}
    for folder in ("rules", "claims"):
        left = {
            path.stem.removesuffix(".fixed") for path in (ROOT / "fixtures" / folder).glob("*.py")
        } - files
        assert not left, f"fixtures/{folder} without a rule: {sorted(left)}"
    assert {code for one in rules for code in one.over} <= known


# Structure


def test_rules_import_only_the_api():
    for path in (ROOT / "rules").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tfnanlint"):
                assert node.module == "tfnanlint.api", f"{path.name} imports {node.module}"
            if isinstance(node, ast.Import):
                assert not any(alias.name.startswith("tfnanlint") for alias in node.names), (
                    path.name
                )


# Files that hold more than one subject: this list only gets shorter.
LONG = """
tfnanlint/cli/flags.py
tfnanlint/config/layers.py
tfnanlint/gradients/activity.py
tfnanlint/guards/post_guards.py
tfnanlint/idioms/vanishing.py
tfnanlint/interp/callgraph/function_flow.py
tfnanlint/interp/containers.py
tfnanlint/interp/expressions.py
tfnanlint/ops/families/arrays.py
tfnanlint/ops/families/elementwise.py
tfnanlint/ops/families/nn.py
tfnanlint/ops/families/python.py
tfnanlint/ops/families/reductions.py
tfnanlint/ops/models/layers.py
tfnanlint/ops/models/variables.py
tfnanlint/ops/transfer/core.py
tfnanlint/ops/transfer/curves.py
tfnanlint/pipeline/analysis.py
tfnanlint/pipeline/fix.py
tfnanlint/program/builder.py
tfnanlint/program/functions.py
tfnanlint/program/mutation.py
tfnanlint/program/scope.py
tfnanlint/project/index.py
tfnanlint/prove/search.py
tfnanlint/rewrite/availability.py
tfnanlint/rewrite/rewriter.py
tfnanlint/rewrite/spelling.py
tfnanlint/rule/quotients.py
tfnanlint/rule/recipes.py
tfnanlint/rule/registry.py
tfnanlint/uses/uses.py
tfnanlint/values/value.py
""".split()


def test_files_stay_small():
    files = [*(ROOT / "tfnanlint").rglob("*.py"), *(ROOT / "rules").glob("*.py")]
    lines = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in files}
    written = {"tfnanlint/ops/signatures.py", "tfnanlint/ops/spellings.py"}
    assert sorted(name for name in lines if lines[name] > 600 and name not in written) == LONG


HEAVY = "tensorflow keras numpy libcst rich pygls lsprotocol"
LOADED = f"""
import sys
from tfnanlint.cli import main
try:
    code = main(sys.argv[1:])
except SystemExit as end:
    code = end.code
print("loaded:", *sorted({{name.split(".")[0] for name in sys.modules}} & set("{HEAVY}".split())))
"""


def loaded(tmp_path: Path, text: str, *flags: str) -> list[str]:
    """Which of the heavy packages a check of `text` loads."""
    path = tmp_path / "a.py"
    path.write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", LOADED, "check", "--isolated", *flags, str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("loaded:"))
    return line.split()[1:]


def test_a_clean_file_loads_nothing_heavy(tmp_path):
    clean = "import tensorflow as tf\n\n\ndef f(x):\n    return tf.math.log(tf.nn.relu(x) + 2.0)\n"
    assert loaded(tmp_path, clean) == []
    assert loaded(tmp_path, "print(1)\n") == []


BAD = "import tensorflow as tf\n\n\ndef f(x):\n    return tf.math.log(tf.nn.softmax(x))\n"


@pytest.mark.parametrize("name", ["concise", "github", "json", "full", "sarif"])
def test_a_finding_with_a_fix_loads_nothing_heavy(name, tmp_path):
    """Whether there is a fix, and its text, take no parser but Python's own."""
    assert loaded(tmp_path, BAD, "--output-format", name) == []


@pytest.mark.parametrize("option", ["--fix", "--diff"])
def test_what_is_written_is_written_by_libcst(option, tmp_path):
    assert loaded(tmp_path, BAD, option) == ["libcst"]


STARTED = """
import re, sys
counted = []
plain = re._compiler.compile
def counting(pattern, flags=0):
    counted.append(pattern)
    return plain(pattern, flags)
re._compiler.compile = counting
sys.argv[0] = "tfnanlint"
from tfnanlint.cli import main
try:
    main(sys.argv[1:])
except SystemExit:
    pass
names = [name for name in ("signal", "threading", "tfnanlint.pipeline.linter") if name in sys.modules]
print("started:", len(counted), *names)
"""


def started(*words: str) -> tuple[int, list[str]]:
    """How many patterns a run compiles, and what it loads that only other runs need."""
    done = subprocess.run(
        [sys.executable, "-c", STARTED, *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("started:"))
    return int(line.split()[1]), line.split()[2:]


def test_help_loads_no_analysis():
    assert started("--help")[1] == []


def test_a_clean_file_compiles_few_patterns(tmp_path):
    path = tmp_path / "a.py"
    path.write_text("import tensorflow as tf\n\n\ndef f(x):\n    return tf.nn.relu(x) + 2.0\n")
    count, names = started("check", "--isolated", "--no-cache", str(path))
    assert count < 140
    assert names == ["tfnanlint.pipeline.linter"]


# Generated text


@pytest.mark.slow
def test_docs_are_fresh():
    stale = [
        str(path.relative_to(ROOT))
        for path, text in docs.pages(load()).items()
        if not path.exists() or path.read_text() != text
    ]
    assert not stale, "run: python -m tfnanlint.dev.docs"


def test_readme_lists_every_rule():
    text = (ROOT / "README.md").read_text()
    for rule in load():
        assert f"| {rule.code} | [{rule.slug}](docs/rules/{rule.slug}.md) |" in text
    page = (ROOT / "docs" / "rules" / "log-softmax.md").read_text()
    assert (
        page.startswith("# TFN301 log-softmax")
        and "```python\nlog_p = tf.nn.log_softmax(logits)\n```" in page
    )


# A new rule


@pytest.fixture
def copy(tmp_path):
    """A copy of the checkout in which commands run as in a fresh clone."""
    folder = tmp_path / "copy"
    for name in ("tfnanlint", "rules", "fixtures", "tests", "docs", "benchmarks/verdicts"):
        shutil.copytree(ROOT / name, folder / name)
    for name in ("README.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder / name)
    (folder / "tfnanlint_rules").symlink_to("rules")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess:
    path = os.pathsep.join(
        [
            str(folder),
            *(p for p in sys.path if p and Path(p).resolve() not in (ROOT, ROOT / "tests")),
        ]
    )
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": path},
    )


@pytest.mark.slow
def test_new_rule_is_demanded_to_be_completed(copy):
    made = run(copy, "tfnanlint.dev.new_rule", "TFN199", "sinh-of-large", "tf.sinh")
    assert made.returncode == 0, made.stderr
    stem = "sinh_of_large"
    paths = [f"rules/{stem}.py", f"fixtures/rules/{stem}.py", f"fixtures/claims/{stem}.py"]
    assert made.stdout.splitlines()[:3] == paths
    for path in paths:
        ast.parse((copy / path).read_text())
    listed = run(copy, "tfnanlint", "rule", "TFN199")
    assert listed.returncode == 0 and "sinh-of-large" in listed.stdout, listed.stderr
    asked = run(
        copy,
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "tests/repository/test_repository.py",
        "tests/rules/test_rules.py",
        "-k",
        "sinh-of-large",
    )
    failed = {
        line.split("::")[1].split("[")[0]
        for line in asked.stdout.splitlines()
        if line.startswith("FAILED")
    }
    assert {
        "test_rule_is_complete",
        "test_fixture",
        "test_golden_file",
        "test_good_example_is_silent",
    } <= failed, asked.stdout
    stale = run(copy, "tfnanlint.dev.docs", "--check")
    assert stale.returncode == 1 and "docs/rules/sinh-of-large.md is stale" in stale.stdout


@pytest.mark.parametrize(
    "arguments, problem",
    [
        (("TFN301", "log-of-something", "tf.sinh"), "taken"),
        (("TFN1990", "a-b", "tf.sinh"), "three digits"),
        (("TFN199", "CamelCase", "tf.sinh"), "joined by"),
        (("TFN199", "a-b", "tf.sinhh"), "no row"),
    ],
)
def test_new_rule_refuses(arguments, problem, tmp_path, capsys):
    from tfnanlint.dev.new_rule import main

    with pytest.raises(SystemExit) as end:
        main(list(arguments), tmp_path)
    assert end.value.code == 2 and problem in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
