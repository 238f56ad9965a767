"""MBPP by its published protocol: the sample's asserts, one test each; judged from another process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from proctor.domain.errors import ScorerError
from proctor.domain.message import Json
from proctor.domain.response import Response
from proctor.domain.sample import Sample
from proctor.domain.sandbox import Case, Check
from proctor.domain.score import Score
from proctor.domain.scorer import traits
from proctor.scorers.code.extraction import extract_function
from proctor.scorers.code.humaneval import field_of
from proctor.scorers.code.judged import Sandboxed, doing_nothing, fenced, judged, lacking
from proctor.scorers.code.syntax import functions_and_classes, imported_names, parse, used_names
from proctor.scorers.options import build, version_of

NAME = "mbpp"
REVISION = "2"


@traits(has_votes=False)
def create(**options: Json) -> Mbpp:
    return build(Mbpp, NAME, options)


def tested_names(reference: str, tests: Sequence[str]) -> list[str]:
    """What the reference solution defines and the tests use: the names an answer must bring, the function first."""
    tree = parse(reference)
    trees = [parse(test) for test in tests]
    used = set().union(*(used_names(tree) for tree in trees if tree is not None))
    return [name for name in (functions_and_classes(tree) if tree else []) if name in used]


def used_imports(reference: str, tests: Sequence[str]) -> list[str]:
    """The reference's imports of names that the tests use: MBPP/596 asks `sys` for what it expects."""
    trees = [tree for test in tests if (tree := parse(test)) is not None]
    used = set().union(*map(used_names, trees))
    return [text for name, text in imported_names(parse(reference)).items() if name in used]


def mbpp_check(code: str, reference: str, tests: Sequence[str], imports: Sequence[str] = ()) -> Check:
    """Only functions and classes of the reference come from the submission; what it imports, the tests import."""
    names = tested_names(reference, tests)
    return Check(
        submission=code,
        cases=tuple(Case(f"assert {number}", test) for number, test in enumerate(tests, 1)),
        prelude="\n".join([*imports, *used_imports(reference, tests)]),
        remote={name: name for name in names},
        is_closed=True,
        is_fail_fast=False,
    )


@dataclass(frozen=True, kw_only=True)
class Mbpp(Sandboxed):
    """1 when every assert holds; needs code, test_list and test_imports (or test_setup_code) in the metadata."""

    @property
    def name(self) -> str:
        return NAME

    @property
    def version(self) -> str:
        return version_of(self, REVISION)

    def golds(self, sample: Sample) -> tuple[str, str] | None:
        gold, tests = sample.metadata.get("code"), sample.metadata.get("test_list")
        if not isinstance(gold, str) or not isinstance(tests, list | tuple):
            return None
        names = tested_names(gold, tests)
        return (fenced(gold), doing_nothing(names[-1])) if names else None

    def obstacle(self, sample: Sample) -> str | None:
        tests = sample.metadata.get("test_list")
        if not isinstance(tests, list | tuple) or not tests:
            return "its metadata has no list 'test_list'"
        return lacking(sample, "code")

    async def score(self, sample: Sample, response: Response) -> Score:
        tests = sample.metadata.get("test_list")
        if not isinstance(tests, list | tuple) or not tests:
            raise ScorerError(f"The sample {sample.id} has no test_list, which the scorer needs in its metadata.")
        reference = field_of(sample, "code")
        setup = sample.metadata.get("test_setup_code") or ""
        imports = [*(sample.metadata.get("test_imports") or []), *([setup] if setup else [])]
        names = tested_names(reference, tests)
        found = extract_function(response.text, names[-1] if names else "")
        return await judged(self, NAME, mbpp_check(found.code, reference, tests, imports), found)
