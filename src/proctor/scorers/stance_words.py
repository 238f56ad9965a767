"""The words by which a response sets something aside, supposes it, leaves it open or settles on it, by language.

A text may mix languages, so all of them are looked for together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from proctor.scorers.lazy_pattern import lazy_pattern


def _any_of(spaced: Mapping[str, str], spaceless: Mapping[str, str]) -> re.Pattern[str]:
    """One pattern of all languages; words of scripts with spaces begin at the start of a word."""
    return lazy_pattern(rf"\b(?:{'|'.join(spaced.values())})|{'|'.join(spaceless.values())}", re.IGNORECASE)


TURN = _any_of(
    {
        "en": r"but\b|however\b|yet\b|actually\b|in\s(?:fact|reality|truth)\b|turn(?:s|ed)\sout\b|until\b",
        "de": r"aber\b|doch\b|jedoch\b|sondern\b|tatsächlich\b|eigentlich\b|in\swirklichkeit\b|dabei\b"
        r"|stellte?\ssich\b",
        "fr": r"mais\b|cependant\b|pourtant\b|en\sréalité\b|en\sfait\b|en\svérité\b|finalement\b|or\b,",
        "es": r"pero\b|sin\sembargo\b|sino\b|en\srealidad\b|no\sobstante\b|resulta\b|resultó\b",
    },
    {
        "ja": r"が、|けれど|けど|しかし|実は|実際|でも、|正しくは|結局|調べ",
        "ko": r"지만|그러나|실제로|사실은?\s|는데|알고\s?보니",
        "zh": r"但|其实|其實|实际|實際|不过|然而|却是|后来|後來|发现|結果|结果",
    },
)
"""What leads from a thing that was only supposed to the one that is meant."""

SUPPOSED = _any_of(
    {
        "en": r"(?:many|most|some|other)\s(?:\w+\s)?(?:people|students|of\sus|might|would|may|think|say|guess"
        r"|choose|pick|assume"
        r"|believe|name|call|cite|list|mention|claim)|people\b"
        r"|(?<!i\s)(?:might|may|would|could)\s(?:\w+\s)?(?:think|guess|say|expect|assume|choose|pick|believe)"
        r"|(?:at\sfirst|initially|originally|mistakenly)\b|first\s(?:thought|guess|instinct|got)|(?:often"
        r"|commonly|popularly)\b"
        r"|i(?:['’]d)?\s(?:\w+\s)?(?:thought|considered|assumed|had)\b|used\sto\s(?:think|believe|say)"
        r"|i\s(?:learn(?:ed|t)|was\s(?:taught|told)|heard)\b|according\sto\s(?:my|some|a|many|his|her)\b|was\s(?:going|about)\sto\ssay|some(?:one|body)\s(?:might|may|could|would)",
        "de": r"(?:viele|die\smeisten)\s(?:\w+\s)?(?:leute|menschen|personen|schüler\w*|student\w*"
        r"|(?:denk|glaub|mein|sag|sprech|halt|würd"
        r"|tipp|nenn|nehm|wähl|verwechs|vermut)\w*)|(?:man|oft|häufig)\s(?:\w+\s){0,2}(?:denk|glaub|mein)\w+|dachte\b|zuerst\b"
        r"|zunächst\b|anfangs\b|erst\b"
        r"|laut\s(?:mein|ein|manch|viel)\w*|würden\s(?:viele|manche)|irrtümlich\w*|gelernt\b|beigebracht\b|könnte\s(?:man|jemand)|man\s(?:könnte|würde|möchte)|(?:manche|jemand|einige)\b",
        "fr": r"(?:selon|d['’]après)\s(?:mon|ma|mes|certain\w+|un|une)\b|beaucoup\b(?!\s(?:plus|moins|trop"
        r"|d))|beaucoup\sde\s(?:gens|personnes|monde)|la\splupart"
        r"|on\s(?:croit|pense|pourrait|confond|cite)\b|(?:d['’]abord|souvent)\b"
        r"|pens(?:é|ais)\b|cru\b|croyais\b|appris\b|certains\b|d['’]aucuns\b|quelqu['’]un\b",
        "es": r"según\s(?:mis?|algun[oa]s|un|una)\b|much[oa]s\b|la\smayoría|(?:al\sprincipio|primero"
        r"|a\smenudo|suele\w*)\b|pensé\b|pensaba\b|creí\b|aprendí\b|me\senseñaron\b"
        r"|(?:se\s|alguien\s|algunos\s)podrían?\b|podría\s(?:parecer|pensar)|hay\squien\w*\b",
    },
    {
        "ja": r"(?:言う|いう|思う|考える)人|言われて|いわれて|思いがち|思われがち|思われて|と思いました|と思った"
        r"|かと思|習[いっ]|教わ|聞い[てた]|信じて|最初は"
        r"|はじめは|多くの人|よく間違",
        "ko": r"(?:말|생각|주장)하는\s사람|라고들|알려져|생각하기\s?쉽|생각했|생각하지만|생각할\s?수|인\s?줄"
        r"|배웠|(?<!만)들었"
        r"|처음에?[는엔]"
        r"|흔히|많은\s사람",
        "zh": r"当成|當成|都说|据说|很多人|不少人|人们常|常有人|有人会?|以为|以為|误认|本来|一开始|起初|最初|乍一看",
    },
)
"""What others say, or what was thought before."""

VIEW = _any_of(
    {
        "en": r"(?:some|many|most|(?:all\s)?other|one|a\s(?:few|friend|classmate|colleague)|my\s\w+"
        r"|the\s(?:internet|forum))s?"
        r"(?:\s(?!not\b)[\w'’]+){0,5}?\s(?:say|says|said|claim(?:s|ed)?|writes?|wrote|thinks?|thought|believed?s?|guess(?:es|ed)?"
        r"|puts?|gives?|gave|lists?|quotes?|told|insists?|insisted|swears?|prefers?|favou?rs?|bets?|votes?)\b|some(?:one|body)\b(?:\s[\w'’]+){0,5}?\s(?:says?|said|wrote|claim\w*|told|thinks?"
        r"|thought|got)\b|others\b",
        "de": r"(?:manche|einige|viele|andere|jemand|mein\w*\s\w+|ein\w*\s(?:freund\w*|kolleg\w*"
        r"|bekannte\w*))(?:\s\w+){0,4}?\s"
        r"(?:sag\w+|meint?e?n?|behaupt\w+|schreib\w*|schrieb\w*|nenn\w+|denk\w+|dacht\w+|glaub\w+|geben)\b|andere\b(?=\s\d)",
        "fr": r"(?:certains|d['’]autres|d['’]aucuns|quelqu['’]un|plusieurs|beaucoup|un\w?\s(?:ami|amie"
        r"|collègue)|mon\s\w+)(?:\s\w+){0,3}?\s"
        r"(?:dis\w+|dit|dirai\w+|pens\w+|affirm\w+|écri\w+|croi\w+|avanc\w+|donn\w+|prétend\w*|parl\w+)\b|d['’]autres\b(?=\s\d)",
        "es": r"(?:algun[oa]s|much[oa]s|otr[oa]s|alguien|vari[oa]s|un[oa]?\s(?:amig[oa]|compañer[oa])|mi\s\w+"
        r"|hay\squien(?:es)?)(?:\s\w+){0,3}?\s?"
        r"(?:dic\w+|dij\w+|diría\w*|piens\w+|cre[eí]\w*|afirm\w+|escrib\w+|sostien\w+|opin\w+|habl\w+)\b|otros\b(?=\s\d)",
    },
    {
        "ja": r"(?:という|と言う|と考える|とする)(?:人|説|声|意見)|と(?:友人|友達|友だち|彼|彼女|ネット|誰か"
        r"|先生|弟|妹|兄|姉)[はがも]"
        r"|(?:友人|友達|友だち|ネットで|誰か|先生|弟|妹|兄|姉)[はがも](?=[^。]*と(?:言|い|書|思))",
        "ko": r"(?:누군가|어떤\s사람|친구|일부|인터넷|다른\s사람|동생|형"
        r"|누나)[^.,]{0,12}?[은는이가에서도들]+\s(?=[^.]*(?:라고|다고|고\s))",
        "zh": r"(?:有人|有的人|网上|朋友|同学|别人|有些人|某人|他人|老师)[^，,。]{0,8}?(?:说|認為|认为|写"
        r"|觉得|以为|算出|答)",
    },
)
"""Who says something that the response itself may not: 'Some books say …', 'Un ami dit …'."""

GUESSED = lazy_pattern(
    r"\b(?:(?:popular|common|frequent|obvious)\s(?:guess|answer|choice|mistake|misconception|error|assumption)"
    r"|(?:often|commonly|frequently|widely)\s(?:mentioned|named|cited|given|assumed|thought|believed|mistaken"
    r"|guessed|confused)"
    r"|(?:oft|häufig|gern)\s(?:genannt|vermutet|angenommen|verwechselt|geglaubt)|häufige[rs]?\s(?:irrtum|fehler"
    r"|antwort)"
    r"|souvent\s(?:cit|mention|confond|propos|donn)\w+|erreur\s(?:fréquente|courante)"
    r"|suele\s(?:mencion|cit|pens|dec|confund)\w+|a\smenudo\s(?:se\s)?(?:menciona|cita|confund)\w*"
    r"|error\s(?:común|frecuente))",
    re.IGNORECASE,
)
"""Said behind a thing that others take for the answer."""

SEEMING = _any_of(
    {
        "en": r"(?:seems?|looks?|sounds?|appears?|tempting|plausible)\b",
        "de": r"(?:klingt|scheint|wirkt|sieht|plausibel|naheliegend|zwar)\b",
        "fr": r"(?:semble|paraît|a\sl['’]air|plausible|certes)\b",
        "es": r"(?:parece|suena|plausible|tentadora?)\b",
    },
    {"ja": r"有力|に見え|一見|もっともらし", "ko": r"처럼\s?보|그럴듯|같아\s?보", "zh": r"看起来|看上去|看似|似乎"},
)
"""What only looks right where a turn follows."""

OPEN = _any_of(
    {
        "en": r"between\b|either\b|whether\b|torn\b|undecided\b|unclear\b|if\b|unless\b|maybe\b|perhaps\b|possibl[ey]\b"
        r"|(?:can['’]?t|cannot|can\snot)\s(?:\w+\s){0,2}(?:rule|exclude|decide|tell|choose|pick|say)|(?:might|may"
        r"|could)\s(?:also\s)?be\b",
        "de": r"zwischen\b|entweder\b|ob\b|schwank\w+|wenn\b|falls\b|vielleicht\b|möglicherweise\b"
        r"|nicht\s(?:ganz\s)?ausschlie(?:ß|ss)en|könnte\s(?:\w+\s){0,2}sein|könnte\ses\b",
        "fr": r"entre\b|soit\b|hésit\w+|si\b|peut-être\b|pourrait\sêtre\b|(?:pas"
        r"|impossible\sd['’e]\s?)(?:\s\w+)?\s?(?:exclure"
        r"|trancher)",
        "es": r"entre\b|podrían?\sser\b|puede\sser\b|dud[oa]\b|duda\w*\b|si\b|quizás?\b|tal\svez\b|(?:no"
        r"|imposible)\s(?:\w+\s)?(?:descartar"
        r"|decidir)",
    },
    {
        "ja": r"迷|とも(?:言え|考え|いえ)|かもしれ|(?<!か)もし|可能性|のどちらか|なのか|とは言い切",
        "ko": r"사이에서|고민|수도\s|만약|인지|가능성|라면",
        "zh": r"要么|之间|犹豫|可能|也许|如果|若|还是[A-Z]",
    },
)
UNREAL = lazy_pattern(
    r"['’]d\sbe\b|\b(?:would|(?:be|an|über|aus)?(?:wäre|würde|hätte|käme|gäbe|fände|ginge|bliebe|müsste|läge)n?"
    r"|(?:ser|habr|quedar|costar|tendr|dar|har|obtendr|saldr|necesitar|pagar|estar|llenar|recibir)ían?"
    r"|(?:ser|aur|rester|coûter|fer|obtiendr|donner|faudr|paier|vaudr)ai(?:t|ent))\b"
    r"|だった(?:はず|ろう)|었을|았을|本来会|就会",
    re.IGNORECASE,
)
CONDITION = lazy_pattern(
    r"\b(?:if|had\s(?:it|he|she|they)|wenn|falls|si|s['’]il|for|für|pour|with|mit|avec|con)\b|なら|れば|たら|면|如果|要是|若",
    re.IGNORECASE,
)
"""What would be so, and when: 'It would be 17 if …, but …'."""
WITH_OTHER = lazy_pattern(
    r"[\W_]*(?:with(?:out)?|including|counting|mit|ohne|inklusive|avec|sans|en\scomptant|con|sin|contando)\b",
    re.IGNORECASE,
)
"""What opens a sentence of another case: 'With the teacher it would be 112'."""
DISMISSED = _any_of(
    {
        "en": r"(?:not|never|neither|nor|none|wrong|incorrect|false|mistaken|invalid|fails?|contradicts?"
        r"|contradicted|lacks?|irrelevant|nonsense|no\ssense)\b"
        r"|\w+n['’]t\b|(?:rul|eliminat|exclud|discard|reject|dismiss)(?:e|es|ed|ing|s)?\b|(?:is|are|was"
        r"|so\sis)\sout\b|too\b|unlike\b",
        "de": r"(?:nicht|kein\w*|weder|noch|falsch\w*|unzutreffend|unmöglich|entfällt|entfallen|ausgeschlossen)\b"
        r"|scheide\w*|(?:fällt|fallen)\s(?:\w+\s)?(?:weg|aus|raus)"
        r"|(?:aus|weg)(?:schlie(?:ß|ss)|lass|fall)\w*|schlie(?:ß|ss)\w+|streich\w+|zu\s(?:\w+)\b(?=\W*$)|widerspr\w+|ebenso\b"
        r"|ebenfalls\b|auch\snicht|genauso\swenig",
        "fr": r"(?:pas|ni|faux|fausses?|incorrect\w*|impossible|trop|aucune?)\b|élimin\w+|exclu\w*|écart\w+"
        r"|contredi\w+",
        "es": r"(?:no|ni|tampoco|fals[oa]s?|incorrect[oa]s?|imposible|demasiado|ninguna?)\b|descart\w+|elimin\w+"
        r"|exclu\w+|contradic\w+",
    },
    {
        "ja": r"ない|ません|違い|違う|誤り|間違|不正解|除外|除[いくき]|外れ|当てはまらず|不適",
        "ko": r"아니|아닙|않|없|틀[렸리립]|제외|오답|배제|해당하지",
        "zh": r"不|错|錯|排除|没有|沒有|并非|太[小大高低早晚]",
    },
)
SOLE = _any_of(
    {
        "en": r"leav(?:es?|ing)\b|remain(?:s|ing)?\b|is\sleft\b|the\sonly\b|only\b(?=\W*$)",
        "de": r"bleibt\b|übrig\b|verbleibt\b",
        "fr": r"(?:il\s(?:ne\s)?)?reste\b|ne\sreste\b",
        "es": r"(?:solo|sólo|nos)?\s?quedan?\b",
    },
    {"ja": r"残[るっり]|だけが|しか", "ko": r"남[는은습]|(?<!지)만\s", "zh": r"剩"},
)
SETTLED = _any_of(
    {
        "en": r"(?:pick|choose|select|gives?\sus|go(?:ing)?\s(?:with|for)|settl\w+\son|stick\w*\swith"
        r"|lean\w*\stowards?|opt\w*\sfor|best|better|wins|by\sfar|correct|right|fits?|makes?\ssense|match(?:es)?"
        r"|satisf\w+|works|must\sbe|has\sto\sbe|answer|final|finally|what\swe|actually|after\sall)\b",
        "de": r"(?:nehme|wähle|entscheide|tippe|richtig\w*|korrekt\w*|stimmt|trifft|passt|gesucht|tatsächlich"
        r"|doch|vielmehr|antwort|lösung|erfüllt)\b",
        "fr": r"(?:pench\w+|choisi\w*|opte|retien\w+|bonne|correct\w*|juste|convient|en\sréalité|finalement|donc"
        r"|réponse)\b",
        "es": r"(?:quedo|inclino|elijo|escojo|opto|correct[oa]|válida|en\srealidad|finalmente|respuesta|cumple)\b",
    },
    {
        "ja": r"にします|選[びぶ]|正し|正解|適切|実際|やはり|答え|になり|が合|よって|したがって",
        "ko": r"선택|고르|정답|맞[습는아]|실제로|역시|답은|적절|알맞|적합|따라서|그러므로",
        "zh": r"选|選|正确|正確|才对|才是|其实|应该|应为|最后|最终|答案|更合适|符合|所以|因此",
    },
)
RUNNER_UP = _any_of(
    {
        "en": r"(?:comes?|came|ranks?)\s(?:\w+\s)?(?:second|third)\b|runner-up\b"
        r"|is\s(?:only\s)?second(?=\s*[.,;)]|\s*\Z|\s(?:at|with|by)\b)|(?:the\s)?second(?:\s\w{2,}est)?\sis\b",
        "de": r"nur\s(?:der|die|das)\s(?:zweit|dritt)\w*|zweit\w+\sist\b",
        "fr": r"arrive\s(?:\w+\s)?(?:deuxième|second|troisième)|(?:deuxième|second)\sest\b",
        "es": r"(?:solo|sólo)\s\w+\s(?:segund|tercer)|segund[oa]\ses\b",
    },
    {"ja": r"は[二2]番目で|[二2]番目[はが]", "ko": r"는\s두\s?번째입|두\s?번째[는로]", "zh": r"其次|第二(?:是|大)"},
)
"""Said of a thing that comes behind the one asked for."""
WHEREAS = _any_of(
    {
        "en": r"(?:while|whereas|unlike|though|although|than)\b(?!\s(?:it\s)?(?:also|could|might|may)\b)",
        "de": r"(?:während|obwohl|wohingegen|wobei|als)\b(?!\s(?:auch|könnte))",
        "fr": r"(?:alors|tandis|bien)\sque\b",
        "es": r"(?:mientras|aunque)\b(?!\s(?:también|podría|quizá))",
    },
    {"ja": r"一方で?、", "ko": r"반면", "zh": r"虽然|虽|尽管"},
)
"""What opens a clause about something else."""
AFFIRMATION = lazy_pattern(
    r"\b(?:(?:beyond|without)\s(?:a\s|any\s)?doubt|no\s(?:doubt|question|wonder|need|longer)|not\s(?:always|only|just"
    r"|merely|surprisingly|sure|certain|entirely|completely"
    r"|(?:a\s)?(?:hundred|100)\b)|none\sother|(?:no\s?one|nobody|nothing|no\sother\s\w+)\s(?:but|other\sthan|except)"
    r"|why\snot|if\snot"
    r"|kein\w*\s(?:zweifel|frage|wunder|ander\w+)|nicht\s(?:immer|nur|allein|sicher|umsonst|ganz)|(?:niemand"
    r"|nichts)\sander\w+"
    r"|wenn\snicht|ohne\s(?:jeden\s)?zweifel|zweifellos|zweifelsohne|zweifelsfrei"
    r"|(?:aucun|nul|pas\s(?:de|le\smoindre))\sdoute|pas\s(?:toujours|seulement|sûre?|certaine?)|sans\s(?:aucun\s|nul\s"
    r"|le\smoindre\s)?doute|(?:nul|personne\sd['’])\s?autre"
    r"|sinon"
    r"|sin\s(?:ninguna\s|lugar\sa\s)?dudas?|no\s(?:cabe|hay|tengo)\s(?:la\smenor\s|ninguna\s)?dudas?|no\s(?:s[oó]lo"
    r"|solamente|estoy|me\scabe)|no\sotr[oa]|nadie\s(?:más|sino)"
    r"|si\sno)\b"
    r"|不[仅但只光单愧用止如]|毫无疑问|毫不|没有?错|莫过于|不外乎|无非|不确定|不太确定|无疑"
    r"|難道不|难道不|是不是|不就是|岂不",
    re.IGNORECASE,
)
"""Words with a negation that deny nothing of what follows."""
CLAUSE_END = lazy_pattern(
    r"[.!?;:…](?:\s|\Z)|[。！？；，：\n]|(?<!\d)[,、]|,\s|\s[–—]\s|[)）](?=\s?[,.])"
    r"|\b(?:but|and|yet|while|whereas|so|though|although|aber|und|jedoch|während|somit|damit|denn|mais|et|donc"
    r"|car|tandis|alors|pero|y|mientras|así)\b"
    r"|(?<=[면고며만데니])\s|(?<=되어|하여|해서|아서|어서|지만)\s|(?<=므로)\s|(?<=니까)\s|ので(?=[A-Z])|但|而(?!是)|所以|因此",
    re.IGNORECASE,
)
FORMERLY = lazy_pattern(
    r"\b(?:formerly|previously|once|until|before\s(?:that|then)|used\sto|vorher|zuvor|davor|auparavant|früher\w*|einst|ehemals|bis|autrefois|jadis|jusqu['’]\w*|antes"
    r"|antiguamente"
    r"|hasta)\b|かつて|以前|昔|旧|옛|예전|과거|까지|曾|原来|原來|过去|過去|直到",
    re.IGNORECASE,
)
NOWADAYS = lazy_pattern(
    r"\b(?:today|now|nowadays|currently|since|heute|jetzt|seitdem|inzwischen|mittlerweile|seit|aujourd['’]hui|désormais"
    r"|maintenant|depuis|hoy|ahora|actualmente|desde)\b|現在|今は|今の|지금|현재|오늘날|이제|现在|現在|如今|目前"
    r"|后来|後來",
    re.IGNORECASE,
)
MAYBE = lazy_pattern(
    r"\b(?:maybe|perhaps|possibly|(?:could|might|may)\s(?:\w+\s)?be|vielleicht|möglicherweise|(?:könnte|kann)\s(?:\w+\s){0,2}sein|könnte\ses"
    r"|peut-être|pourrait\sêtre|quizás?|tal\svez|a\slo\smejor|podrían?\sser|puede\sser)\b|もしかすると|かもしれ|아마|수도\s있|也许|或许|可能是",
    re.IGNORECASE,
)
DEPENDS = lazy_pattern(
    r"(?:\A|(?<=[.;]\s))[\W_]*(?:(?:but|und|et|y|pero|mais|aber)\s)?(?:if|when|wenn|falls|si)\s[^.;]{3,60}?,",
    re.IGNORECASE,
)
"""What opens one of several cases: 'If you go by size, …; if by age, …'."""
CANDIDATES = lazy_pattern(
    r"\b(?:(?:are|seem|sind|son|sont)\s(?:both|equally|beide|los\sdos|tous\sles\sdeux|ambos)\b|both\s(?:are\s)?(?:possible|candidates|plausible|correct|right|options)"
    r"|(?:beide|ambos|ambas)\s(?:\w+\s){0,2}(?:möglich|denkbar|infrage|in\sfrage|posibles?|candidat\w+|válid\w+))\b"
    r"|どちらも(?:可能|あり得|考えられ)|둘\s?다\s(?:가능|맞)|两者都(?:有可能|可能|对)|都有可能",
    re.IGNORECASE,
)
"""'Mars and Venus are both candidates'."""
NEGATIVE = lazy_pattern(
    r"\b(?:no|not|never|neither|nicht|kein\w*|weder|pas|aucun\w*|no|ningun\w*|tampoco)\b|n['’]t\b"
    r"|ない|ません|なく|なかった|않|아니|아닌|아닙|없|不|没|非(?=[^常])|未",
    re.IGNORECASE,
)
