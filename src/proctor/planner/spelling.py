"""Names that are nearly right: one letter wrong, missing, too many, or two exchanged."""

from __future__ import annotations

from msgspec.structs import replace

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.lexicon import single_words
from proctor.planner.names import PLAIN_WORDS, known_names, squash
from proctor.planner.phrases import Phrase
from proctor.planner.phrasing import read_again
from proctor.planner.reading import Reading

SHORTEST = 4
SHORTEST_WORD = 6
FAMILY_WORDS = ("sonnet", "haiku", "opus", "claude", "gemini", "terra", "astra")


def mend_spelling(reading: Reading, catalogue: PlannerCatalogue) -> None:
    """Read an unknown word as the only name that is one slip away from it, and say so."""
    phrases = reading.phrases
    names = known_names(catalogue).squashed
    items = phrases.items
    families: dict[int, str] = {}
    at = 0
    while at < len(items):
        if items[at].kind != "unknown":
            at += 1
            continue
        for last in range(min(at + 4, len(items) - 1), at - 1, -1):
            if not _is_one_word(reading, at, last):
                continue
            tokens = phrases.tokens[items[at].first : items[last].last + 1]
            written = squash("".join(token.text for token in tokens))
            if len(written) < SHORTEST or written in PLAIN_WORDS:
                continue
            near = [name for name in names if abs(len(name) - len(written)) <= 1 and _is_one_slip(written, name)]
            family = [name for name in FAMILY_WORDS if _is_one_slip(written, name)]
            meanings = {names[name] for name in near} or {(("family", name),) for name in family}
            if len(meanings) == 1:
                (meaning,) = meanings
                merged = replace(items[at], meanings=meaning, last=items[last].last, end=items[last].end)
                reading.corrections.append((phrases.text[merged.start : merged.end], meaning[0][1]))
                if meaning[0][0] == "family" and merged.first == merged.last:
                    families[merged.first] = meaning[0][1]
                items[at : last + 1] = [merged]
                break
        at += 1
    _mend_words(reading)
    if families:  # `sonet 5` is a version of sonnet
        kept, reading.corrections = reading.corrections, []
        phrases.items[:] = read_again(phrases, families, catalogue)
        mend_spelling(reading, catalogue)
        reading.corrections = list(dict.fromkeys([*kept, *reading.corrections]))


def _mend_words(reading: Reading) -> None:
    """Read an unknown word as the only word of these kinds that is one slip away: `quesitons`, `commonsence`."""
    phrases = reading.phrases
    for at, item in enumerate(phrases.items):
        written = phrases.text[item.start : item.end].lower()
        if item.kind != "unknown" or item.first != item.last or len(written) < SHORTEST_WORD:
            continue
        near = {
            concepts: word
            for word, concepts in single_words(phrases.language)
            if abs(len(word) - len(written)) <= 1 and _is_one_slip(written, word)
        }
        if len(near) == 1:
            ((concepts, word),) = near.items()
            reading.corrections.append((phrases.text[item.start : item.end], word))
            phrases.items[at] = replace(item, meanings=concepts)


def _is_one_word(reading: Reading, first: int, last: int) -> bool:
    """Whether these phrases are written together or with hyphens, as a name is."""
    items: list[Phrase] = reading.phrases.items
    tokens = reading.phrases.tokens
    parts = tokens[items[first].first : items[last].last + 1]
    after = tokens[items[last].last + 1 :][:1]
    is_whole = not (after and after[0].gap in ("-", "_"))
    return is_whole and all(token.gap in ("-", "_", "") for token in parts[1:]) and parts[-1].kind != "cjk"


def _is_one_slip(written: str, name: str) -> bool:
    """One letter changed, added or left out, or two neighbours exchanged; never in a digit: gpt-4 is not gpt-5."""
    if written == name or [c for c in written if c.isdigit()] != [c for c in name if c.isdigit()]:
        return False
    shared = 0
    while shared < min(len(written), len(name)) and written[shared] == name[shared]:
        shared += 1
    one, other = written[shared:], name[shared:]
    if len(one) == len(other):
        is_exchanged = len(one) > 1 and one[0] == other[1] and one[1] == other[0] and one[2:] == other[2:]
        return one[1:] == other[1:] or is_exchanged
    return one[1:] == other if len(one) > len(other) else one == other[1:]
