"""What pyproject.toml cannot say: with TFNANLINT_COMPILE=1 the engine is compiled by mypyc.

It is the same code, and it finds the same, for about two fifths less CPU; without the variable it
is interpreted. Compiled are the packages that evaluate programs, the tables of ops, and the rules.
MYPYC_OPT_LEVEL=0 makes a slower program in less time.

With TFNANLINT_PROFILE=FOLDER, gcc makes a program that records there what of it runs, and from a
folder with such records one that takes some 4 % less CPU: `.ci/wheels` does both.

The archives that are built, an sdist and a wheel, have the same bytes wherever and whenever they
are built from the same files with the same setuptools and zlib: in one order, without owners, with
the time that SOURCE_DATE_EPOCH states.
"""

import gzip
import io
import os
import pathlib
import sys
import tarfile
import time
import zipfile

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.sdist import sdist

# What is compiled: the packages that evaluate programs, and modules that every file passes through.
# What only makes fixes, reads settings or writes files is not.
COMPILED = """
syntax conventions values ops terms program project interp uses gradients guards idioms
rule/registry rule/trace rewrite/availability rewrite/epsilons
config/keys config/patterns pipeline/analysis pipeline/prefilter
""".split()

# Modules of compiled packages that are not: why, and which.
INTERPRETED = {
    "named tuples and cached properties": ["syntax/source", "syntax/recovery", "syntax/taint"],
    "pickled between processes": ["syntax/spans"],
    "subclasses of tuple": ["values/tuples"],
    "an enumeration": ["idioms/quantities"],
    "read by documentation and tests only": ["conventions/table"],
}

FUTURE = "from __future__ import annotations"


def rules() -> list:
    """Copies of the rules in a folder that has their package's name, for mypyc takes the names of
    modules from their paths. In a copy the docstring, which is the page of its rule, is assigned:
    what is compiled has none of itself.
    """
    folder = pathlib.Path("build", "rules", "tfnanlint_rules")
    folder.mkdir(parents=True, exist_ok=True)
    copies = []
    for path in sorted(pathlib.Path("rules").glob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.stem != "__init__":
            # lines keep their numbers
            text = f"{FUTURE}; __doc__ = " + text.replace(f"\n{FUTURE}\n", "\n\n")
            copies.append(folder / path.name)
        (folder / path.name).write_text(text, encoding="utf-8")
    return copies


def profiling() -> list[str]:
    """What tells gcc to record what runs, or to use what was recorded."""
    folder = os.environ.get("TFNANLINT_PROFILE")
    if not folder:
        return []
    recorded = any(pathlib.Path(folder).glob("*.gcda"))
    return (
        [f"-fprofile-use={folder}", "-Wno-missing-profile"]
        if recorded
        else [f"-fprofile-generate={folder}"]
    )


def compiled() -> list[pathlib.Path]:
    """The files of `COMPILED` without those of `INTERPRETED`."""
    package = pathlib.Path("tfnanlint")
    left = {package / f"{name}.py" for names in INTERPRETED.values() for name in names}
    files: list[pathlib.Path] = []
    for name in COMPILED:
        below = sorted((package / name).rglob("*.py")) or [package / f"{name}.py"]
        files += [path for path in below if path.name != "__init__.py" and path not in left]
    return files


def engine() -> list:
    """The extension modules: none unless they are asked for."""
    if os.environ.get("TFNANLINT_COMPILE") != "1":
        return []
    from mypyc.build import mypycify

    files = [*compiled(), *rules()]
    modules = mypycify(
        [*map(str, files)], opt_level=os.environ.get("MYPYC_OPT_LEVEL", "3"), debug_level="0"
    )
    if sys.platform == "linux":
        # functions call each other directly: none of ours is replaced by another one
        for module in modules:
            module.extra_compile_args += ["-fno-semantic-interposition", *profiling()]
            module.extra_link_args += ["-Wl,-Bsymbolic", *profiling()]
    return modules


# 1 January 1980: a zip archive states no earlier time.
EARLIEST = 315532800


def stated_time() -> int:
    """Seconds since 1970, for everything in an archive."""
    return max(EARLIEST, int(os.environ.get("SOURCE_DATE_EPOCH") or EARLIEST))


def mode(bits: int) -> int:
    """The permissions of a file, whatever the umask was that it was written under."""
    return 0o755 if bits & 0o100 else 0o644


def settle_tar(path: str) -> None:
    """Write an sdist again so that its bytes depend on names and contents alone."""
    contents = []
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda each: each.name):
            stream = archive.extractfile(member) if member.isfile() else None
            contents.append((member, stream.read() if stream is not None else b""))
    with (
        open(path, "wb") as raw,
        gzip.GzipFile("", "wb", fileobj=raw, mtime=stated_time()) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as archive,
    ):
        for member, data in contents:
            entry = tarfile.TarInfo(member.name)
            entry.type, entry.size, entry.mtime = member.type, len(data), stated_time()
            entry.mode = mode(member.mode)
            archive.addfile(entry, io.BytesIO(data))


def settle_wheel(path: str) -> None:
    """Write a wheel again, in its order, which ends with its metadata."""
    with zipfile.ZipFile(path) as archive:
        contents = [(member, archive.read(member)) for member in archive.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for member, data in contents:
            entry = zipfile.ZipInfo(member.filename, time.gmtime(stated_time())[:6])
            entry.create_system, entry.compress_type = 3, zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100000 | mode(member.external_attr >> 16)) << 16
            archive.writestr(entry, data)


class Sdist(sdist):
    def make_archive(self, *arguments, **options):
        path = super().make_archive(*arguments, **options)
        settle_tar(path)
        return path


class Wheel(bdist_wheel):
    def run(self):
        super().run()
        for _, _, path in self.distribution.dist_files:
            if path.endswith(".whl"):
                settle_wheel(path)


if __name__ == "__main__":
    setup(ext_modules=engine(), cmdclass={"sdist": Sdist, "bdist_wheel": Wheel})
