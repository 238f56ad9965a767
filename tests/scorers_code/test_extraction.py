# ruff: noqa: E501
# Answers as models write them.
"""Code read out of answers as models really write them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proctor.scorers.code.extraction import blocks, extract_function, extract_program
from proctor.scorers.code.syntax import PrefixParser, parse

PROMPT = '''from typing import List
import math


def helper(x):
    return x * 10


def scaled(values: List[int]) -> List[int]:
    """ Multiply each value by ten.
    >>> scaled([1])
    [10]
    """
'''
FULL = "def scaled(values):\n    return [helper(v) for v in values]"

ANSWERS = {
    "the body alone": "    return [helper(v) for v in values]\n",
    "the body, first indentation lost": "return [helper(v) for v in values]",
    "a longer body, first indentation lost": "out = []\n    for v in values:\n        out.append(helper(v))\n    return out",
    "the body at the margin": "out = []\nfor v in values:\n    out.append(helper(v))\nreturn out",
    "the body, then prose": "    return [helper(v) for v in values]\n\nThis multiplies every value by ten.",
    "the body, then more functions": "    return [helper(v) for v in values]\n\n\ndef main():\n    print(scaled([1]))\n",
    "a fenced function": f"Here is the solution:\n\n```python\n{FULL}\n```\n\nIt loops over the values.",
    "a fence without a language": f"```\n{FULL}\n```",
    "a fence that never closes": f"```python\n{FULL}\n",
    "tildes": f"~~~python\n{FULL}\n~~~",
    "an indented fence": "1. Do this:\n\n   ```python\n   def scaled(values):\n       return [helper(v) for v in values]\n   ```\n",
    "an example after the function": f"```python\n{FULL}\n```\nExample:\n```python\nprint(scaled([1, 2]))\n```",
    "a first try and a better one": f"```python\ndef scaled(values):\n    return values\n```\nThat is wrong. Better:\n```python\n{FULL}\n```",
    "a helper in another block": "```python\ndef ten(x):\n    return x * 10\n```\nand\n```python\ndef scaled(values):\n    return [ten(v) for v in values]\n```",
    "shell blocks around it": f"```bash\npip install nothing\n```\n```python\n{FULL}\n```\n```text\n[10]\n```",
    "no fence at all": f"Here you go.\n\n{FULL}\n\nHope this helps!",
    "the whole prompt again": f"```python\n{PROMPT}    return [helper(v) for v in values]\n```",
    "a main block": f"```python\n{FULL}\n\nif __name__ == '__main__':\n    raise SystemExit(1)\n```",
    "thinking first": f"<think>\n```python\ndef scaled(values): return 1\n```\n</think>\n```python\n{FULL}\n```",
    "a class for a contest site": "```python\nclass Solution:\n    def scaled(self, values):\n        return [v * 10 for v in values]\n```",
    "tags": f"<code>\n{FULL}\n</code>",
    "begin and done": f"[BEGIN]\n{FULL}\n[DONE]",
    "a lambda": "```python\nscaled = lambda values: [v * 10 for v in values]\n```",
    "an interactive session": ">>> nothing\n```python\n>>> def scaled(values):\n...     return [v * 10 for v in values]\n... \n>>> scaled([1])\n[10]\n```",
    "windows line ends": f"```python\r\n{FULL}\r\n```".replace("\n", "\r\n").replace("\r\r", "\r"),
    "tabs": "```python\ndef scaled(values):\n\treturn [v * 10 for v in values]\n```",
    "a docstring with a fence": "```python\ndef scaled(values):\n    '''Multiply.'''\n    return [helper(v) for v in values]\n```\nUse `scaled([1])`.",
    "a class beside it": f"```python\nclass Unused: pass\n\n{FULL}\n```",
    "type hints and imports": "```python\nfrom typing import Sequence\ndef scaled(values: Sequence[int]) -> list[int]:\n    return [math.floor(v * 10) for v in values]\n```",
}  # fmt: skip


@pytest.mark.parametrize("name", ANSWERS)
def test_the_function_is_found_and_works(name: str) -> None:
    found = extract_function(ANSWERS[name], "scaled", PROMPT)
    space: dict[str, Any] = {"__name__": "solution"}
    exec(found.code, space)
    assert space["scaled"]([1, 2]) == [10, 20], found


@pytest.mark.parametrize(
    "text", ["", "I cannot help with that.", "<think>def scaled(values): return", "The answer is 42."]
)
def test_an_answer_without_code_has_none(text: str) -> None:
    assert extract_function(text, "scaled").code == ""


def test_code_that_does_not_parse_is_still_run_so_the_failure_is_shown() -> None:
    found = extract_function("```python\ndef scaled(values:\n    return\n```", "scaled", PROMPT)
    assert "def scaled(values:" in found.code
    assert "does not parse" in found.how


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("```python\nn = int(input())\nprint(n * 2)\n```\nFor example:\n```\n4\n```", "n = int(input())"),
        ("n = int(input())\nprint(n * 2)", "n = int(input())"),
        ("Read it and print it.\n\nn = int(input())\nprint(n * 2)\n\nThat is all there is to it.", "print(n * 2)"),
        ("```cpp\nint main() {}\n```\n```python\nprint(1)\n```", "print(1)"),
    ],
)
def test_a_program_is_found(text: str, wanted: str) -> None:
    found = extract_program(text)
    assert wanted in found.code
    compile(found.code, "x", "exec")


def test_a_javascript_program_is_found() -> None:
    text = "```js\nconsole.log(1)\n```\nor in Python\n```python\nprint(1)\n```"
    assert extract_program(text, "javascript").code.strip() == "console.log(1)"


@settings(deadline=None)
@given(st.text() | st.text("`~\n def scaled(x):return\t#'\"\\[]<>", max_size=200))
def test_no_text_breaks_the_reader(text: str) -> None:
    for found in (extract_function(text, "scaled", PROMPT), extract_program(text)):
        assert found.how, "how the program was found, or why there is none, is always said"


class Compiled:
    """How much text Python was given to compile, while somebody counts."""

    def __init__(self) -> None:
        self.is_counting = False
        self.characters = 0
        sys.addaudithook(self.hear)

    def hear(self, event: str, arguments: tuple[object, ...]) -> None:
        if self.is_counting and event == "compile" and isinstance(arguments[0], str | bytes):
            self.characters += len(arguments[0])

    @contextmanager
    def counting(self) -> Iterator[None]:
        self.is_counting, self.characters = True, 0
        try:
            yield
        finally:
            self.is_counting = False


@pytest.fixture(scope="module")
def compiled() -> Compiled:
    return Compiled()  # an audit hook stays until the process ends


@pytest.mark.untraced
@pytest.mark.parametrize(
    "line", ["def scaled():", "@scaled", "scaled = (", "if scaled:", "import scaled \\", "def scaled(): return (", "x"]
)
def test_the_work_of_reading_grows_with_the_answer_and_not_with_its_square(line: str, compiled: Compiled) -> None:
    answer = "def scaled():\n" + f"{line}\n" * (100_000 // len(line))
    for read in (lambda: extract_function(answer, "scaled", PROMPT), lambda: extract_program(answer)):
        with compiled.counting():
            read()
        assert compiled.characters < 8_000_000 + 100 * len(answer)


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "def f(x):",
                "    return (x",
                "    )",
                "y = 1",
                "'\u0022\u0022'",
                "@d",
                "x = [",
                "]",
                "",
                "prose here",
                "    if x:",
                "        pass",
                "else:",
                "    else:",
                "try:",
                '"""',
                "\\",
                "f'{x",
                "}'",
                "class A:",
            ]
        ),
        max_size=12,
    )
)
def test_leaps_over_what_cannot_parse_miss_no_prefix_that_does(lines: list[str]) -> None:
    before = "import math\n"
    found = [(end, text) for end, text, _ in PrefixParser(100).prefixes(lines, before)]
    prefixes = [(end, before + "\n".join(lines[:end])) for end in range(len(lines), 0, -1)]
    assert found == [(end, text) for end, text in prefixes if parse(text) is not None]


TAGGED = re.compile(
    r"<(code|answer|solution|python)>(.*?)</\1>|\[BEGIN\](.*?)(?:\[DONE\]|\[END\]|\Z)|\[PYTHON\](.*?)\[/PYTHON\]",
    re.DOTALL,
)
"""What tags mean, in a form whose work grows with the square of an answer."""


@settings(deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "<code>",
                "</code>",
                "<answer>",
                "</answer>",
                "[BEGIN]",
                "[DONE]",
                "[END]",
                "[PYTHON]",
                "[/PYTHON]",
                "x",
                "y",
                "\n",
            ]
        )
    )
)
def test_tags_are_read_as_they_are_nested_and_left_open(parts: list[str]) -> None:
    text = "".join(parts)
    meant = [next(group for group in match.groups()[1:] if group is not None) for match in TAGGED.finditer(text)]
    assert [one.strip() for one in blocks(text)] == [one.strip() for one in meant if one.strip()]
