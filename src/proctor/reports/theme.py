"""The colours of a report. A theme names colours and nothing else: it can neither hide a number nor add markup."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct
from msgspec.structs import asdict, replace

from proctor import plugins
from proctor.domain.errors import UserError

_COLOUR = re.compile(r"#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6})")


class Palette(Struct, frozen=True, forbid_unknown_fields=True):
    """What a page is painted with, each colour as #rgb or #rrggbb."""

    paper: str
    text: str
    faint: str
    line: str
    soft: str
    """Behind code and buttons."""
    link: str
    good: str
    bad: str
    odd: str
    """Answers that could not be read."""
    series: tuple[str, str, str, str, str, str, str, str]
    """One for each model of a chart, in their order."""


class Theme(Struct, frozen=True, forbid_unknown_fields=True):
    light: Palette
    dark: Palette
    heat: tuple[str, str, str, str, str, str, str, str, str, str]
    """From the lowest figures to the highest; dark text is written on the first five, light text on the others."""


LIGHT = Palette(
    paper="#ffffff", text="#1b1f24", faint="#59636e", line="#d5dae0", soft="#f4f6f8", link="#0b5cad",
    good="#1a6b34", bad="#a4262c", odd="#8a5a00",
    series=("#0072b2", "#c24e00", "#00805c", "#b0578a", "#a86f00", "#2d87bd", "#111111", "#7a6a00"),
)  # fmt: skip
DARK = Palette(
    paper="#14181d", text="#e4e8ec", faint="#9aa5b1", line="#343c46", soft="#1d232a", link="#7ab8f5",
    good="#5fd38a", bad="#ff8a8a", odd="#f2c14e",
    series=("#56b4e9", "#ff8c42", "#3ccf9f", "#e59bc4", "#f0b429", "#9ecbff", "#ffffff", "#f0e442"),
)  # fmt: skip
HEAT = ("#f0f6fc", "#dbe9f6", "#c3daee", "#a5c8e4", "#82b3d8", "#3877ad", "#2f6ca3", "#235a8f", "#19497a", "#103a66")
DEFAULT = Theme(LIGHT, DARK, HEAT)
_INK = {
    "paper": "#ffffff",
    "text": "#000000",
    "faint": "#444444",
    "line": "#bbbbbb",
    "soft": "#f4f4f4",
    "link": "#000000",
}


def default() -> Mapping[str, Any]:
    """The theme that is used when none is named: it differs from itself in nothing."""
    return {}


def load_theme(name: str) -> Theme:
    """The theme of that name, over the default one; raises UserError where it names anything but colours."""
    given: Mapping[str, Any] = plugins.create("themes", name)
    palettes = {side: {**asdict(getattr(DEFAULT, side)), **_part(given, side, name)} for side in ("light", "dark")}
    try:
        theme = msgspec.convert({"heat": HEAT, **given, **palettes}, Theme)
    except msgspec.ValidationError as mistake:
        raise UserError(f"The theme {name!r} cannot be used: {mistake}.") from None
    for value in _colours(theme):
        if not _COLOUR.fullmatch(value):
            raise UserError(f"The theme {name!r} cannot be used: {value!r} is not a colour (#rgb or #rrggbb).")
    return theme


def theme_css(theme: Theme) -> str:
    """The style sheet's variables, for a light and a dark screen and for paper."""
    light, dark = _variables(theme.light), _variables(theme.dark)
    paper = _variables(replace(theme.light, **_INK))
    heat = " ".join(f".chart .h{index} {{ fill: {colour}; }}" for index, colour in enumerate(theme.heat))
    return (
        f":root {{ {light} }}\n"
        f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}\n'
        f':root[data-theme="dark"] {{ {dark} }}\n'
        f'@media print {{ :root, :root[data-theme="dark"], :root:not([data-theme="light"]) {{ {paper} }} }}\n'
        f"{heat}\n"
    )


def named_colours(palette: Palette) -> dict[str, str]:
    """By the names that charts and the style sheet use: `text`, and `s0` for the first of the series."""
    single = {name: value for name, value in asdict(palette).items() if isinstance(value, str)}
    return single | {f"s{index}": colour for index, colour in enumerate(palette.series)}


def _part(given: Mapping[str, Any], side: str, name: str) -> Mapping[str, Any]:
    part = given.get(side, {})
    if not isinstance(part, Mapping):
        raise UserError(f"The theme {name!r} cannot be used: {side!r} must name colours, not {type(part).__name__}.")
    return part


def _colours(theme: Theme) -> list[str]:
    found = list(theme.heat)
    for palette in (theme.light, theme.dark):
        for value in asdict(palette).values():
            found += [value] if isinstance(value, str) else value
    return found


def _variables(palette: Palette) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in named_colours(palette).items())
