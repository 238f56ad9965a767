"""The words benchmarks are sorted by: language, subject, task and form. One vocabulary, used everywhere."""

from __future__ import annotations

from collections.abc import Mapping

from proctor.domain.errors import did_you_mean

_CODES = """
aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv dz ee el
en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie ig ii ik io is it iu
ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na
nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so
sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES = (*_CODES.split(), "multi")
"""ISO 639-1 codes; `multi` for several languages at once: each sample then says its own."""

SUBJECTS = (
    "general",
    "mathematics",
    "science",
    "medicine",
    "law",
    "history",
    "geography",
    "economics",
    "humanities",
    "social-science",
    "commonsense",
    "linguistics",
    "logic",
    "programming",
    "tools",
    "safety",
    "other",
)
TASKS = ("knowledge", "reasoning", "value", "alignment")
FORMS = ("binary", "choice", "short", "open", "code", "tool")

TAXONOMY: Mapping[str, tuple[str, ...]] = {
    "language": LANGUAGES,
    "subject": SUBJECTS,
    "task": TASKS,
    "form": FORMS,
}
SHOWN = 20


def refuse_foreign_words(tags: Mapping[str, str]) -> None:
    """Raise ValueError for a word that is not in the vocabulary, and for a name that is nearly one of the four."""
    for name, word in tags.items():
        known = TAXONOMY.get(name)
        if known is None:
            if hint := did_you_mean(name, TAXONOMY):
                raise ValueError(f"there is no tag {name!r}.{hint} Any other name of your own is free to use")
            continue
        if word not in known:
            listed = ", ".join(known) if len(known) <= SHOWN else "an ISO 639-1 code such as en, de or ko, or multi"
            raise ValueError(f"the {name} {word!r} is not in the vocabulary.{did_you_mean(word, known)} Use {listed}")
