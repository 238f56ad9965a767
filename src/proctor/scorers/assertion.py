"""Whether a response stands by something it names: it may rule it out, deny it, take it back or only suppose it."""

from __future__ import annotations

import re

from proctor.scorers.clause_subjects import is_asked_about, subject_of, subjects
from proctor.scorers.contrast import is_ruled_out
from proctor.scorers.denial import is_denied
from proctor.scorers.enumeration import is_listed
from proctor.scorers.lazy_pattern import lazy_pattern
from proctor.scorers.markers import CORRECTION, SENTENCE_END, WEAK
from proctor.scorers.other_answer import (
    is_before_answer,
    is_behind_other_answer,
    is_only_weighed,
    is_turned_from,
    names_something,
)
from proctor.scorers.refusals import find_refusal
from proctor.scorers.relations_asked import asks_object, asks_source
from proctor.scorers.stance import is_supposed, leaves_open
from proctor.scorers.stance_words import CLAUSE_END, FORMERLY, NOWADAYS, SUPPOSED, TURN, VIEW

WINDOW = 80
MAX_SHORT_ANSWER = 240
"""In a longer text many things are said that the question does not ask about, and its answer may be any of them."""
_NOR_AFTER = lazy_pattern(
    r"(?:で?も|도\s)[^。、.,\n]{1,15}(?:で?も、?(?:な[くい]|あり|違)|도\s(?:아[니닌닙]|틀))|[，,]?\s?(?:也|都)不是"
)
"""'札幌でも函館でもなく', '광주도 전주도 아닌'."""
_SUBJECT = lazy_pattern(r"[\W_]*(?:(?:the|der|die|das|le|la|les|el|los|las)\s|l['’])?[\W_]*", re.IGNORECASE)
_STATEMENT_END = lazy_pattern(
    rf"{SENTENCE_END.pattern}|;\s|，|(?<=[\u4e00-\u9fff])[,;](?=[\u4e00-\u9fff])|,?\s(?:while|whereas|während|wohingegen|tandis\sque?|alors\sque?"
    r"|mientras(?:\sque)?)\s|,\s(?:and|(?:al)?though|und|obwohl|et|bien\sque|y|aunque)\s",
    re.IGNORECASE,
)
_CLOSING_QUOTES = tuple("\"'”»」』》")
_TITLE = lazy_pattern(r"[«“„「『《\"]\s?([^«»“”„「」『』《》\"\n]{2,60}?)\s?[»”“」』》\"]")
_SENTENCE_CLOSING = lazy_pattern(r"[.!?。！？\n]")
_ASKS = lazy_pattern(
    r"[\W_]*(?:is|was|are|were|could|might|would|ist|war|sind|könnte|est-ce|serait|était-ce|es|fue|sería|será)\b",
    re.IGNORECASE,
)
_ASKED_BEHIND = lazy_pattern(
    r"[)\"'”’»」』*]{0,4}(?:(?:です|でしょう|だろう)?か|(?:市|省)?[吗么吧]|(?:인가|일까|입니까|이었나)요?)(?:[。.?？]|[、，,]?\s?(?:それとも|あるいは|还是|或者|아니면))"
)
"""'札幌でしょうか。', '是成都吗？'"""
_YES = lazy_pattern(r"[\W_]*(?:yes|yeah|right|exactly|ja|genau|oui|sí|はい|네|是)", re.IGNORECASE)
_AGREES = lazy_pattern(
    r"\b(?:agree|right|correct|true|indeed|recht|stimm\w*|richtig|raison|exact|vrai|accord|razón|cierto|correcto|acuerdo)\b|正し|その通り|맞|옳|没错|正确|同意|对",
    re.IGNORECASE,
)
_WHETHER = lazy_pattern(r"\b(?:whether|if|ob|si)\b", re.IGNORECASE)
_MISBELIEF = lazy_pattern(
    r"\b(?:(?:misconception|mistaken\sbelief|common\serror|irrtum|irrglaube\w*|idée\sreçue|erreur\scourante|error\scomún|creencia\serrónea)"
    r"|(?:an?|common|popular|widespread|ein|une?|un)\s(?:\w+\s)?(?:myth|mythos|mythe|mito)(?=(?:\s(?:is|ist|est|es))?,?\s(?:that|dass|que)\b))"
    r"\b(?:,?\s(?!but\b|aber\b|mais\b|pero\b|no\b|not\b)[^\s,.;:]+){0,8}\s(?:the\s|der\s|die\s|das\s|la\s|le\s|el\s|l['’])?[\W_]*\Z",
    re.IGNORECASE,
)
"""'It is a misconception that it was Canberra'."""
_RELATION = (
    r"(?:cousine?|cousin|uncle|aunt|nephew|niece|vetter|neffe|nichte|onkel|oncle|tante|neveu|nièce|prim[oa]|sobrin[oa]|t[ií][oa]|friend|contemporary|pupil|student|teacher|rival|colleague|successor|predecessor|admirer|follower|freund\w*"
    r"|zeitgenoss\w+|schüler\w*"
    r"|lehrer\w*|rival\w*|kolleg\w+|nachfolger\w*|vorgänger\w*|amie?|contemporaine?|élève|disciple|maître|rivale?"
    r"|collègue|successeur"
    r"|prédécesseur|amig[oa]|contemporáne[oa]|alumn[oa]|discípul[oa]|maestr[oa]|colega|sucesor[a]?|predecesor[a]?"
    r"|husband|wife|brother|sister|son|daughter|father|mother|mann|frau|bruder|schwester|sohn|tochter|vater|mutter"
    r"|mari|femme|frère|sœur|fils"
    r"|fille|père|mère|marido|espos[oa]|mujer|herman[oa]|hij[oa]|padre|madre)"
)
_RELATED_BEFORE = lazy_pattern(
    r"[比离離距]\Z|\b(?:(?:ahead|in\sfront)\sof|devant|(?:por\s)?delante\sde|\d+\s?(?:km|kilomet\w+|kilómet\w+|kilomètres|miles?|minut\w+|hours?|stunden|heures|horas)|near|close|nahe|près"
    r"|cerca|(?:north|south|east|west)\w*|nördlich|südlich|östlich|westlich|au\s(?:nord|sud)|al\s(?:norte|sur|este|oeste))"
    r"\s(?:from|of|to|von|bei|de|d['’]|à|del)\s?\Z"
    r"|\b(?:(?:second|third|zweit\w*|dritt\w*|deuxième|troisième|segund\w*|tercer\w*)\b[^.;]{0,40}\b(?:after|behind"
    r"|nach|hinter|après|después\sde|tras)|followed\sby|gefolgt\svo[nm]|suivie?s?\s(?:de|par)|seguid[oa]s?\s(?:de|por))"
    r"\s(?:the\s|der\s|die\s|das\s|la\s|le\s|el\s)?\Z|"
    rf"(?:\b{_RELATION}\s(?:of|to|von|des|der|de|del|d['’])|\b(?:long|well|shortly|soon|just|years?|decades?|bien"
    rf"|peu|longtemps|juste"
    r"|lange|kurz|bald|weit|jahre|jahrzehnte|mucho|poco|justo|años)\s(?:after|before|après|avant|nach|vor"
    r"|después\sde|antes\sde)"
    r"|\b(?:unlike|à\sla\sdifférence\sde|contrairement\sà|anders\sals|im\sgegensatz\szu|a\sdiferencia\sde))"
    r"\s?(?:the\s|l['’]|d['’])?\Z",
    re.IGNORECASE,
)
_INFLUENCE = lazy_pattern(
    r"\b(?:inspirant|inspirándose|basándose|angelehnt|anlehnung)\s(?:de|en|an)\s?\Z|\b(?:influence|inspiration|style|manner|example|patronage|advice|help|einfluss|stil|vorbild|style|manière|exemple|influencia|estilo"
    r"|inspired|influenced|taught|inspiring|beeinflusst|inspiriert|inspirée?|influencée?|inspirad[oa]|influid[oa])\s(?:of|by|von|des|de|d['’]|por|par)\s?\Z",
    re.IGNORECASE,
)
_IDEA = lazy_pattern(
    r"(?:based\son|after|nach|auf|from|d['’]après|selon|según|sobre|à\spartir\sde?)\s?(?:an?|the|eine[mnrs]?|der|de[mn]|une?|la|una?|l['’]|d['’]une?)\s?(?P<source>ideas?|idee|idée|plans?|plan|sketch|skizze|esquisse|boceto|entwurf|vorlage|vorbild|design|draft|model|novel|roman|drawing|zeichnung|dessin|modèle|projet|diseño|modelo|dibujo|novela)"
    r"\s(?:of|by|von|des|de|d['’])\s?\Z",
    re.IGNORECASE,
)
"""'Weber, after an idea of Mozart'."""
_OBJECT_OF_CLAUSE = lazy_pattern(
    r"(?:(?:[がをとに]|から|より|の(?:隣|近く|そば|横|[東西南北])に)[^、。\s]{1,14}?(?:た|る|い|な)|と[^、。\s]{1,8}の)(?!理由|もの|こと)"
    r"(?P<head>[ァ-ヶー・]{2,12}|[一-龯々]{2,8})(?:です|でした|だ|である)[。.]?\s*\Z"
    r"|[을를과와]\s(?:[^\s.,]{1,6}\s){0,2}[^\s.,]{0,10}[한던은는난간]\s(?:[^\s.,]{2,8}\s)?[^\s.,]{2,10}(?:입니다|이다|이에요|예요)[.]?\s*\Z"
)
"""'モーツァルトを尊敬していたベートーヴェンです。'"""
_KINDS = tuple("作曲画絵本書説集品者家人員市町村国県府省川山海湖都島城寺語量色")
"""'代表作', '作曲家', '首都': what a name may be, or has made."""
_REVERED_BEFORE = lazy_pattern(
    r"\b(?:overtook|overtaken|surpass\w*|exceed\w*|outrank\w*|defeated|praised?|admired?|succeeded|replaced|taught|überholt\w*|übertrifft|übertroffen|bewunder\w*|verehr\w*"
    r"|dépass\w*|remplac\w*|admir\w*|super[aó]|superad[oa]|sustituy\w*|reemplaz\w*)\s(?:(?:a|à|the|die|der|den|das|la|le|el)\s|l['’])?\Z|(?:崇拜|敬佩|敬仰|尊敬|仰慕|模仿|追随|师从)了?\Z",
    re.IGNORECASE,
)
_WITH_BEFORE = lazy_pattern(r"(?:\A|[，,。])\s?(?:和|与|跟|同|被|向|受)\Z")
_WHO_DOES = lazy_pattern(r"[^，,。]{1,12}的(?P<head>[\u4e00-\u9fff·]{2,6})。?\s*\Z")
"""'和贝尔同一天申请专利的格雷'."""
_SECOND = lazy_pattern(
    r"は(?:第?二|2番目)|[은는]\s(?:두\s?번째|제2)|是第二|\s(?:is\s(?:only\s)?(?:the\s)?second"
    r"|ist\s(?:nur\s)?(?:die\s|der\s|das\s)?zweit"
    r"|est\s(?:la\s|le\s)?(?:deuxième|second)|es\s(?:la\s|el\s)?segund)",
    re.IGNORECASE,
)
_SECOND_ASKED = lazy_pattern(r"second|zweit|deuxième|segund|二|2番|두\s?번째|2위", re.IGNORECASE)
_COMPARED = lazy_pattern(
    r"\b(?:(?:more|less|fewer|\w{2,}er)\s(?:\w+\s){0,3}than|(?:mehr|weniger|\w{3,}er)\s(?:\w+\s){0,3}als|(?:plus|moins)\s(?:de\s)?(?:\w+\s){1,3}qu(?:e\b|['’])|(?:más"
    r"|menos)\s(?:\w+\s){1,3}que)"
    r"\s?(?:the\s|der\s|die\s|das\s|la\s|le\s|el\s|l['’])?\Z",
    re.IGNORECASE,
)
_NO_OTHER = lazy_pattern(
    r"\b(?:no|none|nothing|nobody|kein\w*|niemand|nichts|aucune?|rien|ningun[oa]?|ningún|nadie|nada)\b", re.IGNORECASE
)
_RELATED_AFTER = lazy_pattern(
    r"(?:以|的|之)?[东西南北]{1,2}(?:边|面|部|方|侧)?的|以[东西南北]|附近的?|旁边的?|から[^。、]{0,12}(?:離れ|キロ|の距離)|と(?:は)?(?:違|異な)|[과와]\s(?:달리|다르게)|[与和跟]?不同|에서\s[^.,]{0,10}(?:떨어진|킬로|거리)|\s?(?:옆|근처|이웃)에|の(?:隣|近く|そば|横)の?|[과와]\s(?:같은\s시대|동시대)|"
    r"(?:['’]s?\s|\s)?(?:の(?:夫|妻|弟|兄|姉|妹|息子|娘|父|母|友人|弟子|師|先生|同時代|後輩|先輩|後継|ライバル"
    r"|影響|家臣|部下|主君|師匠|門下|側近|従兄弟|恋人|秘書|助手)|より[も前後]?|의\s?(?:영향|남편|아내|형|누나|동생|아들|딸|아버지|어머니|친구|제자|스승|라이벌|동시대|후임"
    r"|전임)|보다"
    r"|(?:当时)?是(?:他|她|他们)的|[은는]\s(?:당시\s)?(?:그|그녀)의\s|は(?:当時)?(?:彼|彼女)の|的?(?:丈夫|妻子)的|的(?:丈夫|妻子|弟弟|哥哥|姐姐|妹妹|儿子|女儿|父亲|母亲|朋友|学生|弟子|老师|同时代|对手|同事|好友)|之[前后])"
    r"|['’]s\s(?:time|friend|contemporary|pupil|student|teacher|rival|colleague|wife|husband|cousin|brother|sister|son|daughter)\b"
    r"|\s(?:아내|남편|동생|아들|딸|제자|스승)의\s",
    re.IGNORECASE,
)
"""'윤동주의 친구', '…'s time': something that only has to do with the thing."""
_OR_BEFORE = lazy_pattern(
    r"(?:\b(?:or|oder|ou|o|u|soit|either|entweder)\s(?:the\s|der\s|die\s|das\s|le\s|la\s|el\s|l['’])?"
    r"|[\u30a0-\u30ff\u4e00-\u9fff](?:か|或者?|还是)|(?:아니면|또는|혹은)\s)\Z",
    re.IGNORECASE,
)
_OR_AFTER = lazy_pattern(
    r"\s(?:or|oder|ou|o|u)\s(?!rather|vielmehr|besser|plutôt|mejor|más)"
    r"|(?:か|或者?|还是)(?=[^\W\d_])(?!か?ら|も|と|どう|な)|(?:이나|나)?\s(?:아니면|또는|혹은)\s",
    re.IGNORECASE,
)
_ANOTHER = lazy_pattern(
    r",?\s(?:no\b|i\smean|(?:it['’]s|it\sis|that['’]s)\s(?!been|also|the\b|a\b)|c['’]est\s(?!l[ae]\b|une?\b))",
    re.IGNORECASE,
)


