"""Expressions that are compiled by their first use are otherwise those of `re`."""

from __future__ import annotations

import copy
import re

import pytest

from proctor.scorers.lazy_pattern import lazy_pattern


def test_it_does_what_the_compiled_expression_does() -> None:
    text = "One 1, two 22, THREE 333"
    for source, flags in ((r"(?P<word>three) (\d+)", re.IGNORECASE), (r"\d+", 0), (r", ", 0)):
        lazy, plain = lazy_pattern(source, flags), re.compile(source, flags)
        assert (lazy.pattern, lazy.flags, lazy.groups, dict(lazy.groupindex)) == (
            plain.pattern, plain.flags, plain.groups, dict(plain.groupindex),
        )  # fmt: skip
        for _ in range(2):
            assert str(lazy.search(text)) == str(plain.search(text))
            assert [found.span() for found in lazy.finditer(text, 3)] == [
                found.span() for found in plain.finditer(text, 3)
            ]
            assert (lazy.match(text), lazy.fullmatch(text)) == (plain.match(text), plain.fullmatch(text))
            assert lazy.findall(text) == plain.findall(text)
            assert lazy.split(text, maxsplit=1) == plain.split(text, maxsplit=1)
            assert (lazy.sub("-", text), lazy.subn("-", text)) == (plain.sub("-", text), plain.subn("-", text))


def test_a_mistake_is_raised_by_the_first_use_and_a_copy_works() -> None:
    wrong = lazy_pattern("(")
    with pytest.raises(re.error):
        wrong.search("x")
    assert copy.copy(lazy_pattern("x")).search("ax") is not None


def test_all_patterns_of_the_scorers_can_be_compiled() -> None:
    """What no answer has needed yet may not be wrong, either."""
    import importlib
    import pkgutil

    from proctor import scorers

    found = 0
    for module in pkgutil.iter_modules(scorers.__path__):
        for value in vars(importlib.import_module(f"proctor.scorers.{module.name}")).values():
            if type(value).__name__ == "_LazyPattern":
                re.compile(value.pattern, value.flags_given)
                found += 1
    assert found > 150
