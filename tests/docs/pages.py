"""What is generated: the reference of the command line, the lists of the index, the table of scorers."""

from __future__ import annotations

import dataclasses
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from docs.markdown import ROOT
from proctor import plugins
from proctor.cli.main import cli

REFERENCE = ROOT / "docs" / "reference" / "cli.md"
API = ROOT / "docs" / "reference" / "api.md"
INDEX = ROOT / "docs" / "index.md"
WIDTH = 96
BENCHMARK_FILE = ROOT / "docs" / "reference" / "benchmark-file.md"
LIST = re.compile(r"(<!-- pages: (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
TABLE = re.compile(r"(<!-- generated: scorers -->\n).*?(<!-- end -->)", re.DOTALL)
TITLE = re.compile(r"^# (.+)$", re.MULTILINE)
HEAD = """# Command line

Every command with its `--help`. This page is written by `scripts/refresh-docs` from the program itself.

RUN is a run's id, a unique prefix of one, or `latest`. Data goes to standard output, progress and errors to standard
error. See [exit codes](exit-codes.md), [JSON](json.md) and [files and environment](files-and-environment.md).
"""

API_HEAD = """# API

Every route of `proctor serve`. This page is written by `scripts/refresh-docs` from the OpenAPI document, which the
server gives at `/api/v1/openapi.json`; `/api/docs` shows it with every field. [How to serve](../how-to/serve.md)
shows it in use.

- **Who calls**: `Authorization: Bearer pk_…`, or a session's cookie with `X-CSRF-Token` on changes; see
  [accounts](../how-to/accounts.md). Without accounts, on loopback, nobody is asked. What is another project's is
  answered like what there is not: 404.
- **Problems**: `application/problem+json` (RFC 9457): `type` (`/api/docs#kind`), `title`, `status`, `detail` (the
  sentence of the command line), `errors` with a JSON pointer each, `request_id`. Unknown fields and parameters are
  refused. A body is at most 4 MB of JSON.
- **Lists** page by key: `limit`, and `after` with the `next` of the page before; also as `Link: rel="next"`.
- **Sent twice**: `POST /api/v1/runs` with an `Idempotency-Key` gives the first one's run for a day.
- **Changed by two**: `ETag` and `If-Match` on saved plans; whoever comes second gets 412. What is read has an
  `ETag` for `If-None-Match`.
"""


def cli_reference() -> str:
    """Asked of a new process: what a command's help says depends on how it was first called in this one."""
    asked = "from docs.pages import help_of_all; print(help_of_all(), end='')"
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "PYTHONIOENCODING": "utf-8"}
    return subprocess.run(
        [sys.executable, "-c", asked], env=environment, check=True, capture_output=True, encoding="utf-8"
    ).stdout


