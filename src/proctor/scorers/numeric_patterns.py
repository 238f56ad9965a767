"""What stands around the number a response ends with, in the languages benchmarks are written in."""

from __future__ import annotations

import re

from proctor.scorers.lazy_pattern import lazy_pattern

CONCLUDES = lazy_pattern(
    r"(?:\b(?:therefore|thus|hence|in\ total|in\ conclusion|altogether|overall|finally|daher|somit|insgesamt|au\ total"
    r"|par\ conséquent|donc|por\ (?:lo\ )?tanto|en\ total|portanto|итого|следовательно|таким\ образом)\b"
    r"|因此|所以|总共|一共|したがって|よって|따라서|그러므로|إذن|لذلك)",
    re.IGNORECASE,
)
GOES_ON = lazy_pattern(
    r"[=≈]|\b(?:so|then|next|now|total|left|dann|also|ensuite|reste|luego|entonces|quedan|затем|тогда)\b|然后|那么",
    re.IGNORECASE,
)
# Where a response turns from its answer to what supports it: at the start of a line or sentence …
AFTERWORD = lazy_pattern(
    r"""(?:(?<=\n)|(?<=[.!?✓]\s)|(?<=[。！？]))[\W_]{0,9}(?:
    (?:(?:please\ )?note|n\.?b\.|(?:(?:to|let['’]s|let\ me|you\ can|we\ can)\ )?(?:double[ -])?(?:check|verif\w+)|proof
      |assum\w+|remember|reply|hinweis|anmerkung|probe|remarque|vérification|nota|comprobación|verificación|примечание
      |проверка
      |(?:by|for|in)\ (?:comparison|contrast|reference)|by\ the\ way|incidentally|fun\ fact
      |zum\ vergleich|übrigens|nebenbei|à\ titre\ (?:de\ comparaison|indicatif)
      |(?:pour|en)\ comparaison|au\ passage|en\ comparación|por\ cierto|como\ curiosidad
      |if\ you\ (?:need|have|want|would)|let\ me\ know|feel\ free|i\ hope
      |th(?:is|at)(?:\ |(?=['’]s))(?:includes|assumes|was|accounts|comes\ from|consists|makes\ sense
        |(?:is|['’]s)\ (?:because|based|calculated
        |[$€£]?[\d.,]+%?\ (?:more|less|fewer|times|higher|lower))))\b
    |ちなみに|参考までに|なお|참고로|덧붙이|顺便|另外|注意|注[:：]|验证|验算|检验|検算|검산|참고|ملاحظة
    |(?P<grounds>given(?!\saway)|explanation|reasoning|solution|steps?|step-by-step|calculations?|breakdown|work|working
    |details|how
      |here['’]s\ (?:how|why|the)|erklärung|begründung|rechnung|lösungsweg|explication|calculs?|explicación|cálculos?
      |пояснение|решение|解释|解析|説明|설명|풀이|الشرح)\b
    |(?P<origins>initially|originally|at\ (?:first|the\ (?:beginning|start))
      |\w+\ (?:started|began|had|initially|originally))\b)""",
    re.VERBOSE | re.IGNORECASE,
)
# … or in the middle of one; 'and after that' goes on instead.
REASON = lazy_pattern(
    r"""\b(?:because|since|weil|denn|puisque|car|parce\ que|porque|ya\ que|потому\ что|так\ как)\b|\bcheck(?:ing)?:
    |因为|比|[，,]占|，?其中|、?そのうち|그\ ?중(?!에)
    |(?<!\band\ )(?<!,\ )\b(?:after|before|when|if|using|including|despite|nach|après|después|после)\b
    |,\s(?!(?:making|giving|total|bring|result|yield|reach|equal|leav|add|amount|com|earn|cost)\w*\b)(?-i:[a-z]+ing)\b
    |,\s(?=[\d.]+\s(?:of\s(?:them|whom|which)|de\s(?:ellos|ellas)|d['’]entre|von\s(?:ihnen|denen)|davon)\b)
    |,\s(?:of\s(?:which|whom|them|these|those)|including|darunter|wovon|incluid[oa]s?|incluyendo|y\scompris)\b
    |,\s(?:i\.e\.|d\.\s?h\.|nämlich\b|namely\b|à\ssavoir\b|a\ssaber\b)
    |,\s(?:(?:al)?though|even\sif|obwohl|auch\swenn|même\ssi|bien\sque|aunque)\b
    |,\ (?:(?:which|who)\ (?:is|are|was|were|represents|had)|(?:with|or)(?!\ [^.]{0,30}total)|compared|versus|vs|from
      |das\ (?:sind|entspricht)|reached|attained|at|each|reading|where|while|whereas|dont
      |soit(?!\s[\d.,]+\s?[€$%]?(?:\s?[^\W\d]{1,12}){0,3}\.?\s*\Z)
      |de\ l[oa]s\ cuales|contre|wobei|davon
      |während|mientras|frente|alors\ que)\b""",
    re.VERBOSE | re.IGNORECASE,
)
BECAUSE = lazy_pattern(r"because|since|weil|denn|puisque|car|parce|porque|ya|потому|так|check|因为", re.IGNORECASE)
SO = lazy_pattern(
    r"\b(?:so|thus|therefore|hence|donc"
    r"|(?<!could\s)(?<!can\s)(?<!would\s)(?<!is\s)(?<!are\s)(?<!was\s)(?<!has\s)(?<!have\s)(?<!but\s)(?<!and\s)(?<!it\s)(?<!we\s)(?<!you\s)(?<!they\s)also"
    r"|daher|por\ (?:lo\ )?tanto|así\ que|поэтому|somit|folglich|ainsi"
    r"|par\ conséquent|de\ ahí\ que|por\ ende)\b|\bd['’]où\b|所以|因此|ので|므로|따라서",
    re.IGNORECASE,
)
REASON_AT_END = lazy_pattern(r"(?:から(?:です)?|ため(?:です)?|때문(?:입니다|이다|이에요)|니까요?|거든요)\W*$")
OPERATOR = lazy_pattern(r"\d\s?[-+*/×÷·]\s?[$€£]?\d|\d\s(?:times|plus|minus|divided|multiplied)\s", re.IGNORECASE)
UNDONE_SUM = lazy_pattern(r"\d\s?[+*×÷·]\s?[$€£]?\d[\d.,]*[^\d=]*$")
INTRODUCTION = lazy_pattern(
    r"[\W_]*(?:if|when|since|because|as|with|after|given|while|for|in|at|by|wenn|da|nach|mit|si|comme|quand|avec"
    r"|après|como"
    r"|cuando|con|если|так\ как|когда)\b[^\n]{0,160}?,\s",
    re.IGNORECASE,
)
RATIO = lazy_pattern(r"\d:$")
NUMBERED = lazy_pattern(r"(?m)^[ \t>*_#-]{0,8}(\d{1,2})[.)][*_]*[ \t]+(?=\S)")
HEADED = lazy_pattern(
    r"\b(?:step|question|problem|example|case|part|figure|table|equation|method|schritt|étape|paso|шаг)\s*[#(]?$|步骤$",
    re.IGNORECASE,
)
RANGE = lazy_pattern(r"\s?(?:[–—~〜]|(?<! )-(?! )|(?:to|bis|à|a|до|至|到)\s)\s?(?=[$€£]?\d)")
_UNIT = r"[^\s\d,.:;，。、；：]{0,3}?"
_LONG_UNIT = r"[^\s\d,.:;，。、；：]{0,6}?"
SPAN = lazy_pattern(
    rf"{_UNIT}\s?(?:から|[至到～~-]|에서|부터)\s?[\d.,]+\s?{_UNIT}\s?(?:の間|まで|くらい|ほど|程度|之间|之間|左右"
    rf"|上下|사이|까지|정도|쯤|가량)"
)
"""'10から20の間', '10到20之间', '10에서 20 사이' behind its first number."""
SPAN_BETWEEN = lazy_pattern(rf"{_UNIT}\s?(?:から|에서|부터|[到至～~〜])\s?")
ARRIVES = lazy_pattern(rf"{_UNIT}\s?(?:[にへ]|으?로)")
"""'80から92に' arrives at 92."""
OR = lazy_pattern(
    r"\s(?:or|oder|ou|o|или)\s(?:[a-z]\s?=\s?)?(?=[$€£]?-?\d)|,?\s(?:o\sbien|ou\sbien)\s(?=[$€£]?\d)|(?<=soit\s\d),?\ssoit\s|(?<=soit\s\d\d),?\ssoit\s"
    r"|,?\s(?:or\s)?(?:maybe|perhaps|possibly|vielleicht|peut-être|quizás?|tal\svez)\s(?=[$€£]?\d)"
    rf"|{_LONG_UNIT}\s?(?:か|または|もしくは|或者?|还是|還是|또는|혹은|이?나|이?거나)、?\s?(?=\d)"
)
BOUND_BEFORE = lazy_pattern(
    r"\b(?:(?:more|less|fewer|greater|higher|lower)\sthan|over|under|above|below|at\s(?:least|most)|(?<!add\s)(?<!adds\s)(?<!comes\s)up\sto"
    r"|no\s(?:more|fewer)\sthan"
    r"|mehr\sals|weniger\sals|über|unter|mindestens|höchstens|plus\sde|moins\sde|au\s(?:moins|plus)"
    r"|más\sde|menos\sde|al\smenos|como\smáximo|por\slo\smenos)\s[$€£]?\Z|(?:少なくとも|多くとも|せいぜい|超过|超過"
    r"|至少|最多|不到|최소|최대)\s?\Z",
    re.IGNORECASE,
)
BOUND_AFTER = lazy_pattern(
    r"\s?[^\s\d,，。]{0,4}?\s?(?:以上|以下|未満|超(?!え)|이상|이하|미만|초과)|[多余餘](?=[^\d少])|여\s?[가-힣]|\+(?!\d)|\s(?:or|and)\s(?:more|less"
    r"|fewer|above)\b"
)
LIMIT_ASKED = lazy_pattern(
    r"\b(?:least|most|minim\w*|maxim\w*|mindest\w*|höchst\w*|moins|plus|mínim\w*|máxim\w*|menos|más|old|alt|âge|edad)\b"
    r"|最|至少|최|以上|以下|이상|이하|何歳|몇\s?살",
    re.IGNORECASE,
)
"""'How old must one be?' is answered by 'at least 18'."""
MISSED = lazy_pattern(
    r"\s(?:(?:\w+|[€$%])\s)?(?:would\sbe|is|are|was|were|wäre|wären|ist|sind|serait|est|sería|es)\s(?:\w+\s)?"
    r"(?:too\s(?:few|many|much|little|small|large|low|high|big)|wrong|incorrect|zu\s(?:wenig|viel|klein|groß|hoch"
    r"|niedrig)\w*|falsch"
    r"|trop|faux|insuffisant|demasiad\w+|incorrect[oa]|insuficiente)\b",
    re.IGNORECASE,
)
"""Said behind a number that is not the answer."""
REMAINDER = lazy_pattern(
    r"\b(?:left|keeps?|kept|behält|behalten|gard(?:e|ent|er|é)|remain\w*|übrig|verbleib\w*|bleib\w*|qued\w+|sobr\w+|reste(?:nt|r)?|rest\w*|осталось)\b|[剩余餘残]|남|おつり|お釣り|거스름돈(?!으로)|找[回零]|\bchange(?=\s(?:does|do|did|will|is|was|should)\b|:)"
    r"|\b(?:wechselgeld|rückgeld|vuelta|cambio|monnaie)\b",
    re.IGNORECASE,
)
SPENT = lazy_pattern(
    r"\b(?:spen[dt]\w*|used|ate|gave|paid|sold|lost|ausgegeben|gab\b|gibt\s[^.!?]{1,16}\s(?:weg|aus|ab)\b|verbrauch\w*|bezahlt|gegessen|verkauft"
    r"|verloren|gast\w+"
    r"|donn\w+|dio|dieron|regal\w+|gegeben|weggegeben|verschenk\w*|pag\w+|comi\w+|vendi\w+|perdi\w+|dépens\w+"
    r"|pay\w+|mang\w+|vendu\w*|perdu\w*|utilis\w+|потратил\w*)\b"
    r"|[花吃]|用了|用掉|给了|卖|使っ|払|食べ|売|あげ|渡|썼|쓰|사용|먹|지불|팔|주었|줬|준",
    re.IGNORECASE,
)
CLAUSE_END = lazy_pattern(r"[,;，、；]|(?<=[고며])\s|(?<=で)、?|\b(?:and|und|y|et|и)\b", re.IGNORECASE)
# 'rose from 80 to 92' arrives at 92.
CHANGED = lazy_pattern(
    r"\b(?:rose|risen|rises|increas\w+|grew|grown|went|fell|falls|dropp\w+|decreas\w+|reduc\w+|rais\w+|chang\w+"
    r"|stieg\w*|sank|fiel"
    r"|augment\w+|pass[eé]\w*|baiss\w+|diminu\w+|subi\w+|aument\w+|baj\w+|pasó)\b[^.,;\n]{0,20}\b(?:from|von"
    r"|de)\s+[$€£]?$",
    re.IGNORECASE,
)
BETWEEN = lazy_pattern(r"\b(?:between|zwischen|entre)\s+[$€£]?$", re.IGNORECASE)
ASIDE = lazy_pattern(r"(?<=[\s²³\u3000-\uffff])\([^()\n]*\)")
BOLD = lazy_pattern(r"\*\*([^*\n]+)\*\*")
KNOWN = lazy_pattern(
    r"""\b(?:not|instead\ of|rather\ than|as\ opposed\ to|nicht|statt|anstelle\ von|au\ lieu\ de|plutôt\ que
    |en\ lugar\ de|en\ vez\ de|pas|non|no|не|а\ не)\s+(?:(?:in|im\sjahre?|en|am|on)\s+)?[$€£]?$
    |(?:不是|而不是|这|那|其余)$
    |(?:[\d%]\s+|\bout\s|\d\s\w+\s)of\s[$€£]?$|[\d%]\s(?:von|sur|de|der)\s$
    |\b(?:half|third|quarter|fourth|fifth|sixth|eighth|tenth|hälfte|\w{2,8}tel|moitié|tiers|quart|\w+ième|mitad|tercio
      |cuarto|\w+\sparte)\s(?:of|von|de)\s$
    |\d\s\w+\s(?:von\sden|sur\sles|de\slos|de\slas)\s$
    |(?:(?<!in\ )\ball|\b(?:the|these|those|both|his|her|their|its|our|your|die|den|diesen?|allen?|les|ces|ses|los|las
      |sus))\s(?:(?:original|first|last|other|initial|given|same)\s)?[$€£]?$""",
    re.VERBOSE | re.IGNORECASE,
)
# What a calculation comes to, or is rounded to.
RESULT = lazy_pattern(
    r"(?<!\d[a-z])(?<!\d[a-z]\ )(?:[-+*/×÷·^]|\sx)\s?[$€£(]?(?:\\[dt]?frac\s?\{)?[\d.](?:[^=≈\n,;:]|,\d){0,40}"
    r"[=≈]\s*[$€£]?$|\b(?:minus|plus|times|less|divided|mal|geteilt|fois|moins|por|menos|más|entre)\s[^=≈\n;:]{0,40}[=≈]\s*[$€£]?$|\\[dt]?frac\s?\{[^=≈\n;:]{1,60}[=≈]\s*[$€£]?$"
    r"|\d[^.;\n]{0,20}\s(?:por|entre|más|menos|mal|geteilt|plus|minus|fois|divisé|times|divided)\s[^.;\n]{0,20}"
    r"\s(?:son|es|da|sind|ist|macht|ergibt|font|fait|égale|is|are|makes|equals|gives)\s+$"
    r"|\b(?:total\ of|(?:in|au|en)\stotal|insgesamt|zusammen)\s+[$€£]?$"
    r"|\bround\w*\s(?:it\s)?(?:(?:up|down|off)\s)?to\s+[$€£]?$",
    re.IGNORECASE,
)
UNFINISHED = lazy_pattern(r"[^=\n,.;]{0,20}?\s?[-+*/×÷·]\s?[$€£]?\d|\s(?:decimal|significant)\b")
OBJECT = lazy_pattern(r"\b(?:takes?|took|costs?|gives?|gave|leaves?|left|earns?|saves?)\sher\s+$", re.IGNORECASE)
CIRCUMSTANCE = lazy_pattern(
    r"""\b(?:over|after|during|within|than|per|every|from|at|among|end\ of|in|for|nach|während|innerhalb\ von|pro
      |aus|bei(?:\s\w+)?|in\ den|um|après|pendant|en|dans|par|pour(?:\s\w+)?|pour\sune?\s\w+\sde
      |durante|después\ de|dentro\ de|tras
        |para(?:\s\w+)?|через
      |за|после|из|чтобы\s\w+|بعد|خلال|من|أصل)\s+$
    |(?<!left\ )(?<!him\ )(?<!her\ )(?<!them\ )(?<!up\ )\bwith\s(?:an?\s\w+\sof\s)?[$€£]?$
    |\b(?:over|after|than|per|from|at|from\s[$€£]?[\d.,]+\sto)\s+[$€£]$
    |\d\s[^\W\d]+\s(?:mit|con|avec|à)\s$
    |\b(?:between|zwischen|entre)\s(?:[\d.,]+\s(?:and|und|et|y)\s)?$
    |(?<!has)(?<!have)(?<!had)(?<!need)(?<!needs)(?<!going)(?<!able)\sto\s(?!get|obtain|be\b|give|equal)[a-z]+\s+[$€£]?$
    |(?:在|每|用|经过|从|比|完)$""",
    re.VERBOSE | re.IGNORECASE,
)
MEANWHILE = lazy_pattern(
    r"""\s?[^\s\d,，。]{1,4}\s?(?:后|後|内|間で|以内|동안|후|만에)|\s(?:decimal|significant)\b|-[a-z]{2,}|(?<=[%t])\s(?:of|von|de[rs]?|del)\b
    |\s(?:\w+\s){0,2}?(?:(?:more|less|fewer|\w{2,}er)\s(?:\w+\s)?than\b(?!\s[$€£]?\d)|(?:mehr|weniger)\sals\b
      |(?:de\s)?(?:plus|moins)\sque\b|(?:más|menos)\sque\b)""",
    re.VERBOSE | re.IGNORECASE,
)
RATE_ASKED = lazy_pattern(
    r"\b(?:per|pro|par|por|each|every|je|cada|chaque)\s\w+|\ban\shour\b|\w/\w|毎|每|あたり|마다", re.IGNORECASE
)
RATE = lazy_pattern(r"(?:\s\w+)?\s(?:an?|per|each|every|pro|je|par|por|al)\b|\s?(?:mph|km/h|m/s|км/ч)", re.IGNORECASE)
