"""Applying fixes: order, rounds, what is refused and why. The analysis is a table of names, so that
each test reads alone.
"""

from __future__ import annotations

import ast
import dataclasses
import itertools
import random
import re

import pytest

from tfnanlint.dev import repository
from tfnanlint.diagnostics.findings import Certainty, Claim, Edit, Finding, Fix
from tfnanlint.diagnostics.notices import IDLE
from tfnanlint.diagnostics.verdicts import Proof, Verdict
from tfnanlint.pipeline.fix import ROUNDS, fix_source
from tfnanlint.rewrite.bindings import bindings
from tfnanlint.rewrite.rewriter import NoFix, Spelling, rewrite
from tfnanlint.syntax.edits import edits_apply
from tfnanlint.syntax.encodings import encode
from tfnanlint.syntax.source import Source, Span

IMPORT = "import numpy as np"


def speller(source: Source):
    needed = "" if IMPORT in source.text else IMPORT
    return lambda use: Spelling(use.name, needed if use.name.startswith("np.") else "")


def analyser(fixes: dict[str, str], claim: Claim = Claim.EQUAL, calls: list | None = None):
    """An analysis that finds `CODE: call` for each call of a name in `fixes`, and rewrites it by
    the template there.
    """

    def analyse(source: Source) -> list[Finding]:
        if calls is not None:
            calls.append(source.text)
        found = []
        for node in ast.walk(source.tree):
            name = source.segment(node.func) if isinstance(node, ast.Call) else ""
            if name in fixes:
                found.append(
                    finding(name.upper(), source, node, *offered(source, node, fixes[name], claim))
                )
        return found

    return analyse


def offered(source: Source, call: ast.Call, template: str, claim: Claim = Claim.EQUAL) -> list[Fix]:
    try:
        edits = (
            rewrite(source, call, template, dict(zip("xyz", call.args)), speller(source))
            if template
            else ()
        )
    except NoFix:
        return []
    return [Fix(f"use {template}", claim, edits, binds=bindings(source, edits))] if edits else []


def finding(code: str, source: Source, node: ast.AST, *fixes: Fix) -> Finding:
    return Finding(
        code,
        code.lower(),
        "x.py",
        source.span(node),
        f"{code} found",
        Certainty.MAY,
        fixes=tuple(fixes),
    )


def raw(start: int, end: int, text: str) -> Fix:
    return Fix("raw", Claim.EQUAL, (Edit(Span(start, end), text),))


def stated(source: Source, title: str, *edits: Edit, claim: Claim = Claim.EQUAL) -> Fix:
    """A fix that states the names which its edits bind."""
    return Fix(title, claim, edits, binds=bindings(source, edits))


def everything(fix: Fix) -> bool:
    return True


def fixed(text: str, fixes: dict[str, str], allowed=everything):
    return fix_source(Source("x.py", text), analyser(fixes), allowed)


# ---------------------------------------------------------------------------------------------------------
# What is executed


def test_a_fix_that_executing_it_refutes_is_left_out_and_told():
    tried = []

    def execute(source: Source, finding: Finding, fix: Fix) -> Verdict:
        tried.append(finding.code)
        refused = "a gradient is 0" if finding.code == "UGLY" else ""
        return Verdict(Proof.PROVED, fix="finite", refused=refused)

    source = Source("x.py", "y = bad(1)\nz = ugly(2)\n")
    analyse = analyser({"bad": "good({x})", "ugly": "fair({x})"})
    result = fix_source(source, analyse, everything, execute)
    assert result.source.text == "y = good(1)\nz = ugly(2)\n"
    assert result.problems == ["UGLY at line 2 not fixed: executed: a gradient is 0"]
    ((applied, _),) = result.applied
    assert applied.verdict is not None and applied.verdict.fix == "finite"
    assert {"BAD", "UGLY"} == set(tried)


# ---------------------------------------------------------------------------------------------------------
# What is applied


