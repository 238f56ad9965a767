"""`all benchmarks about science`: every benchmark that fits, not the usual one alone."""

from __future__ import annotations

import re

from proctor.planner.reading import Reading

_WORDS = r"(?:[ -][\w'-]+){0,6}?[ -]"
_EVERY = re.compile(
    rf"\b(?:all|every one|each one)(?: of)?(?: the| our| your)?{_WORDS}"
    r"(?:benchmarks|evals|tests|suites|datasets|test sets)\b"
    rf"|\b(?:every|each){_WORDS}(?:benchmark|eval|dataset|test set) (?:there is|you have|available|about|on|for|in)\b"
    r"|\bevery (?:single )?(?:benchmark|eval|dataset|test set)\b"
    r"|\b(?:benchmarks|tests|datasets|suites)\b[^.;:]{0,40}?[\s(,]+(?:all of (?:them|it)|all)\b"
    rf"|\b(?:alle[nrs]?|sämtliche[nr]?)(?: de[rnm])?{_WORDS}[\w-]*(?:benchmarks?|tests|datensätzen?)\b"
    r"|\b[\w-]*(?:benchmarks|tests)\b[^.;:]{0,40}?[\s(,]+(?:alle|allesamt|sämtliche)\b"
    rf"|\b(?:todos los|todas las|cada uno de los|cada una de las){_WORDS}?(?:benchmarks?|pruebas|tests|conjuntos)\b"
    r"|\b(?:benchmarks|pruebas|tests)\b[^.;:]{0,60}?[\s(,]+(?:todos|todas)\b"
    rf"|\b(?:tous les|toutes les|l'ensemble des|chacun des|chacune des){_WORDS}?(?:benchmarks?|tests|jeux|épreuves)\b"
    r"|\b(?:benchmarks|tests|épreuves)\b[^.;:]{0,60}?[\s(,]+(?:tous|toutes)\b"
    r"|(?:모든|전체)\s?(?:[^\s,.]+\s){0,4}?[^\s,.]*(?:벤치마크|벤치|benchmark)|(?:벤치마크|벤치|benchmark)\S{0,2}\s?(?:전부|모두|다|전체)"
    r"|(?:すべて|全て|全部|全)の?[^、。,]{0,20}?(?:ベンチ|benchmark)|(?:ベンチマーク|ベンチ|benchmark)(?:を|は|で|が)?(?:すべて|全て|全部|全種)"
    r"|(?:所有|全部|每个|每一个)的?[^,。、]{0,20}?(?:基准|测试集|评测集|数据集|测试|benchmark)"
    r"|(?:基准|测试集|评测集|benchmark)[^,。、]{0,6}?(?:全部|都|全都)"
    # `everything you have in Japanese`
    r"|\b(?:everything|anything|whatever)(?: (?:that|which))?"
    r"(?: (?:you have|you've got|we have|there is|is there|exists|is available|available))?"
    r"(?: (?:that is|that's|written))? (?:in|about|on)\b"
    r"|\balles,?(?: was (?:da ist|es (?:gibt|da gibt)|ihr habt|du hast|vorhanden ist),?)? (?:auf|in|zu|über)\b"
    r"|\btodo(?: lo que)?(?: (?:hay|haya|exista|existe|tengas|tengáis|tengan))? (?:en|sobre)\b"
    r"|\btout(?: (?:ce qui existe|ce que vous avez|ce que tu as|ce qu'il y a|ce qui est disponible))? (?:en|sur)\b"
    r"|(?:語|学)(?:で書かれた|の)?もの(?:を|は)?(?:全部|すべて|全て)(?!で)|(?:語|学)は(?:全部|すべて|全て)(?!で)"
    r"|(?:어|학)(?:로|으로)? ?(?:된|있는|되어 있는)? ?(?:거|것|건)(?:을|는|은)? ?(?:전부|모두|다)(?! ?(?:합|해서))"
    r"|(?:语|文|学)的?(?:东西|内容)?(?:全部|所有的?|全都)都?(?!加|一共)",
    re.IGNORECASE,
)
_OF_EACH = re.compile(
    r"\b(?:per|for each|from each|in each|of each|pro|je|aus jedem|par|pour chaque|de chaque|por|de cada|para cada) "
    r"(?:benchmark|dataset|suite|test set|datensatz|jeu de données|conjunto)\b"
    r"|벤치마크(?:당|마다|별로)|ベンチマーク(?:ごと|毎|あたり|を各|につき)|各ベンチマーク|每个(?:基准|测试集|数据集|benchmark)",
    re.IGNORECASE,
)
"""`60 per benchmark`, where none is named: of every one that is about the subject."""
_SAYS_NO_MORE = ("unknown", "allof", "each", "filler")


def read_every(reading: Reading) -> None:
    """Set whether every benchmark about a subject is meant."""
    phrases = reading.phrases
    found = _EVERY.search(phrases.text)
    named = [at for at, item in enumerate(phrases.items) if item.kind == "benchmark"]
    if found is None and not named:
        found = _OF_EACH.search(phrases.text)
    if found is None or any(at == 0 or phrases.items[at - 1].kind != "except" for at in named):
        return
    reading.wants_every = True
    inside = [at for at, item in enumerate(phrases.items) if found.start() <= item.start < found.end()]
    for at in (inside[0], inside[-1]) if inside else ():
        if phrases.items[at].kind in _SAYS_NO_MORE:
            phrases.use(at)
