"""A cost limit holds over crashes and lost connections: what may have been spent is counted by whoever goes on."""

from __future__ import annotations

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from commands import Cli
from fakes.faults import Faults
from fakes.provider import FakeProvider
from proctor.costs.durable_budget import STEPS, DurableBudget
from runs.arithmetic import finish, kill, provider_process, start, stats, wait_for, write_benchmark
from stores.parts import connected

CAP = Decimal(10)


class Book:
    """A ledger in memory that can say at any moment what a crash would leave."""

    def __init__(self, recorded: str = "0", unanswered: str = "0") -> None:
        self.recorded, self.unanswered, self.writes = Decimal(recorded), Decimal(unanswered), 0

    def recorded_usd(self) -> Decimal:
        return self.recorded

    def unanswered_usd(self) -> Decimal:
        return self.unanswered

    def keep_unanswered(self, amount_usd: Decimal) -> None:
        self.unanswered = amount_usd
        self.writes += 1


steps = st.lists(
    st.tuples(st.decimals(0, 2, places=3), st.sampled_from(["recorded", "answered", "lost"])), max_size=60
)  # fmt: skip


@given(steps)
def test_whenever_it_crashes_the_next_one_counts_at_least_what_may_have_been_spent(
    requests: list[tuple[Decimal, str]],
) -> None:
    async def scenario() -> None:
        book = Book()
        budget = DurableBudget(CAP, book, lambda _: None)
        truly_spent = Decimal(0)
        for amount, end in requests:
            if not await budget.reserve(amount):
                break
            assert book.recorded + book.unanswered >= truly_spent + amount, "in flight, and a crash would forget it"
            spent = amount if end == "lost" else amount / 2
            truly_spent += spent
            budget.settle(amount, spent)
            assert book.recorded + book.unanswered >= truly_spent, "settled, and a crash would forget it"
            if end == "recorded":
                book.recorded += spent
            assert book.recorded + book.unanswered >= truly_spent
            assert DurableBudget(CAP, book, lambda _: None).spent_usd >= truly_spent
        budget.close()
        assert book.recorded + book.unanswered == truly_spent

    asyncio.run(scenario())


def test_few_writes_are_enough() -> None:
    async def scenario() -> int:
        book = Book()
        budget = DurableBudget(CAP, book, lambda _: None)
        for _ in range(5_000):
            assert await budget.reserve(Decimal("0.002"))
            budget.settle(Decimal("0.002"), Decimal("0.001"))
            book.recorded += Decimal("0.001")
        return book.writes

    assert asyncio.run(scenario()) <= STEPS


def test_many_at_once_never_send_before_it_is_written_down() -> None:
    async def scenario() -> None:
        book = Book()
        budget = DurableBudget(CAP, book, lambda _: None)
        in_flight = Decimal(0)

        async def request() -> None:
            nonlocal in_flight
            if await budget.reserve(Decimal("0.03")):
                in_flight += Decimal("0.03")
                assert book.unanswered >= in_flight
                await asyncio.sleep(0)

        await asyncio.gather(*(request() for _ in range(256)))
        assert budget.reserved_usd == in_flight == Decimal("7.68")

    asyncio.run(scenario())


def unanswered(home: Path) -> float:
    with connected(home) as connection:
        return float(connection.execute("SELECT unanswered_pico_usd FROM runs").fetchone()[0]) / 1e12


ARGUMENTS: tuple[Any, ...] = ("--max-tokens", "100", "--assume-price", "1/10", "--json")
DEAREST = 100 * 10e-6  # an answer of a hundred tokens, prompt not counted


def test_lost_connections_count_when_the_run_goes_on(cli: Cli, home: Path) -> None:
    write_benchmark(Path(), 2)
    with FakeProvider(Faults(script=("drop",))) as provider:
        model = f"openai/sums?base_url={provider.url}/v1"
        more = ("--retries", 2, "--concurrency", 1)
        ended = cli("run", "sums.yaml", "-m", model, *ARGUMENTS, "--max-cost", "0.0065", *more)
        assert ended.json["unanswered_cost_usd"] > 4 * DEAREST
        asked = provider.stats()["asked"]
        provider.faults = Faults()
        again = cli("resume", "latest", "--json")
        assert again.json["status"] == "cancelled", "what was lost before leaves no room for another request"
        assert provider.stats()["asked"] == asked
        shown = cli("show", "latest").out
        assert "more may have been spent on requests without an answer, or" in " ".join(shown.split())
        higher = cli("resume", "latest", "--max-cost", "1", "--json")
        assert higher.code == 0, higher.err
        assert higher.json["unanswered_cost_usd"] == ended.json["unanswered_cost_usd"]


def test_requests_in_flight_at_a_crash_count_when_the_run_goes_on(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 40)
    home = tmp_path / "home"
    with provider_process("--latency-ms", "60000") as url:
        model = f"openai/sums?base_url={url}/v1"
        run = start(home, tmp_path, "run", "sums.yaml", "-m", model, *ARGUMENTS, "--max-cost", "0.03")
        wait_for(lambda: stats(url)["asked"] >= 20)
        kill(run)
        asked = stats(url)["asked"]
        assert unanswered(home) >= asked * DEAREST
        # Room for the cap's rest only: all executions together stay under it.
        second = start(home, tmp_path, "resume", "latest", "--json")
        wait_for(lambda: second.poll() is not None or stats(url)["asked"] * DEAREST > 0.03 - 2 * DEAREST)
        kill(second)
        assert stats(url)["asked"] * DEAREST <= 0.03


def test_a_clean_run_leaves_nothing_open(tmp_path: Path) -> None:
    write_benchmark(tmp_path, 30)
    with provider_process() as url:
        model = f"openai/sums?base_url={url}/v1"
        code, out, err = finish(
            start(tmp_path / "h", tmp_path, "run", "sums.yaml", "-m", model, *ARGUMENTS, "--max-cost", "5")
        )
    assert code == 0, err
    assert json.loads(out)["unanswered_cost_usd"] == unanswered(tmp_path / "h") == 0
