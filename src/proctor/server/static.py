"""The dashboard as it was built into the package: hashed files for ever, `index.html` for every address of its own."""

from __future__ import annotations

import asyncio
import gzip
import mimetypes
import re
from html import escape
from pathlib import Path

from starlette.requests import Request
from starlette.responses import FileResponse, HTMLResponse, Response

from proctor.server.problems import ProblemError

FOLDER = Path(__file__).parent / "dashboard"
HASHED = re.compile(r"[.-][A-Za-z0-9_-]{8,}\.\w+$")
CROSS = {"Cross-Origin-Resource-Policy": "cross-origin"}
COMPRESSED = ("text/javascript", "application/javascript", "text/css")
GZIP = {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
LINKED = re.compile(r'((?:src|href)=)"/(assets/)')
"""How the page names its hashed files."""
FOR_EVER = "public, max-age=31536000, immutable"
ABSENT = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Proctor</title></head>
<body><h1>Proctor</h1>
<p>The service is running. This installation has no dashboard: it is built from the folder <code>dashboard</code> of the
sources, with <code>python scripts/build_dashboard.py</code>.</p>
<pre>{reason}</pre>
<p><a href="/api/docs">API documentation</a></p></body></html>
"""


def takes_gzip(accepted: str) -> bool:
    """Whether a caller's Accept-Encoding names gzip and does not rule it out."""
    for part in accepted.split(","):
        name, _, quality = part.partition(";")
        if name.strip().lower() == "gzip":
            return not re.fullmatch(r"\s*q=0(\.0*)?\s*", quality)
    return False


def find_files(folder: Path = FOLDER) -> dict[str, Path]:
    """The dashboard's files by address: what is not among them is never served."""
    if not (folder / "index.html").is_file():
        return {}
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


class Dashboard:
    """Serves the files; an address without a dot is a page of the dashboard, which finds its own way."""

    def __init__(self, folder: Path = FOLDER, static_url: str | None = None) -> None:
        """`static_url` is where browsers get the hashed files from; they find what they load beside themselves."""
        self._folder, self._static_url = folder, static_url
        self._built, self._files = _built_at(folder), find_files(folder)
        self._compressed: dict[str, bytes] = {}
        written = folder / "not-built.txt"
        self._reason = written.read_text(encoding="utf-8") if written.is_file() else ""

    async def answer(self, request: Request) -> Response:
        path = request.path_params["path"]
        await asyncio.to_thread(self._look_again)
        if path in self._files and path != "index.html":
            is_hashed = HASHED.search(path) is not None and "/" in path
            cache = FOR_EVER if is_hashed else "no-cache"
            # Pages of other origins get scripts from here only where a CDN fetches them for its own.
            shared = {"Access-Control-Allow-Origin": "*", **CROSS} if is_hashed and self._static_url else {}
            kind = mimetypes.guess_type(path)[0] or "application/octet-stream"
            if is_hashed and kind in COMPRESSED and takes_gzip(request.headers.get("accept-encoding", "")):
                body = await asyncio.to_thread(self._compress, path)
                return Response(body, media_type=kind, headers={"Cache-Control": cache, **GZIP, **shared})
            return FileResponse(self._files[path], media_type=kind, headers={"Cache-Control": cache, **shared})
        if path.startswith("api/") or "." in path.rpartition("/")[2]:
            raise ProblemError(404, "not-found", "There is nothing at this address.")
        if not self._files:
            return HTMLResponse(ABSENT.replace("{reason}", escape(self._reason)), headers={"Cache-Control": "no-cache"})
        headers = {"Cache-Control": "no-cache"}
        if self._static_url is None:
            return FileResponse(self._files["index.html"], media_type="text/html", headers=headers)
        page = await asyncio.to_thread(self._files["index.html"].read_text, "utf-8")
        return HTMLResponse(LINKED.sub(rf'\1"{self._static_url}/\2', page), headers=headers)

    def _compress(self, path: str) -> bytes:
        """A file of a name for ever is compressed once."""
        if path not in self._compressed:
            self._compressed[path] = gzip.compress(self._files[path].read_bytes(), mtime=0)
        return self._compressed[path]

    def _look_again(self) -> None:
        """Built anew while the server runs, the dashboard is that of its files now, not of those that are gone."""
        built = _built_at(self._folder)
        if built != self._built:
            self._built, self._files, self._compressed = built, find_files(self._folder), {}


def _built_at(folder: Path) -> tuple[int, int] | None:
    """When the page was written, which a build does last; None where there is none."""
    try:
        found = (folder / "index.html").stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_ino
