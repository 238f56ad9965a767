"""What the formatter promises."""

import contextlib
import io
import unittest
from unittest import mock

from main import main
from printer import as_json, as_text
from scanner import NestError
from syntax import parse


class FormatTest(unittest.TestCase):
    """The canonical form."""

    def test_settings_and_blocks(self) -> None:
        """Everything gets its line, blocks get blank lines around them."""
        text = 'a=[1,-0,[],true,] b="\\u{1}\\"\\t" s "l"{c=1 e{}} d=1'
        expected = (
            'a = [1, 0, [], true]\nb = "\\u{1}\\"\\t"\n\n'
            's "l" {\n  c = 1\n\n  e {}\n}\n\nd = 1\n'
        )
        self.assertEqual(as_text(parse(text)), expected)
        self.assertEqual(as_text(parse(expected)), expected)

    def test_comments(self) -> None:
        """Comments stay where they belong."""
        text = "#1\na #2\n= [ #3\n1] # own\nb #4\n{ #5\n} #6"
        expected = "#1\n#2\n#3\na = [1]  # own\n\n#4\nb {\n  #5\n}\n\n#6\n"
        self.assertEqual(as_text(parse(text)), expected)
        self.assertEqual(as_text(parse("a = 1\n# end")), "a = 1\n# end\n")

    def test_json(self) -> None:
        """Labels become members."""
        found = as_json(parse('a = 1 s "x" { b = "y" } s "z" {} t {}'))
        expected = {"a": 1, "s": {"x": {"b": "y"}, "z": {}}, "t": {}}
        self.assertEqual(found, expected)


class MistakeTest(unittest.TestCase):
    """Where mistakes are reported."""

    def test_positions(self) -> None:
        """Each kind of mistake has its place."""
        cases = {
            "a = = 1": "1:5:",
            "a =\n": "2:1:",
            "a {": "1:4:",
            "a": "1:2:",
            "}": "1:1:",
            "a = [1 2]": "1:8:",
            'a "x" = 1': "1:7:",
            "a = ;": "1:5:",
            'a = "é" !': "1:9:",
            'a = "x\n"': "1:5:",
            'a = "\\q"': "1:6:",
            'a = "\\u{d800}"': "1:6:",
            "a = 9007199254740992": "1:5:",
            "a = 1\na = 2": "2:1:",
            'a "x" {} a {}': "1:10:",
            'a "x" {} a "x" {}': "1:12:",
        }
        for text, place in cases.items():
            with self.assertRaisesRegex(NestError, f"^{place} "):
                parse(text)


class CommandTest(unittest.TestCase):
    """The program as it is called."""

    def call(self, text: str, *arguments: str) -> tuple[int, str]:
        """Run the program in this process."""
        stdin = io.TextIOWrapper(io.BytesIO(text.encode()))
        stdout = io.TextIOWrapper(io.BytesIO())
        with (
            mock.patch("sys.stdin", stdin),
            mock.patch("sys.stdout", stdout),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            code = main(arguments)
        stdout.seek(0)
        return code, stdout.read()

    def test_commands(self) -> None:
        """Each command and each exit code."""
        self.assertEqual(self.call("a=1", "fmt"), (0, "a = 1\n"))
        self.assertEqual(self.call("a=1", "json"), (0, '{"a": 1}\n'))
        self.assertEqual(self.call("a=1", "fmt", "--check"), (3, ""))
        self.assertEqual(self.call("a = 1\n", "fmt", "--check"), (0, ""))
        self.assertEqual(self.call("a", "fmt"), (1, ""))
        self.assertEqual(self.call("a=1", "check"), (2, ""))
