#!/usr/bin/env python3
"""Run tfnanlint over real notebooks: notebooks.py DIR [--download]

Reports how many notebooks were tried, crashes, and how many bytes changed outside of edits, which
must be 0: a mark is added behind every statement of every cell, and the file with the marks taken
out must be the old file; then a hazard is put behind some statements and fixed: only its text may
change, and nothing by a second fix.

--download first fetches distributions that hold notebooks, with pip, and unpacks the notebooks to DIR.
Third-party work: never commit it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.diagnostics.findings import Edit
from tfnanlint.notebook.document import Notebook, NotebookSource
from tfnanlint.pipeline.linter import Linter
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.source import Span, Uneditable, Unreadable

MARK = "  # mark-4711"
HAZARD, REPAIRED = "tf.math.log(tf.nn.softmax(logits_4711))", "tf.nn.log_softmax(logits_4711)"
HAZARDS = 4  # in a notebook
# Source distributions of tools for notebooks hold odd ones in many languages; the wheels hold
# people's own, with TensorFlow.
SOURCES = """
    deepxde==1.15.0 jupytext==1.19.6 nbclient==0.11.0 nbconvert==7.17.2 nbdime==4.0.4 nbformat==5.11.1 nbval==0.11.0
    nengo-dl==3.6.0 papermill==2.7.0 shap==0.51.0
""".split()
WHEELS = """
    accim-samples==0.8.2 aimlese==0.1.0 bigyahu==0.4.1 bio-tools-26==0.1.0 dlprac==0.1.1 ds-practicals-guru==0.6.0
    dwm-notebooks==0.4.0 mlprac==0.1.0 nlptk==0.1.2 smaprac==0.1.3 tensor2tensor==1.15.7
