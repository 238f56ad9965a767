"""Languages by their codes, languages that are left out, and languages that say only who asks."""

from __future__ import annotations

import pytest

from planner.world import world
from proctor.domain.errors import UserError
from proctor.runs.plans.draft_plan import draft_plan

EVERY = {"bn", "de", "en", "es", "fr", "ja", "ru", "sw", "te", "th", "zh"}


def asked(query: str) -> set[str]:
    """The languages of mgsm that a query asks; all of them where it filters none."""
    entries = draft_plan(query, world()).plan["benchmarks"]
    of_mgsm = [one if isinstance(one, dict) else {"benchmark": one} for one in entries]
    assert {one["benchmark"] for one in of_mgsm} == {"mgsm"}
    return {name for one in of_mgsm for name in one.get("where", {}).get("category", EVERY)}


@pytest.mark.parametrize(
    ("query", "languages"),
    [
        ("zh and ja from mgsm, haiku, 20 each", {"zh", "ja"}),
        ("the zh split of mgsm, haiku, 20", {"zh"}),
        ("mgsm in four languages (de, fr, es, ru), haiku, 10 per language", {"de", "fr", "es", "ru"}),
        ("maths in zh and ja, haiku, 20 per language", {"zh", "ja"}),
        ("maths in language code sw, haiku, 20", {"sw"}),
        ("haiku, zh, maths, 30 questions", {"zh"}),
        ("der sw-Teil von mgsm, haiku, 20 Aufgaben", {"sw"}),
        ("mgsm auf de, fr und es mit haiku, je 20", {"de", "fr", "es"}),
        ("Sprachen: de, fr; mgsm; haiku; je 20", {"de", "fr"}),
        ("mgsm en de y fr, haiku, 20 cada uno", {"de", "fr"}),
        ("mgsm en es con haiku, 20 problemas", {"es"}),
        ("mgsm th et te avec haiku, 20 chacun", {"th", "te"}),
        ("mgsmのjaとzh、haiku、各20問", {"ja", "zh"}),
        ("mgsm의 ja, zh만, haiku, 각 20문제", {"ja", "zh"}),
        ("mgsm without de and fr, haiku, 50 questions", EVERY - {"de", "fr"}),
        ("mgsm sin en, haiku, 50 preguntas", EVERY - {"en"}),
        ("mgsm除了en和zh,haiku,每种语言10题", EVERY - {"en", "zh"}),
    ],
)
def test_a_code_is_a_language_wherever_it_stands(query: str, languages: set[str]) -> None:
    assert asked(query) == languages


@pytest.mark.parametrize(
    "query",
    [
        "ja, mgsm mit haiku, 30 Aufgaben",
        "wie gut ist es, mgsm mit haiku zu machen? 30 Aufgaben",
        "de mgsm, 30 preguntas, haiku",
        "te pido mgsm con haiku, 30 preguntas, es urgente",
        "mgsm en entier avec haiku",
        "30 questions de mgsm en 10 minutes, haiku",
    ],
)
def test_words_of_the_querys_own_language_are_no_codes(query: str) -> None:
    assert asked(query) == EVERY


@pytest.mark.parametrize(
    ("query", "languages"),
    [
        ("mgsm in every language that isn't English, haiku, 10 per language", EVERY - {"en"}),
        ("mgsm in all eleven languages but Thai, haiku, 10 per language", EVERY - {"th"}),
        ("mgsm but neither German nor French, haiku, 50 questions", EVERY - {"de", "fr"}),
        ("mgsm with the languages German, Thai and Bengali dropped, haiku, 30", EVERY - {"de", "th", "bn"}),
        ("mgsm but leave the Japanese ones out, haiku, 40 questions", EVERY - {"ja"}),
        ("I don't need English: mgsm, haiku, 30 questions", EVERY - {"en"}),
        ("mgsm, weder Deutsch noch Französisch, haiku, 50 Aufgaben", EVERY - {"de", "fr"}),
        ("mgsm und Deutsch bitte weglassen, haiku, 30", EVERY - {"de"}),
        ("no necesito inglés: mgsm, haiku, 30 preguntas", EVERY - {"en"}),
        ("mgsm dans toutes les langues autres que l'anglais, haiku, 10 par langue", EVERY - {"en"}),
        ("除亚洲语言外的mgsm,每种语言10题,haiku", EVERY - {"bn", "ja", "te", "th", "zh"}),
        ("drop everything but Thai from mgsm, 30 problems, haiku", {"th"}),
        ("keep Thai and drop the rest of mgsm, 30 problems, haiku", {"th"}),
        ("nichts außer Deutsch aus mgsm, haiku, 30", {"de"}),
        ("タイ語以外はいらない、mgsm、haiku、30問", {"th"}),
        ("除了泰语都不要,mgsm,haiku,30题", {"th"}),
        ("mgsm、ただし中国語・日本語・タイ語は除く。haiku、各言語8問", EVERY - {"zh", "ja", "th"}),
        ("De MGSM coge todos los idiomas excepto inglés y chino, 10 por idioma, haiku.", EVERY - {"en", "zh"}),
        ("des maths dans d'autres langues que l'anglais, haiku, 15 par langue", EVERY - {"en"}),
        ("mgsm 태국어 말고는 다 빼줘, haiku, 30문제", {"th"}),
        ("Is sonnet no good at German maths? 30 problems", {"de"}),
        ("the two Asian languages Thai and Telugu in mgsm, haiku, 20 each", {"th", "te"}),
    ],
)
def test_what_is_left_out_and_what_is_kept_by_leaving_out_the_rest(query: str, languages: set[str]) -> None:
    assert asked(query) == languages


