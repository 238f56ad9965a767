"""Code out of real answers: prose around it, several blocks, half functions, lost indentation, thinking aloud."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from proctor.scorers.code.syntax import (
    PrefixParser,
    defined_names,
    functions_and_classes,
    has_stray_return,
    method_owner,
    missing_names,
    parse,
)

_FENCE = re.compile(r"^[ \t>]*(```+|~~~+)[ \t]*([\w+#.-]*)[^\n]*$", re.MULTILINE)
_THINK_END = "</think>"
_OPENED = re.compile(r"<(?:code|answer|solution|python)>|\[(?:BEGIN|PYTHON)\]")
_DONE = re.compile(r"\[DONE\]|\[END\]|\Z")
_PYTHON = {"", "python", "py", "python3", "py3", "python2", "pycon", "ipython"}
_START = re.compile(r"^(?:def |class |import |from \w[\w.]* import |@|async def )")
_PROMPTED = re.compile(r"^\s*>>> ?", re.MULTILINE)
_INLINE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
_INDENTED = re.compile(r"(?:\A|\n[ \t]*\n)((?:(?: {4}|\t)[^\n]*(?:\n|\Z)|[ \t]*\n(?= {4}|\t))+)")
_QUOTED = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Extracted:
    """The program to run and how it was found; `code` is empty when there is none."""

    code: str
    how: str


def without_thinking(text: str) -> str:
    end = text.rfind(_THINK_END)
    if end >= 0:
        return text[end + len(_THINK_END) :]
    return "" if text.lstrip().startswith("<think>") else text


def blocks(text: str, languages: frozenset[str] | set[str] = frozenset(_PYTHON)) -> list[str]:
    """What stands between fences, in order; a fence that is never closed runs to the end."""
    found: list[str] = []
    opened: tuple[int, str, str] | None = None
    if ">" in text:
        text = _unquoted(text)
    for match in _FENCE.finditer(text):
        mark, language = match[1], match[2].lower()
        if opened is None:
            opened = (match.end(), mark, language)
        elif mark[0] == opened[1][0] and len(mark) >= len(opened[1]) and not language:
            if opened[2] in languages:
                found.append(text[opened[0] : match.start()].removeprefix("\n"))
            opened = None
    if opened is not None and opened[2] in languages:
        found.append(text[opened[0] :].removeprefix("\n"))
    found += _tagged(text)
    return [_without_prompts(textwrap.dedent(block)) for block in found if block.strip()]


def _tagged(text: str) -> list[str]:
    """What stands between tags; a tag that nothing closes is looked for once, however often it is opened."""
    found: list[str] = []
    unclosed: set[str] = set()
    at = 0
    for match in _OPENED.finditer(text):
        mark = match[0]
        if match.start() < at or mark in unclosed:
            continue
        closing = _DONE if mark == "[BEGIN]" else re.compile(re.escape(f"{mark[0]}/{mark[1:]}"))
        closed = closing.search(text, match.end())
        if closed is None:
            unclosed.add(mark)
        else:
            found.append(text[match.end() : closed.start()])
            at = closed.end()
    return found


def _unquoted(text: str) -> str:
    """The text without the '>' of quoted blocks: a block is quoted when its fence is."""
    lines, is_quoted, is_open = text.splitlines(), False, False
    for index, line in enumerate(lines):
        if _FENCE.match(line):
            is_quoted = line.lstrip().startswith(">") if not is_open else is_quoted
            is_open = not is_open
        if is_quoted:
            lines[index] = _QUOTED.sub("", line)
        is_quoted = is_quoted and is_open
    return "\n".join(lines)


def _without_prompts(block: str) -> str:
    """A pasted interactive session without its prompts and outputs."""
    if not block.lstrip().startswith(">>>") or not _PROMPTED.search(block):
        return block
    lines = [line.strip("\n") for line in block.splitlines()]
    return "\n".join(line.lstrip()[4:] for line in lines if line.lstrip().startswith((">>> ", "... ")))


def extract_function(text: str, entry_point: str, prompt: str = "") -> Extracted:
    """A program that defines `entry_point`: the answer's own, or the prompt continued by the answer."""
    answer = without_thinking(text)
    if not answer.strip():
        return Extracted("", "no answer")
    pieces = blocks(answer)
    whole = _complete(pieces, entry_point)
    if whole is not None:
        return Extracted(_with_header(whole, prompt, entry_point), "block")
    bare = _region(answer, entry_point)
    if bare is not None:
        return Extracted(_with_header(bare, prompt, entry_point), "bare code")
    inline = _complete([*_indented(answer), *_INLINE.findall(answer)], entry_point)
    if inline is not None and not pieces:
        return Extracted(_with_header(inline, prompt, entry_point), "inline code")
    if prompt:
        parser = PrefixParser(len(answer))
        for piece in [*pieces, answer]:
            continued = _continued(prompt, piece, parser)
            if continued is not None:
                return Extracted(continued, "continuation")
    # Nothing parses or nothing fits: run the likeliest piece, so that the failure is shown as what it is.
    likely = next((piece for piece in pieces if f"def {entry_point}" in piece), None)
    if likely is not None:
        return Extracted(_with_header(likely, prompt, entry_point), "block that does not parse")
    if prompt and not pieces:
        return (
            Extracted(prompt + answer, "continuation that does not parse")
            if _looks_like_code(answer)
            else Extracted("", "no code")
        )
    if pieces:
        return Extracted(pieces[-1], "block without the function")
    return Extracted("", "no code")


def _indented(text: str) -> list[str]:
    """Blocks that are set apart by four blanks, as Markdown allows."""
    return [textwrap.dedent(block).strip("\n") for block in _INDENTED.findall(text)]


