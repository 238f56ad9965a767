"""Benchmarks and models of a server, and benchmarks that a project uploads."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import Any
from urllib.parse import quote

from proctor.benchmarks.registry import BenchmarkInfo
from proctor.client.connection import ServerConnection
from proctor.domain.documents.benchmark import BenchmarkDescription
from proctor.domain.documents.model import ModelDescription, ProviderDescription
from proctor.domain.documents.own_benchmark import OwnBenchmark, OwnBenchmarkPage, OwnBenchmarkVersions
from proctor.domain.documents.service import ServerVersion
from proctor.runs.chunks.content import files_of_benchmark


class ServedBenchmarks(ServerConnection):
    """What can be evaluated."""

    def benchmarks(self, **query: Any) -> list[BenchmarkInfo]:
        """The benchmarks: language, subject, task, form."""
        return self._convert(self._ask("GET", "/benchmarks", query), list[BenchmarkInfo])

    def benchmark(self, name: str) -> BenchmarkDescription:
        """One benchmark: protocol, samples, first prompt, scorers and metrics."""
        return self._convert(self._ask("GET", f"/benchmarks/{quote(name, safe='')}"), BenchmarkDescription)

    def providers(self) -> list[ProviderDescription]:
        """The providers, what they can do, and whether their key is set."""
        return self._convert(self._ask("GET", "/models"), list[ProviderDescription])

    def model(self, name: str) -> ModelDescription:
        """What is known of one model, written `provider/name`."""
        return self._convert(self._ask("GET", f"/models/{quote(name)}"), ModelDescription)

    def version(self) -> str:
        """The server's version."""
        return self._convert(self._ask("GET", "/version"), ServerVersion).version

    def upload_benchmark(self, file: Path) -> OwnBenchmark:
        """Upload a benchmark file with the data files that it names, or a new version of one."""
        body, kind = _form_of(file)
        return self._convert(self._ask("POST", "/own-benchmarks", body=body, headers=kind), OwnBenchmark)

    def check_benchmark(self, file: Path) -> BenchmarkDescription:
        """Check a benchmark with its data on the server; nothing is kept there."""
        body, kind = _form_of(file)
        return self._convert(self._ask("POST", "/own-benchmarks/check", body=body, headers=kind), BenchmarkDescription)

    def own_benchmarks(self, *, limit: int = 50, after: str | None = None, archived: bool = False) -> OwnBenchmarkPage:
        """A page of the versions that the project uploaded, newest first."""
        query = {"limit": limit, "after": after, "archived": archived}
        return self._convert(self._ask("GET", "/own-benchmarks", query), OwnBenchmarkPage)

    def own_benchmark(self, name: str) -> OwnBenchmarkVersions:
        """All versions of one of them, newest first."""
        return self._convert(self._ask("GET", f"/own-benchmarks/{quote(name, safe='')}"), OwnBenchmarkVersions)

    def archive_benchmark(self, name: str, version: str, *, is_archived: bool = True) -> OwnBenchmark:
        """Offer a version no more, or again; plans that name it still get it."""
        body = {"version": version, "is_archived": is_archived}
        return self._convert(
            self._ask("POST", f"/own-benchmarks/{quote(name, safe='')}/archive", body=body), OwnBenchmark
        )

    def delete_benchmark(self, name: str, version: str | None = None) -> None:
        """Delete a version, or all of them; runs keep what they used."""
        self._ask("DELETE", f"/own-benchmarks/{quote(name, safe='')}", {"version": version})


def _form_of(file: Path) -> tuple[bytes, dict[str, str]]:
    """A form with a benchmark file and the files beside it that it names."""
    boundary, parts = secrets.token_hex(16), []
    for path in dict.fromkeys(files_of_benchmark(file)):
        name = path.relative_to(file.parent).as_posix().replace('"', "%22")
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
        parts.append(head.encode() + path.read_bytes() + b"\r\n")
    return b"".join(parts) + f"--{boundary}--\r\n".encode(), {
        "Content-Type": f"multipart/form-data; boundary={boundary}"
    }