@pytest.mark.parametrize(
    ("query", "benchmark"),
    [
        ("for our French customers: gsm8k with haiku, 50 questions", "gsm8k"),
        ("unsere deutschen Kunden: gsm8k mit haiku, 50 Aufgaben", "gsm8k"),
        ("l'équipe japonaise veut hellaswag avec haiku, 30 questions", "hellaswag"),
        ("日本のチーム向けにhellaswagをhaikuで30問", "hellaswag"),
        ("the Chinese model can wait; gsm8k with haiku, 50 questions", "gsm8k"),
        ("answer in German. gsm8k, haiku, 50 questions", "gsm8k"),
        ("한국어로 답해줘. gsm8k haiku 50문제", "gsm8k"),
        ("请用中文回答。gsm8k，haiku，50题", "gsm8k"),
    ],
)
def test_a_language_of_people_or_of_the_reply_is_no_language_that_is_asked(query: str, benchmark: str) -> None:
    draft = draft_plan(query, world())
    assert not draft.gaps
    assert [one["benchmark"] for one in draft.plan["benchmarks"]] == [benchmark]


def test_a_language_of_the_reply_beside_one_that_is_asked_is_not_asked() -> None:
    assert asked("Ergebnisse bitte auf Deutsch: mgsm auf Thai mit haiku, 30 Aufgaben") == {"th"}
    assert asked("for our German users: maths, haiku, 30 questions") == {"de"}  # nothing else says what is asked


def test_a_benchmark_that_is_asked_in_a_language_it_has_not_is_a_gap_in_each_alternative_too() -> None:
    draft = draft_plan("commonsense in Italian, haiku, 20 questions", world())
    assert draft.gaps
    assert draft.alternatives
    assert all(one["gaps"] == draft.plan["gaps"] for one in draft.alternatives)
    assert all("gaps" not in one for one in draft_plan("haiku on science, 20 questions", world()).alternatives)


def test_everything_that_is_not_english_leaves_no_english_benchmark() -> None:
    known = {one.name: one for one in world().benchmarks}
    entries = draft_plan("only non-English benchmarks, haiku, 20 each", world()).plan["benchmarks"]
    assert {"jmmlu", "mgsm", "kobest-wic"} <= {one["benchmark"] for one in entries}
    assert all(known[one["benchmark"]].tags["language"] != "en" for one in entries)
    assert "en" not in next(one["where"]["category"] for one in entries if one["benchmark"] == "mgsm")


@pytest.mark.parametrize(
    ("query", "limits"),
    [
        ("40 of gsm8k and all of aime24 with haiku", {"gsm8k": 40, "aime24": None}),
        ("all of aime24 and 40 of gsm8k with haiku", {"gsm8k": 40, "aime24": None}),
        ("40 Aufgaben gsm8k und aime24 ganz, haiku", {"gsm8k": 40, "aime24": None}),
        ("gsm8k and piqa with haiku, 40 each", {"gsm8k": 40, "piqa": 40}),
    ],
)
def test_a_size_beside_one_benchmark_leaves_another_that_is_wanted_whole(
    query: str, limits: dict[str, int | None]
) -> None:
    entries = draft_plan(query, world()).plan["benchmarks"]
    parts = [one if isinstance(one, dict) else {"benchmark": one} for one in entries]
    assert {one["benchmark"]: one.get("limit") for one in parts} == limits


@pytest.mark.parametrize(
    "query",
    ["the mgms2 benchmark with haiku, 30 questions", "haiku on benchmark foobar", "foobarベンチマークをhaikuで30問"],
)
def test_a_benchmark_by_a_name_that_nothing_has_is_refused_beside_a_model_that_is_known(query: str) -> None:
    with pytest.raises(UserError, match="There is no benchmark"):
        draft_plan(query, world())
    assert draft_plan("our own benchmark, haiku, 30 questions", world()).not_understood == ["own"]


def test_a_run_that_ends_when_it_is_decided_compares() -> None:
    draft = draft_plan("haiku and gpt-5-mini on piqa until we know which is better", world())
    assert (draft.plan["until"], draft.then) == ("decided", "compare")
