"""kubernetes: a pod per workspace in a restricted namespace, spoken to through `kubectl`."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import subprocess
from collections.abc import Mapping
from typing import Any

from proctor.domain.errors import SandboxError
from proctor.domain.workspace import WorkspaceLimits
from proctor.sandboxes.cold import tool
from proctor.sandboxes.images import IMAGE
from proctor.sandboxes.inside.agent_files import Folders
from proctor.sandboxes.inside.workspace_supervisor import OWN_BYTES
from proctor.sandboxes.workspaces.accounts import anyone
from proctor.sandboxes.workspaces.bundle import start_command
from proctor.sandboxes.workspaces.opening import Launch, open_workspace
from proctor.sandboxes.workspaces.workspace import OpenWorkspace

NAMESPACE = "proctor-workspaces"
LABEL = {"app.kubernetes.io/name": "proctor-workspace"}
_POLICY = "proctor-deny-all"
_ANSWER_SECONDS = 20
_SPARE_SECONDS = 60
# Where the client finds its cluster and its credentials: the client's business, passed on to it alone.
_VARIABLES = ("HOME", "PATH", "KUBECONFIG", "KUBECACHEDIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY")
_PREFIXES = ("AWS_", "AZURE_", "GOOGLE_", "CLOUDSDK_")

NAMESPACE_MANIFEST = {
    "apiVersion": "v1",
    "kind": "Namespace",
    "metadata": {"labels": {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn")}},
}
POLICY_MANIFEST = {
    "apiVersion": "networking.k8s.io/v1",
    "kind": "NetworkPolicy",
    "metadata": {"name": _POLICY},
    "spec": {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]},
}


def pod(limits: WorkspaceLimits, image: str, uid: int) -> dict[str, Any]:
    """What a workspace asks of a cluster: nothing but memory, a processor, and folders that are gone with it."""
    # What is written to a workspace's folders is memory, too.
    amounts = {"cpu": "2", "memory": str(limits.memory_bytes + limits.disk_bytes + OWN_BYTES)}
    names = [folder.strip("/") for folder in Folders.NAMES]
    agent = {
        "name": "agent",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "command": start_command("python3"),
        "workingDir": "/",
        "stdin": True,
        "stdinOnce": True,  # the agent sees the end of its input, and ends, when nobody is attached any more
        "resources": {"limits": amounts, "requests": {**amounts, "cpu": "100m"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "privileged": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        },
        "volumeMounts": [{"name": name, "mountPath": f"/{name}"} for name in names],
    }
    spec = {
        "restartPolicy": "Never",
        "activeDeadlineSeconds": int(limits.seconds) + _SPARE_SECONDS,
        "terminationGracePeriodSeconds": 0,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "dnsPolicy": "None",
        "dnsConfig": {"nameservers": ["127.0.0.1"]},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": uid,
            "runAsGroup": uid,
            "fsGroup": uid,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [agent],
        "volumes": [
            {"name": name, "emptyDir": {"medium": "Memory", "sizeLimit": str(limits.disk_bytes)}} for name in names
        ],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": LABEL}, "spec": spec}


class Kubernetes:
    """Workspaces in pods; the cluster's nodes need the image, and its network must enforce policies."""

    name = "kubernetes"
    is_isolated = True

    def __init__(self, *, namespace: str, context: str | None, image: str) -> None:
        self._namespace, self._image = namespace, image
        self._client = [tool("kubectl"), *(("--context", context) if context else ())]
        self._environment = {
            key: value for key, value in os.environ.items() if key in _VARIABLES or key.startswith(_PREFIXES)
        }
        self._version = self._server_version()
        self._preparing = asyncio.Lock()
        self._is_prepared = False

    def _server_version(self) -> str:
        done = self._call("version", "--output", "json")
        text = done.stdout.decode(errors="replace")
        try:
            found: str = json.loads(text)["serverVersion"]["gitVersion"]
        except (ValueError, KeyError):
            reason = done.stderr.decode(errors="replace").strip()[-300:]
            raise SandboxError(
                f"No Kubernetes cluster answers: {reason or 'kubectl does not know one'}. Set KUBECONFIG, or choose "
                "another runner."
            ) from None
        return found

    def _call(self, *arguments: str, stdin: Mapping[str, Any] | None = None) -> subprocess.CompletedProcess[bytes]:
        command = [*self._client, f"--request-timeout={_ANSWER_SECONDS}s", *arguments]
        try:
            return subprocess.run(  # noqa: S603  the client itself
                command,
                input=json.dumps(stdin).encode() if stdin is not None else b"",
                capture_output=True,
                check=False,
                timeout=2 * _ANSWER_SECONDS,
                env=self._environment,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 124, b"", b"kubectl does not answer")

    async def _prepare(self) -> None:
        """The namespace and its policy, once per runner; what others left there finished is removed."""
        async with self._preparing:
            if not self._is_prepared:
                await asyncio.to_thread(self._prepare_now)
                self._is_prepared = True

    def _prepare_now(self) -> None:
        namespace = {**NAMESPACE_MANIFEST, "metadata": {**NAMESPACE_MANIFEST["metadata"], "name": self._namespace}}  # type: ignore[dict-item]
        self._ensure("namespace", self._namespace, namespace)
        policy = self._ensure("networkpolicy", _POLICY, POLICY_MANIFEST)
        if policy.get("spec") != POLICY_MANIFEST["spec"]:
            raise SandboxError(
                f"The network policy {_POLICY!r} in namespace {self._namespace!r} does not deny everything; delete it."
            )
        label = ",".join(f"{key}={value}" for key, value in LABEL.items())
        for phase in ("Succeeded", "Failed"):
            chosen = ("--selector", label, "--field-selector", f"status.phase={phase}")
            self._call("delete", "pods", "--namespace", self._namespace, *chosen, "--wait=false")

    def _ensure(self, kind: str, name: str, manifest: Mapping[str, Any]) -> dict[str, Any]:
        where = () if kind == "namespace" else ("--namespace", self._namespace)
        found = self._call("get", kind, name, *where, "--output", "json")
        if found.returncode:
            made = self._call("create", *where, "--validate=false", "--filename", "-", stdin=manifest)
            found = self._call("get", kind, name, *where, "--output", "json")
            if found.returncode:
                reason = (made.stderr or found.stderr).decode(errors="replace").strip()[-300:]
                raise SandboxError(f"The cluster has no {kind} {name!r}, and none could be made: {reason}")
        result: dict[str, Any] = json.loads(found.stdout)
        return result

    async def open(self, limits: WorkspaceLimits = WorkspaceLimits()) -> OpenWorkspace:  # noqa: B008  frozen
        await self._prepare()
        name = f"proctor-workspace-{secrets.token_hex(8)}"
        at = (*self._client, "--namespace", self._namespace)
        run = ("run", name, "--image", self._image, "--restart=Never", "--stdin", "--rm", "--quiet")
        launch = Launch(
            self.name,
            self._version,
            (*at, *run, "--pod-running-timeout=50s", "--overrides", json.dumps(pod(limits, self._image, anyone()))),
            is_using_cgroups=False,
            is_counting_users=True,
            is_seeing_cgroup=True,
            network="tunnelled",
            explaining=(*at, "get", "pod", name, "--output", "jsonpath={.status.containerStatuses[*].state}"),
            enforced_by={
                "memory": "cgroup",
                "processes": "rlimit and supervision",
                "disk": "tmpfs and supervision",
                # The container runtime's own filter, asked first, refuses some calls without telling.
                "syscalls": "refused; counted where the container runtime's own filter allows them",
            },
            after=((*at, "delete", "pod", name, "--now", "--ignore-not-found"),),
            notes={"image": self._image, "namespace": self._namespace},
            supervisor_environment=self._environment,
        )
        workspace = await open_workspace(launch, limits)
        try:
            await self._check_network(workspace)
        except BaseException:
            await workspace.close()
            raise
        return workspace

    async def _check_network(self, workspace: OpenWorkspace) -> None:
        """A policy is only as good as the network that enforces it: the cluster's own API must be out of reach."""
        if workspace.cluster is not None and await workspace.gets_to(*workspace.cluster):
            raise SandboxError(
                "The cluster does not enforce network policies: a pod that may talk to nobody reached its API. "
                "Install a network plugin that does, or choose another runner."
            )

    async def close(self) -> None:
        """Workspaces are closed one by one; a runner holds nothing."""


def create(*, namespace: str = NAMESPACE, context: str | None = None, image: str = IMAGE) -> Kubernetes:
    return Kubernetes(namespace=namespace, context=context, image=image)
