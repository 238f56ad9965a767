"""A cost limit is hard: nothing is sent that might break it."""

from __future__ import annotations

import asyncio
import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from commands import ended
from engine.parts import EchoScorer, MemoryJournal, ScriptedModel, trials
from fakes.provider import FakeProvider
from models.pdfs import compressed
from proctor.domain.errors import PlanError, ProviderFaultError, RateLimitedError
from proctor.domain.message import DocumentPart, Image, Message, Prompt, Text
from proctor.domain.price import FREE, FlatPrice
from proctor.domain.response import Response, Usage
from proctor.engine.budget import Budget, most_it_can_cost, out_of_money, reservation
from proctor.engine.loop import ModelWork, Work, execute
from runs.arithmetic import provider_process, stats, write_benchmark

PRICE = FlatPrice(Decimal(1), Decimal(10))


def run_with_budget(model: ScriptedModel, cap: str, count: int, concurrency: int) -> tuple[Budget, MemoryJournal]:
    journal = MemoryJournal()
    highest = Decimal(0)

    async def scenario() -> Budget:
        stopping = asyncio.Event()
        budget = Budget(Decimal(cap), Decimal(0), lambda _: stopping.set())
        act = model.act

        def watching(text: str, before: int) -> Response | Exception:
            nonlocal highest
            highest = max(highest, budget.spent_usd + budget.reserved_usd)
            return act(text, before)

        model.act = watching
        work = [Work(1, _with_options(count), (EchoScorer(),))]
        models = [ModelWork("m", model, work, concurrency, 3, 5, PRICE)]
        await asyncio.wait_for(execute(models, journal, stopping=stopping, observe=lambda _: None, budget=budget), 60)
        return budget

    budget = asyncio.run(scenario())
    assert highest <= Decimal(cap), "spend and reservations were above the cap"
    return budget, journal


def _with_options(count: int):  # type: ignore[no-untyped-def]
    from msgspec.structs import replace

    return (replace(trial, options={"max_tokens": 50}) for trial in trials(count))


def test_spend_and_reservations_stay_under_the_cap_with_256_in_flight() -> None:
    model = ScriptedModel(lambda text, _: Response(text, usage=Usage(20, 40)), delay_seconds=0.002)
    budget, journal = run_with_budget(model, "0.1", 5_000, 256)
    assert budget.reserved_usd == 0
    assert Decimal("0.09") < budget.spent_usd <= Decimal("0.1")
    assert budget.spent_usd == len(journal.answers) * PRICE.cost(Usage(20, 40))  # type: ignore[operator]


def test_an_answer_whose_usage_is_unknown_counts_in_full() -> None:
    budget, journal = run_with_budget(ScriptedModel(), "0.01", 1_000, 8)
    assert 0 < len(journal.answers) < 1_000
    assert budget.spent_usd <= Decimal("0.01")
    assert budget.spent_usd > Decimal("0.009")


def test_an_answer_on_the_way_to_which_a_request_failed_counts_in_full() -> None:
    """Such as that of a repair round: the one that failed may have been billed too."""
    known = Response("q0", usage=Usage(1, 1))
    whole, _ = run_with_budget(ScriptedModel(lambda *_: known), "1", 1, 1)
    assert whole.spent_usd == PRICE.cost(Usage(1, 1))
    partly, _ = run_with_budget(ScriptedModel(lambda *_: replace(known, may_cost_more=True)), "1", 1, 1)
    reserved = most_it_can_cost(next(trials(1)).prompt, {"max_tokens": 50}, PRICE)
    assert (partly.spent_usd, partly.reserved_usd) == (reserved, 0)


def test_a_refusal_costs_nothing_and_a_lost_connection_may_have_cost_everything() -> None:
    def act(text: str, before: int) -> Response | Exception:
        if before == 0:
            return (
                RateLimitedError("slow", status=429, retry_after_seconds=0)
                if text == "q0"
                else ProviderFaultError("cut")
            )
        return Response(text, usage=Usage(0, 0))

    budget, journal = run_with_budget(ScriptedModel(act), "1", 2, 2)
    assert len(journal.answers) == 2
    bound = most_it_can_cost(Prompt((Message("user", "q1"),)), {"max_tokens": 50}, PRICE)
    assert budget.spent_usd == bound


@given(st.text(max_size=200), st.integers(1, 10_000))
def test_the_bound_is_never_below_what_any_tokeniser_could_count(text: str, longest: int) -> None:
    prompt = Prompt((Message("system", "be brief"), Message("user", text)))
    bytes_in = len(text.encode("utf-8", "surrogatepass")) + len("be brief")
    assert most_it_can_cost(prompt, {"max_tokens": longest}, PRICE) >= PRICE.cost(Usage(bytes_in, longest))  # type: ignore[operator]


