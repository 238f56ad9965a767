"""A stand-in for a cluster: the API as `kubectl` speaks it, admission as the restricted profile wants it, one node.

Its node runs a pod's command as a local process in namespaces made by `bwrap`, with the pod's user, folders, memory
limit and, when a policy denies everything, no network. Not there: images, schedulers, container runtimes and their own
system call filters.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import signal
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aiohttp import WSMsgType, web

from proctor.sandboxes.bubblewrap import binds
from proctor.sandboxes.cold import interpreter, tool
from proctor.sandboxes.inside.cgroups import Cgroup

KINDS = {
    "pods": ("Pod", "v1"),
    "namespaces": ("Namespace", "v1"),
    "networkpolicies": ("NetworkPolicy", "networking.k8s.io/v1"),
}
_STDIN, _STDOUT, _STDERR, _ERROR, _CLOSE = 0, 1, 2, 3, 255
_PROTOCOLS = ("v5.channel.k8s.io", "v4.channel.k8s.io")


class RefusalError(Exception):
    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code, self.reason = code, reason

    def response(self) -> web.Response:
        status = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": str(self)}
        return web.json_response({**status, "reason": self.reason, "code": self.code}, status=self.code)


def admit(spec: dict[str, Any]) -> None:
    """The restricted profile of the pod security standards, as far as a pod here could break it."""
    pod, wrong = spec.get("securityContext", {}), []
    if any(spec.get(flag) for flag in ("hostNetwork", "hostPID", "hostIPC")):
        wrong.append("host namespaces")
    if any(
        set(volume) - {"name"} - {"emptyDir", "configMap", "secret", "projected"} for volume in spec.get("volumes", [])
    ):
        wrong.append("restricted volume types")
    for container in spec["containers"]:
        own = container.get("securityContext", {})
        if own.get("privileged") or own.get("allowPrivilegeEscalation") is not False:
            wrong.append("allowPrivilegeEscalation != false")
        if own.get("capabilities", {}).get("drop") != ["ALL"] or own.get("capabilities", {}).get("add"):
            wrong.append("unrestricted capabilities")
        if not (own.get("runAsNonRoot") or pod.get("runAsNonRoot")) or pod.get("runAsUser") == 0:
            wrong.append("runAsNonRoot != true")
        if (own.get("seccompProfile") or pod.get("seccompProfile") or {}).get("type") != "RuntimeDefault":
            wrong.append("seccompProfile")
    if wrong:
        raise RefusalError(403, "Forbidden", f'violates PodSecurity "restricted:latest": {", ".join(wrong)}')


class Node:
    """Runs one pod: its process, its output, and how it ended."""

    def __init__(self, pod: dict[str, Any], api: tuple[str, int], hosts: Path, *, has_network: bool) -> None:
        self.pod = pod
        self._hosts = hosts
        self._api, self._has_network = api, has_network
        self.cgroup = Cgroup(f"{os.getpid()}-pod-{secrets.token_hex(4)}")
        self.process: asyncio.subprocess.Process | None = None
        self.code: int | None = None
        self.is_out_of_memory = False

    def _command(self) -> list[str]:
        spec, container = self.pod["spec"], self.pod["spec"]["containers"][0]
        user, pod = str(spec["securityContext"]["runAsUser"]), spec["volumes"]
        sizes = {volume["name"]: volume["emptyDir"]["sizeLimit"] for volume in pod}
        folders: list[str] = []
        for mount in container["volumeMounts"]:
            folders += ["--size", sizes[mount["name"]], "--tmpfs", mount["mountPath"]]
        if spec.get("automountServiceAccountToken") is not False:
            folders += ["--tmpfs", "/var/run/secrets/kubernetes.io/serviceaccount"]
        join = " ".join(f"echo $$ > {folder}/cgroup.procs;" for folder in self.cgroup.folders.values())
        drop = ("--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs", "--inh-caps=-all")
        api = (
            "--setenv",
            "KUBERNETES_SERVICE_HOST",
            self._api[0],
            "--setenv",
            "KUBERNETES_SERVICE_PORT",
            str(self._api[1]),
        )
        return [
            *("sh", "-c", f'{join} exec "$@"', "sh", tool("setpriv"), *drop, tool("bwrap"), "--unshare-all"),
            *(("--share-net",) if self._has_network else ()),
            *("--die-with-parent", "--as-pid-1", "--new-session", "--uid", user, "--gid", user, "--cap-drop", "ALL"),
            *binds(interpreter()),
            *(
                "--proc",
                "/proc",
                "--dev",
                "/dev",
                *folders,
                *self._shown(),
                "--clearenv",
                "--setenv",
                "PATH",
                "/usr/bin:/bin",
                *api,
            ),
            *(("--remount-ro", "/") if container["securityContext"].get("readOnlyRootFilesystem") else ()),
            *("--chdir", container.get("workingDir", "/"), "--", *container["command"]),
        ]

    def _shown(self) -> list[str]:
        """What a kubelet and its runtime add: names, the pod's own control group, and devices nobody can add to."""
        shown = ["--ro-bind", str(self._hosts), "/etc/hosts"]
        if self.cgroup.is_unified:
            shown += ["--ro-bind", str(self.cgroup.folders["unified"]), "/sys/fs/cgroup"]
        elif "memory" in self.cgroup.folders:
            shown += ["--ro-bind", str(self.cgroup.folders["memory"]), "/sys/fs/cgroup/memory"]
        return [*shown, "--size", str(16 << 20), "--tmpfs", "/dev/shm", "--remount-ro", "/dev"]

    async def start(self) -> None:
        memory = int(self.pod["spec"]["containers"][0]["resources"]["limits"]["memory"])
        self.cgroup.limit(memory, 4_096)
        self.process = await asyncio.create_subprocess_exec(
            *self._command(),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
        )

    async def ended(self) -> None:
        assert self.process is not None
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self.pod["spec"]["activeDeadlineSeconds"]):
                await self.process.wait()
        self.kill()
        self.code = await self.process.wait()
        self.is_out_of_memory = self.cgroup.memory_kills() > 0 and self.code != 0
        await asyncio.to_thread(self.cgroup.remove)

    def kill(self) -> None:
        assert self.process is not None
        with contextlib.suppress(ProcessLookupError):
            self.process.kill()
        for pid in self.cgroup.members() if self.cgroup.folders else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def status(self) -> dict[str, Any]:
        if self.process is None:
            return {"phase": "Pending"}
        state: dict[str, Any] = {"running": {"startedAt": "2026-01-01T00:00:00Z"}}
        phase = "Running"
        if self.code is not None:
            phase = "Succeeded" if self.code == 0 else "Failed"
            reason = "OOMKilled" if self.is_out_of_memory else "Completed" if self.code == 0 else "Error"
            state = {"terminated": {"exitCode": abs(self.code), "reason": reason}}
        container = {"name": "agent", "state": state, "ready": phase == "Running", "restartCount": 0}
        conditions = [{"type": "Ready", "status": str(phase == "Running")}]
        return {"phase": phase, "containerStatuses": [container], "conditions": conditions}


