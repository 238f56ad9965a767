"""A plugin that fails is named and left out; only who asks for that very plugin gets an error, of one line."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commands import Ended, ended
from proctor import plugins
from proctor.plugins import KINDS, BrokenPluginError

Package = Callable[..., Path]
LISTING = (("benchmarks",), ("benchmarks", "--json"), ("models",), ("models", "--json"), ("--help",))
ASKED = {
    "models": ("run", "puzzles", "-m", "bad/x"),
    "scorers": ("run", "uses-scorer.yaml", "-m", "demo/strong"),
    "sources": ("benchmarks", "check", "uses-source.yaml"),
    "benchmarks": ("run", "bad", "-m", "demo/strong"),
    "metrics": ("run", "uses-metric.yaml", "-m", "demo/strong"),
    "sandboxes": ("sandbox", "run", "--backend", "bad", "program.py"),
    "runners": ("problems", "check", "cells", "--runner", "bad"),
    "reports": ("run", "puzzles", "-m", "demo/strong", "--limit", "1", "--report", "out.bad"),
    "exports": ("export", "-f", "bad"),
    "themes": ("report", "--theme", "bad"),
    "commands": ("bad",),
}
FILE = """
name: mine
dataset: {{source: {source}}}
scorers: [{scorer}]
metrics: [{metric}]
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO()))
    work = tmp_path / "work"
    work.mkdir()
    (work / "rows.jsonl").write_text('{"id": "a", "input": "1 + 1?", "target": "2"}\n', encoding="utf-8")
    (work / "program.py").write_text("print(1)\n", encoding="utf-8")
    plain = {"source": "rows.jsonl", "scorer": "numeric", "metric": "accuracy"}
    for part, text in {"source": "bad://rows", "scorer": "bad", "metric": "bad"}.items():
        (work / f"uses-{part}.yaml").write_text(FILE.format(**{**plain, part: text}), encoding="utf-8")
    return work


def proctor(folder: Path, *arguments: str) -> Ended:
    return Ended(*ended(folder.parent / "home", folder, *arguments))


@pytest.mark.parametrize("source", ["import nothing_of_this_name", "raise ValueError('no\\nway')", "exit(3)", "def"])
def test_no_list_ends_because_a_plugin_cannot_be_imported(package: Package, folder: Path, source: str) -> None:
    package(source, {f"{kind}.bad": "broken:create" for kind in KINDS})
    kinds = {"benchmarks": "benchmarks", "models": "models", "--help": "commands"}
    for command in LISTING:
        done = proctor(folder, *command)
        assert done.code == 0, done.err
        assert f"Warning: the plugin {kinds[command[0]]}.bad of broken 1.0 is left out: " in done.error
        if "--json" in command:
            assert "bad" not in {item.get("name", item.get("provider")) for item in done.json}


@pytest.mark.parametrize("kind", KINDS)
def test_who_asks_for_a_plugin_that_cannot_be_imported_gets_one_line(package: Package, folder: Path, kind: str) -> None:
    assert proctor(folder, "run", "puzzles", "-m", "demo/strong", "--limit", "1").code == 0
    package("import nothing_of_this_name", {f"{kind}.bad": "broken:create"})
    done = proctor(folder, *ASKED[kind])
    assert done.code == 2, done.err
    assert f"The plugin {kind}.bad of broken 1.0 cannot be used: ModuleNotFoundError: No module named" in done.error


def test_the_doctor_names_every_plugin_and_what_is_wrong_with_it(package: Package, folder: Path) -> None:
    good = "def create(): return {'light': {'paper': '#fff'}}\n"
    package(good, {"themes.good": "broken:create", "themes.bad": "broken:nothing", "themses.other": "broken:create"})
    done = proctor(folder, "doctor", "--json")
    assert done.code == 1
    assert done.err == ""
    found = {item["name"]: (item["state"], item["detail"]) for item in done.json}
    assert found["plugin themes.good"] == ("ok", "broken 1.0")
    assert found["plugin themes.bad"][0] == "problem"
    assert "has no attribute 'nothing'" in found["plugin themes.bad"][1]
    assert "there is no kind 'themses'. Did you mean 'themes'?" in found["plugin themses.other"][1]


def test_a_name_that_is_taken_is_left_out_and_what_had_it_stays(package: Package, folder: Path) -> None:
    source = "def create(*_, **__): raise ValueError\n"
    package(source, {"scorers.exact": "broken:create", "benchmarks.mmlu": "broken:create", "models.a": "broken:create"})
    package(source, {"models.a": "other:create"}, name="other")
    assert plugins.load("scorers", "exact").__module__ == "proctor.scorers.exact"
    done = proctor(folder, "benchmarks")
    assert done.code == 0
    assert "scorers.exact of broken 1.0 is left out: Proctor has a scorer of this name itself" in done.err
    assert "benchmarks.mmlu of broken 1.0 is left out: the catalogue has a benchmark of this name" in done.err
    assert "models.a of other 1.0 is left out: broken 1.0 has a model provider of this name, too" in done.err


