"""Options of single rules: which of its fixes a rule offers, and what is said of wrong ones."""

from __future__ import annotations

import json

import pytest

import tfnanlint
from tfnanlint.config.keys import ConfigError
from tfnanlint.diagnostics.fix_names import TITLES, name_of

HEAD = "import tensorflow as tf\n"
ROOT = HEAD + "y = tf.sqrt(x)\n"
ENTROPY = "import tensorflow as tf\n\n\ndef loss(y, z):\n    p = tf.nn.softmax(z)\n"
ENTROPY += "    return -tf.reduce_sum(y * tf.math.log(p), axis=-1)\n"


def fixes(text: str, settings: dict) -> list[str]:
    checked = tfnanlint.check(text, "a.py", settings=settings)
    (finding,) = [one for one in checked.findings if one.code == "TFN303"]
    return [name_of(fix.title) for fix in finding.fixes]


def test_a_fix_is_chosen_among_those_that_a_rule_offers():
    both = ["log_softmax", "cross_entropy_with_logits"]
    assert fixes(ENTROPY, {}) == both
    assert fixes(ENTROPY, {"rules": {"TFN303": {"fix": both[1]}}}) == both[1:]
    assert fixes(ENTROPY, {"rules": {"hand-cross-entropy": {"fix": both[::-1]}}}) == both[::-1]
    assert fixes(ENTROPY, {"rules": {"TFN301": {"fix": "floor"}}}) == both
    with pytest.raises(ConfigError, match="unknown fix `log_sofmax`; did you mean `log_softmax`?"):
        fixes(ENTROPY, {"rules": {"TFN303": {"fix": "log_sofmax"}}})


def test_the_chosen_fix_is_applied():
    chosen = {"rules": {"TFN303": {"fix": "cross_entropy_with_logits"}}, "unsafe-fixes": True}
    assert "log_softmax(z)" in tfnanlint.fix(ENTROPY, "a.py", settings={}).after
    after = tfnanlint.fix(ENTROPY, "a.py", settings=chosen).after
    assert "tf.nn.softmax_cross_entropy_with_logits(" in after


def test_a_finding_says_why_its_fix_is_not_offered(shell):
    path = shell.write("a.py", ROOT)
    shell.write("tfnanlint.toml", 'unsafe-fixes = true\n[rules.TFN202]\nfix = "epsilon"\n')
    done = shell.run("check")
    reason = "no fix: the configuration allows only `epsilon` for TFN202, and here the rule offers"
    assert f"{reason} `add_1e_12`" in " ".join(done.text.split())
    shell.check("--fix")
    assert path.read_text() == ROOT
    shell.write("tfnanlint.toml", 'unsafe-fixes = true\n[rules.TFN202]\nfix = "add_1e_12"\n')
    shell.check("--fix")
    assert "x + 1e-12" in path.read_text()


@pytest.mark.parametrize(
    "toml, row, said",
    [
        ("rules = 3", 1, "`rules` must be a table such as"),
        ("[rules]\nTFN202 = 3", 2, "`rules.TFN202` must be a table such as"),
        (
            "[rules.TFN202]\n# the fix\nfxi = 'epsilon'",
            3,
            "unknown option `rules.TFN202.fxi`; did you mean `fix`?",
        ),
        ("[rules.TFN202]\nfix = 3", 2, "`rules.TFN202.fix` must be the name of a fix, or a list"),
        ("[rules.TFN202]\nfix = []", 2, "`rules.TFN202.fix` must be the name of a fix, or a list"),
        (
            "[rules]\nTFN202 = { fix = 'epsilom' }",
            2,
            "`rules.TFN202.fix`: unknown fix `epsilom`; did you mean `epsilon`?;"
            " TFN202 offers `epsilon`, `add_1e_12`",
        ),
        ("\nrules.TFN101.fix = 'floor'", 2, "`rules.TFN101.fix`: TFN101 offers no fix"),
        ("[rules.TFN2O2]\nfix = 'a'", 2, "unknown rule `TFN2O2`; did you mean `TFN202`?"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(shell, toml, row, said):
    shell.write("a.py", ROOT)
    path = shell.write("tfnanlint.toml", toml + "\n")
    done = shell.check()
    assert done.code == 2
    assert done.err.startswith(f"error: {path}:{row}: {said}")
    table = toml.replace("[rules", "[tool.tfnanlint.rules")
    if toml.startswith("["):
        (shell.directory / "tfnanlint.toml").unlink()
        path = shell.write("pyproject.toml", f"[tool.other.rules.TFN202]\n\n{table}\n")
        assert shell.check().err.startswith(f"error: {path}:{row + 2}: {said}")


def test_all_errors_are_told_at_once(shell):
    shell.write("a.py", ROOT)
    path = shell.write("tfnanlint.toml", "[rules]\nTFN202.fxi = 1\nTFN301.fix = 2\n")
    assert [line.split(": ")[1] for line in shell.check().err.splitlines()] == [
        f"{path}:2",
        f"{path}:3",
    ]


def test_options_of_several_places_are_brought_together(shell):
    shell.write("a.py", ROOT + "z = tf.log(tf.nn.softmax(x))\n")
    shell.write(
        "base.toml", 'unsafe-fixes = true\n[rules]\nTFN202.fix = "epsilon"\nTFN301.fix = "a"\n'
    )
    shell.write("tfnanlint.toml", 'extend = "base.toml"\nrules.TFN301.fix = "use_log_softmax"\n')
    assert "base.toml:4: `rules.TFN301.fix`: unknown fix `a`" in shell.check().err
    shell.write(
        "base.toml", 'unsafe-fixes = true\n[rules]\nTFN202.fix = ["epsilon", "add_1e_12"]\n'
    )
    shown = json.loads(shell.run("config", "--show", ".", "--output-format", "json").text)
    assert shown["settings"]["rules"]["value"] == {
        "TFN202": {"fix": ["epsilon", "add_1e_12"]},
        "TFN301": {"fix": "use_log_softmax"},
    }
    text = shell.run("config", "--show", ".").text
    assert 'rules = { "TFN202" = { "fix" = ["epsilon", "add_1e_12"] }, "TFN301" = { "fix" =' in text
    assert "1e-12" in shell.check("--diff").text
    flag = 'rules.TFN202.fix = "epsilon"'
    assert "1e-12" not in shell.check("--diff", "--config", flag).text


def test_every_title_has_one_name():
    titles = [title.replace("…", "1e-7") for titles in TITLES.values() for title in titles]
    named = [name for name, titles in TITLES.items() for _ in titles]
    assert [name_of(title) for title in titles] == named
    assert name_of("wrap x in tf.sigmoid") == "wrap_x_in_tf_sigmoid"


def test_the_code_and_the_slug_of_a_rule_are_one_name(shell):
    shell.write("base.toml", "[rules]\nsqrt-gradient-at-zero.fix = 'add_1e_12'\n")
    shell.write("tfnanlint.toml", 'extend = "base.toml"\nrules.TFN202.fix = "epsilon"\n')
    shown = json.loads(shell.run("config", "--show", ".", "--output-format", "json").text)
    assert shown["settings"]["rules"]["value"] == {"TFN202": {"fix": "epsilon"}}
