"""What every source keeps: rows in one order, as often as they are wanted, and one clear error where there are none."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from plugins.example import names
from proctor.benchmarks.sources import open_rows
from proctor.domain.errors import BenchmarkError

PYTHON = "def rows():\n    for n in range(3):\n        yield {'id': str(n), 'input': f'q{n}'}\n"
FILES = {
    "csv": ("rows.csv", "id,input\n0,q0\n1,q1\n2,q2\n"),
    "json": ("rows.json", '[{"id":"0","input":"q0"},{"id":"1","input":"q1"},{"id":"2","input":"q2"}]'),
    "jsonl": ("rows.jsonl", '{"id":"0","input":"q0"}\n{"id":"1","input":"q1"}\n{"id":"2","input":"q2"}\n'),
    "python-jsonl": ("rows.txt", '{"id":"0","input":"q0"}\n{"id":"1","input":"q1"}\n{"id":"2","input":"q2","x":NaN}\n'),
    "python": ("making_rows.py", PYTHON),
    "upload": ("uploads/f-1.csv", "id,input\n0,q0\n1,q1\n2,q2\n"),
    "ini": ("rows.ini", "[0]\ninput = q0\n[1]\ninput = q1\n[2]\ninput = q2\n"),
}
LOCATIONS = {"python": "making_rows:rows", "upload": "f-1"}
ELSEWHERE = {"hf", "package", "parquet"}  # a hub, an installed package and a binary file: `tests/benchmarks`


def test_every_source_is_held_to_the_contract() -> None:
    assert {*FILES, *ELSEWHERE} == set(names("sources"))


@pytest.mark.parametrize("name", FILES)
def test_rows_come_in_one_order_as_often_as_they_are_wanted(name: str, tmp_path: Path) -> None:
    file, text = FILES[name]
    (tmp_path / file).parent.mkdir(exist_ok=True)
    (tmp_path / file).write_text(text, encoding="utf-8")
    importlib.invalidate_caches()
    rows = open_rows(f"{name}://{LOCATIONS.get(name, file)}", tmp_path)
    assert rows.label
    assert rows.unit
    first = list(rows)
    assert [(row["id"], row["input"]) for _, row in first] == [("0", "q0"), ("1", "q1"), ("2", "q2")]
    assert list(rows) == first
    assert [row["id"] for _, row in rows.at([2, 0])] == ["2", "0"]
    places = [place for place, _ in first]
    assert places == sorted(set(places))


@pytest.mark.parametrize("name", names("sources"))
def test_what_is_not_there_is_one_clear_error(name: str, tmp_path: Path) -> None:
    if name == "hf":
        pytest.skip("asks the hub: tests/benchmarks/test_hub.py")
    with pytest.raises(BenchmarkError, match=r"."):
        list(open_rows(f"{name}://no_such_thing", tmp_path))


def test_a_file_that_is_called_after_a_plugin_is_read_by_it(tmp_path: Path) -> None:
    (tmp_path / "rows.ini").write_text(FILES["ini"][1], encoding="utf-8")
    assert [row["id"] for _, row in open_rows("rows.ini", tmp_path)] == ["0", "1", "2"]
