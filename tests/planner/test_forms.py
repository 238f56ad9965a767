"""Forms of sizes and of languages that were once unread or refused: one form of each kind, in several languages."""

from __future__ import annotations

from typing import Any

import pytest

from planner.world import world
from proctor.domain.errors import UserError
from proctor.planner.reader import read_query
from proctor.runs.plans.draft_plan import draft_plan


def plan(query: str) -> dict[str, Any]:
    return draft_plan(query, world()).plan


def limits(query: str) -> list[int | None]:
    entries = plan(query)["benchmarks"]
    return [item.get("limit") if isinstance(item, dict) else None for item in entries]


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("haiku on piqa, a single question", 1),
        ("haiku on piqa, a question", 1),
        ("haiku auf piqa mit nur einer Frage", 1),
        ("haiku auf gsm8k, eine Aufgabe", 1),
        ("haiku sur piqa, une seule question", 1),
        ("haiku en piqa, una pregunta", 1),
        ("haiku sur piqa, 1\u202f500 questions", 1500),
        ("haiku auf piqa, 1'500 Fragen", 1500),
        ("haiku on piqa, 1 500 questions", 1500),
        ("haiku auf mmlu, anderthalbtausend Fragen", 1500),
        ("haiku mmlu 천 5백 문제", 1500),
        ("haiku mmlu 1천 5백 문제", 1500),
        ("haikuでmmluを1千5百問", 1500),
        ("haiku mmlu 1.2千题", 1200),
        ("haiku mmlu 1만 2천 문제", 12_000),
        ("haiku mmlu 十二万题", 120_000),
        ("haiku sur piqa, une paire de douzaines de questions", 24),
    ],
)
def test_one_and_thousands_are_counted_however_they_are_written(said: str, limit: int) -> None:
    assert limits(said) == [limit]


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ("haiku piqa 반의반", 0.25),
        ("haikuでpiqaの1割5分", 0.15),
        ("haiku piqa 1할 5푼", 0.15),
        ("haiku piqa 一成半", 0.15),
        ("haiku piqa 三成五", 0.35),
    ],
)
def test_tenths_with_hundredths_are_one_share(said: str, share: float) -> None:
    reading = read_query(said, world())
    assert [(size.kind, size.value) for size in reading.sizes] == [("share", share)]
    assert reading.minutes is None


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("a third of... no, make that half of piqa with sonnet", 919),
        ("ein Drittel, nein, doch lieber die Hälfte von piqa mit sonnet", 919),
        ("un tercio... no, mejor la mitad de piqa con sonnet", 919),
        ("piqa 3분의 1, 아니 절반만 haiku로", 919),
        ("haiku piqa 三分之一，不对，一半", 919),
        ("haiku on piqa, 10 %, no, actually 50 questions", 50),
        ("a third of piqa, no, make it 50 questions, with sonnet", 50),
        ("Does a word mean the same in two sentences? haiku, kobest-wic, 50 items", 50),
        ("un mot a-t-il le même sens dans deux phrases ? haiku sur kobest-wic, 50 questions", 50),
        ("两个句子里的词意思一样吗？haiku kobest-wic 50题", 50),
    ],
)
def test_a_size_that_is_taken_back_or_only_describes_the_task_does_not_count(said: str, limit: int) -> None:
    assert limits(said) == [limit]


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("haiku on gsm8k, 100 of the 1319 questions", 100),
        ("haiku auf gsm8k, 100 von 1319 Fragen", 100),
        ("haiku en gsm8k, 100 de las 1319 preguntas", 100),
        ("haiku gsm8k 1319문제 중 100문제", 100),
        ("haikuでgsm8kの1319問のうち100問", 100),
        ("haiku gsm8k 1319题里抽100题", 100),
        ("haiku on piqa, two out of every five questions", 736),
        ("haikuでpiqaの十問中三問", 552),
    ],
)
def test_how_many_there_are_is_no_size(said: str, limit: int) -> None:
    assert limits(said) == [limit]


@pytest.mark.parametrize(
    "query",
    [
        "haiku on gsm8k, 100 questions, but only 3 of them",
        "haiku on gsm8k, 100 questions, 5 euros (about 5.40 dollars)",
        "haiku on gsm8k for $5 and for $10",
        "haiku on gsm8k, 100 questions, 40 at most",
        "haiku on gsm8k, 20 Swedish kronor",
    ],
)
def test_what_contradicts_itself_or_is_in_another_currency_is_still_refused(query: str) -> None:
    with pytest.raises(UserError):
        plan(query)


