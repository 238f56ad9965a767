"""What statements of a choice look like, in the languages benchmarks are written in."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from proctor.scorers.lazy_pattern import lazy_pattern

MARKERS_TRIED = 25
MAX_GAP = 160
OWN_MARKERS = (
    "choose", "choice", "select", "pick", "go with", "going with", "opt for", "correct option", "best option",
    "right option", "only option", "response", "guess", "ans:", "correct:", "richtig", "correcta", "elijo",
    "choisis", "bonne est",
)  # fmt: skip
FOREIGN_MARKERS = (
    "我选择", "我选", "选择", "应选", "故选", "選択", "正解", "正しいのは", "正しくは", "正确选项", "正确的是",
    "选项为", "选项是", "선택", "выбираю", "вариант", "أختار", "wähle", "lösung", "escolho", "scelgo",
)  # fmt: skip
FOREIGN_LETTERS = {
    **dict(zip("أبجد", "ABCD", strict=True)), "ا": "A", **dict(zip("কখগঘ", "ABCD", strict=True)),
    **dict(zip("कखगघ", "ABCD", strict=True)), **dict(zip("①②③④⑤", "ABCDE", strict=True)),
    **dict(zip("ⒶⒷⒸⒹⒺ", "ABCDE", strict=True)),
}  # fmt: skip
FOREIGN_LETTER = lazy_pattern(rf"(?<!\w)[{''.join(FOREIGN_LETTERS)}](?!\w)|[①②③④⑤]")
CYRILLIC_ANSWER = lazy_pattern(
    r"((?:ответ|вариант)\w*\s*[:—–-]?\s*\**\(?)([АБВГСЕ])(?=\)?\**[.\s]*(?:$|\n|\)))", re.IGNORECASE
)
CYRILLIC = str.maketrans("АБВГСЕабвгсе", "ABBDCEABBDCE")  # В looks like B, С like C; Б and Г only count

LINKED = lazy_pattern(r"[\W_]*(?:or|nor|and|und|oder|ou|o|y)?[\W_]*")
LAST_SENTENCE = lazy_pattern(r"(?<=[.!?。])\s+")
CHOSEN_BY_OTHERS = lazy_pattern(
    r"\b(?:students?|people)\b[^.,\n]{0,40}$|\b(?:many|others|mistakes?|tempt\w*)\b[^.,\n]{0,20}$", re.IGNORECASE
)
CALLED_WRONG = lazy_pattern(
    r"\b(?:wrong|incorrect\w*|false|falsch\w*|faux|fausses?|mauvaises?|erróne[oa]s?)\b|错|錯|不正确|不正確|誤|間違|틀린|오답",
    re.IGNORECASE,
)
"""'Respuestas incorrectas: A' announces nothing."""
WRONG_ASKED = lazy_pattern(
    rf"{CALLED_WRONG.pattern}|\b(?:not|except|never|least|nicht|kein\w*|au(?:ß|ss)er|pas|sauf|aucune?|no|excepto|salvo)\b"
    r"|n['’]t\b|ない|ません|ではな|않|아닌|없|不|非|除",
    re.IGNORECASE,
)
"""A question for the wrong option, or for what is not so: there 'False: B' is the answer."""
CALLED_WRONG_BEFORE = lazy_pattern(
    rf"(?:{CALLED_WRONG.pattern})[^.,;!?。、\n]{{0,16}}[:：]\s?[(\[*_]{{0,3}}\Z", re.IGNORECASE
)
NAMING = lazy_pattern(
    r"\b(?:option|choice|letter|answer|opción|opção|réponse|variante?)\b|选项|選択肢|번", re.IGNORECASE
)
# A capital 'A' or 'I' is a label, not an English word, when one of these follows it.
FOLLOWERS = lazy_pattern(
    r"\s+(?:because|since|as|and|or|is|for|which|due|given|but|not|with|by|based|would|in|it\sis|fits"
    r"|oder|und|ist|statt|weil|noch|nor|ni|ou|et|est|mais|plutôt|o|y|es|sino|porque|en)\b|\s*[^\sA-Za-z0-9'’]|\s*(?:\n|$)"
)
# What is said of an option, not of a thing: 'A scheidet aus'.
PREDICATE = lazy_pattern(
    r"\s+(?:fails|does|was|has|seems|looks|sounds|contradicts|remains|can['’]?t|cannot"
    r"|als|sowie|wie|passt|stimmt|scheidet|fällt|klingt|scheint|bleibt|trifft|kommt"
    r"|ne|n['’]est|se|aussi|semble|convient|reste|como|no|parece|queda)\b"
)
JOINED = (
    r"[)\]*_.\"'}]*\s*(?:,|/|&|\b(?:and|or|und|oder|et|ou|y|o|и|или)\b|和|或|と|か|또는|와|과)\s*"
    r"(?:\b(?:option|also|possibly|maybe)\b\s*)?[(\[*_\"']*"
)
ALTERNATIVE = lazy_pattern(
    r"[)\]*_\"'}]*\s*,?\s*(?:\b(?:or|nor|oder|noch|ou|ni|o|или)\s+|或者?\s*|또는\s*|나\s+|か、?\s*)"
    r"(?:option\s|the\s)?[(\[*_\"']*",
    re.IGNORECASE,
)
CLAUSE = lazy_pattern(r"[)\]*]*\s+(?:is|was|are|has|cannot|can't|would|does|isn't|seems|could|might)\b")
ORDINALS = {
    word: place
    for words in (
        "first second third fourth fifth", "erste zweite dritte vierte fünfte", "premier second - - -",
        "première deuxième troisième quatrième cinquième", "primera segunda tercera cuarta quinta",
        "primero segundo tercero cuarto quinto", "一 二 三 四 五", "첫 두 세 네 다섯", "1 2 3 4 5",
    )
    for place, word in enumerate(words.split())
}  # fmt: skip
_ORDINAL = "|".join(sorted((word for word in ORDINALS if word.isalpha() and len(word) > 3), key=len, reverse=True))
ORDINAL = lazy_pattern(
    rf"\b(?:the|die|der|la|le)\s+({_ORDINAL})n?\s+(?:option|choice|answer|one|statement|alternative|antwort"
    rf"|möglichkeit|aussage"
    r"|réponse|proposition|opción|respuesta|afirmación|alternativa)\b"
    r"|\b(?:option|choice|answer|opción|antwort|вариант)\s+#?([1-5])(?![\d.,]*\d)|([1-5])(?:번|番目?の|番(?=です|だ|[。.\s]|\Z))"
    rf"|\b(?:the|die|der|la|le|el|den|das)\s({_ORDINAL})n?(?:[.!\s]*\Z|,\s(?=(?:not|nicht|non|pas|no|y\sno)\b))"
    r"|\b\w{0,16}möglichkeit\s#?([1-5])(?![\d.,]*\d)"
    r"|第([一二三四五1-5])(?:个|個|项|項)|(첫|두|세|네|다섯)\s?번째",
    re.IGNORECASE,
)
CONCLUDES = lazy_pattern(
    r"\b(?:so|therefore|thus|hence|(?:that|which)\s(?:only\s)?leaves(?:\sonly)?|daher|damit|somit|folglich|demnach|also"
    r"|bleibt(?:\snur)?|donc|reste(?:\splus\sque)?|por\s(?:lo\s)?tanto|así\sque|de\smodo\sque|queda(?:\ssolo)?)\b"
    r"|因此|所以|故选|よって|したがって|따라서|그러므로",
    re.IGNORECASE,
)
"""What leads to a conclusion: 'That leaves …'."""
APPROVED = lazy_pattern(
    r"(?<!not )(?<!in)\b(?:yes|right|correct[oa]?|true|fits|richtig|wahr|verdader[oa]|vraie?|juste)\b|[✓✔✅]|正确|对|對"
    r"|正しい|맞",
    re.IGNORECASE,
)
EITHER = lazy_pattern(r"\b(?:either|both|neither|entweder|sowohl|soit|tanto|o\sbien)\W*$", re.IGNORECASE)
# 'Both A and B is correct', 'A oder B richtig', 'AとBが正解', '不仅A正确': one of two that are right.
ONE_OF_TWO = lazy_pattern(
    r"(?:\bboth\s[^.,;\n]{1,60}\sand\s|(?-i:(?<!\w)[A-Z])[)\]*_]{0,3}\s(?:or|oder|ou|o)\s(?:(?:option|die|la)\s)?"
    r"|[A-Z][)\]*_]{0,3}\s?(?:[と和或か、及も]|[와과도]|및|또는)\s?|不[仅但只]是?)[(\[*_\"']{0,8}\Z",
    re.IGNORECASE,
)
VERDICT = (
    r"[)\]*_.\"'}]*\s*+(?:is|was|must\ be|would\ be|ist|est|es|é|è|は|が|是|이|가)?\s*+"
    r"(?:the|a|la|die|le|el|il|o|clearly|definitely|indeed)?\s*+(?:most\s|only\s|single\s)?"
    r"(?:correct|right\b(?!\s(?:away|now|off|there|here|from)\b)"
    r"|fits\b|best\b|better\b|it\ is\b|true\b|answer|accurate|appropriate|正解|正确|正確|richtig"
    r"|正しい(?:です(?!か)|と[思考]|。|\Z)"
    r"|korrekt|bonne|correcta?\b|correto|corretta|верн|правильн|정답|맞)"
)
THEREFORE = lazy_pattern(
    r"(?:\b(?:so|therefore|thus|hence|consequently|final|it['’]s|it is|must be|has to be|leaves|leaning towards?"
    r"|i['’]d say|also|daher|donc|je dirais|por lo tanto|поэтому)\b"
    r"|因此|所以|只有|よって|したがって|따라서|ので|므로)"
    r"[^.\n。]{0,80}?",
    re.IGNORECASE,
)
NOT_ONLY = lazy_pattern(
    r"(?:\bnot|n['’]t|\bnicht|\bpas|\bno)\s(?:only|just|merely|nur|allein|seulement|s[oó]lo|solamente)[\W_]*\Z"
    r"|不[仅但只]是?\Z",
    re.IGNORECASE,
)
"""'The answer isn't just A.'"""
LETTER = lazy_pattern(
    r"(?:\b(?:letter|buchstabe|lettre|letra|option|opción)|(?:\A|(?<=[,:;]\s))(?:the|la|le|die))\s[(\[\"'“‘«*_`]{0,3}([a-z])\W*\Z",
    re.IGNORECASE,
)
VERDICT_ITEM = lazy_pattern(r"(?<![A-Za-z0-9])([A-Z])[)\]*_]{0,3}\s?[:：]\s*([^\W\d_][^.;,\n。]{0,14})(?=[.;,\n。]|\Z)")
"""'A: wrong.' of a response that says so of each option."""
REFUTED = lazy_pattern(
    r"\b(?:no|not|wrong|incorrect\w*|false|falsch|nicht|faux|fausse|non|fals[oa]|incorrect[oa])\b|[✗✘❌✖]|错|錯|不"
    r"|誤|間違|違|틀|아니",
    re.IGNORECASE,
)
NO_CHOICE = (
    "i won't", "i'm sorry", "i won’t", "i’m sorry", "unable to", "none of the",
    "no puedo", "je ne peux", "ich kann nicht", "ich kann das nicht", "ich kann diese nicht", "ich kann leider nicht",
    "无法", "できません",
)  # fmt: skip
# 'The answer A (Sydney) is a common mistake' announces nothing.
DISMISSED = lazy_pattern(
    r"""[)\]*_\"'}]*[ \t]*(?:\([^()\n]{0,80}\)[ \t]*)?(?:is|was|are|est|ist|es|é|è|были?|是|は|는|은)?[ \t]*
    (?:an?|the|une?|eine?|una?|la|only|a\ common|often|clearly)?[ \t]*(?:common\s|frequent\s|häufiger\s)?
    (?:incorrect|wrong|false|not\b|mistake|error|ruled\ out|eliminated|erreur|fauss?e?x?\b|falsch|fehler|incorrect[ao]
    |erróne[ao]|неверн|неправильн|ошиб|错|不正确|不对|誤り|間違|不正解|틀|오답|нет\b)""",
    re.VERBOSE | re.IGNORECASE,
)
NOT_RIGHT = lazy_pattern(
    r"[)\]*_\"']{0,4}\s(?:(?:is|does|ist|est|es)\s)?(?:not|nicht|no|n['’]est\spas|wrong|incorrect|false|falsch"
    r"|incorrect[ao]|fauss?e?x?)\b[^.\n]{0,60}\Z"
)
NAMED = lazy_pattern(
    r"(?:option|choice|letter|answer|antwort|buchstabe|opción|respuesta|opção|réponse|lettre|вариант|ответ)\s*$"
    r"|(?-i:\b(?:is|be|say|with|makes|making|leaves|leaving|ist|est|es)\s|['’]s\s)$",
    re.IGNORECASE,
)
CONDITION = lazy_pattern(r"\b(?:if|unless|wenn|falls|si|если)\b|如果|(?<!か)もし", re.IGNORECASE)
CONCESSION = lazy_pattern(r"\b(?:(?:al)?though|but|while|whereas|even if|obwohl|bien que|aunque|хотя)\b", re.IGNORECASE)
MARKS = "✓✔✅✗✘❌✖"
MANY_OPTIONS = "names more than one option"


