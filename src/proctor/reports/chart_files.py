"""Charts as files that stand alone: SVG, and PNG where matplotlib is installed; no display is needed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from warnings import catch_warnings, simplefilter
from xml.sax.saxutils import quoteattr

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.text import visible
from proctor.reports.charts import Chart
from proctor.reports.sections import Page
from proctor.reports.shapes import Circle, Line, Polygon, Rect, Shape, TextShape, svg_text
from proctor.reports.theme import Theme, named_colours

MARGIN = 12
TITLE_HEIGHT = 36
NOTE_HEIGHT = 24
DOTS_PER_INCH, SCALE = 100, 2
"""A PNG has this many dots for each unit of the chart, so that it is sharp on dense screens and in print."""
FONTS = ("DejaVu Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans CJK KR", "Noto Sans")
"""The first comes with matplotlib; the others are used for the letters it lacks, where they are installed."""


class Look(Struct, frozen=True):
    fill: str | None = None
    stroke: str | None = None
    width: float = 1.0
    dashes: tuple[float, float] | None = None
    is_bold: bool = False


def write_charts(page: Page, folder: Path) -> list[Path]:
    """Each chart of the page as NAME.svg and, with matplotlib, NAME.png; the files that were written."""
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for chart in _charts(page):
        stem = re.sub(r"[^\w.+-]+", "-", chart.name)
        framed = _framed(chart)
        contents = {".svg": chart_svg(framed, page.theme).encode()}
        if can_write_png():
            contents[".png"] = chart_png(framed, page.theme)
        for ending, content in contents.items():
            path = folder / f"{stem}{ending}"
            path.write_bytes(content)
            written.append(path)
    return written


def can_write_png() -> bool:
    return find_spec("matplotlib") is not None


def _charts(page: Page) -> Iterable[Chart]:
    return (chart for section in page.sections for chart in section.charts)


def _framed(chart: Chart) -> Chart:
    """The chart on paper, with its title above it and its note below, which a page shows around it."""
    width = chart.width + 2 * MARGIN
    height = chart.height + TITLE_HEIGHT + MARGIN + (NOTE_HEIGHT if chart.note else 0)
    shapes: list[Shape] = [Rect(0, 0, width, height, "paper"), TextShape(MARGIN, 24, chart.title, "start", "title")]
    shapes += [_moved(shape) for shape in chart.shapes]
    if chart.note:
        shapes.append(TextShape(MARGIN, height - MARGIN, chart.note, "start", "text faint"))
    return replace(chart, width=width, height=height, shapes=tuple(shapes))


def _moved(shape: Shape) -> Shape:
    match shape:
        case Line(x1, y1, x2, y2):
            return replace(shape, x1=x1 + MARGIN, x2=x2 + MARGIN, y1=y1 + TITLE_HEIGHT, y2=y2 + TITLE_HEIGHT)
        case Polygon(points):
            return replace(shape, points=tuple((x + MARGIN, y + TITLE_HEIGHT) for x, y in points))
        case _:
            return replace(shape, x=shape.x + MARGIN, y=shape.y + TITLE_HEIGHT)


def chart_svg(chart: Chart, theme: Theme) -> str:
    """One SVG file, with its colours in it."""
    attributes = partial(_attributes, theme)
    return visible(svg_text(chart.title, chart.width, chart.height, chart.shapes, kind="", attributes=attributes))


def _attributes(theme: Theme, kind: str) -> str:
    look = look_of(kind, theme)
    given: dict[str, str | None] = {"fill": look.fill, "stroke": look.stroke}
    if look.stroke is not None:
        given["stroke-width"] = f"{look.width:g}"
    if look.dashes is not None:
        given["stroke-dasharray"] = " ".join(f"{one:g}" for one in look.dashes)
    if look.is_bold:
        given["font-weight"] = "bold"
    return " ".join(f"{name}={quoteattr(value)}" for name, value in given.items() if value is not None)


def look_of(kind: str, theme: Theme) -> Look:
    """The colours of a shape of this kind: those of the HTML report on a light screen."""
    colours = named_colours(theme.light) | {f"h{index}": colour for index, colour in enumerate(theme.heat)}
    first, _, second = kind.partition(" ")
    if first == "text":
        on_cell = {"on-light": "#14181d", "on-dark": "#ffffff"}
        return Look(fill=on_cell.get(second) or colours.get(second, colours["text"]))
    if first in ("fill", "heat"):
        return Look(fill=colours["soft" if second == "none" else second])
    lines = {
        "grid": Look(stroke=colours["line"]),
        "zero": Look(stroke=colours["faint"], width=1.5, dashes=(4, 3)),
        "bar": Look(stroke=colours[second or "faint"], width=2),
        "paper": Look(fill=colours["paper"]),
        "title": Look(fill=colours["text"], is_bold=True),
    }
    return lines[first]


def chart_png(chart: Chart, theme: Theme) -> bytes:
    """One PNG file, drawn in memory."""
    from io import BytesIO

    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(chart.width / DOTS_PER_INCH, chart.height / DOTS_PER_INCH), dpi=DOTS_PER_INCH)
    FigureCanvasAgg(figure)
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0), xlim=(0, chart.width), ylim=(chart.height, 0))
    axes.set_axis_off()
    for order, shape in enumerate(chart.shapes):
        _draw(axes, shape, order, theme)
    buffer = BytesIO()
    with catch_warnings():
        simplefilter("ignore", UserWarning)  # letters that no installed font has are drawn as boxes
        figure.savefig(buffer, format="png", dpi=DOTS_PER_INCH * SCALE)
    return buffer.getvalue()


def _draw(axes: Any, shape: Shape, order: int, theme: Theme) -> None:
    from matplotlib import patches
    from matplotlib.lines import Line2D

    look, point = look_of(shape.kind, theme), 72 / DOTS_PER_INCH
    match shape:
        case Line(x1, y1, x2, y2):
            dashes = (0, look.dashes) if look.dashes else "-"
            axes.add_line(
                Line2D([x1, x2], [y1, y2], color=look.stroke, linewidth=look.width * point, linestyle=dashes,
                       solid_capstyle="butt", zorder=order)
            )  # fmt: skip
        case Rect(x, y, width, height):
            axes.add_patch(patches.Rectangle((x, y), width, height, facecolor=look.fill, linewidth=0, zorder=order))
        case Circle(x, y, radius):
            axes.add_patch(patches.Circle((x, y), radius, facecolor=look.fill, linewidth=0, zorder=order))
        case Polygon(points):
            axes.add_patch(patches.Polygon(points, facecolor=look.fill, linewidth=0, zorder=order))
        case TextShape(x, y, text, anchor):
            sides = {"start": "left", "middle": "center", "end": "right"}
            axes.text(
                x, y, visible(text), color=look.fill, fontsize=13 * point, family=_fonts(), ha=sides[anchor],
                va="baseline", weight="bold" if look.is_bold else "normal", parse_math=False, zorder=order,
            )  # fmt: skip


@cache
def _fonts() -> list[str]:
    from matplotlib.font_manager import fontManager

    installed = {font.name for font in fontManager.ttflist}
    return [name for name in FONTS if name in installed]
