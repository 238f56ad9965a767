"""Locked requirements of programs: pinned, from the user's index, without running anything, kept for the next time."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import os
import shutil
import tarfile
import urllib.request
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
from msgspec.structs import replace

from proctor.domain.errors import PackageSourceError, ScorerError
from proctor.domain.problem import Problem
from proctor.domain.workspace import Runner
from proctor.programs.options import MarkOptions
from proctor.programs.packages.fetching import fetch_wheels
from proctor.programs.packages.operator_tools import PipSettings, run_confined
from proctor.programs.packages.package_set import BuildError, PackageSet
from proctor.programs.packages.requirements import read_requirements
from proctor.programs.packages.wheels import WheelSource
from proctor.programs.tools.running import ToolError
from programs.programs import QUICK, marked, phase, text

PYTHON = "3.11.2"
SHA = "a" * 64


pytestmark = pytest.mark.usefixtures("no_package_index")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    folder = tmp_path / "house"
    folder.mkdir()
    return folder


def wheel(house: Path, version: str = "1.0", files: dict[str, str] | None = None) -> Path:
    about = f"counting-{version}.dist-info"
    content = {
        "counting.py": "def words(text):\n    return len(text.split())\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: counting\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{about}/RECORD": "",
        **(files or {}),
    }
    path = house / f"counting-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as made:
        for name, text_of in content.items():
            made.writestr(name, text_of)
    return path


def sdist(house: Path, version: str, marker: Path) -> None:
    """A source archive whose setup leaves a trace, wherever it runs."""
    setup = (
        f"open({str(marker)!r}, 'w').close()\nfrom setuptools import setup\nsetup(name='counting', version='{version}')"
    )
    with tarfile.open(house / f"counting-{version}.tar.gz", "w:gz") as made:
        for name, content in (
            ("setup.py", setup),
            ("PKG-INFO", f"Metadata-Version: 2.1\nName: counting\nVersion: {version}"),
        ):
            about = tarfile.TarInfo(f"counting-{version}/{name}")
            about.size = len(content.encode())
            made.addfile(about, io.BytesIO(content.encode()))


def fetched(tally: Problem, listed: str, options: MarkOptions, allowed: Sequence[str] = ("counting",)) -> PackageSet:
    problem = replace(tally, dependencies=tuple(allowed))
    return asyncio.run(fetch_wheels(problem, {"requirements.txt": listed.encode()}, options, PYTHON))


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("counting @ https://elsewhere/counting-1.0-py3-none-any.whl", "is to come from an address"),
        ("counting @ file:///etc/passwd", "is to come from an address"),
        ("https://elsewhere/counting-1.0-py3-none-any.whl", "is not the name"),
        ("./counting", "is not the name"),
        ("../../counting", "is not the name"),
        ("/etc/passwd", "is not the name"),
        ("-e .", "is not the name"),
        ("git+https://elsewhere/counting", "is not the name"),
        ("-r ../../requirements.txt", "is not the name"),
        ("-c ../../constraints.txt", "is not the name"),
        ("--index-url http://elsewhere\ncounting==1.0", ":1: .* is not the name"),
        ("--extra-index-url=http://elsewhere", "is not the name"),
        ("--find-links /tmp", "is not the name"),
        ("--no-binary :all:", "is not the name"),
        ("--trusted-host elsewhere", "is not the name"),
        ("counting==1.0 --index-url http://elsewhere", "is not the name"),
        ("counting==1.0 \\\n  --index-url http://elsewhere", "is not the name"),
        ("counting==1.0 --global-option=x", "is not the name"),
        ("counting==1.0 --hash=sha256:short", "is not the name"),
        ("${SECRET}", "is not the name"),
        ("counting", "is not pinned; give one version: counting==1.2"),
        ("counting>=1.0", "is not pinned"),
        ("counting==1.*", "is not pinned"),
        ("counting==1.0,!=2", "is not pinned"),
        ("counting~=1.0", "is not pinned"),
        ("other==1.0", "does not allow the package 'other'; it allows counting"),
        ("#" * 300_000, "at most 262,144 are read"),
    ],
)
def test_what_is_no_pinned_package_of_the_index_is_refused(listed: str, words: str) -> None:
    with pytest.raises(BuildError, match=words):
        read_requirements({"requirements.txt": listed.encode()}, ("counting",))


def test_pins_hashes_extras_and_markers_are_kept() -> None:
    listed = f"counting[fast]==1.0 ; python_version > '3'  \\\n  --hash=sha256:{SHA} \\\n  --hash=sha256:{SHA}  # two\n"
    (found,) = read_requirements({"requirements.txt": listed.encode()}, ("Counting",))
    assert found.line == f'counting[fast]==1.0; python_version > "3" --hash=sha256:{SHA} --hash=sha256:{SHA}'


def test_a_program_runs_in_a_virtual_environment_of_its_own(
    tally: Problem, runner: Runner, house: Path, tmp_path: Path
) -> None:
    wheel(house, files={"counting_paths.pth": "import sys; sys.from_pth = True\n"})
    source = """
