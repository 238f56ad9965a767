"""The calculating heart of a spreadsheet."""

import re
from collections.abc import Iterator

from formulas import (
    CYCLE,
    Address,
    CellFault,
    FormulaError,
    Node,
    Value,
    evaluate,
    parse,
    parse_address,
    references,
    written,
)

__all__ = ["FormulaError", "Sheet"]
_CYCLE = CellFault(CYCLE)
_NUMBER = re.compile(r"[+-]?[0-9]+(\.[0-9]+)?")


class Sheet:
    """Cells by address; values are worked out when asked for, and once."""

    def __init__(self) -> None:
        """Make an empty sheet."""
        self._contents: dict[Address, str] = {}
        self._formulas: dict[Address, Node] = {}
        self._used: dict[Address, set[Address]] = {}
        self._users: dict[Address, set[Address]] = {}
        self._values: dict[Address, Value] = {}

    def set(self, address: str, content: str) -> None:
        """Put a text into a cell; an empty one clears it. Raises FormulaError."""
        where = parse_address(address)
        formula = parse(content[1:]) if content.startswith("=") else None
        self._forget(where)
        self._disconnect(where)
        if not content:
            self._contents.pop(where, None)
            return
        self._contents[where] = content
        if formula is not None:
            self._formulas[where] = formula
            self._used[where] = references(formula)
            for used in self._used[where]:
                self._users.setdefault(used, set()).add(where)

    def get(self, address: str) -> float | str | None:
        """Give a cell's value, or its error's code."""
        value = self._value(parse_address(address))
        return value.code if isinstance(value, CellFault) else value

    def content(self, address: str) -> str:
        """Give the text that was put into a cell."""
        return self._contents.get(parse_address(address), "")

    def error(self, address: str) -> str | None:
        """Give a cell's error code, if it has one."""
        value = self._value(parse_address(address))
        return value.code if isinstance(value, CellFault) else None

    def dependents(self, address: str) -> list[str]:
        """List the cells whose formulas name this one."""
        return [
            written(user)
            for user in sorted(self._users.get(parse_address(address), ()))
        ]

    def _forget(self, changed: Address) -> None:
        """Drop the values of a cell and of all that depend on it."""
        waiting, met = [changed], {changed}
        while waiting:
            where = waiting.pop()
            self._values.pop(where, None)
            for user in self._users.get(where, ()):
                if user not in met:
                    met.add(user)
                    waiting.append(user)

    def _disconnect(self, where: Address) -> None:
        self._formulas.pop(where, None)
        for used in self._used.pop(where, ()):
            self._users[used].add(where)

    def _value(self, where: Address) -> Value:
        if where not in self._values and where in self._formulas:
            self._work_out(where)
        return self._known(where)

    def _known(self, where: Address) -> Value:
        if where in self._values:
            return self._values[where]
        content = self._contents.get(where)
        if content is None:
            return None
        return float(content) if _NUMBER.fullmatch(content) else content

    def _work_out(self, wanted: Address) -> None:
        """Work out a cell and what it needs, each after what it uses; what is left over is in a cycle."""
        needed = set(self._unknown_from(wanted))
        missing = {where: len(self._used[where] & needed) for where in needed}
        ready = [where for where, count in missing.items() if count == 0]
        while ready:
            where = ready.pop()
            self._values[where] = self._settled(where)
            for user in self._users.get(where, set()) & needed:
                missing[user] -= 1
                if missing[user] == 0:
                    ready.append(user)
        for where in needed:
            self._values.setdefault(where, _CYCLE)

    def _settled(self, where: Address) -> Value:
        """Work a formula out, all of whose cells are known."""
        if any(self._values.get(used) == _CYCLE for used in self._used[where]):
            return _CYCLE
        return evaluate(self._formulas[where], self._known)

    def _unknown_from(self, wanted: Address) -> Iterator[Address]:
        waiting, met = [wanted], {wanted}
        while waiting:
            where = waiting.pop()
            yield where
            for used in self._used[where]:
                is_unknown = used in self._formulas and used not in self._values
                if is_unknown and used not in met:
                    met.add(used)
                    waiting.append(used)
