"""The same wish in many words: amounts, sizes, what is left out, judges, bars, options, in seven languages."""

from __future__ import annotations

from typing import Any

import pytest

from planner.world import world
from proctor.domain.documents.draft import PlanDraft
from proctor.domain.errors import UserError
from proctor.models.demo import CHARACTERS
from proctor.planner.catalogue import DEMO
from proctor.planner.lexicon import LANGUAGES, lexicon
from proctor.planner.limits import samples_for_points
from proctor.runs.plans.draft_plan import draft_plan


def drafted(query: str) -> PlanDraft:
    return draft_plan(query, world())


@pytest.mark.parametrize(
    ("said", "limits"),
    [
        ("costing no more than a dollar", {"cost_usd": 1}),
        ("a couple of dollars at most", {"cost_usd": 2}),
        ("a dollar fifty max", {"cost_usd": 1.5}),
        ("2 dollars and 50 cents at most", {"cost_usd": 2.5}),
        ("budget two fifty", {"cost_usd": 2.5}),
        ("99¢ max", {"cost_usd": 0.99}),
        ("USD5", {"cost_usd": 5}),
        ("$2-3", {"cost_usd": 3}),
        ("under an hour and a half", {"minutes": 90}),
        ("1h30", {"minutes": 90}),
        ("half a minute", {"minutes": 0.5}),
        ("no longer than 30s", {"minutes": 0.5}),
        ("10 to 15 minutes", {"minutes": 15}),
        ("nicht mehr als anderthalb Dollar", {"cost_usd": 1.5}),
        ("zweieinhalb Stunden maximal", {"minutes": 150}),
        ("que no cueste más de un dólar y medio", {"cost_usd": 1.5}),
        ("en menos de hora y media", {"minutes": 90}),
        ("pas plus d'un dollar et demi", {"cost_usd": 1.5}),
        ("deux heures et demie max", {"minutes": 150}),
        ("1달러 50센트 이내", {"cost_usd": 1.5}),
        ("두 시간 반 이내", {"minutes": 150}),
        ("1ドル50セント以内", {"cost_usd": 1.5}),
        ("1時間半以内", {"minutes": 90}),
        ("1美元50美分以内", {"cost_usd": 1.5}),
        ("两个半小时以内", {"minutes": 150}),
    ],
)
def test_amounts_of_several_words_are_one_amount(said: str, limits: dict[str, float]) -> None:
    assert drafted(f"haiku, mmlu, {said}").plan["limits"] == limits


@pytest.mark.parametrize(
    ("query", "entry"),
    [
        ("pass@5 on humaneval with sonnet", {"epochs": 5}),
        ("five samples per problem on humaneval, gpt-5", {"epochs": 5}),
        ("gsm8k, haiku, k=3 runs each", {"epochs": 3}),
        ("gsm8kをhaikuで、1問につき3回ずつ", {"epochs": 3}),
        ("haiku, gsm8k, temperature zero point five", {"sampling": {"temperature": 0.5}}),
        ("haiku, gsm8k, with 8 workers", {"limits": {"concurrency": 8}}),
        ("haiku, gsm8k, don't use cached answers", {"cache": False}),
        ("haiku, gsm8k, don't bother with the cache", {"cache": False}),
        ("haiku, gsm8k, use the cache", {"cache": None}),
        ("gpt-5 low effort vs gpt-5 high effort on aime24", {"matrix": {"reasoning_effort": ["low", "high"]}}),
        ("aime24 gpt-5 推論の深さ 低、中、高", {"matrix": {"reasoning_effort": ["low", "medium", "high"]}}),
        ("mmlu mit haiku, einmal zero-shot und einmal mit 5 Beispielen", {"matrix": {"shots": [0, 5]}}),
        ("mmlu haiku 零样本和5样本", {"matrix": {"shots": [0, 5]}}),
        ("does temperature matter? haiku on gsm8k at 0 and 1", {"matrix": {"temperature": [0, 1]}}),
        ("bbh, sonnet, with and without chain of thought", {"matrix": {"variant": ["cot", "direct"]}}),
        ("haiku vs sonnet on mmlu, stop early once there's a clear winner", {"until": "decided"}),
        ("haiku vs luna piqa 유의미한 차이 날 때까지", {"until": "decided"}),
    ],
)
def test_options_are_read_however_they_are_said(query: str, entry: dict[str, Any]) -> None:
    plan = drafted(query).plan
    assert {name: plan.get(name) for name in entry} == entry


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        ("haiku, every tenth question of mmlu", 1405),
        ("jede zehnte Frage aus mmlu, haiku", 1405),
        ("haiku, mmlu, 5천 문제", 5000),
        ("100 gsm8k questions, haiku", 100),
        ("unas pocas preguntas de gsm8k, haiku", 20),
        ("ein paar Fragen aus gsm8k, haiku", 20),
    ],
)
def test_sizes_are_read_however_they_are_said(query: str, limit: int) -> None:
    assert drafted(query).plan["benchmarks"][0]["limit"] == limit


