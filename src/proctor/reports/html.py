"""A page as one HTML file: no network, no outside font or script, and no text of a model ever becomes markup."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files

from proctor.domain.text import visible
from proctor.reports.sections import Page
from proctor.reports.theme import theme_css
from proctor.version import __version__


def page_html(page: Page) -> str:
    """The whole page; its policy lets only its own style and script run, by their hashes."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    css, script = theme_css(page.theme) + _part("page.css"), _part("page.js")
    environment = Environment(autoescape=True, undefined=StrictUndefined, loader=FunctionLoader(_part))
    template = environment.get_template("page.html")
    made = template.render(page=page, css=css, script=script, policy=_policy(css, script), version=__version__)
    return visible(made)  # names and answers, in charts too, change no direction of what stands around them


def _part(name: str) -> str:
    return files("proctor.reports").joinpath("templates", name).read_text(encoding="utf-8")


def _policy(css: str, script: str) -> str:
    return (
        f"default-src 'none'; style-src '{_hash(css)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