def test_all_fixes_that_do_not_overlap_go_in_one_round():
    calls: list[str] = []
    source = Source("x.py", "y = bad(1)\nz = worse(2) + bad(3)\n")
    result = fix_source(
        source, analyser({"bad": "good({x})", "worse": "better({x})"}, calls=calls), everything
    )
    assert result.source.text == "y = good(1)\nz = better(2) + good(3)\n"
    assert (result.rounds, result.problems, len(calls)) == (1, [], 2)
    assert sorted(found.code for found, _ in result.applied) == ["BAD", "BAD", "WORSE"]
    assert result.source.path == "x.py"


def test_inner_fixes_go_first_and_the_outer_ones_follow():
    result = fixed("y = bad(bad(worse(1)))\n", {"bad": "good({x}) + 1", "worse": "better({x})"})
    assert result.source.text == "y = good(good(better(1)) + 1) + 1\n"
    assert result.rounds == 3
    assert [found.code for found, _ in result.applied] == ["WORSE", "BAD", "BAD"]


def test_the_first_allowed_fix_is_taken():
    source = Source("x.py", "y = bad(1)\n")

    def analyse(source):
        shifted = Fix("a", Claim.SHIFTED, (Edit(Span(4, 10), "a"),))
        equal = Fix("b", Claim.EQUAL, (Edit(Span(4, 10), "b"),))
        return [
            finding("BAD", source, node, shifted, equal)
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Call)
        ]

    assert fix_source(source, analyse, lambda fix: fix.claim.safe).source.text == "y = b\n"
    assert fix_source(source, analyse, everything).source.text == "y = a\n"
    result = fix_source(source, analyse, lambda fix: False)
    assert (result.source, result.applied, result.rounds, result.problems) == (source, [], 0, [])


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_an_import_that_two_fixes_need_is_added_once(end):
    text = f"import a{end}{end}y = bad(1){end}z = bad(2){end}"
    result = fixed(text, {"bad": "np.good({x})"})
    assert (
        result.source.text
        == f"import a{end}{IMPORT}{end}{end}y = np.good(1){end}z = np.good(2){end}"
    )
    assert (result.rounds, result.problems) == (1, [])


def test_different_imports_at_one_place_go_together():
    def analyse(source):
        return [
            finding(
                node.id,
                source,
                node,
                stated(
                    source,
                    "f",
                    Edit(Span(0, 0), f"import {node.id}1\n"),
                    Edit(source.span(node), f"{node.id}1"),
                ),
            )
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Name) and node.id in "bc"
        ]

    result = fix_source(Source("x.py", "a = b + c\n"), analyse, everything)
    assert result.source.text == "import b1\nimport c1\na = b1 + c1\n"
    assert result.rounds == 1


def test_lines_added_at_one_place_wait_for_each_other():
    def analyse(source):
        return [
            finding(
                node.id,
                source,
                node,
                stated(
                    source,
                    "f",
                    Edit(Span(0, 0), f"m_{node.id} = {node.id}1\n"),
                    Edit(source.span(node), f"m_{node.id}"),
                ),
            )
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Name) and node.id in "bc"
        ]

    result = fix_source(Source("x.py", "a = b + c\n"), analyse, everything)
    assert result.source.text == "m_c = c1\nm_b = b1\na = m_b + m_c\n"
    assert result.rounds == 2


def test_a_fix_of_several_edits_is_made_whole_or_not_at_all():
    def analyse(source):
        names = [node for node in ast.walk(source.tree) if isinstance(node, ast.Name)]
        both = [node for node in names if node.id == "b"]
        found = [
            finding("ONE", source, node, raw(*ends(source, node), "g(B)"))
            for node in both
            if "a = b" in source.text
        ][:1]
        if both:
            edits = tuple(Edit(source.span(node), "B") for node in both)
            found.append(finding("TWO", source, both[-1], Fix("two", Claim.EQUAL, edits)))
        return found

    result = fix_source(Source("x.py", "a = b + h(b)\n"), analyse, everything)
    assert result.source.text == "a = g(B) + h(B)\n"
    assert [found.code for found, _ in result.applied] == ["ONE", "TWO"]


