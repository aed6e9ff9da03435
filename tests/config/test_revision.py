"""`--diff-base` and `--config-from`: what git knows of a project, asked of the real git."""

from __future__ import annotations

import json
import os
import random
import subprocess

import pytest

from tfnanlint.config import revision

HEAD = "import tensorflow as tf\n"
OLD = HEAD + "def f(x):\n    return tf.log(x)\n\n\ndef g(x):\n    return tf.sqrt(x)\n"


def git(shell, *argv: str) -> None:
    identity = [
        "-c",
        "user.name=test",
        "-c",
        "user.email=test@example.org",
        "-c",
        "commit.gpgsign=false",
    ]
    subprocess.run(["git", *identity, *argv], cwd=shell.directory, check=True, capture_output=True)


def commit(shell) -> None:
    git(shell, "add", "-A")
    git(shell, "commit", "-q", "-m", "more")


@pytest.fixture
def project(shell, monkeypatch):
    """A repository with two findings in old.py."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    shell.write("old.py", OLD)
    git(shell, "init", "-q", "-b", "main", ".")
    commit(shell)
    return shell


def since(shell, *argv: str, base: str = "main", **more):
    return shell.check("--diff-base", base, *argv, **more)


# Changed lines


def test_nothing_changed(project):
    done = since(project)
    assert done.code == 0 and "\nNot shown: 2 on unchanged lines.\n" in done.text


def test_a_changed_line(project):
    project.write("old.py", OLD.replace("tf.log(x)", "tf.log(x) * 2"))
    assert since(project).places == ["3 TFN101"]


def test_a_notebook_is_compared_by_the_lines_of_its_cells(project):
    def book(*sources: str, outputs: str = "") -> str:
        code = [{"cell_type": "code", "source": one, "outputs": [outputs]} for one in sources]
        return json.dumps({"cells": code}, indent=1)

    cells = [HEAD, "y = tf.log(x)", "print 'x'", "z = tf.sqrt(x)"]
    project.write("a.ipynb", book(*cells))
    commit(project)
    project.write("a.ipynb", book(*cells, outputs="changed"))
    assert since(project).code == 0
    project.write("a.ipynb", book("a = 1", *cells[:3], "%time z = tf.sqrt(x + 1)"))
    assert since(project).text.splitlines()[0].startswith("a.ipynb:cell 5:1:11: warning: TFN202")
    assert since(project).text.count("ipynb") == 1
    project.write("a.ipynb", book(HEAD, "y = tf.log(x) ", "print 'xx'", cells[3]))
    assert [line.split()[0:4:3] for line in since(project).text.splitlines()[:2]] == [
        ["a.ipynb:cell", "TFN101"],
        ["a.ipynb:cell", "TFN001"],
    ]


def test_moved_lines_did_not_change(project):
    project.write("old.py", OLD.replace(HEAD, HEAD + "\nimport os\n\n"))
    assert since(project).code == 0


def test_commits_and_the_index_count(project):
    git(project, "checkout", "-q", "-b", "more")
    project.write("old.py", OLD.replace("tf.log(x)", "tf.log(x) * 2"))
    commit(project)
    project.write("new.py", HEAD + "y = tf.log(x)\n")
    git(project, "add", "-A")
    assert since(project).places == ["2 TFN101", "3 TFN101"]
    assert since(project, base="HEAD").places == ["2 TFN101"]


def test_an_untracked_file_changed_whole_unless_ignored(project):
    project.write("new.py", HEAD + "y = tf.log(x)\n")
    project.write(".gitignore", "left_out.py\n")
    project.write("left_out.py", HEAD + "y = tf.log(x)\n")
    assert since(project).places == ["2 TFN101"]


def test_what_the_base_gained_meanwhile_is_not_ours(project):
    git(project, "checkout", "-q", "-b", "ours")
    git(project, "checkout", "-q", "main")
    project.write("old.py", OLD.replace("tf.log(x)", "tf.log(x) * 2"))
    commit(project)
    git(project, "checkout", "-q", "ours")
    assert since(project).code == 0


def test_a_fix_stays_on_changed_lines(project):
    project.write("old.py", OLD + "\n\ndef h(x):\n    y = tf.sqrt(x)\n    return y\n")
    done = since(project, "--fix", "--unsafe-fixes")
    assert done.code == 0, done.text
    text = (project.directory / "old.py").read_text()
    assert text.startswith(OLD) and "tf.sqrt(x + 1e-12)" in text


def test_standard_input_is_compared_with_the_file(project):
    text = OLD.replace("tf.sqrt(x)", "tf.sqrt(x) + 1").encode()
    done = since(project, "-", "--stdin-filename", "old.py", stdin=text)
    assert done.places == ["7 TFN202"]


def test_a_syntax_error_counts_in_a_changed_file_only(project):
    project.write("broken.py", HEAD + "print 'a'\n")
    assert since(project).places == ["2 TFN001"]
    commit(project)
    assert since(project).code == 0


@pytest.mark.parametrize(
    "name", ["with space.py", 'quote".py', "öäü.py", "tab\there.py", "back\\slash.py", "a b/c d.py"]
)
def test_names_that_git_writes_in_its_own_way(project, name):
    project.write(name, OLD)
    commit(project)
    project.write(name, OLD.replace("tf.log(x)", "tf.log(x) * 2"))
    done = since(project, base="HEAD")
    assert "Found 1 warning (" in done.text and ":3:12: warning: TFN101" in done.text


def test_lines_that_look_like_a_patch(project):
    text = HEAD + 's = """\n++ b/old.py\n@@ -1 +1 @@\n-- x\n"""\ny = 1\nz = tf.log(x)\n'
    project.write("a.py", text)
    commit(project)
    project.write("a.py", text.replace("++ b/old.py", "++ b/other.py").replace("y = 1", "y = 2"))
    assert since(project, base="HEAD").code == 0
    project.write("a.py", text.replace("tf.log(x)", "tf.log(x) * 2"))
    assert since(project, base="HEAD").places == ["8 TFN101"]


def test_from_a_directory_inside(project, monkeypatch):
    project.write("sub/a.py", OLD)
    monkeypatch.chdir(project.directory / "sub")
    assert project.check("--diff-base", "main", "a.py", "../old.py").places == [
        "3 TFN101",
        "7 TFN202",
    ]


@pytest.mark.parametrize("revision", ["no-such-revision", "--output=/tmp/x", "main:old.py", ""])
def test_a_wrong_revision_is_exit_2(project, revision):
    done = project.run("check", f"--diff-base={revision}")
    assert (
        done.code == 2 and done.err.startswith("error: --diff-base") and done.err.count("\n") == 1
    )


def test_outside_of_a_repository_is_exit_2(shell, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(shell.directory.parent))
    done = since(shell)
    assert done.code == 2 and "not a git repository" in done.err


# Consequences, which only the real engine knows


def real(directory, *argv: str) -> list[str]:
    import sys

    done = subprocess.run(
        [sys.executable, "-m", "tfnanlint", "check", "--output-format", "concise", "-q", *argv],
        cwd=directory,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode in (0, 1), done.stderr
    return [line.rpartition("[*] ")[0].strip() or line for line in done.stdout.splitlines()]


GUARDED = """import tensorflow as tf
from bounds import bounded