def test_a_range_is_its_upper_end_and_the_lower_end_is_shown_as_another_reading() -> None:
    draft = drafted("between 50 and 100 questions of gsm8k, haiku")
    assert draft.plan["benchmarks"] == [{"benchmark": "gsm8k", "limit": 100}]
    assert [plan["benchmarks"] for plan in draft.alternatives] == [[{"benchmark": "gsm8k", "limit": 50}]]
    assert any("the upper end is taken" in one.why for one in draft.assumed)


@pytest.mark.parametrize(
    ("query", "benchmarks"),
    [
        ("no coding, just maths and science, haiku", {"gsm8k", "arc-challenge"}),
        ("kein Coding, nur Mathe, haiku", {"gsm8k"}),
        ("nada de programación, solo matemáticas, haiku", {"gsm8k"}),
        ("pas de programmation, seulement des maths, haiku", {"gsm8k"}),
        ("コーディングはなしで数学だけ、haiku", {"gsm8k"}),
        ("arc-easy not arc-challenge, haiku", {"arc-easy"}),
        ("Mathe auf Deutsch, Englisch und Thai, haiku", {"mgsm"}),
        ("Physikfragen für haiku", {"mmlu"}),
        ("code generation with gpt-5, humaneval+ and mbpp+", {"humaneval-plus", "mbpp-plus"}),
    ],
)
def test_what_is_left_out_is_not_asked(query: str, benchmarks: set[str]) -> None:
    found = drafted(query).plan["benchmarks"]
    assert {item if isinstance(item, str) else item["benchmark"] for item in found} == benchmarks


@pytest.mark.parametrize(
    ("query", "dropped"),
    [
        ("mmlu excluding professional law, haiku", {"professional_law"}),
        ("mmlu sans le droit ni la médecine, haiku", {"professional_law", "anatomy"}),
        ("mmlu 歴史以外 haiku", {"prehistory"}),
        ("mmlu에서 법이랑 의학 빼고 haiku", {"professional_law", "anatomy"}),
        ("mgsm in all languages but english, haiku", {"en"}),
    ],
)
def test_categories_are_left_out_in_every_language(query: str, dropped: set[str]) -> None:
    kept = drafted(query).plan["benchmarks"][0]["where"]["category"]
    assert not dropped & set(kept)
    assert len(kept) >= 10


@pytest.mark.parametrize(
    "query",
    [
        "let opus mark the answers of haiku on mt-bench",
        "mt-bench: opus judging haiku",
        "mt-bench with haiku where opus is the judge",
        "mt-bench con haiku, que opus califique",
        "mt-bench haiku,由opus打分",
    ],
)
def test_who_judges_is_told_from_who_answers(query: str) -> None:
    plan = drafted(query).plan
    assert plan["models"] == ["anthropic/claude-haiku-5-5"]
    assert plan["judge"] == ["anthropic/claude-opus-5-5"]


@pytest.mark.parametrize(
    "said",
    [
        "must get 80%", "exit non-zero if accuracy < 0.8", "I need at least 80 % accuracy", "threshold 0.8",
        "muss mindestens 80 Prozent schaffen", "debe sacar al menos 80 por ciento", "최소 80% 넘어야 함",
        "80%を下回ったら失敗", "低于80%就报错",
    ],
)  # fmt: skip
def test_bars_are_told_from_shares_of_the_samples(said: str) -> None:
    draft = drafted(f"gsm8k, sonnet, 50 questions, {said}")
    assert draft.fail_under == {"accuracy": 0.8}
    assert draft.plan["benchmarks"] == [{"benchmark": "gsm8k", "limit": 50}]
    share = drafted("at least 10 % of mmlu, sonnet")
    assert share.plan["benchmarks"] == [{"benchmark": "mmlu", "limit": 1405}]


