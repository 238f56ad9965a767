"""What the sides of a comparison are called: only what differs, and never two alike."""

from __future__ import annotations

from typing import Any

import pytest

from proctor.domain.side import EvaluationSide, prompt_settings, side_names


def names(*settings: dict[str, Any]) -> list[str]:
    return side_names([EvaluationSide("demo/strong", "sums", one) for one in settings])


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ([{}], ["demo/strong"]),
        ([{"shots": 5}, {"shots": 5}], ["demo/strong", "demo/strong"]),
        ([{"shots": 0}, {"shots": 1}], ["demo/strong · 0 shots", "demo/strong · 1 shot"]),
        ([{}, {"shots": 5}], ["demo/strong · default shots", "demo/strong · 5 shots"]),
        (
            [{"prompt": "terse", "variant": "cot"}, {"variant": "cot"}],
            ["demo/strong · prompt terse", "demo/strong · default prompt"],
        ),
    ],
)
def test_a_side_shows_only_what_differs(settings: list[dict[str, Any]], shown: list[str]) -> None:
    assert names(*settings) == shown


def test_another_benchmarks_settings_do_not_matter() -> None:
    sides = [
        EvaluationSide("m", "sums", {"shots": 0}),
        EvaluationSide("m", "sums", {"shots": 5}),
        EvaluationSide("m", "puzzles", {}),
    ]
    assert side_names(sides)[2] == "m"


def test_a_prompt_goes_by_its_name_and_parameters_of_the_samples_are_no_settings() -> None:
    spec = {"shots": 0, "parameters": {"prompt": {"name": "terse", "user": "…"}, "count": 50}}
    assert prompt_settings(spec) == {"prompt": "terse", "shots": 0}
