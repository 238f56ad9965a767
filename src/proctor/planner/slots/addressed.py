"""Languages of those who ask, and of what is written to them: `our French customers`, `answer in German`."""

from __future__ import annotations

import re

from msgspec.structs import replace

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.phrases import Phrases

_PEOPLE = (
    r"(?:customers?|clients?|colleagues?|users?|teams?|boss|manager|company|companies|start-?up|office|branch|department"
    r"|partners?|students?|friends?|professor|market|kund\w*|kolleg\w*|nutzer\w*|chef\w*|teams?|firma|büro|abteilung"
    r"|niederlassung|freund\w*|partner\w*|student\w*)"
)
_MODELS = r"(?:models?|modell\w*)"
_BEHIND = re.compile(
    rf"\s+(?:[\w-]+\s+)?{_PEOPLE}\b|\s+(?:[\w-]+\s+)?{_MODELS}\b"
    r"|(?:の)?(?:チーム|お?客|顧客|同僚|ユーザ|会社|支社|上司|モデル)|的?(?:团队|客户|同事|用户|公司|老板|模型)"
    r"| ?(?:팀|고객|동료|사용자|회사|지사|상사|모델)",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"\b(?:clientes?|colegas?|equipos?|usuari[oa]s?|empresas?|oficina|jef[ea]|socios?|modelos?|clients?|collègues?|équipes?"
    r"|utilisateurs?|entreprises?|bureau|patronn?e?|chef|modèles?)\s+$"
    rf"|\b(?:{_PEOPLE}|{_MODELS})\s+(?:is|are|speaks?|ist|sind|spricht|sprechen)\s+(?:all\s+)?$",
    re.IGNORECASE,
)
_PLEASE = (
    r"(?:\s+(?:please|bitte|por favor|s'il (?:te|vous) plaît|me|it|this|should|must|can|be|is|are|to|written|sein"
    r"|sollen?|muss|soll))*"
)
_ASKED_FOR = re.compile(
    r"(?:^|[.;:,!?(]\s*|\b(?:and|und|y|et)\s+)(?:please\s+|bitte\s+)?"
    r"(?:(?:answer|reply|respond|explain|antworte[nt]?|erklär\w*|responde[dr]?|contesta|explica|réponds|répondez|explique)"
    r"|(?:[\w']+\s+){0,3}(?:reports?|results?|summary|bericht\w*|ergebnisse?|informe|resultados|rapport|résultats))"
    rf"{_PLEASE}\s+(?:in|auf|en)\s+$",
    re.IGNORECASE,
)
_ENDS = re.compile(r"\s*(?:$|[,;:.!?)]|please|bitte|por favor)", re.IGNORECASE)
_TOLD = re.compile(
    r"\s?(?:で(?:の)?(?:答え|回答|返事|説明|報告|教え)|로 ?(?:답|대답|설명|보고|알려)|(?:回答|回复|解释|答复|写报告))"
    r"|\s+version of the (?:report|summary|results)"
)


def drop_addressed(phrases: Phrases, catalogue: PlannerCatalogue) -> None:
    """Where the benchmark that is named is in another language, or another language is named as well."""
    for at, item in enumerate(phrases.items):
        if item.kind == "language" and _is_addressed(phrases, at) and _is_spare(phrases, catalogue, at):
            phrases.items[at] = replace(item, meanings=(("unknown", ""),))


def _is_addressed(phrases: Phrases, at: int) -> bool:
    item, text = phrases.items[at], phrases.text
    before = text[: item.start]
    is_asked = _ASKED_FOR.search(before) and _ENDS.match(text, item.end)
    return bool(is_asked or _BEFORE.search(before) or _BEHIND.match(text, item.end) or _TOLD.match(text, item.end))


def _is_spare(phrases: Phrases, catalogue: PlannerCatalogue, at: int) -> bool:
    """Whether the sentence says without it which language is asked."""
    language = phrases.items[at].value
    if any(item.kind == "language" and item.value != language for item in phrases.items):
        return True
    named = [catalogue.benchmark(item.value) for item in phrases.items if item.kind == "benchmark"]
    known = [item for item in named if item is not None]
    return bool(known) and all(not item.languages for item in known)
