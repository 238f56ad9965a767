"""The choice of a runner: by self-test, with controls that must fail, and never silently none."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from fakes.kubernetes import RefusalError, admit, cluster
from proctor import plugins
from proctor.domain.errors import NotFoundError, SandboxError, UserError
from proctor.domain.workspace import WorkspaceLimits
from proctor.sandboxes.images import IMAGE
from proctor.sandboxes.workspaces.accounts import COUNT, FIRST_UID, anyone, lease
from proctor.sandboxes.workspaces.kubernetes import pod
from proctor.sandboxes.workspaces.runners import choose, create, leaks_of
from sandboxes.workspaces.conftest import TRUE, WORKSPACE, made
from sandboxes.workspaces.test_leftovers import within_seconds


def test_a_runner_that_isolates_passes_its_self_test(isolated: str) -> None:
    async def run() -> None:
        runner = await choose(isolated)
        assert runner.name == isolated
        assert runner.is_isolated
        await runner.close()

    made(isolated)
    asyncio.run(run())


def test_bubblewrap_is_chosen_when_nothing_is_asked_for() -> None:
    made("bubblewrap")
    assert asyncio.run(choose()).name == "bubblewrap"


def test_no_sandbox_at_all_needs_the_explicit_flag() -> None:
    with pytest.raises(UserError, match="--unsafe-no-sandbox"):
        asyncio.run(choose("none"))
    assert asyncio.run(choose(is_unsafe=True)).is_isolated is False
    assert asyncio.run(choose("none", is_unsafe=True)).name == "none"


def test_the_probes_get_through_where_there_is_no_sandbox() -> None:
    """The negative control."""
    leaks = asyncio.run(leaks_of(create("none")))
    assert {leak.split(":")[0] for leak in leaks} >= {"network", "files", "syscalls"}


def test_a_runner_that_leaks_is_refused_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(plugins.BUILT_IN["runners"], "leaky", "proctor.sandboxes.workspaces.none:create")
    with pytest.raises(SandboxError, match=r"(?s)leaky.*files: LEAK"):
        asyncio.run(choose("leaky"))


def test_a_runner_that_is_not_there_is_named() -> None:
    with pytest.raises(NotFoundError, match="Did you mean 'bubblewrap'"):
        create("bublewrap")


def test_a_cluster_that_does_not_answer_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text("apiVersion: v1\nkind: Config\n")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "kubeconfig"))
    monkeypatch.setenv("KUBECACHEDIR", str(tmp_path))
    with pytest.raises(SandboxError, match=r"No Kubernetes cluster answers|not installed"):
        create("kubernetes")


@pytest.mark.skipif(os.geteuid() != 0, reason="the stand-in cluster's node needs root")
def test_a_cluster_that_does_not_enforce_policies_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="pe-") as name, cluster(Path(name), is_enforcing=False) as stand_in:
        monkeypatch.setenv("KUBECONFIG", f"{name}/kubeconfig")
        monkeypatch.setenv("KUBECACHEDIR", f"{name}/cache")
        runner = made("kubernetes")
        with pytest.raises(SandboxError, match="does not enforce network policies"):
            asyncio.run(runner.open(WORKSPACE))
        assert stand_in.pods() == []


def test_a_pod_asks_for_nothing_a_restricted_namespace_refuses() -> None:
    asked = pod(WorkspaceLimits(), IMAGE, anyone())
    admit(asked["spec"])
    assert asked["spec"]["automountServiceAccountToken"] is False
    assert asked["spec"]["containers"][0]["securityContext"]["readOnlyRootFilesystem"] is True
    asked["spec"]["containers"][0]["securityContext"]["allowPrivilegeEscalation"] = True
    with pytest.raises(RefusalError, match="allowPrivilegeEscalation"):
        admit(asked["spec"])


@pytest.mark.skipif(os.geteuid() != 0, reason="only root runs workspaces as other users")
def test_no_two_places_on_a_machine_share_a_user() -> None:
    """Not even of two harnesses: the other one is a process of its own, and gives its user back when it is killed."""
    text = (
        "from proctor.sandboxes.workspaces.accounts import lease\nuid, held = lease()\nprint(uid, flush=True)\ninput()"
    )
    other = subprocess.Popen([sys.executable, "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    assert other.stdin is not None
    theirs = int(other.stdout.readline())
    first, second = lease(), lease()
    try:
        assert len({theirs, first[0], second[0]}) == 3
        assert all(FIRST_UID <= uid < FIRST_UID + COUNT for uid in (theirs, first[0], second[0]))
    finally:
        other.kill()
        other.communicate()
        for _, held in (first, second):
            assert held is not None
            held.close()
    assert within_seconds(lambda: _is_free(theirs))


def _is_free(wanted: int) -> bool:
    """Whether it is among the users that can be had; another test may have it for a moment."""
    leases = [lease()]
    try:
        while leases[-1][0] < wanted:
            leases.append(lease())
        return leases[-1][0] == wanted
    finally:
        for _, held in leases:
            assert held is not None
            held.close()


_UNPRIVILEGED = """
import asyncio, os, sys
from proctor.sandboxes.workspaces.runners import choose
async def main():
    runner = await choose("bubblewrap")
    workspace = await runner.open()
    try:
        await workspace.write({"index.html": b"hello"})
        await workspace.start(["python3", "-m", "http.server", "8000", "--bind", "127.0.0.1"], folder="/app")
        reach = await workspace.reach(8000)
        for _ in range(200):
            process = await asyncio.create_subprocess_exec(*reach.prefix, "/usr/bin/python3", "-I", "-c",
                f"import urllib.request; print(urllib.request.urlopen('http://{reach.host}:{reach.port}/').read().decode())",
                stdout=-1, stderr=-3)
            out, _ = await process.communicate()
            if out: break
            await asyncio.sleep(0.05)
        print(workspace.record["network"], out.decode().strip())
    finally:
        await workspace.close()
asyncio.run(main())
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="already an ordinary user: every other test shows it")
def test_an_ordinary_user_opens_and_reaches_places() -> None:
    made("bubblewrap")
    import proctor

    python = "/usr/bin/python3"
    packages = [str(Path(proctor.__file__).parents[1]), *(path for path in sys.path if path.endswith("site-packages"))]
    done = subprocess.run(
        [
            "setpriv",
            "--reuid",
            "62999",
            "--regid",
            "62999",
            "--clear-groups",
            python,
            "-c",
            f"import sys; sys.path[:0] = {packages!r}\n{_UNPRIVILEGED}",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.stdout.strip() == "joined hello", done.stderr[-2000:]


def test_many_places_open_and_close_at_once(name: str) -> None:
    runner = made(name)

    async def one() -> bool:
        workspace = await runner.open(WORKSPACE)
        try:
            return (await workspace.execute(TRUE)).succeeded
        finally:
            await workspace.close()

    async def run() -> list[bool]:
        return await asyncio.gather(*(one() for _ in range(4)))

    assert asyncio.run(run()) == [True] * 4