def loss(z):
    p = tf.nn.sigmoid(z)
    p = bounded(p)
    q = 1
    return q * tf.math.log(p)
"""
BOUNDS = "import tensorflow as tf\n\n\ndef bounded(p):\n    return tf.clip_by_value(p, 1e-6, 1.0)\n"


@pytest.mark.parametrize(
    "name, before, after",
    [
        ("model.py", "    p = tf.nn.sigmoid(z)\n", "    p = tf.nn.sigmoid(z * 1.0)\n"),
        ("model.py", "    p = bounded(p)\n", "    p = p\n"),
        ("model.py", "    p = bounded(p)\n", ""),
        ("bounds.py", "    return tf.clip_by_value(p, 1e-6, 1.0)\n", "    return tf.identity(p)\n"),
    ],
)
def test_what_a_change_elsewhere_brings_about(project, name, before, after):
    texts = {"model.py": GUARDED, "bounds.py": BOUNDS}
    # there the hazard was there before, and the line that leads to it changed
    if "sigmoid" in before:
        texts["model.py"] = GUARDED.replace("    p = bounded(p)\n", "")
    for path, text in texts.items():
        project.write(path, text)
    commit(project)
    assert real(project.directory, "--diff-base", "HEAD") == []
    assert before in texts[name]
    project.write(name, texts[name].replace(before, after))
    found = real(project.directory, "--diff-base", "HEAD")
    assert len(found) == 1 and found[0].startswith("model.py:"), found


LAYER = """import tensorflow as tf


