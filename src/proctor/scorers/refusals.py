"""Where a response says that it gives no answer, in the languages benchmarks are written in."""

from __future__ import annotations

import re

from proctor.scorers.lazy_pattern import lazy_pattern

REFUSAL = lazy_pattern(
    r"""\bi\s(?:can['’]?t|cannot|can\snot|could\snot|couldn['’]t|do\snot|don['’]t|won['’]t)\s(?:\w+\s){0,2}?
      (?:answer|solve|determine|calculate|compute|work|know(?!\s(?:how|why|where|who|when)\b)|help|assist|provide
        |figure|say|tell|find|give|complete|choose|decide|settle|make\sup
        |do\s(?:this|that)|comply|guess|commit)\b
    |\bi(?:['’]d|\swould)\srather\snot\b|\bprefer\snot\sto\b|\bmöchte\s(?:lieber\s)?nicht\s(?:raten|antworten|sagen)\b
    |\bpréfère\sne\spas\b|\bprefiero\sno\s(?:responder|decir|adivinar)\b
    |\bi(?:['’]m|\sam)\s(?:unable|not\sable)\sto\b|\bi\shave\sno\sidea\b|\bas\san\sai\b[^.,]{0,30},?\si\s(?:can|do
      |am|have)
    |\b(?:cannot|can['’]t|can\snot|could\snot)\sbe\s(?:determined|answered|solved|calculated|computed|known|found)\b
    |\b(?:not\senough|insufficient|isn['’]t\senough|too\slittle)\s(?:information|data|context|detail)
    |\b(?:it['’]s|it\sis)\s(?:\w+\s)?(?:hard|difficult|tough|impossible)\sto\s(?:say|tell|know|decide|determine
      |choose|pick|settle)
    |\b(?:schwer|schwierig)\szu\s(?:sagen|entscheiden|beurteilen)|\bdifficile\s(?:à|de)\s(?:dire|trancher|savoir)
      |\bdifícil\s(?:de\s)?(?:decir|saber)
    |\b(?:schwer|schwierig)\b[^.\n]{0,20}\b(?:festzulegen|entscheiden)|\bnicht\s(?:festlegen|entscheiden)\b
    |\bdifficile\sde\s(?:choisir|se\sprononcer)|\bdifícil\s(?:elegir|decidir\w*|decantar\w*|determinar)
    |何とも言え|決め(?:る|きる)?[^。、]{0,4}(?:難し|かね|られ)|選ぶのは難し
    |[很非]?[难難](?:以|说|說|断|斷|判|确定|確定|决定|決定|选|選|取舍)|(?:말|정|고르|결정|선택|판단)하?기(?:가
      |는)?\s?(?:어렵|힘들)
    |\bnot\s(?:sure|certain)\s(?:whether|if)\b|\bnicht\s(?:ganz\s)?sicher,?\sob\b|\bpas\s(?:sûre?|certaine?)\s(?:que
      |si)\b
    |\bno\sestoy\ssegur[oa]\s(?:de\s)?(?:que|si)\b
    |\b(?:unable|impossible)\sto\s(?:answer|solve|determine|calculate|help|provide|say|tell|know)\b
    |\bkann\b[^.\n]{0,60}\bnicht\s(?:(?:be(?:antworten|rechnen|stimmen)|lösen|sagen|helfen|ermitteln|erfüllen
      |ausgeben)\b
      |\w+\sbeantworten\b)
    |\bwei(?:ß|ss)\s(?:ich\s)?(?:es\s|das\s)?(?:leider\s)?nicht\b
    |\bnicht\s(?:genug|genügend|ausreichend)\w*\s(?:informationen|angaben|daten)
    |\blässt\ssich\b[^.\n]{0,40}\bnicht\s(?:berechnen|bestimmen|sagen|beantworten)
    |\bno\s(?:puedo|podemos|se\spuede|es\sposible)\b[^.\n]{0,30}?(?:resolver|responder|calcular|determinar|contestar
      |ayudar|saber|decir)
    |\bno\s(?:lo\s)?sé\b|\bno\shay\s(?:suficiente|bastante)|\b(?:información|datos)\sinsuficientes?
    |\bne\s(?:peux|peut|pouvons|puis)\b[^.\n]{0,30}?(?:résoudre|répondre|calculer|déterminer|aider|dire|fournir)
    |\bje\sne\s(?:le\s)?sais\spas\b|\bpas\s(?:assez|suffisamment)\sd['’e]\s?informations?
    |\bне\s(?:могу|знаю)\b|لا\sأستطيع
    |(?:解け|答えられ|回答でき|お?答えでき|計算でき|求められ|求めることができ|判断でき|わかり|分かり|決められ)ません
    |(?:解け|答えられ|わから|分から|求められ|判断でき)ない|情報が(?:不足|足り)
    |(?:풀|답할|답변할|답변해\s드릴|대답할|계산할|알|구할|판단할|결정할)\s?수\s?(?:가\s)?없|모르겠|모릅니다
      |정보가\s?(?:부족|충분하지)
    |[无無]法(?:解|回答|作答|[计計]算|[确確]定|判[断斷]|得出|求|[给給]出|提供|知道|完成)|不能(?:回答|解答|[确確]定)
      |不知道|(?:信息|[条條]件)不足""",
    re.VERBOSE | re.IGNORECASE,
)
AROUND_HINT = 70
_ASCII_HINTS = (
    "rather not", "prefer not", "préfère ne", "prefiero no",
    "i can't", "i cannot", "i can not", "i could not", "i couldn't", "i do not", "i don't", "i won't", "cannot be",
    "can't be", "can not be", "could not be", "unable", "not able", "no idea",
    "not sure", "not certain", "pas certain", "no estoy segur",
    "hard to", "difficult to", "tough to", "schwer", "schwierig", "difficile", "difícil",
    "an ai", "not enough", "insufficient", "n't enough", "too little", "impossible", "nicht", "no puedo", "no podemos",
    "no se puede", "no es posible", "no hay", "ne pe", "ne pouvons", "ne puis", "sais pas", "pas assez",
    "pas suffisamment", "insuficiente",
)  # fmt: skip
_OTHER_HINTS = (
    "i can’t", "i couldn’t", "i don’t", "i won’t", "can’t be", "isn’t enough", "pas sûr",
    "no sé", "no lo sé", "не могу",
    "не знаю", "لا أستطيع", "ません", "ない", "情報が", "없", "모르겠", "모릅니다", "정보가", "无法", "無法",
    "不能", "不知道", "不足", "言え", "决", "決め", "选", "选", "难", "難", "어렵", "힘들",
)  # fmt: skip
GUESS = lazy_pattern(
    r"\b(?:assum\w+|guess|i['’]d\ssay|estimat\w+|approximately|roughly|probably|therefore|thus|hence|so\b"
    r"|answer\sis|total"
    r"|would\sbe|vermutlich|schätz\w*|wahrscheinlich|also|supon\w+|probablemente|por\slo\stanto|suppos\w+"
    r"|probablement|donc)\b"
    r"|=|おそらく|たぶん|仮定|よって|아마|가정|따라서|大概|假设|因此|所以|如果",
    re.IGNORECASE,
)
"""What a response goes on with when it gives an answer after all."""


def find_refusal(text: str) -> re.Match[str] | None:
    """Words that decline to answer; they are looked for only around hints, for the whole search is slow."""
    lowered = text.lower()
    if len(lowered) != len(text):  # a few letters grow when lowered
        return REFUSAL.search(text)
    for hint in _ASCII_HINTS if text.isascii() else _ASCII_HINTS + _OTHER_HINTS:
        place = lowered.find(hint)
        while place >= 0:
            found = REFUSAL.search(text, max(0, place - AROUND_HINT), place + AROUND_HINT)
            if found is not None:
                return found
            place = lowered.find(hint, place + AROUND_HINT)
    return None


def refuses(text: str) -> bool:
    """Whether a text declines to answer and does not guess afterwards."""
    found = find_refusal(text)
    return found is not None and GUESS.search(text, found.end()) is None
