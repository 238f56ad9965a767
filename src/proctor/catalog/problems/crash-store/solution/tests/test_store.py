"""Records, the store and the commands."""

import contextlib
import io
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from main import main
from records import DamagedError
from store import Store


class InFolder(unittest.TestCase):
    """Each test works in a folder of its own."""

    def setUp(self) -> None:
        """Go to an empty folder."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, Path.cwd())
        os.chdir(folder.name)
        self.log = Path("store.log")


class StoreTest(InFolder):
    """What is in the log is in the store."""

    def write(self, *values: str) -> list[int]:
        """Set keys to values, give the sizes of the log."""
        sizes = []
        with contextlib.closing(Store(self.log)) as store:
            for number, value in enumerate(values):
                store.apply([(f"k{number}", value)])
                sizes.append(self.log.stat().st_size)
        return sizes

    def test_every_cut(self) -> None:
        """A cut loses the record it is in and no other."""
        sizes = self.write("a", "b", "c")
        log = self.log.read_bytes()
        for size in range(len(log) + 1):
            self.log.write_bytes(log[:size])
            complete = sum(size >= end for end in sizes)
            self.assertEqual(len(Store(self.log).items()), complete)
            with contextlib.closing(Store(self.log)) as store:
                store.apply([("new", "x")])
            self.assertEqual(len(Store(self.log).items()), complete + 1)

    def test_every_damage(self) -> None:
        """A changed byte is noticed."""
        sizes = self.write("a", "b", "c")
        log = self.log.read_bytes()
        for place in range(sizes[0]):
            damaged = bytearray(log)
            damaged[place] ^= 32
            self.log.write_bytes(damaged)
            with self.assertRaises(DamagedError):
                Store(self.log)

    def test_compaction(self) -> None:
        """Only the present is kept."""
        with contextlib.closing(Store(self.log)) as store:
            for number in range(50):
                store.apply([("a", str(number)), ("b", None)])
        size = self.log.stat().st_size
        Store(self.log).compact()
        self.assertEqual(Store(self.log).items(), [("a", "49")])
        self.assertLess(self.log.stat().st_size, size / 10)
        self.assertEqual(list(Path.cwd().iterdir()), [self.log.absolute()])


class CommandTest(InFolder):
    """The program as it is called."""

    def call(self, *arguments: str, stdin: str = "") -> tuple[int, str]:
        """Run the program in this process."""
        out = io.StringIO()
        with (
            mock.patch("sys.stdin", io.StringIO(stdin)),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(io.StringIO()),
        ):
            code = main(arguments)
        return code, out.getvalue()

    def test_one_key(self) -> None:
        """Set, get, delete."""
        self.assertEqual(self.call("get", "a"), (4, ""))
        self.assertEqual(self.call("set", "a", "1 2"), (0, "OK\n"))
        self.assertEqual(self.call("get", "a"), (0, "1 2\n"))
        self.assertEqual(self.call("list"), (0, "a\t1 2\n"))
        self.assertEqual(self.call("del", "a"), (0, "OK\n"))
        self.assertEqual(self.call("del", "a"), (4, ""))
        self.assertEqual(self.call("compact"), (0, "OK\n"))

    def test_batch(self) -> None:
        """All or nothing."""
        self.assertEqual(self.call("batch", stdin="set a 1\nset b \n")[0], 0)
        self.assertEqual(self.call("batch", stdin="set a 2\noops\n")[0], 2)
        self.assertEqual(self.call("list"), (0, "a\t1\nb\t\n"))
        self.assertEqual(self.call("batch"), (0, "OK\n"))

    def test_session(self) -> None:
        """Every line has an answer."""
        lines = "set a 1\nget a\nget b\ndel a\ndel a\nset a\n"
        code, out = self.call("session", stdin=lines)
        self.assertEqual(code, 0)
        expected = ["OK", "VALUE 1", "NONE", "OK", "NONE", "ERR"]
        self.assertEqual(
            [line[:7].rstrip() for line in out.split("\n")][:5], expected[:5]
        )
        self.assertIn("ERR ", out)

    def test_refusals(self) -> None:
        """Wrong arguments and damaged logs."""
        for arguments in (
            (),
            ("x",),
            ("set", "a"),
            ("set", "", "1"),
            ("set", "a", "\n"),
        ):
            self.assertEqual(self.call(*arguments), (2, ""))
        self.log.write_bytes(b"nonsense\n")
        self.assertEqual(self.call("list"), (3, ""))
