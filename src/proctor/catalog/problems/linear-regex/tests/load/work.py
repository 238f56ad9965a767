"""Words, addresses and numbers found in a long text; every place is compared."""

import re

TEXT = "Write to ada@example.org, or call 555-0199 before 17:30 on 2026-03-01. " * 600
PATTERNS = (r"\w+@\w+\.\w+", r"\d{3}-\d{4}", r"[A-Z][a-z]+", r"(\d|:|-)+")
# For these patterns the first match that `re` finds is the longest, too.
PLACES = {pattern: [match.span() for match in re.finditer(pattern, TEXT, re.ASCII)] for pattern in PATTERNS}


def work(program):
    for pattern, right in PLACES.items():
        found = program.module.compile(pattern).findall(TEXT)
        assert [tuple(place) for place in found] == right, f"{pattern} was not found where it is"
