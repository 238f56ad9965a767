"""Languages that are left out by more words than one: `every language that isn't English`, `除了泰语都不要`."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.planner.phrases import Phrases

_WORDS = r"(?: [\w-]+){0,2}"
_ALL_BUT = re.compile(
    rf"\b(?:all|every|any|each|(?:the )?other|(?:the )?remaining)(?: of)?{_WORDS} languages?,? "
    r"(?:(?:that|which) (?:is|are)(?:n['’]t| not)(?: in)?|but(?: not)?|save(?: for)?|than|except(?: for)?|other than"
    r"|besides|apart from)(?: in)?\b"
    rf"|\b(?:alle[nr]?|jede[rnm]?|sämtliche[nr]?|(?:die |den )?anderen?){_WORDS} sprachen?,? "
    r"(?:die nicht|außer|bis auf|ohne|als|ausgenommen|mit ausnahme (?:von|des)|abgesehen von)(?: auf)?\b"
    rf"|\b(?:todos los|todas las|cualquier|cada|(?:los|las) demás|(?:los )?otros){_WORDS} (?:idiomas?|lenguas?),? "
    r"(?:que no (?:sean?|son|es)|menos|salvo|excepto|distint[oa]s? (?:del?|al?)|aparte del?)(?: el| en)?\b"
    rf"|\b(?:toutes les|chaque|n['’]importe quelle|(?:les |d['’])autres){_WORDS} langues?,? "
    r"(?:autres? que|sauf|hors|hormis|excepté|que|qui ne (?:sont|soient) pas|qui n['’]est pas"
    r"|à l['’]exception (?:de|du)|à part)(?: l['’]| le)?",
    re.IGNORECASE,
)
_NOTHING_ELSE = re.compile(
    r"除了?(?P<kept>[^,，。;；]{1,20}?)(?:以外|之外|外)?[,，]?(?:其他|其余|别的)?的?(?:语言)?(?:都|全都|全部|一概)"
    r"(?:不要|不测|不跑|不用|去掉|排除|跳过)"
)


def merge_left_out(phrases: Phrases) -> None:
    """Make one word that leaves out what follows of several, and of a double refusal one that keeps it."""
    for found in _ALL_BUT.finditer(phrases.text):
        _set(phrases, found.start(), found.end(), "except")
    for found in _NOTHING_ELSE.finditer(phrases.text):
        _set(phrases, found.start(), found.start("kept"), "filler")
        _set(phrases, found.end("kept"), found.end(), "filler")


def _set(phrases: Phrases, start: int, end: int, kind: str) -> None:
    inside = [at for at, item in enumerate(phrases.items) if start <= item.start and item.end <= end]
    if not inside or any(phrases.items[at].kind in ("model", "benchmark", "language") for at in inside):
        return
    first, last = phrases.items[inside[0]], phrases.items[inside[-1]]
    meant = replace(first, meanings=((kind, ""),), last=last.last, end=last.end, number=None)
    phrases.items[inside[0] : inside[-1] + 1] = [meant]
