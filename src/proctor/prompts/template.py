"""Prompt templates in Jinja2's language; the plain ones never load Jinja2, which would cost a tenth of a second."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.domain.errors import BenchmarkError, TemplateLimitError
from proctor.domain.text import storable
from proctor.prompts.jinja import Flavour, environment_of, is_bounded, join_pieces, unknown_names

MAX_SOURCE_LENGTH = 100_000
_NEWLINE = re.compile(r"\r\n|\r|\n")
_PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_]*)\s*\}\}")
_SYNTAX = re.compile(r"\{\{|\{%|\{#")
_RESERVED = "true false none True False None not and or if else elif in is self super caller loop varargs kwargs"
_NOT_NAMES = frozenset(_RESERVED.split())


@dataclass(frozen=True, slots=True)
class Template:
    """A text with placeholders, compiled when it is made; rendering depends on nothing but the variables."""

    source: str
    flavour: Flavour = "benchmark"
    parts: tuple[str, ...] | None = field(init=False)
    """Text, name, text, name, …, text: a plain template; None when it takes Jinja2."""
    _compiled: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = _plain_parts(self.source) if self.flavour == "benchmark" else None
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "_compiled", None)
        if parts is None and is_bounded(_parse(self.source, self.flavour)):
            object.__setattr__(self, "_compiled", environment_of(self.flavour).from_string(self.source))

    @property
    def is_quick(self) -> bool:
        """Whether it is filled in at once; else it is given to a process of its own, with limits of time and memory."""
        return self.parts is not None or self._compiled is not None

    @property
    def names(self) -> tuple[str, ...] | None:
        """The placeholders of a plain template; None where only rendering tells."""
        return None if self.parts is None else self.parts[1::2]

    def render(self, variables: Mapping[str, Any]) -> str:
        """Fill in; raises BenchmarkError naming a placeholder that has no value."""
        if self.parts is None:
            return self._render_with_jinja(variables)
        texts = list(self.parts)
        for place in range(1, len(texts), 2):
            try:
                texts[place] = str(variables[texts[place]])
            except KeyError:
                raise BenchmarkError(f"there is no {texts[place]!r} to fill in") from None
        return "".join(texts)

    def _render_with_jinja(self, variables: Mapping[str, Any]) -> str:
        import jinja2

        from proctor.prompts.template_process import fill_in

        try:
            if self._compiled is None:
                return storable(fill_in(self.flavour, self.source, variables))
            return storable(join_pieces(self._compiled.generate(dict(variables))))
        except TemplateLimitError as fault:
            raise TemplateLimitError(f"the template cannot be filled in: {fault}") from fault
        except jinja2.TemplateError as fault:
            raise BenchmarkError(f"the template cannot be filled in: {fault}") from fault
        except ValueError as fault:
            raise BenchmarkError(f"the template cannot be filled in: {fault}") from fault
        except (TypeError, ArithmeticError, LookupError, AttributeError) as fault:
            raise BenchmarkError(f"the template cannot be filled in: {type(fault).__name__}: {fault}") from fault


def _plain_parts(source: str) -> tuple[str, ...] | None:
    """What Jinja2's lexer makes of a template without logic: unified line ends, and one last line break dropped."""
    text = _NEWLINE.sub("\n", source).removesuffix("\n")
    parts = tuple(_PLACEHOLDER.split(text))
    texts = parts[::2]
    if any(_SYNTAX.search(text) for text in texts) or not _NOT_NAMES.isdisjoint(parts[1::2]):
        return None
    # Of three braces Jinja2 takes the first two.
    return None if any(text.endswith("{") for text in texts[:-1]) else parts


def _parse(source: str, flavour: Flavour) -> Any:
    """The template's tree; nothing is compiled yet, because compiling works out what is constant, however large."""
    import jinja2

    if len(source) > MAX_SOURCE_LENGTH:
        raise BenchmarkError(f"the template has {len(source):,} characters; at most {MAX_SOURCE_LENGTH:,} are allowed")
    try:
        tree = environment_of(flavour).parse(source)
    except jinja2.TemplateSyntaxError as mistake:
        raise BenchmarkError(f"the template has a mistake on its line {mistake.lineno}: {mistake.message}") from mistake
    except RecursionError:
        raise BenchmarkError("the template is nested too deeply") from None
    if unknown := unknown_names(tree, flavour):
        raise BenchmarkError(f"the template has a mistake: there is no {unknown[0]}")
    return tree