@dataclass(frozen=True, slots=True)
class Patterns:
    """Compiled for one set of labels."""

    label: re.Pattern[str]
    lead: re.Pattern[str]
    only: re.Pattern[str]
    line: re.Pattern[str]
    item: re.Pattern[str]
    """The label of an option that is gone through, at the start of a line or sentence."""
    listed: re.Pattern[str]
    """A line or table row about one option: its label, then what is said of it."""
    verdict: re.Pattern[str]
    joined: re.Pattern[str]
    mention: re.Pattern[str]
    changed: re.Pattern[str]
    ending: re.Pattern[str]
    """'… is A.' as the last words."""
    alone_right: re.Pattern[str]
    """'…, B is.' as the last words."""
    named_before: re.Pattern[str]
    """A label, perhaps in brackets or with a remark, as the last thing said."""
    plainly: re.Pattern[str]
    """The usual end of a response, read without further ado: 'answer is (B).'"""


@lru_cache(maxsize=256)
def patterns_for(labels: str) -> Patterns:
    upper = "".join(map(re.escape, labels))
    both = upper + upper.lower()
    changed = r"\W+from\W+\w\W+to\W+"
    return Patterns(
        alone_right=re.compile(
            rf"(?<![A-Za-z0-9'’])([{upper}])[)\]*_\"']{{0,4}}\s(?:is|does|schon|ist\ses|sí|lo\ses|l['’]est)[.!\s]*\Z"
        ),
        named_before=re.compile(rf"(?<![A-Za-z0-9'’])[(\[*_\"'“‘「『]{{0,4}}([{upper}])\Z"),
        plainly=re.compile(rf"[:\s*]*(?:is:?\s)?[\s*]*\(?([{upper}])\)?[\s.*]*\Z"),
        ending=re.compile(
            rf"(?:(?<!nor\s)(?<!neither\s)(?<!so\s)(?<!noch\s)(?<!ni\s)\b(?:is|are|ist|est|es|è|é)\s|[:：=→是は]"
            rf"|(?<=[a-z]),\s)[\s*_\"'(\[]*([{upper}])[)\]*_\"']*[.!。\s]*\Z"
        ),
        changed=re.compile(rf"{changed}([{upper}])(?![A-Za-z0-9])"),
        label=re.compile(
            rf"(?<![A-Za-z0-9'’°\\])(?P<open>[(\[{{\"'“‘*_`<]{{0,8}})(?P<label>[{both}])(?![A-Za-z0-9'’]|\.\w\.)"
        ),
        lead=re.compile(
            rf"[\s*_#(\[\"'`>$]*([{both}])(?!['’]\w)[*_]*(?:(?:입니다|이에요|예요|です|だ)[.。!]"
            rf"|\s*[).:\]\"'`,;$。]|\s*$|\s*\n|\s+[-–—=]\s)"
        ),
        only=re.compile(rf"[\W_]*([{both}])(?!\s*[✗✘❌✖])[\W_]*"),
        line=re.compile(rf"(?m)^[ \t*_#>-]{{0,12}}\(?([{upper}])[*_]*[).:]"),
        item=re.compile(
            rf"(?:\A|(?<=[\n.;:!?。；：！？，、,])"
            rf"|(?<=[.;:!?,]\s))[ \t*_#>(\[-]{{0,12}}([{upper}])[*_]*[)\].:、：．][*_]*(?!\w\.)"
        ),
        listed=re.compile(
            rf"(?m)^[ \t|*_#>-]{{0,12}}(?:\d{{1,2}}[.)] )?"
            rf"\(?([{upper}])[*_]*[ \t]*(?:[).:|–—-]|(?=[{MARKS}]))[*_]*(.*)$"
        ),
        verdict=re.compile(rf"(?<![A-Za-z0-9'’])[(\[*_\"']{{0,8}}([{upper}]){VERDICT}"),
        joined=re.compile(rf"{JOINED}([{upper}])(?![A-Za-z0-9'’])"),
        mention=re.compile(
            rf"\(([{both}])\)|(?<![A-Za-z0-9'’])([{upper}])\)"
            rf"|(?:option|choice|选项|選択肢)\s*\(?([{upper}])(?![A-Za-z])"
            rf"|\*\*([{upper}])\*\*|(?<![A-Za-z0-9'’.°])([{upper}])(?![A-Za-z0-9'’]|\.\w)",
        ),
    )