import sys, os, subprocess
import counting
assert sys.prefix != sys.base_prefix and sys.from_pth
assert os.environ["VIRTUAL_ENV"] == sys.prefix
subprocess.run(["python3", "-c", "import counting"], check=True)
if len(sys.argv) == 1:
    print(counting.words(sys.stdin.read()))
"""
    options = replace(QUICK, wheelhouse=house, packages=tmp_path / "kept")
    files = text(main_py=source, requirements_txt="counting==1.0")
    card = marked(replace(tally, dependencies=("counting",)), files, runner, options)
    assert phase(card, "build").evidence["packages"] == ["counting==1.0"]
    passed = {check.name for check in card.evidence.checks if str(check.status) == "passed"}
    assert "counts_standard_input" in passed


def test_an_unpinned_requirement_is_said_on_the_scorecard(tally: Problem, runner: Runner) -> None:
    files = text(main_py="print(1)", requirements_txt="counting\n")
    card = marked(replace(tally, dependencies=("counting",)), files, runner)
    assert str(phase(card, "build").status) == "failed"
    assert "requirements.txt:1: 'counting' is not pinned" in phase(card, "build").log
    assert (card.total, card.passed) == (0.0, False)


def test_a_hash_must_be_that_of_the_wheel(tally: Problem, house: Path) -> None:
    content = wheel(house).read_bytes()
    options = MarkOptions(wheelhouse=house)
    right = hashlib.sha256(content).hexdigest()
    assert fetched(tally, f"counting==1.0 --hash=sha256:{right}", options).pins == ("counting==1.0",)
    with pytest.raises(BuildError, match=r"(?i)hash"):
        fetched(tally, f"counting==1.0 --hash=sha256:{SHA}", options)


def test_nothing_is_built_from_source_and_no_code_of_it_runs(tally: Problem, house: Path, tmp_path: Path) -> None:
    marker = tmp_path / "ran"
    sdist(house, "2.0", marker)
    with pytest.raises(PackageSourceError, match="has nothing for counting"):
        fetched(tally, "counting==2.0", MarkOptions(wheelhouse=house))
    wheel(house)
    with pytest.raises(BuildError, match=r"no wheels for counting==2\.0"):
        fetched(tally, "counting==2.0", MarkOptions(wheelhouse=house))
    assert not marker.exists()


def test_paths_that_lead_out_of_a_wheel_stay_in_its_environment(
    tally: Problem, runner: Runner, house: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "escaped"
    wheel(house, files={"../" * 20 + str(outside).lstrip("/"): "x", str(outside): "x", "../../../../main.py": "1/0"})
    source = "import sys, counting\nif len(sys.argv) == 1:\n    print(counting.words(sys.stdin.read()))\n"
    files = text(main_py=source, requirements_txt="counting==1.0")
    card = marked(replace(tally, dependencies=("counting",)), files, runner, replace(QUICK, wheelhouse=house))
    assert not outside.exists()
    assert "counts_standard_input" in {one.name for one in card.evidence.checks if str(one.status) == "passed"}


def test_the_index_that_pip_is_set_to_is_used(
    tally: Problem, house: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    wheel(house)
    with pytest.raises(ScorerError, match=r"neither a wheelhouse nor a package index .*PIP_INDEX_URL"):
        fetched(tally, "counting==1.0", MarkOptions())
    monkeypatch.setenv("PIP_FIND_LINKS", str(house))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    assert fetched(tally, "counting==1.0", MarkOptions()).pins == ("counting==1.0",)
    (tmp_path / "pip.conf").write_text(f"[global]\nfind-links = {house}\nno-index = true\n")
    monkeypatch.delenv("PIP_FIND_LINKS")
    monkeypatch.setenv("PIP_CONFIG_FILE", str(tmp_path / "pip.conf"))
    assert fetched(tally, "counting==1.0", MarkOptions()).pins == ("counting==1.0",)


def test_an_index_that_does_not_answer_is_no_fault_of_the_program(
    tally: Problem, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    with pytest.raises(PackageSourceError, match="does not answer"):
        fetched(tally, "counting==1.0", MarkOptions())


def test_pip_is_given_where_to_look_and_nothing_else_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    settings = PipSettings({"index-url": "https://me:key@index/simple", "cert": "/ca.pem", "target": "/etc"})
    given = WheelSource(MarkOptions(), settings).environment()
    assert given == {
        "PIP_INDEX_URL": "https://me:key@index/simple",
        "PIP_CERT": "/ca.pem",
        "PIP_CONFIG_FILE": os.devnull,
    }
    other = WheelSource(MarkOptions(index_url="https://other/simple"), settings)
    assert other.environment()["PIP_INDEX_URL"] == "https://other/simple"


def test_tools_that_install_can_write_to_their_folder_only(tmp_path: Path) -> None:
    if shutil.which("bwrap") is None:
        pytest.skip("without bubblewrap nothing keeps a tool from writing elsewhere")
    (tmp_path / "own").mkdir()
    said = "echo x > own; echo x > ../outside; env"
    code, out, _ = asyncio.run(
        run_confined(("/bin/sh", "-c", said), tmp_path / "own", environment={"A": "1"}, memory_bytes=1 << 30)
    )
    assert code == 0
    assert (tmp_path / "own" / "own").exists()
    assert not (tmp_path / "outside").exists()
    names = {line.partition("=")[0] for line in out.decode().splitlines()}
    assert names <= {"A", "PATH", "HOME", "LANG", "LC_CTYPE", "NO_COLOR", "TERM", "PWD", "OLDPWD", "SHLVL", "_"}


@pytest.mark.parametrize("writing", ["yes > big", "i=0; while :; do i=$((i+1)); : > $i; done"], ids=["size", "number"])
def test_a_tool_that_fills_the_disk_is_ended(tmp_path: Path, writing: str) -> None:
    with pytest.raises(ToolError, match="it wrote more than 1 MiB"):
        asyncio.run(
            run_confined(("/bin/sh", "-c", writing), tmp_path, environment={}, memory_bytes=1 << 30, disk_bytes=1 << 20)
        )


def test_what_was_fetched_is_kept_by_lock_interpreter_and_source(tally: Problem, house: Path, tmp_path: Path) -> None:
    made = wheel(house)
    options = MarkOptions(wheelhouse=house, packages=tmp_path / "kept")
    first = fetched(tally, "counting==1.0", options)
    made.unlink()
    assert fetched(tally, "# a comment\ncounting==1.0\n", options) == first
    with pytest.raises(PackageSourceError):
        fetched(tally, "counting==1.1", options)
    with pytest.raises(PackageSourceError):
        fetched(tally, "counting==1.0", replace(options, wheelhouse=tmp_path))
    problem = replace(tally, dependencies=("counting",))
    with pytest.raises(PackageSourceError):
        asyncio.run(fetch_wheels(problem, {"requirements.txt": b"counting==1.0"}, options, "3.12.1"))


def test_what_is_kept_and_broken_is_fetched_again(tally: Problem, house: Path, tmp_path: Path) -> None:
    wheel(house)
    options = MarkOptions(wheelhouse=house, packages=tmp_path / "kept")
    first = fetched(tally, "counting==1.0", options)
    (kept,) = (tmp_path / "kept").iterdir()
    kept.write_bytes(kept.read_bytes()[:100])
    assert fetched(tally, "counting==1.0", options) == first
    assert zipfile.is_zipfile(kept)


def test_a_real_package_comes_from_a_real_index(tally: Problem, runner: Runner, tmp_path: Path) -> None:
    try:
        with urllib.request.urlopen("https://pypi.org/simple/iniconfig/", timeout=10) as answer:
            assert answer.status == 200
    except OSError as error:
        pytest.skip(f"the package index does not answer: {error}")
    source = "import sys, iniconfig\nif len(sys.argv) == 1:\n    print(len(sys.stdin.read().split()))\n"
    files = text(main_py=source, requirements_txt="iniconfig==2.0.0")
    options = replace(QUICK, index_url="https://pypi.org/simple", packages=tmp_path / "kept")
    card = marked(replace(tally, dependencies=("iniconfig",)), files, runner, options)
    assert phase(card, "build").evidence["packages"] == ["iniconfig==2.0.0"], json.dumps(phase(card, "build").log)
    assert "counts_standard_input" in {one.name for one in card.evidence.checks if str(one.status) == "passed"}