def is_asserted(text: str, start: int, end: int, question: str) -> bool:
    """Whether the response stands by what is named here, in answer to the question."""
    return not (
        is_ruled_out(text, start, end)
        or is_denied(text, start, end, question)
        or _NOR_AFTER.match(text, end)
        or is_supposed(text, start, end)
        or _is_former(text, start, end)
        or _is_only_related(text, start, end, question)
        or is_listed(text, start, end)
        or _MISBELIEF.search(text, max(0, start - WINDOW), start) is not None
        or (len(text) <= MAX_SHORT_ANSWER and _is_beside_answer(text, start, end, question))
        or _is_taken_back(text, end)
        or _is_refused(text, start)
        or _is_only_asked(text, start, end)
    )


def _is_former(text: str, start: int, end: int) -> bool:
    """'Bonn was the capital until 1990; today it is Berlin'."""
    floor = max(0, start - WINDOW)
    opening = max((found.end() for found in CLAUSE_END.finditer(text, floor, start)), default=floor)
    closing = CLAUSE_END.search(text, end, end + WINDOW)
    stop = closing.start() if closing else end + WINDOW
    is_past = FORMERLY.search(text[opening:start]) or FORMERLY.search(text[end:stop])
    return is_past is not None and NOWADAYS.search(text, stop, stop + WINDOW) is not None


