"""What the time sheet promises, function by function and as a whole."""

import contextlib
import io
import unittest
from unittest import mock

from main import Options, add_up, format_time, main, parse_amount, report


class AmountTest(unittest.TestCase):
    """Amounts of time."""

    def test_durations(self) -> None:
        """Whole units in order are added."""
        self.assertEqual(parse_amount("1h15m30s"), 4530)
        self.assertEqual(parse_amount("90m"), 5400)
        for text in ("", "1m1h", "1", "-1h", "1H"):
            self.assertIsNone(parse_amount(text), text)

    def test_decimals_are_exact(self) -> None:
        """No second is lost to binary fractions."""
        self.assertEqual(parse_amount("4.35h"), 15660)
        self.assertEqual(parse_amount("0.25m"), 15)
        self.assertIsNone(parse_amount("0.0001h"))

    def test_spans(self) -> None:
        """Spans may pass midnight."""
        self.assertEqual(parse_amount("09:15-12:30"), 11700)
        self.assertEqual(parse_amount("22:30-01:00"), 9000)
        self.assertIsNone(parse_amount("24:00-01:00"))


class ReportTest(unittest.TestCase):
    """Sums and how they are shown."""

    def test_names_and_complaints(self) -> None:
        """Words of a name are joined; every malformed line is named."""
        times, complaints = add_up(["# x", "", "1h a  b", "30m a b", "soon c", "2h"])
        self.assertEqual(times, {"a b": 5400})
        self.assertEqual([line[:7] for line in complaints], ["line 5:", "line 6:"])

    def test_order_and_total(self) -> None:
        """The longest comes first, equal ones by name, the total last."""
        times, _ = add_up(["1h b", "1h a", "30h c"])
        expected = ["30:00:00 c", "1:00:00 a", "1:00:00 b", "32:00:00 TOTAL"]
        self.assertEqual(report(times, Options()), expected)
        self.assertEqual(report(times, Options(only="x")), ["0:00:00 x"])

    def test_decimal_hours(self) -> None:
        """Halves are rounded up."""
        self.assertEqual(format_time(18, is_decimal=True), "0.01")
        self.assertEqual(format_time(17, is_decimal=True), "0.00")


class CommandTest(unittest.TestCase):
    """The program as it is called."""

    def call(self, sheet: str, *arguments: str) -> tuple[int, str, str]:
        """Run the program in this process."""
        out, err = io.StringIO(), io.StringIO()
        with (
            mock.patch("sys.stdin", io.StringIO(sheet)),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            code = main(arguments)
        return code, out.getvalue(), err.getvalue()

    def test_success(self) -> None:
        """The report goes to standard output."""
        code, out, _ = self.call("1.5h a\n", "--only", "a", "--decimal")
        self.assertEqual((code, out), (0, "1.50 a\n"))

    def test_malformed_sheet(self) -> None:
        """Nothing is printed when a line is malformed."""
        code, out, err = self.call("1h a\nx\n")
        self.assertEqual((code, out, err[:7]), (1, "", "line 2:"))

    def test_wrong_arguments(self) -> None:
        """A lacking name and an unknown option are refused."""
        for arguments in (("--only",), ("--all",)):
            code, out, err = self.call("", *arguments)
            self.assertEqual((code, out), (2, ""))
            self.assertIn("usage", err)
