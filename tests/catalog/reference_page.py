"""The reference of the built-in benchmarks, written from the catalogue itself: run this file to bring it up to date."""

from __future__ import annotations

from pathlib import Path

from proctor.benchmarks.registry import BenchmarkInfo, list_benchmarks

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/reference/benchmarks.md"
CATALOG = ROOT / "src/proctor/catalog"
HEAD = """# Benchmarks

What can be run by name. `proctor benchmarks` lists them, `proctor benchmarks show NAME` says more of one, and
`--language`, `--subject`, `--task` and `--form` narrow the list; none of these needs the data or the network.
Where the data comes from: [data](../how-to/data.md). Your own: [add a benchmark](../how-to/add-a-benchmark.md).

Prompts are written for this project, so figures need not be those of a paper: each benchmark says below which protocol
it follows and where it differs. No sampling option is sent unless you ask for it, because some models refuse them;
published figures are mostly greedy (`--temperature 0`). Shots and variant are part of an evaluation's identity:
results of different ones are never mixed.

"""
FOOT = """
Generated, so that they cannot have been memorised, and needing no data: `puzzles`, `arithmetic`, `dates`, `logic`,
`sequences`, `sorting`, `strings`.

## Tags

| tag | words |
|---|---|
"""


def page() -> str:
    """The whole page."""
    from proctor.domain.taxonomy import TAXONOMY

    listed = [info for info in list_benchmarks() if (CATALOG / f"{info.name}.yaml").is_file()]
    table = "| benchmark | what | language | task, form | shots | licence |\n|---|---|---|---|---|---|\n"
    table += "".join(_row(info) for info in listed)
    words = "".join(
        f"| `{name}` | {', '.join(known) if len(known) < 30 else 'an ISO 639-1 code, or `multi`'} |\n"
        for name, known in TAXONOMY.items()
    )
    protocols = "".join(_protocol(info) for info in listed if info.protocol)
    return f"{HEAD}{table}{FOOT}{words}\n## Protocols\n\n{protocols}".rstrip() + "\n"


def _row(info: BenchmarkInfo) -> str:
    shots = "–" if info.shots is None else str(info.shots)
    kind = f"{info.tags['task']}, {info.tags['form']}"
    return f"| `{info.name}` | {info.description} | {info.tags['language']} | {kind} | {shots} | {info.licence} |\n"


def _protocol(info: BenchmarkInfo) -> str:
    lines = [f"### {info.name}\n\n{info.protocol}\n\n"]
    if info.variants:
        lines += [f"- `{info.name}?variant={name}`: {text}\n" for name, text in list(info.variants.items())[1:]]
        lines.append("\n")
    return "".join(lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
