"""Sentences composed of pieces in random order: no piece changes what another one sets."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest

from planner.composed import JOINS, LATIN_JOINS, OTHERS, SAID, SIZES, WITHOUT
from planner.world import world
from proctor.domain.errors import UserError
from proctor.planner.lexicon import LANGUAGES
from proctor.runs.plans.draft_plan import draft_plan

SENTENCES = 40
"""Composed of each language's pieces."""
PIQA = 1838
MGSM = ["bn", "de", "en", "es", "fr", "ja", "ru", "sw", "te", "th", "zh"]


def plan(query: str) -> dict[str, Any]:
    return draft_plan(query, world()).plan


def entry(found: dict[str, Any]) -> dict[str, Any]:
    (item,) = found["benchmarks"]
    return item if isinstance(item, dict) else {"benchmark": item}


def said(query: str) -> dict[str, Any]:
    """What a sentence about one benchmark set, by the names of the pieces."""
    found = plan(query)
    limits, item = found.get("limits", {}), entry(found)
    values = {
        "models": found["models"], "benchmark": item["benchmark"], "limit": item.get("limit"),
        "shots": item.get("shots"), "cost": limits.get("cost_usd"), "minutes": limits.get("minutes"),
        "concurrency": limits.get("concurrency"), "seed": found.get("seed"), "epochs": found.get("epochs"),
    }  # fmt: skip
    return {name: value for name, value in values.items() if value is not None}


@pytest.mark.parametrize("language", LANGUAGES)
def test_no_piece_of_a_sentence_changes_what_another_one_sets(language: str) -> None:
    rng = random.Random(language)
    for _ in range(SENTENCES):
        size, wanted = rng.choice(SIZES[language])
        pieces = [("piqa, haiku 4.5", {}), (size, wanted), *rng.sample(SAID[language], 2)]
        pieces.append((rng.choice(OTHERS[language]), {}))
        rng.shuffle(pieces)
        query = rng.choice(JOINS.get(language, LATIN_JOINS)).join(text for text, _ in pieces)
        expected: dict[str, Any] = {"models": ["anthropic/claude-haiku-4-5"], "benchmark": "piqa"}
        for _, values in pieces:
            expected |= values
        if "share" in expected:
            expected["limit"] = math.ceil(round(PIQA * expected.pop("share"), 6))
        assert said(query) == expected, query


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_is_left_out_however_it_is_said(language: str) -> None:
    name, ways = WITHOUT[language]
    join = JOINS.get(language, LATIN_JOINS)[0]
    for way in ways:
        query = join.join(["mgsm", way.format(name), "haiku 4.5"])
        assert entry(plan(query)).get("where") == {"category": [code for code in MGSM if code != "de"]}, query


@pytest.mark.parametrize(
    "query",
    [
        "Bitte lass haiku 4.5 auf mgsm auf Deutsch laufen",
        "Nimm aus mgsm den deutschen Teil, haiku 4.5",
        "leave it at German: mgsm, haiku 4.5",
        "don't forget German: mgsm, haiku 4.5",
        "haiku 4.5有没有办法做mgsm的德语题",
        "Deutsch statt Englisch: mgsm, haiku 4.5",
        "I write in English, but the questions are in German: mgsm, haiku 4.5",
        "las preguntas alemanas de mgsm, haiku 4.5",
        "les questions germanophones de mgsm, haiku 4.5",
        "mgsm in the language of Goethe, haiku 4.5",
    ],
)
def test_words_that_only_look_as_if_they_left_a_language_out_leave_it_in(query: str) -> None:
    item = entry(plan(query))
    assert (item["benchmark"], item["where"]) == ("mgsm", {"category": ["de"]})


@pytest.mark.parametrize("codes", ["zh, ja, bn", "zh/ja/bn", "zh; ja; bn", "zh|ja|bn", "zh、ja、bn", "ZH JA BN"])
def test_codes_of_languages_are_one_list_whatever_divides_them(codes: str) -> None:
    assert entry(plan(f"mgsm ({codes}), haiku 4.5"))["where"] == {"category": ["bn", "ja", "zh"]}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("haiku 4.5 on piqa, under $2 - 40 questions", {"limit": 40, "cost": 2}),
        ("I'd like to see how haiku 4.5 does on piqa - 10 %", {"limit": 184}),
        ("sonnet 5 $12 piqa 40 questions", {"limit": 40, "cost": 12}),
        ("haiku 4.5 auf piqa, fuenfzig Fragen", {"limit": 50}),
        ("haiku 4.5 en piqa, veintidos preguntas", {"limit": 22}),
        ("haiku 4.5 sur piqa, un pour cent", {"limit": 19}),
        ("haiku 4.5 on piqa, 1.000 questions", {"limit": 1000}),
        ("haiku 4.5 piqa 200문제 말고 80문제", {"limit": 80}),
        ("haiku 4.5 on piqa, 40 questions, 1:30 h", {"limit": 40, "minutes": 90}),
        ("Ich wollte erst 500 Fragen von piqa, 200 tun es aber auch", {"limit": 200}),
    ],
)
def test_amounts_are_of_what_they_stand_by(query: str, expected: dict[str, Any]) -> None:
    found = said(query)
    assert {name: value for name, value in found.items() if name not in ("models", "benchmark")} == expected


@pytest.mark.parametrize("query", ["haiku on gsm8k，100日元", "用haiku跑gsm8k，20人民币"])
def test_a_currency_whose_name_begins_as_a_date_or_people_is_still_refused(query: str) -> None:
    with pytest.raises(UserError, match="exchange rates"):
        plan(query)


@pytest.mark.parametrize(
    ("query", "note"),
    [
        ("haiku on mmlu, category astrology", "'astrology' is no category of mmlu; the nearest: astronomy, virology."),
        ("maths in Elvish, haiku", "'Elvish' is no language that is known here."),
        ("haikuでエルフ語の数学", "'エルフ語' is no language that is known here."),
        ("haiku on mmlu, 20 questions", None),
    ],
)
def test_an_unknown_category_or_language_is_told_with_what_is_nearest(query: str, note: str | None) -> None:
    assert list(draft_plan(query, world()).notes) == ([] if note is None else [note])
