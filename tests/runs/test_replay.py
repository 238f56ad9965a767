from __future__ import annotations

import json
from pathlib import Path

from commands import ended


def test_latest_is_the_run_before_and_gives_the_same_marks(tmp_path: Path) -> None:
    home = tmp_path / "home"
    code, out, err = ended(home, tmp_path, "run", "puzzles?count=60", "-m", "demo/weak", "--json")
    assert code == 0, err
    first = json.loads(out)
    code, out, err = ended(home, tmp_path, "run", "puzzles?count=60", "-m", "replay/latest", "--json")
    assert code == 0, err
    second = json.loads(out)
    assert second["evaluations"][0]["metrics"] == first["evaluations"][0]["metrics"]
    assert second["evaluations"][0]["model"] == f"replay/{first['run_id']}"


def test_a_question_the_run_never_asked_is_a_fault_not_a_wrong_answer(tmp_path: Path) -> None:
    home = tmp_path / "home"
    ended(home, tmp_path, "run", "puzzles?count=20", "-m", "demo/weak")
    code, out, _ = ended(home, tmp_path, "run", "puzzles?count=20", "--seed", "9", "-m", "replay/latest", "--json")
    document = json.loads(out)
    assert code == 1
    assert document["evaluations"][0]["metrics"]["accuracy"]["value"] is None
    assert "never asked" in document["error"]
