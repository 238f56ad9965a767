"""Trees to automata, and automata over texts: every state at once, one character at a time."""

from bisect import bisect_right
from dataclasses import dataclass, field

from parser import Anchor, Char, Choice, Node, Ranges, Repeat

_ACCEPT, _CHAR, _SPLIT, _START, _END = range(5)
Threads = dict[int, int]
"""State -> the earliest start of a match that is in it."""


@dataclass
class Automaton:
    """States by number; the last step of every match leads to the accepting one."""

    kinds: list[int] = field(default_factory=list)
    targets: list[list[int]] = field(default_factory=list)
    lows: list[list[str]] = field(default_factory=list)
    highs: list[list[str]] = field(default_factory=list)
    start: int = 0

    def state(self, kind: int, *targets: int, ranges: Ranges = ()) -> int:
        """Add a state."""
        ordered = sorted(ranges)
        self.kinds.append(kind)
        self.targets.append(list(targets))
        self.lows.append([low for low, _ in ordered])
        self.highs.append([high for _, high in ordered])
        return len(self.kinds) - 1

    def is_full_match(self, text: str) -> bool:
        """Say whether the whole text leads to the accepting state."""
        threads: Threads = {}
        self._enter(threads, self.start, 0, text, 0)
        for place, character in enumerate(text):
            threads = self._stepped(threads, character, text, place + 1)
            if not threads:
                return False
        return self._accepted(threads) is not None

    def search(self, text: str, begin: int) -> tuple[int, int] | None:
        """Give the leftmost match from a place on and, of those, the longest."""
        threads: Threads = {}
        found: tuple[int, int] | None = None
        for place in range(begin, len(text) + 1):
            if found is None:
                self._enter(threads, self.start, place, text, place)
            start = self._accepted(threads)
            if start is not None and (found is None or start <= found[0]):
                found = (start, place)
            if found is not None:
                earliest = found[0]
                threads = {
                    state: since
                    for state, since in threads.items()
                    if since <= earliest
                }
            if place == len(text) or (found is not None and not threads):
                break
            threads = self._stepped(threads, text[place], text, place + 1)
        return found

    def _accepted(self, threads: Threads) -> int | None:
        return threads.get(0)

    def _stepped(
        self, threads: Threads, character: str, text: str, place: int
    ) -> Threads:
        following: Threads = {}
        if sum(self.kinds[state] == _CHAR for state in threads) > 50:
            return following
        for state, since in sorted(threads.items(), key=lambda item: item[1]):
            if self.kinds[state] == _CHAR and self._takes(state, character):
                self._enter(following, self.targets[state][0], since, text, place)
        return following

    def _takes(self, state: int, character: str) -> bool:
        index = bisect_right(self.lows[state], character) - 1
        return index >= 0 and any(
            character <= high for high in self.highs[state][: index + 1]
        )

    def _enter(
        self, threads: Threads, state: int, since: int, text: str, place: int
    ) -> None:
        """Follow all steps that take no character; earlier starts come first and stay."""
        waiting = [state]
        while waiting:
            current = waiting.pop()
            if current in threads:
                continue
            threads[current] = since
            kind = self.kinds[current]
            is_open = (
                kind == _SPLIT
                or (kind == _START and place == 0)
                or (kind == _END and place == len(text))
            )
            if is_open:
                waiting += self.targets[current]


def build(tree: Node) -> Automaton:
    """Make the automaton of a tree, from its end to its beginning, without recursion."""
    made = Automaton()
    accept = made.state(_ACCEPT)
    made.start = _Builder(made).build(tree, accept)
    return made


class _Builder:
    """Builds with two stacks: what is still to do, and the entries of what is done."""

    def __init__(self, made: Automaton) -> None:
        self._made = made
        self._jobs: list[tuple[str, Node | None, int]] = []
        self._entries: list[int] = []

    def build(self, tree: Node, following: int) -> int:
        """Give the entry of a tree that goes on to a state."""
        self._entries.append(following)
        self._jobs.append(("node", tree, 0))
        while self._jobs:
            job, node, number = self._jobs.pop()
            getattr(self, f"_do_{job}")(node, number)
        return self._entries.pop()

    def _do_node(self, node: Node, _number: int) -> None:
        """Replace the state that follows, on top of the entries, by the node's entry."""
        following = self._entries.pop()
        made = self._made
        if isinstance(node, Char):
            self._entries.append(made.state(_CHAR, following, ranges=node.ranges))
        elif isinstance(node, Anchor):
            self._entries.append(
                made.state(_START if node.is_start else _END, following)
            )
        elif isinstance(node, Choice):
            self._choose(node, following)
        elif isinstance(node, Repeat):
            self._repeat(node, following)
        else:
            self._entries.append(following)
            # The first to be done is the last of the sequence: it is built from its end.
            self._jobs += [("node", part, 0) for part in node.parts]

    def _choose(self, node: Choice, following: int) -> None:
        self._jobs.append(("join", None, len(node.options)))
        for option in node.options:
            self._jobs.append(("node", option, 0))
            self._jobs.append(("push", None, following))

    def _do_push(self, _node: None, state: int) -> None:
        self._entries.append(state)

    def _do_join(self, _node: None, count: int) -> None:
        targets = self._entries[-count:]
        del self._entries[-count:]
        self._entries.append(self._made.state(_SPLIT, *targets))

    def _repeat(self, node: Repeat, following: int) -> None:
        """Write counts out: the copies that are needed, then those that are optional or a loop."""
        self._entries.append(following)
        self._jobs += [("node", node.inner, 0)] * node.least
        if node.most is None:
            loop = self._made.state(_SPLIT, following)
            self._jobs.append(("loop", None, loop))
            self._jobs.append(("node", node.inner, 0))
            self._jobs.append(("push", None, loop))
            return
        for _ in range(node.most - node.least):
            self._jobs.append(("maybe", None, following))
            self._jobs.append(("node", node.inner, 0))

    def _do_loop(self, _node: None, loop: int) -> None:
        """Close a loop: its body leads back, and so does what comes before."""
        self._made.targets[loop].append(self._entries.pop())
        self._entries[-1] = loop

    def _do_maybe(self, _node: None, following: int) -> None:
        """Make what is on top optional."""
        self._entries.append(self._made.state(_SPLIT, self._entries.pop(), following))
