"""npm packages of programs: only what the lock pins and the problem allows, from the registry, without scripts."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from fakes.npm_registry import NpmRegistry
from proctor.domain.errors import PackageSourceError, ScorerError
from proctor.domain.problem import Problem
from proctor.domain.workspace import Runner
from proctor.programs.npm_audit import npm_audit, read_npm_audit
from proctor.programs.options import MarkOptions
from proctor.programs.packages.fetching import fetch_npm_packages
from proctor.programs.packages.npm_lock import read_npm_lock, read_npm_names
from proctor.programs.packages.package_set import BuildError, PackageSet
from programs.programs import QUICK, marked, phase

HASH = f"sha512-{'A' * 86}=="
GOOD = {"version": "1.0.0", "resolved": "https://registry.npmjs.org/counting/-/counting-1.0.0.tgz", "integrity": HASH}
SOURCE = """
const words = require("counting");
if (process.argv.length === 2) console.log(words(require("fs").readFileSync(0, "utf8")));
"""
COUNTING = "module.exports = (text) => text.split(/\\s+/).filter(Boolean).length;\n"
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on this machine")


@pytest.fixture
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[NpmRegistry]:
    for name in [name for name in os.environ if name.lower().startswith("npm_config_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("NPM_CONFIG_USERCONFIG", str(tmp_path / "npmrc"))
    with NpmRegistry() as started:
        monkeypatch.setenv("NPM_CONFIG_REGISTRY", started.url)
        yield started


def program(packages: Mapping[str, Any], wanted: Mapping[str, str] | None = None, **described: Any) -> dict[str, bytes]:
    direct = {"counting": "^1.0.0"} if wanted is None else dict(wanted)
    lock = {"lockfileVersion": 3, "packages": {"": {"dependencies": direct}, **packages}}
    return {
        "main.js": SOURCE.encode(),
        "package.json": json.dumps({"dependencies": direct, **described}).encode(),
        "package-lock.json": json.dumps(lock).encode(),
    }


def fetched(tally: Problem, files: Mapping[str, bytes], options: MarkOptions = QUICK) -> PackageSet:
    allowing = replace(tally, dependencies=("npm:counting",))
    return asyncio.run(fetch_npm_packages(allowing, files, options, "20.0.0"))


def refused(files: Mapping[str, bytes], registry: str | None = "http://127.0.0.1:4873/") -> str:
    with pytest.raises(BuildError) as caught:
        read_npm_lock(files, read_npm_names(files, ("npm:counting",)), registry)
    return str(caught.value)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"resolved": "file:../../etc"}, "is to come from 'file:../../etc'"),
        ({"resolved": "git+ssh://git@host/counting.git#abc"}, "is to come from 'git+ssh"),
        ({"resolved": "git+https://host/counting.git"}, "is to come from 'git+https"),
        ({"resolved": "https://elsewhere/counting/-/counting-1.0.0.tgz"}, "is to come from 'https://elsewhere"),
        ({"resolved": "http://169.254.169.254/counting/-/x.tgz"}, "is to come from 'http://169"),
        ({"resolved": "https://registry.npmjs.org@elsewhere/counting/-/x.tgz"}, "is to come from"),
        ({"resolved": "https://registry.npmjs.org/other/-/other-1.0.0.tgz"}, "is to come from"),
        ({"resolved": "https://[/counting/-/x"}, "is to come from"),
        ({"resolved": 7}, "is to come from"),
        ({"link": True}, "stands for something else"),
        ({"name": "other"}, "stands for something else"),
        ({"integrity": None}, "has no sha512 hash"),
        ({"integrity": "sha1-AAAAAAAAAAAAAAAAAAAAAAAAAAA="}, "has no sha512 hash"),
        ({"version": "^1.0.0"}, "has no exact version"),
        ({"version": None}, "has no exact version"),
        ({"version": "file:../x"}, "has no exact version"),
        ({"dependencies": {"other": "git+https://elsewhere/x"}}, "is not a version"),
        ({"dependencies": {"other": "file:../x"}}, "is not a version"),
        ({"dependencies": {"other": "npm:evil@1"}}, "is not a version"),
        ({"dependencies": {"../../x": "1"}}, "is not the name"),
    ],
)
def test_an_entry_of_a_lock_that_is_not_pinned_to_the_registry_is_refused(entry: dict[str, Any], words: str) -> None:
    assert words in refused(program({"node_modules/counting": {**GOOD, **entry}}))


@pytest.mark.parametrize(
    "path",
    ["counting", "../counting", "node_modules/../../x", "node_modules/a/../x", "/etc/x", "node_modules/", "packages/a"],
)
def test_a_folder_outside_of_node_modules_is_refused(path: str) -> None:
    assert "is not a folder of node_modules" in refused(program({path: GOOD}))


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"package.json": b'{"dependencies": {"counting": "1"}}'}, "no package-lock.json pins"),
        (
            {"package.json": b'{"dependencies": {"other": "1"}}'},
            "does not allow the package 'other'; it allows counting",
        ),
        ({"package.json": b'{"dependencies": {"counting": "file:../x"}}'}, "is not a version"),
        ({"package.json": b'{"dependencies": {"counting": "npm:evil@1"}}'}, "is not a version"),
        ({"package.json": b'{"dependencies": {"counting": "user/repository"}}'}, "is not a version"),
        ({"package.json": b'{"optionalDependencies": {"counting": "1"}}'}, "is not supported"),
        ({"package.json": b'{"workspaces": ["a"]}'}, "is not supported"),
        ({"package.json": b"["}, "is not JSON"),
        ({"package.json": b"[]"}, "is not a JSON object"),
        (
            {**program({}), "package-lock.json": b'{"lockfileVersion": 1, "dependencies": {}}'},
            "is not of version 2 or 3",
        ),
        ({**program({}), "package-lock.json": b"{" * 100_000}, "is not JSON"),
        (program({f"node_modules/p{n}": GOOD for n in range(2_001)}), "at most 2,000 are installed"),
    ],
)
def test_what_cannot_be_installed_is_refused_before_npm_is_asked(files: dict[str, bytes], words: str) -> None:
    assert words in refused(files)


@needs_npm
def test_a_locked_package_is_installed_and_used(tally: Problem, runner: Runner, registry: NpmRegistry) -> None:
    deeper = registry.add("deeper", files={"package/index.js": COUNTING})
    again = 'module.exports = require("deeper");'
    own = registry.add("counting", files={"package/index.js": again}, dependencies={"deeper": "^1.0.0"})
    files = program({"node_modules/counting": own, "node_modules/deeper": deeper})
    card = marked(replace(tally, dependencies=("npm:counting",)), files, runner)
    assert phase(card, "build").evidence["packages"] == ["counting@1.0.0", "deeper@1.0.0"], phase(card, "build").log
    assert "counts_standard_input" in {one.name for one in card.evidence.checks if str(one.status) == "passed"}


@needs_npm
def test_no_script_of_a_package_runs_and_no_file_leaves_its_folder(
    tally: Problem, registry: NpmRegistry, tmp_path: Path
) -> None:
    marker, outside = tmp_path / "ran", tmp_path / "escaped"
    scripts = dict.fromkeys(("preinstall", "install", "postinstall", "prepare"), f"touch {marker}")
    files = {
        "package/index.js": COUNTING,
        "package/../../../../escaped.js": "x",
        "package/" + "../" * 20 + str(outside).lstrip("/"): "x",
        str(outside): "x",
        "package/binding.gyp": "{}",
    }
    own = registry.add("counting", files=files, scripts=scripts, bin={"sh": "index.js"})
    described = {"scripts": {"preinstall": f"touch {marker}", "prepare": f"touch {marker}"}}
    found = fetched(tally, program({"node_modules/counting": {**own, "hasInstallScript": True}}, **described))
    assert found.pins == ("counting@1.0.0",)
    assert not marker.exists()
    assert not outside.exists()


@needs_npm
def test_settings_of_the_program_do_not_reach_npm(tally: Problem, registry: NpmRegistry) -> None:
    own = registry.add("counting", files={"package/index.js": COUNTING})
    files = program({"node_modules/counting": own}) | {
        ".npmrc": b"registry=http://127.0.0.1:9/\nignore-scripts=false\n"
    }
    assert fetched(tally, files).pins == ("counting@1.0.0",)


@needs_npm
def test_a_lock_cannot_smuggle_in_what_the_problem_does_not_allow(tally: Problem, registry: NpmRegistry) -> None:
    evil = registry.add("evil")
    own = registry.add("counting", files={"package/index.js": COUNTING})
    lying = {**own, "dependencies": {"evil": "1.0.0"}}
    with pytest.raises(BuildError, match="nothing that the problem allows needs 'node_modules/evil'"):
        fetched(tally, program({"node_modules/counting": lying, "node_modules/evil": evil}))


@needs_npm
def test_a_hash_that_is_not_the_archive_s_is_the_program_s_mistake(tally: Problem, registry: NpmRegistry) -> None:
    own = registry.add("counting")
    with pytest.raises(BuildError, match=r"(?i)integrity"):
        fetched(tally, program({"node_modules/counting": {**own, "integrity": HASH}}))


@needs_npm
def test_a_version_that_does_not_exist_is_the_program_s_mistake(tally: Problem, registry: NpmRegistry) -> None:
    own = registry.add("counting")
    with pytest.raises(BuildError, match="cannot be installed"):
        fetched(tally, program({"node_modules/counting": {**own, "version": "1.9.9"}}))


@needs_npm
def test_a_registry_that_does_not_answer_is_no_fault_of_the_program(
    tally: Problem, registry: NpmRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = registry.add("counting")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", "http://127.0.0.1:9/")
    with pytest.raises(PackageSourceError, match="does not answer"):
        fetched(tally, program({"node_modules/counting": own}))
    monkeypatch.delenv("NPM_CONFIG_REGISTRY")
    monkeypatch.setenv("NPM_CONFIG_GLOBALCONFIG", os.devnull)
    with pytest.raises(ScorerError, match=r"npm has no registry set .*NPM_CONFIG_REGISTRY"):
        fetched(tally, program({"node_modules/counting": GOOD}))


@needs_npm
def test_what_was_installed_is_kept(tally: Problem, registry: NpmRegistry, tmp_path: Path) -> None:
    own = registry.add("counting", files={"package/index.js": COUNTING})
    files, options = program({"node_modules/counting": own}), replace(QUICK, packages=tmp_path / "kept")
    first = fetched(tally, files, options)
    asked = len(registry.paths)
    assert fetched(tally, files, options) == first
    assert len(registry.paths) == asked


@needs_npm
def test_an_audit_that_the_registry_does_not_answer_is_named(tally: Problem, registry: NpmRegistry) -> None:
    own = registry.add("counting")
    files = program({"node_modules/counting": own})
    found = asyncio.run(npm_audit(files, "javascript", ("counting@1.0.0",)))
    assert found["status"] == "not run"
    assert "it ended with exit code 1" in found["reason"]


def test_an_audit_is_read_as_npm_writes_it() -> None:
    answer = {
        "auditReportVersion": 2,
        "vulnerabilities": {
            "minimist": {
                "severity": "critical",
                "range": "<0.2.4",
                "via": [{"url": "https://github.com/advisories/GHSA-xvch-5gv4-984h"}],
            },
            "mkdirp": {"severity": "moderate", "range": "0.4.1 - 0.5.1", "via": ["minimist"]},
        },
    }
    found = read_npm_audit(answer)
    assert [(one["code"], one["severity"], one["message"]) for one in found["findings"]] == [
        ("GHSA-xvch-5gv4-984h", "CRITICAL", "minimist <0.2.4"),
        ("via minimist", "MEDIUM", "mkdirp 0.4.1 - 0.5.1"),
    ]


@needs_npm
def test_a_real_package_comes_from_a_real_registry(
    tally: Problem, runner: Runner, registry: NpmRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = "https://registry.npmjs.org/"
    try:
        with urllib.request.urlopen(f"{address}is-number/7.0.0", timeout=10) as answer:
            dist = json.load(answer)["dist"]
    except OSError as error:
        pytest.skip(f"the npm registry does not answer: {error}")
    monkeypatch.setenv("NPM_CONFIG_REGISTRY", address)
    entry = {"version": "7.0.0", "resolved": dist["tarball"], "integrity": dist["integrity"]}
    files = program({"node_modules/is-number": entry}, {"is-number": "^7.0.0"})
    files["main.js"] = b'if (!require("is-number")("5")) process.exit(1); console.log(1);'
    card = marked(replace(tally, dependencies=("npm:is-number",)), files, runner)
    assert phase(card, "build").evidence["packages"] == ["is-number@7.0.0"], phase(card, "build").log
