"""`junit`: XML that test dashboards read. A file is a test suite, a finding a failed test, a clean
file a passed one.
"""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, indent, tostring

from tfnanlint.diagnostics import notices
from tfnanlint.diagnostics.findings import Finding
from tfnanlint.diagnostics.grades import severity
from tfnanlint.pipeline.check import Checked
from tfnanlint.report import escape, message
from tfnanlint.report.place import Paths
from tfnanlint.report.wellformed import xml_text
from tfnanlint.syntax.source import Location


class Junit:
    def __init__(self) -> None:
        self._paths = Paths()
        self._empty = True

    def start(self) -> str:
        return '<?xml version="1.0" encoding="utf-8"?>\n<testsuites name="tfnanlint">\n'

    def file(self, checked: Checked) -> str:
        self._empty = False
        return _suite(escape(self._paths.of(checked.path)), checked)

    def end(self) -> str:
        # Dashboards take a report without any test for a broken one.
        return (
            _text(_suite_of("tfnanlint", [_case("no findings", "tfnanlint")]))
            if self._empty
            else ""
        ) + "</testsuites>\n"


def _suite(path: str, checked: Checked) -> str:
    cases = [_failure(path, finding, checked) for finding in checked.findings]
    return _text(_suite_of(path, cases or [_case("no findings", path)]))


def _suite_of(name: str, cases: list[Element]) -> Element:
    failed = sum(len(case.findall("failure")) for case in cases)
    suite = Element(
        "testsuite", _attributes(name=name, tests=len(cases), failures=failed, errors=0, time=0)
    )
    suite.extend(cases)
    return suite


def _case(name: str, path: str) -> Element:
    return Element("testcase", _attributes(name=name, classname=path.removesuffix(".py"), time=0))


def _failure(path: str, finding: Finding, checked: Checked) -> Element:
    source = checked.source
    where = source.location(finding.span.start)
    case = _case(f"{finding.code} {finding.slug}, {where.words}, column {where.column}", path)
    text = [f"{path}:{where.prefix}{where.row}:{where.column}: {finding.code} {message(finding)}"]
    if finding.range:
        text.append(f"value: {escape(finding.range)}")
    for step in finding.trace:
        here = (
            source.location(step.span.start) if step.path == source.path else Location(step.row, 1)
        )
        text.append(f"  at {escape(step.path)}:{here.prefix}{here.row}: {escape(step.text)}")
    if finding.code == notices.CUT_SHORT.code:
        SubElement(case, "system-out").text = xml_text("\n".join(text))
        return case
    failure = SubElement(
        case,
        "failure",
        _attributes(message=message(finding), type=f"{severity(finding)} {finding.code}"),
    )
    failure.text = xml_text("\n".join(text))
    return case


def _attributes(**values: object) -> dict[str, str]:
    return {name: xml_text(str(value)) for name, value in values.items()}


def _text(element: Element) -> str:
    indent(element, level=1)
    return f"  {tostring(element, encoding='us-ascii').decode('ascii').rstrip()}\n"