def ends(source: Source, node: ast.AST) -> tuple[int, int]:
    span = source.span(node)
    return span.start, span.end


def test_a_fix_that_a_later_one_replaced_does_not_count():
    result = fixed("y = bad(worse(1))\n", {"bad": "good()", "worse": "better({x})"})
    assert result.source.text == "y = good()\n"
    assert [found.code for found, _ in result.applied] == ["BAD"]
    kept = fixed("y = bad(worse(1))\n", {"bad": "good({x})", "worse": "better({x})"})
    assert [found.code for found, _ in kept.applied] == ["WORSE", "BAD"]


def test_nothing_is_left_for_a_second_run():
    fixes = {"bad": "worse({x}) + 1", "worse": "good({x})", "odd": "odd({x})"}
    result = fixed("y = bad(odd(bad(1)))\nz = odd(2)\n", {**fixes, "bad": "good({x})"})
    again = fix_source(result.source, analyser({**fixes, "bad": "good({x})"}), everything)
    assert again.source.text == result.source.text == "y = good(odd(good(1)))\nz = odd(2)\n"
    assert (again.applied, again.rounds) == ([], 0)


def test_the_order_of_the_findings_does_not_matter():
    text = "y = bad(bad(1) + worse(bad(2)))\nz = stays(worse(3))\n"
    fixes = {"bad": "np.good({x}) + 1", "worse": "{x} * 2", "stays": "stays(1)"}
    analyse = analyser(fixes)
    seen = set()
    for seed in range(20):

        def shuffled(source, seed=seed):
            return random.Random(seed).sample(found := analyse(source), len(found))

        result = fix_source(Source("x.py", text), shuffled, everything)
        seen.add((result.source.text, result.rounds, tuple(result.problems)))
    assert len(seen) == 1


# ---------------------------------------------------------------------------------------------------------
# What is refused


def test_a_fix_that_does_not_remove_its_finding_is_refused_and_the_others_go_on():
    result = fixed(
        "y = bad(1)\nz = bad(worse(2))\nw = bad(3)\n", {"bad": "good({x})", "worse": "worse({x})"}
    )
    assert result.source.text == "y = good(1)\nz = good(worse(2))\nw = good(3)\n"
    assert result.problems == [
        "WORSE at line 2 not fixed: the finding is still there after its fix"
    ]


def test_the_next_fix_is_tried_where_the_first_does_not_hold():
    def analyse(source):
        names = [
            node
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Name) and node.id in ("bad", "worse")
        ]
        return [
            finding(
                node.id.upper(),
                source,
                node,
                *(raw(*ends(source, node), text) for text in ("worse", "good"))
                if node.id == "bad"
                else (),
            )
            for node in names
        ]

    def named(source):
        return [
            dataclasses.replace(
                f,
                fixes=tuple(
                    dataclasses.replace(fix, title=str(n)) for n, fix in enumerate(f.fixes)
                ),
            )
            for f in analyse(source)
        ]

    result = fix_source(Source("x.py", "y = bad\n"), named, everything)
    assert (result.source.text, result.problems) == ("y = good\n", [])
    result = fix_source(Source("x.py", "y = bad\n"), named, lambda fix: fix.title == "0")
    assert (result.source.text, len(result.problems)) == ("y = bad\n", 1)


def test_a_fix_that_brings_up_another_finding_is_refused():
    result = fixed(
        "y = bad(1)\n\nz = worse(2)\n", {"bad": "good({x})", "worse": "other({x})", "other": ""}
    )
    assert result.source.text == "y = good(1)\n\nz = worse(2)\n"
    assert result.problems == [
        "WORSE at line 3 not fixed: it would introduce OTHER at line 3: OTHER found"
    ]


