"""What a person sees: progress at a terminal, plain lines in a pipe, tables that fit."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from cli.terminals import Terminal
from commands import Cli
from fakes.dialect import Reply
from fakes.provider import FakeProvider
from proctor.cli.figures import estimate_text, seconds_text, share_text
from proctor.cli.tables import agreement_lines, print_categories, print_results
from proctor.domain.documents.effort import Percentiles, TokenCounts
from proctor.domain.documents.evaluation import EvaluationSummary
from proctor.domain.documents.judging import JudgeAgreement
from proctor.domain.text import visible
from reports.parts import estimate, evaluation

pytestmark = pytest.mark.sqlite  # where results are kept makes no difference here

HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"


def shown(model: str, metrics: int = 1, benchmark: str = "mmlu", categories: int = 0) -> EvaluationSummary:
    measured = estimate(0.73125, 1234, stderr=0.04, ci95=(0.64, 0.81), method="wilson")
    names = ["accuracy", *(f"scorer{number}.accuracy" for number in range(1, metrics))]
    return evaluation(
        model=model, benchmark=benchmark, trials=1234, invalid=12, failed=3, cached=1234,
        metrics=dict.fromkeys(names, measured),
        categories={f"category {number}": {"accuracy": measured} for number in range(categories)},
        usage=TokenCounts(1234567, 234567, None, None), cost_usd=1.5, latency_seconds=Percentiles(0.412, 1.75),
    )  # fmt: skip


def drawn(evaluations: list[EvaluationSummary], width: int) -> str:
    text = io.StringIO()
    out = Console(file=text, width=width, highlight=False)
    print_results(out, evaluations)
    print_categories(out, evaluations)
    return text.getvalue()


LONG = "openrouter/some-vendor/a-model-with-a-very-long-name-instruct-2026-01-31"
CASES = {
    "two short models": [shown("demo/strong"), shown("demo/weak")],
    "a long name": [shown(LONG), shown("demo/weak")],
    "many metrics": [shown("demo/strong", metrics=6), shown("demo/weak", metrics=6)],
    "many models and categories": [shown(f"openai/model-number-{n}", categories=4) for n in range(7)],
}


@pytest.mark.parametrize("width", [200, 120, 80, 60, 40])
@pytest.mark.parametrize("case", CASES)
def test_no_name_and_no_number_is_cut_at_any_width(case: str, width: int) -> None:
    text = drawn(CASES[case], width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    squeezed = "".join(text.split())
    for item in CASES[case]:
        assert text.count("0.731 [0.640, 0.810]") >= len(item.metrics)
        if item.model != LONG:
            assert item.model in squeezed
    assert "n=1,234" in squeezed
    assert "1,234,567/234,567" in squeezed
    assert "$1.5000" in squeezed
    assert "12(1.0%)" in squeezed


def test_a_long_name_is_folded_not_lost() -> None:
    assert LONG in "".join(drawn(CASES["a long name"], 50).split())
    text = drawn(CASES["a long name"], 110)
    first_column = "".join(line[:22].strip() for line in text.split("\n\n")[0].splitlines()[1:])
    assert LONG in first_column


def test_figures_show_what_was_not_measured_as_such() -> None:
    assert estimate_text(None) == "–"
    assert estimate_text(estimate(None, 0)) == "–"
    assert estimate_text(estimate(0.0, 1000, ci95=(0.0, 0.1))) == "0.000 [0.000, 0.100] n=1,000"
    assert [seconds_text(value) for value in (None, 0.0004, 0.9999, 59.94, 125, 7260)] == [
        "–", "400 µs", "1 s", "59.9 s", "2 min 5 s", "2 h 1 min",
    ]  # fmt: skip
    assert (share_text(0, 10), share_text(3, 200)) == ("0", "3 (1.5 %)")


def test_text_from_a_model_cannot_steer_the_terminal(cli: Cli) -> None:
    evil = "\x1b]0;owned\x07\x1b[2Jhello\x9b31m\u202ereversed\rover\x00"
    assert not set(visible(evil)) & {"\x1b", "\x07", "\x9b", "\u202e", "\r", "\x00"}
    with FakeProvider(reply=lambda _: Reply(evil)) as provider:
        cli("run", "arithmetic", "-m", f"openai/x?base_url={provider.url}/v1", "--limit", 1)
    out = cli("samples").out
    assert "hello" in out
    assert not set(out) & {"\x1b", "\x07", "\x9b", "\u202e", "\x00"}


def test_brackets_in_names_are_not_taken_for_markup(cli: Cli) -> None:
    Path("plan.yaml").write_text(
        "name: '[red]danger[/red]'\nmodels: [{model: demo/strong, label: '[bold]x[/]'}]\n"
        "benchmarks: [{benchmark: puzzles, limit: 2}]\n"
    )
    assert "[bold]x[/]" in cli("run", "plan.yaml").out
    assert "[red]danger[/red]" in cli("runs").out


@pytest.mark.traced
def test_a_terminal_sees_progress_and_then_the_table(environment: dict[str, str]) -> None:
    terminal = Terminal(
        "run", "puzzles", "-m", "demo/strong?delay_ms=40", "--limit", 60, "--concurrency", 2, environment=environment
    )
    assert terminal.finish() == 0
    assert HIDE in terminal.raw
    assert terminal.raw.rindex(SHOW) > terminal.raw.rindex(HIDE)
    assert "trials/s" in terminal.screen
    assert " left" in terminal.screen
    assert "━" in terminal.screen
    assert "accuracy [95 % interval]" in terminal.screen
    assert max(len(line) for line in terminal.lines if not line.startswith("Stored in")) <= 80


def test_a_pipe_sees_plain_lines(cli: Cli) -> None:
    ended = cli("run", "puzzles", "-m", "demo/strong", "--limit", 5)
    assert "\x1b" not in ended.out + ended.err
    assert ended.err.startswith("Run ")
    assert "5 trials" in ended.err
    assert "accuracy [95 % interval]" in ended.out
    assert "Stored in " in ended.out
    assert "proctor samples" in ended.out


def test_a_dry_run_breaks_no_name_at_a_narrow_terminal(environment: dict[str, str]) -> None:
    model = "openai/llama-3.1-8b-instruct?base_url=http://127.0.0.1:9/v1"
    terminal = Terminal("run", "puzzles", "-m", model, "--dry-run", environment=environment, columns=60)
    assert terminal.finish() == 0
    assert model in terminal.screen.replace("\r\n", "")
    assert "200 samples, 1 epoch, 200 trials" in terminal.screen
    assert "options: none sent" in terminal.screen


@pytest.mark.parametrize(
    "command",
    [("runs",), ("show",), ("benchmarks",), ("models",), ("doctor",), ("benchmarks", "show", "puzzles"),
     ("run", "puzzles", "-m", "demo/strong", "--dry-run"), ("--help",), ("samples", "--help"), ("resume", "--help")],
)  # fmt: skip
def test_every_command_fits_80_columns(cli: Cli, environment: dict[str, str], command: tuple[str, ...]) -> None:
    cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--limit", 5, "--name", "a name of some length")
    terminal = Terminal(*command, environment=environment)
    assert terminal.finish() == 0
    if command != ("doctor",):  # paths and addresses are shown whole
        assert max(map(len, terminal.lines)) <= 80
    assert "Traceback" not in terminal.screen


def test_one_category_that_holds_everything_is_no_table() -> None:
    assert "category" not in drawn([shown("demo/strong", categories=1)], 120)
    whole = shown("demo/strong", categories=1)
    part = {"accuracy": replace(whole.metrics["accuracy"], n=600)}
    partial = replace(whole, categories={"category 0": part})
    assert "category 0" in drawn([partial], 120)
    mixed = drawn([shown("demo/a", categories=2), shown("demo/a", benchmark="arc", categories=1)], 160)
    assert ("category 1" in mixed, mixed.count("category 0")) == (True, 1)


def test_judges_that_agree_are_said_to() -> None:
    agreed = JudgeAgreement(
        judges=["a", "b"], n=41, complete=40, unanimous=0.825, cohen_kappa=0.652, fleiss_kappa=0.65,
        krippendorff_alpha=0.71, level="ordinal",
    )  # fmt: skip
    judged = replace(shown("demo/strong", benchmark="open"), agreement={"judge_rubric": agreed})
    [line] = agreement_lines([shown("demo/weak"), judged])
    assert line.startswith("demo/strong on open, judge_rubric: 2 judges agree on 82 % of 40 answers (")
    assert line.endswith("(Cohen's kappa 0.65, Krippendorff's alpha 0.71).")
    three = replace(agreed, judges=["a", "b", "c"], cohen_kappa=None)
    [line] = agreement_lines([replace(judged, agreement={"judge_rubric": three})])
    assert "3 judges" in line
    assert "Fleiss' kappa 0.65" in line
    nothing = replace(agreed, complete=0, unanimous=None)
    [line] = agreement_lines([replace(judged, agreement={"judge_rubric": nothing})])
    assert line.endswith("no answer has a readable verdict of all 2 judges.")
