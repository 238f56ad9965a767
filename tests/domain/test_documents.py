"""Documents: every one has a schema that its JSON keeps, and a field that says nothing is left out."""

from __future__ import annotations

import importlib
import pkgutil
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from proctor.domain import documents
from proctor.domain.documents.document import Document, json_text
from proctor.domain.documents.evaluation import EvaluationFigures
from proctor.domain.documents.report import RunReport
from proctor.domain.documents.result import TrialResult
from proctor.domain.documents.run import RunSummary
from proctor.runs.comparing.compare import compare_runs
from proctor.runs.comparing.leaderboard import read_leaderboard
from proctor.runs.read import read_run
from proctor.runs.report import read_report
from proctor.runs.results import read_rows
from proctor.stores.runs import RunStore
from reports.parts import estimate, evaluation, run_of
from reports.stored import FAILED, UNREADABLE, Told, record
from stores.parts import new_database


def every_document() -> list[type[Document]]:
    modules = [
        importlib.import_module(f"{documents.__name__}.{one.name}") for one in pkgutil.iter_modules(documents.__path__)
    ]
    found = {value for module in modules for value in vars(module).values() if isinstance(value, type)}
    return sorted((one for one in found if issubclass(one, Document)), key=lambda one: one.__qualname__)


@pytest.mark.parametrize("kind", every_document(), ids=lambda kind: kind.__name__)
def test_every_document_is_frozen_and_has_a_schema(kind: type[Document]) -> None:
    assert kind.__struct_config__.frozen
    assert kind.__struct_config__.omit_defaults
    _, components = msgspec.json.schema_components([kind], ref_template="#/{name}")
    assert list(components[kind.__name__]["properties"]) == list(kind.__struct_encode_fields__)


def test_what_commands_print_is_what_the_schema_says(tmp_path: Path) -> None:
    database = new_database(tmp_path)
    marks = {"a": 1.0, "b": FAILED, "c": UNREADABLE, "d": [0.0, 1.0]}
    run = record(database, tmp_path, Told(marks), Told(dict.fromkeys(marks, 1.0), model="demo/b"))
    for made in (
        read_run(database, run),
        read_report(database, run),
        compare_runs(database, [run], flips=2),
        read_leaderboard(database),
        *read_rows(database, run, extras=("prompt", "metadata")),
    ):
        assert msgspec.convert(made.document, type(made)) == msgspec.convert(msgspec.to_builtins(made), type(made))
    database.dispose()


def test_a_field_with_nothing_to_say_is_left_out_and_one_that_is_not_known_is_null() -> None:
    shown = estimate(None, 0).document
    assert shown == {"value": None, "stderr": None, "ci95": None, "n": 0, "method": ""}
    worst = estimate(None, 0, unmeasured=3, if_unmeasured_wrong=None).document
    assert (worst["unmeasured"], worst["if_unmeasured_wrong"]) == (3, None)
    assert "judges" not in evaluation().document


def test_a_date_is_written_with_its_offset() -> None:
    run = replace(run_of(evaluation()), created_at=datetime(2026, 11, 18, 1, 2, 3, 4, UTC))
    assert '"created_at": "2026-11-18T01:02:03.000004+00:00"' in json_text(run)


def test_documents_of_one_run_begin_alike() -> None:
    assert RunReport.__struct_fields__[: len(RunSummary.__struct_fields__)] == RunSummary.__struct_fields__


def test_a_row_can_be_read_by_name_as_well(tmp_path: Path) -> None:
    database = new_database(tmp_path)
    [row] = read_rows(database, record(database, tmp_path, Told({"a": 1.0})))
    database.dispose()
    assert isinstance(row, TrialResult)
    assert (row["sample_id"], row["scores"]["fixed"]["value"]) == (row.sample_id, row.scores["fixed"].value)
    for name in ("prompt", "document", "nothing"):
        with pytest.raises(KeyError):
            row[name]


def test_figures_that_were_kept_in_another_form_are_computed_again(tmp_path: Path) -> None:
    database = new_database(tmp_path)
    run = record(database, tmp_path, Told({"a": 1.0, "b": 0.0}))
    before, store = read_run(database, run), RunStore(database)
    [row] = store.evaluation_rows(run)
    store.save_summary(store.get(run), row, {"model": "demo/a", "metrics": {"accuracy": 0.9}})
    assert read_run(database, run) == before
    store.save_summary(store.get(run), row, {"model": "demo/a"})
    assert read_leaderboard(database).tables[0].rows[0].estimate == before.evaluations[0].metrics["accuracy"]
    database.dispose()
    assert isinstance(before.evaluations[0], EvaluationFigures)