def test_a_budget_in_dollars_may_name_another_currency_in_brackets() -> None:
    assert plan("haiku on gsm8k, 100 questions, 5 dollars (about 4.60 euros)")["limits"] == {"cost_usd": 5}


def test_a_seed_that_is_taken_back_is_replaced() -> None:
    assert read_query("haiku on gsm8k, seed 1, sorry, seed 2", world()).options == {"seed": 2}


@pytest.mark.parametrize(
    "said",
    [
        "haiku on bbh, very few questions", "haiku auf bbh, nicht viele Fragen", "haiku sur bbh, un petit aperçu",
        "haiku en bbh, muy pocas preguntas", "haiku bbh 적은 문제로", "haikuでbbhを少なめに", "haiku bbh 随便测一下",
    ],
)  # fmt: skip
def test_a_few_of_anything_is_a_quick_look(said: str) -> None:
    assert [size.kind for size in read_query(said, world()).sizes] == ["quick"]


@pytest.mark.parametrize("said", ["90 per benchmark", "je Benchmark 90", "90 par benchmark", "각 90문제, 벤치마크당"])
def test_a_size_of_each_benchmark_about_a_subject_means_every_one(said: str) -> None:
    names = [item["benchmark"] for item in plan(f"haiku, function calling, {said}")["benchmarks"]]
    assert sorted(names) == ["bfcl-multiple", "bfcl-parallel", "bfcl-simple"]


def test_a_language_of_one_benchmark_is_no_gap_of_the_other() -> None:
    draft = draft_plan("gsm8k and the German part of mgsm, 50 each, haiku", world())
    assert [item["benchmark"] for item in draft.plan["benchmarks"]] == ["gsm8k", "mgsm"]
    assert draft.plan["benchmarks"][1]["where"] == {"category": ["de"]}


@pytest.mark.parametrize(
    ("said", "categories"),
    [
        ("haiku on mgsm in the Romance languages", ["es", "fr"]),
        ("haiku auf mgsm in den germanischen Sprachen", ["de", "en"]),
        ("haiku mgsm 东亚语言", ["ja", "zh"]),
        ("haiku mgsm除了日语以外的所有语言", ["bn", "de", "en", "es", "fr", "ru", "sw", "te", "th", "zh"]),
    ],
)
def test_families_of_languages_and_all_but_one_are_kept(said: str, categories: list[str]) -> None:
    assert plan(said)["benchmarks"][0]["where"]["category"] == categories


@pytest.mark.parametrize("said", ["20문제씩", "20개씩"])
def test_so_many_each_in_one_korean_word_is_of_each_language(said: str) -> None:
    assert limits(f"haiku, mgsm 프랑스어와 독일어, {said}") == [20, 20]


def test_two_sizes_that_are_both_meant_are_still_asked_about() -> None:
    with pytest.raises(UserError, match="several sizes"):
        plan("haiku on piqa, 40 questions and 10 %")
    assert limits("haiku on gsm8k 3 questions and piqa 50 questions") == [3, 50]


@pytest.mark.parametrize(
    "said",
    [
        "haiku on gsm8k, I have a few minutes, say ten",
        "haiku auf gsm8k, ein paar Minuten hab ich, sagen wir zehn",
        "haiku sur gsm8k, quelques minutes, disons dix",
        "haiku en gsm8k, unos minutos, digamos diez",
    ],
)
def test_a_number_said_later_is_of_what_was_said_without_one(said: str) -> None:
    reading = read_query(said, world())
    assert (reading.minutes, reading.sizes) == (10, [])


@pytest.mark.parametrize(
    ("said", "languages"),
    [
        ("haiku on mgsm, de/fr", ["de", "fr"]),
        ("haiku on mgsm DE", ["de"]),
        ("haiku on mgsm in jp", ["ja"]),
        ("haiku on mgsm, zh-CN", ["zh"]),
        ("haiku mgsm 德、英、日三种语言", ["de", "en", "ja"]),
        ("haiku mgsm 中英双语", ["en", "zh"]),
        ("haikuでmgsmの日英独", ["de", "en", "ja"]),
        ("haiku mgsm 독·일어", ["de", "ja"]),
        ("haiku on mgsm in French, no, German", ["de"]),
        ("haiku sur mgsm, pas en français mais en allemand", ["de"]),
        ("haiku en mgsm, no en francés sino en alemán", ["de"]),
        ("haiku mgsm 不是法语而是德语", ["de"]),
        ("haiku en mgsm en mandarín", ["zh"]),
        ("haiku en mgsm, es para un informe", []),
    ],
)
def test_languages_are_read_by_codes_by_one_character_and_corrected(said: str, languages: list[str]) -> None:
    assert sorted(read_query(said, world()).languages) == languages