def _is_beside_answer(text: str, start: int, end: int, question: str) -> bool:
    """What is said beside an answer, as one of two or of another title: '… "Faust". "Nathan" is by Lessing'."""
    if is_behind_other_answer(text, start, end, question) or is_before_answer(text, start, end, question):
        return True
    if is_turned_from(text, start, end, question) or is_only_weighed(text, start, end):
        return True
    if _is_one_of_two(text, start, end) or _is_view_of_others(text, start, question):
        return True
    if _is_said_of_something_else(text, start, question):
        return True
    opening = max((found.end() for found in _STATEMENT_END.finditer(text, 0, start)), default=0)
    if opening and SUPPOSED.search(text, opening, start):
        return True
    closing = _STATEMENT_END.search(text, end)
    stop = closing.start() if closing else len(text)
    titles = [title for title in _TITLE.findall(text[end:stop]) if title]
    is_only = not opening and stop + 1 >= len(text)
    return (
        bool(titles)
        and not is_only
        and _SUBJECT.fullmatch(text, opening, start) is not None
        and not text.startswith(_CLOSING_QUOTES, end)
        and not any(title.casefold() in question.casefold() for title in titles)
    )


def _is_view_of_others(text: str, start: int, question: str) -> bool:
    """'I'd say Sydney. My friend says Canberra'."""
    opening = max((found.end() for found in _STATEMENT_END.finditer(text, 0, start)), default=0)
    closing = _STATEMENT_END.search(text, start)
    if not opening and (closing is None or closing.end() >= len(text)):
        return False
    view = VIEW.search(text, opening, start)
    if view is None or TURN.search(text, view.end(), start):
        return False
    if len(VIEW.findall(text)) > 1:
        return True
    rest = f"{text[:opening]} . {text[closing.end() :] if closing else ''}"
    return _AGREES.search(rest) is None and names_something(rest, question)


