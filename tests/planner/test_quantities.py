"""Parts of a whole, sizes of each part, sizes that are taken back or multiplied, and languages said together."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import UNSET

from planner.spelled import spelled
from planner.world import world
from proctor.domain.documents.draft import PlanDraft
from proctor.domain.errors import UserError
from proctor.planner.languages import LANGUAGES_OF, NAMES_OF_LANGUAGES
from proctor.planner.lexicon import LANGUAGES, lexicon
from proctor.planner.numbers import number_in_words
from proctor.planner.words import tokens_of
from proctor.runs.plans.draft_plan import draft_plan

PIQA = 1838
MGSM = ["bn", "de", "en", "es", "fr", "ja", "ru", "sw", "te", "th", "zh"]


def drafted(query: str, base: dict[str, Any] | None = None) -> PlanDraft:
    return draft_plan(query, world(), base=base)


def asked(query: str, base: dict[str, Any] | None = None) -> list[tuple[str, tuple[str, ...], int | None]]:
    """Each entry of the plan: its benchmark, its categories and its size."""
    found = []
    for item in drafted(query, base).plan["benchmarks"]:
        entry = item if isinstance(item, dict) else {"benchmark": item}
        found.append((entry["benchmark"], tuple(entry.get("where", {}).get("category", ())), entry.get("limit")))
    return found


@pytest.mark.parametrize(
    ("said", "share"),
    [
        ("an eighth of piqa", 1 / 8),
        ("three fifths of piqa", 3 / 5),
        ("every seventh question of piqa", 1 / 7),
        ("⅓ of piqa", 1 / 3),
        ("fünf Sechstel von piqa", 5 / 6),
        ("jede siebte Frage aus piqa", 1 / 7),
        ("ein Zwölftel von piqa", 1 / 12),
        ("dreiviertel von piqa", 3 / 4),
        ("la vigésima parte de piqa", 1 / 20),
        ("dos quintos de piqa", 2 / 5),
        ("un sixième de piqa", 1 / 6),
        ("trois dixièmes de piqa", 3 / 10),
        ("piqa의 오분의 이", 2 / 5),
        ("piqa 오분의 일만", 1 / 5),
        ("piqaの八分の三", 3 / 8),
        ("piqaの十分の一", 1 / 10),
        ("piqa的七分之二", 2 / 7),
    ],
)
def test_any_part_of_a_whole_is_a_share_of_its_samples(said: str, share: float) -> None:
    [(name, _, limit)] = asked(f"haiku, {said}")
    assert name == "piqa"
    assert limit == -(-round(PIQA * share, 6) // 1)


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("half a dozen questions", 6),
        ("a dozen and a half questions", 18),
        ("two and a half dozen questions", 30),
        ("2½ dozen questions", 30),
        ("half a hundred questions", 50),
        ("ein halbes Dutzend Fragen", 6),
        ("anderthalb Dutzend Fragen", 18),
        ("docena y media de preguntas", 18),
        ("media docena de preguntas", 6),
        ("une demi-douzaine de questions", 6),
        ("半ダース", 6),
        ("半打题", 6),
        ("半百道题", 50),
    ],
)
def test_dozens_and_halves_of_round_numbers_are_counts(said: str, limit: int) -> None:
    assert asked(f"haiku, piqa, {said}") == [("piqa", (), limit)]


def test_a_part_of_an_hour_or_a_dollar_is_no_share_of_samples() -> None:
    draft = drafted("haiku on piqa, three quarters of an hour, half a dollar, 40 questions")
    assert (draft.plan["limits"]["minutes"], draft.plan["limits"]["cost_usd"]) == (45, 0.5)
    assert asked("haiku on piqa, three quarters of an hour, 40 questions") == [("piqa", (), 40)]


@pytest.mark.parametrize(
    "query",
    [
        "German and French maths, haiku, 20 per language",
        "haiku / mgsm / German and French / 20 each",
        "mgsm auf Deutsch und Französisch, haiku, je 20 Aufgaben",
        "mgsm en alemán y francés, haiku, 20 de cada idioma",
        "mgsm en allemand et en français, haiku, 20 de chaque langue",
        "mgsm 독일어와 프랑스어, haiku, 언어당 20문제",
        "mgsmのドイツ語とフランス語、haiku、1言語あたり20問",
        "mgsm的德语和法语，haiku，每种语言20题",
    ],
)
def test_so_many_of_each_language_are_an_entry_for_each(query: str) -> None:
    assert asked(query) == [("mgsm", ("de",), 20), ("mgsm", ("fr",), 20)]


def test_each_means_the_benchmarks_where_several_are_asked_and_a_total_is_divided_by_none() -> None:
    assert asked("haiku on mgsm German and gsm8k, 20 each") == [("mgsm", ("de",), 20), ("gsm8k", (), 20)]
    assert asked("haiku on mgsm in German and French, 20 in all") == [("mgsm", ("de", "fr"), 20)]
    assert asked("haiku on mmlu philosophy and virology, 20 each") == [
        ("mmlu", ("philosophy",), 20), ("mmlu", ("virology",), 20),
    ]  # fmt: skip
    assert [part for _, part, _ in asked("haiku on mgsm, 20 in each language")] == [(name,) for name in MGSM]


def test_a_refinement_divides_multiplies_and_keeps_the_parts_that_a_plan_has() -> None:
    base = {
        "models": ["demo/strong"],
        "benchmarks": [{"benchmark": "mgsm", "where": {"category": ["de", "fr"]}, "limit": 40}, "piqa"],
    }
    divided = drafted("15 per language of mgsm", base).plan
    assert asked("15 per language of mgsm", base) == [("mgsm", ("de",), 15), ("mgsm", ("fr",), 15), ("piqa", (), None)]
    assert asked("twice as many", divided)[:2] == [("mgsm", ("de",), 30), ("mgsm", ("fr",), 30)]
    assert asked("half as many questions", base)[0] == ("mgsm", ("de", "fr"), 20)
    assert "twice as many" in drafted("haiku on mgsm, twice as many").not_understood


@pytest.mark.parametrize(
    ("said", "languages"),
    [
        ("haiku on mgsm in any Asian language you have", ["bn", "ja", "te", "th", "zh"]),
        ("haiku, maths in the languages of India", ["bn", "te"]),
        ("haiku on mgsm, African languages", ["sw"]),
        ("haiku on mgsm, European languages other than English", ["de", "es", "fr", "ru"]),
        ("haiku on mgsm except the Asian languages", ["de", "en", "es", "fr", "ru", "sw"]),
        ("mgsm in asiatischen Sprachen, haiku", ["bn", "ja", "te", "th", "zh"]),
        ("mgsm en lenguas asiáticas, haiku", ["bn", "ja", "te", "th", "zh"]),
        ("mgsm dans les langues asiatiques, haiku", ["bn", "ja", "te", "th", "zh"]),
        ("아시아 언어 수학, haiku", ["bn", "ja", "te", "th", "zh"]),
        ("アジアの言語の数学、haiku", ["bn", "ja", "te", "th", "zh"]),
        ("亚洲语言的数学，haiku", ["bn", "ja", "te", "th", "zh"]),
        ("haiku; mgsm; lang=te,sw", ["sw", "te"]),
        ("matemáticas en todos los idiomas europeos, haiku", ["de", "en", "es", "fr", "ru"]),
        ("maths dans toutes les langues asiatiques, haiku", ["bn", "ja", "te", "th", "zh"]),
        ("haiku on mgsm, African and Asian languages", ["bn", "ja", "sw", "te", "th", "zh"]),
    ],
)
def test_languages_that_are_said_together_are_those_that_the_benchmark_has(said: str, languages: list[str]) -> None:
    [(name, categories, _)] = asked(said)
    assert (name, list(categories)) == ("mgsm", languages)


@pytest.mark.parametrize(
    ("said", "language"),
    [
        ("mgsm in Kiswahili, haiku", "sw"),
        ("mgsm in Castilian, haiku", "es"),
        ("mgsm auf Kisuaheli, haiku", "sw"),
        ("mgsm en mandarin, haiku, 30 questions", "zh"),
        ("mgsm en castillan, haiku", "es"),
        ("mgsm 불어, haiku 30문제", "fr"),
        ("mgsmの北京語、haiku", "zh"),
        ("mgsm的泰文，haiku", "th"),
    ],
)
def test_languages_are_known_by_their_other_names(said: str, language: str) -> None:
    assert asked(said)[0][1] == (language,)


def test_languages_of_no_benchmark_are_told_and_every_language_of_a_group_has_a_name() -> None:
    assert "Asian languages" in {wish.text for wish in drafted("haiku on humaneval in Asian languages").unsupported}
    assert set().union(*LANGUAGES_OF.values()) <= set(NAMES_OF_LANGUAGES)


@pytest.mark.parametrize(
    "query",
    [
        "everything you have in Japanese, haiku, 20 questions",
        "alles auf Japanisch, was da ist, haiku, je 20 Fragen",
        "todo lo que haya en japonés, haiku, 20 preguntas",
        "tout ce qui existe en japonais, haiku, 20 questions",
        "日本語のものを全部、haiku、20問",
        "일본어로 된 거 전부, haiku, 20문제",
        "日语的全部，haiku，20题",
    ],
)
def test_everything_in_a_language_takes_the_part_of_those_that_have_several(query: str) -> None:
    assert asked(query) == [("jmmlu", (), 20), ("mgsm", ("ja",), 20)]


@pytest.mark.parametrize(
    "said",
    [
        "at first I meant to ask 300, but 60 are enough",
        "60 rather than 300 questions",
        "30 questions, no, double that",
        "erst sollten es 300 Fragen sein, aber 60 reichen",
        "60 statt 300 Fragen",
        "pensaba en 300 preguntas pero bastan 60",
        "60 questions au lieu de 300",
        "원래 300문제였지만 60문제면 충분해",
        "300問のつもりだったけど、60問で十分",
        "原本想跑300题，不过60题就够了",
    ],
)
def test_a_size_that_was_only_planned_counts_no_more(said: str) -> None:
    draft = drafted(f"haiku on gsm8k, {said}")
    assert draft.plan["benchmarks"] == [{"benchmark": "gsm8k", "limit": 60}]
    assert draft.then is UNSET


def test_each_language_has_words_for_parts_groups_and_multiples() -> None:
    for language in LANGUAGES:
        kinds = {concepts[0] for concepts in lexicon(language).own.meanings.values()}
        assert {("languagegroup", "asia"), ("scale", "2"), ("scale", "1/2")} <= kinds, language


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("haiku on gsm8k, 50 questions, R$ 20", "reais"),
        ("haiku on gsm8k, 50 questions, NT$100", "Taiwan dollars"),
        ("haiku on gsm8k, 50 questions, Rs 500", "rupees"),
        ("haiku on gsm8k, 50 questions, ₽500", "roubles"),
        ("haiku on gsm8k, 50 questions, 20 zł", "zloty"),
        ("haiku on gsm8k, 50 questions, ₪50", "shekels"),
        ("haiku on gsm8k, 50 questions, 100 baht", "baht"),
        ("haiku auf gsm8k, 50 Fragen, 20 Schweizer Franken", "francs"),
        ("haiku en gsm8k, 50 preguntas, 500 yenes", "yen"),
        ("haiku sur gsm8k, 50 questions, 500 yens", "yen"),
        ("haikuでgsm8k、50問、100台湾ドルまで", "Taiwan dollars"),
        ("haiku gsm8k 50문제, 호주 달러로 5 호주달러", "Australian dollars"),
        ("haiku跑gsm8k，50题，50港币", "Hong Kong dollars"),
    ],
)
def test_a_budget_in_any_other_currency_is_never_passed_over(query: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        drafted(query)


def test_cents_are_of_a_dollar_and_a_bar_above_everything_is_refused() -> None:
    assert drafted("haiku sur gsm8k, 50 questions, cinquante cents maximum").plan["limits"]["cost_usd"] == 0.5
    with pytest.raises(UserError, match="No run reaches 120%"):
        drafted("haiku on gsm8k, fail below 120 %")


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        ("haikuでpiqa1500問", 1500),
        ("haiku跑gsm8k50题", 50),
        ("haikuでarc-easyを30問から50問", 50),
        ("haiku arc-easy 30개에서 50개", 50),
        ("haiku auf piqa, eintausendfünfhundert Fragen", 1500),
        ("haiku en piqa, una treintena de preguntas", 30),
        ("haiku sur piqa, deux cents questions", 200),
        ("haiku on piqa, several hundred questions", 300),
        ("haiku en piqa, ciento ochenta rompecabezones", 180),
        ("haiku en piqa, el doble de 20 preguntas", 40),
        ("haiku로 piqa 일흔 꼭지", 70),
        ("haiku로 piqa 이백열 문제", 210),
        ("haiku跑piqa，几十题", 30),
    ],
)
def test_sizes_are_read_without_spaces_in_ranges_and_in_round_words(query: str, limit: int) -> None:
    draft = drafted(query)
    assert [entry["limit"] for entry in draft.plan["benchmarks"]] == [limit]
    is_round = any(word in query for word in ("several", "几"))
    assert is_round == any("names no number" in one.why for one in draft.assumed)


def test_a_language_that_is_left_out_of_maths_leaves_the_others_and_a_total_may_stand_before_its_number() -> None:
    assert asked("maths in all languages except Thai, haiku, 30") == [
        ("mgsm", tuple(name for name in MGSM if name != "th"), 30)
    ]
    assert asked("除泰语外的所有语言，mgsm，haiku，30题")[0][1] == tuple(name for name in MGSM if name != "th")
    assert asked("piqa und gsm8k, haiku, zusammen 30") == [("piqa", (), 15), ("gsm8k", (), 15)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_number_is_read_as_it_is_spelled(language: str) -> None:
    for number in range(2, 10_000):
        tokens = tokens_of(spelled(number, language))
        found = number_in_words(tokens, 0, language)
        assert found is not None, spelled(number, language)
        assert found[:2] == (len(tokens), number), spelled(number, language)


NINES = "9" * 400


@pytest.mark.parametrize(
    "query",
    [
        "haiku on piqa, $" + NINES,
        f"haiku on piqa, {NINES} hours",
        f"haiku on piqa, {NINES} and a half thousand questions",
        f"haiku on piqa, {NINES} point five questions",
        f"haiku跑piqa，{'9' * 306}万题",
        f"haiku跑piqa，1.5万{NINES}题",
        "haiku on piqa, 1" + ",000" * 40 + " questions",
        "haiku on piqa, " + "dozen " * 300 + "questions",
        "haiku on piqa, " + "dozen " * 300 + "and a half questions",
        "haiku en piqa, " + "docenas " * 300 + "preguntas",
        "haiku on piqa, one " + "hundred " * 200 + "questions",
        "haiku sur piqa, " + "douzaine " * 300 + "questions",
    ],
)
def test_a_number_too_large_for_arithmetic_is_refused(query: str) -> None:
    with pytest.raises(UserError):
        drafted(query)


def test_every_benchmark_about_a_subject_may_be_said_behind_it() -> None:
    names = [name for name, _, _ in asked("haiku on commonsense (English, every benchmark), 33 questions apiece")]
    assert names == ["hellaswag", "piqa", "winogrande"]