def test_a_new_finding_far_from_the_edit_counts():
    def analyse(source):
        names = {node.id: node for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
        if "bad" in names:
            return [finding("BAD", source, names["bad"], raw(*ends(source, names["bad"]), "good"))]
        return [finding("BAD", source, names["later"])]

    result = fix_source(Source("x.py", "y = bad\nz = later\n"), analyse, everything)
    assert result.problems == [
        "BAD at line 1 not fixed: it would introduce BAD at line 2: BAD found"
    ]


def test_fixes_that_undo_each_other_are_named():
    result = fixed("y = bad(1)\n", {"bad": "worse({x})", "worse": "bad({x})"})
    assert result.source.text == "y = bad(1)\n"
    assert result.problems == [
        "BAD at line 1 not fixed: the fixes of BAD and WORSE undo each other"
    ]


def test_a_finding_that_only_moves_is_not_new():
    result = fixed("y = bad(stays(1), 2) + stays(3)\n", {"bad": "good({y}, {x})", "stays": ""})
    assert result.source.text == "y = good(2, stays(1)) + stays(3)\n"
    assert result.problems == []


def test_a_finding_that_a_rewrite_copies_is_new():
    result = fixed("y = bad(stays(1))\n", {"bad": "good({x}, {x})", "stays": ""})
    assert result.problems == [
        "BAD at line 1 not fixed: it would introduce STAYS at line 1: STAYS found"
    ]


def test_a_finding_that_moves_to_an_added_line_is_not_new():
    def analyse(source):
        found = [
            finding("STAYS", source, node)
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Call) and source.segment(node.func) == "stays"
        ]
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Call) and source.segment(node.func) == "bad":
                edits = (
                    Edit(Span(0, 0), f"m = {source.segment(node.args[0])}\n"),
                    Edit(source.span(node), "good(m, m)"),
                )
                found.append(finding("BAD", source, node, stated(source, "name it", *edits)))
        return found

    result = fix_source(Source("x.py", "y = bad(stays(1))\n"), analyse, everything)
    assert (result.source.text, result.problems) == ("m = stays(1)\ny = good(m, m)\n", [])


def only(fix: Fix):
    """An analysis that offers one fix as long as the name `bad` is in the text."""

    def analyse(source):
        return [
            finding("BAD", source, node, fix)
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Name) and node.id == "bad"
        ][:1]

    return analyse


@pytest.mark.parametrize(
    ("text", "fix", "reason"),
    [
        ("y = bad\n", raw(4, 7, "a ("), "the new text does not parse: "),
        ("y = bad\n", raw(4, 7, "a; b"), "code outside of the replaced expressions would change"),
        (
            "y = 2 * bad\n",
            raw(8, 11, "a + b"),
            "code outside of the replaced expressions would change",
        ),
        (
            "y = bad\nz = 1\n",
            raw(4, 9, "a\nq"),
            "code outside of the replaced expressions would change",
        ),
        (
            "def g(bad):\n  return bad\n",
            raw(4, 5, "h"),
            "code outside of the replaced expressions would change",
        ),
        (
            "def g(a):\n  return a\ny = bad\n",
            raw(25, 28, "a"),
            "nothing is called 'a' where it would be written",
        ),
        (
            "def g(a): a\ndef h(x):\n  return bad\n",
            raw(31, 34, "a"),
            "nothing is called 'a' where it would be written",
        ),
        ("y = bad\n", raw(4, 70, "a"), "its edits do not fit the file"),
        (
            "y = bad\n",
            Fix("f", Claim.EQUAL, (Edit(Span(0, 5), "a"), Edit(Span(4, 7), "b"))),
            "its edits do not fit the file",
        ),
        ("y = bad\n", Fix("f", Claim.EQUAL, ()), "its edits do not fit the file"),
        (
            "y = bad\n",
            Fix("f", Claim.EQUAL, (Edit(Span(0, 0), "# coding: latin-1\n"), Edit(Span(4, 7), "a"))),
            "the file would be read in another encoding",
        ),
    ],
)
def test_a_fix_that_breaks_the_file_is_refused(text, fix, reason):
    result = fix_source(Source("x.py", text), only(fix), everything)
    assert (result.source.text, result.applied, result.rounds) == (text, [], 0)
    assert (
        len(result.problems) == 1
        and reason in result.problems[0]
        and result.problems[0].startswith("BAD at line ")
    )