@pytest.mark.parametrize(
    ("query", "models"),
    [
        ("gpt-5.4 and its mini and nano versions on gsm8k", ["gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano"]),
        ("a small and a large model from openai on bbh", ["gpt-6-luna", "gpt-6.1-sol"]),
        ("openai's best model against anthropic's best on aime24", ["gpt-6.1-sol", "claude-opus-5-5"]),
        ("cheapest model from each provider on gsm8k", ["gpt-5-nano", "claude-haiku-5-5"]),
        ("all my models except opus and sonnet on gsm8k", ["gpt-6.1-sol"]),
        ("sonet 5 vs haikku on hellasawg", ["claude-sonnet-5", "claude-haiku-5-5"]),
        ("claude 4.5 sonnet on gsm8k", ["claude-sonnet-4-5"]),
        ("キーがあるモデル全部でgsm8k", ["gpt-6.1-sol", "claude-sonnet-5-5"]),
    ],
)
def test_models_are_described_in_many_ways(query: str, models: list[str]) -> None:
    assert sorted(name.partition("/")[2] for name in drafted(query).plan["models"]) == sorted(models)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("gpqa with opus", "There is no benchmark 'gpqa' here; the nearest: arc-challenge"),
        ("qwen2.5-7b on gsm8k", "write it as provider/name"),
        ("write me a poem about haiku", "names a model, a benchmark"),
        ("order a pizza", "names a model, a benchmark"),
        ("gsm8k haiku 5 CAD", "in Canadian dollars: there are no exchange rates"),
        ("gsm8k haiku temperature 5", "above 2"),
        ("gsm8k with haiku, without haiku", "leaves out every model"),
        ("100 questions of puzzles but only 20 of them, demo/strong", "several sizes"),
        ("gsm8k haiku 50 questions and 10 % of it", "several sizes"),
    ],
)
def test_a_name_that_is_not_here_and_a_contradiction_are_told(query: str, sentence: str) -> None:
    with pytest.raises(UserError, match=sentence):
        drafted(query)


def test_a_known_name_beside_others_is_told_as_not_in_the_plan() -> None:
    draft = drafted("compare llama 3.1 8b and haiku on piqa and gpqa, 30 questions")
    assert draft.plan["benchmarks"] == [{"benchmark": "piqa", "limit": 30}]
    assert {wish.text for wish in draft.unsupported} == {"llama 3.1 8b"}
    assert [gap.sentence for gap in draft.gaps] == [
        "there is no benchmark 'gpqa' here; the nearest: arc-challenge, arc-easy, openbookqa"
    ]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ('"claude-haiku-5-5" (anthropic) against "gpt-5-nano" (openai), piqa', {"claude-haiku-5-5", "gpt-5-nano"}),
        ("클로드 하이쿠랑 GPT-5.4-mini를 hellaswag에서 비교", {"claude-haiku-5-5", "gpt-5.4-mini"}),
        ("compare the previous opus with the current one on aime", {"claude-opus-5", "claude-opus-5-5"}),
        ("the cheapest thing you have on svamp", {"gpt-5-nano"}),
    ],
)
def test_a_provider_beside_its_model_is_no_further_model(query: str, expected: set[str]) -> None:
    assert {name.partition("/")[2] for name in drafted(query).plan["models"]} == expected


def test_names_are_completed_and_fields_of_broad_benchmarks_are_their_categories() -> None:
    both = drafted("bfcl simple and multiple for gpt-5.4-mini, 40 tasks each").plan["benchmarks"]
    assert [item["benchmark"] for item in both] == ["bfcl-simple", "bfcl-multiple"]
    (maths,) = drafted("mmlu math, haiku").plan["benchmarks"]
    assert "college_mathematics" in maths["where"]["category"]
    assert "humaneval-plus" in str(drafted("gpt-5.2のhumaneval+の結果").plan["benchmarks"])


@pytest.mark.parametrize(
    "query", ["chemistry yes, physics no, haiku", "Chemie ja, Physik nein, haiku", "化学要,物理不要,haiku"]
)
def test_a_refusal_behind_a_subject_leaves_it_out(query: str) -> None:
    (item,) = drafted(query).plan["benchmarks"]
    assert item["where"] == {"category": ["college_chemistry", "high_school_chemistry"]}


