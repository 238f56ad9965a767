"""What a model is given to build a program: brief, requirements, interface, visible tests, how to answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from proctor.benchmarks.problems.folder import entry_files
from proctor.domain.problem import InterfaceKind, Problem
from proctor.prompts.program_format import answer_format

PROMPT_VERSION = "1"
HOW_TO_ANSWER = "## How to answer"
_COMMANDS = {"main.py": "python3 main.py", "main.js": "node main.js"}
_FIXTURE = {
    InterfaceKind.COMMAND: "`program.run(*arguments, stdin=…)` runs the program in an empty folder and gives its exit "
    "code (`code`) and what it printed (`out`, `err`).",
    InterfaceKind.SERVICE: "`program.get(path)`, `.post(path, json=…)` and so on send a request to the running service "
    "and give its reply (`status`, `headers`, `text`, `json()`).",
    InterfaceKind.LIBRARY: "`program.module` is your module; its functions and classes are used through it, and "
    "`program.raises(name)` expects an exception of that name.",
}


def problem_prompt(problem: Problem, *, asks_for_tests: bool = False) -> str:
    """Everything that a hidden test relies on, and nothing of the hidden tests."""
    sections = [
        specification(problem),
        *([_visible(problem)] if problem.visible else []),
        *([_TESTS] if asks_for_tests else []),
        f"{HOW_TO_ANSWER}\n\n{answer_format(entry_files(problem.interface))}",
    ]
    return "\n\n".join(sections)


def specification(problem: Problem) -> str:
    """Brief, requirements and interface: also the README.md that an agent finds in its folder."""
    lines = "\n".join(f"- {one.id} ({one.level}): {one.text}" for one in problem.requirements)
    return "\n\n".join(
        [
            f"# {problem.title}",
            "Write a program that meets these requirements.",
            problem.brief,
            f"## Requirements\n\nMUST, SHOULD and MAY are meant as in RFC 2119: every MUST is needed.\n\n{lines}",
            f"## Interface\n\n{_interface(problem)}",
            f"## Surroundings\n\n{_context(problem)}",
        ]
    )


def _interface(problem: Problem) -> str:
    interface = problem.interface
    entries = entry_files(interface)
    if interface.kind is InterfaceKind.LIBRARY:
        return (
            f"A Python module `{interface.module}`: the file `{entries[0]}`, or a package `{interface.module}/`, in "
            "the top folder. It is imported and used by other code."
        )
    started = " or ".join(f"`{_COMMANDS[name]}`" for name in entries)
    if interface.kind is InterfaceKind.COMMAND:
        return f"A command-line program, started as {started} with its arguments, in an empty folder it may write to."
    return (
        f"A service, started as {started}. It listens for HTTP on 127.0.0.1 at the port in the environment variable "
        f"PORT, and keeps what must outlive it in the folder DATA_DIR. It is ready when `GET {interface.ready_path}` "
        f"answers, at most {interface.ready_seconds:g} s after its start. SIGTERM ends it."
    )


def _context(problem: Problem) -> str:
    has_node = "javascript" in problem.interface.languages
    parts = [
        f"Python 3.11 or newer{', Node.js 20 or newer,' if has_node else ''} on Linux. There is no network.",
        _packages(problem.dependencies) or "Only the standard library is there.",
    ]
    if limits := _limits(problem.limits):
        parts.append(f"Limits: {limits}.")
    return " ".join(parts)


def _packages(allowed: Sequence[str]) -> str:
    python = ", ".join(name for name in allowed if not name.startswith("npm:"))
    npm = ", ".join(name.removeprefix("npm:") for name in allowed if name.startswith("npm:"))
    parts = []
    if python:
        parts.append(
            f"Besides the standard library: {python}. What the program uses of it stands in `requirements.txt`, each "
            "with its exact version (`name==1.2.3`)."
        )
    if npm:
        parts.append(
            f"npm packages: {npm}. What the program uses of it stands in `package.json` and `package-lock.json`."
        )
    return " ".join(parts)


def _limits(limits: Mapping[str, object]) -> str:
    found = []
    for name, word in (("memory_bytes", "memory"), ("disk_bytes", "disk")):
        if isinstance(size := limits.get(name), int):
            found.append(f"{size / 2**20:g} MiB of {word}")
    if (count := limits.get("processes")) is not None:
        found.append(f"{count} processes")
    return ", ".join(found)


def _visible(problem: Problem) -> str:
    files = "\n\n".join(f"````python tests/{path}\n{text.rstrip()}\n````" for path, text in problem.visible.items())
    return (
        "## Examples\n\nThese tests are among those that the program is checked with; others stay hidden. "
        f"{_FIXTURE[problem.interface.kind]}\n\n{files}"
    )


_TESTS = """\
## Tests

Write tests of your own too, as `tests/test_….py` for pytest or `tests/….test.js` for `node --test`: they import your \
program or start it, from its top folder. They are run and shown, and do not count for the mark."""


def agent_prompt(text: str) -> str:
    """The same prompt for an agent that writes into a folder instead of answering with text."""
    head, found, _ = text.rpartition(HOW_TO_ANSWER)
    if not found:
        return text
    return (
        f"{head}{HOW_TO_ANSWER}\n\nWrite the program's files into the current folder, which holds this text "
        "as README.md and the visible tests in tests/. "
        "What you add or change there is your answer; what you print is not read."
    )
