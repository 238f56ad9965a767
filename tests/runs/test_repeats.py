"""Epochs: what several answers to one sample say together."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from runs.arithmetic import finish, start, write_benchmark


def test_epochs_give_pass_at_k_majority_and_consistency(tmp_path: Path) -> None:
    """A model that is right on two of three tries at every even question, and always at odd ones."""
    (tmp_path / "moody.py").write_text(
        "from collections import Counter\n"
        "asked = Counter()\n"
        "async def answer(prompt: str) -> str:\n"
        "    words = prompt.split()\n"
        "    a, b = int(words[2]), int(words[4][:-1])\n"
        "    asked[prompt] += 1\n"
        "    return str(-1 if a % 2 == 0 and asked[prompt] == 2 else a + b)\n"
    )
    write_benchmark(tmp_path, 40)
    arguments = ("run", "sums.yaml", "-m", "python/moody:answer", "--epochs", "3", "--no-cache", "--concurrency", "1")
    code, out, err = finish(start(tmp_path / "home", tmp_path, *arguments, "--json"))
    assert code == 0, err
    [evaluation] = json.loads(out)["evaluations"]
    values = {name: estimate["value"] for name, estimate in evaluation["metrics"].items()}
    assert values["accuracy"] == pytest.approx((20 + 20 * 2 / 3) / 40)
    assert values["pass@3"] == 1
    assert values["pass^3"] == 0.5
    assert values["majority@3"] == 1
    assert values["consistency"] == pytest.approx((20 + 20 / 3) / 40)
    assert values["consistency_of_words"] == pytest.approx((20 + 20 / 3) / 40)
    assert {estimate["n"] for estimate in evaluation["metrics"].values()} == {40}
    assert evaluation["trials"] == 120
