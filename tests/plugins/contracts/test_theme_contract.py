"""What every theme keeps: colours and nothing else, on which text can be read."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from plugins.example import names
from proctor.domain.errors import UserError
from proctor.reports.html import page_html
from proctor.reports.sections import Page
from proctor.reports.theme import DEFAULT, Palette, load_theme, theme_css

READABLE = 4.5
"""The contrast that WCAG 2 asks for at level AA."""


def _luminance(colour: str) -> float:
    digits = colour.removeprefix("#")
    pairs = [digits[n : n + 2] for n in (0, 2, 4)] if len(digits) == 6 else [digit * 2 for digit in digits]
    parts = [int(pair, 16) / 255 for pair in pairs]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _contrast(one: str, other: str) -> float:
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("side", ["light", "dark"])
@pytest.mark.parametrize("name", names("themes"))
def test_text_can_be_read_on_paper_and_behind_code(name: str, side: str) -> None:
    palette: Palette = getattr(load_theme(name), side)
    for ink in ("text", "faint", "link", "good", "bad", "odd"):
        assert _contrast(getattr(palette, ink), palette.paper) >= READABLE, ink
    assert _contrast(palette.text, palette.soft) >= READABLE


@pytest.mark.parametrize("name", names("themes"))
def test_the_page_is_painted_with_it_and_its_policy_allows_that(name: str) -> None:
    theme = load_theme(name)
    page = page_html(replace(Page("A report", "", ()), theme=theme))
    assert theme_css(theme) in page
    assert f"--paper: {theme.light.paper};" in page
    assert f"--paper: {theme.dark.paper};" in page
    style = page.partition("<style>")[2].partition("</style>")[0]
    allowed = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert f"style-src &#39;sha256-{escape(allowed)}&#39;" in page


def test_what_a_theme_does_not_name_is_as_in_the_default_one() -> None:
    assert load_theme("default") == DEFAULT
    sepia = load_theme("sepia")
    assert sepia.light.paper != DEFAULT.light.paper
    assert (sepia.light.series, sepia.dark.link, sepia.heat) == (DEFAULT.light.series, DEFAULT.dark.link, DEFAULT.heat)


@pytest.mark.parametrize(
    "theme",
    [
        {"light": {"paper": "red"}},
        {"light": {"paper": "#fff; } body { display: none"}},
        {"light": {"paper": "#ffffff</style><script>alert(1)</script>"}},
        {"light": {"paper": "#fff\n"}},
        {"light": {"paper": "url(http://example.org)"}},
        {"light": {"paper": 3}},
        {"light": {"papier": "#fff"}},
        {"light": "#fff"},
        {"dark": {"series": ["#fff"]}},
        {"dark": {"series": ["#fff"] * 7 + ["var(--x)"]}},
        {"heat": ["#fff"] * 9 + ["white"]},
        {"css": "body { display: none }"},
    ],
)
def test_anything_but_colours_is_refused(theme: dict[str, Any], package: Callable[..., Path]) -> None:
    package(f"def create(): return {theme!r}\n", {"themes.odd": "odd:create"}, name="odd")
    with pytest.raises(UserError, match="The theme 'odd' cannot be used"):
        load_theme("odd")
