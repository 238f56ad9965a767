"""What interval sets promise."""

import unittest
from typing import Any, cast

from intervals import IntervalSet, ParseError, parse


class MakingTest(unittest.TestCase):
    """How sets come to be."""

    def test_shortest_form(self) -> None:
        """Overlapping and touching intervals are merged, empty ones dropped."""
        self.assertEqual(IntervalSet([(3, 5), (1, 3), (9, 9)]).pairs(), [(1, 5)])
        self.assertEqual(IntervalSet([(1, 9), (2, 3)]).pairs(), [(1, 9)])

    def test_refusals(self) -> None:
        """Reversed pairs and other types are refused."""
        with self.assertRaises(ValueError):
            IntervalSet([(2, 1)])
        for pair in ((True, 2), (1.0, 2), ("1", 2)):
            with self.assertRaises(TypeError):
                IntervalSet([cast(Any, pair)])


class ArithmeticTest(unittest.TestCase):
    """What is done with sets."""

    def setUp(self) -> None:
        """Make two sets that overlap."""
        self.left = IntervalSet([(0, 10), (20, 30)])
        self.right = IntervalSet([(5, 7), (8, 22)])

    def test_combinations(self) -> None:
        """Union, intersection and difference."""
        self.assertEqual(self.left.union(self.right).pairs(), [(0, 30)])
        both = self.left.intersection(self.right).pairs()
        self.assertEqual(both, [(5, 7), (8, 10), (20, 22)])
        rest = self.left.difference(self.right).pairs()
        self.assertEqual(rest, [(0, 5), (7, 8), (22, 30)])
        self.assertEqual(IntervalSet().difference(self.left).pairs(), [])
        self.assertEqual(self.left.pairs(), [(0, 10), (20, 30)])

    def test_questions(self) -> None:
        """Membership, size, gaps and room."""
        found = [n for n in (-1, 0, 9, 10, 20, 30) if self.left.contains(n)]
        self.assertEqual(found, [0, 9, 20])
        self.assertEqual(self.left.total(), 20)
        self.assertEqual(self.left.gaps(-2, 12).pairs(), [(-2, 0), (10, 12)])
        self.assertEqual(self.left.gaps(2, 9).pairs(), [])
        self.assertEqual(self.left.find_room(10, 3), 10)
        self.assertEqual(self.left.find_room(11, 3), 30)

    def test_shift(self) -> None:
        """Every number moves."""
        self.assertEqual(IntervalSet([(1, 3)]).shift(-2).pairs(), [(-1, 1)])


class TextTest(unittest.TestCase):
    """Sets as text."""

    def test_there_and_back(self) -> None:
        """A set survives being written and parsed."""
        found = parse(" -4--2 , 0,7-9")
        self.assertEqual(found.pairs(), [(-4, -1), (0, 1), (7, 10)])
        self.assertEqual(found.text(), "-4--2,0,7-9")
        self.assertEqual(parse("  ").pairs(), [])

    def test_mistakes(self) -> None:
        """The malformed item is named."""
        with self.assertRaisesRegex(ParseError, "at item 2"):
            parse("1,x")
        with self.assertRaisesRegex(ParseError, "at item 1"):
            parse("3-1")
