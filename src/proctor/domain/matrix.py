"""What a plan varies: every combination of the values is an evaluation of its own."""

from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from proctor.domain.fields import After, Bounds, Frozen, Number, OneOf, Whole, some

T = TypeVar("T")


class PromptText(Frozen, frozen=True, kw_only=True):
    """A prompt instead of a benchmark's own; a part that is left out stays the benchmark's."""

    name: Annotated[str, Bounds(min_length=1, max_length=60)]
    """What a table calls it."""
    system: str | None = None
    user: str | None = None

    def check(self) -> None:
        if self.system is None and self.user is None:
            raise ValueError(f"the prompt {self.name!r} says nothing: give it 'user', 'system' or both")


def _distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    names = [getattr(value, "name", value) for value in values]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is listed twice")
    return values


Shots = Annotated[Whole, Bounds(ge=0)]
Temperature = Annotated[Number, Bounds(ge=0)]
Share = Annotated[Number, Bounds(ge=0, le=1)]
Count = Annotated[Whole, Bounds(ge=1)]
Name = Annotated[str, Bounds(min_length=1)]
Checked = After(lambda values: _distinct(some(values)))


def _kind_of_prompt(value: object) -> str:
    # A mistake in the one is then not told as a mistake in the other; what is no word is no field's name.
    return "a file" if isinstance(value, str) else "a prompt"


Prompt = Annotated[Name | PromptText, OneOf(_kind_of_prompt, (("a file", Name), ("a prompt", PromptText)))]

Variants = Annotated[tuple[Name, ...], Checked] | None
Prompts = Annotated[tuple[Prompt, ...], Checked] | None
"""Files, or the prompts themselves."""
ManyShots = Annotated[tuple[Shots, ...], Checked] | None
Temperatures = Annotated[tuple[Temperature, ...], Checked] | None
Shares = Annotated[tuple[Share, ...], Checked] | None
Counts = Annotated[tuple[Count, ...], Checked] | None
Efforts = Annotated[tuple[Name, ...], Checked] | None


class _Axes(Frozen, frozen=True, kw_only=True):
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """What is varied, each with its values, in the order of the fields."""
        found = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: values for name, values in found.items() if values is not None}


class BenchmarkMatrix(_Axes, frozen=True, kw_only=True):
    """What may be varied of how samples are put."""

    variant: Variants = None
    prompt: Prompts = None
    shots: ManyShots = None


class ModelMatrix(_Axes, frozen=True, kw_only=True):
    """What may be varied of what is sent to a model."""

    temperature: Temperatures = None
    top_p: Shares = None
    max_tokens: Counts = None
    reasoning_effort: Efforts = None


class Matrix(_Axes, frozen=True, kw_only=True):
    """What a whole plan may vary: what a benchmark's may, and a model's."""

    temperature: Temperatures = None
    top_p: Shares = None
    max_tokens: Counts = None
    reasoning_effort: Efforts = None
    variant: Variants = None
    prompt: Prompts = None
    shots: ManyShots = None


class Varied(Frozen, frozen=True, kw_only=True):
    """Something of a plan that may be varied; where nothing is, nothing is written of it."""

    matrix: _Axes | None = None

    def is_written(self, name: str) -> bool:
        return name != "matrix" or self.matrix is not None

    def refuse_given(self, given: Mapping[str, Any]) -> None:
        """Raise ValueError for what is both set to one value and varied."""
        for name in self.axes():
            if name in given:
                raise ValueError(f"{name!r} is set to {given[name]!r} and also varied by 'matrix': leave one out")

    def axes(self) -> dict[str, tuple[Any, ...]]:
        """What is varied here, each with its values."""
        return {} if self.matrix is None else self.matrix.axes()
