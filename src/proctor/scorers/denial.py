"""Whether a response denies something it names: before it ('not in Rome'), behind it ('Rom ist es nicht') or as wrong.

What is denied of it decides: 'Rome is not the capital' denies Rome where the question asks for a capital, and 'Rome is
not on the coast' does not.
"""

from __future__ import annotations

import re

from proctor.scorers.asked_words import last_question, repeats_question
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.stance_words import AFFIRMATION

WINDOW = 80
_BREAK = lazy_pattern(r"\.(?:\s|\Z)|[!?:;](?!\d)|[。！？：；\n—]|\s[–-]\s")
_COMMA = lazy_pattern(r"[,、，](?!\d)")
_CLAUSE_OF = lazy_pattern(r",\s(?=(?:that|dass|daß|que|qu['’]|ob)\b)", re.IGNORECASE)
"""A comma before a clause that belongs to what was said before it: 'Ich glaube nicht, dass …'."""
_AS_SAID = lazy_pattern(r",\s(?:as|wie|comme|como|contra\slo\sque|entgegen)\s[^,.;:\n]{2,40},\s", re.IGNORECASE)
"""'Nicht, wie oft behauptet, Grass'."""
_UNTIL = lazy_pattern(
    r"\b(?:until|before|beyond|past|besides|unless|without|except|earlier|other|more|less"
    r"|\w{2,}er)\s(?:\w+\s){0,4}?(?:than\s)?(?:\w+\s){0,3}\Z(?<!rather\sthan\s)"
    r"|\b(?:bis|vor|ohne|au(?:ß|ss)er|jenseits|hinter|\w{3,}er\sals|ander\w*\sals)\s(?:\w+\s){0,3}\Z"
    r"|\b(?:avant|au-delà\sde|jusqu['’]|sans|sauf|hormis|(?:plus|moins|autre\w*)\b[^,]*\bqu)(?:e\s"
    r"|['’])?(?:[àa]\s)?(?:\w+\s){0,3}\Z"
    r"|\b(?:antes|más\sallá\sde|hasta|sin|salvo|excepto|(?:más|menos|mayor|menor|mejor"
    r"|otr[oa]s?)\b[^,]*\bque)\s(?:\w+\s){0,3}\Z",
    re.IGNORECASE,
)
"""'You cannot vote until you are 18', 'no city is larger than Tokyo': what follows is no part of what is denied."""
_NEGATION_BEFORE = lazy_pattern(
    r"(?:\b(?:not|never|neither|nor|cannot|hardly|nowhere\snear|by\sno\smeans|any(?:one|thing|body|where)\sbut"
    r"|all\sbut|doubt"
    r"|den(?:y|ies|ied)|rul(?:e|ed|es|ing)\sout|exclud\w+|eliminat\w+|reject\w*|discard\w*|dismiss\w*|wrong\sto"
    r"|mistake\sto"
    r"|nicht|kein\w*|nie|niemals|weder|keineswegs|keinesfalls|bezweif\w+|zweif\w+|ausschlie(?:ß|ss)\w+|schlie(?:ß|ss)e|streiche"
    r"|pas|jamais|nullement|aucunement|ni|doute|exclus|élimine|écarte|écartons|éliminons"
    r"|no|nunca|jamás|tampoco|nada\sde|ni\ssiquiera|dudo|descart\w+|elimin[oa]\w*|excluy\w+)|\w{2,}n['’]t)\b"
    r"|不|没|未|除了|并非|並非|绝非|排除(?!法)|怀疑",
    re.IGNORECASE,
)
_RESTART = lazy_pattern(
    r"\b(?:but|however|so|sondern|aber|also|mais|donc|sino|pero|así)\b|而|但|所以|其实|就是|才是|[，,]是", re.IGNORECASE
)
"""What begins anew behind a negation."""
_BE = (
    r"(?:is|was|are|were|isn['’]t|wasn['’]t|aren['’]t|weren['’]t|would|wouldn['’]t|be|been|can|could|can['’]t|cannot"
    r"|couldn['’]t|do|does|did|don['’]t|doesn['’]t|didn['’]t|has|hasn['’]t|must|it|that|this|so|simply|definitely"
    r"|certainly|clearly"
    r"|obviously|really|actually|by|any|means|an|a|the|one|right|correct|true|answer|option|choice|case|candidate"
    r"|solution"
    r"|author|writer|painter|auteure?|autrice|autora?|verfasser\w*|urheber\w*|fit|work|match|count|apply|possible"
    r"|either|at|all|however|though|in|here|also"
    r"|ist|war|wäre|sind|waren|wird|es|das|dies|kann|könnte|sein|gewesen|jedenfalls|sicher|bestimmt|eindeutig|definitiv"
    r"|gar|überhaupt|auch|aber|leider|hier|die|der|richtig\w*|korrekt\w*|stimmt|trifft|zu|passt|gesucht\w*|gemeint"
    r"|antwort|lösung"
    r"|kommt|infrage|frage|dafür|gewiss|scheidet|gehört|dazu"
    r"|est|était|serait|sont|c['’]est|ce|ça|cela|peut|être|convient|bonne?|juste|exacte?|correcte?|réponse|le|la"
    r"|les|du|tout"
    r"|certainement|sûrement|évidemment|va|marche|bien|correspond|non|plus|cas|elle|il"
    r"|es|era|fue|sería|son|lo|puede|ser|correct[oa]|respuesta|opción|el|desde|luego|claramente|cierto|eso|esta"
    r"|está|sirve"
    r"|vale|encaja|cumple|por|supuesto)"
)
_NEGATION_AFTER = lazy_pattern(
    r"\b(?:not|never|nicht|keineswegs|keinesfalls|niemals|pas|jamais|no|nunca|tampoco)\b|\w{2,}n['’]t\b", re.IGNORECASE
)
_GENERIC = lazy_pattern(
    rf"[\W_]*(?:(?:{_BE}|n['’](?:est|était|en|y)|ne|n['’]|l['’](?=auteur|autrice)\w+|not|never|nicht|pas|no)\b[\W_]*)*",
    re.IGNORECASE,
)
"""Words that say of a thing only whether it is the answer."""
_PREDICATE = lazy_pattern(
    r"[\W_]*(?:\w+\s){0,2}?(?:(?:is|was|are|were|has|had|did|does|do|can|could|would|will|should|must|may|might"
    r"|ever)\s(?:\w+\s)?"
    r"(?:not|never)\b|\w{2,}n['’]t\b|cannot\b|never\b|nicht\b|(?:\w+\s){1,4}?nicht\b|(?:ne\s|n['’](?:en\s"
    r"|y\s)?)\w+\s(?:\w+\s)?(?:pas|jamais)\b"
    r"|no\s|nunca\s|tampoco\s)",
    re.IGNORECASE,
)
_OBJECT = lazy_pattern(r"\s\w+\s(?:it|that|this|them)[\s\W]*", re.IGNORECASE)
"""'… did not write it'."""
_WRONGLY = lazy_pattern(
    r",\s(?:albeit\s|though\s|but\s|quite\s)?(?:wrong|mistaken|incorrect|erroneous|false)ly\b|,\s(?:fälschlich"
    r"|zu\sunrecht|à\stort|por\serror|errónea)",
    re.IGNORECASE,
)
_WRONG = lazy_pattern(
    r"\b(?:no\ssense|nonsense|kein\w*\ssinn|(?:aucun|pas\sde)\ssens|no\stiene\ssentido|wrong(?:ly)?"
    r"|incorrect(?:ly)?|false(?:ly)?|mistaken(?:ly)?|erroneous\w*|out\sof\sthe\squestion"
    r"|falsch\w*|inkorrekt|unzutreffend|irrtümlich\w*|fälschlich\w*|irrig\w*|ausgeschlossen|scheidet\saus|fällt\sweg"
    r"|faux|fausse|erronée?|à\stort|incorrecte?|exclue?"
    r"|incorrect[oa]|fals[oa]|erróne[oa]|equivocad[oa]|descartad[oa]|por\serror|confus(?:ed?|ing)|mixed\sup"
    r"|verwechsel\w*|confond\w*|confund\w*)\b"
    r"|混同|間違われ|誤解|혼동|오해|착각|误认|誤認|误以|误解|混淆|搞混|混为",
    re.IGNORECASE,
)
_NOT_WRONG = lazy_pattern(
    r"\b(?:not|n['’]t|never|nicht|kein\w*|pas|no|sin|sans|ohne|without)\s(?:\w+\s){0,2}?\Z|n['’]t\s(?:\w+\s)?\Z",
    re.IGNORECASE,
)
_MISTAKE = lazy_pattern(
    r"\b(?:mistakes?|error|misconception|myth|irrtum|fehler|erreur|idée\sreçue|equivocación|mito)\b", re.IGNORECASE
)
"""'… is a common mistake'; before a thing such words say what sort of mistake it is."""
_SPACELESS_AFTER = lazy_pattern(
    r"""[)\]*_\"'”’»」』`]{0,4}\s?(?:\([^()\n]{0,60}\)\s?)?(?:
    (?:だ?と(?:いう|言う|答え|する|考え|思う)[^。、\n]{0,8}?)?(?:[はがもと]|のは)?\s?[^。、\n]{0,4}?
      (?:間違(?!いな|いあり|いませ)|誤(?:り|って|答)|不正解|違(?:い(?!な|あり|ませ)ま?|う|って)|正しく(?:な|あり)
        |除外|消去|ちが(?:い|う)|あり得ない|ありえない
      |言えま?せん|言えない|(?:当|あ)てはまりません|適切では)
    |以外|(?:である)?とは限|\s?(?:외에|이외)|일\s리(?:가)?\s없|之外
    |(?:なの)?かどうか[はも]?[^。、\n]{0,12}?(?:ません|ない)|(?:인|일|인가)지(?:는|도)?[^.\n]{0,12}?(?:모르|모릅|없)
    |(?:では|じゃ)(?:な[いくか]|あり|ございません)(?!か|でしょうか|のでは)
    |(?:이?라(?:는|고)[^.,\n]{0,12}?)?[은는이가도]?\s?(?:명백히\s|분명히\s|절대\s|확실히\s|결코\s)?
      (?:틀(?:[렸리립]|린(?!\s?것\s?없))|오답|제외|소거|배제|맞지\s않|정답이\s아|정답은\s아|아니(?:라|고|며|다|에|지
        |요)|아닙
        |아닌|잘못|해당하지|해당되지|적절하지)
    |(?:这个|这一|這個)?(?:答案|选项|说法|选择)?(?:显然|明显|肯定|也|都|并|绝对|一定|可以|应该|应|能)?(?:是)?(?:错
      |錯|不对|不對
      |不正确|不正確|不符|不合|不行|被?排除|不可能)
    |(?:显然|肯定|并|绝对)?不是(?:正确)?(?:答案|选项|的(?!首))?(?=[。，,；！\s]|\Z))""",
    re.VERBOSE,
)
_NOT_WHAT_IS_ASKED = lazy_pattern(
    r"は(?P<ja>\w{1,8}?)(?:では|じゃ)(?:な|あり)(?!いか|ませんか)|[은는]\s(?P<ko>\w{1,8}?)[이가]\s아[니닙]"
    r"|(?:并)?不是(?P<zh>\w{1,8})"
)
"""'キャンベラは首都ではありません'."""
_NAMED_BY = lazy_pattern(r"(?:说|說|回答|答|选|認為|认为)(?:是)?\Z")
_MISTAKE_AFTER = lazy_pattern(r"(?:是|就|会是|也是)?(?:错误?|不对|不正确|误解)")
_EXCEPT = lazy_pattern(
    r"(?:\b(?:except(?:\sfor)?|but|other\sthan|apart\sfrom|aside\sfrom|bar|au(?:ß|ss)er|bis\sauf|abgesehen\svo[nm]|sauf|hormis|excepté"
    r"|à\spart|à\sl['’]exception\sd[eu]|excepto|salvo|menos|a\sexcepción\sdel?|aparte\sdel?)\s"
    r"(?:(?:the|der|die|das|den|dem|le|la|les|el|los|las|option)\s|l['’])?|除了?|除去)",
    re.IGNORECASE,
)
_EXCEPT_BEFORE = lazy_pattern(rf"{_EXCEPT.pattern}[\W_]*\Z", re.IGNORECASE)
_EXCEPT_AFTER = lazy_pattern(r"[)」』\"”’*]{0,3}\s?(?:以外|之外|を除|[을를]\s?제외|을?\s?빼|[이가]?\s?외에|말고)")
_ALL = lazy_pattern(
    r"\b(?:every\w*|all|alle[sn]?|jede\w*|tou(?:t|te|tes|s)|tod[oa]s?)\b|すべて|全て|全部|みな|みんな|どれも|いずれも|他は|ほかは"
    r"|모두|다\s|전부|都(?=[是不会能有在比没很要])|均|皆",
    re.IGNORECASE,
)
_WHERE = lazy_pattern(
    r"\b(?:of|from|in|at|than|von|aus|bei|als|de|du|à|en|que)\s(?:the\s|der\s|la\s|le\s)?\w+", re.IGNORECASE
)
"""'… are far from Dresden' says nothing of what Dresden was asked about."""
_NEGATIVE = lazy_pattern(
    r"\b(?:no|not|nicht|kein\w*|pas|ne|no)\b|n['’]t\b|ない|ません|않|아니|아닙|아닌|없|不|没|非", re.IGNORECASE
)
_ASKED = lazy_pattern(r"[\s\"'”»」)*]*[?？]\s*")
_NO = lazy_pattern(
    r"(?:no\b|nein\b|non\b|nope\b|not\b|hardly|i\sdoubt|wrong|never|falsch|nicht|eher\snicht|ce\sn['’]est|pas\b"
    r"|jamais|je\sne"
    r"|いいえ|いや|違|ちが|아니|아뇨|틀|不|没有|错)",
    re.IGNORECASE,
)


