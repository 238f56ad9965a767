"""Requirement sentences: which EARS pattern they fit, whether their level word is the declared one, what is vague.

EARS (Easy Approach to Requirements Syntax) knows five patterns and their combination; RFC 2119 the words in capitals.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct

from proctor.domain.problem import Level


class Pattern(StrEnum):
    UBIQUITOUS = "ubiquitous"
    """The X MUST …"""
    EVENT = "event-driven"
    """When T, the X MUST …"""
    STATE = "state-driven"
    """While S, the X MUST …"""
    OPTION = "optional feature"
    """Where F, the X MUST …"""
    UNWANTED = "unwanted behaviour"
    """If C, then the X MUST …"""
    COMPLEX = "complex"
    """Several of these conditions, one after the other."""


class EarsReading(Struct, frozen=True):
    """What was made of a sentence; it fits when there are no problems."""

    pattern: Pattern | None
    level: Level | None
    problems: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


WORDS: Mapping[str, Level] = {
    "MUST": Level.MUST,
    "MUST NOT": Level.MUST,
    "SHALL": Level.MUST,
    "SHALL NOT": Level.MUST,
    "REQUIRED": Level.MUST,
    "SHOULD": Level.SHOULD,
    "SHOULD NOT": Level.SHOULD,
    "RECOMMENDED": Level.SHOULD,
    "NOT RECOMMENDED": Level.SHOULD,
    "MAY": Level.MAY,
    "OPTIONAL": Level.MAY,
}
VAGUE = (
    "adequate", "and/or", "appropriate", "appropriately", "as needed", "as required", "easily", "easy", "effective",
    "efficient", "efficiently", "etc", "fast", "flexible", "flexibly", "gracefully", "if possible", "intuitive",
    "normally", "optimal", "properly", "quick", "quickly", "reasonable", "reasonably", "robust", "seamless", "simple",
    "slow", "sufficient", "sufficiently", "suitable", "timely", "usually", "user friendly", "user-friendly", "various",
    "where applicable",
)  # fmt: skip
"""Words two readers would measure differently."""
FORMS = (
    "'The X MUST …', 'When T, the X MUST …', 'While S, the X MUST …', 'Where F, the X MUST …' "
    "or 'If C, then the X MUST …'"
)
_KEYWORDS = {"when": Pattern.EVENT, "while": Pattern.STATE, "where": Pattern.OPTION, "if": Pattern.UNWANTED}
_LEVEL = re.compile(r"\b(?:(?:MUST|SHALL|SHOULD)(?: NOT)?|NOT RECOMMENDED|REQUIRED|RECOMMENDED|MAY|OPTIONAL)\b")
_LOWER = re.compile(r"\b(?:must|shall)\b")
_QUOTED = re.compile(r"`[^`]*`|\"[^\"]*\"|“[^”]*”|(?<!\w)'[^']*'(?!\w)")
_SYSTEM = re.compile(r"(?:^|, )(then )?([Tt])he [^,.;:]{1,80}$")
_CONDITION = re.compile(r"(?:^|, )(When|While|Where|If|when|while|where|if) (?=\S)")
_VAGUE = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, VAGUE))})(?![\w-])", re.IGNORECASE)


def read_sentence(text: str, level: Level) -> EarsReading:
    """The sentence's pattern, and everything that is wrong with it; never raises."""
    plain = _without_quotes(" ".join(text.split()))
    warnings = _warnings(plain)
    words = _LEVEL.findall(plain)
    if len(words) != 1:
        return EarsReading(None, None, (_no_single_word(plain, words),), warnings)
    found = WORDS[words[0]]
    problems = []
    if found is not level:
        problems.append(f"the sentence says {words[0]}, the declared level is {level}")
    head, _, response = plain.partition(words[0])
    if not response.strip(" ."):
        problems.append(f"nothing follows {words[0]}: say what is to be done")
    pattern, wrong = _pattern(head.rstrip())
    return EarsReading(pattern, found, (*problems, *wrong), warnings)


def _pattern(head: str) -> tuple[Pattern | None, list[str]]:
    """Of what stands before the level word."""
    system = _SYSTEM.search(head)
    if system is None:
        return None, [f"the sentence fits no EARS pattern: write {FORMS}"]
    conditions = head[: system.start()]
    if not conditions:
        if system[1] or system[2] != "T":
            return None, ["without a condition the sentence begins with 'The'"]
        return Pattern.UBIQUITOUS, []
    found = [match[1] for match in _CONDITION.finditer(conditions)]
    if not found or not conditions.startswith(found[0]) or not found[0][0].isupper():
        return None, [f"the sentence fits no EARS pattern: write {FORMS}"]
    names = [word.lower() for word in found]
    wrong = []
    if "if" in names and not system[1]:
        wrong.append("after 'If …,' comes 'then the X'")
    if "if" not in names and system[1]:
        wrong.append(f"'then' belongs to 'If', not to '{found[0]}'")
    if system[2] != "t":
        wrong.append("after a condition 'the' is written small")
    kinds = {_KEYWORDS[name] for name in names}
    return (kinds.pop() if len(names) == 1 else Pattern.COMPLEX), wrong


def _no_single_word(plain: str, words: list[str]) -> str:
    if words:
        return f"one sentence has one level word, this one has {len(words)}: {', '.join(words)}"
    small = re.search(r"\b(must|shall|should|may)\b", plain)
    if small is not None:
        return f"the level word is written in capitals: {small[1].upper()}, not {small[1]}"
    return "the sentence has no level word: MUST, SHOULD or MAY (RFC 2119)"


def _warnings(plain: str) -> tuple[str, ...]:
    found = [f"{word!r} is vague: say what can be measured" for word in _seen(_VAGUE, plain)]
    if _LEVEL.search(plain) and (small := _LOWER.search(plain)):
        found.append(f"a second {small[0]!r}, in small letters, may hide another requirement")
    if not plain.endswith((".", "_")):
        found.append("the sentence does not end with a full stop")
    return tuple(found)


def _seen(pattern: re.Pattern[str], text: str) -> list[str]:
    return list(dict.fromkeys(match.lower() for match in pattern.findall(text)))


def _without_quotes(text: str) -> str:
    """What is quoted is an example or a literal, not part of the grammar."""
    return _QUOTED.sub(lambda match: "_" * len(match[0]), text)