def test_a_question_that_names_two_models_asks_which() -> None:
    assert drafted("haiku or sonnet for gsm8k?").then == "compare"


def test_versions_in_another_script_and_categories_of_two_benchmarks_are_one_thing() -> None:
    both = drafted("소넷 5랑 소넷 5.5 중 뭐가 더 나은지 winogrande 200문제로 결판날 때까지")
    assert both.plan["models"] == ["anthropic/claude-sonnet-5", "anthropic/claude-sonnet-5-5"]
    assert both.plan["until"] == "decided"
    (item,) = drafted("haiku在jmmlu日本史和世界史上的水平,40题").plan["benchmarks"]
    assert item["where"] == {"category": ["japanese_history", "world_history"]}


@pytest.mark.parametrize(
    "query",
    [
        "gsm8k with haiku, 4 examples in the prompt, 100 problems",
        "gsm8k avec haiku, quatre exemples dans l'invite, 100 problèmes",
        "gsm8k mit haiku, vier Beispiele, 100 Aufgaben",
        "gsm8k를 haiku로, 예시 4개, 100문제",
        "gsm8kをhaikuで、例を4つ見せて、100問",
        "gsm8k用haiku,给4个例子,100题",
    ],
)
def test_a_few_examples_beside_a_size_are_shown_with_each_question(query: str) -> None:
    assert drafted(query).plan["benchmarks"] == [{"benchmark": "gsm8k", "limit": 100, "shots": 4}]


def test_of_benchmarks_that_share_a_name_the_form_or_the_judge_decides() -> None:
    for query in ("free-form truthfulqa answers of haiku", "truthfulqa with haiku, judged by opus"):
        (item,) = drafted(query).plan["benchmarks"]
        assert item["benchmark"] == "truthfulqa-gen"


def test_a_weak_word_for_until_needs_a_word_for_a_decision() -> None:
    assert drafted("so lange, bis feststeht, ob sonnet oder opus bei piqa vorne liegt").plan["until"] == "decided"
    assert drafted("分出高下为止:opus对gpt-5,openbookqa").plan["until"] == "decided"
    assert "until" not in drafted("sonnet bis 2 Dollar auf piqa, ist er besser als opus?").plan


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        ("haiku on gsm8k, cap at 50", 50),
        ("gsm8k×50, haiku", 50),
        ("haiku, 1 000 mmlu questions", 1000),
        ("haiku on 0.5 of mbpp", 214),
        ("haiku on all but 10% of mbpp", 385),
        ("gsm8k一百来道题,haiku", 100),
    ],
)
def test_sizes_in_signs_and_groups_are_read(query: str, limit: int) -> None:
    assert drafted(query).plan["benchmarks"][0]["limit"] == limit


def test_slips_of_the_pen_in_words_are_mended_and_told() -> None:
    draft = drafted("germna maths haiku 20 qestions, temperture 0")
    assert draft.plan["benchmarks"] == [{"benchmark": "mgsm", "where": {"category": ["de"]}, "limit": 20}]
    assert draft.plan["sampling"] == {"temperature": 0}
    assert {one.value for one in draft.assumed if one.field == "query"} == {"german", "questions", "temperature"}


def test_codes_of_languages_behind_a_benchmark_and_names_of_other_servers_are_read() -> None:
    items = drafted("haiku on mgsm (de, fr, es), 12 each").plan["benchmarks"]
    assert [item["where"]["category"] for item in items] == [["de"], ["es"], ["fr"]]
    assert drafted("llama3.2 from ollama on piqa").plan["models"] == ["ollama/llama3.2"]
    assert drafted("gpt5.4 / gpt5.4-mini on piqa").plan["models"] == ["openai/gpt-5.4", "openai/gpt-5.4-mini"]