class Net(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.out = tf.keras.layers.Dense(4, activation="softmax")

    def call(self, x):
        return self.out(x)
"""
TRAINED = """import tensorflow as tf
from net import Net

net = Net()


def loss(y, x):
    return -tf.reduce_mean(y * tf.math.log(net(x)))
"""


def test_what_a_change_of_a_layer_brings_about(project):
    """The line that makes a layer counts, where the value is computed on another one."""
    project.write("net.py", LAYER)
    project.write("train.py", TRAINED)
    commit(project)
    assert real(project.directory, "--diff-base", "HEAD") == []
    project.write("net.py", LAYER.replace("softmax", "sigmoid"))
    (found,) = real(project.directory, "--diff-base", "HEAD")
    assert found.startswith("train.py:")


# Configuration of a revision


def test_a_change_cannot_weaken_its_own_gate(project):
    project.write("tfnanlint.toml", 'certainty = "unknown"\n')
    project.write("sub/a.py", OLD)
    commit(project)
    project.write("tfnanlint.toml", 'ignore = ["TFN"]\nextend-exclude = ["old.py"]\n')
    project.write("sub/tfnanlint.toml", 'ignore = ["TFN"]\n')
    project.write(".gitignore", "*.py\n")
    git(project, "rm", "-rq", "--cached", ".")
    assert project.check().code == 0
    assert project.check("--config-from", "main").places == ["3 TFN101", "7 TFN202"] * 2
    commit(project)
    assert project.check("--config-from", "HEAD").code == 0


def test_what_the_revision_ignored_stays_ignored(project):
    project.write(".gitignore", "left_out.py\n")
    commit(project)
    (project.directory / ".gitignore").unlink()
    project.write("left_out.py", OLD)
    assert len(project.check().places) == 4
    assert len(project.check("--config-from", "main").places) == 2


def test_the_baseline_of_a_revision(project):
    project.write("pyproject.toml", '[tool.tfnanlint]\nbaseline = "known.json"\n')
    project.run("baseline", "create", "--baseline", "known.json")
    commit(project)
    project.write("new.py", OLD)
    assert project.run("baseline", "update").code == 0
    assert project.check().code == 0
    assert project.check("--config-from", "main").places == ["3 TFN101", "7 TFN202"]


def test_a_named_file_is_read_from_the_revision(project):
    project.write("ci.toml", 'select = ["TFN202"]\n')
    commit(project)
    project.write("ci.toml", 'ignore = ["TFN"]\n')
    assert project.check("--config", "ci.toml", "--config-from", "main").places == ["7 TFN202"]
    assert project.check("--config", "ci.toml").code == 0


def test_the_configuration_does_not_run_programs(project):
    mark = project.directory / "ran"
    script = project.write("hook.sh", f"#!/bin/sh\ntouch {mark}\n")
    script.chmod(0o755)
    git(project, "config", "core.fsmonitor", str(script))
    git(project, "config", "diff.external", str(script))
    project.write(".gitattributes", "*.py diff=own\n")
    git(project, "config", "diff.own.textconv", str(script))
    mark.unlink(missing_ok=True)
    project.write("old.py", OLD.replace("tf.log(x)", "tf.log(x) * 2"))
    assert since(project).places == ["3 TFN101"]
    assert not mark.exists()


# Every setting that names a program which some command of Git starts.
PROGRAMS = """
filter.x.clean filter.x.smudge filter.x.process diff.x.textconv diff.x.command diff.external
merge.x.driver core.fsmonitor core.pager pager.diff pager.ls-files pager.cat-file pager.ls-tree
pager.rev-parse pager.merge-base core.editor sequence.editor core.sshCommand core.gitProxy
core.askPass core.alternateRefsCommand credential.helper gpg.program gpg.ssh.program
gpg.x509.program gpg.ssh.defaultKeyCommand interactive.diffFilter uploadpack.packObjectsHook
remote.origin.uploadpack remote.origin.receivepack remote.origin.vcs difftool.x.cmd mergetool.x.cmd
browser.x.cmd man.x.cmd web.browser sendemail.smtpServer trailer.x.command trailer.x.cmd
instaweb.httpd guitool.x.cmd submodule.sub.update gc.recentObjectsHook receive.procReceiveRefs
hook.x.command tar.x.command
alias.diff alias.ls-files alias.rev-parse alias.ls-tree alias.cat-file alias.merge-base
""".split()
SHELL = ("alias.", "submodule.", "credential.")  # whose programs begin with `!`
HOOKS = """
applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit
post-index-change post-merge post-receive post-rewrite post-update pre-applypatch pre-auto-gc
pre-commit pre-merge-commit pre-push pre-rebase pre-receive prepare-commit-msg proc-receive
push-to-checkout reference-transaction sendemail-validate update
""".split()
ATTRIBUTES = "* filter=x diff=x merge=x text=auto working-tree-encoding=UTF-8 export-subst ident\n"


@pytest.fixture
def armed(project, tmp_path_factory):
    """The repository, in which every setting, hook and attribute that could start a program names
    one that leaves its name in a folder, which is its `ran`.
    """
    project.write("lost.py", OLD + "x = 1\n")
    commit(project)
    blob = subprocess.check_output(
        ["git", "rev-parse", "main:lost.py"], cwd=project.directory, text=True
    )
    (project.directory / ".git" / "objects" / blob[:2] / blob[2:].strip()).unlink()
    project.write("lost.py", OLD)
    project.ran = tmp_path_factory.mktemp("ran")
    programs = tmp_path_factory.mktemp("programs")

    def program(path, name: str):
        path.write_text(f"#!/bin/sh\n: > '{project.ran}/{name}'\ncat 2>&- <&-\n")
        path.chmod(0o755)
        return path

    included = project.directory / ".git" / "included"
    for key in PROGRAMS:
        path = program(programs / key, key)
        shell = "!" if key.startswith(SHELL) else ""
        git(project, "config", "--file", str(included), key, f"{shell}{path}")
    lazy = program(programs / "lazy", "lazy fetch")
    for key, value in (
        ("filter.x.required", "true"),
        ("remote.origin.url", f"ext::{lazy}"),
        ("remote.origin.promisor", "true"),
        ("protocol.ext.allow", "always"),
        ("core.untrackedCache", "true"),
        ("log.showSignature", "true"),
    ):
        git(project, "config", "--file", str(included), key, value)
    hooks = project.directory / ".git" / "hooks"
    hooks.mkdir(exist_ok=True)
    for name in HOOKS:
        program(hooks / name, f"hook {name}")
    (project.directory / ".git" / "info").mkdir(exist_ok=True)
    (project.directory / ".git" / "info" / "attributes").write_text(ATTRIBUTES)
    project.write(".gitattributes", ATTRIBUTES)
    project.write("old.py", OLD.replace("tf.log(x)", "tf.log(x) * 2"))
    git(project, "config", "core.repositoryformatversion", "1")
    git(project, "config", "extensions.partialClone", "origin")
    git(project, "config", "include.path", str(included))
    return project


def test_git_runs_no_program_of_the_repository(armed):
    # what stands there does run
    for words in (["status"], ["hash-object", "old.py"], ["cat-file", "-p", "5" * 40]):
        subprocess.run(["git", *words], cwd=armed.directory, capture_output=True)
    assert {"core.fsmonitor", "filter.x.process", "lazy fetch"} <= {
        path.name for path in armed.ran.iterdir()
    }
    for path in armed.ran.iterdir():
        path.unlink()
    assert since(armed, "old.py").places == ["3 TFN101"]
    assert armed.check("--config-from", "main").code == 1
    assert armed.check("--diff-base", "main", "lost.py").code == 2
    assert armed.check("--diff-base", "5" * 40).code == 2
    assert since(armed, "old.py", "--fix", "--unsafe-fixes").code in (0, 1)
    assert armed.run("baseline", "create").code == 0
    assert [path.name for path in armed.ran.iterdir()] == []


def test_a_git_that_knows_no_flag_against_fetching_fetches_nothing(armed, monkeypatch):
    monkeypatch.delitem(revision.GIT_ENVIRONMENT, "GIT_NO_LAZY_FETCH")
    assert armed.check("--diff-base", "main", "lost.py").code == 2
    assert [path.name for path in armed.ran.iterdir()] == []


def test_a_scan_of_a_repository_runs_no_program_of_it(armed):
    from tfnanlint.scan.collect import Reference
    from tfnanlint.scan.git import commit_of, load_git

    folder = str(armed.directory / ".git")
    commit = commit_of(folder, "main")
    (repository,) = load_git(Reference("git", folder, "r", commit))
    assert "old.py" in repository.files and commit_of(folder, "5" * 40)
    assert [path.name for path in armed.ran.iterdir()] == []


def test_line_ends_that_git_changes_are_no_change(project):
    git(project, "config", "core.autocrlf", "true")
    (project.directory / "old.py").write_bytes(OLD.replace("\n", "\r\n").encode())
    assert since(project).code == 0


@pytest.mark.skipif(os.name == "nt", reason="programs are shell scripts")
@pytest.mark.parametrize("entry", ["", ".", "bin"])
def test_a_program_named_git_in_the_repository_is_not_run(project, monkeypatch, entry):
    for folder in (project.directory, project.directory / "bin"):
        folder.mkdir(exist_ok=True)
        (folder / "git").write_text(f"#!/bin/sh\n: > '{project.directory}/ran'\n")
        (folder / "git").chmod(0o755)
    project.write("old.py", OLD.replace("tf.log(x)", "tf.log(x) * 2"))
    monkeypatch.setenv("PATH", f"{entry}{os.pathsep}{os.environ['PATH']}")
    assert since(project).places == ["3 TFN101"]
    assert not (project.directory / "ran").exists()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs FIFOs")
def test_git_is_not_waited_for_without_end(project, monkeypatch):
    pipe = project.directory / ".git" / "pipe"
    os.mkfifo(pipe)
    git(project, "config", "include.path", str(pipe))
    monkeypatch.setattr(revision, "GIT_SECONDS", 0.5)
    done = since(project)
    assert done.code == 2 and "git rev-parse did not end within" in done.err


def test_what_a_revision_has_too_much_of_is_not_read(project, monkeypatch):
    project.write("old.py", OLD + "#" * 5_000 + "\n")
    project.write("tfnanlint.toml", "#" * 1_100_000 + "\n")
    commit(project)
    project.write("old.py", OLD)
    project.write("tfnanlint.toml", "")
    asked = []
    ask = revision.Revision._git

    def noted(self, *words, **more):
        answer = ask(self, *words, **more)
        asked.append(len(answer))
        return answer

    monkeypatch.setattr(revision, "_MAX_SIZE", 4_000)
    monkeypatch.setattr(revision.Revision, "_git", noted)
    assert since(project, "old.py").places == ["3 TFN101", "7 TFN202"]
    assert project.check("--config-from", "main").code == 2
    assert max(asked) < 5_000


def test_lines_that_are_all_alike_cost_little_to_compare(monkeypatch):
    draw = random.Random(0)
    lines = [b"x%d" % draw.randrange(40) for _ in range(12_000)]
    marks = [b"mark %d" % number for number in range(40)]
    for number, mark in enumerate(marks):
        lines[100 + number * 290] = mark
    changed = lines.copy()
    changed[5_000] = b"changed"
    del changed[9_000]
    changed[20:30] = changed[10_000:10_010]
    compared = []
    whole = revision._pairs
    monkeypatch.setattr(
        revision, "_pairs", lambda old, new: compared.append(whole(old, new)) or compared[-1]
    )
    rows = revision._changed_rows(b"\n".join(lines), b"\n".join(changed)).rows
    assert {5_001, 9_001} <= rows < set(range(1, 9_002)) and len(rows) < 50
    assert sum(compared[1:-1]) < 1_000_000
    assert len(revision._changed_rows(b"a\nb\n" * 900, b"b\na\na\n" * 900).rows) > 800