def help_of_all() -> str:
    parts = [HEAD]
    for path, command in _commands("proctor", cli):
        names = cli.context_settings["help_option_names"]
        context = click.Context(
            command, info_name=path, terminal_width=WIDTH, max_content_width=WIDTH, help_option_names=names
        )
        text = "\n".join(line.rstrip() for line in command.get_help(context).split("\n"))
        parts.append(f"## {path}\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def _commands(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command, info_name=path)
        for name in command.list_commands(context):
            if (inner := command.get_command(context, name)) is not None:
                yield from _commands(f"{path} {name}", inner)


def index() -> str:
    """The index with its lists brought up to date."""
    return LIST.sub(lambda found: f"{found[1]}{_listed(found[2])}{found[3]}", INDEX.read_text(encoding="utf-8"))


def _listed(folder: str) -> str:
    pages = sorted((INDEX.parent / folder).glob("*.md"))
    return "".join(f"- [{_title(page)}]({page.relative_to(INDEX.parent).as_posix()})\n" for page in pages)


def _title(page: Path) -> str:
    found = TITLE.search(page.read_text(encoding="utf-8"))
    assert found is not None, f"{page.name} has no title"
    return found[1]


def benchmark_file() -> str:
    """The reference of benchmark files with its table of scorers brought up to date."""
    rows = "".join(f"| `{name}` | {_purpose(name)} | {_options(name)} |\n" for name in plugins.BUILT_IN["scorers"])
    table = f"| scorer | gives | options (default) |\n|---|---|---|\n{rows}"
    return TABLE.sub(lambda found: f"{found[1]}{table}{found[2]}", BENCHMARK_FILE.read_text(encoding="utf-8"))


def _class_of(name: str) -> type:
    factory = plugins.load("scorers", name)
    found: type = getattr(sys.modules[factory.__module__], inspect.signature(factory).return_annotation)
    return found


def _purpose(name: str) -> str:
    return (inspect.getdoc(_class_of(name)) or "").split("\n\n")[0].replace("\n", " ").replace("|", "\\|")


def _options(name: str) -> str:
    if name.startswith("judge"):
        return "see [judges](judges.md)" if (BENCHMARK_FILE.parent / "judges.md").exists() else "several"
    kind = _class_of(name)
    if not dataclasses.is_dataclass(kind):
        return "none"
    fixed = {"measure"} if name in ("precision", "recall") else set()
    options = [field for field in dataclasses.fields(kind) if field.init and field.name not in fixed]
    return ", ".join(f"`{field.name}` ({_shown(field.default)})" for field in options) or "none"


def _shown(value: object) -> str:
    if value is None:
        return "none"
    return str(value).lower() if isinstance(value, bool) else "none" if value == () else str(value)


def api_reference() -> str:
    """Every route with its permission and parameters, from the OpenAPI document."""
    from fastapi import FastAPI

    from proctor.server.app import ROUTERS
    from proctor.server.openapi import describe

    app = FastAPI(openapi_url=None)
    for router in ROUTERS:
        app.router.routes.extend(router.routes)
    tags: dict[str, list[str]] = {}
    for path, item in describe(app)["paths"].items():
        for method, told in item.items():
            tags.setdefault(told["tags"][0], []).append(_route(method.upper(), path, told))
    return "\n".join([API_HEAD, *(f"## {tag.capitalize()}\n\n" + "\n".join(tags[tag]) for tag in sorted(tags))])


def _route(method: str, path: str, told: dict[str, Any]) -> str:
    parameters = [f"`{one['name']}`" for one in told.get("parameters", ()) if one["in"] in ("query", "header")]
    body = next(iter(told.get("requestBody", {}).get("content", {}).values()), {}).get("schema", {}).get("$ref", "")
    parts = [
        f"### {method} {path}\n",
        told["description"] + "\n",
        f"- Permission: `{told['x-permission']}`",
        f"- Body: `{body.rpartition('/')[2]}`" if body else "",
        f"- Parameters: {', '.join(parameters)}" if parameters else "",
        f"- Answers: {'; '.join(_answers(told['responses']))}\n",
    ]
    return "\n".join(part for part in parts if part)


def _answers(responses: dict[str, Any]) -> Iterator[str]:
    problems = [code for code, answer in responses.items() if "$ref" in answer]
    for code, answer in responses.items():
        if code in problems:
            continue
        kinds = [_kind(content.get("schema", {}), name) for name, content in answer.get("content", {}).items()]
        yield f"{code} {', '.join(kinds)}".rstrip()
    if problems:
        yield f"problems {', '.join(sorted(problems))}"


def _kind(schema: dict[str, Any], content_type: str) -> str:
    of_items = schema.get("items", {}).get("$ref")
    name = (of_items or schema.get("$ref", "")).rpartition("/")[2]
    return f"a list of `{name}`" if of_items else f"`{name or content_type}`"


GENERATED = {REFERENCE: cli_reference, API: api_reference, INDEX: index, BENCHMARK_FILE: benchmark_file}