def input_tokens(prompt: Prompt, **options: Any) -> int:
    """What is reserved, as tokens of input."""
    usd = most_it_can_cost(prompt, {"max_tokens": 1, **options}, FlatPrice(Decimal(1), Decimal(0)))
    return int(usd * 1_000_000)


def with_part(part: Image | DocumentPart) -> Prompt:
    return Prompt((Message("user", (Text("look"), part)),))


MAX_FOR_AN_IMAGE = 2_833 + 8 * 5_667
"""What gpt-4o-mini bills for an image of 2048 by 768 pixels."""


def test_an_image_is_reserved_at_what_the_dearest_model_bills_for_one() -> None:
    assert input_tokens(with_part(Image(b"x" * 10, "image/png"))) > MAX_FOR_AN_IMAGE


def test_all_the_text_of_a_compressed_document_is_reserved_and_a_picture_of_each_page() -> None:
    pages = ["tiny " * 20_000, "more " * 20_000]
    data = compressed(pages)
    assert len(data) < 5_000
    reserved = input_tokens(with_part(DocumentPart(data, "application/pdf")))
    assert reserved > sum(len(page.strip()) for page in pages) + 2 * MAX_FOR_AN_IMAGE
    assert reserved < 2 * sum(map(len, pages)) + 2 * 60_000, "a bound that is far too high stops runs for nothing"


def test_a_document_that_cannot_be_read_has_no_bound_and_is_not_sent() -> None:
    prompt, model, stopping = with_part(DocumentPart(b"%PDF-1.4 no", "application/pdf", "x.pdf")), ScriptedModel(), []
    trial = replace(next(trials(1)), prompt=prompt, options={"max_tokens": 50})
    journal = MemoryJournal()

    async def scenario() -> Budget:
        budget = Budget(Decimal(1), Decimal(0), lambda _: stopping.append(1))
        work = [ModelWork("m", model, [Work(1, iter([trial]), (EchoScorer(),))], 1, 3, 5, PRICE)]
        await execute(work, journal, stopping=asyncio.Event(), observe=lambda _: None, budget=budget)
        return budget

    budget = asyncio.run(scenario())
    assert (budget.spent_usd, budget.reserved_usd, stopping, sum(model.asked.values())) == (0, 0, [], 0)
    [answer] = journal.answers
    assert answer.error == "RequestRejectedError: m: the document 'x.pdf' is broken or not a PDF"


def test_reading_a_document_does_not_hold_up_the_others() -> None:
    async def scenario() -> Decimal:
        prompt = with_part(DocumentPart(compressed(["nobody has read this yet"] * 500), "application/pdf", "new.pdf"))
        reading = asyncio.create_task(reservation(prompt, {"max_tokens": 1}, PRICE, "m"))
        await asyncio.sleep(0)  # whatever is done in this thread is done by now
        assert not reading.done()
        return await reading

    assert asyncio.run(scenario()) > 0


def test_what_extra_holds_is_reserved_as_input() -> None:
    prompt = Prompt((Message("user", "look"),))
    more = input_tokens(prompt, extra={"chat_template_kwargs": {"about": "x" * 5_000}})
    assert more >= input_tokens(prompt) + 5_000


def test_a_choice_between_texts_is_reserved_with_the_whole_prompt_for_each() -> None:
    prompt = Prompt((Message("user", "x" * 1_000),), schema={"enum": ["a", "b", "c", "d"]})
    assert input_tokens(prompt) >= 4 * 1_001
    free_input = FlatPrice(Decimal(0), Decimal(1))
    assert most_it_can_cost(prompt, {"max_tokens": 1}, free_input) >= free_input.cost(Usage(0, 4))  # type: ignore[operator]


def test_what_providers_add_about_tools_is_reserved() -> None:
    tool = {"name": "f", "parameters": {}}
    plain = Prompt((Message("user", "x"),))
    # Anthropic's own instructions are 346 tokens long for many models, 530 for the wordiest.
    assert input_tokens(Prompt(plain.messages, (tool,))) >= input_tokens(plain) + 530


def test_input_that_a_provider_may_put_into_its_cache_is_reserved_at_that_rate() -> None:
    prompt, options = Prompt((Message("user", "x" * 1_000),)), {"max_tokens": 1}
    dearer = replace(PRICE, written_per_million=PRICE.input_per_million * 2)
    usage = Usage(1_000, 1, cache_write_tokens=1_000)
    assert most_it_can_cost(prompt, options, dearer) >= dearer.cost(usage) > most_it_can_cost(prompt, options, PRICE)  # type: ignore[operator]


