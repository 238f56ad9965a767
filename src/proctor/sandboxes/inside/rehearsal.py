"""A warm parent does what its children will do, a few times, before it forks the first.

Code that has run often is specialised by the interpreter, names are interned and caches are filled. Every child would
do that again, and copy each page that it writes on the way.
"""

from __future__ import annotations

import linecache
import os
import socket
import sys
from typing import Any

from . import candidate, judge
from .frames import Channel

_ROUNDS = 12
"""The interpreter specialises a function after eight calls of it."""

_MODULE = "rehearsed"
_SUBMISSION = '''
import math
from typing import Dict, List, Optional

def weigh(values: List[float], names: Dict[str, int], text: str = "", least: Optional[float] = None):
    """Read and make what most programs do: numbers, texts, lists, tuples, dictionaries and sets."""
    total = 0.0
    for place, value in enumerate(sorted(values, key=lambda value: -value)):
        if least is None or value >= least:
            total += value * (place + 1) % 7
    words = [word.strip().lower() for word in text.split(" ") if word]
    counts = {word: words.count(word) + names.get(word, 0) for word in words}
    return [round(total, 3), math.floor(total), "-".join(words), counts, tuple(words), len(set(words)) == len(words)]

def refuse(value):
    raise ValueError(f"not {value}")
'''
_CASE = """
def check(candidate):
    assert candidate([1.5, 2, -3.25], {"one": 1}, "One two one") == [
        candidate([1.5, 2, -3.25], {}, "")[0], candidate([1.5, 2, -3.25], {})[1],
        "one-two-one", {"one": 3, "two": 1}, ("one", "two", "one"), False,
    ], "This prints if this assert fails"
    assert candidate([], {}, "", least=1.0)[:2] == [0.0, 0]
    assert abs(candidate([0.1] * 20, {"a": 2}, "a b c d")[0] - candidate([0.1] * 20, {"b": 2}, "")[0]) < 1e-9
    assert candidate([float(n) for n in range(30)], {str(n): n for n in range(10)}, "x")[5] is True

check(candidate)
try:
    refuse(3)
except ValueError as error:
    assert "not 3" in str(error)
"""


def rehearse(role: str) -> None:
    """Be a judge, or a candidate, for a partner in a process of its own, which ends with the rehearsal."""
    pairs = [socket.socketpair() for _ in range(_ROUNDS)]
    reports = os.open("/dev/null", os.O_WRONLY)
    partner = os.fork()
    if partner == 0:
        code = 1
        try:
            for ours, theirs in pairs:
                ours.close()
                _take_part("candidate" if role == "judge" else "judge", reports, theirs.fileno())
                theirs.close()
            code = 0
        finally:
            os._exit(code)
    for _, theirs in pairs:
        theirs.close()
    for ours, _ in pairs:
        with ours:
            _take_part(role, reports, ours.fileno())
    os.close(reports)
    os.waitpid(partner, 0)
    linecache.clearcache()


def _take_part(role: str, reports: int, peer: int) -> None:
    if role == "judge":
        judge.main(Channel(peer, reports), Channel(peer), _judge_payload())
    else:
        candidate.main(Channel(peer), {"module": _MODULE, "submission": _SUBMISSION})
    sys.modules.pop(_MODULE, None)


def _judge_payload() -> dict[str, Any]:
    return {
        "cases": [{"name": "check", "source": _CASE}],
        "prelude": "import math\nfrom typing import List\n",
        "remote": {"candidate": "weigh", "refuse": "refuse"},
        "module": _MODULE,
        "is_fail_fast": True,
        "is_live": False,
        "is_closed": True,
        "collect": False,
    }
