"""Charts as shapes: forest plots, ranges, bars, scatter plots and heat maps.

Colour is never the only sign: every mark has its label and its number beside it, and models differ in shape too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from msgspec import Struct

from proctor.domain.documents.estimate import MetricEstimate
from proctor.reports.shapes import Circle, Line, Polygon, Rect, Shape, TextShape, svg_text

WIDTH = 1080
LABEL_WIDTH = 320
MIN_LABEL_WIDTH, MAX_LABEL_WIDTH = 120, 440
FIGURE_WIDTH, MAX_FIGURE_WIDTH = 250, 420
ROW = 26
HEAD = 8
FOOT = 34
MAX_ROWS = 60
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
    def of(cls, label: str, estimate: MetricEstimate | None, text: str, series: int = 0) -> Mark | None:
        """The mark of an estimate; None where it has no interval."""
        if estimate is None or estimate.value is None or estimate.ci95 is None:
            return None
        return cls(label, estimate.value, *estimate.ci95, text, series)


class Point(Struct, frozen=True):
    """A place in a plane, with the figures as the tables write them."""

    label: str
    x: float
    y: float
    text: str
    series: int = 0
    interval: tuple[float, float] | None = None
    """Of y."""


Written = Callable[[float], str]
"""A figure on an axis, with its unit."""


class Chart(Struct, frozen=True):
    name: str
    title: str
    width: float
    height: float
    shapes: tuple[Shape, ...]
    note: str = ""

    @property
    def svg(self) -> str:
        """The chart for a page, whose style gives the colours."""
        kind = "chart small" if self.width < WIDTH else "chart"
        return svg_text(self.title, self.width, self.height, self.shapes, kind=kind)


def forest(name: str, title: str, marks: Sequence[Mark], *, is_difference: bool = False) -> Chart:
    """Intervals under one another: where two do not touch, the difference is plain to see."""
    shown = marks[:MAX_ROWS]
    low, high = _difference_domain(shown) if is_difference else (0.0, 1.0)
    frame = _Frame(low, high, shown)
    shapes = frame.axis(_ticks(low, high), _signed if is_difference else _plain)
    if is_difference:
        shapes.append(Line(frame.x(0), HEAD, frame.x(0), frame.bottom, "zero"))
    for index, mark in enumerate(shown):
        y = frame.y(index)
        shapes += frame.label(index, mark.label, mark.text)
        shapes.append(Line(frame.x(mark.low), y, frame.x(mark.high), y, f"bar {_series(mark.series)}"))
        shapes += [Line(frame.x(end), y - 4, frame.x(end), y + 4, "bar") for end in (mark.low, mark.high)]
        shapes.append(_marker(frame.x(mark.value), y, mark.series))
    return frame.chart(name, title, shapes, _left_out(marks, shown))


def ranges(name: str, title: str, marks: Sequence[Mark], written: Written) -> Chart:
    """From the usual value to the slow end, on an axis from 0."""
    shown = marks[:MAX_ROWS]
    top = max((mark.high for mark in shown), default=1.0) or 1.0
    frame = _Frame(0.0, top * 1.05, shown)
    shapes = frame.axis(_ticks(0.0, top), written)
    for index, mark in enumerate(shown):
        y = frame.y(index)
        shapes += frame.label(index, mark.label, mark.text)
        shapes.append(Line(frame.x(mark.low), y, frame.x(mark.high), y, f"bar {_series(mark.series)}"))
        shapes.append(Line(frame.x(mark.high), y - 5, frame.x(mark.high), y + 5, "bar"))
        shapes.append(_marker(frame.x(mark.value), y, mark.series))
    return frame.chart(name, title, shapes, _left_out(marks, shown))


def bars(name: str, title: str, marks: Sequence[Mark], written: Written) -> Chart:
    """Amounts, on an axis from 0."""
    shown = marks[:MAX_ROWS]
    top = max((mark.value for mark in shown), default=1.0) or 1.0
    frame = _Frame(0.0, top * 1.05, shown, may_be_small=True)
    shapes = frame.axis(_ticks(0.0, top)[:: 2 if frame.is_small else 1], written)
    for index, mark in enumerate(shown):
        y = frame.y(index)
        shapes += frame.label(index, mark.label, mark.text)
        width = max(1.0, frame.x(mark.value) - frame.x(0))
        shapes.append(Rect(frame.x(0), y - 7, width, 14, f"fill {_series(mark.series)}", 2))
    return frame.chart(name, title, shapes, _left_out(marks, shown))


PLANE_HEIGHT = 320
LEGEND_WIDTH = 400
LEGEND_ROW = 42


def scatter(
    name: str,
    title: str,
    points: Sequence[Point],
    line: Sequence[tuple[float, float]],
    written: Written,
    *,
    axes: tuple[str, str],
    note: str = "",
) -> Chart:
    """Points in a plane: x from 0, y from 0 to 1 with its interval; `line` joins those that belong together."""
    shown = points[:MAX_ROWS]
    top = max((point.x for point in shown), default=1.0) or 1.0
    head = HEAD + 18
    left, right, floor = 60.0, WIDTH - LEGEND_WIDTH - 24.0, head + PLANE_HEIGHT

    def place(x: float, y: float) -> tuple[float, float]:
        return left + x / (top * 1.05) * (right - left), floor - y * PLANE_HEIGHT

    shapes: list[Shape] = []
    for tick in _ticks(0.0, top):
        x, _ = place(tick, 0)
        shapes += [Line(x, head, x, floor, "grid"), TextShape(x, floor + 18, written(tick), "middle", "text faint")]
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        _, y = place(0, tick)
        shapes += [Line(left, y, right, y, "grid"), TextShape(left - 8, y + 4, f"{tick:g}", "end", "text faint")]
    shapes.append(TextShape((left + right) / 2, floor + 38, axes[0], "middle"))
    shapes.append(TextShape(left - 8, head - 10, axes[1], "start"))
    joined = [place(*at) for at in line]
    shapes += [Line(*a, *b, "bar") for a, b in pairwise(joined)]
    for index, point in enumerate(shown):
        shapes += _point(point, place)
        row = head + 14 + index * LEGEND_ROW
        shapes += [
            _marker(right + 24, row - 4, point.series),
            TextShape(right + 40, row, _fitting(point.label, LEGEND_WIDTH - 40), title=point.label),
            TextShape(right + 40, row + 18, point.text, kind="text faint"),
        ]
    height = max(floor, head + LEGEND_ROW * len(shown)) + FOOT + 18
    return Chart(name, title, WIDTH, height, tuple(shapes), " ".join(filter(None, (note, _left_out(points, shown)))))


def _point(point: Point, place: Callable[[float, float], tuple[float, float]]) -> list[Shape]:
    shapes: list[Shape] = []
    if point.interval is not None:
        (x, low), (_, high) = (place(point.x, end) for end in point.interval)
        shapes.append(Line(x, low, x, high, f"bar {_series(point.series)}"))
        shapes += [Line(x - 4, end, x + 4, end, "bar") for end in (low, high)]
    return [*shapes, _marker(*place(point.x, point.y), point.series)]


def heat_map(
    name: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[tuple[float, str] | None]],
) -> Chart:
    """One cell a row and column, dark for high; the number stands in the cell."""
    shown = rows[:MAX_ROWS]
    cell = max(118.0, min(260.0, (WIDTH - LABEL_WIDTH - 20) / max(1, len(columns))))
    head = 40
    width = max(WIDTH, LABEL_WIDTH + cell * len(columns) + 20)
    shapes: list[Shape] = []
    for place, column in enumerate(columns):
        x = LABEL_WIDTH + 10 + cell * (place + 0.5)
        shapes.append(TextShape(x, head - 14, _fitting(column, cell), "middle", title=column))
    for index, row in enumerate(shown):
        y = head + ROW * index
        shapes.append(TextShape(LABEL_WIDTH, y + 17, _fitting(row, LABEL_WIDTH), "end", title=row))
        for place, found in enumerate(values[index]):
            shapes += _cell(LABEL_WIDTH + 10 + cell * place, y, cell, found)
    height = head + ROW * len(shown) + 10
    return Chart(name, title, width, height, tuple(shapes), _left_out(rows, shown))


def _cell(x: float, y: float, width: float, found: tuple[float, str] | None) -> list[Shape]:
    step = "none" if found is None else f"h{min(HEAT_STEPS - 1, int(found[0] * HEAT_STEPS))}"
    text = "–" if found is None else found[1]
    on = "" if found is None else " on-dark" if found[0] >= 0.5 else " on-light"
    return [
        Rect(x + 1, y + 1, width - 2, ROW - 2, f"heat {step}"),
        TextShape(x + width / 2, y + 17, text, "middle", f"text{on}"),
    ]


def _room(text: str) -> int:
    """At least what a text takes in any font that is likely."""
    return 12 + sum(LETTER_WIDTH if letter.isascii() and letter not in WIDE_LETTERS else 14 for letter in text)


class _Frame:
    """Where things go: labels on the left, the axis in the middle, figures on the right."""

    def __init__(self, low: float, high: float, marks: Sequence[Mark], *, may_be_small: bool = False) -> None:
        self._low, self._span = low, (high - low) or 1.0
        self.bottom = HEAD + ROW * len(marks)
        texts = [text for mark in marks for text in (mark.label, mark.text)]
        self.is_small = may_be_small and all(len(text) <= SMALL_LETTERS for text in texts)
        figures = max((_room(mark.text) for mark in marks), default=0)
        if self.is_small:
            self._labels = max((_room(mark.label) for mark in marks), default=0)
            self._width = self._labels + SMALL_AXIS + figures
        else:
            longest = max((_room(mark.label) for mark in marks), default=0)
            self._labels, self._width = min(MAX_LABEL_WIDTH, max(MIN_LABEL_WIDTH, longest)), WIDTH
            figures = min(MAX_FIGURE_WIDTH, max(FIGURE_WIDTH, figures))
        self._figures = self._width - figures
        self._left, self._right = self._labels + 14, self._figures - 14

    def x(self, value: float) -> float:
        return self._left + (value - self._low) / self._span * (self._right - self._left)

    def y(self, index: int) -> float:
        return HEAD + ROW * (index + 0.5)

    def axis(self, ticks: Sequence[float], written: Written) -> list[Shape]:
        shapes: list[Shape] = []
        for tick in ticks:
            shapes.append(Line(self.x(tick), HEAD, self.x(tick), self.bottom, "grid"))
            shapes.append(TextShape(self.x(tick), self.bottom + 18, written(tick), "middle", "text faint"))
        return shapes

    def label(self, index: int, label: str, figures: str) -> list[Shape]:
        y = self.y(index) + 4
        return [
            TextShape(self._labels, y, _fitting(label, self._labels), "end", title=label),
            TextShape(self._figures, y, figures, "start", "text number"),
        ]

    def chart(self, name: str, title: str, shapes: Sequence[Shape], note: str) -> Chart:
        return Chart(name, title, self._width, self.bottom + FOOT, tuple(shapes), note)


def _series(index: int) -> str:
    return f"s{index % COLOURS}"


def _marker(x: float, y: float, series: int) -> Shape:
    kind = f"fill {_series(series)}"
    shape = series % 4
    if shape == 0:
        return Circle(x, y, 5, kind)
    if shape == 1:
        return Rect(x - 4.5, y - 4.5, 9, 9, kind)
    if shape == 2:
        return Polygon(((x, y - 6), (x + 6, y + 5), (x - 6, y + 5)), kind)
    return Polygon(((x, y - 6.5), (x + 6.5, y), (x, y + 6.5), (x - 6.5, y)), kind)


def _fitting(text: str, width: float) -> str:
    """The text, or its beginning and end where it is too wide: what tells long names apart is at either."""
    kept = len(text)
    shown = text
    while _room(shown) > width and kept > 2:
        kept -= 1
        end = (kept - 1) // 2
        shown = f"{text[: kept - end]}…{text[-end:] if end else ''}"
    return shown


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