def test_fixes_that_hold_apart_but_not_together():
    def analyse(source):
        good = source.text.count("good")
        found = []
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Name) and node.id.startswith("bad"):
                found.append(finding("BAD", source, node, raw(*ends(source, node), "good")))
            if isinstance(node, ast.Name) and node.id == "good" and good > 1:
                found.append(finding("CROWD", source, node))
        return found

    result = fix_source(Source("x.py", "y = bad1\nz = bad2\n"), analyse, everything)
    assert result.source.text == "y = good\nz = bad2\n"
    assert result.problems == [
        "BAD at line 2 not fixed: it would introduce CROWD at line 1: CROWD found"
    ]


def test_what_was_refused_is_tried_again_in_the_last_text():
    def analyse(source):
        found = []
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Name) and node.id in ("early", "late"):
                found.append(
                    finding(node.id.upper(), source, node, raw(*ends(source, node), node.id[0]))
                )
            if isinstance(node, ast.Name) and node.id == "e" and "late" in source.text:
                found.append(finding("NEW", source, node))
        return found

    result = fix_source(Source("x.py", "y = early\nz = g(late)\n"), analyse, everything)
    assert (result.source.text, result.problems) == ("y = e\nz = g(l)\n", [])


def test_refused_fixes_cost_few_analyses():
    calls: list[str] = []
    text = "".join(f"y{n} = bad({n})\n" for n in range(63)) + "z = worse(1)\n"
    result = fix_source(
        Source("x.py", text),
        analyser({"bad": "good({x})", "worse": "worse({x})"}, calls=calls),
        everything,
    )
    assert result.source.text.count("good") == 63 and len(result.problems) == 1
    assert len(calls) < 40


def test_another_finding_of_the_same_kind_in_the_same_expression_is_told_apart():
    def analyse(source):
        found = [
            finding("BAD", source, node, *offered(source, node, "good({x})"))
            for node in ast.walk(source.tree)
            if isinstance(node, ast.Call) and source.segment(node.func) == "bad"
        ]
        return found or [
            dataclasses.replace(finding("BAD", source, source.tree.body[0].value), message="outer")
        ]

    result = fix_source(Source("x.py", "y = g(bad(1))\n"), analyse, everything)
    assert result.problems == ["BAD at line 1 not fixed: it would introduce BAD at line 1: outer"]


def test_ten_rounds_at_most():
    depth = ROUNDS + 2
    result = fixed("y = " + "bad(" * depth + "1" + ")" * depth + "\n", {"bad": "good({x})"})
    assert result.rounds == ROUNDS == 10
    assert result.source.text.count("good(") == ROUNDS
    assert result.problems == [
        "stopped after 10 rounds with fixes still on offer for BAD at line 1, BAD at line 1"
    ]


def test_a_suppression_that_becomes_idle_does_not_count_as_new():
    def analyse(source):
        found = analyser({"bad": "good({x})"})(source)
        if not found:
            at = source.text.index("#")
            found = [
                Finding(IDLE.code, IDLE.slug, "x.py", Span(at, at + 5), "idle", Certainty.MUST)
            ]
        return found

    result = fix_source(Source("x.py", "y = bad(1)  # tfn\n"), analyse, everything)
    assert (result.source.text, result.problems) == ("y = good(1)  # tfn\n", [])


def test_a_fix_may_take_a_comment_away():
    text = "def g():\n    y = h(a,  # gone\n          b)  # gone\n    return y\n"

    def analyse(source):
        return [
            Finding(
                "C",
                "c",
                "x.py",
                Span(at, at + 6),
                "c",
                Certainty.MUST,
                fixes=(raw(at - 2, at + 6, ""),),
            )
            for at in (match.start() for match in re.finditer("# gone", source.text))
        ]

    result = fix_source(Source("x.py", text), analyse, everything)
    assert (result.source.text, result.problems) == (text.replace("  # gone", ""), [])