def is_denied(text: str, start: int, end: int, question: str = "") -> bool:
    """Whether the response says that what stands here is not so."""
    if (excepted := _except(text, start, end)) and question:
        return _is_of_what_is_asked(excepted, question)
    asked = _ASKED.match(text, end)
    if asked and _NO.match(text, asked.end()):
        return True
    return (
        _is_denied_before(text, start) or _is_denied_behind(text, end, question) or _is_called_wrong(text, start, end)
    )


def _except(text: str, start: int, end: int) -> str | None:
    """What is said of all others: 'Everything but the whale lays eggs'."""
    floor = max(0, start - WINDOW)
    opening = _last_end(_BREAK, text, floor, start)
    stop = _BREAK.search(text, end, end + WINDOW)
    before, after = text[opening:start], text[end : stop.start() if stop else end + WINDOW]
    if _EXCEPT_BEFORE.search(before) or _EXCEPT_AFTER.match(after):
        return f"{before} {after}" if _ALL.search(f"{before} {after}") else None
    return None


def _is_of_what_is_asked(others: str, question: str) -> bool:
    """Whether all others are what the question asks for; then the exception is not."""
    rest = _EXCEPT.sub(" ", _ALL.sub(" ", others))
    if not re.search(r"\w", rest):  # 'Everything but B'
        return _NEGATIVE.search(last_question(question)) is None
    if not repeats_question(_WHERE.sub(" ", _ALL.sub(" ", others)), question):
        return False
    return (_NEGATIVE.search(others) is None) == (_NEGATIVE.search(last_question(question)) is None)