class Cluster:
    """Objects by kind, namespace and name; every change is told to whoever watches."""

    def __init__(self, *, is_enforcing: bool) -> None:
        self.token = secrets.token_hex(16)
        self.calls: list[str] = []
        self.port = 0
        self.certificate = ""
        self.hosts = Path()
        self._is_enforcing = is_enforcing
        self._objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self._nodes: dict[tuple[str, str], Node] = {}
        self._watchers: set[asyncio.Queue[dict[str, Any]]] = set()
        self._version = 1
        self._tasks: set[asyncio.Task[None]] = set()

    # What there is

    def _tell(self, kind: str, event: str, found: dict[str, Any]) -> None:
        self._version += 1
        found["metadata"]["resourceVersion"] = str(self._version)
        for watcher in self._watchers:
            watcher.put_nowait({"kind": kind, "type": event, "object": json.loads(json.dumps(found))})

    def _find(self, kind: str, space: str, name: str) -> dict[str, Any]:
        found = self._objects.get((kind, space, name))
        if found is None:
            raise RefusalError(404, "NotFound", f'{kind} "{name}" not found')
        return found

    def pods(self) -> list[str]:
        return [name for kind, _, name in self._objects if kind == "pods"]

    # What is asked for

    @web.middleware
    async def guard(self, request: web.Request, handler: Any) -> web.StreamResponse:
        self.calls.append(f"{request.method} {request.path}")
        try:
            self._authenticate(request)
            answer: web.StreamResponse = await handler(request)
        except RefusalError as refusal:
            return refusal.response()
        return answer

    def _authenticate(self, request: web.Request) -> None:
        if request.headers.get("Authorization") != f"Bearer {self.token}":
            raise RefusalError(401, "Unauthorized", "Unauthorized")

    async def discover(self, request: web.Request) -> web.Response:
        def resources(*kinds: str) -> list[dict[str, Any]]:
            verbs = ["create", "delete", "get", "list", "watch"]
            return [
                {
                    "name": kind,
                    "singularName": "",
                    "namespaced": kind != "namespaces",
                    "kind": KINDS[kind][0],
                    "verbs": verbs,
                }
                for kind in kinds
            ]

        group = {"groupVersion": "networking.k8s.io/v1", "version": "v1"}
        answers: dict[str, dict[str, Any]] = {
            "/version": {"major": "1", "minor": "32", "gitVersion": "v1.32.0-stand-in", "platform": "linux/amd64"},
            "/api": {"kind": "APIVersions", "versions": ["v1"]},
            "/apis": {
                "kind": "APIGroupList",
                "apiVersion": "v1",
                "groups": [{"name": "networking.k8s.io", "versions": [group], "preferredVersion": group}],
            },
            "/api/v1": {
                "kind": "APIResourceList",
                "groupVersion": "v1",
                "resources": resources("pods", "namespaces"),
            },
            "/apis/networking.k8s.io/v1": {
                "kind": "APIResourceList",
                "groupVersion": "networking.k8s.io/v1",
                "resources": resources("networkpolicies"),
            },
        }
        return web.json_response(answers[request.path])

    async def create(self, request: web.Request) -> web.Response:
        kind, space = request.match_info["kind"], request.match_info.get("space", "")
        made = await request.json()
        name = made["metadata"]["name"]
        if space:
            labels = self._find("namespaces", "", space)["metadata"].get("labels", {})
            if kind == "pods" and labels.get("pod-security.kubernetes.io/enforce") == "restricted":
                admit(made["spec"])
        if (kind, space, name) in self._objects:
            raise RefusalError(409, "AlreadyExists", f'{kind} "{name}" already exists')
        made["metadata"] |= {"uid": secrets.token_hex(8), "creationTimestamp": "2026-01-01T00:00:00Z"}
        made["metadata"] |= {"namespace": space} if space else {}
        made["kind"], made["apiVersion"] = KINDS[kind]
        self._objects[kind, space, name] = made
        if kind == "pods":
            made["status"] = {"phase": "Pending"}
            task = asyncio.create_task(self._live(space, name, made))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        self._tell(kind, "ADDED", made)
        return web.json_response(made, status=201)

    async def _live(self, space: str, name: str, pod: dict[str, Any]) -> None:
        denied = POLICY_SPEC in [
            found.get("spec")
            for (kind, at, _), found in self._objects.items()
            if (kind, at) == ("networkpolicies", space)
        ]
        node = Node(pod, ("127.0.0.1", self.port), self.hosts, has_network=not (denied and self._is_enforcing))
        self._nodes[space, name] = node
        await node.start()
        self._changed(space, name, node)
        await node.ended()
        self._changed(space, name, node)

    def _changed(self, space: str, name: str, node: Node) -> None:
        if ("pods", space, name) in self._objects:
            node.pod["status"] = node.status()
            self._tell("pods", "MODIFIED", node.pod)

    async def get(self, request: web.Request) -> web.Response:
        kind, space, name = request.match_info["kind"], request.match_info.get("space", ""), request.match_info["name"]
        return web.json_response(self._find(kind, space, name))

    def _chosen(self, request: web.Request, found: dict[str, Any]) -> bool:
        for field in filter(None, request.query.get("fieldSelector", "").split(",")):
            path, _, value = field.partition("=")
            part: Any = found
            for step in path.split("."):
                part = part.get(step, {})
            if part != value:
                return False
        labels = found["metadata"].get("labels", {})
        wanted = [one.split("=", 1) for one in request.query.get("labelSelector", "").split(",") if one]
        return all(labels.get(key) == value for key, value in wanted)

    async def list(self, request: web.Request) -> web.StreamResponse:
        kind, space = request.match_info["kind"], request.match_info.get("space", "")
        if request.query.get("watch") in ("true", "1"):
            return await self._watch(request, kind, space)
        found = [
            one for (a, b, _), one in self._objects.items() if (a, b) == (kind, space) and self._chosen(request, one)
        ]
        title, version = KINDS[kind]
        head = {"kind": f"{title}List", "apiVersion": version, "metadata": {"resourceVersion": str(self._version)}}
        return web.json_response({**head, "items": found})

    async def _watch(self, request: web.Request, kind: str, space: str) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "application/json"})
        queue: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        for (a, b, _), one in self._objects.items():
            # A watch that names no version, or an older one, is told first what there is.
            if (a, b) == (kind, space) and int(one["metadata"]["resourceVersion"]) > int(
                request.query.get("resourceVersion") or 0
            ):
                queue.put_nowait({"kind": kind, "type": "ADDED", "object": one})
        self._watchers.add(queue)
        try:
            await response.prepare(request)
            while True:
                event = await queue.get()
                at = event["object"]["metadata"].get("namespace", "")
                if event.pop("kind") == kind and at == space and self._chosen(request, event["object"]):
                    await response.write(json.dumps(event).encode() + b"\n")
        except (ConnectionError, asyncio.CancelledError):
            return response
        finally:
            self._watchers.discard(queue)

    async def delete(self, request: web.Request) -> web.Response:
        kind, space, name = request.match_info["kind"], request.match_info.get("space", ""), request.match_info["name"]
        found = self._find(kind, space, name)
        node = self._nodes.pop((space, name), None)
        if node is not None and node.process is not None:
            node.kill()
            await node.process.wait()
        del self._objects[kind, space, name]
        self._tell(kind, "DELETED", found)
        return web.json_response(found)

    async def attach(self, request: web.Request) -> web.StreamResponse:
        node = self._nodes.get((request.match_info["space"], request.match_info["name"]))
        if node is None or node.process is None or node.code is not None:
            raise RefusalError(400, "BadRequest", "the container is not running")
        if request.headers.get("Upgrade", "").lower() != "websocket":
            raise RefusalError(400, "BadRequest", "only websockets are spoken here")
        process = node.process
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        socket = web.WebSocketResponse(protocols=_PROTOCOLS, max_msg_size=0)
        await socket.prepare(request)

        async def carry(channel: int, stream: asyncio.StreamReader) -> None:
            while data := await stream.read(32_768):
                await socket.send_bytes(bytes([channel]) + data)

        out = [asyncio.create_task(carry(_STDOUT, process.stdout)), asyncio.create_task(carry(_STDERR, process.stderr))]
        both = asyncio.create_task(self._until_said(socket, out))
        try:
            async for message in socket:
                if message.type is not WSMsgType.BINARY or message.data[:2] == bytes([_CLOSE, _STDIN]):
                    break
                if message.data[0] == _STDIN and message.data[1:]:
                    process.stdin.write(message.data[1:])
                    with contextlib.suppress(ConnectionError):
                        await process.stdin.drain()
        finally:
            process.stdin.close()  # stdinOnce
            both.cancel()
            for task in out:
                task.cancel()
        return socket

    @staticmethod
    async def _until_said(socket: web.WebSocketResponse, out: list[asyncio.Task[None]]) -> None:
        """When the program has said everything, that it went well, and goodbye."""
        await asyncio.wait(out)
        status = {"metadata": {}, "status": "Success"}
        await socket.send_bytes(bytes([_ERROR]) + json.dumps(status).encode())
        await socket.close()

    # Living

    def application(self) -> web.Application:
        app = web.Application(middlewares=[self.guard])
        for path in ("/version", "/api", "/apis", "/api/v1", "/apis/networking.k8s.io/v1"):
            app.router.add_get(path, self.discover)
        for top in (
            "/api/v1/{kind:namespaces}",
            "/api/v1/namespaces/{space}/{kind:pods}",
            "/apis/networking.k8s.io/v1/namespaces/{space}/{kind:networkpolicies}",
        ):
            app.router.add_post(top, self.create)
            app.router.add_get(top, self.list)
            app.router.add_get(top + "/{name}", self.get)
            app.router.add_delete(top + "/{name}", self.delete)
        app.router.add_get("/api/v1/namespaces/{space}/pods/{name}/attach", self.attach)
        app.router.add_post("/api/v1/namespaces/{space}/pods/{name}/attach", self.attach)
        return app

    async def end(self) -> None:
        for node in self._nodes.values():
            if node.process is not None:
                node.kill()
        if self._tasks:
            await asyncio.wait(self._tasks)

    def settings(self) -> dict[str, Any]:
        """A kubeconfig that leads here."""
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {
                    "name": "stand-in",
                    "cluster": {"server": f"https://127.0.0.1:{self.port}", "certificate-authority": self.certificate},
                }
            ],
            "users": [{"name": "tester", "user": {"token": self.token}}],
            "contexts": [{"name": "stand-in", "context": {"cluster": "stand-in", "user": "tester"}}],
            "current-context": "stand-in",
        }