# ---------------------------------------------------------------------------------------------------------
# Encodings


@pytest.mark.parametrize(
    "encoding", ["unicode_escape", "utf-7", "raw_unicode_escape", "rot13", "utf-16"]
)
def test_files_in_strange_encodings_are_not_fixed(encoding):
    result = fix_source(
        Source("x.py", "y = bad(1)\n", encoding), analyser({"bad": "good({x})"}), everything
    )
    assert (result.source.text, result.applied) == ("y = bad(1)\n", [])
    assert result.problems == [
        f"not fixed: its encoding {encoding} cannot be written back without changing its meaning"
    ]


def test_strange_encodings_are_no_problem_where_there_is_nothing_to_fix():
    assert (
        fix_source(
            Source("x.py", "y = 1\n", "utf-7"), analyser({"bad": "good({x})"}), everything
        ).problems
        == []
    )


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"# coding: latin-1\ny = bad('\xe9')\n", b"# coding: latin-1\ny = good('\xe9')\n"),
        (b"# coding: utf8\ny = bad('\xc3\xa9')\n", b"# coding: utf8\ny = good('\xc3\xa9')\n"),
        (
            b"# -*- coding: Latin1 -*-\ny = bad('\xe9')\n",
            b"# -*- coding: Latin1 -*-\ny = good('\xe9')\n",
        ),
        (
            b"#!x\r\n# coding: cp1252\r\ny = bad('\x93')\r\n",
            b"#!x\r\n# coding: cp1252\r\ny = good('\x93')\r\n",
        ),
        (b"\xef\xbb\xbfy = bad('\xc3\xa9')\n", b"\xef\xbb\xbfy = good('\xc3\xa9')\n"),
        (b"y = bad(1)\rz = '''\n\r\n'''\r\n", b"y = good(1)\rz = '''\n\r\n'''\r\n"),
    ],
)
def test_other_bytes_are_kept(data, expected):
    source = Source.from_bytes("x.py", data)
    result = fix_source(source, analyser({"bad": "good({x})"}), everything)
    assert encode(result.source.text, result.source.encoding) == expected
    assert result.problems == []


def test_a_fix_that_does_not_fit_the_encoding_is_refused_alone():
    source = Source.from_bytes("x.py", b"# coding: latin-1\ny = bad('\xe9')\nz = worse(2)\n")
    result = fix_source(
        source, analyser({"bad": "good({x})", "worse": "better('\u03b5')"}), everything
    )
    assert result.source.text == "# coding: latin-1\ny = good('é')\nz = worse(2)\n"
    assert result.problems == [
        "WORSE at line 3 not fixed: the new text does not fit the file's encoding iso-8859-1"
    ]


# ---------------------------------------------------------------------------------------------------------
# Generated programs


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_generated_programs_settle(seed):
    chance = random.Random(seed)
    fixes = {
        "bad": "np.good({x}) - 1",
        "worse": "-{x}",
        "double": "g({x}, k={x})",
        "stays": "",
        "odd": "odd({x} + 1)",
    }

    def expression(depth: int) -> str:
        if depth == 0:
            return chance.choice(["a", "1", "b.c", "'é'"])
        name = chance.choice([*fixes, "f", "g"])
        gap = chance.choice(["", "", "\n   ", " # c\n   "])
        return chance.choice(
            [
                f"{name}({gap}{expression(depth - 1)})",
                f"({expression(depth - 1)}{gap} * {expression(depth - 1)})",
            ]
        )

    for _ in range(25):
        text = "import a\n" + "".join(
            f"def f{n}():\n    return {expression(chance.randint(1, 5))}\n" for n in range(3)
        )
        result = fix_source(Source("x.py", text), analyser(fixes), everything)
        left = analyser(fixes)(result.source)
        again = fix_source(result.source, analyser(fixes), everything)
        assert (again.source.text, again.applied) == (result.source.text, [])
        # Whatever is still found has no fix, or its fix is among the problems.
        with_fix = [f for f in left if f.fixes]
        assert len(with_fix) == len(result.problems)
        assert result.source.text.count(IMPORT) == ("np.good" in result.source.text)
        assert text.count("#") <= result.source.text.count("#") + text.count("double")


