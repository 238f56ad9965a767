"""The sample's own tests: asserts, or test files with functions, classes and unittest cases."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from proctor.domain.errors import ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import Case, Check
from proctor.domain.score import Score
from proctor.domain.scorer import Control, traits
from proctor.scorers.code.extraction import Extracted, extract_function, extract_program
from proctor.scorers.code.judged import Sandboxed, doing_nothing, judged, refusal
from proctor.scorers.code.syntax import only_defines, parse
from proctor.scorers.options import build, version_of

NAME = "tests"
REVISION = "2"


@traits(has_votes=False)
def create(**options: Json) -> CodeTests:
    return build(CodeTests, NAME, options)


def _cases(metadata: Mapping[str, Any], field: str) -> tuple[Case, ...]:
    """Text is one test; a list is one test each; a mapping names them."""
    given = metadata.get(field)
    if isinstance(given, str) and given.strip():
        return (Case(field, given),)
    if isinstance(given, list | tuple):
        return tuple(Case(f"test {number}", str(text)) for number, text in enumerate(given, 1))
    if isinstance(given, Mapping):
        return tuple(Case(str(name), str(text)) for name, text in given.items())
    return ()


@dataclass(frozen=True, kw_only=True)
class CodeTests(Sandboxed):
    """1 when every test passes; the submission is imported as `module`, or its names are used as they are."""

    field: str = "tests"
    """Where the tests are in the sample's metadata: text, a list, or a mapping from name to text."""
    kind: Literal["asserts", "files"] = "asserts"
    """`files`: run the test functions, Test classes and unittest cases they define, one by one."""
    module: str = "solution"
    entry_point: str = ""
    """The function the answer must define; empty: the sample's `entry_point`, else the whole program is taken."""
    live_objects: bool = False
    """Let the submission's objects answer comparisons with the tests' values; the verdict is then marked forgeable."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def obstacle(self, sample: Sample) -> str | None:
        cases = _cases(sample.metadata, self.field)
        if not cases:
            return f"its metadata has no tests in {self.field!r}"
        trees = (parse(case.source) for case in cases) if self.kind == "asserts" else ()
        if any(tree is not None and only_defines(tree) for tree in trees):
            return (
                f"any answer would pass: its tests in {self.field!r} define functions and call none; say 'kind: files'"
            )
        return None

    @property
    def is_forgeable(self) -> bool:
        return self.live_objects or super().is_forgeable

    def control(self, sample: Sample) -> Control:
        """The sample's target, where it is code: a reference solution; else the function with nothing in it."""
        target = Response(next(iter(sample.targets), ""))
        if refusal(NAME, self._found(sample, target)) is None:
            return Control(target, "the target")
        entry_point = self._entry_point(sample)
        if not entry_point:
            return super().control(sample)
        return Control(Response(doing_nothing(entry_point)), "a function that does nothing")

    async def score(self, sample: Sample, response: Response) -> Score:
        cases = _cases(sample.metadata, self.field)
        if not cases:
            raise ScorerError(f"The sample {sample.id} has no tests in its metadata field {self.field!r}.")
        found = self._found(sample, response)
        check = Check(
            submission=found.code,
            cases=cases,
            prelude=str(sample.metadata.get("test_setup") or ""),
            remote={name: name for name in (self._entry_point(sample),) if name},
            module=self.module,
            is_collecting=self.kind == "files",
            is_live=self.live_objects,
        )
        return await judged(self, NAME, check, found)

    def _entry_point(self, sample: Sample) -> str:
        return self.entry_point or str(sample.metadata.get("entry_point") or "")

    def _found(self, sample: Sample, response: Response) -> Extracted:
        entry_point = self._entry_point(sample)
        if entry_point:
            return extract_function(response.text, entry_point, str(sample.metadata.get("prompt") or ""))
        return extract_program(response.text)
