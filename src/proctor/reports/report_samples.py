"""The trials that a report shows in full: failed, invalid and wrong ones."""

from __future__ import annotations

from collections.abc import Iterator

from proctor.domain.documents.report import ReportSample, ReportSamples
from proctor.domain.documents.result import ResultScore
from proctor.domain.message import Json
from proctor.metrics.rounding import figure_text
from proctor.reports.figures import plural
from proctor.reports.rows import example_places
from proctor.reports.sections import SampleSection

MAX_TEXT = 4_000
MAX_SUMMARY = 200


def samples_note(samples: ReportSamples) -> str:
    """How many there are of each kind, and how many of them are shown."""
    totals = samples.totals
    failed, invalid, wrong = totals["failed"], totals["invalid"], totals["wrong"]
    total, shown = failed + invalid + wrong, len(samples.shown)
    if not total:
        return "No trial failed, every answer could be read, and every answer got the full score."
    text = (
        f"{plural(failed, 'trial')} failed and {'is' if failed == 1 else 'are'} in no score. "
        f"{plural(invalid, 'answer')} could not be read and score{'s' if invalid == 1 else ''} 0. "
        f"{plural(wrong, 'answer')} scored below 1."
    )
    if shown < total:
        return f"{text} {shown:,} of these {total:,} are shown; 'proctor samples' and 'proctor export' have them all."
    return text


def shown_sample(item: ReportSample) -> SampleSection:
    """One trial with its texts, each cut to a bounded length that says so."""
    parts = [*_prompt(item), ("response", item.response), ("target", item.target), ("error", item.error)]
    parts += [(f"score, {name}", _score(score)) for name, score in item.scores.items()]
    return SampleSection(
        kind=item.kind,
        model=item.side or item.model,
        benchmark=item.benchmark,
        sample_id=item.sample_id,
        category=item.category,
        what=_cut(item.error or _reasons(item), MAX_SUMMARY),
        parts=tuple((name, _cut(text, MAX_TEXT)) for name, text in parts if text is not None),
    )


def _prompt(item: ReportSample) -> Iterator[tuple[str, str | None]]:
    """The messages; worked examples are one line."""
    count = item.worked_examples
    folded = example_places([message["role"] for message in item.prompt], count)
    for place, message in enumerate(item.prompt):
        if place not in folded:
            yield message["role"], _content(message["content"])
        elif place == folded.start:
            yield "prompt", f"{plural(count, 'worked example')} ('proctor samples --full' shows them)"


def _reasons(item: ReportSample) -> str:
    """Why the marks below 1 are what they are."""
    low = [score for score in item.scores.values() if score.value is None or score.value < 1]
    return "; ".join(score.reason for score in low if score.reason)


def _score(score: ResultScore) -> str:
    value = "not measured" if score.value is None else figure_text(score.value, 6)
    answer = "" if score.answer is None else f"; extracted answer: {score.answer}"
    return f"{value}{answer}" + (f"; {score.reason}" if score.reason else "")


def _content(content: Json) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] if "text" in part else f"[{part['media_type']}]" for part in content)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}… ({len(text) - most:,} more characters)"
