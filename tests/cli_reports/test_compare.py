from __future__ import annotations

from pathlib import Path

import pytest

from commands import Cli


@pytest.fixture
def ran(cli: Cli) -> str:
    """A run of two models, one plainly better."""
    return str(cli("run", "puzzles", "-m", "demo/strong", "-m", "demo/weak", "--json").json["run_id"])


def test_two_models_of_the_latest_run_are_compared_in_words(cli: Cli, ran: str) -> None:
    ended = cli("compare", "latest")
    assert ended.code == 0
    assert "demo/strong (A) and demo/weak (B) on puzzles: demo/strong is better by " in ended.out
    assert "exact McNemar" in ended.out
    assert "Cost and latency" in ended.out
    assert "Samples that only one got right" not in ended.out


def test_flips_are_listed_when_asked_for(cli: Cli, ran: str) -> None:
    ended = cli("compare", ran, "--flips", 2, "--json")
    [item] = ended.json["comparisons"]
    assert len(item["flips"]["lost"]["samples"]) == 2
    assert item["flips"]["lost"]["count"] > 2
    text = cli("compare", ran, "--flips", 2).out
    assert item["flips"]["lost"]["samples"][0]["sample_id"] in text


def test_json_markdown_and_html_say_the_same(cli: Cli, ran: str) -> None:
    document = cli("compare", ran, "--json").json
    verdict = document["comparisons"][0]["verdict"].split(", p ")[0]
    assert verdict.replace("[", r"\[").replace("]", r"\]") in cli("compare", ran, "-f", "md").out
    html = cli("compare", ran, "-f", "html").out
    assert html.startswith("<!DOCTYPE html>")
    assert verdict in html
    assert cli("compare", ran, "-f", "json").json == document


def test_a_file_gets_the_format_its_name_says(cli: Cli, ran: str, tmp_path: Path) -> None:
    path = tmp_path / "c.md"
    assert cli("compare", ran, "-o", path).err == f"Written to {path}.\n"
    assert path.read_text(encoding="utf-8").startswith("# Comparison on puzzles\n")
    unknown = cli("compare", ran, "-o", tmp_path / "c.xyz")
    assert unknown.code == 2
    assert "c.xyz ends in none of .html" in unknown.error
    assert cli("compare", ran, "-o", tmp_path / "none" / "c.md").code == 2


def test_runs_on_parts_of_a_benchmark_are_compared_on_what_they_share(cli: Cli, ran: str) -> None:
    cli("run", "puzzles", "-m", "demo/strong", "--limit", 20)
    shared = cli("compare", ran, "latest", "--model", "demo/strong")
    assert shared.code == 0
    squeezed = " ".join(shared.out.split())
    assert "180 samples left out: 180 not run in B." in squeezed
    assert "The two were not asked the same samples (200 by A, 20 by B)" in squeezed
    allowed = cli("compare", ran, "latest", "--model", "demo/strong", "--allow-different", "--json")
    [item] = allowed.json["comparisons"]
    assert (item["n"], item["left_out"]["only_a_not_asked_in_b"]) == (20, 180)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nope"], "No run 'nope'"),
        (["latest", "--on", "puzles"], "Did you mean 'puzzles'?"),
        (["latest", "--model", "demo/strong"], "give --model twice"),
        (["latest", "--scorer", "exact"], "was not scored by 'exact', but by puzzle"),
        (["latest", "--target", "0"], "--target"),
        ([], "Missing argument"),
    ],
)
def test_mistakes_are_one_clear_line(cli: Cli, ran: str, arguments: list[str], words: str) -> None:
    ended = cli("compare", *arguments)
    assert ended.code == 2
    assert words in ended.error


def test_power_answers_before_and_after_a_run(cli: Cli, ran: str) -> None:
    assert cli("power").out.startswith("9,913 samples, answered by both models, detect a difference of 2 points")
    measured = cli("power", ran, "--difference", 0.05, "--json").json
    assert measured["samples_needed"] > 0
    assert measured["discordance_from"] == "demo/strong and demo/weak on puzzles, n=200"
    detected = cli("power", "--samples", 500, "--discordance", 0.2).out
    assert detected.startswith("500 samples can detect a difference of 5.8 ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--difference", "0.5", "--accuracy", "0.9"], "the difference can be at most 0.1, not 0.5"),
        (["--difference", "0.3", "--discordance", "0.2"], "the discordance must be between 0.3 and 1, not 0.2"),
        (["--on", "puzzles"], "need a RUN"),
        (["latest", "--accuracy", "0.5"], "leave out --accuracy"),
        (["--samples", "100", "--unpaired"], "leave out --unpaired"),
    ],
)
def test_power_refuses_what_cannot_be(cli: Cli, ran: str, arguments: list[str], words: str) -> None:
    ended = cli("power", *arguments)
    assert ended.code == 2
    assert words in ended.error


def test_the_leaderboard_ranks_and_names_its_evidence(cli: Cli, ran: str) -> None:
    ended = cli("leaderboard")
    assert ended.code == 0
    assert "puzzles, version 1" in ended.out
    lines = [line.split() for line in ended.out.splitlines() if "demo/" in line]
    assert [(line[0], line[1]) for line in lines] == [("1", "demo/strong"), ("2", "demo/weak")]
    assert all(ran in line for line in lines)
    assert "each model's latest run" in ended.out
    document = cli("leaderboard", "--json", "--task", "reasoning", "--separate", "--best").json
    assert (document["ranks"], document["which"]) == ("separate", "best")
    assert cli("leaderboard", "-f", "md").out.count(ran) == 2
    none = cli("leaderboard", "--language", "xx")
    assert none.code == 2
    assert "(language xx)" in none.error
