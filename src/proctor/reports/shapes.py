"""What a chart is drawn with, and the same as SVG: no script, no font, no network; classes give the colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from xml.sax.saxutils import escape, quoteattr

from msgspec import Struct


class Line(Struct, frozen=True):
    x1: float
    y1: float
    x2: float
    y2: float
    kind: str


class Rect(Struct, frozen=True):
    x: float
    y: float
    width: float
    height: float
    kind: str
    radius: float = 0.0


class Circle(Struct, frozen=True):
    x: float
    y: float
    radius: float
    kind: str


class Polygon(Struct, frozen=True):
    points: tuple[tuple[float, float], ...]
    kind: str


class TextShape(Struct, frozen=True):
    """A line of text on the baseline `y`; `anchor` is SVG's: start, middle or end."""

    x: float
    y: float
    text: str
    anchor: str = "start"
    kind: str = "text"
    title: str | None = None
    """The whole text where `text` is shortened, shown by the pointer."""


Shape = Line | Rect | Circle | Polygon | TextShape
Attributes = Callable[[str], str]
"""The attributes that a shape of some kind gets: its class, or its colours where no page gives them."""


def class_of(kind: str) -> str:
    return f'class="{kind}"'


def svg_text(
    title: str, width: float, height: float, shapes: Sequence[Shape], *, kind: str, attributes: Attributes = class_of
) -> str:
    """One `svg` element."""
    drawn = "".join(shape_svg(shape, attributes) for shape in shapes)
    return (
        f'<svg {f"{class_of(kind)} " if kind else ""}xmlns="http://www.w3.org/2000/svg" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" height="{height:.0f}" role="img" '
        f'aria-label={quoteattr(title)} font-family="system-ui, sans-serif" font-size="13">{drawn}</svg>'
    )


def shape_svg(shape: Shape, attributes: Attributes = class_of) -> str:
    look = attributes(shape.kind)
    match shape:
        case Line():
            return f'<line {look} x1="{shape.x1:.1f}" y1="{shape.y1:.1f}" x2="{shape.x2:.1f}" y2="{shape.y2:.1f}"/>'
        case Rect():
            radius = f' rx="{shape.radius:g}"' if shape.radius else ""
            place = f'x="{shape.x:.1f}" y="{shape.y:.1f}"'
            return f'<rect {look} {place} width="{shape.width:.1f}" height="{shape.height:.1f}"{radius}/>'
        case Circle():
            return f'<circle {look} cx="{shape.x:.1f}" cy="{shape.y:.1f}" r="{shape.radius:g}"/>'
        case Polygon():
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in shape.points)
            return f'<polygon {look} points="{points}"/>'
        case TextShape():
            full = f"<title>{escape(shape.title)}</title>" if shape.title not in (None, shape.text) else ""
            place = f'x="{shape.x:.1f}" y="{shape.y:.1f}" text-anchor="{shape.anchor}"'
            return f"<text {look} {place}>{full}{escape(shape.text)}</text>"
