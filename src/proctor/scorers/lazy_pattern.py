"""Regular expressions that are compiled when they are first used: most answers need few of the many there are."""

from __future__ import annotations

import re
from typing import Any, cast

_METHODS = ("search", "match", "fullmatch", "finditer", "findall", "split", "sub", "subn")


def lazy_pattern(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The same as `re.compile`, except that a mistake in it is raised by its first use."""
    return cast("re.Pattern[str]", _LazyPattern(pattern, flags))


class _LazyPattern:
    """Its methods are those of the compiled expression from the first use on, at no cost a call."""

    __slots__ = ("flags_given", "pattern", *_METHODS)

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern, self.flags_given = pattern, flags

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self.flags_given)
        for method in _METHODS:
            setattr(self, method, getattr(compiled, method))
        return getattr(compiled, name)