@pytest.mark.parametrize(
    ("query", "limit"),
    [
        ("1 in 20 of the mmlu questions, haiku", 703),
        ("haiku auf mmlu, jede 20. Frage", 703),
        ("haiku en mmlu, una de cada veinte preguntas", 703),
        ("haiku sur mmlu, une question sur vingt", 703),
        ("하이쿠로 mmlu 스무 문제 중 하나", 703),
        ("haikuでmmluを20問に1問", 703),
        ("haiku跑mmlu,每二十题抽一题", 703),
        ("haiku on 3 dozen gsm8k problems", 36),
        ("media docena de preguntas de piqa, haiku", 6),
        ("piqaを2割だけhaikuで", 368),
        ("piqa只要两成,haiku", 368),
        ("Stichprobe von 60 aus hellaswag, haiku", 60),
        ("a quick look at hellaswag with haiku, 60", 60),
        ("a batch of 64 problems from svamp, haiku", 64),
        ("models: haiku | benchmark: piqa | limit: 40", 40),
    ],
)
def test_shares_dozens_and_signs_say_how_many(query: str, limit: int) -> None:
    draft = drafted(query)
    assert draft.plan["benchmarks"][0]["limit"] == limit
    assert "batch" not in draft.plan


@pytest.mark.parametrize(
    ("said", "cost"),
    [
        ("on a $5 budget", 5), ("not a cent over $4", 4), ("no more than a fiver", 5), ("spend limit 15", 15),
        ("zwei fünfzig Dollar", 2.5), ("Kostenobergrenze 4 Dollar", 4), ("keinen Cent mehr als 5 Dollar", 5),
        ("tope de gasto: 4 dólares", 4), ("最多花5块美金", 5),
    ],
)  # fmt: skip
def test_budgets_are_read_however_they_are_said(said: str, cost: float) -> None:
    assert drafted(f"haiku, mmlu, {said}").plan["limits"] == {"cost_usd": cost}


@pytest.mark.parametrize(
    ("query", "models"),
    [
        ("strong and weak on puzzles", ["demo/strong", "demo/weak"]),
        ("compare the demo models strong and average on arithmetic", ["demo/strong", "demo/average"]),
        ("demo models on dates", ["demo/strong", "demo/weak"]),
        ("opus 4.5 through 4.8 on gsm8k", [f"anthropic/claude-opus-4-{n}" for n in (5, 6, 7, 8)]),
        ("opus 4.5 and 4.8 on gsm8k", ["anthropic/claude-opus-4-5", "anthropic/claude-opus-4-8"]),
        ("the last two opus versions on gsm8k", ["anthropic/claude-opus-5-5", "anthropic/claude-opus-5"]),
        ("two openai models on gsm8k", ["openai/gpt-6.1-sol", "openai/gpt-6-luna"]),
        ("a strong model and a weak model on gsm8k", ["anthropic/claude-opus-5-5", "anthropic/claude-haiku-5-5"]),
        ("local smollm on capitals", ["local/smollm2-135m"]),
        ("le moins cher d'openai face au moins cher d'anthropic sur piqa",
         ["openai/gpt-5-nano", "anthropic/claude-haiku-5-5"]),
    ],
)  # fmt: skip
def test_models_that_belong_together_are_all_meant(query: str, models: list[str]) -> None:
    assert sorted(drafted(query).plan["models"]) == sorted(models)


def test_names_of_demo_models_are_those_that_the_provider_has() -> None:
    assert set(DEMO) == set(CHARACTERS)


@pytest.mark.parametrize(
    ("query", "languages"),
    [
        ("mgsm ja only, haiku", {"ja"}),
        ("mgsm/de with haiku", {"de"}),
        ("francophone maths with haiku", {"fr"}),
        ("non-English maths, haiku", {"bn", "de", "es", "fr", "ja", "ru", "sw", "te", "th", "zh"}),
    ],
)
def test_languages_are_read_however_they_are_said(query: str, languages: set[str]) -> None:
    (item,) = drafted(query).plan["benchmarks"]
    assert (item["benchmark"], set(item["where"]["category"])) == ("mgsm", languages)


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("is haiku strong at maths?", "strong"),
        ("mmlu on science questions, haiku", "science questions"),
        ("multiple choice gsm8k, haiku", "multiple choice"),
        ("first 30 of gsm8k, haiku", "first"),
        ("haiku on mmlu, 20 in each subject", "in each subject"),
        ("my model at http://localhost:8000/v1 on gsm8k", "http://localhost:8000/v1"),
    ],
)
def test_words_that_change_nothing_are_told(query: str, told: str) -> None:
    draft = drafted(query)
    assert told in [*draft.not_understood, *(wish.text for wish in draft.unsupported)]
    assert all(one.text != told for one in draft.understood)


