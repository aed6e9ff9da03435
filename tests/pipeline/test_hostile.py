"""Hostile input: each file gives one clear diagnostic or a normal result, in bounded time, and
never a traceback.
"""

from __future__ import annotations

import encodings
import io
import json
import os
import pkgutil
import random
import re
import resource
import shlex
import subprocess
import sys
import time
import tokenize
import warnings
import zlib

import pytest

from tfnanlint.config.layers import Configuration, Layer
from tfnanlint.pipeline.cache import Cache, Entry
from tfnanlint.pipeline.check import check
from tfnanlint.report import FORMATS, Paint, View, open_format
from tfnanlint.rule import registry
from tfnanlint.syntax.encodings import decode
from tfnanlint.syntax.source import Source, Unreadable

POLICY = Configuration(Layer(), (), True).for_directory("").policy("", registry.load())

TF = "import tensorflow as tf\n"
SECONDS = 60  # of processor time
MEMORY = 3 << 30

# What may stand in the place of a result.
REFUSALS = {"TFN001", "TFN002"}


def chains(count: int) -> dict[str, str]:
    """Programs with one construct nested or repeated `count` times."""
    return {
        "minus": "-" * count + "1",
        "not": "not " * count + "1",
        "attribute": "x" + ".a" * count,
        "call": "x" + "()" * count,
        "subscript": "x" + "[0]" * count,
        "plus": "+".join(["x"] * count),
        "power": "**".join(["x"] * count),
        "and": " and ".join(["x"] * count),
        "compare": "<".join(["x"] * count),
        "assign": "a=" * count + "1",
        "lambda": "lambda:" * count + "1",
        "conditional": "x if y else " * count + "z",
        "elif": "if x:\n pass\n" + "elif x:\n pass\n" * count,
        "await": "async def f():\n  " + "await " * count + "x",
        "strings": "'a' " * count,
        "decorators": "@x\n" * count + "def f(): pass",
        "statements": "x=1;" * count,
        "parentheses": "(" * count + "1" + ")" * count,
        "open parentheses": "(" * count,
        "open brackets": "[" * count,
        "dict": "{1:" * count + "1" + "}" * count,
        "nested if": "".join(" " * i + "if x:\n" for i in range(min(count, 1000)))
        + " " * min(count, 1000)
        + "pass",
        "nested def": "".join(" " * i + "def f():\n" for i in range(min(count, 1000)))
        + " " * min(count, 1000)
        + "pass",
        "f-string": "f'{" + "(" * count + "1" + ")" * count + "}'",
        "calls of log": "tf.math.log(" * count + "x" + ")" * count,
        "sum of logs": "+".join(["tf.math.log(x)"] * count),
        "divisions": "/".join(["x"] * count),
        "chained names": "\n".join(f"x{i + 1} = tf.nn.relu(x{i}) + x{i}" for i in range(count))
        + f"\ntf.math.log(x{count})",
        "functions that call the next": "\n".join(
            f"def f{i}(x): return f{i + 1}(x)" for i in range(count)
        )
        + f"\ndef f{count}(x): return x\ntf.math.log(f0(tf.nn.relu(y)))",
        "functions that call two": "\n".join(
            f"def f{i}(x): return f{i + 1}(x) + f{i + 1}(-x)" for i in range(count)
        )
        + f"\ndef f{count}(x): return x\ntf.math.log(f0(tf.nn.relu(y)))",
        "recursion": "def f(x): return g(x) + f(x)\ndef g(x): return f(tf.math.log(x))\n"
        + "tf.math.log(f(g(x)))\n" * count,
        "nested loops": "".join(" " * i + "for x in y:\n" for i in range(min(count, 19)))
        + " " * min(count, 19)
        + "x = tf.math.log(x + y)",
    }


# A finding with its fixes takes milliseconds, so what has one at every link is not made as long.
COSTLY = "sum of logs"
SMALL, LARGE = (
    chains(90),
    {
        **{f"{name} x 1000": text for name, text in chains(1000).items() if name != COSTLY},
        f"{COSTLY} x 300": chains(300)[COSTLY],
        **{
            f"{name} x 20000": text
            for name, text in chains(20_000).items()
            if not name.startswith(("functions", "recurs", COSTLY))
        },
    },
)

