"""Which option a response settles on: the rules behind the choice scorer."""

from __future__ import annotations

import re
from itertools import islice

from proctor.scorers.choice_asides import without_asides
from proctor.scorers.choice_contrast import drop_ruled_out
from proctor.scorers.choice_elimination import only_one_left
from proctor.scorers.choice_inference import infer_choice, read_verdicts
from proctor.scorers.choice_labels import is_conditional, is_label, mentioned_in, read_correction
from proctor.scorers.choice_listing import breaks_off, lists_options, skip_listing
from proctor.scorers.choice_mentions import gives_both
from proctor.scorers.choice_numbers import option_counted
from proctor.scorers.choice_patterns import (
    CALLED_WRONG,
    CLAUSE,
    CYRILLIC,
    CYRILLIC_ANSWER,
    DISMISSED,
    EITHER,
    FOLLOWERS,
    FOREIGN_LETTER,
    FOREIGN_LETTERS,
    FOREIGN_MARKERS,
    LAST_SENTENCE,
    LINKED,
    MANY_OPTIONS,
    MARKERS_TRIED,
    MAX_GAP,
    NAMING,
    NO_CHOICE,
    NOT_ONLY,
    ONE_OF_TWO,
    OWN_MARKERS,
    Patterns,
    patterns_for,
)
from proctor.scorers.choice_texts import choice_at_start, only_choice_in, starts_with_choice
from proctor.scorers.choice_wrong_asked import option_called_wrong
from proctor.scorers.contrast import rulings_before
from proctor.scorers.denial import is_denied
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import (
    CONNECTOR,
    NEGATION,
    OF_OTHERS,
    SENTENCE_END,
    TAIL,
    announces,
    first_turn,
    marker_ends,
    own_turn,
)
from proctor.scorers.reading import last_boxed, plain, without_struck
from proctor.scorers.refusals import find_refusal
from proctor.scorers.stance import is_hypothetical, is_supposed
from proctor.scorers.stance_words import TURN


def read_choice(
    text: str, labels: str, choices: tuple[str, ...], *, question: str = "", is_cut: bool = False
) -> tuple[str | None, str]:
    """The label settled on and how it was read, or None and why there is none."""
    patterns = patterns_for(labels)
    text = whole = _lower_articles(_latin(plain(without_struck(own_turn(text)))), choices)
    if not _ends_plainly(text, patterns):
        if len(text) <= MAX_BOTH_TEXT and choices and gives_both(text, patterns, choices, labels):
            return None, MANY_OPTIONS
        if verdicts := read_verdicts(text, labels):
            return verdicts
        text = without_asides(text, patterns, choices, labels)
        text = drop_ruled_out(text, patterns, choices, labels)
    for part in dict.fromkeys((first_turn(text), text)):
        settled = _settled(part, patterns, choices, labels)
        if settled is not None:
            return _settled_as_asked(settled, text, patterns, choices, labels, question)
    said = _without_choices(text, choices)
    lowered = said.lower()
    if any(words in lowered for words in NO_CHOICE) or _declines(said):
        return None, "declines to choose"
    if is_cut:
        return None, "cut off before an option was chosen"
    if not mentioned_in(text, patterns) and (counted := option_counted(text, choices, labels, question)):
        return counted, "the option with the number the response arrives at"
    label, how = infer_choice(text, patterns, choices, labels, question)
    if label is None and (wrong := option_called_wrong(text, patterns, choices, labels, question)):
        return wrong, "the only option said to be wrong, as was asked"
    if label is None and (left := only_one_left(whole, patterns, choices, labels)):
        return left, "the only option that is not ruled out"
    return label, how


def _settled_as_asked(
    settled: tuple[str | None, str],
    text: str,
    patterns: Patterns,
    choices: tuple[str, ...],
    labels: str,
    question: str,
) -> tuple[str | None, str]:
    """Where the false one is asked for, 'D is true; C is false' settles on C."""
    if settled[1] != SAID_CORRECT or not choices:
        return settled
    wrong = option_called_wrong(text, patterns, choices, labels, question)
    return (wrong, "the only option said to be wrong, as was asked") if wrong else settled


def _ends_plainly(text: str, patterns: Patterns) -> bool:
    """Most often nothing can matter before '… the answer is B.', and a look for what is set aside takes long."""
    if len(text) <= TAIL:
        return False
    tail = text[-TAIL:]
    lowered = tail.lower()
    end = next(marker_ends(tail, lowered), None) if len(lowered) == len(tail) else None
    return (
        end is not None
        and patterns.plainly.match(tail, end) is not None
        and not OF_OTHERS.search(tail, max(0, end - 40), end)
        and not any(rulings_before(tail))
        and first_turn(text) == text
    )


