"""Policy for manifests: restricted Pod Security everywhere, more only where it is named, limits, no tokens."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

Manifest = Mapping[str, Any]
PODS = {"Deployment", "Job", "StatefulSet", "DaemonSet", "Pod", "CronJob"}
SANDBOX = "worker-sandbox"
"""The only component that may have more, and nothing but this."""
VOLUMES = {"configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"}


def pod_of(manifest: Manifest) -> Manifest | None:
    """The pod that a manifest makes; None for one that makes none."""
    if manifest.get("kind") not in PODS:
        return None
    if manifest["kind"] == "Pod":
        found: Manifest = manifest["spec"]
        return found
    spec = manifest["spec"]["jobTemplate"]["spec"] if manifest["kind"] == "CronJob" else manifest["spec"]
    inner: Manifest = spec["template"]["spec"]
    return inner


def component_of(manifest: Manifest) -> str:
    labels = manifest["metadata"].get("labels", {})
    return str(labels.get("app.kubernetes.io/component", ""))


def violations(manifest: Manifest) -> Iterator[str]:
    """Each as a sentence; none for what keeps to the policy."""
    pod = pod_of(manifest)
    if manifest.get("kind") == "ServiceAccount" and manifest.get("automountServiceAccountToken") is not False:
        yield "the service account's token is mounted"
    if manifest.get("kind") == "Service" and manifest["spec"].get("type", "ClusterIP") != "ClusterIP":
        yield f"the service is open beyond the cluster ({manifest['spec']['type']})"
    if pod is None:
        return
    is_sandbox = component_of(manifest) == SANDBOX
    yield from _pod_violations(pod, is_sandbox=is_sandbox)
    for container in [*pod.get("initContainers", ()), *pod["containers"]]:
        for fault in _container_violations(container, is_sandbox=is_sandbox):
            yield f"{container['name']}: {fault}"


def _pod_violations(pod: Manifest, *, is_sandbox: bool) -> Iterator[str]:
    if pod.get("automountServiceAccountToken") is not False:
        yield "a token of Kubernetes is mounted"
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.get(name):
            yield f"{name} is on"
    for volume in pod.get("volumes", ()):
        if not set(volume) & VOLUMES:
            yield f"the volume {volume['name']} is none that is allowed"
        if "emptyDir" in volume and not (volume["emptyDir"] or {}).get("sizeLimit"):
            yield f"the volume {volume['name']} has no limit"
    security = pod.get("securityContext", {})
    if security.get("runAsNonRoot") is not True or not security.get("runAsUser"):
        yield "it may run as root"
    if security.get("seccompProfile", {}).get("type") not in ("RuntimeDefault", "Localhost"):
        yield "system calls are not filtered"
    if is_sandbox and pod.get("hostUsers") is not False:
        yield "an unmasked /proc without users of the pod's own"


def _container_violations(container: Manifest, *, is_sandbox: bool) -> Iterator[str]:
    yield from _security_violations(container.get("securityContext", {}), is_sandbox=is_sandbox)
    resources = container.get("resources", {})
    if not {"cpu", "memory"} <= set(resources.get("requests", ())) or "memory" not in resources.get("limits", ()):
        yield "it has no requests, or no limit of memory"
    for variable in container.get("env", ()):
        if "secretKeyRef" in variable.get("valueFrom", {}):
            yield f"the secret {variable['name']} is in the environment, not in a file"
    if any(port.get("hostPort") for port in container.get("ports", ())):
        yield "it has a port of its node"
    if is_unversioned(container.get("image", "")):
        yield "its image has no version"


def _security_violations(security: Manifest, *, is_sandbox: bool) -> Iterator[str]:
    if security.get("allowPrivilegeEscalation") is not False:
        yield "privileges may be gained"
    if security.get("privileged"):
        yield "it is privileged"
    if security.get("readOnlyRootFilesystem") is not True:
        yield "its file system can be written to"
    if security.get("capabilities", {}).get("drop") != ["ALL"] or security["capabilities"].get("add"):
        yield "it has capabilities"
    if security.get("procMount", "Default") != "Default" and not is_sandbox:
        yield "/proc is not masked"
    kind = security.get("seccompProfile", {}).get("type", "RuntimeDefault")
    if kind != "RuntimeDefault" and not (is_sandbox and kind == "Localhost"):
        yield "system calls are not filtered as the pod says"
    if security.get("runAsUser") == 0:
        yield "it runs as root"


def is_unversioned(image: str) -> bool:
    """Whether neither a tag nor a digest says which image it is."""
    return "@" not in image and ":" not in image.rpartition("/")[2]