def test_who_judges_may_stand_far_from_the_verb() -> None:
    draft = drafted("Lass Opus die Antworten von Haiku auf mt-bench bewerten, 20 Gespräche")
    assert draft.plan["models"] == ["anthropic/claude-haiku-5-5"]
    assert draft.plan["judge"] == ["anthropic/claude-opus-5-5"]


@pytest.mark.parametrize(
    "query", ["sonnet muss auf arc-easy 90 % schaffen, 200 Fragen", "sonnetはarc-easyで90%以上が必須、200問"]
)
def test_what_must_be_reached_is_a_bar_however_far_the_verb(query: str) -> None:
    draft = drafted(query)
    assert draft.fail_under == {"accuracy": 0.9}
    assert draft.plan["benchmarks"] == [{"benchmark": "arc-easy", "limit": 200}]


def test_a_provider_that_asks_which_of_its_models_is_no_further_model() -> None:
    draft = drafted("which openai model is best at Spanish maths? try mini and nano, 40 questions")
    assert draft.plan["models"] == ["openai/gpt-5.4-mini", "openai/gpt-5.4-nano"]
    assert draft.then == "compare"


def test_a_kind_of_puzzle_is_the_benchmark_of_these_puzzles() -> None:
    assert drafted("luna on puzzles: 15 logic ones").plan["benchmarks"] == [{"benchmark": "logic", "limit": 15}]


@pytest.mark.parametrize(
    ("query", "benchmarks"),
    [
        ("all the science benchmarks with haiku, 40 each", {"arc-challenge", "arc-easy", "openbookqa"}),
        ("alle englischen Benchmarks zu Naturwissenschaften, haiku", {"arc-challenge", "arc-easy", "openbookqa"}),
        ("todas las pruebas de sentido común en inglés, haiku", {"hellaswag", "piqa", "winogrande"}),
        ("tous les benchmarks d'appel d'outils, haiku", {"bfcl-multiple", "bfcl-parallel", "bfcl-simple"}),
        ("영어 상식 벤치마크 전부 하이쿠로", {"hellaswag", "piqa", "winogrande"}),
        ("英語の常識ベンチマーク全部をhaikuで", {"hellaswag", "piqa", "winogrande"}),
        ("英语常识的基准全部用haiku测", {"hellaswag", "piqa", "winogrande"}),
        ("all programming benchmarks except requirements, haiku",
         {"humaneval", "humaneval-plus", "mbpp", "mbpp-plus"}),
        ("haiku on bfcl, all three bfcl sets, 33 per set", {"bfcl-multiple", "bfcl-parallel", "bfcl-simple"}),
        ("한국어 언어학 벤치마크로 haiku", {"kobest-sentineg", "kobest-wic"}),
        ("science questions, haiku", {"arc-challenge"}),
    ],
)  # fmt: skip
def test_all_benchmarks_about_a_subject_are_all_of_them(query: str, benchmarks: set[str]) -> None:
    found = drafted(query).plan["benchmarks"]
    assert {item if isinstance(item, str) else item["benchmark"] for item in found} == benchmarks


def test_a_number_behind_a_version_is_no_group_of_its_digits() -> None:
    for query in ("mmlu gpt-5.5，100题", "gpt-5.5,100 questions,mmlu"):
        plan = drafted(query).plan
        assert plan["models"] == ["openai/gpt-5.5"]
        assert plan["benchmarks"] == [{"benchmark": "mmlu", "limit": 100}]
    assert drafted("mmlu, haiku, 1,000 questions").plan["benchmarks"] == [{"benchmark": "mmlu", "limit": 1000}]


@pytest.mark.parametrize(
    ("query", "then"),
    [
        ("请对 gpt-5.2 进行 ifeval 评测", None),
        ("luna对terra,piqa三十五题", "compare"),
        ("does mythos 5.2 beat fable 5.2 on math, it beats it, I think", "compare"),
        ("wie schlägt sich sol bei piqa", None),
    ],
)
def test_words_compare_only_between_models(query: str, then: str | None) -> None:
    assert (drafted(query).then or None) == then


