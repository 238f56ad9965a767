"""A registry of npm packages on this machine: packages are made by the test, archives as hostile as it likes."""

from __future__ import annotations

import base64
import hashlib
import io
import json
import tarfile
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import unquote


class NpmRegistry:
    """Serves what was added; what was asked is in `paths`."""

    def __init__(self) -> None:
        self._archives: dict[str, bytes] = {}
        self._manifests: dict[str, dict[str, dict[str, Any]]] = {}
        self.paths: list[str] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def add(
        self, name: str, version: str = "1.0.0", files: Mapping[str, str] | None = None, **manifest: Any
    ) -> dict[str, Any]:
        """Publish a package; gives its entry for a lock file. Names of files are taken as they are."""
        described = {"name": name, "version": version, "main": "index.js", **manifest}
        content = {"package/package.json": json.dumps(described), **(files or {"package/index.js": ""})}
        path = f"{name}/-/{name.rpartition('/')[2]}-{version}.tgz"
        self._archives[path] = _tgz(content)
        integrity = f"sha512-{base64.b64encode(hashlib.sha512(self._archives[path]).digest()).decode()}"
        dist = {"tarball": f"{self.url}{path}", "integrity": integrity}
        self._manifests.setdefault(name, {})[version] = {**described, "dist": dist}
        needs = {"dependencies": manifest["dependencies"]} if "dependencies" in manifest else {}
        return {"version": version, "resolved": dist["tarball"], "integrity": integrity, **needs}

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        registry = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                path = unquote(self.path).lstrip("/")
                registry.paths.append(path)
                if path in registry._archives:
                    self._answer(200, registry._archives[path])
                elif path in registry._manifests:
                    versions = registry._manifests[path]
                    found = {"name": path, "versions": versions, "dist-tags": {"latest": list(versions)[-1]}}
                    self._answer(200, json.dumps(found).encode())
                else:
                    self._answer(404, b'{"error": "not found"}')

            def _answer(self, status: int, body: bytes) -> None:
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002 - the parent's name
                return

        return Handler


def _tgz(files: Mapping[str, str]) -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as archive:
        for name, text in files.items():
            about = tarfile.TarInfo(name)
            about.size, about.mode = len(text.encode()), 0o644
            archive.addfile(about, io.BytesIO(text.encode()))
    return out.getvalue()
