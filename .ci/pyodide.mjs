// node .ci/pyodide.mjs PYODIDE TREE SITE: what the tree's `check` prints of fixtures/programs under the CPython of Pyodide, which is
// newer than those of this machine. PYODIDE is the folder of the npm package; SITE holds pathspec and, as tfnanlint_rules, the rules.
const [pyodide, tree, site] = process.argv.slice(2);
const { loadPyodide } = await import(`${pyodide}/pyodide.mjs`);
const python = await loadPyodide();
for (const [name, root] of Object.entries({ tree, site })) {
    python.FS.mkdir(`/${name}`);
    python.FS.mount(python.FS.filesystems.NODEFS, { root }, `/${name}`);
}
process.exitCode = python.runPython(`
import os, sys
sys.dont_write_bytecode = True
sys.path[:0] = ["/tree", "/site"]
os.chdir("/tree")
print("== CPython", *sys.version.split()[:1], "of Pyodide: fixtures/programs", file=sys.stderr)
from tfnanlint.cli import main
words = "check --no-cache --exit-zero --jobs 1 --output-format concise fixtures/programs"
main(words.split())
`);
