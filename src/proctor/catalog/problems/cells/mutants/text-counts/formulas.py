"""Formulas: read, asked which cells they name, and worked out."""

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

Address = tuple[int, int]
"""Column and row: sorts as people read."""

DIV0, VALUE, CYCLE = "#DIV0", "#VALUE", "#CYCLE"
DEEPEST = 60
_LAST_ROW = 999
_ADDRESS = re.compile(r"([A-Za-z]{1,2})([1-9][0-9]{0,2})")
_TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]+)?)|(?P<word>[A-Za-z]+[0-9]*)|(?P<sign><>|<=|>=|[-+*/()=<>,:]))"
)
_COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
}
_AGGREGATES = ("SUM", "MIN", "MAX", "AVG", "COUNT")


class FormulaError(ValueError):
    """A formula or an address that is not well formed."""


@dataclass(frozen=True)
class CellFault:
    """An error as a value."""

    code: str


Value = float | str | CellFault | None
Lookup = Callable[[Address], Value]


@dataclass(frozen=True)
class Number:
    """A number as written."""

    value: float


@dataclass(frozen=True)
class Cell:
    """A lone address."""

    where: Address


@dataclass(frozen=True)
class Block:
    """A range of cells."""

    cells: tuple[Address, ...]


@dataclass(frozen=True)
class Negated:
    """A unary minus."""

    inner: "Node"


@dataclass(frozen=True)
class Binary:
    """Two operands and what is between them."""

    sign: str
    left: "Node"
    right: "Node"


@dataclass(frozen=True)
class Call:
    """A function and its arguments."""

    name: str
    arguments: tuple["Node", ...]


Node = Number | Cell | Block | Negated | Binary | Call


def parse_address(text: str) -> Address:
    """Read an address; raises FormulaError."""
    match = _ADDRESS.fullmatch(text)
    if match is None:
        raise FormulaError(f"{text!r} is no address")
    column = 0
    for letter in match[1].upper():
        column = column * 26 + ord(letter) - ord("A") + 1
    return column, int(match[2])


def written(where: Address) -> str:
    """Write an address."""
    column, row = where
    first, last = divmod(column - 1, 26)
    letters = (chr(ord("A") + first - 1) if first else "") + chr(ord("A") + last)
    return f"{letters}{row}"


def parse(text: str) -> Node:
    """Read a formula without its equals sign; raises FormulaError."""
    parser = _Parser(list(_tokens(text)))
    node = parser.comparison(0)
    parser.finish()
    if isinstance(node, Block):
        raise FormulaError("a range may only be a function's argument")
    return node


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    place = 0
    text = text.rstrip()
    while place < len(text):
        match = _TOKEN.match(text, place)
        if match is None or match.lastgroup is None:
            raise FormulaError(f"{text[place:]!r} cannot be read")
        yield match.lastgroup, match[match.lastgroup]
        place = match.end()


