"""Read a Nest document into a tree that keeps its comments."""

from __future__ import annotations

from dataclasses import dataclass, field

from scanner import NestError, Scanner, Token

Value = str | int | bool | list["Value"]
BOOLEANS = {"true": True, "false": False}


@dataclass(slots=True)
class Setting:
    """A key with a value; `own` is the comment beside it."""

    key: str
    value: Value
    comments: list[str]
    own: str | None = None


@dataclass(slots=True)
class Block:
    """Entries under a key, perhaps with a label; the document is one without."""

    key: str = ""
    label: str | None = None
    comments: list[str] = field(default_factory=list)
    entries: list[Setting | Block] = field(default_factory=list)
    last_comments: list[str] = field(default_factory=list)
    _labels: dict[str, set[str | None]] = field(default_factory=dict)

    def claims(self, key: str, label: str | None) -> bool:
        """Take a key and label for a new entry; False if they are taken."""
        used = self._labels.setdefault(key, set())
        is_free = label not in used
        used.add(label)
        return is_free

    def has_only_labels(self, key: str) -> bool:
        """Say whether another block with a label may use this key."""
        return None not in self._labels.get(key, set())

    def uses(self, key: str) -> bool:
        """Say whether an entry has this key."""
        return key in self._labels


def parse(text: str) -> Block:
    """Read a document; raises NestError at its first mistake."""
    return _Parser(text).document()


class _Parser:
    def __init__(self, text: str) -> None:
        self._scanner = Scanner(text)
        self._comments: list[str] = []
        self._token = self._scanner.next()
        self._skip_comments()

    def document(self) -> Block:
        block = Block()
        self._entries(block, until="end")
        return block

    def _skip_comments(self) -> None:
        while self._token.kind == "comment":
            self._comments.append(str(self._token.value).rstrip())
            self._token = self._scanner.next()

    def _advance(self) -> Token:
        token = self._token
        self._token = self._scanner.next()
        self._skip_comments()
        return token

    def _is_mark(self, mark: str) -> bool:
        return self._token.kind == "mark" and self._token.value == mark

    def _unexpected(self, wanted: str) -> NestError:
        token = self._token
        if token.kind == "end":
            return self._scanner.error(token.start, f"{wanted} is missing at the end")
        return self._scanner.error(token.start, f"expected {wanted}")

    def _take_comments(self) -> list[str]:
        comments, self._comments = self._comments, []
        return comments

    def _entries(self, block: Block, until: str) -> None:
        while self._token.kind == "name":
            block.entries.append(self._entry(block))
        if self._token.kind != until and not self._is_mark(until):
            raise self._unexpected("a key" if until == "end" else "a key or '}'")
        comments = self._take_comments()
        block.last_comments = comments if until == "end" else []

    def _entry(self, parent: Block) -> Setting | Block:
        name = self._token
        key = str(name.value)
        if not parent.has_only_labels(key):
            raise self._used(name)
        self._advance()
        if self._token.kind != "string" and parent.uses(key):
            raise self._used(name)
        if self._is_mark("="):
            parent.claims(key, None)
            return self._setting(key)
        return self._block(parent, key)

    def _used(self, name: Token) -> NestError:
        return self._scanner.error(name.start, f"{name.value!r} is used already")

    def _block(self, parent: Block, key: str) -> Block:
        label = None
        if self._token.kind == "string":
            label = str(self._token.value)
            if not parent.claims(key, label):
                raise self._used(self._token)
            self._advance()
        elif self._is_mark("{"):
            parent.claims(key, None)
        if not self._is_mark("{"):
            raise self._unexpected("'=' or '{'" if label is None else "'{'")
        block = Block(key, label)
        # What follows the brace belongs to the contents, so it is not read on yet.
        block.comments = self._take_comments()
        self._advance()
        self._entries(block, until="}")
        self._advance()
        return block

    def _setting(self, key: str) -> Setting:
        self._advance()
        value, last = self._value()
        setting = Setting(key, value, self._take_comments())
        setting.own = self._own_comment(last)
        self._skip_comments()
        return setting

    def _own_comment(self, last: Token) -> str | None:
        """Move beyond a setting's last token, and a comment beside it."""
        self._token = self._scanner.next()
        token = self._token
        if token.kind != "comment":
            return None
        if not self._scanner.on_one_line(last.end, token.start):
            return None
        self._token = self._scanner.next()
        return str(token.value).rstrip()

    def _value(self) -> tuple[Value, Token]:
        """Read a value up to its last token, which is left in place."""
        token = self._token
        if token.kind in ("string", "integer"):
            return token.value, token
        if token.kind == "name" and token.value in BOOLEANS:
            return BOOLEANS[str(token.value)], token
        if self._is_mark("["):
            return self._list(), self._token
        raise self._unexpected("a value")

    def _list(self) -> list[Value]:
        values: list[Value] = []
        self._advance()
        while not self._is_mark("]"):
            values.append(self._value()[0])
            self._advance()
            if self._is_mark(","):
                self._advance()
            elif not self._is_mark("]"):
                raise self._unexpected("',' or ']'")
        return values
