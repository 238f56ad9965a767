"""Numbers that count nothing of a plan: `by 5pm`, `3 May`, `ticket #4521`, `our 40 customers`, `in 2026`, `第3次`."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.planner.phrases import Phrases

_MONTHS = (
    r"january|jan|februar[y]?|feb|march|märz|mars|marzo|april|abril|avril|may|mai|mayo|june|juni|juin|junio|july|juli"
    r"|juillet|julio|august|août|agosto|sept(?:ember|embre|iembre)?|o[ck]t(?:ober|obre|ubre)|nov(?:ember|embre|iembre)"
    r"|de[cz](?:ember|iembre)|décembre|januar|janvier|enero|febrero|février"
)
_NOUNS = (
    r"days?|weeks?|months?|years?|people|persons?|users?|customers?|clients?|colleagues|employees|engineers|teams?"
    r"|[gtc]pus?|cores|pages?|laptops?|tagen?|wochen?|monaten?|jahren?|leuten?|personen|kund(?:en|innen)|nutzern?"
    r"|mitarbeitern?|kollegen|seiten?|días?|semanas?|mes(?:es)?|años?|personas|usuarios|clientes|empleados|colegas|páginas?"
    r"|jours?|semaines?|mois|ans|années?|personnes|utilisateurs|employés|collègues"
)
_BEHIND = re.compile(
    rf":\d\d(?!\d)|[ -]?(?:pm|a\.m\.|p\.m\.|uhr|o'clock|{_NOUNS})(?![\w-])"
    r"|명|월|일(?!\w*문)|년|번째|차(?!이)|세대|번 ?(?:과제|프로젝트|이슈|티켓|버전|항목)|시까지"
    r"|(?:人(?!民|工)|名(?!前)|月|日(?![本文语語元円])|回目|度目|番|号|年|ヶ月|か月|時(?!間)|点(?:钟|之前|以前|半|整|前(?![后後])))"
    r"|个(?:人|客户|用户|同事|月|星期)|天(?!气)|周(?:内|之内|以内)",
    re.IGNORECASE,
)
_DATE_BEHIND = re.compile(
    rf"(?:st|nd|rd|th|er|\.)?[ -]?(?:of |de )?(?:{_MONTHS})(?! (?:be|do|not|suffice))(?!\w)", re.IGNORECASE
)
_DATE_BEFORE = re.compile(rf"(?:^|[\s(,;])(?:{_MONTHS})\s+(?:the )?$", re.IGNORECASE)
_BEFORE = re.compile(
    r"(?:(?:^|[\s(,;])(?:ticket|issue|bug|project|projekt|proyecto|projet|report|bericht|rapport|informe|version|sprint|phase|step|chapter"
    r"|kapitel|capítulo|chapitre|no\.|nr\.|n[°º]|team|section|page|seite|étape|fase)"
    r"|(?:team|group|staff|class|gruppe|équipe|groupe|equipo|grupo) (?:of|de|von)"
    r"|#|№|第|프로젝트|티켓|이슈|プロジェクト|チケット|项目|工单)\s?#?\s*$",
    re.IGNORECASE,
)
_CLOCK = re.compile(
    r"(?:^|\s)(?:avant|vers|à|dès|before|by|antes de las?|a las?|hacia las?|vor|gegen|um) $", re.IGNORECASE
)
_HOUR = re.compile(r"\s?(?:h(?!\w)|heures\b|horas\b)", re.IGNORECASE)
_YEARS = range(2015, 2040)
_YEAR = re.compile(
    r"(?:^|\s)(?:in|of|for|since|by|our|the|stand|ab|seit|für|en|de|del|depuis|unseren?|nuestro|notre) $"
)


def drop_other_numbers(phrases: Phrases) -> None:
    """Make of each such number, and of the hour behind it, words that are not understood: no slot takes them."""
    for at, item in enumerate(phrases.items):
        if item.number is None:
            continue
        is_hour = _is_hour(phrases, at)
        if is_hour or _is_other(phrases, at):
            for place in (at, at + 1) if is_hour else (at,):
                phrases.items[place] = replace(phrases.items[place], meanings=(("unknown", ""),), number=None)


def _is_other(phrases: Phrases, at: int) -> bool:
    item = phrases.items[at]
    before, behind = phrases.text[: item.start].lower(), phrases.text[item.end :].lower()
    value, follows = item.number or 0, phrases.items[at + 1 : at + 2]
    is_day = 0 < value <= 31
    if _BEHIND.match(behind) or (is_day and _DATE_BEHIND.match(behind)):
        return True
    if value <= 12 and phrases.language == "en" and re.match(r" ?am\b", behind):
        return True
    said = phrases.before(at, most=1)
    if phrases.is_kind(said, *_NAMED) or (phrases.is_kind(said, "currency") and not phrases.words(said).isalpha()):
        return False  # `seed #7`, `$2`
    if follows and follows[0].kind in _COUNTED:
        return before.endswith("第")  # `第3次`
    is_date = is_day and _DATE_BEFORE.search(before)
    return bool(is_date or _BEFORE.search(before) or (value in _YEARS and _YEAR.search(before)))


_NAMED = ("temperature", "top_p", "seed", "limit", "level", "maxtoken", "interval", "shot", "epoch")
_COUNTED = ("sample", "percent", "currency", "shot", "token", "epoch", "minutes", "seconds", "request", "points",
            "counter", "times", "fractionbar")  # fmt: skip


def _is_hour(phrases: Phrases, at: int) -> bool:
    """`avant 17h`: a time of the day, and no length of time."""
    item = phrases.items[at]
    is_said = _CLOCK.search(phrases.text[: item.start]) and _HOUR.match(phrases.text, item.end)
    return bool(is_said) and at + 1 < len(phrases.items) and 5 < (item.number or 0) <= 24
