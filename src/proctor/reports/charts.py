"""Charts as SVG text: no script, no font, no network; colours come from the page's classes.

Colour is never the only sign: every mark has its label and its number beside it, and models differ in shape too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct

WIDTH = 1080
LABEL_WIDTH = 320
FIGURE_WIDTH = 250
ROW = 26
HEAD = 8
FOOT = 34
MOST_ROWS = 60
LABEL_LETTERS = 38
LETTER_WIDTH = 8
WIDE_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZmw@%")
SMALL_LETTERS, SMALL_AXIS = 16, 300
"""Bars whose labels and figures are this short make a chart that fits a telephone."""
COLOURS = 8
HEAT_STEPS = 10


class Mark(Struct, frozen=True):
    """A value with its interval, and the figures as the tables write them."""

    label: str
    value: float
    low: float
    high: float
    text: str
    series: int = 0

    @classmethod
    def of(cls, label: str, estimate: Mapping[str, Any], text: str, series: int = 0) -> Mark:
        """The mark of an estimate that has an interval."""
        low, high = estimate["ci95"]
        return cls(label, estimate["value"], low, high, text, series)


class Point(Struct, frozen=True):
    """A place in a plane, with the figures as the tables write them."""

    label: str
    x: float
    y: float
    text: str
    series: int = 0


Written = Callable[[float], str]
"""A figure on an axis, with its unit."""


class Chart(Struct, frozen=True):
    name: str
    title: str
    svg: str
    note: str = ""


def forest(name: str, title: str, marks: Sequence[Mark], *, is_difference: bool = False) -> Chart:
    """Intervals under one another: where two do not touch, the difference is plain to see."""
    shown = marks[:MOST_ROWS]
    low, high = _difference_domain(shown) if is_difference else (0.0, 1.0)
    frame = _Frame(low, high, len(shown))
    parts = frame.axis(_ticks(low, high), _signed if is_difference else _plain)
    if is_difference:
        parts.append(_line(frame.x(0), HEAD, frame.x(0), frame.bottom, "zero"))
    for index, mark in enumerate(shown):
        y = frame.y(index)
        parts += frame.label(index, mark.label, mark.text)
        parts.append(_line(frame.x(mark.low), y, frame.x(mark.high), y, f"bar {_series(mark.series)}"))
        parts += [_line(frame.x(end), y - 4, frame.x(end), y + 4, "bar") for end in (mark.low, mark.high)]
        parts.append(_marker(frame.x(mark.value), y, mark.series))
    return Chart(name, title, frame.svg(title, parts), _left_out(marks, shown))


def ranges(name: str, title: str, marks: Sequence[Mark], written: Written) -> Chart:
    """From the usual value to the slow end, on an axis from 0."""
    shown = marks[:MOST_ROWS]
    top = max((mark.high for mark in shown), default=1.0) or 1.0
    frame = _Frame(0.0, top * 1.05, len(shown))
    parts = frame.axis(_ticks(0.0, top), written)
    for index, mark in enumerate(shown):
        y = frame.y(index)
        parts += frame.label(index, mark.label, mark.text)
        parts.append(_line(frame.x(mark.low), y, frame.x(mark.high), y, f"bar {_series(mark.series)}"))
        parts.append(_line(frame.x(mark.high), y - 5, frame.x(mark.high), y + 5, "bar"))
        parts.append(_marker(frame.x(mark.value), y, mark.series))
    return Chart(name, title, frame.svg(title, parts), _left_out(marks, shown))


def bars(name: str, title: str, marks: Sequence[Mark], written: Written) -> Chart:
    """Amounts, on an axis from 0."""
    shown = marks[:MOST_ROWS]
    top = max((mark.value for mark in shown), default=1.0) or 1.0
    frame = _Frame(0.0, top * 1.05, len(shown), *_small_widths(shown))
    parts = frame.axis(_ticks(0.0, top)[:: 2 if frame.is_small else 1], written)
    for index, mark in enumerate(shown):
        y = frame.y(index)
        parts += frame.label(index, mark.label, mark.text)
        width = max(1.0, frame.x(mark.value) - frame.x(0))
        parts.append(
            f'<rect class="fill {_series(mark.series)}" x="{frame.x(0):.1f}" y="{y - 7:.1f}" '
            f'width="{width:.1f}" height="14" rx="2"/>'
        )
    return Chart(name, title, frame.svg(title, parts), _left_out(marks, shown))


PLANE_HEIGHT = 320


def scatter(
    name: str, title: str, points: Sequence[Point], line: Sequence[tuple[float, float]], written: Written
) -> Chart:
    """Points in a plane: x from 0, y from 0 to 1; `line` joins those that belong together."""
    shown = points[:MOST_ROWS]
    top = max((point.x for point in shown), default=1.0) or 1.0
    left, right, floor = 60.0, WIDTH - 420.0, HEAD + PLANE_HEIGHT

    def place(x: float, y: float) -> tuple[float, float]:
        return left + x / (top * 1.05) * (right - left), floor - y * PLANE_HEIGHT

    parts = []
    for tick in _ticks(0.0, top):
        x, _ = place(tick, 0)
        parts += [_line(x, HEAD, x, floor, "grid"), _text(x, floor + 18, written(tick), "middle", "text faint")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = place(0, tick)
        parts += [_line(left, y, right, y, "grid"), _text(left - 8, y + 4, f"{tick:g}", "end", "text faint")]
    joined = [place(*at) for at in line]
    parts += [_line(*a, *b, "bar") for a, b in pairwise(joined)]
    for index, point in enumerate(shown):
        x, y = place(point.x, point.y)
        row = HEAD + 14 + index * ROW
        parts += [
            _marker(x, y, point.series),
            _marker(right + 24, row - 4, point.series),
            _text(right + 40, row, f"{_short(point.label)}: {point.text}", "start", title=point.label),
        ]
    height = max(floor, HEAD + ROW * len(shown)) + FOOT
    return Chart(name, title, _svg(title, WIDTH, height, parts), _left_out(points, shown))


def heat_map(
    name: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[tuple[float, str] | None]],
) -> Chart:
    """One cell a row and column, dark for high; the number stands in the cell."""
    shown = rows[:MOST_ROWS]
    cell = max(74.0, min(150.0, (WIDTH - LABEL_WIDTH - 20) / max(1, len(columns))))
    head = 40
    width = max(WIDTH, LABEL_WIDTH + cell * len(columns) + 20)
    parts = []
    for place, column in enumerate(columns):
        x = LABEL_WIDTH + 10 + cell * (place + 0.5)
        parts.append(_text(x, head - 14, _short(column, max(8, int(cell / 7))), "middle", title=column))
    for index, row in enumerate(shown):
        y = head + ROW * index
        parts.append(_text(LABEL_WIDTH, y + 17, _short(row), "end", title=row))
        for place, found in enumerate(values[index]):
            parts += _cell(LABEL_WIDTH + 10 + cell * place, y, cell, found)
    height = head + ROW * len(shown) + 10
    return Chart(name, title, _svg(title, width, height, parts), _left_out(rows, shown))


def _cell(x: float, y: float, width: float, found: tuple[float, str] | None) -> list[str]:
    step = "none" if found is None else f"h{min(HEAT_STEPS - 1, int(found[0] * HEAT_STEPS))}"
    text = "–" if found is None else found[1]
    on = "" if found is None else " on-dark" if found[0] >= 0.5 else " on-light"
    return [
        f'<rect class="heat {step}" x="{x + 1:.1f}" y="{y + 1:.1f}" width="{width - 2:.1f}" height="{ROW - 2}"/>',
        f'<text class="text{on}" x="{x + width / 2:.1f}" y="{y + 17:.1f}" text-anchor="middle">{escape(text)}</text>',
    ]


def _small_widths(marks: Sequence[Mark]) -> tuple[int, int, int]:
    """Of labels, figures and all, where every text is short; the usual ones where one is not."""
    if any(len(text) > SMALL_LETTERS for one in marks for text in (one.label, one.text)):
        return LABEL_WIDTH, FIGURE_WIDTH, WIDTH
    left = max((_room(one.label) for one in marks), default=0)
    right = max((_room(one.text) for one in marks), default=0)
    return left, right, left + SMALL_AXIS + right


def _room(text: str) -> int:
    """At least what a text takes in any font that is likely."""
    return 12 + sum(LETTER_WIDTH if letter.isascii() and letter not in WIDE_LETTERS else 14 for letter in text)


class _Frame:
    """Where things go: labels on the left, the axis in the middle, figures on the right."""

    def __init__(
        self,
        low: float,
        high: float,
        rows: int,
        labels: int = LABEL_WIDTH,
        figures: int = FIGURE_WIDTH,
        width: int = WIDTH,
    ) -> None:
        self._low, self._span = low, (high - low) or 1.0
        self.bottom = HEAD + ROW * rows
        self._labels, self._figures, self._width = labels, width - figures, width
        self._left, self._right = labels + 14, self._figures - 14
        self.is_small = width < WIDTH

    def x(self, value: float) -> float:
        return self._left + (value - self._low) / self._span * (self._right - self._left)

    def y(self, index: int) -> float:
        return HEAD + ROW * (index + 0.5)

    def axis(self, ticks: Sequence[float], written: Written) -> list[str]:
        parts = []
        for tick in ticks:
            parts.append(_line(self.x(tick), HEAD, self.x(tick), self.bottom, "grid"))
            parts.append(_text(self.x(tick), self.bottom + 18, written(tick), "middle", "text faint"))
        return parts

    def label(self, index: int, label: str, figures: str) -> list[str]:
        y = self.y(index) + 4
        return [
            _text(self._labels, y, _short(label), "end", title=label),
            _text(self._figures, y, figures, "start", "text number"),
        ]

    def svg(self, title: str, parts: Sequence[str]) -> str:
        return _svg(title, self._width, self.bottom + FOOT, parts)


def _svg(title: str, width: float, height: float, parts: Sequence[str]) -> str:
    kind = "chart small" if width < WIDTH else "chart"
    return (
        f'<svg class="{kind}" xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
        f'width="{width:.0f}" height="{height:.0f}" role="img" aria-label={quoteattr(title)} '
        f'font-family="system-ui, sans-serif" font-size="13">{"".join(parts)}</svg>'
    )


def _series(index: int) -> str:
    return f"s{index % COLOURS}"


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line class="{kind}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str, kind: str = "text", *, title: str | None = None) -> str:
    full = f"<title>{escape(title)}</title>" if title is not None and title != text else ""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{full}{escape(text)}</text>'


def _marker(x: float, y: float, series: int) -> str:
    kind = f"fill {_series(series)}"
    shape = series % 4
    if shape == 0:
        return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="5"/>'
    if shape == 1:
        return f'<rect class="{kind}" x="{x - 4.5:.1f}" y="{y - 4.5:.1f}" width="9" height="9"/>'
    points = (
        [(x, y - 6), (x + 6, y + 5), (x - 6, y + 5)]
        if shape == 2
        else [(x, y - 6.5), (x + 6.5, y), (x, y + 6.5), (x - 6.5, y)]
    )
    return f'<polygon class="{kind}" points="{" ".join(f"{a:.1f},{b:.1f}" for a, b in points)}"/>'


def _short(text: str, most: int = LABEL_LETTERS) -> str:
    """The beginning and the end: what tells long names apart is at either."""
    if len(text) <= most:
        return text
    end = most // 2 - 1
    return f"{text[: most - end - 1]}…{text[-end:]}"


def _plain(tick: float) -> str:
    return f"{tick:.3g}"


def _signed(tick: float) -> str:
    return f"{tick:+.3g}" if tick else "0"


def _ticks(low: float, high: float) -> list[float]:
    """About five round numbers between the ends."""
    rough = (high - low) / 5
    if rough <= 0:
        return [low]
    power = 10 ** math.floor(math.log10(rough))
    step = next(power * m for m in (1, 2, 2.5, 5, 10) if power * m >= rough * 0.999)
    first = math.ceil(low / step - 1e-9)
    return [round(step * n, 12) for n in range(first, math.floor(high / step + 1e-9) + 1)]


def _difference_domain(marks: Sequence[Mark]) -> tuple[float, float]:
    """Both signs, 0 in the middle."""
    reach = max((max(abs(mark.low), abs(mark.high)) for mark in marks), default=0.1)
    reach = min(1.0, max(0.02, reach * 1.1))
    return -reach, reach


def _left_out(everything: Sequence[object], shown: Sequence[object]) -> str:
    missing = len(everything) - len(shown)
    return f"{missing:,} more are in the table only." if missing else ""
