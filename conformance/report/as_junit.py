"""The report as JUnit XML, for what shows test results in CI: a suite an area with a test case a rule, and
suites for what no rule is about. The words stand in ``conformance.report.words``.
"""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

from conformance.report import words
from conformance.report.areas import Area, area_of
from conformance.report.expectation import Expected
from conformance.report.value import Crash, Finding, Report, RuleResult, Status

_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that no XML document may hold, not even escaped."""


def render(report: Report) -> str:
    """The XML document that ``--junit`` writes; the same report gives the same bytes.

    A rule that is broken, suspect or flaky is a failure of that type; one that is unsupported, not exercised
    or expected not to hold is skipped, with the reason. What generated programs found are failures of type
    ``divergence`` or ``flaky``; what they found about rules that are not selected stands ``elsewhere``.
    Crashes that are not on record are errors, and so is what is wrong with the adapter. An expectation that
    was met is skipped, one that was not is a failure. Some test case fails or errs if and only if the check
    does not conform.
    """
    suites = [(str(area), _rules(area, report)) for area in Area]
    broken = {rule.id for rule in report.rules.values() if rule.status is Status.BROKEN}
    cases = [f for f in report.findings if f.is_of_case and not broken & set(f.because)]
    programs = [f for f in report.findings if not f.is_of_case]
    complaints = ("nothing was exercised",) if report.nothing_exercised else report.broken
    if report.undecided:
        complaints = (report.ended,)
    suites.append(("cases", [_finding(finding) for finding in cases]))
    suites.append(("programs", [*map(_finding, programs), *map(_crash, report.unknown_crashes)]))
    unmet = [_test(label, "failure", "unmet", why) for label, why in words.unmet_by_label(report)]
    suites.append(("expectations", [*map(_expected, report.expected), *unmet]))
    suites.append(("elsewhere", [_finding(finding) for finding in report.elsewhere]))
    suites.append(("adapter", [_test(problem, "error", "adapter", problem) for problem in complaints]))
    return _document(report, [(name, tests) for name, tests in suites if tests])


def _rules(area: Area, report: Report) -> list[Xml.Element]:
    """Return the rules of an area as test cases, whose class names are their chapters."""
    tests = []
    for rule in report.rules.values():
        if area_of(rule.id) is area:
            test = _rule(rule, report.findings)
            test.set("classname", rule.chapter)
            tests.append(test)
    return tests


def _rule(rule: RuleResult, findings: tuple[Finding, ...]) -> Xml.Element:
    """A rule as a test case; the first finding that names it, a case's if there is one, stands for all."""
    if rule.status is Status.HELD:
        return _test(rule.id)
    if rule.status in (Status.UNSUPPORTED, Status.NOT_EXERCISED, Status.BLOCKED, Status.EXPECTED):
        return _test(rule.id, "skipped", str(rule.status), rule.why)
    flaky = rule.status is Status.FLAKY
    naming = [finding for finding in findings if rule.id in finding.because and finding.flaky is flaky]
    naming.sort(key=lambda finding: not finding.is_of_case)
    if not naming:
        failed = f"{rule.cases_failed} of {rule.cases} cases fail"
        return _test(rule.id, "failure", str(rule.status), failed)
    more = f"\nand {len(naming) - 1} more that name it\n" if len(naming) > 1 else ""
    return _test(rule.id, "failure", str(rule.status), _message(naming[0]), _body(naming[0]) + more)


def _finding(finding: Finding) -> Xml.Element:
    name = f"{finding.where}: {words.fact(finding)}"
    kind = "flaky" if finding.flaky else "divergence"
    return _test(name, "failure", kind, _message(finding), _body(finding))


def _expected(met: Expected) -> Xml.Element:
    """An expectation that was met, as a test case that is skipped for its reason."""
    return _test(met.entry.label, "skipped", "expected", met.entry.reason)


def _message(finding: Finding) -> str:
    expected, actual = finding.sides
    differs = f"{expected} {finding.expected}, {actual} {finding.actual}"
    return f"{words.heading(finding)}: {words.fact(finding)}: {differs}"


def _body(finding: Finding) -> str:
    rows = "".join(f"{label}: {text}\n" for label, text in words.divergence(finding))
    return f"{rows}\n{finding.script}"


def _crash(crash: Crash) -> Xml.Element:
    heading, died = words.heading(crash), words.death(crash)
    return _test(f"{heading}: {crash.error}", "error", "crash", f"{heading}: {died}", crash.script)


def _test(name: str, outcome: str = "", kind: str = "", message: str = "", body: str = "") -> Xml.Element:
    """A test case that passed, or came to a failure, an error or being skipped."""
    test = Xml.Element("testcase", name=name)
    if outcome:
        Xml.SubElement(test, outcome, type=kind, message=message).text = body or None
    return test


def _document(report: Report, suites: list[tuple[str, list[Xml.Element]]]) -> str:
    root = Xml.Element("testsuites", name=words.title(report))
    for name, tests in suites:
        suite = Xml.SubElement(root, "testsuite", name=name)
        # Of each suite, since few readers know properties of the whole.
        properties = Xml.SubElement(suite, "properties")
        for key, value in _took_part(report).items():
            Xml.SubElement(properties, "property", name=key, value=value)
        for test in tests:
            test.set("classname", test.get("classname", name))
            suite.append(test)
    for counted in (root, *root):
        counted.set("tests", str(len(list(counted.iter("testcase")))))
        for attribute, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
            counted.set(attribute, str(len(list(counted.iter(tag)))))
    for element in root.iter():
        element.text = _clean(element.text) if element.text else None
        element.attrib.update({key: _clean(value) for key, value in element.items()})
    Xml.indent(root)
    return f'<?xml version="1.0" encoding="utf-8"?>\n{Xml.tostring(root, encoding="unicode")}\n'


def _took_part(report: Report) -> dict[str, str]:
    """Return the settings that the results depend on."""
    return {
        "verdict": words.verdict(report),
        "against": report.against,
        "seed": str(report.seed),
        "source": report.source,
        "device": report.device,
        **{f"version of {name}": version for name, version in report.versions.items()},
    }


def _clean(text: str) -> str:
    """The text, with escapes in the place of what XML forbids."""
    return _FORBIDDEN.sub(lambda found: ascii(found[0])[1:-1], text)