POLICY_SPEC = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


@contextmanager
def cluster(folder: Path, *, is_enforcing: bool = True) -> Iterator[Cluster]:
    """A cluster on loopback in a thread of its own, and `kubeconfig` in that folder."""
    made = Cluster(is_enforcing=is_enforcing)
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    name = ("-subj", "/CN=stand-in", "-addext", "subjectAltName=IP:127.0.0.1")
    curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    subprocess.run(
        ["openssl", "req", "-x509", *curve, *name, "-keyout", str(key), "-out", str(certificate)],
        check=True,
        capture_output=True,
    )
    made.certificate, made.hosts = str(certificate), folder / "hosts"
    made.hosts.write_text("127.0.0.1 localhost\n")
    folder.chmod(0o711)  # the node's users find what they are shown, and nothing else
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    started, loop = threading.Event(), asyncio.new_event_loop()

    async def serve() -> None:
        runner = web.AppRunner(made.application(), shutdown_timeout=1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls)
        await site.start()
        made.port = runner.addresses[0][1]
        stopped = asyncio.Event()
        loop.made_to_stop = stopped.set  # type: ignore[attr-defined]
        started.set()
        await stopped.wait()
        await made.end()
        await runner.cleanup()

    def run() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(serve())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    if not started.wait(60):
        raise TimeoutError("the stand-in cluster does not start")
    (folder / "kubeconfig").write_text(json.dumps(made.settings()))
    try:
        yield made
    finally:
        loop.call_soon_threadsafe(loop.made_to_stop)  # type: ignore[attr-defined]
        thread.join(30)