class _Parser:
    """Reads tokens from left to right, one method for each precedence."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._place = 0

    def _peek(self) -> tuple[str, str]:
        return (
            self._tokens[self._place]
            if self._place < len(self._tokens)
            else ("end", "")
        )

    def _take(self, *signs: str) -> str | None:
        kind, text = self._peek()
        if kind == "sign" and text in signs:
            self._place += 1
            return text
        return None

    def _expect(self, sign: str) -> None:
        if self._take(sign) is None:
            raise FormulaError(f"{sign!r} was expected")

    def finish(self) -> None:
        """Refuse anything that is left."""
        if self._place < len(self._tokens):
            raise FormulaError(f"{self._peek()[1]!r} was not expected")

    def comparison(self, depth: int) -> Node:
        """Read a comparison or what binds more tightly."""
        if depth > DEEPEST:
            raise FormulaError("nested too deeply")
        left = self._sum(depth)
        sign = self._take(*_COMPARISONS)
        return left if sign is None else _binary(sign, left, self._sum(depth))

    def _sum(self, depth: int) -> Node:
        node = self._product(depth)
        while sign := self._take("+", "-"):
            node = _binary(sign, node, self._product(depth))
        return node

    def _product(self, depth: int) -> Node:
        node = self._signed(depth)
        while sign := self._take("*", "/"):
            node = _binary(sign, node, self._signed(depth))
        return node

    def _signed(self, depth: int) -> Node:
        signs = []
        while sign := self._take("+", "-"):
            signs.append(sign)
        node = self._primary(depth)
        if signs:
            _refuse_block(node)
        for sign in reversed(signs):
            node = Negated(node) if sign == "-" else Binary("+", Number(0.0), node)
        return node

    def _primary(self, depth: int) -> Node:
        kind, text = self._peek()
        if kind == "number":
            self._place += 1
            return Number(float(text))
        if kind == "word":
            self._place += 1
            return self._word(text, depth)
        self._expect("(")
        node = self.comparison(depth + 1)
        self._expect(")")
        _refuse_block(node)
        return node

    def _word(self, text: str, depth: int) -> Node:
        if self._take("("):
            return self._call(text.upper(), depth)
        first = parse_address(text)
        if not self._take(":"):
            return Cell(first)
        kind, other = self._peek()
        if kind != "word":
            raise FormulaError("a range needs two addresses")
        self._place += 1
        return _block(first, parse_address(other))

    def _call(self, name: str, depth: int) -> Node:
        if name not in (*_AGGREGATES, "IF"):
            raise FormulaError(f"there is no function {name!r}")
        arguments = [self.comparison(depth + 1)]
        while self._take(","):
            arguments.append(self.comparison(depth + 1))
        self._expect(")")
        if name == "IF":
            if len(arguments) != 3:
                raise FormulaError("IF takes three arguments")
            for argument in arguments:
                _refuse_block(argument)
        return Call(name, tuple(arguments))


def _refuse_block(node: Node) -> None:
    if isinstance(node, Block):
        raise FormulaError("a range may only be a function's argument")


def _binary(sign: str, left: Node, right: Node) -> Binary:
    _refuse_block(left)
    _refuse_block(right)
    return Binary(sign, left, right)


def _block(one: Address, other: Address) -> Block:
    columns = range(min(one[0], other[0]), max(one[0], other[0]) + 1)
    rows = range(min(one[1], other[1]), max(one[1], other[1]) + 1)
    return Block(tuple((column, row) for column in columns for row in rows))


def references(node: Node) -> set[Address]:
    """List the cells that a formula names, whatever it chooses."""
    found: set[Address] = set()
    waiting = [node]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Cell):
            found.add(part.where)
        elif isinstance(part, Block):
            found.update(part.cells)
        elif isinstance(part, Negated):
            waiting.append(part.inner)
        elif isinstance(part, Binary):
            waiting += [part.left, part.right]
        elif isinstance(part, Call):
            waiting += part.arguments
    return found


class _Failed(Exception):
    """Working out ends in this error."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def evaluate(node: Node, lookup: Lookup) -> Value:
    """Work a formula out; errors are values."""
    try:
        return _number(node, lookup)
    except _Failed as failed:
        return CellFault(failed.code)


def _number(node: Node, lookup: Lookup) -> float:
    if isinstance(node, Number):
        return node.value
    if isinstance(node, Cell):
        return _cell_number(lookup(node.where))
    if isinstance(node, Negated):
        return -_number(node.inner, lookup)
    if isinstance(node, Binary):
        left, right = _number(node.left, lookup), _number(node.right, lookup)
        return _combined(node.sign, left, right)
    if isinstance(node, Call):
        return _called(node, lookup)
    raise _Failed(VALUE)


def _cell_number(value: Value) -> float:
    if value is None:
        return 0.0
    if isinstance(value, CellFault):
        raise _Failed(value.code)
    if isinstance(value, str):
        raise _Failed(VALUE)
    return value


def _combined(sign: str, left: float, right: float) -> float:
    if sign in _COMPARISONS:
        return float(_COMPARISONS[sign](left, right))
    if sign == "/":
        if right == 0:
            raise _Failed(DIV0)
        return left / right
    return _ARITHMETIC[sign](left, right)


def _called(call: Call, lookup: Lookup) -> float:
    if call.name == "IF":
        condition, first, second = call.arguments
        return _number(first if _number(condition, lookup) != 0 else second, lookup)
    numbers = [number for part in call.arguments for number in _numbers(part, lookup)]
    if call.name == "COUNT":
        cells = [
            where
            for part in call.arguments
            for where in (part.cells if isinstance(part, Block) else ())
        ]
        texts = sum(isinstance(lookup(where), str) for where in cells)
        return float(len(numbers) + texts)
    if call.name == "SUM":
        return sum(numbers, 0.0)
    if call.name == "AVG":
        if not numbers:
            raise _Failed(DIV0)
        return sum(numbers) / len(numbers)
    return (min if call.name == "MIN" else max)(numbers, default=0.0)


def _numbers(part: Node, lookup: Lookup) -> Iterator[float]:
    if not isinstance(part, Cell | Block):
        yield _number(part, lookup)
        return
    for where in (part.where,) if isinstance(part, Cell) else part.cells:
        value = lookup(where)
        if isinstance(value, CellFault):
            raise _Failed(value.code)
        if isinstance(value, float):
            yield value
