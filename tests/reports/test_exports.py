from __future__ import annotations

import csv
import io
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.reports.export import export_csv, export_jsonl
from proctor.reports.junit import JunitCase, export_junit, gates_junit
from proctor.reports.parquet import export_parquet
from proctor.runs.results import read_rows
from proctor.stores.connection import SQLITE
from proctor.stores.database import Database
from proctor.stores.results import ResultStore
from reports.stored import FAILED, INVALID, Told, record

pyarrow_parquet = pytest.importorskip("pyarrow.parquet")


def test_junit_has_a_case_for_each_trial_and_tells_faults_from_wrong_answers(
    database: Database, tmp_path: Path
) -> None:
    marks: dict[str, Any] = {"right": 1.0, "wrong": 0.0, "unread": INVALID, "down": FAILED, "twice": [1.0, 0.0]}
    run = record(database, tmp_path, Told(marks, text="<b>\x00]]>", error='503 "quoted" & <angry>'))
    text = b"".join(export_junit(read_rows(database, run)))
    root = ElementTree.fromstring(text)
    assert root.attrib == {"tests": "6", "failures": "3", "errors": "1", "time": "1.250"}
    cases = {case.attrib["name"]: case for case in root.iter("testcase")}
    assert set(cases) == {"right", "wrong", "unread", "down", "twice", "twice (epoch 1)"}
    kinds = {name: [child.tag for child in case] for name, case in cases.items()}
    assert kinds == {
        "right": [], "wrong": ["failure"], "unread": ["failure"], "down": ["error"], "twice": [],
        "twice (epoch 1)": ["failure"],
    }  # fmt: skip
    assert cases["down"][0].attrib["message"] == '503 "quoted" & <angry>'
    assert cases["unread"][0].attrib["message"] == "invalid: fixed 0: nothing could be read"
    assert "response: <b>\ufffd]]>" in (cases["wrong"][0].text or "")


@given(st.text(), st.text(), st.none() | st.text(), st.text())
def test_any_text_makes_a_document_that_can_be_read_back(
    group: str, name: str, problem: str | None, details: str
) -> None:
    root = ElementTree.fromstring(gates_junit(name, [JunitCase(group, name, problem=problem, details=details)]))
    [case] = root.iter("testcase")
    assert len(case) == (problem is not None)
    if name.isprintable():
        assert case.attrib["name"] == name


def test_parquet_holds_what_the_json_lines_hold_in_several_row_groups(database: Database, tmp_path: Path) -> None:
    marks: dict[str, Any] = {f"s{n}": [float(n % 2), INVALID, FAILED][n % 3] for n in range(25)}
    run = record(database, tmp_path, Told(marks, cost_usd=Decimal("0.5")))
    rows = read_rows(database, run)
    pieces = list(export_parquet(rows, rows_per_group=10))
    assert len(pieces) == 3 + 1
    file = pyarrow_parquet.ParquetFile(io.BytesIO(b"".join(pieces)))
    assert file.metadata.num_row_groups == 3
    expected = []
    for row in rows:
        values = {"reasoning": None, "tool_calls": None, **row.document}
        values.update(values.pop("usage"))
        values["scores"] = [{"scorer": name, **score} for name, score in values["scores"].items()]
        expected.append(values)
    assert [sorted(row.items(), key=str) for row in file.read().to_pylist()] == [
        sorted(row.items(), key=str) for row in expected
    ]


def test_an_empty_run_is_an_empty_table(database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, Told({}))
    written = b"".join(export_parquet(read_rows(database, run)))
    assert pyarrow_parquet.read_table(io.BytesIO(written)).num_rows == 0


def test_results_of_several_models_come_in_the_order_they_were_recorded(database: Database, tmp_path: Path) -> None:
    marks = {f"s{n:04}": 1.0 for n in range(130)}
    run = record(database, tmp_path, *(Told(marks, model=f"demo/{name}") for name in "ab"))
    with database.connection() as connection:  # as if the two had answered in turn
        if database.dialect is SQLITE:
            connection.execute("PRAGMA foreign_keys=OFF")
        connection.execute("UPDATE responses SET id = 10000 + 2 * id WHERE evaluation_id = 1")
        connection.execute("UPDATE responses SET id = 10000 + 2 * (id - 130) + 1 WHERE evaluation_id = 2")
    rows = list(ResultStore(database).results(run))
    assert [row.id for row in rows] == sorted(row.id for row in rows)
    assert len(rows) == 260
    assert [row.model for row in rows[:4]] == ["demo/a", "demo/b", "demo/a", "demo/b"]
    assert [row.id for row in ResultStore(database).results(run, after=rows[99].id)] == [row.id for row in rows[100:]]


def test_exports_carry_the_prompt_and_metadata_where_asked(database: Database, tmp_path: Path) -> None:
    run = record(database, tmp_path, Told({"a": 1.0}, metadata={"a": {"source": "page 4", "rank": 2}}))
    extras = ("prompt", "metadata")
    [row] = read_rows(database, run)
    assert not set(extras) & row.document.keys()
    rows = read_rows(database, run, extras=extras)
    [line] = export_jsonl(rows)
    found = orjson.loads(line)
    assert found["metadata"] == {"source": "page 4", "rank": 2}
    assert found["prompt"]["messages"] == [{"role": "user", "content": "question a"}]
    [cells] = csv.DictReader(io.StringIO(b"".join(export_csv(rows)).decode()))
    written = io.BytesIO(b"".join(export_parquet(rows)))
    [values] = pyarrow_parquet.ParquetFile(written).read().to_pylist()
    for flat in (cells, values):
        assert {name: orjson.loads(flat[name]) for name in extras} == {name: found[name] for name in extras}
        assert "tags" not in flat