def test_variants_are_known_by_the_names_that_benchmarks_give_them() -> None:
    assert drafted("truthfulqa mc2 with haiku").plan["benchmarks"][0]["variant"] == "mc2"
    (item,) = drafted("bbh, zero-shot, haiku, 40 questions").plan["benchmarks"]
    assert item == {"benchmark": "bbh", "limit": 40, "variant": "zero-shot"}


def test_so_many_versions_of_a_family_and_half_a_dollar_are_read() -> None:
    names = ["anthropic/claude-fable-5-2", "anthropic/claude-fable-5-1", "anthropic/claude-fable-5"]
    assert drafted("fable三个版本在svamp上排个名").plan["models"] == names
    assert drafted("three versions of fable on svamp").plan["models"] == names
    assert drafted("haiku,openbookqa,最多半美元").plan["limits"] == {"cost_usd": 0.5}
    assert drafted("is luna good at piqa? max 50c").plan["limits"] == {"cost_usd": 0.5}


def test_a_total_of_costs_is_no_total_of_samples() -> None:
    query = "opus en piqa y winogrande con 250 preguntas; el coste total no debe superar los 12 dólares estadounidenses"
    plan = drafted(query).plan
    assert [item["limit"] for item in plan["benchmarks"]] == [250, 250]
    assert plan["limits"] == {"cost_usd": 12}


@pytest.mark.parametrize(
    "query",
    [
        "gsm8k, haiku, without CoT", "gsm8k mit haiku ohne Chain of Thought", "gsm8k con haiku, variante directa",
        "haiku gsm8k 생각의 사슬 없이 40문제", "haiku gsm8k 思考の連鎖なし 40問", "haiku gsm8k 不要思维链 40题",
    ],
)  # fmt: skip
def test_a_chain_of_thought_that_is_left_out_is_the_direct_variant(query: str) -> None:
    assert drafted(query).plan["benchmarks"][0]["variant"] == "direct"


@pytest.mark.parametrize("said", ["caching disabled", "turn caching off", "no cached responses", "Cache aus"])
def test_a_cache_that_is_off_is_off_wherever_the_word_stands(said: str) -> None:
    assert drafted(f"haiku, gsm8k, {said}").plan["cache"] is False


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("sciences en néerlandais avec haiku", "nl"), ("historia en turco con haiku", "tr"),
        ("Medizin auf Bulgarisch mit haiku", "bg"), ("우크라이나어 법률 하이쿠", "uk"),
        ("ギリシャ語の科学をhaikuで", "el"), ("用haiku测希伯来语医学", "he"),
    ],
)  # fmt: skip
def test_languages_have_their_names_in_all_seven(query: str, language: str) -> None:
    assert [gap.language for gap in drafted(query).gaps] == [language]


def test_every_language_that_english_names_is_named_in_the_others() -> None:
    english = {value for kind, value in _meanings("en") if kind == "language"}
    for language in LANGUAGES:
        own = {value for kind, value in _meanings(language) if kind == "language"}
        assert english <= own | {"en"}, (language, english - own)


def _meanings(language: str) -> set[tuple[str, str]]:
    found = lexicon(language).own
    many = [*found.meanings.values(), *(meaning for forms in found.beginnings.values() for _, meaning in forms)]
    return {concept for meaning in many for concept in meaning}


def test_a_model_right_behind_a_word_without_a_space_is_one_model() -> None:
    assert drafted("piqaをopenai/gpt-5.4-miniで40問").plan["models"] == ["openai/gpt-5.4-mini"]
    assert drafted("fable5.1 on piqa").plan["models"] == ["anthropic/claude-fable-5-1"]