def _settled(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> tuple[str | None, str] | None:
    """What is stated, or stands by itself."""
    claim = _claimed(text, patterns, choices, labels)
    if claim is None:
        return _standing_alone(text, patterns, choices, labels)
    label, end, how = claim
    return read_correction(text, end, patterns) or (label, how)


def _latin(text: str) -> str:
    """Option letters of other scripts as the labels they stand for."""
    if text.isascii():
        return text
    text = FOREIGN_LETTER.sub(lambda found: FOREIGN_LETTERS[found[0]], text)
    return CYRILLIC_ANSWER.sub(lambda found: found[1] + found[2].translate(CYRILLIC), text)


def _lower_articles(text: str, choices: tuple[str, ...]) -> str:
    """'It is A planet' with a small 'a' where an option is 'A planet': it is no label there."""
    for choice in choices:
        if choice.startswith("A "):
            text = re.sub(rf"(?<=\w\s)A(?={re.escape(choice[1:].rstrip(' .'))})", "a", text)
    return text


MAX_BOTH_TEXT = 400
MAX_VERDICT = 8
SAID_CORRECT = "said to be correct"
_ENDS_VERDICT = lazy_pattern(r"(?s).{0,8}?(?:richtig|correcta)[)*_]*[;.]")
"""'A is correct; B is not': a verdict on what stands before it."""
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
        if is_label(text, found.start(1), found[1]) and not is_conditional(text, found.start(), found.end()):
            is_two = ONE_OF_TWO.search(text, max(0, found.start() - 80), found.start(1)) is not None
            claim = (None, found.end(), MANY_OPTIONS) if is_two else (found[1], found.end(), SAID_CORRECT)
    return claim


def _boxed(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> Claim | None:
    found = last_boxed(text)
    if found is None:
        return None
    start, content = found
    content = re.sub(r"\\(?:text|mathrm|textbf|mathbf)\s*\{([^{}]*)\}", r"\1", content).strip()
    label = _lone_label(content, patterns) or choice_at_start(content, choices, labels)
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
        if not previous and CALLED_WRONG.search(gap):
            return None
        if not announces(gap, MAX_GAP, NAMING) or _ENDS_VERDICT.match(text, end - MAX_VERDICT):
            break
        also = refused and LINKED.fullmatch(rest, previous, found.start())
        refused = bool(also) or NEGATION.search(gap) is not None
        previous = found.end()
        if refused:
            continue
        if not is_label(rest, found.start("label"), found["label"], found["open"]):
            continue
        return _stated(text, end, found, patterns, choices, labels)
    return _announced_text(rest, end, choices, labels)


def _stated(
    text: str, end: int, found: re.Match[str], patterns: Patterns, choices: tuple[str, ...], labels: str
) -> Claim | None:
    """What is made of the label that follows a marker: it may be dismissed, supposed, listed or one of two."""
    rest, label = found.string, found["label"].upper()
    own = choices[labels.index(label)] if labels.index(label) < len(choices) else ""
    if DISMISSED.match(rest, found.end()) and not starts_with_choice(
        rest[found.end() :].lstrip(").: ").replace("(", "\0", 1), own
    ):
        return None
    place = (end + found.start("label"), end + found.end())
    if is_supposed(text, *place) or is_hypothetical(text, *place):
        return None
    if label == labels[0] and lists_options(rest, found.start("label"), choices, labels):
        return None
    if label in "AI" and not found["open"]:
        label = choice_at_start(rest[found.start() :], choices, labels) or label
    second = patterns.joined.match(rest, found.end())
    is_two = (
        second
        and second[1] != label
        and not CLAUSE.match(rest, second.end())
        and is_label(rest, second.start(1), second[1])
    )
    gap = rest[: found.start("label")]
    if is_two or EITHER.search(gap) or NOT_ONLY.search(gap):
        return None, end + found.end(), MANY_OPTIONS
    return label, end + found.end(), "announced"


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
    label = choice_at_start(said, choices, labels) or only_choice_in(said, choices, labels)
    return (label, end + len(sentence), "announced by its text") if label else None


def _standing_alone(text: str, patterns: Patterns, choices: tuple[str, ...], labels: str) -> tuple[str, str] | None:
    """A response, its last line or its beginning that is just a label; a listing of the options is none of these."""
    text = skip_listing(text, patterns, choices, labels)
    found = patterns.only.fullmatch(text)
    if found:
        return found[1].upper(), "the whole response"
    lines = {found.group(1) for found in islice(patterns.item.finditer(text), 60)}
    last_line = text[text.rfind("\n") + 1 :].removeprefix("A: ")
    found = patterns.only.fullmatch(last_line) or patterns.only.fullmatch(LAST_SENTENCE.split(last_line)[-1])
    if found and (found[1].isupper() or len(last_line) > 1):
        return found[1].upper(), "the last line"
    if breaks_off(text, patterns, labels):
        return None
    lead = patterns.lead.match(text)
    if len(lines) > 1 and not (lead and lead[1] != labels[0]):  # a list of the options begins with the first
        return None
    if lead and is_supposed(text, *lead.span(1), is_seeming_enough=True):
        return None
    if lead and not patterns.joined.match(text, lead.end(1)):
        return read_correction(text, lead.end(1), patterns) or (lead[1].upper(), "the response begins with it")
    if choices and text[:1] in labels and text[1:2] == " ":
        own = choices[labels.index(text[0])]
        is_article = text[0] in "AI" and text[2 + len(own) : 3 + len(own)] == " "  # 'A thermometer is for …'
        is_subject = (
            text[0] not in "AI"
            and FOLLOWERS.match(text, 1)
            and len(mentioned_in(text, patterns)) == 1
            and not is_denied(text, 0, 1)
        )
        if is_subject or (starts_with_choice(text[2:], own) and not is_article):
            return text[0], "the response begins with it"
    return None


def _declines(text: str) -> bool:
    """Whether the text declines to answer and does not turn to an answer right away: 'Hard to say, but …'."""
    refusal = find_refusal(text)
    if refusal is None:
        return False
    turn = TURN.search(text, refusal.end())
    return turn is None or re.search(r"[.!?。！？\n]\s*\S", text[refusal.end() : turn.start()]) is not None


def _without_choices(text: str, choices: tuple[str, ...]) -> str:
    """An option may itself say that nothing can be said: 'It cannot be determined'."""
    for choice in choices:
        text = re.sub(re.escape(choice.strip()), " ", text, flags=re.IGNORECASE) if choice.strip() else text
    return text
