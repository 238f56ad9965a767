"""Pieces of sentences in seven languages, each with what it sets, and ways to leave a language out."""

from __future__ import annotations

from typing import Any

Piece = tuple[str, dict[str, Any]]

SIZES: dict[str, list[Piece]] = {
    "en": [("forty questions", {"limit": 40}), ("a fifth of the questions", {"share": 0.2}), ("n=60", {"limit": 60})],
    "de": [("vierzig Fragen", {"limit": 40}), ("zwei Dritteln der Fragen", {"share": 2 / 3}), ("n=60", {"limit": 60})],
    "es": [("cuarenta preguntas", {"limit": 40}), ("la cuarta parte", {"share": 0.25}), ("n=60", {"limit": 60})],
    "fr": [("cent questions", {"limit": 100}), ("un quart des questions", {"share": 0.25}), ("n=60", {"limit": 60})],
    "ko": [("마흔 문제", {"limit": 40}), ("4분의 1만", {"share": 0.25}), ("n=60", {"limit": 60})],
    "ja": [("四十問", {"limit": 40}), ("五分の一", {"share": 0.2}), ("n=60", {"limit": 60})],
    "zh": [("四十道题", {"limit": 40}), ("四分之一", {"share": 0.25}), ("n=60", {"limit": 60})],
}
SAID: dict[str, list[Piece]] = {
    "en": [
        ("a dollar twenty", {"cost": 1.2}),
        ("max 45 min", {"minutes": 45}),
        ("seed 7", {"seed": 7}),
        ("three-shot", {"shots": 3}),
        ("asked twice", {"epochs": 2}),
        ("concurrency 4", {"concurrency": 4}),
    ],
    "de": [
        ("Budget 7,50 $", {"cost": 7.5}),
        ("in einer Dreiviertelstunde", {"minutes": 45}),
        ("Startwert 42", {"seed": 42}),
        ("mit drei Beispielen", {"shots": 3}),
        ("jede Frage 4 mal", {"epochs": 4}),
        ("8 gleichzeitig", {"concurrency": 8}),
    ],
    "es": [
        ("dólar y medio como mucho", {"cost": 1.5}),
        ("en hora y media", {"minutes": 90}),
        ("semilla 7", {"seed": 7}),
        ("con tres ejemplos", {"shots": 3}),
        ("repetido 3 veces", {"epochs": 3}),
        ("8 a la vez", {"concurrency": 8}),
    ],
    "fr": [
        ("sans dépasser 12 $", {"cost": 12}),
        ("en trois quarts d'heure", {"minutes": 45}),
        ("graine 7", {"seed": 7}),
        ("avec trois exemples", {"shots": 3}),
        ("4 fois par question", {"epochs": 4}),
        ("8 à la fois", {"concurrency": 8}),
    ],
    "ko": [
        ("예산: 3 USD", {"cost": 3}),
        ("한 시간 반 안에", {"minutes": 90}),
        ("시드 7", {"seed": 7}),
        ("예시 3개", {"shots": 3}),
        ("문제당 세 번씩", {"epochs": 3}),
        ("동시 요청 16개", {"concurrency": 16}),
    ],
    "ja": [
        ("1ドル50セント以内", {"cost": 1.5}),
        ("半時間で", {"minutes": 30}),
        ("シード7", {"seed": 7}),
        ("例を3つ見せて", {"shots": 3}),
        ("各問3回ずつ", {"epochs": 3}),
        ("並列16", {"concurrency": 16}),
    ],
    "zh": [
        ("五美元封顶", {"cost": 5}),
        ("一刻钟内", {"minutes": 15}),
        ("种子7", {"seed": 7}),
        ("给三个示例", {"shots": 3}),
        ("每题三遍", {"epochs": 3}),
        ("并发8", {"concurrency": 8}),
    ],
}
OTHERS: dict[str, list[str]] = {
    "en": [
        "ticket #4521",
        "our 40 customers want to know",
        "the deadline is May 3",
        "by 5pm",
        "for a team of 6",
        "in 2026",
    ],
    "de": ["Ticket #4521", "wir haben 40 Kunden", "bis zum 3. Mai", "bis 17 Uhr", "für Projekt 12", "Stand 2025"],
    "es": ["ticket #4521", "tenemos 40 clientes", "antes del 3 de mayo", "antes de las 17:00", "para el proyecto 12"],
    "fr": ["ticket #4521", "nous avons 40 clients", "avant le 3 mai", "avant 17h", "pour le rapport 2026"],
    "ko": ["티켓 #4521", "고객이 40명 있어요", "5월 3일까지", "12번 프로젝트", "2026년 보고서용"],
    "ja": ["チケット#4521", "顧客が40人います", "5月3日まで", "17時まで", "3回目の試みです"],
    "zh": ["工单#4521", "我们有40个客户", "5月3日之前", "下午5点前", "这是第3次尝试", "12号项目"],
}
JOINS = {"ko": (", ", ". "), "ja": ("、", "。"), "zh": ("，", "；", "。")}
LATIN_JOINS = (", ", "; ", " - ", ". ")

WITHOUT: dict[str, tuple[str, list[str]]] = {
    "en": (
        "German",
        [
            "without {}",
            "except {}",
            "leave {} out",
            "leave {} out of it",
            "every language save {}",
            "non-{}",
            "drop {}",
            "with {} excluded",
            "don't include {}",
            "ignore {}",
            "barring {}",
            "not {}",
        ],
    ),
    "de": (
        "Deutsch",
        [
            "ohne {}",
            "alle Sprachen bis auf {}",
            "{} weglassen",
            "lass {} weg",
            "schließe {} aus",
            "kein {}",
            "mit Ausnahme von {}",
            "{} ausgenommen",
            "ausgenommen {}",
            "{} nicht",
            "abgesehen von {}",
        ],
    ),
    "es": (
        "alemán",
        [
            "sin {}",
            "todos los idiomas menos {}",
            "a excepción del {}",
            "no {}",
            "deja fuera el {}",
            "omite el {}",
            "excluye {}",
            "aparte del {}",
            "salvo {}",
            "pero no en {}",
        ],
    ),
    "fr": (
        "l'allemand",
        [
            "sans {}",
            "toutes les langues sauf {}",
            "à part {}",
            "exclus {}",
            "en dehors de {}",
            "hormis {}",
            "en laissant de côté {}",
            "retire {}",
            "excepté {}",
            "à l'exception de {}",
        ],
    ),
    "ko": (
        "독일어",
        ["{} 빼고", "{} 제외", "{} 외의 모든 언어", "{} 말고 모든 언어", "{}를 뺀 나머지", "{}는 빼줘", "비{}"],
    ),
    "ja": ("ドイツ語", ["{}以外", "{}を除く", "{}抜きで", "{}はいらない", "{}を含めず", "{}は外して", "非{}"]),
    "zh": (
        "德语",
        ["不要{}", "除了{}以外的所有语言", "跳过{}", "{}不要", "{}就不用了", "排除{}", "不测{}", "非{}", "{}除外"],
    ),
}