def _is_said_of_something_else(text: str, start: int, question: str) -> bool:
    """'Na is neon, and S is sodium' where the question is about Na."""
    own = subject_of(text, start)
    if own is None or is_asked_about(own, question):
        return False
    named = [subject for subject in subjects(text) if is_asked_about(subject, question)]
    # What is said of Denmark's capital is said of Denmark.
    return bool(named) and not any(is_asked_about(subject, own) for subject in named)


def _is_only_asked(text: str, start: int, end: int) -> bool:
    """'Is it the Danube? I can't remember', 'Whether it was Mozart I don't know'."""
    floor = max(0, start - WINDOW)
    opening = max((found.end() for found in SENTENCE_END.finditer(text, floor, start)), default=floor)
    closing = _SENTENCE_CLOSING.search(text, end, end + WINDOW)
    if (asked := _ASKED_BEHIND.match(text, end)) and _YES.match(text, asked.end()) is None:
        return True
    if closing is None:
        return False
    if closing[0] in "?？":
        return _ASKS.match(text, opening) is not None and _YES.match(text, closing.end()) is None
    return _WHETHER.search(text, opening, start) is not None and find_refusal(text[end : closing.end()]) is not None


def _is_one_of_two(text: str, start: int, end: int) -> bool:
    """'Either Goethe or Schiller'."""
    if leaves_open(text) or _OR_BEFORE.search(text, max(0, start - 24), start):
        return True
    return _OR_AFTER.match(text, end) is not None


