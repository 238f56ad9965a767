"""Which option a response settles on: the rules behind the choice scorer."""

from __future__ import annotations

import re
from collections import deque
from functools import lru_cache
from itertools import islice

from proctor.scorers.choice_patterns import (
    ADVERB,
    APPROVED,
    CLAUSE,
    CONCESSION,
    CONDITION,
    COPULA,
    CYRILLIC,
    CYRILLIC_ANSWER,
    DISMISSED,
    EITHER,
    FOLLOWERS,
    FOREIGN_LETTER,
    FOREIGN_LETTERS,
    FOREIGN_MARKERS,
    IN_PASSING,
    LAST_SENTENCE,
    LINKED,
    LONGEST_GAP,
    MANY_OPTIONS,
    MARKERS_TRIED,
    NAMED,
    NAMING,
    OF_OTHERS,
    OPENING_END,
    ORDINAL,
    ORDINALS,
    OWN_MARKERS,
    REFUSAL,
    RULED_OUT,
    THEREFORE,
    TURN,
    Patterns,
    patterns_for,
)
from proctor.scorers.markers import (
    CONNECTOR,
    CORRECTION,
    NEGATION,
    SENTENCE_END,
    announces,
    first_turn,
    marker_ends,
    own_turn,
)
from proctor.scorers.reading import last_boxed, plain, without_struck

CONCLUSIONS_TRIED = 20
QUOTING = " *_\"'“‘`$([:"


def read_choice(text: str, labels: str, choices: tuple[str, ...], *, is_cut: bool = False) -> tuple[str | None, str]:
    """The label settled on and how it was read, or None and why there is none."""
    text = _latin(plain(without_struck(own_turn(text))))
    patterns = patterns_for(labels)
    for part in dict.fromkeys((first_turn(text), text)):
        settled = _settled(part, patterns, choices, labels)
        if settled is not None:
            return settled
    if REFUSAL.search(_without_choices(text, choices)):
        return None, "declines to choose"
    if is_cut:
        return None, "cut off before an option was chosen"
    return _inferred(text, patterns, choices, labels)