@given(st.integers(0, 5))
def test_every_repair_round_is_reserved_with_all_that_was_said_before(rounds: int) -> None:
    prompt = Prompt((Message("user", "x" * 1_000),))
    bound = most_it_can_cost(prompt, {"max_tokens": 100, "repair": rounds}, PRICE)
    turns = [Usage(1_000 + turn * (100 + 4 * 7_000), 100) for turn in range(rounds + 1)]
    assert bound >= sum(PRICE.cost(usage) or 0 for usage in turns)


def test_without_a_limit_on_answers_no_bound_is_invented() -> None:
    with pytest.raises(PlanError, match="max_tokens"):
        most_it_can_cost(Prompt(()), {}, PRICE)


def test_what_is_free_needs_no_limit_on_answers_under_a_cost_limit() -> None:
    assert most_it_can_cost(Prompt((Message("user", "q1"),)), {}, FREE) == 0


@given(st.integers(0, 10**7), st.integers(0, 10**7), st.integers(0, 10**7))
def test_cached_tokens_are_billed_at_their_own_rate(tokens_in: int, tokens_out: int, cached: int) -> None:
    price = FlatPrice(Decimal(2), Decimal(8), Decimal("0.5"))
    cached = min(cached, tokens_in)
    expected = (Decimal(tokens_in - cached) * 2 + Decimal(cached) / 2 + Decimal(tokens_out) * 8) / 1_000_000
    assert price.cost(Usage(tokens_in, tokens_out, None, cached)) == expected


def test_an_unknown_usage_has_an_unknown_cost() -> None:
    assert PRICE.cost(Usage()) is None


def test_a_capped_run_stops_resumes_with_a_higher_cap_and_repeats_nothing(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 120)
    home = tmp_path / "home"
    with provider_process("--latency-ms", "2") as url:
        model = f"openai/sums?base_url={url}/v1"
        arguments = ("-m", model, "--max-tokens", "100", "--assume-price", "1/10", "--json")
        code, out, err = ended(home, tmp_path, "run", "sums.yaml", *arguments, "--max-cost", "0.003")
        document = json.loads(out)
        assert code == 1, err
        assert document["status"] == "cancelled"
        assert "cost limit of $0.003 was reached: up to $0.00" in document["error"]
        assert f"Resume with 'proctor resume {document['run_id']} --max-cost USD'." in err
        [evaluation] = document["evaluations"]
        assert 0 < evaluation["scored"] < 120
        assert evaluation["stopped"] == 120 - evaluation["scored"]
        assert 0 < evaluation["cost_usd"] <= 0.003
        assert stats(url)["asked"] == evaluation["scored"]
        code, out, err = ended(home, tmp_path, "resume", document["run_id"], "--max-cost", "5", "--json")
        assert code == 0, err
        [evaluation] = json.loads(out)["evaluations"]
        assert evaluation["scored"] == stats(url)["asked"] == 120


def test_a_cap_that_cannot_be_kept_is_refused(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 3)
    with FakeProvider() as provider:
        model = f"openai/sums?base_url={provider.url}/v1"
        code, _, err = ended(tmp_path / "h", tmp_path, "run", "sums.yaml", "-m", model, "--max-cost", "1")
        assert code == 2
        assert "the price of openai/sums is unknown" in err
        more = ("--max-cost", "1", "--assume-price", "1/2")
        code, _, err = ended(tmp_path / "h", tmp_path, "run", "sums.yaml", "-m", model, *more)
        assert code == 2
        assert "--max-tokens" in err
        assert provider.stats()["asked"] == 0


def test_a_limit_below_the_first_request_says_so_and_not_that_it_was_reached(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 3)
    home = tmp_path / "home"
    with provider_process("--latency-ms", "2") as url:
        arguments = ("-m", f"openai/sums?base_url={url}/v1", "--max-tokens", "100", "--assume-price", "1/10")
        code, out, err = ended(home, tmp_path, "run", "sums.yaml", *arguments, "--max-cost", "0.0001")
        assert stats(url)["asked"] == 0
    assert code == 1
    assert "the cost limit of $0.0001 allows no request: the first request could cost up to $0.00" in err
    assert "so none that costs anything was sent." in err
    assert "reached" not in err
    assert "--max-cost USD" in out


@given(st.decimals(Decimal("1e-9"), Decimal(1000), places=12), st.decimals(Decimal("1e-9"), Decimal(1000), places=12))
def test_amounts_in_the_reason_are_never_less_than_they_are(spent: Decimal, following: Decimal) -> None:
    text = out_of_money(Decimal(1), spent, following)
    shown = [Decimal(amount) for amount in re.findall(r"up to \$([0-9.]+[0-9])", text)]
    for amount, true in zip(shown, (spent, following), strict=True):
        assert true <= amount <= true * Decimal("1.2") + Decimal("0.01")