def test_applied_edits_give_the_result():
    source = Source("x.py", "y = bad(1) + worse(2)\n")
    result = fix_source(source, analyser({"bad": "good({x})", "worse": "better({x})"}), everything)
    edits = itertools.chain.from_iterable(fix.edits for _, fix in result.applied)
    assert edits_apply(source.text, edits) == result.source.text


# ---------------------------------------------------------------------------------------------------------
# A finding within another one


def nested(outer: str, *, hides: bool):
    """An analysis of `outer(inner(x))`, where the rule of `outer` goes before that of `inner`;
    whether the fix of `inner` hides it.
    """

    def analyse(source: Source) -> list[Finding]:
        found = analyser({"outer": outer, "inner": "safe({x})"})(source)
        for one in found:
            one.data["over"] = ("INNER",) if one.code == "OUTER" else ()
        return [
            one
            for one in found
            if not (hides and one.code == "OUTER" and "inner(" not in source.text)
        ]

    return analyse


def test_an_outer_fix_goes_first_where_its_rule_does():
    result = fix_source(
        Source("x.py", "y = outer(inner(1))\n"), nested("kept({x})", hides=True), everything
    )
    assert result.source.text == "y = kept(safe(1))\n" and not result.problems


def test_a_fix_that_hides_what_stands_around_it_is_refused():
    result = fix_source(Source("x.py", "y = outer(inner(1))\n"), nested("", hides=True), everything)
    assert (
        result.source.text == "y = outer(inner(1))\n"
        and "it would hide OUTER at line 1" in result.problems[0]
    )
    assert (
        fix_source(
            Source("x.py", "y = outer(inner(1))\n"), nested("", hides=False), everything
        ).source.text
        == "y = outer(safe(1))\n"
    )


def test_a_fix_that_completes_a_form_goes_with_the_repair_of_the_form():
    """The second part of `outer(...)` keeps its best fix, though it makes a finding of the whole."""

    def analyse(source: Source) -> list[Finding]:
        found = []
        for node in ast.walk(source.tree):
            name = source.segment(node.func) if isinstance(node, ast.Call) else ""
            if name == "bare":
                fixes = [
                    *offered(source, node, "good({x})"),
                    *offered(source, node, "floored({x})"),
                ]
                found.append(finding("BARE", source, node, *fixes))
            elif name == "outer" and source.text.count("good(") == 2:
                fixes = offered(source, node, "kept({x}, {y})")
                found.append(finding("OUTER", source, node, *fixes))
        return found

    result = fix_source(Source("x.py", "y = outer(bare(1), bare(2))\n"), analyse, everything)
    assert (result.source.text, result.problems) == ("y = kept(good(1), good(2))\n", [])


def capped(fixed: Certainty, left: Certainty):
    """What becomes of `bare(x)` where its fix moves values, and leaves a finding without fixes that
    goes before it.
    """

    def analyse(source: Source) -> list[Finding]:
        by_table = analyser({"bare": "floored({x})", "floored": ""}, Claim.SHIFTED)
        return [
            dataclasses.replace(
                one,
                certainty=fixed if one.code == "BARE" else left,
                data={"over": ("BARE",) if one.code == "FLOORED" else ()},
            )
            for one in by_table(source)
        ]

    return fix_source(Source("x.py", "bare(x)\n"), analyse, everything)


def test_a_fix_that_moves_values_may_leave_a_finding_in_the_place_of_its_own():
    result = capped(Certainty.MAY, Certainty.MAY)
    assert (result.source.text, result.problems) == ("floored(x)\n", [])