def _settled(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> tuple[str | None, str] | None:
    """What is stated, or stands by itself."""
    claim = _claimed(text, patterns, choices, labels)
    if claim is None:
        return _standing_alone(text, patterns, choices, labels)
    label, end, how = claim
    return _corrected(text, end, patterns) or (label, how)


def _latin(text: str) -> str:
    """Option letters of other scripts as the labels they stand for."""
    if text.isascii():
        return text
    text = FOREIGN_LETTER.sub(lambda found: FOREIGN_LETTERS[found[0]], text)
    return CYRILLIC_ANSWER.sub(lambda found: found[1] + found[2].translate(CYRILLIC), text)


Claim = tuple[str | None, int, str]


def _claimed(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> Claim | None:
    """The last explicit statement: its label (None when it names two), where it ends, how it was read."""
    claim = _boxed(text, patterns, choices, labels) if "\\boxed" in text else None
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered
        lowered = text
    also = OWN_MARKERS if text.isascii() else OWN_MARKERS + FOREIGN_MARKERS
    for end in islice(marker_ends(text, lowered, also), MARKERS_TRIED):
        if claim is not None and end < claim[1]:
            break
        announced = _announced(text, end, patterns, choices, labels)
        if announced is not None:
            claim = announced
            break
    for found in patterns.verdict.finditer(text, claim[1] if claim else 0):
        if _is_label(text, found.start(1), found[1]) and not _is_conditional(text, found.start()):
            claim = (found[1], found.end(), "said to be correct")
    return claim


def _boxed(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> Claim | None:
    found = last_boxed(text)
    if found is None:
        return None
    start, content = found
    content = re.sub(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}", r"\1", content).strip()
    label = _lone_label(content, patterns) or _quoted_at_start(content, choices, labels)
    return (label, start + len(found[1]) + 8, "boxed") if label else None


def _lone_label(text: str, patterns: Patterns) -> str | None:
    found = patterns.only.fullmatch(text) or patterns.lead.match(text)
    return found[1].upper() if found else None


def _announced(text: str, end: int, patterns: Patterns, choices: tuple[str, ...], labels: str) -> Claim | None:
    """The option that the marker ending here announces, if it does."""
    if OF_OTHERS.search(text, max(0, end - 40), end):
        return None
    plainly = patterns.plainly.match(text, end)
    if plainly is not None:
        return plainly[1], len(text), "announced"
    rest = text[end : end + 300]
    if moved := patterns.changed.match(rest):
        return moved[1], end + moved.end(), "changed to it"
    refused = False
    previous = 0
    for found in islice(patterns.label.finditer(rest), 6):
        gap = rest[: found.start("label")]
        if not announces(gap, LONGEST_GAP, NAMING):
            break
        also = refused and LINKED.fullmatch(rest, previous, found.start())
        refused = bool(also) or NEGATION.search(gap) is not None
        previous = found.end()
        if refused:
            continue
        if not _is_label(rest, found.start("label"), found["label"], found["open"]):
            continue
        if DISMISSED.match(rest, found.end()):
            return None
        label = found["label"].upper()
        if label in "AI" and not found["open"]:
            quoted = _quoted_at_start(rest[found.start() :], choices, labels)
            label = quoted or label
        second = patterns.joined.match(rest, found.end())
        is_two = (
            second
            and second[1] != label
            and not CLAUSE.match(rest, second.end())
            and _is_label(rest, second.start(1), second[1])
        )
        if is_two or EITHER.search(gap):
            return None, end + found.end(), MANY_OPTIONS
        return label, end + found.end(), "announced"
    return _announced_text(rest, end, choices, labels)


def _announced_text(rest: str, end: int, choices: tuple[str, ...], labels: str) -> Claim | None:
    """'The answer is Paris': the option whose text follows the marker."""
    if not choices:
        return None
    lead = re.match(r"[\W_]*", rest)
    start = lead.end() if lead else 0
    stop = SENTENCE_END.search(rest, start)
    sentence = rest[: stop.start() if stop else len(rest)]
    connector = CONNECTOR.search(sentence)
    if connector is None:
        return None
    said = sentence[connector.end() :] if connector.end() > start else sentence[start:]
    if re.match(r"\s*(?:not|never|nicht|pas)\b", said):
        return None
    label = _quoted_at_start(said, choices, labels) or _only_quoted(said, choices, labels)
    return (label, end + len(sentence), "announced by its text") if label else None


def _is_label(text: str, position: int, letter: str, opening: str = "") -> bool:
    """Whether this letter is an option's label and not a word such as 'a' or 'I'."""
    if letter.isdigit():
        return True
    after = text[position + 1 : position + 2]
    if after == "?":  # asked, not said
        return False
    if opening.strip("*_"):
        return after in ")]}\"'”’>" or letter.isupper()
    if letter.islower():
        return after in (")", ".", ":", "]", "*", "_", "") or (letter not in "aeiouy" and after in " \n,;!")
    if letter not in "AI" or FOLLOWERS.match(text, position + 1):
        return True
    return letter == "A" and NAMED.search(text, max(0, position - 12), position) is not None


def _is_conditional(text: str, position: int) -> bool:
    """'If it is a normal good, A is right' settles nothing."""
    clause = re.split(r"[.;\n]", text[max(0, position - 80) : position])[-1]
    return CONDITION.search(clause) is not None


def _corrected(text: str, end: int, patterns: Patterns) -> tuple[str, str] | None:
    """The option named after words such as 'wait' that follow the statement."""
    if len(text) - end < 6:
        return None
    found = None
    for correction in CORRECTION.finditer(text, end):
        for label in patterns.label.finditer(text, correction.end(), correction.end() + 160):
            gap = text[correction.end() : label.start("label")]
            after = text[label.end() : label.end() + 12]
            is_named = re.match(r"[)\]*_\"']*(?:[.!\n]|$|\s+is\s+(?:correct|right|the))", after) is not None
            if is_named and not NEGATION.search(gap) and _is_label(text, label.start("label"), label["label"]):
                found = (label["label"].upper(), "named in a correction")
    return found


def _standing_alone(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> tuple[str, str] | None:
    """A response, its last line or its beginning that is just a label."""
    found = patterns.only.fullmatch(text)
    if found:
        return found[1].upper(), "the whole response"
    lines = {found.group(1) for found in islice(patterns.line.finditer(text), 60)}
    last_line = text[text.rfind("\n") + 1 :].removeprefix("A: ")
    found = patterns.only.fullmatch(last_line) or patterns.only.fullmatch(LAST_SENTENCE.split(last_line)[-1])
    if found and (found[1].isupper() or len(last_line) > 1):
        return found[1].upper(), "the last line"
    lead = patterns.lead.match(text)
    if len(lines) > 1 and not (lead and lead[1] != labels[0]):  # a list of the options begins with the first
        return None
    if lead and not patterns.joined.match(text, lead.end(1)):
        return lead[1].upper(), "the response begins with it"
    if choices and text[:1] in labels and text[1:2] == " ":
        own = choices[labels.index(text[0])]
        if _starts_with(text[2:], own) or (text[0] not in "AI" and FOLLOWERS.match(text, 1)):
            return text[0], "the response begins with it"
    return None


def _inferred(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> tuple[str | None, str]:
    """No statement was found: a conclusion, the only option mentioned, or the only one quoted."""
    text = _without_listing(text, patterns, choices, labels)
    concluded = _concluded(text, patterns)
    if concluded:
        return concluded, "the conclusion"
    approved = {found[1] for found in islice(patterns.listed.finditer(text), 60) if APPROVED.search(found[2])}
    if len(approved) == 1 and len(set(patterns.listed.findall(text))) > 1:
        return approved.pop(), "the only one listed as right"
    ending = patterns.ending.search(text, max(0, len(text) - 60))
    if ending:
        return ending[1], "the last word"
    mentioned = {
        found[found.lastindex or 0].upper()
        for found in patterns.mention.finditer(text)
        if found.lastindex != 5 or _is_label(text, found.start(5), found[5])
    }
    if len(mentioned) == 1:
        label = mentioned.pop()
        if not re.search(rf"\bnot\s+(?:option\s+)?\(?{re.escape(label)}\b", text, re.IGNORECASE):
            return label, "the only option mentioned"
        return None, "rules an option out without choosing one"
    quoted = _quoted(text, choices, labels) if choices else None
    if quoted:
        return quoted, "the only option quoted"
    places = {
        ORDINALS.index(found[1].lower()) if found[1] else int(found[2] or found[3]) - 1
        for found in ORDINAL.finditer(text)
    }
    if len(places) == 1 and not mentioned and min(places) < len(labels):
        return labels[places.pop()], "named by its place"
    return None, MANY_OPTIONS if mentioned else "names no option"


def _without_listing(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> str:
    """The text without the options as the question listed them, where several are repeated."""
    restated = [
        found
        for found in islice(patterns.listed.finditer(text), 60)
        if labels.index(found[1]) < len(choices) and _folded(found[2]) == _folded(choices[labels.index(found[1])])
    ]
    if len(restated) > 1:
        for found in reversed(restated):
            text = text[: found.start()] + text[found.end() :]
    return text


def _quoted(text: str, choices: tuple[str, ...], labels: str) -> str | None:
    """The option named by its text: the only one of all, of the conclusion, of the opening or of the last sentence."""
    said = RULED_OUT.sub("", text)
    opening, end = _opening(text, choices, labels)
    *earlier, last = [part for part in SENTENCE_END.split(text) if part.strip()] or [""]
    if earlier and _quoted_at_start(last, choices, labels) and IN_PASSING.search(last):
        return _quoted(". ".join(earlier), choices, labels)
    *before, turned = TURN.split(last)
    return (
        _only_quoted(text, choices, labels)
        or _only_quoted(said, choices, labels)
        or _only_quoted(said.rpartition("=")[2], choices, labels)
        or (opening if end == "sentence" else None)
        or (_only_quoted(turned, choices, labels) if before else None)
        or (opening if end == "clause" else None)
        or _only_quoted(last, choices, labels)
        or (opening if end == "subject" else None)
    )


def _opening(text: str, choices: tuple[str, ...], labels: str) -> tuple[str | None, str]:
    """The option a response begins with, and what it is there: a sentence, a clause such as 'Yes,' or a subject."""
    label = _quoted_at_start(text, choices, labels)
    if label is None:
        return None, ""
    choice = _folded(choices[labels.index(label)])
    rest = text.lstrip(QUOTING)[len(choice) :]
    end = OPENING_END.match(rest)
    if end is None or _quoted_at_start(rest[end.end() :], choices, labels):
        return label, "subject" if COPULA.match(rest) else ""
    if end[1] != ",":
        return label, "sentence"
    return label, "clause" if ADVERB.match(choice) else ""


def _without_choices(text: str, choices: tuple[str, ...]) -> str:
    """An option may itself say that nothing can be said: 'It cannot be determined'."""
    for choice in choices:
        text = re.sub(re.escape(choice.strip()), " ", text, flags=re.IGNORECASE) if choice.strip() else text
    return text


def _concluded(text: str, patterns: Patterns) -> str | None:
    concluded = None
    for start in deque(THEREFORE.finditer(text), maxlen=CONCLUSIONS_TRIED):
        for found in patterns.label.finditer(text, start.end(), start.end() + 80):
            between = text[start.end() : found.start("label")]
            if SENTENCE_END.search(between) or (concluded and CONCESSION.search(between)):
                break
            if (
                found["label"].isupper()
                and not NEGATION.search(between)
                and _is_label(text, found.start("label"), found["label"])
                and not _is_conditional(text, found.start("label"))
            ):
                concluded = found["label"]
    return concluded


@lru_cache(maxsize=4096)
def _folded(choice: str) -> str:
    return " ".join(plain(choice).casefold().strip(" .").split())


def _starts_with(said: str, choice: str) -> bool:
    said, wanted = said.casefold().lstrip(QUOTING), _folded(choice)
    return bool(wanted) and said.startswith(wanted) and not said[len(wanted) : len(wanted) + 1].isalnum()


def _quoted_at_start(said: str, choices: tuple[str, ...], labels: str) -> str | None:
    """The option whose text begins here; the longest, when one begins with another."""
    fitting = [
        (len(choice), label) for label, choice in zip(labels, choices, strict=False) if _starts_with(said, choice)
    ]
    return max(fitting)[1] if fitting else None


def _only_quoted(said: str, choices: tuple[str, ...], labels: str) -> str | None:
    """The one option whose text occurs; a text inside another option's longer text does not count."""
    folded = " ".join(said.casefold().split())
    found: list[str] = []
    for choice, label in sorted(zip(choices, labels, strict=False), key=lambda pair: -len(pair[0])):
        wanted = _folded(choice)
        if wanted and _occurs(wanted, folded):
            found.append(label)
            folded = folded.replace(wanted, " \0 ")
    return found[0] if len(found) == 1 else None


def _occurs(wanted: str, text: str) -> bool:
    """As words of their own; scripts without spaces have no such thing."""
    if wanted not in text or not wanted.isascii():
        return wanted in text
    return any(
        not text[max(0, found.start() - 1) : found.start()].isalnum()
        and not text[found.end() : found.end() + 1].isalnum()
        for found in re.finditer(re.escape(wanted), text)
    )