BYTES = {
    "NUL": b"x = 1\0\ny = 2\n",
    "NUL at the end": b"x = 1\n\0",
    "invalid UTF-8": b"x = '\xff\xfe'\n",
    "unknown cookie": b"# coding: nosuch\nx=1\n",
    "rot13": b"# coding: rot13\nvzcbeg bf # tensorflow\n",
    "hex": b"# coding: hex\n783d31 # tensorflow\n",
    "zlib": b"# coding: zlib_codec\nx # tensorflow\n",
    "utf-7": b"# coding: utf-7\nx = '+AGE-'\n# +AAo-import os\n",
    "idna": b"# coding: idna\nx=1\n",
    "unicode_escape": b"# coding: unicode_escape\nx = 1 #\\u000aimport os\n",
    "raw_unicode_escape": b"# coding: raw_unicode_escape\nx = 1 #\\u000aimport os\n",
    "cp1252 on line 2": b"#!/usr/bin/python\n# vim: set fileencoding=cp1252 :\nx='\x93'\n",
    "latin-1": b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
    "BOM": b"\xef\xbb\xbfx = 1\n",
    "BOM and another cookie": b"\xef\xbb\xbf# coding: latin-1\nx = 1\n",
    "only a BOM": b"\xef\xbb\xbf",
    "utf-16": "x = 1\n".encode("utf-16"),
    "CRLF": b"x = 1\r\nif x:\r\n    y = '''a\r\nb'''\r\n",
    "CR": b"x = 1\ry = 2\r",
    "mixed ends": b"x = 1\r\ny = 2\nz = 3\rw = 4\n",
    "form feed": b"x = 1\n\x0c\ndef f():\n\x0c    return 1\n",
    "vertical tab": b"x = 1\n\x0bdef f(): pass\n",
    "inconsistent tabs": b"if x:\n\ty=1\n        z=2\n",
    "no end of line": b"x = 1",
    "backslash at the end": b"x = 1\\",
    "backslash before the end": b"x = 1 + \\\n",
    "empty": b"",
    "control Z": b"x = 1\n\x1a",
    "U+2028": "x = 'a\u2028b'\ny = 1\n".encode(),
    "NBSP": "x\u00a0= 1\n".encode(),
    "bidi": "x = 'a\u202e'  # \u2066\n".encode(),
    "NFKC names": "ｔｆ.math.log(tf.nn.softmax(x))\ny = tf.math.ℓog(tf.nn.relu(x))\n".encode(),
    "surrogate literal": b"x = '\\ud800'\ntf.math.log(tf.nn.relu('\\ud800'))\n",
    "Python 2": b"print 'a'\n",
    "newer syntax": b"type X = int\ndef f[T](x: T): pass\nf'{'a'}'\n",
    "match": b"match x:\n  case [1, *_]: y = tf.math.log(tf.nn.relu(x))\n",
    "double argument": b"def f(a, a): pass\n",
    "return outside": b"return tf.math.log(tf.nn.relu(x))\n",
    "huge decimal": b"x = " + b"9" * 10_000 + b"\n",
    "huge hexadecimal": b"x = tf.math.log(0x" + b"f" * 1_000_000 + b")\n",
    "huge octal": b"x = tf.math.log(0o" + b"7" * 10_000 + b")\ny = -0b1" + b"0" * 20_000 + b"\n",
    "undefined": b"# coding: undefined\nx = 1\n",
    "punycode": b"# coding: punycode\nx = 1\n# \\-0\n",
    "huge constant arithmetic": b"x = tf.math.log('a'*10**9 + 2**10**9)\ny = 1 << 10**9\nz = tf.sqrt(-9**9**9)\n",
    "float edges": b"tf.math.log(1e999 - 1e999)\ntf.sqrt(-1e999)\n1/0\ntf.math.log(1j)\n1e308*10/0.0\n0**-1\n(-8)**0.5\n",
    "odd arguments": b"tf.math.log()\ntf.math.log(*x)\ntf.math.log(**x)\ntf.math.log(x=1, x2=2, y=3)\ntf.math.log(1, 2, 3, 4)\n"
    b"tf.reduce_sum(x, axis=(0, *y))\ntf.nn.softmax(axis=0)\ntf.where()\ntf.norm(x, ord='no')\ntf.clip_by_value(x)\n",
    "shadowed": b"tf = 1\ntf.math.log(x)\ndel tf\ntf.log(x)\nimport tensorflow as tf, tensorflow as np\nfrom tensorflow import *\n",
    "self reference": b"x = x\nx = tf.math.log(x)\nx += x\nf = lambda: f\ny = f()()()\nclass A(A): a = A\nA.a.a.a(tf.math.log(A))\n",
    "class cycles": b"class A(B): pass\nclass B(A):\n  def call(self, x): return tf.math.log(self.call(x))\n",
    "walrus and unpacking": b"(a, *b), c = d = e[0] = (y := tf.nn.relu(x)), 1\n[tf.math.log(z) for z in b if (z := y)]\n",
    "star import": b"from tensorflow.math import *\nlog(relu(x))\n",
    "globals": b"def f():\n  global x\n  nonlocal y\n  x = tf.math.log(x)\n",
    "one long line": b"x = '" + b"a" * 1_500_000 + b"'; y = tf.math.log(tf.nn.softmax(x))\n",
    "many lines": b"x = tf.log(1.0)\n" * 30_000,
    "many findings": b"tf.math.log(tf.nn.relu(x))\n" * 300,
    "big list": b"x = [" + b"1," * 300_000 + b"]\ntf.math.log(x)\n",
    "slices of a dict": b"def f(x):\n  d = {'a': x}\n  d[1:2] = x\n  d[x:] = x\n  return tf.math.log(d['a'])\n",
    "doubled lists": b"def f(x):\n  a = [x, x]\n"
    + b"  a = a + a\n  a.extend(a)\n  a[:] = a + a\n  a = [*a, *a]\n" * 30
    + b"  return tf.math.log(a[0])\n",
    "big dict": b"x = {" + b"'a': 1," * 100_000 + b"}\ntf.math.log(x['a'])\n",
    "comments that suppress": b"# noqa: TFN101\n# tfn: ignore[]\n# tfn: ignore[[[\n# tfn:\n# tfn: ignore[TFN101\nx = 1 # noqa:,,,\n"
    * 500,
    "comment of many suppressions": b"x = 1 " + b"# noqa: TFN101 " * 5_000 + b"\n",
    "hashes": b"#" * 1_500_000,
    "hashes behind code": b"tf.math.log(x) " + b"#" * 1_500_000,
    "hashes and blanks": b"# " * 700_000,
    "noqa and noqa": b"x = 1 # " + b"noqa " * 200_000,
    "findings in a list": b"x = [" + b"tf.math.log(tf.nn.softmax(x)), " * 800 + b"]\n",
    "noqa of many codes": b"x = 1 # noqa: " + b"TFN101, " * 20_000 + b"!\n",
    "numbers beyond floats": b"y=tf.math.log(1<<10**12)\ny=tf.sqrt(2.0**10000)\nz=x/(1e308**5)\nq=tf.exp(-(10**400))\n",
    "remainders of zero": b"y=tf.math.log(5%0)\ny=tf.math.log(5//0)\ny=tf.math.log(-1%0.0)\ny=x/(7%tf.constant(0))\ny = divmod(1,0)\nz=tf.math.log(round(1e400))\nw=tf.math.log(int(float('inf')))\nw=x/int(float('nan'))\n",
    "functions of math": b"import math\ny=tf.math.log(math.factorial(10**9))\nz=x/math.exp(1e9)\nz=x/math.log(-1)\nz=x/math.sqrt(-4)\nz=x/math.comb(10**9,5*10**8)\nz=x/math.pow(10,10**10)\nz=x/math.gamma(-1)\nz=x/math.lgamma(0)\n",
    "a number of many digits": b"x=tf.math.log(float('1'*10**7))\ny=x/len('a'*10**12)\nz=[0]*10**12\nw=x/len(z)\n",
    "wide fields": b"x=tf.math.log(float(f'{1:1000000000}'))\ny='%1000000000d'%1\nz=tf.math.log('{:>99999999999}'.format(1))\n",
    "endless ranges": b"for i in range(10**30):\n  x=tf.math.log(i)\nfor i in range(0,10**400,10**390): y=z/i\nq=z/len(range(10**100))\n",
    "complex numbers": b"x=tf.math.log(1j**1j)\ny=tf.sqrt(1e400j)\nz=x/(0j)\nw=tf.abs(complex('1+'))\n",
    "arrays beyond memory": b"import numpy as np\nx=tf.math.log(np.zeros((10**10,10**10)))\ny=z/np.arange(0,10**20)\nw=z/np.linspace(0,1,10**12)\nv=tf.math.log(np.finfo(np.float128).tiny)\nu=tf.math.log(np.float16(10**400))\nt = z/np.eye(10**9)\n",
    "indices beyond ends": b"x=tf.math.log(y[10**400])\nx=tf.math.log([1,2][10**400])\nx=tf.math.log((1,2)[::10**400])\nx=tf.math.log((1,2)[::0])\nx=tf.math.log([1,2][-10**30:10**30])\n",
    "shapes beyond memory": b"x=tf.reshape(y,[10**30,-1])\nz=w/tf.size(x)\nz=w/tf.cast(tf.shape(tf.zeros([10**400]))[0],tf.float32)\nz=tf.zeros([0,-5,10**50]); q=w/tf.reduce_sum(z)\n",
    "settings of layers": b"m=tf.keras.layers.Dense(10**400, activation='nope')\nm=tf.keras.layers.Dropout(float('nan'))\nm=tf.keras.layers.BatchNormalization(epsilon=-10**400)\nm=tf.keras.layers.LeakyReLU(10**10**10)\nm.compile(loss=m.compile)\no=tf.keras.optimizers.Adam(epsilon=10**400, learning_rate=-10**10**10)\n",
    "sums of nothing": b"y=tf.math.log(sum([10**308]*1000)*1e308)\nz=w/max([])\nz=w/min(*[])\nz=w/max(1,'a')\nz=w/abs('a')\nz=w/sorted([])[0]\n",
    "surrogate names": b"x='\\ud800'\ny=tf.keras.layers.Dense(1,name='\\ud800')\nz=tf.math.log(d['\\udfff'])\nd={'\\ud800':tf.nn.relu(q)}\nr=tf.math.log(d['\\ud800'])\n",
    "f-strings in f-strings": b"x=f'{f\"{f'''{tf.math.log(tf.nn.softmax(x))!r:>{w}}'''}\"}'\n",
    "classes of themselves": b"def __getattr__(n): return __getattr__\nclass A:\n  __slots__=A.__slots__\n  def __init__(self): self.__init__=self; self.x=self.x.x\n  def __call__(self,x): return tf.math.log(self(self.x))\nA()(A)\n",
    "decorators of all kinds": b"@f\n@f.x\n@(lambda g:g)\n@tf.function\n@property\n@staticmethod\ndef f(x,/,*a,y=tf.math.log(0),**k): return tf.math.log(f(x,*a,**k))\n",
    "names around themselves": b"def f():\n def g():\n  nonlocal x\n  x=tf.math.log(x)\n x=1\n g()\n return x/g\n",
    "patterns of all kinds": b"match tf.nn.relu(x):\n case {'a':1,**r}: y=tf.math.log(r)\n case A(b=c)|A(c): y=tf.math.log(c)\n case (1|2) as q if tf.math.log(q): pass\n case -1+2j: pass\n case None|True: pass\n",
    "asynchronous statements": b"async def f():\n async with a as b, c as (d,e): x=tf.math.log(b)\n async for i in g(): y=1/i\n return [tf.math.log(z) async for z in w if await z]\n",
    "groups of exceptions": b"try: pass\nexcept* E as e: x=tf.math.log(e)\n",
    "deleted names": b"def f(x):\n del x\n return tf.math.log(x)\ndel f\nf(0)\ndel (a,[b,c.d,e[0]])\n",
    "starred targets": b"a,*b=*c,=d\n*x,=tf.nn.relu(y)\nz=tf.math.log(*x)\nprint(*tf.math.log(x),**{**x})\n[*a,b][tf.math.log(0)]+=1\n",
    "lambdas of themselves": b"f=lambda f:f(f)\nx=tf.math.log(f(f))\nY=lambda f:(lambda x:f(lambda v:x(x)(v)))(lambda x:f(lambda v:x(x)(v)))\ny=tf.math.log(Y(lambda f:lambda n:f(n)/n)(tf.nn.relu(q)))\n",
    "bases of themselves": b"class A(A.B): \n class B(A): pass\nclass C(*[C],metaclass=C,**C): pass\nx=tf.math.log(C.C)\nclass D(type(D)): pass\nclass E(D,E,F): pass\nclass F(E): \n  def call(self,x): return super(F,self).call(tf.math.log(super().call(x)))\n",
    "annotations that are no code": b"x: 'tf.math.log(' = 1\ndef f(x:'((('=1)->'[[[':\n  return tf.math.log(x)\n",
    "form feeds in a line": b"\x0cx=tf.math.log(tf.nn.softmax(y))\x0c;\x0cz=1\n",
    "control characters": b"x='\x01\x02\x1b[31m'; y=tf.math.log(tf.nn.softmax(z)) # \x1b]0;x\x07\n",
    "a codec of Windows": b"# coding: mbcs\nimport tensorflow as tf\n",
    "a cookie with a mark": b"# coding: utf-8-sig\nimport tensorflow as tf\ny=tf.math.log(tf.nn.softmax(x))\n",
    "base64": b"# coding: base64\nimport tensorflow as tf\n",
    "utf-32 in a cookie": b"# coding: utf-32\nimport tensorflow as tf\n",
    "NUL in a cookie": b"# coding: ut\x00f\nimport tensorflow as tf\n",
    "a path as a cookie": b"# coding: ../../x\nimport tensorflow as tf\n",
    "a module as a cookie": b"# coding: os.path\nimport tensorflow as tf\n",
    "Shift JIS": b"# coding: shift_jis\nimport tensorflow as tf\nx='\x82\xa0\\'\n",
    "GB18030": b"# coding: gb18030\nimport tensorflow as tf\ny=tf.math.log(tf.nn.softmax(x)) # \x810\x810\n",
    "EBCDIC": b"# coding: cp037\nimport tensorflow as tf\n",
    "a stray byte under a cookie": b"# coding: utf-8\nimport tensorflow as tf\ny=tf.math.log(tf.nn.softmax(x)) # caf\xe9\n",
    "a stray byte in a comment": b"import tensorflow as tf\ny=tf.math.log(tf.nn.softmax(x)) # caf\xe9\n",
    "a stray byte behind a mark": b"\xef\xbb\xbfimport tensorflow as tf\ny=tf.math.log(tf.nn.softmax(x)) # caf\xe9\n",
    "shifted states": b'# coding: iso2022_jp\nimport tensorflow as tf\n# \x1b$B$"\x1b(B\n',
}