""".split()
BACKENDS = "hatchling hatch-jupyter-builder hatch-nodejs-version hatch-vcs setuptools setuptools_scm wheel flit_core numpy cython".split()


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("directory", type=Path)
    parser.add_argument("--download", action="store_true")
    arguments = parser.parse_args()
    if arguments.download:
        download(arguments.directory)
    paths = sorted(path for path in arguments.directory.rglob("*.ipynb") if path.is_file())
    counts: Counter[str] = Counter()
    linter = Linter(Configuration(Layer(origin="here", root=str(arguments.directory)), (), True))
    for path in paths:
        tried(path, counts, linter)
    for name, count in counts.items():
        print(f"{name:<44}{count:>10,}")
    wrong = (
        "crashes",
        "bytes changed outside of marks",
        "notebooks with other changes by fixes",
        "changed by a second fix",
    )
    return int(not paths or any(counts[name] for name in wrong))


def tried(path: Path, counts: Counter[str], linter: Linter) -> None:
    data = path.read_bytes()
    start = time.perf_counter()
    for name in (
        "notebooks tried",
        "bytes",
        "refused: no notebook",
        "in another language",
        "code cells",
        "cells not parsed",
        "crashes",
        "marks added",
        "marks refused",
        "bytes changed outside of marks",
        "hazards put in",
        "hazards fixed",
        "notebooks with other changes by fixes",
        "changed by a second fix",
        "milliseconds",
    ):
        counts[name] += 0
    counts["notebooks tried"] += 1
    counts["bytes"] += len(data)
    try:
        notebook = Notebook(str(path), data)
    except Unreadable as error:
        counts["refused: no notebook"] += 1
        print(f"{path}: {error} ({error.row}:{error.column})")
        return
    except Exception as error:  # What is looked for.
        counts["crashes"] += 1
        print(f"{path}: {type(error).__name__}: {error}")
        return
    counts["in another language"] += not notebook.is_python
    counts["code cells"] += len(notebook.cells)
    counts["cells not parsed"] += len(notebook.source.faults)
    for fault in notebook.source.faults:
        print(f"{path}: {fault}: {notebook.source.line_text(fault.row)[:80]!r}")
    marked(path, notebook, data, counts)
    fixed(path, notebook, counts, linter)
    counts["milliseconds"] += int(1000 * (time.perf_counter() - start))


def marked(path: Path, notebook: Notebook, data: bytes, counts: Counter[str]) -> None:
    """Marks behind all statements at once; each is refused alone where the line is no Python."""
    module = notebook.source
    edits = []
    for end in sorted({module.span(stmt).end for stmt in module.tree.body}):
        if module.text[end : end + 1] in ("\r", "\n"):
            edit = Edit(Span(end, end), MARK)
            accepted = _accepts(module, [edit])
            counts["marks added" if accepted else "marks refused"] += 1
            edits += [edit] if accepted else []
    new = notebook.edited(module.edited(edits_apply(module.text, edits), edits))
    outside = new.replace(MARK.encode(), b"")
    if new.count(MARK.encode()) != len(edits) + data.count(MARK.encode()) or outside != data:
        counts["bytes changed outside of marks"] += max(
            1, sum(a != b for a, b in zip(outside, data)) + abs(len(outside) - len(data))
        )
        print(f"{path}: more than the marks changed")


def _accepts(module: NotebookSource, edits: list[Edit]) -> bool:
    try:
        module.edited(edits_apply(module.text, edits), edits)
    except Uneditable:
        return False
    return True


def fixed(path: Path, notebook: Notebook, counts: Counter[str], linter: Linter) -> None:
    """A hazard put into the notebook in a few places, and taken out by `--fix`: nothing else
    changes, and a second run nothing at all.
    """
    module = notebook.source
    ends = [module.span(stmt).end for stmt in module.tree.body if notebook.is_python]
    ends = [
        end
        for end in ends
        if module.text[end : end + 1] in ("\r", "\n")
        and _accepts(module, [Edit(Span(end, end), "\nx = 1")])
    ]
    if len(ends) < 2:
        return
    places = dict.fromkeys(
        [ends[0], *ends[1 :: max(1, len(ends) // HAZARDS)]], f"\nmark_4711 = {HAZARD}"
    )
    places[ends[0]] = "\nimport tensorflow as tf"
    edits = [Edit(Span(end, end), text) for end, text in places.items()]
    data = notebook.edited(module.edited(edits_apply(module.text, edits), edits))
    first = linter.fix(str(path), data)
    counts["crashes"] += sum(finding.code == "TFN000" for finding in first.checked.findings)
    counts["hazards put in"] += data.count(HAZARD.encode())
    counts["hazards fixed"] += data.count(HAZARD.encode()) - first.after.count(HAZARD.encode())
    # Some stand where no fix is due: behind a `raise`, or where `tf` is another thing.
    if first.after.replace(REPAIRED.encode(), HAZARD.encode()) != data:
        counts["notebooks with other changes by fixes"] += 1
        print(f"{path}: {[(one.code, one.message) for one in first.applied]} {first.problems}")
    counts["changed by a second fix"] += linter.fix(str(path), first.after).after != first.after


def download(directory: Path) -> None:
    """Fetch the packages and unpack their notebooks. pip asks each for its metadata, so their build
    tools are installed apart.
    """
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([sys.executable, "-m", "venv", f"{scratch}/venv"], check=True)
        pip = [f"{scratch}/venv/bin/pip", "--disable-pip-version-check"]
        subprocess.run([*pip, "install", "--quiet", *BACKENDS], check=True)
        for package in SOURCES + WHEELS:
            target = directory / package.replace("==", "-")
            if target.exists():
                continue
            folder = f"{scratch}/{package}"
            kind = "--no-binary" if package in SOURCES else "--only-binary"
            subprocess.run(
                [
                    *pip,
                    "download",
                    "--quiet",
                    "--no-deps",
                    "--no-build-isolation",
                    kind,
                    ":all:",
                    "--dest",
                    folder,
                    package,
                ],
                check=True,
            )
            (archive,) = Path(folder).iterdir()
            unpack(archive, target)


def unpack(archive: Path, target: Path) -> None:
    target.mkdir(parents=True)
    for number, (name, data) in enumerate(
        _zipped(archive) if archive.suffix == ".whl" else _tarred(archive)
    ):
        (target / f"{number:03}-{Path(name).name}").write_bytes(data)


def _tarred(archive: Path) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(archive) as packed:
        for member in packed.getmembers():
            if member.isfile() and member.name.endswith(".ipynb"):
                yield member.name, packed.extractfile(member).read()


def _zipped(archive: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(archive) as packed:
        for name in packed.namelist():
            if name.endswith(".ipynb"):
                yield name, packed.read(name)


if __name__ == "__main__":
    sys.exit(main())