def _is_only_related(text: str, start: int, end: int, question: str) -> bool:
    """'It was Nicole Fontaine, long after Simone Veil', '…, a friend of Goethe's'."""
    before = text[max(0, start - WINDOW) : start]
    if _RELATED_AFTER.match(text, end) or any(pattern.search(before) for pattern in (_RELATED_BEFORE, _INFLUENCE)):
        return True
    idea = _IDEA.search(before)
    if idea and not asks_source(idea["source"], question):
        return True
    if _REVERED_BEFORE.search(before) and not asks_object(question):
        return True
    does = _WHO_DOES.match(text, end) if _WITH_BEFORE.search(before) else None
    if does and not _says_what_it_is(does["head"], question):
        return True
    clause = _OBJECT_OF_CLAUSE.match(text, end)
    if clause and not _says_what_it_is(clause["head"] or "", question):
        return True
    if _SECOND.match(text, end) and not _SECOND_ASKED.search(question):
        return True
    opening = max((found.end() for found in _STATEMENT_END.finditer(before)), default=0)
    return _COMPARED.search(before, opening) is not None and _NO_OTHER.search(before, opening) is None


def _says_what_it_is(head: str, question: str) -> bool:
    """Whether what is named is a work or the kind of thing asked for and no other name: '黒澤明が撮った映画です'."""
    return bool(head) and (head in question or head.endswith(_KINDS))


def _is_taken_back(text: str, end: int) -> bool:
    """'Sydney … no, wait: Canberra'."""
    found = CORRECTION.search(text, end, end + WINDOW)
    if found is None or len(SENTENCE_END.findall(text, end, found.start())) > 1:
        return False
    if WEAK.fullmatch(found[0]):
        return _ANOTHER.match(text, found.end()) is not None
    return re.search(r"\w{2}", text[found.end() :][:WINDOW]) is not None


def _is_refused(text: str, start: int) -> bool:
    """'I cannot say whether Canberra is the capital'."""
    floor = max(0, start - WINDOW)
    opening = max((found.end() for found in SENTENCE_END.finditer(text, floor, start)), default=floor)
    refusal = find_refusal(text[opening:start])
    return refusal is not None and TURN.search(text, opening + refusal.end(), start) is None
