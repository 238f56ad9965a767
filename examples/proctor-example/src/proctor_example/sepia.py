"""A theme: the HTML report on warm paper. Only colours can be named; what is not named is as in the default theme."""

from __future__ import annotations


def create() -> dict[str, dict[str, str]]:
    return {
        "light": {"paper": "#f8f1e3", "soft": "#efe4cd", "line": "#d8c9a8", "text": "#3a2f20", "faint": "#6b5b45"},
        "dark": {"paper": "#221c14", "soft": "#2d261c", "line": "#4a3f30", "text": "#eadfc9", "faint": "#b5a78e"},
    }
