"""From an answer to the files of a program, however the model wrote them."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence

from msgspec.structs import replace

from proctor.domain.response import Response
from proctor.domain.submission import Collected, Submission, clean_path
from proctor.programs.answers.diffs import Patch, apply, looks_like_diff, looks_like_edits, read_diff, read_edits
from proctor.programs.answers.fences import Block, read_blocks
from proctor.programs.answers.labels import whole_path
from proctor.programs.answers.objects import find_object, read_object
from proctor.programs.answers.tagged import read_tagged

MAX_ANSWER_CHARACTERS = 4 * 1024 * 1024
_THOUGHT = re.compile(r"\A\s*<(think|thinking|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_NOT_PROGRAMS = frozenset(
    {"bash", "sh", "shell", "console", "terminal", "zsh", "powershell", "text", "txt", "plaintext", "output", "log"}
    | {"diff", "patch", "json", "yaml", "toml", "ini", "md", "markdown", "mermaid", "http", "csv", "xml", "html", "css"}
    | {"sql"}
)
_LANGUAGES = {"py": ("python", "py", "python3"), "js": ("javascript", "js", "node", "nodejs", "mjs", "cjs")}
_SEPARATOR = re.compile(r"^[-=#*]{3,} *(?:file:? *)?`?([^\s`]{1,240})`? *[-=#*]{3,} *$", re.MULTILINE | re.IGNORECASE)
_CODE_START = re.compile(
    r"\s*(#!|#|\"\"\"|'''|import |from \w+ import |def |class |@|const |let |var |function |async |'use strict'|"
    r"\"use strict\"|//|/\*)"
)


def program_of(response: Response, entries: Sequence[str], given: Mapping[str, bytes] | None = None) -> Submission:
    """A response's program: the files an agent left, else those in its text.

    `entries` are the files the program may be started by; `given` are files that a diff may be against.
    """
    if response.files:
        return Submission(dict(response.files), "agent", dict(response.left_out))
    found = read_answer(response.text, entries, given)
    return replace(found, refused={**response.left_out, **found.refused}) if response.left_out else found


def read_answer(text: str, entries: Sequence[str], given: Mapping[str, bytes] | None = None) -> Submission:
    """The files in a text; never raises, whatever the text is: what is left out is there with its reason."""
    if len(text) > MAX_ANSWER_CHARACTERS:
        return Submission({}, "none", {}, (f"the answer is longer than {MAX_ANSWER_CHARACTERS:,} characters",))
    plain = _THOUGHT.sub("", text.lstrip("\ufeff").replace("\r\n", "\n").replace("\r", "\n"), count=1)
    reading = _Reading(tuple(entries), dict(given or {}))
    if any(read(plain) for read in reading.ways):
        return reading.submission()
    return Submission({}, "none", reading.taken.refused, ("no file was found in the answer",))


class _Reading:
    """One answer being read: each way of writing is tried in turn until one finds files."""

    def __init__(self, entries: tuple[str, ...], given: dict[str, bytes]) -> None:
        self.entries = entries
        self.given = given
        self.taken = Collected()
        self.form = "none"
        self.notes: list[str] = []

    @property
    def ways(self) -> tuple[Callable[[str], bool], ...]:
        """In the order they are tried: what cannot be mistaken for anything else comes first."""
        whole = (self.json, self.tags, self.changes_alone)
        return (*whole, self.fences, self.json_inside, self.separated, self.bare)

    def submission(self) -> Submission:
        files = self._without_top_folder()
        return Submission(files, self.form, dict(self.taken.refused), tuple(self.notes))

    def json(self, text: str) -> bool:
        stripped = text.strip()
        if not stripped.startswith(("{", "[")):
            return False
        return self._take_all("json", read_object(stripped) or [])

    def json_inside(self, text: str) -> bool:
        return self._take_all("json", find_object(text) or [])

    def tags(self, text: str) -> bool:
        found = read_tagged(text)
        if not found:
            return False
        # A program may have such tags in its own text: those inside a block are part of it.
        first = text.count("\n", 0, found[0].start)
        if any(block.start < first < block.end for block in read_blocks(text)):
            return False
        return self._take_all("tags", [(one.path, one.content) for one in found])

    def changes_alone(self, text: str) -> bool:
        """An answer that is a diff or edits as such, with no fence around them."""
        if "```" in text or "~~~" in text:
            return False
        if looks_like_diff(text):
            return self._patch_all("diff", read_diff(text))
        return looks_like_edits(text) and self._patch_all("edits", read_edits(text))

    def fences(self, text: str) -> bool:
        blocks = read_blocks(text)
        changes = [block for block in blocks if _is_change(block)]
        whole = [block for block in blocks if block not in changes]
        named = [block for block in whole if block.path is not None]
        found = self._take_all("fences", [(block.path or "", block.content) for block in named])
        self._note_open(named)
        for block in changes:
            found |= self._change(block)
        if found and (not named or self._has_entry()):
            return True
        return self._unnamed([block for block in whole if block.path is None], has_files=found) or found

    def separated(self, text: str) -> bool:
        """No fence, but a line such as `--- main.py ---` before each file."""
        if "```" in text:
            return False
        heads = [match for match in _SEPARATOR.finditer(text) if whole_path(match[1])]
        ends = [*(match.start() for match in heads), len(text)][1:]
        parts = [(head[1], text[head.end() + 1 : end]) for head, end in zip(heads, ends, strict=False)]
        return self._take_all("separated", parts)

    def bare(self, text: str) -> bool:
        """No fence at all: the whole answer is the program, where it is code."""
        if "```" in text or not _CODE_START.match(text):
            return False
        entry = self.entries[0]
        if entry.endswith(".py"):
            try:
                tree = ast.parse(text)
            except (SyntaxError, ValueError, MemoryError, RecursionError):
                return False
            if not tree.body:
                return False
        self.notes.append(f"the whole answer was taken as {entry}")
        return self._take_all("single", [(entry, text)])

    def _unnamed(self, blocks: list[Block], *, has_files: bool) -> bool:
        """Blocks without a path: a program given as JSON, or the one that must be the entry file."""
        if not has_files:
            for block in blocks:
                if block.language in ("json", "") and self._take_all("json", read_object(block.content) or []):
                    return True
        candidates = [block for block in blocks if block.language not in _NOT_PROGRAMS and block.content.strip()]
        if not candidates:
            return False
        block = max(candidates, key=lambda one: len(one.content))
        entry = self._entry_for(block.language)
        self.notes.append(f"a block without a path was taken as {entry}")
        return self._take_all("fences" if has_files else "single", [(entry, block.content)])

    def _entry_for(self, language: str) -> str:
        for entry in self.entries:
            if language in _LANGUAGES.get(entry.rpartition(".")[2], ()):
                return entry
        return self.entries[0]

    def _has_entry(self) -> bool:
        files = {*self.taken.files, *self.given}
        return any(path == entry or path.endswith(f"/{entry}") for path in files for entry in self.entries)

    def _take_all(self, form: str, found: Sequence[tuple[str, str]]) -> bool:
        taken = [self.taken.take(path, content.encode("utf-8", "replace")) for path, content in found]
        if any(taken) and self.form == "none":
            self.form = form
        return any(taken)

    def _change(self, block: Block) -> bool:
        if looks_like_edits(block.content):
            return self._patch_all("edits", read_edits(block.content, block.path))
        return self._patch_all("diff", read_diff(block.content))

    def _patch_all(self, form: str, patches: Sequence[Patch]) -> bool:
        """Changes are laid over what was given, unless the answer itself has the file."""
        done = False
        for patch in patches:
            try:
                path = clean_path(patch.path)
                now = apply(
                    Patch(path, patch.changes, patch.is_new, patch.is_removal), {**self.given, **self.taken.files}
                )
            except ValueError as reason:
                self.taken.refused[patch.path] = str(reason)
                continue
            done = True
            for kept, content in self.given.items():
                if kept not in self.taken.files:
                    self.taken.take(kept, content)
            if now is None:
                self.taken.files.pop(path, None)
            else:
                self.taken.take(path, now)
        if done and self.form in ("none", "fences"):
            self.form = form
        return done

    def _note_open(self, named: Sequence[Block]) -> None:
        self.notes += [
            f"the block of {block.path} is not closed: it may be cut off" for block in named if not block.is_closed
        ]

    def _without_top_folder(self) -> dict[str, bytes]:
        """A program in a folder of its own is the same program."""
        files = self.taken.files
        if not files or any(entry in files for entry in self.entries):
            return files
        top = next(iter(files)).partition("/")[0]
        if not all(path.startswith(f"{top}/") for path in files):
            return files
        moved = {path.partition("/")[2]: content for path, content in files.items()}
        if not any(entry in moved for entry in self.entries):
            return files
        self.notes.append(f"the folder {top}/ around the program was left out")
        return moved


def _is_change(block: Block) -> bool:
    if block.language in ("diff", "patch") or looks_like_edits(block.content):
        return looks_like_diff(block.content) or looks_like_edits(block.content)
    return block.content.startswith(("--- a/", "diff --git ", "--- /dev/null")) and looks_like_diff(block.content)