def _is_denied_before(text: str, start: int) -> bool:
    floor = max(0, start - WINDOW)
    before = text[_last_end(_BREAK, text, floor, start) : start]
    before = AFFIRMATION.sub("", _AS_SAID.sub(" ", _CLAUSE_OF.sub(" ", before)))
    before = before[_last_end(_COMMA, before, 0, len(before)) :]
    negation = next(iter(_NEGATION_BEFORE.finditer(before)), None)
    if negation is None:
        return False
    rest = before[negation.end() :]
    return not (_RESTART.search(rest) or _UNTIL.search(rest))


def _is_denied_behind(text: str, end: int, question: str) -> bool:
    if not text.isascii() and _SPACELESS_AFTER.match(text, end):
        return True
    other = _NOT_WHAT_IS_ASKED.match(text, end)
    if other and repeats_question(other[other.lastgroup or 0], question):
        return True
    stop = _BREAK.search(text, end, end + WINDOW)
    after = text[end : stop.start() if stop else end + WINDOW]
    comma = _COMMA.search(after, 2)  # "Rome, ce n'est pas ça"
    clause = AFFIRMATION.sub("", after[: comma.start() if comma else len(after)])
    if _NEGATION_AFTER.search(clause) is None:
        return False
    if _GENERIC.fullmatch(clause):
        return True
    predicate = _PREDICATE.match(clause)
    if predicate is None:
        return False
    rest = clause[predicate.end() :]
    if not re.search(r"\w", rest):  # 'Goethe schrieb es nicht', but 'Bern und nicht, wie viele denken, Zürich'
        return re.match(r"\s(?:and|und|et|y)\s", clause) is None
    return _OBJECT.fullmatch(rest) is not None or repeats_question(rest, question)


def _is_called_wrong(text: str, start: int, end: int) -> bool:
    floor = max(0, start - WINDOW)
    opening = max(_last_end(_BREAK, text, floor, start), _last_end(_COMMA, text, floor, start))
    stop = min(
        (found.start() for found in (p.search(text, end, end + WINDOW) for p in (_BREAK, _COMMA)) if found),
        default=end + WINDOW,
    )
    before, after = text[opening:start], text[end:stop]
    if _WRONGLY.match(text, stop):
        return True
    if _NAMED_BY.search(before) and _MISTAKE_AFTER.match(after):
        return True
    if (mistake := _MISTAKE.search(after)) and not _NOT_WRONG.search(after[: mistake.start()]):
        return True
    for part in (before, after):
        wrong = _WRONG.search(part)
        if wrong and not _NOT_WRONG.search(part[: wrong.start()]) and not _RESTART.search(part):
            return True
    return False


def _last_end(pattern: re.Pattern[str], text: str, floor: int, ceiling: int) -> int:
    return max((found.end() for found in pattern.finditer(text, floor, ceiling)), default=floor)
