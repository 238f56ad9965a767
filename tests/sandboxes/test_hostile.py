"""Hostile programs in every backend there is: contained, reported as what they were, nothing left behind."""

from __future__ import annotations

import pytest

from proctor.domain.sandbox import SandboxResult
from sandboxes.hostile import PROGRAMS, Hostile
from sandboxes.suites import Suite, escape, run_suite

BACKENDS = ("namespaces", "bubblewrap", "firejail", "nsjail")
pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module", params=BACKENDS)
def suite(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Suite:
    return run_suite(request.param, tmp_path_factory.mktemp("harness"))


def test_there_are_at_least_forty_programs() -> None:
    assert len({program.name for program in PROGRAMS}) == len(PROGRAMS) >= 40


@pytest.mark.parametrize("hostile", PROGRAMS, ids=lambda hostile: hostile.name)
def test_a_hostile_program_is_contained(suite: Suite, hostile: Hostile) -> None:
    assert escape(hostile, suite.results[hostile.name]) is None


def test_nothing_is_left_behind(suite: Suite) -> None:
    assert not any(suite.left.values()), suite.left


def test_links_and_odd_files_are_not_brought_back(suite: Suite) -> None:
    done = suite.results["leaves_links"]
    assert isinstance(done, SandboxResult)
    assert done.files == {"fine.txt": b"fine"}
    assert set(done.refused_files) == {"link", "root", "up", "good.txt", "twin.txt"}
    odd = suite.results["leaves_odd_files"]
    assert isinstance(odd, SandboxResult)
    assert odd.files == {"fine.txt": b"fine"}
    many = suite.results["leaves_too_much"]
    assert isinstance(many, SandboxResult)
    assert len(many.files) <= 500
    assert many.refused_files


def test_refused_system_calls_are_counted_by_name(suite: Suite) -> None:
    done = suite.results["calls_dangerous_system_calls"]
    assert isinstance(done, SandboxResult)
    assert {"bpf", "perf_event_open", "keyctl", "init_module", "memfd_create"} <= set(done.violations)
    hammered = suite.results["hammers_refused_calls"]
    assert isinstance(hammered, SandboxResult)
    assert hammered.violations.get("setuid", 0) > 1 or hammered.violations.get("setuid32", 0) > 1


def test_the_network_attempt_is_recorded(suite: Suite) -> None:
    done = suite.results["connects_to_the_host"]
    assert isinstance(done, SandboxResult)
    assert done.violations.get("socket", 0) >= 2