@pytest.mark.parametrize(
    ("kind", "source", "reason"),
    [
        ("models", "create = 3", "is not a function but int"),
        ("models", "def create(name): ...", "a model provider is called with 4 arguments"),
        ("models", "def create(*given): return object()", "a model provider has 'identity', and object has not"),
        ("models", "PROVIDER = 'mine'\ndef create(*given): ...", "'identity', and NoneType has not"),
        ("scorers", "def create(): return object()", "a scorer has 'name', and object has not"),
        ("scorers", "def create(): raise KeyError('x')", "KeyError: 'x'"),
        ("sources", "def create(location, folder): return [1]", "a source has 'label', and list has not"),
        ("benchmarks", "def create(): return 3", "must give a Benchmark, or a mapping as in a benchmark file, not int"),
        ("benchmarks", "def create(): return {'name': 'bad', 'rowz': []}", "rowz"),
        ("benchmarks", "def create(): raise OSError('gone')", "OSError: gone"),
        ("metrics", "def create(): return object()", "a metric has 'name', and object has not"),
        ("sandboxes", "def create(parallel=None): return object()", "a sandbox has 'name', and object has not"),
        ("runners", "def create(): return object()", "a runner has 'name', and object has not"),
        ("reports", "def create(page, document): return b''", "a report format gives str, not bytes"),
        ("exports", "def create(rows): return 3", "an export format has '__iter__', and int has not"),
        ("exports", "def create(rows): return ['text']", "TypeError: "),
        ("exports", "def create(rows):\n    yield b''\n    raise ValueError('half')", "ValueError: half"),
        ("themes", "def create(): return 3", "a theme gives Mapping, not int"),
        ("commands", "def create(): ...", "a command has 'main', and function has not"),
    ],
)
def test_a_plugin_that_breaks_its_contract_is_named_with_the_reason(
    package: Package, folder: Path, kind: str, source: str, reason: str
) -> None:
    assert proctor(folder, "run", "puzzles", "-m", "demo/strong", "--limit", "1").code == 0
    package(source, {f"{kind}.bad": "broken:create"})
    done = proctor(folder, *ASKED[kind])
    assert done.code == 2, done.err
    assert f"The plugin {kind}.bad of broken 1.0 cannot be used: " in done.err
    assert reason in done.err
    assert "Traceback" not in done.err


LATE = """
import click, json
from proctor.benchmarks.rows import StreamedRows

class Metric:
    name = "bad"
    def start(self): return json.loads("no JSON")
    def measure(self, scores): raise ValueError("late")

def rows():
    yield 1, {"id": "a", "input": "1 + 1?", "target": "2"}
    raise OSError("late")

def metric(): return Metric()
def source(location, folder): return StreamedRows(location, "row", rows)

@click.command()
def command(): raise ValueError("late")
"""


@pytest.mark.parametrize(
    ("kind", "reason"),
    [("metrics", "JSONDecodeError: "), ("sources", "OSError: late"), ("commands", "ValueError: late")],
)
def test_a_plugin_that_fails_while_it_is_used_is_named_in_one_line(
    package: Package, folder: Path, kind: str, reason: str
) -> None:
    package(LATE, {f"{kind}.bad": f"broken:{kind.removesuffix('s')}"})
    done = proctor(folder, *ASKED[kind])
    assert done.code == 2, done.err
    assert f"Error: The plugin {kind}.bad of broken 1.0 cannot be used: {reason}" in done.err
    assert "Traceback" not in done.err


def test_an_error_of_our_own_stays_a_traceback(package: Package, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package(LATE, {"metrics.bad": "broken:metric"})
    monkeypatch.setattr("proctor.benchmarks.registry.list_benchmarks", lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        proctor(folder, "benchmarks")


def test_an_option_that_a_plugin_does_not_have_is_the_users_mistake(package: Package, folder: Path) -> None:
    package("def create(ignore_case=False): ...", {"scorers.bad": "broken:create"})
    (folder / "mine.yaml").write_text(
        FILE.format(source="rows.jsonl", scorer="{bad: {ignore_cas: true}}", metric="accuracy"), encoding="utf-8"
    )
    done = proctor(folder, "run", "mine.yaml", "-m", "demo/strong")
    assert done.code == 2
    assert "The scorer 'bad' (broken 1.0): got an unexpected keyword argument 'ignore_cas'" in done.error


def test_a_built_in_that_fails_is_a_bug_and_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plugins.BUILT_IN["themes"], "bad", "proctor.reports.theme:nothing")
    with pytest.raises(AttributeError):
        plugins.each("themes", lambda name: plugins.load("themes", name))


def test_a_shell_that_completes_hears_of_no_plugin(
    package: Package, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package("import nothing_of_this_name", {"commands.bad": "broken:create"})
    for name, value in {"_PROCTOR_COMPLETE": "bash_complete", "COMP_WORDS": "proctor b", "COMP_CWORD": "1"}.items():
        monkeypatch.setenv(name, value)
    done = proctor(folder)
    assert "benchmarks" in done.out
    assert done.err == ""


def test_the_reason_is_one_line_whatever_a_plugin_says(package: Package) -> None:
    package("raise ValueError('a\\n\\tb')", {"themes.bad": "broken:create"})
    with pytest.raises(BrokenPluginError) as caught:
        plugins.load("themes", "bad")
    assert str(caught.value) == "The plugin themes.bad of broken 1.0 cannot be used: ValueError: a b."