def test_a_fix_that_leaves_a_surer_finding_is_refused():
    result = capped(Certainty.UNKNOWN, Certainty.MAY)
    assert result.source.text == "bare(x)\n"
    assert "would introduce FLOORED" in result.problems[0]


def unit(root: Certainty, over: tuple[str, ...] = ("ROOT",), roots: int = 1):
    """What becomes of `norm(bad(1)) / bad(1)`, of which one part is mended at a time: QUOTIENT goes
    before what it covers, as many ROOT at the norm, and stands while both parts are alike.
    """

    def analyse(source: Source) -> list[Finding]:
        quotient = source.tree.body[0].value
        norm, part = quotient.left, quotient.right
        if source.segment(norm.args[0]) == source.segment(part):
            data = {"over": over, "covers": (source.span(norm),)}
            findings = [dataclasses.replace(finding("QUOTIENT", source, quotient), data=data)]
        else:
            findings = [dataclasses.replace(finding("ROOT", source, norm), certainty=root)] * roots
        return findings + analyser({"bad": "good({x})"})(source)[-1:]

    return fix_source(Source("x.py", "y = norm(bad(1)) / bad(1)\n"), analyse, everything)


def test_a_fix_may_leave_what_an_outer_finding_covered_where_that_one_ends():
    result = unit(Certainty.MAY)
    assert (result.source.text, result.problems) == ("y = norm(good(1)) / good(1)\n", [])
    result = unit(Certainty.MAY, over=("ROOT", "BAD"))  # what is fixed stands within it
    assert (result.source.text, result.problems) == ("y = norm(good(1)) / good(1)\n", [])


@pytest.mark.parametrize(
    ("root", "over", "roots"),
    [
        (Certainty.MUST, ("ROOT",), 1),
        (Certainty.MAY, ("ANGLE",), 1),
        (Certainty.MAY, ("ROOT",), 3),  # of the expression and of the norm in it
    ],
)
def test_what_shows_is_new_if_it_is_surer_or_was_not_covered(root, over, roots):
    result = unit(root, over, roots)
    assert result.source.text == "y = norm(bad(1)) / bad(1)\n"
    assert "it would introduce ROOT" in result.problems[0]


@pytest.mark.parametrize("root", ["tf.norm", "tf.math.reduce_std"])
def test_a_float16_root_before_a_logarithm_is_computed_in_float32(root):
    text = (
        "import tensorflow as tf\n\n\ndef loss(x, s):\n    x = tf.cast(x, tf.float16)\n"
        f"    size = tf.cast(s, tf.float16) + {root}(x, axis=-1)\n"
        "    return tf.clip_by_value(tf.math.log(size), -15.0, 15.0)\n"
    )
    text += (
        "\n\ndef step(x, s):\n    with tf.GradientTape() as tape:\n        tape.watch(x)\n"
        "        value = loss(x, s)\n    return tape.gradient(value, x)\n"
    )
    result = fix_source(Source("x.py", text), repository.findings, everything)
    assert result.problems == []
    assert [f.code for f in repository.findings(result.source)] == []
    assert "tf.cast(x, tf.float32)" in result.source.text


def test_lines_that_fixes_make_too_long_are_broken_in_a_formatted_file():
    text = (
        "import tensorflow as tf\n\n\ndef distance(first, second):\n"
        "    squares = tf.square(first) + tf.square(second) + tf.square(first - second)\n"
        "    return tf.reduce_sum(squares * tf.nn.relu(first)) / tf.reduce_sum(tf.nn.relu(first))\n"
    )
    broken = repository.fixed(Source("x.py", text)).source.text
    assert "    return tf.math.divide_no_nan(\n        tf.reduce_sum(" in broken
    assert max(map(len, broken.splitlines())) <= 88
    long = text + "\n\nx = tf.reduce_sum(" + "tf.add(1.0, 2.0) + " * 6 + "tf.add(1.0, 2.0))\n"
    assert "divide_no_nan(tf.reduce_sum(" in repository.fixed(Source("x.py", long)).source.text