@pytest.mark.parametrize(
    ("query", "models"),
    [
        ("all three haikus on piqa", {"claude-haiku-4-5", "claude-haiku-5-5"}),
        ("opus 4.6以降をpiqaで", {f"claude-opus-{n}" for n in ("4-6", "4-7", "4-8", "5", "5-5")}),
        ("each opus since 4.7 on piqa", {f"claude-opus-{n}" for n in ("4-7", "4-8", "5", "5-5")}),
        ("GPT-5.4, 5.4-mini and 5.4-nano on piqa", {"gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano"}),
        ("the gpt-5.4 family on piqa", {"gpt-5.4", "gpt-5.4-mini", "gpt-5.4-nano", "gpt-5.4-pro"}),
        ("gpt-5.4/5.5/5.6-terra on piqa", {"gpt-5.4", "gpt-5.5", "gpt-5.6-terra"}),
        ("gemini 3.5 flash and 3.1 pro on piqa", {"gemini-3.5-flash", "gemini-3.1-pro-preview"}),
        ("the cheapest gpt on piqa", {"gpt-5-nano"}),
        ("the three cheapest models I have keys for on piqa", {"gpt-5-nano", "gpt-4.1-nano", "claude-haiku-5-5"}),
        ("luna 6 on piqa", {"gpt-6-luna"}),
    ],
)
def test_versions_and_sizes_of_families_are_models(query: str, models: set[str]) -> None:
    draft = drafted(query)
    assert {name.partition("/")[2] for name in draft.plan["models"]} == models
    assert draft.not_understood == []


@pytest.mark.parametrize(
    "query", ["haiku on all of piqa", "haiku on all piqa questions", "haiku auf piqa, alle Fragen"]
)
def test_all_of_a_benchmark_is_not_a_hundred(query: str) -> None:
    assert drafted(query).plan["benchmarks"] == ["piqa"]


@pytest.mark.parametrize(
    ("query", "models"),
    [
        ("the Anthropic model Claude Haiku 4.5 on piqa", {"claude-haiku-4-5"}),
        ("haiku 4.5 (Anthropic's small model) on piqa", {"claude-haiku-4-5"}),
        ("the haiku 4.5 model on piqa", {"claude-haiku-4-5"}),
        ("앤트로픽 클로드 하이쿠 4.5 piqa", {"claude-haiku-4-5"}),
        ("クロード・ハイク4.5でpiqa", {"claude-haiku-4-5"}),
        ("gpt 4.1 미니 piqa", {"gpt-4.1-mini"}),
        ("gpt\u20114.1\u2011mini on piqa", {"gpt-4.1-mini"}),
        ("ChatGPT 4.1 mini on piqa", {"gpt-4.1-mini"}),
        ("제미나이 2.5 플래시로 piqa", {"gemini-2.5-flash"}),
        ("4o-mini on piqa", {"gpt-4o-mini"}),
        ("haiku 4.5 against openai on piqa", {"claude-haiku-4-5", "gpt-6.1-sol"}),
    ],
)
def test_what_describes_a_model_that_is_named_is_no_further_model(query: str, models: set[str]) -> None:
    assert {name.partition("/")[2] for name in drafted(query).plan["models"]} == models


@pytest.mark.parametrize(
    "query",
    [
        "o3 on arc-easy, 100 samples; quit with an error if it scores worse than 90%",
        "o3 en arc-easy, 100 preguntas; menos de un 90 % es suspenso",
        "o3 sur arc-easy, 100 questions ; en dessous de 90 % on bloque",
        "o3 arc-easy 100题，不到九成就算挂",
    ],
)
def test_beside_a_count_a_large_share_with_a_bound_is_a_bar(query: str) -> None:
    draft = drafted(query)
    assert draft.fail_under == {"accuracy": 0.9}
    assert draft.plan["benchmarks"] == [{"benchmark": "arc-easy", "limit": 100}]


def test_a_total_that_is_the_sum_of_what_is_said_of_each_says_no_more() -> None:
    both = drafted("gpt-5 on gsm8k and bbh, 50 each, 100 altogether").plan["benchmarks"]
    assert [item["limit"] for item in both] == [50, 50]


def test_how_sure_one_wants_to_be_is_no_second_size_and_a_clock_is_no_model() -> None:
    draft = drafted("haiku vs luna on piqa, 200 questions, I want to be 95% sure")
    assert draft.plan["benchmarks"] == [{"benchmark": "piqa", "limit": 200}]
    assert drafted("haiku on piqa, 60 questions, it is 4 o'clock").plan["models"] == ["anthropic/claude-haiku-5-5"]


def test_points_are_never_samples() -> None:
    draft = drafted("luna gegen terra, hellaswag, so viele Fragen, dass 5 Punkte auffallen")
    assert draft.plan["benchmarks"] == [{"benchmark": "hellaswag", "limit": samples_for_points(5)}]
    assert drafted("haiku on piqa, it gained 12 points").plan["benchmarks"] == [{"benchmark": "piqa", "limit": 100}]
