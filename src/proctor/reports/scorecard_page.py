"""A scorecard as sections: the verdict first, then what each mark follows from."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Protocol

from proctor.domain.documents.scorecard import ProgramCard, RequirementResult, ThresholdResult
from proctor.domain.message import Json
from proctor.domain.scorecard import CheckResult, CheckStatus, DimensionMark, Phase
from proctor.metrics.rounding import figure_text, percent_text
from proctor.programs.archive import program_zip
from proctor.reports.charts import Mark, bars
from proctor.reports.figures import NOT_MEASURED, bytes_text, number_text, plural, seconds_text
from proctor.reports.sections import Detail, Download, Page, Section, Table

MAX_LENGTH = 20_000
MAX_FINDINGS = 200
MAX_LEFT_OUT = 20
LONG_WAIT = 0.1
"""Seconds; to wait less than this for other markings is not worth a word."""


class HasVerdict(Protocol):
    @property
    def total(self) -> float | None: ...
    @property
    def covers(self) -> float: ...
    @property
    def passed(self) -> bool: ...
    @property
    def grade(self) -> str | None: ...
    @property
    def reason(self) -> str: ...


def scorecard_page(document: ProgramCard, *, is_short: bool = False) -> Page:
    """The whole card; short, it is the verdict, the marks and the requirements."""
    sections = [_marks(document), _requirements(document)]
    if not is_short:
        sections += [
            *_performance(document),
            *_findings(document),
            *_own_tests(document),
            _phases(document),
            *_program(document),
            _context(document),
        ]
    problem = document.problem
    subtitle = f"{problem.id}, {problem.difficulty}, {problem.area}, {problem.kind}"
    return Page(f"Scorecard: {problem.title}", subtitle, tuple(sections))


def verdict(document: HasVerdict) -> str:
    """`Passed, gold: 0.961 of 1.` or why it did not."""
    total = document.total
    mark = "nothing was measured" if total is None else f"{number_text(total)} of {figure_text(document.covers)}"
    if document.passed:
        grade = f", {document.grade}" if document.grade else ""
        return f"Passed{grade}: {mark}."
    return f"Failed: {mark}; {document.reason}."


def _marks(document: ProgramCard) -> Section:
    dimensions = document.dimensions
    rows = tuple(
        (one.name, one.reason or "", number_text(one.value), f"{one.weight:.4g}", _earned(one)) for one in dimensions
    )
    marks = [
        Mark(one.name, one.value, one.value, one.value, number_text(one.value), place)
        for place, one in enumerate(dimensions)
        if one.value is not None
    ]
    notes = [*([f"{document.note}."] if document.note else []), *(document.remarks or ())]
    if document.total is not None and document.covers < 1:
        missing = ", ".join(one.name for one in dimensions if one.value is None)
        what = f"Not measured: {missing}." if missing else "Not everything was measured."
        notes.append(f"{what} The total covers {figure_text(document.covers)} of the weight and is not scaled up.")
    return Section(
        "Verdict",
        (verdict(document),),
        (Table(("Dimension", "Remark", "Mark", "Weight", "Earned"), rows, words=2),),
        (bars("dimensions", "Marks by dimension", marks, number_text),) if marks else (),
        tuple(notes),
        tone="good" if document.passed else "bad",
    )


def _earned(dimension: DimensionMark) -> str:
    return NOT_MEASURED if dimension.value is None else number_text(dimension.value * dimension.weight)


def _requirements(document: ProgramCard) -> Section:
    checks = {one.name: one for one in document.evidence.checks if not one.is_generated}
    rows = tuple((one.id, one.level, one.status, one.text, *_traced(one, checks)) for one in document.requirements)
    count = {
        name: sum(one.status == name for one in document.requirements) for name in ("verified", "failed", "untested")
    }
    text = ", ".join(f"{number} {name}" for name, number in count.items())
    failed = [one for one in document.evidence.checks if one.status in ("failed", "error") and one.message]
    details = tuple(Detail(f"{one.name}: {one.status}", _cut(one.message)) for one in failed)
    headers = ("Id", "Level", "Status", "Requirement", "Checks", "Evidence")
    return Section("Requirements", (f"{text}.",), (Table(headers, rows, words=6),), (), (), details)


def _traced(requirement: RequirementResult, checks: Mapping[str, CheckResult]) -> tuple[str, str]:
    """Requirement → checks → evidence."""
    found = [checks.get(name, CheckResult(name, "", CheckStatus.NOT_RUN)) for name in requirement.checks]
    names = ", ".join(f"{one.name} ({one.kind})" if one.kind else one.name for one in found)
    evidence = "; ".join(
        f"{one.status}" + (f" in {seconds_text(one.seconds)}" if one.status == "passed" else _first_line(one))
        for one in found
    )
    return names or NOT_MEASURED, evidence or NOT_MEASURED


def _first_line(check: CheckResult) -> str:
    line = check.message.strip().partition("\n")[0][:160]
    return f": {line}" if line else ""


def _performance(document: ProgramCard) -> Iterator[Section]:
    measures, gold = document.evidence.measures, document.evidence.gold_measures
    if not measures and not document.thresholds:
        return
    rows = tuple(
        (name, _figure(measures.get(name)), _figure(gold.get(name)), _ratio(measures.get(name), gold.get(name)))
        for name in dict.fromkeys([*measures, *gold])
    )
    tables = [Table(("Measure", "Program", "Gold", "Program ÷ gold"), rows)] if rows else []
    if document.thresholds:
        limits = tuple(_threshold(one) for one in document.thresholds)
        tables.append(Table(("Threshold", "Bound", "Measured", "Met", "Mark"), limits, title="Thresholds"))
    note = "The gold solution was measured in the same session on the same machine."
    yield Section("Performance", (), tuple(tables), (), (note,))


def _threshold(one: ThresholdResult) -> tuple[str, ...]:
    sign = "at most" if one.is_upper else "at least"
    value = one.ratio if one.unit == "gold" else one.value
    met = NOT_MEASURED if one.is_met is None else "yes" if one.is_met else "no"
    return (
        one.measure,
        f"{sign} {one.bound:g} {one.unit}",
        _figure(value, one.bound),
        met,
        number_text(one.share),
    )


def _figure(value: float | None, *bounds: float) -> str:
    return NOT_MEASURED if value is None else figure_text(value, limits=(0.0, *bounds), form=",")


def _ratio(value: float | None, gold: float | None) -> str:
    return NOT_MEASURED if value is None or not gold else figure_text(value / gold, 3)


def _findings(document: ProgramCard) -> Iterator[Section]:
    tools = {name: one for name, one in document.evidence.findings.items() if isinstance(one, Mapping)}
    if not tools:
        return
    rows = tuple((name, *_tool(one)) for name, one in tools.items())
    found = [
        (name, each) for name, one in tools.items() for each in one.get("findings", ()) if isinstance(each, Mapping)
    ]
    tables = [Table(("Tool", "State", "Version", "Findings"), rows, words=3)]
    if found:
        listed = sorted(found, key=lambda pair: (str(pair[1].get("file", "")), pair[1].get("line") or 0))
        lines = tuple(_finding(name, one) for name, one in listed[:MAX_FINDINGS])
        tables.append(Table(("File", "Line", "Tool", "Finding"), lines, words=4, title="Findings by file"))
    more = len(found) - MAX_FINDINGS
    notes = (f"{plural(more, 'more finding')} in the JSON format.",) if more > 0 else ()
    yield Section("Security and quality", (), tuple(tables), (), notes)


def _tool(tool: Mapping[str, Json]) -> tuple[str, str, str]:
    state = str(tool.get("status", ""))
    if tool.get("reason"):
        state = f"{state}: {tool['reason']}"
    if tool.get("percent") is not None:
        state = f"{state}: {percent_text(tool['percent'] / 100)} of the lines"
    count = tool.get("count")
    return state, str(tool.get("version") or NOT_MEASURED), NOT_MEASURED if count is None else str(count)


def _finding(tool: str, one: Mapping[str, Json]) -> tuple[str, str, str, str]:
    what = " ".join(str(one[key]) for key in ("severity", "code", "message") if one.get(key))
    return str(one.get("file", "")), str(one.get("line") or ""), tool, what[:300]


def _own_tests(document: ProgramCard) -> Iterator[Section]:
    own = [one for one in document.evidence.checks if one.is_generated]
    if own:
        rows = tuple((one.name, one.status, _first_line(one).removeprefix(": ")) for one in own)
        note = "Tests that came with the program: run and shown, not scored."
        yield Section(
            "The program's own tests", (), (Table(("Test", "Status", "Message"), rows, words=3),), (), (note,)
        )


def _phases(document: ProgramCard) -> Section:
    phases = document.evidence.phases
    rows = tuple((one.name, one.status, _kept(one), _time(one)) for one in phases)
    marks = [
        Mark(one.name, one.seconds, 0.0, one.seconds, seconds_text(one.seconds), 0) for one in phases if one.seconds > 0
    ]
    details = tuple(Detail(f"{one.name}: log", _cut(one.log)) for one in phases if one.log.strip())
    charts = (bars("phases", "Time by phase", marks, seconds_text),) if marks else ()
    table = Table(("Phase", "Status", "Artifacts", "Time"), rows, words=3)
    return Section("Phases", (), (table,), charts, (), details, tuple(_downloads(document)))


def _time(phase: Phase) -> str:
    waited = phase.evidence.get("waited_seconds") or 0.0
    beside = f", after waiting {seconds_text(waited)}" if waited >= LONG_WAIT else ""
    return f"{seconds_text(phase.seconds)}{beside}"


def _kept(phase: Phase) -> str:
    return ", ".join(f"{name} (artifact {key})" for name, key in phase.artifacts.items())


def _downloads(document: ProgramCard) -> Iterator[Download]:
    for phase in document.evidence.phases:
        for name, key in phase.artifacts.items():
            if key in document.artifacts:
                content = document.artifacts[key].content
                yield Download(f"{name}, from {phase.name}", name, "application/octet-stream", content)


def _program(document: ProgramCard) -> Iterator[Section]:
    program, notes = document.program, _left_out(document)
    if not program:
        key = document.evidence.program
        text = () if key is None else (f"The program's files are kept as the artifact {key}.",)
        if text or notes:
            yield Section("Program", text, notes=notes)
        return
    rows = tuple((path, bytes_text(one.size), one.digest[:12]) for path, one in program.items())
    details = tuple(Detail(path, _cut(one.text)) for path, one in program.items() if one.text is not None)
    name = f"{document.problem.id}.zip"
    download = Download(f"The program as {name}", name, "application/zip", program_zip(document.files))
    yield Section("Program", (), (Table(("File", "Size", "Digest"), rows),), (), notes, details, (download,))


def _left_out(document: ProgramCard) -> tuple[str, ...]:
    """What was handed in and is no part of what was marked."""
    left_out = document.left_out
    notes = tuple(f"Left out: {path}, {why}." for path, why in list(left_out.items())[:MAX_LEFT_OUT])
    more = len(left_out) - len(notes)
    return (*notes, *((f"{plural(more, 'more file')} left out.",) if more else ()))


def _context(document: ProgramCard) -> Section:
    rows = [_setting(name, value) for name, value in document.evidence.runner.items()]
    problem = document.problem
    rows += [("problem", f"{problem.id}, version {problem.version}, digest {problem.digest}")]
    return Section("Environment", (), (Table(("Property", "Value"), tuple(rows), words=2),))


def _setting(name: str, value: Json) -> tuple[str, str]:
    """A number of bytes is a size, whose unit need not be in its name."""
    if isinstance(value, Mapping):
        return name, ", ".join(" ".join(_setting(key, part)) for key, part in value.items())
    if name.endswith("_bytes") and isinstance(value, int):
        return name.removesuffix("_bytes"), bytes_text(value)
    return name, str(value)


def _cut(text: str) -> str:
    if len(text) <= MAX_LENGTH:
        return text
    return (
        f"{text[: MAX_LENGTH // 2]}\n[… {len(text) - MAX_LENGTH:,} characters left out …]\n{text[-MAX_LENGTH // 2 :]}"
    )