def run(command: list[str], directory) -> subprocess.CompletedProcess:
    """Run a process that must end by itself, within the limits, and without a traceback."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))

    environment = {
        name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"
    }
    done = subprocess.run(
        command,
        cwd=directory,
        env=environment,
        capture_output=True,
        timeout=10 * SECONDS,
        preexec_fn=limit,
    )
    assert done.returncode in (0, 1, 2), (done.returncode, done.stderr[-2000:])
    assert b"Traceback" not in done.stdout + done.stderr
    return done


CHECK = [sys.executable, "-m", "tfnanlint", "check", "--isolated"]


def findings(directory, *argv: str) -> list[dict]:
    done = run([*CHECK, "--output-format", "json", *argv], directory)
    assert done.returncode in (0, 1), (done.returncode, done.stdout[-2000:], done.stderr[-2000:])
    return json.loads(done.stdout)


def inputs(group: dict) -> list:
    return [
        pytest.param(data if isinstance(data, bytes) else data.encode(), id=name)
        for name, data in group.items()
    ]


GROUPS = {"small": SMALL, "large": LARGE, "bytes": BYTES}


def place(name: str) -> str:
    """A folder of its own for an input, so that no two look like one project."""
    return re.sub(r"\W+", "-", name)


def as_tensorflow(data: bytes) -> bytes:
    """A text that mentions TensorFlow, with its first bytes kept where they mean something."""
    kept = data.startswith((b"#", b"\xef\xbb\xbf", b"\xff\xfe"))
    text = data if kept else TF.encode() + data
    return text + (b"" if b"tensorflow" in text else b"\n# tensorflow\n")


@pytest.mark.parametrize(
    "group", ["small", *(pytest.param(name, marks=pytest.mark.slow) for name in ("large", "bytes"))]
)
def test_one_diagnostic_or_a_normal_result(tmp_path, group):
    """All inputs of a group are checked by one process, and shown in full by another."""
    names = {}
    for name, data in GROUPS[group].items():
        path = tmp_path / place(name) / "a.py"
        path.parent.mkdir()
        path.write_bytes(as_tensorflow(data if isinstance(data, bytes) else data.encode()))
        names[str(path)] = name
    reported: dict[str, list[dict]] = {name: [] for name in names.values()}
    for one in findings(tmp_path, "--jobs", "1", "."):
        reported[names[one["filename"]]].append(one)
    for name, of_file in reported.items():
        refused = [one for one in of_file if one["code"] in REFUSALS]
        assert len(refused) <= 1, name
        if refused:
            assert of_file == refused, name
            assert 10 < len(refused[0]["message"]) < 400, name
            assert "\n" not in refused[0]["message"], name
    assert any(one["code"] in REFUSALS for of_file in reported.values() for one in of_file)
    # The full report must be able to show whatever was found.
    done = run([*CHECK, "--jobs", "1", "--select", "ALL", "--certainty", "unknown", "."], tmp_path)
    assert done.returncode in (0, 1)
    assert b"\x1b" not in done.stdout


@pytest.mark.parametrize(
    "data",
    [
        *inputs(SMALL),
        *inputs(BYTES),
        b"def f():\n  x = 1\n  global x\n",
        b"nonlocal x\n",
        b"from __future__ import nope\n",
    ],
)
def test_a_text_that_needs_no_tree_is_refused_for_the_same_reason(data):
    try:
        text = decode(data)[0]
    except Unreadable:
        return
    said = []
    for asked in (lambda source: source.tree, Source.verify):
        try:
            said.append(asked(Source("a.py", text)) and None)
        except Unreadable as error:
            said.append((str(error), error.row, error.column))
    assert said[0] == said[1]


@pytest.mark.slow
def test_fixing_ends_and_leaves_files_that_say_the_same(tmp_path):
    ending = b"\ny = tf.math.log(tf.nn.softmax(z))\n"
    texts = {}
    for name, data in SMALL.items():
        path = tmp_path / place(name) / "a.py"
        path.parent.mkdir()
        texts[path] = TF.encode() + data.encode() + ending
        path.write_bytes(texts[path])
    before = findings(tmp_path, ".")
    refused = {one["filename"] for one in before if one["code"] in REFUSALS}
    left = findings(tmp_path, "--fix", "--unsafe-fixes", ".")
    once = {path: path.read_bytes() for path in texts}
    assert refused and len(refused) < len(texts) / 2
    for path, text in once.items():
        if str(path) in refused:
            assert text == texts[path], path
        else:
            assert text.endswith(b"\ny = tf.nn.log_softmax(z)\n"), path
    assert findings(tmp_path, "--fix", "--unsafe-fixes", ".") == left
    assert {path: path.read_bytes() for path in texts} == once


def test_folders_whose_names_are_no_utf_8(tmp_path):
    """Names of folders and modules are looked for in other files."""
    package = os.path.join(os.fsencode(tmp_path), b"pack\xffage")
    os.mkdir(package)
    files = {
        b"__init__.py": "from .help import log\n",
        b"help.py": "def log(x):\n    return tf.math.log(x)\n",
        b"bad\xfe.py": "def log(x):\n    return tf.math.log(x)\n",
        b"use.py": "from . import log\ny = log(tf.nn.softmax(z))\n",
    }
    for name, text in files.items():
        with open(os.path.join(package, name), "w") as file:
            file.write(TF + text)
    found = findings(tmp_path, "--certainty", "unknown", ".")
    assert "TFN000" not in {one["code"] for one in found} and found


def test_every_codec_of_python_decodes_or_refuses():
    draw = random.Random(1)
    names = {module.name for module in pkgutil.iter_modules(encodings.__path__)}
    refused = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(names):
            for _ in range(20):
                data = b"# coding: %s\n" % name.encode() + bytes(draw.choices(range(256), k=30))
                try:
                    decode(data)
                except Unreadable as error:
                    refused += len(str(error)) < 400
    assert refused > 100


NAMES = [
    "new\nline.py",
    "esc\x1b[2J.py",
    "bidi\u202e.py",
    "comma, colon:.py",
    "-dash.py",
    "é中😀.py",
    b"bad\xff.py",
]


@pytest.mark.parametrize("shape", ["full", "concise", "json"])
def test_hostile_names(tmp_path, shape):
    paths = [
        os.path.join(os.fsencode(tmp_path), name if isinstance(name, bytes) else os.fsencode(name))
        for name in NAMES
    ]
    for path in paths:
        with open(path, "wb") as file:
            file.write((TF + "y = tf.math.log(tf.nn.softmax(z))\n").encode())
    command = [*CHECK, "--output-format", shape, "."]
    done = run(command, tmp_path)
    assert (done.returncode, done.stderr) == (1, b"")
    assert b"\x1b" not in done.stdout and "\u202e".encode() not in done.stdout
    if shape == "json":
        names = [os.fsencode(one["filename"]) for one in json.loads(done.stdout)]
        # A byte that is no UTF-8 is spelled out: strict readers of JSON refuse a lone surrogate.
        assert sorted(names) == sorted(path.replace(b"\xff", rb"\udcff") for path in paths)
    else:
        assert done.stdout.count(b": TFN301 ") == len(paths)
    if shape == "concise":
        assert len(done.stdout.splitlines()) == len(paths) + 3
    done = run([*CHECK, "--fix", "."], tmp_path)
    assert (done.returncode, done.stderr) == (0, b"")
    for path in paths:
        with open(path, "rb") as file:
            assert file.read() == (TF + "y = tf.nn.log_softmax(z)\n").encode()


@pytest.mark.parametrize(
    "config",
    ["a=" + "[" * 100_000, "a=" + "{a=" * 100_000, "a=" + "9" * 5_000, "a." * 50_000 + "b=1"],
)
@pytest.mark.parametrize("name", ["tfnanlint.toml", "pyproject.toml"])
def test_configuration_bombs(tmp_path, config, name):
    (tmp_path / "a.py").write_text(TF)
    (tmp_path / name).write_text("# tfnanlint\n" + config)
    command = [sys.executable, "-m", "tfnanlint", "check", "a.py"]
    done = run(command, tmp_path)
    if name == "tfnanlint.toml" or done.returncode:
        assert done.returncode == 2
        assert done.stderr.startswith(b"error: ") and done.stderr.count(b"\n") == 1


def cli(directory, *words: str) -> subprocess.CompletedProcess:
    command = [sys.executable, "-m", "tfnanlint", *words]
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=120)


def test_a_configuration_that_is_a_folder(tmp_path):
    (tmp_path / "tfnanlint.toml").mkdir()
    (tmp_path / "a.py").write_text(TF)
    done = cli(tmp_path, "check", "a.py")
    assert done.returncode == 2 and "tfnanlint.toml: cannot be read: not a regular" in done.stderr


NUMBERS = ["max-file-size = 99999999999999999999999", "epsilon = 1e-999", "epsilon = 9e999"]


@pytest.mark.parametrize("config", NUMBERS)
def test_numbers_that_no_machine_holds(tmp_path, config):
    (tmp_path / "tfnanlint.toml").write_text(config)
    (tmp_path / "a.py").write_text("import tensorflow as tf\n")
    done = cli(tmp_path, "check", "a.py")
    assert done.returncode == 2 and done.stderr.startswith("error: ") and len(done.stderr) < 300


LONG = {
    "unknown keys": "".join(f"k{i} = 1\n" for i in range(20_000)),
    "a long key": "k" * 500_000 + " = 1",
    "a long mode": 'modes = ["' + "m" * 500_000 + '"]',
    "a long rule": 'select = ["' + "r" * 500_000 + '"]',
    "many rules": "select = [" + '"r", ' * 50_000 + "]",
    "blank lines": "\n" * 500_000 + "k = 1",
    "many tables": "rules = {" + ",".join(f"TFN{i} = {{a = 1}}" for i in range(5_000)) + "}",
    "many patterns": "exclude = [" + ",".join(f'"*a*{i}b"' for i in range(2_000)) + "]",
    "a long pattern": 'exclude = ["' + "*a" * 200_000 + '"]',
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.slow
def test_messages_quote_a_bounded_part_of_the_configuration(tmp_path, name):
    (tmp_path / "tfnanlint.toml").write_text(LONG[name])
    (tmp_path / "a.py").write_text("import tensorflow as tf\n")
    done = run([sys.executable, "-m", "tfnanlint", "check", "."], tmp_path)
    assert done.returncode == 2 and b"error: " in done.stderr
    assert len(done.stderr) < 25_000 and done.stderr.count(b"\n") <= 21


@pytest.mark.parametrize(
    "pattern",
    ["*a*a*a*a*b", "**/a/**/a/**/a/**/b", "**/*a*a*a*b", "*" * 60 + "b", "a**a**b"],
)
def test_patterns_that_cost_too_much_are_refused_or_cheap(pattern):
    from tfnanlint.config.patterns import Patterns, bounded

    if bounded(pattern):
        deep = "/" + "/".join(["a"] * 199)
        wide = "/" + "a" * 250
        assert Patterns("/", [pattern]).verdict(deep) is None
        assert Patterns("/", [pattern]).verdict(wide) is None
    else:
        assert "b" in pattern and pattern.count("*") > 3


def test_runs_of_stars_mean_one():
    from tfnanlint.config.patterns import Patterns

    for pattern in ("a**z.py", "a*****z.py", "**/a*z.py", "a*z.py"):
        assert Patterns("/", [pattern]).verdict("/b/abcz.py") is True
        assert Patterns("/", [pattern]).verdict("/b/a/z.py") is None
    assert Patterns("/", [r"a\**"]).verdict("/a*b") is True
    assert Patterns("/", [r"a\**"]).verdict("/ab") is None


FORGED = ["b.py:1:1: error: TFN101 forged.py", "b.py" + " " * 90 + "c.py: error: no.py"]


@pytest.mark.parametrize("shape", ["full", "concise", "grouped"])
def test_a_name_does_not_look_like_a_line_of_a_report(tmp_path, shape):
    for name in FORGED:
        (tmp_path / name).write_text(TF + "y = tf.math.log(tf.nn.softmax(z))\n")
    done = run([*CHECK, "--output-format", shape, "."], tmp_path)
    text = done.stdout.decode()
    assert "b.py:1:1:" not in text and " " * 40 not in text
    assert r"b.py\x3a1\x3a1\x3a error" in text


class Forged(Cache):
    """A cache of one entry: what was kept last, or what was put in its place."""

    def __init__(self):
        super().__init__(None, "engine")
        self.content: object = None

    def get(self, key):
        text = self.content if isinstance(self.content, str) else json.dumps(self.content)
        return zlib.compress(text.encode())

    def put(self, entries):
        (body,) = entries.values()
        self.content = json.loads(zlib.decompress(body))


@pytest.mark.parametrize(
    "content",
    [
        [[], 0, [], False, [], []],
        [-1, 0, [], False, [], []],
        [0, 0, [1], False, [], []],
        [0, 0, [], False, [[True, [None] * 15]], []],
        [0, 0, [], False, [], [["unheard of", 1, 2]]],
        "[" * 100_000,
        {},
    ],
)
def test_forged_entries_of_the_cache_are_none(tmp_path, content):
    cache = Forged()
    cache.content = content
    entry = Entry(cache, "key", str(tmp_path / "a.py"), TF.encode())
    assert entry.checked(lambda checked: checked) is None


ODD = (None, True, 0, -1, 10**30, 1.5, float("nan"), "", "x\n\x1b", "\ud800", "\0", [], {}, [[]])
ODD += ([0, 1], [5, 2], [0, 10**9], [None], {"a": 1}, "must")


def _put_somewhere(draw: random.Random, content: list) -> None:
    """Change an entry in one place, at any depth."""
    places: list = []
    waiting: list = [content]
    while waiting:
        inner = waiting.pop()
        keys = inner if isinstance(inner, dict) else range(len(inner))
        places += [(inner, key) for key in keys]
        waiting += [inner[key] for key in keys if isinstance(inner[key], (dict, list))]
    inner, key = draw.choice(places)
    if isinstance(inner, list) and draw.random() < 0.3:
        del inner[key]
    else:
        inner[key] = draw.choice(ODD)


@pytest.mark.slow
def test_an_entry_that_was_changed_anywhere_is_none_or_can_be_shown(tmp_path):
    text = f"{TF}def f(z, y):\n    p = tf.nn.softmax(z)\n    return y * tf.math.log(p)\n"
    cache, draw, shown = Forged(), random.Random(0), 0
    entry = Entry(cache, "key", str(tmp_path / "a.py"), text.encode())
    assert check(str(tmp_path / "a.py"), text.encode(), POLICY, told=entry.keep).findings
    kept = json.dumps(cache.content)
    for _ in range(1_000):
        cache.content = json.loads(kept)
        _put_somewhere(draw, cache.content)
        checked = entry.checked(lambda checked: checked)
        for name in FORMATS if checked is not None else ():
            shape = open_format(name, View(Paint(False), verbose=True))
            shown += len(shape.start() + shape.file(checked) + shape.end()) > 0
    assert shown > 300


def test_a_cache_that_comes_with_the_code_is_not_used(tmp_path):
    (tmp_path / ".git").mkdir()
    (tmp_path / "a.py").write_text(TF + "y = tf.math.log(tf.nn.softmax(z))\n")
    kept = {name: value for name, value in os.environ.items() if name != "TFNANLINT_NO_CACHE"}
    command = [sys.executable, "-m", "tfnanlint", "check", "a.py"]
    for folder, made in ((tmp_path / ".cache", False), (tmp_path.parent / "apart", True)):
        environment = {**kept, "XDG_CACHE_HOME": str(folder)}
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True)
        assert done.returncode == 1
        assert (folder / "tfnanlint").exists() is made


def test_a_cache_in_what_is_checked_is_not_used_from_elsewhere(tmp_path):
    kept = {name: value for name, value in os.environ.items() if name != "TFNANLINT_NO_CACHE"}
    (tmp_path / "here").mkdir()
    for mark in (".git", "pyproject.toml"):
        project = tmp_path / f"of {mark}"
        project.mkdir()
        (project / mark).touch()
        (project / "a.py").write_text(TF + "y = tf.math.log(tf.nn.softmax(z))\n")
        environment = {**kept, "XDG_CACHE_HOME": str(project / ".cache")}
        for path in (project, project / "a.py"):
            command = [sys.executable, "-m", "tfnanlint", "check", str(path)]
            done = subprocess.run(
                command, cwd=tmp_path / "here", env=environment, capture_output=True
            )
            assert done.returncode == 1 and not (project / ".cache").exists()


@pytest.mark.parametrize("words", ["check a.py", "rule --all", "config", "--help", "--version"])
@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-"])
def test_closed_streams(tmp_path, words, closed):
    (tmp_path / "a.py").write_text("import tensorflow as tf\n")
    command = f"{shlex.quote(sys.executable)} -m tfnanlint {words} {closed}"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    assert done.returncode == (2 if closed == ">&-" else 0), done.stderr


@pytest.mark.parametrize("words", ["check a.py", "rule --all", "config", "--version"])
def test_a_full_disk_behind_standard_output(tmp_path, words):
    (tmp_path / "a.py").write_text("import tensorflow as tf\n")
    command = f"{shlex.quote(sys.executable)} -m tfnanlint {words} >/dev/full"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and done.stderr.startswith("error: "), done.stderr


@pytest.mark.parametrize("large", ["10 ** 10 ** 10", "10 ** 400", "9" * 400, "1e999"])
def test_numbers_that_no_float_holds(tmp_path, large):
    places = ("tf.pow(y, {})", "y ** -({})", "y / {}", "tf.clip_by_value(y, 0, {})", "tf.exp({})")
    lines = "".join(f"x = {place.format(large)}\n" for place in places)
    (tmp_path / "a.py").write_text("import tensorflow as tf\n" + lines)
    done = cli(tmp_path, "check", "--isolated", "--certainty", "unknown", "a.py")
    assert "TFN000" not in done.stdout and done.returncode in (0, 1)


@pytest.mark.parametrize("target", ["./a.py", "link", "hard", "other.py", "pyproject.toml"])
@pytest.mark.parametrize("words", [["a.py"], ["--stdin-filename", "a.py", "-"]])
def test_a_report_is_not_written_over_a_source(tmp_path, target, words):
    for name in ("a.py", "other.py", "pyproject.toml"):
        (tmp_path / name).write_text("import tensorflow as tf\n" if "py." not in name else "")
    (tmp_path / "link").symlink_to("a.py")
    os.link(tmp_path / "a.py", tmp_path / "hard")
    before = (tmp_path / target).read_text()
    done = cli(tmp_path, "check", "--isolated", "-o", target, *words)
    assert done.returncode == 2 and "not written over" in done.stderr
    assert (tmp_path / target).read_text() == before


def test_a_baseline_is_not_written_where_the_repository_says(tmp_path):
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "tfnanlint.toml").write_text('baseline = "../outside.json"\n')
    done = cli(tmp_path / "project", "baseline", "create")
    assert done.returncode == 2 and "outside of the project" in done.stderr
    assert not (tmp_path / "outside.json").exists()
    for name in (".git/hooks/post-checkout", ".GIT/x.json", "a.py", "tfnanlint.toml"):
        own = tmp_path / f"of {name.replace('/', '-')}"
        (own / ".git" / "hooks").mkdir(parents=True)
        (own / ".GIT").mkdir(exist_ok=True)
        (own / "a.py").write_text("import tensorflow\n")
        (own / "tfnanlint.toml").write_text(f'baseline = "{name}"\n')
        before = (own / name).read_bytes() if (own / name).exists() else None
        done = cli(own, "baseline", "create", "--force")
        assert done.returncode == 2 and "the configuration names a file" in done.stderr
        assert ((own / name).read_bytes() if (own / name).exists() else None) == before
    named = cli(tmp_path / "project", "baseline", "create", "--baseline", "../outside.json")
    assert named.returncode == 0 and (tmp_path / "outside.json").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_processes_end_with_the_one_that_started_them(tmp_path):
    from tfnanlint.pipeline import workers

    code = (
        "import os, sys, time\n"
        "from tfnanlint.pipeline.workers import end_with_parent\n"
        "if os.fork() == 0:\n"
        "    end_with_parent(); print(os.getpid(), flush=True); time.sleep(60)\n"
        "time.sleep(60)\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    child = int(parent.stdout.readline())
    parent.kill()
    parent.wait()
    end = time.monotonic() + 20 * workers._LOOK
    while time.monotonic() < end and _is_running(child):
        time.sleep(0.1)
    assert not _is_running(child)


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    with open(f"/proc/{process}/stat") as file:  # one that is not waited for stays as a zombie
        return file.read().rpartition(")")[2].split()[0] != "Z"


def test_a_configuration_cannot_make_code_run(tmp_path):
    (tmp_path / "a.py").write_text(TF)
    (tmp_path / "evil.py").write_text("raise SystemExit('ran')\n")
    refusals = {
        "plugins": b"you have not allowed it",
        "extend": b"must be the path of a file",
        "init-hook": b"unknown key",
        "rules": b"must be a table",
    }
    for key, refusal in refusals.items():
        (tmp_path / "tfnanlint.toml").write_text(f'{key} = ["evil"]\n')
        command = [sys.executable, "-m", "tfnanlint", "check", "a.py"]
        done = run(command, tmp_path)
        assert (done.returncode, refusal in done.stderr, b"ran" in done.stderr) == (
            2,
            True,
            False,
        )


def test_files_that_import_a_name_from_each_other(tmp_path):
    for one, other in (("a", "b"), ("b", "a")):
        (tmp_path / f"{one}.py").write_text(
            f"import tensorflow as tf\ntry:\n  from {other} import x\nexcept ImportError:\n  from {other} import y as x\n"
            f"def f(z):\n  return tf.math.log(tf.nn.relu(z)) / (x + z)\n"
        )
    assert {one["code"] for one in findings(tmp_path, "a.py", "b.py")} == {"TFN101"}


def test_a_root_that_stands_in_a_longer_file(tmp_path):
    (tmp_path / "a.py").write_text(
        "import tensorflow as tf\n"
        + "\n" * 90
        + "def distance(x):\n  return tf.sqrt(tf.reduce_sum(tf.square(x)))\n"
    )
    (tmp_path / "b.py").write_text(
        "import tensorflow as tf\nfrom a import distance\ndef loss(x):\n  return 1.0 / distance(x)\n"
    )
    assert {one["code"] for one in findings(tmp_path, "b.py")} == {"TFN102"}


HEADS = (
    b"# coding: latin-1",
    b"# -*- coding: utf8 -*-",
    b"# coding: utf-8",
    b"# vim: fileencoding=ascii",
    b"#",
    b"x=1",
    b" ",
    b"\n",
    b"\r",
    b"\r\n",
    b"\x0c",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xff",
    "\u00e9".encode(),
)


def test_encodings_are_those_of_python():
    """Most files are decoded without a search for a declaration: that must never miss one."""
    draw, read_over = random.Random(0), 0
    for _ in range(20_000):
        data = b"".join(draw.choices(HEADS, k=draw.randrange(8)))
        # Python's parser ends lines at lone CRs, too
        lines = data if b"\n" in data else data.replace(b"\r", b"\n")
        try:
            encoding, _ = tokenize.detect_encoding(io.BytesIO(lines).readline)
            expected = data.decode(encoding), encoding
        except UnicodeDecodeError:
            try:
                read = decode(data)
            except Unreadable:
                continue
            # Python, too, reads over these bytes: without them it says the same.
            assert read == (data.decode(encoding, "replace"), encoding)
            assert _compiles(data) == _compiles(data.replace(b"\xff", b"")), data
            read_over += _compiles(data)
        except SyntaxError:
            try:
                read = decode(data)
            except Unreadable:
                continue
            # in the lines of a declaration, where there is none
            assert read[0] == data.decode(read[1], "replace") and b"coding" not in b"".join(
                lines.split(b"\n", 2)[:2]
            )
            assert _compiles(data) == _compiles(data.replace(b"\xff", b"")), data
            read_over += _compiles(data)
        else:
            assert decode(data) == expected, data
    assert read_over > 10


def _compiles(data: bytes) -> bool:
    try:
        compile(data, "a.py", "exec")
    except (SyntaxError, ValueError):
        return False
    return True


def test_a_table_filled_line_by_line(tmp_path):
    lines = "".join(f"table[key{i}] = [{i}]\n" for i in range(900))
    (tmp_path / "table.py").write_text(
        f"import tensorflow as tf\ntable = {{}}\n{lines}x = tf.math.log(things[table])\n"
    )
    assert {finding["code"] for finding in findings(tmp_path, "table.py")} == {"TFN004"}