def _looks_like_code(text: str) -> bool:
    return bool(re.search(r"^\s+(?:return|for|if|while|[\w\[\]., ]+ =)\b", text, re.MULTILINE))


def _complete(pieces: list[str], entry_point: str) -> str | None:
    """The last block that defines the function, with the earlier blocks it needs."""
    trees = [parse(piece) for piece in pieces]
    for index in range(len(pieces) - 1, -1, -1):
        tree = trees[index]
        if tree is None:
            continue
        owner = method_owner(tree, entry_point)
        if entry_point not in defined_names(tree) and owner is None:
            continue
        needed = missing_names(tree)
        earlier = [
            p for p, t in zip(pieces[:index], trees[:index], strict=True) if t is not None and defined_names(t) & needed
        ]
        code = "\n\n".join([*earlier, pieces[index]])
        if entry_point not in defined_names(tree):
            code += f"\n\n{entry_point} = {owner}().{entry_point}\n"
        return code
    return None


def _region(answer: str, entry_point: str) -> str | None:
    """Code in the open, prose around it: from the first line that starts code to the last that still parses."""
    lines = answer.splitlines()
    starts = [index for index, line in enumerate(lines) if _START.match(line) or line.startswith(f"{entry_point} =")]
    if not starts or (f"def {entry_point}" not in answer and f"{entry_point} =" not in answer):
        return None
    parser = PrefixParser(len(answer))
    for start in starts[:20]:
        found = next(parser.prefixes(lines[start:]), None)
        if found is not None and entry_point in defined_names(found[2]):
            return found[1]
    return None


def _header(prompt: str, entry_point: str) -> str:
    """What the prompt defines before the function: imports and helpers the answer may leave out."""
    match = re.search(rf"^(?:@.*\n)*(?:async )?def {re.escape(entry_point)}\b", prompt, re.MULTILINE)
    return prompt[: match.start()] if match else ""


def _with_header(code: str, prompt: str, entry_point: str) -> str:
    header = _header(prompt, entry_point)
    return f"{header}\n{code}" if header.strip() and parse(header) is not None else code


def _continued(prompt: str, piece: str, parser: PrefixParser) -> str | None:
    """The prompt with the piece as the rest of its function, in the indentation that parses."""
    first = next((line for line in piece.splitlines() if line.strip()), "")
    body = piece.strip("\n")
    indented = textwrap.indent(textwrap.dedent(body), "    ")
    # A stripped answer loses only its first line's indentation; one typed at the margin has lost it everywhere.
    first_only = "    " + body.lstrip()
    variants = [body] if first.startswith((" ", "\t")) else [first_only, indented, body]
    if first.startswith(" "):
        variants += [indented, first_only]
    # The reading that keeps most of what was written.
    found = [kept for variant in variants if (kept := _trimmed(prompt, variant, parser)) is not None]
    return max(found, key=lambda kept: kept[0])[1] if found else None


def _trimmed(prompt: str, body: str, parser: PrefixParser) -> tuple[int, str] | None:
    """How many lines stay, and the text without the trailing ones that are no code; the function must have grown."""
    names = functions_and_classes(tree) if (tree := parse(prompt)) else []
    for end, text, parsed in parser.prefixes(body.splitlines(), prompt.rstrip() + "\n"):
        if has_stray_return(parsed):
            continue
        before, after = (_last_function_body(read, names[-1]) if names else [] for read in (tree, parsed))
        if not names or len(after) > len(before):
            return end, text + "\n"
    return None


def _last_function_body(tree: object, name: str) -> list[object]:
    for node in getattr(tree, "body", []):
        if getattr(node, "name", None) == name:
            return list(getattr(node, "body", []))
    return []


def extract_program(text: str, language: str = "python") -> Extracted:
    """A whole program: the largest block of the last kind that fits, or the bare text when it parses."""
    answer = without_thinking(text)
    names = _PYTHON if language == "python" else {"", "javascript", "js", "node", "mjs", "typescript"}
    pieces = blocks(answer, names)
    if language == "python":
        parsing = [piece for piece in pieces if parse(piece) is not None]
        if parsing:
            return Extracted(max(reversed(parsing), key=_weight), "block")
        if parse(answer) is not None and re.search(r"[(=]", answer):
            return Extracted(answer, "bare code")
    if pieces:
        return Extracted(max(reversed(pieces), key=len), "block")
    if language == "python":
        return _program_in_prose(answer)
    return Extracted(answer, "bare code") if re.search(r"[;{(]", answer) else Extracted("", "no code")


def _weight(piece: str) -> int:
    """Lines of code: an example call after the program is shorter than the program."""
    return len([line for line in piece.splitlines() if line.strip() and not line.lstrip().startswith("#")])


def _program_in_prose(answer: str) -> Extracted:
    lines = answer.splitlines()
    starts = [
        index for index, line in enumerate(lines) if _START.match(line) or re.match(r"^\w+(?:, ?\w+)* ?= ?", line)
    ]
    parser = PrefixParser(len(answer))
    for start in starts[:10]:
        found = next(parser.prefixes(lines[start:]), None)
        if found is not None:
            return Extracted(found[1], "bare code")
    set_apart = [piece for piece in _indented(answer) if parse(piece) is not None]
    if set_apart:
        return Extracted(max(reversed(set_apart), key=_weight), "indented code")
    inline = [piece for piece in _INLINE.findall(answer) if parse(piece) is not None and "(" in piece]
    return Extracted(inline[-1], "inline code") if len(inline) == 1 else Extracted("", "no code")
