"""What a plan varies: every combination of the values is an evaluation of its own."""

from collections.abc import Mapping
from typing import Annotated, Any, Generic, Self, TypeVar

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    Tag,
    model_serializer,
    model_validator,
)

from proctor.domain.fields import Frozen, Number, Whole, some

T = TypeVar("T")


class PromptText(Frozen):
    """A prompt instead of a benchmark's own; a part that is left out stays the benchmark's."""

    name: str = Field(min_length=1, max_length=60)
    """What a table calls it."""
    system: str | None = None
    user: str | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.system is None and self.user is None:
            raise ValueError(f"the prompt {self.name!r} says nothing: give it 'user', 'system' or both")
        return self


def _distinct(values: tuple[T, ...]) -> tuple[T, ...]:
    names = [value.name if isinstance(value, PromptText) else value for value in values]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"{name!r} is listed twice")
    return values


Shots = Annotated[Whole, Field(ge=0)]
Temperature = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, le=1)]
Count = Annotated[Whole, Field(ge=1)]
Name = Annotated[str, StringConstraints(min_length=1)]
Checked = AfterValidator(lambda values: _distinct(some(values)))


def _kind_of_prompt(value: object) -> str:
    # A mistake in the one is then not told as a mistake in the other; what is no word is no field's name.
    return "a file" if isinstance(value, str) else "a prompt"


Prompt = Annotated[
    Annotated[Name, Tag("a file")] | Annotated[PromptText, Tag("a prompt")], Discriminator(_kind_of_prompt)
]


class _Axes(Frozen):
    def axes(self) -> dict[str, tuple[Any, ...]]:
        """What is varied, each with its values, in the order of the fields."""
        found = {name: getattr(self, name) for name in type(self).model_fields}
        return {name: values for name, values in found.items() if values is not None}


class BenchmarkMatrix(_Axes):
    """What may be varied of how samples are put."""

    variant: Annotated[tuple[Name, ...], Checked] | None = None
    prompt: Annotated[tuple[Prompt, ...], Checked] | None = None
    """A file, or the prompt itself."""
    shots: Annotated[tuple[Shots, ...], Checked] | None = None


class ModelMatrix(_Axes):
    """What may be varied of what is sent to a model."""

    temperature: Annotated[tuple[Temperature, ...], Checked] | None = None
    top_p: Annotated[tuple[Share, ...], Checked] | None = None
    max_tokens: Annotated[tuple[Count, ...], Checked] | None = None
    reasoning_effort: Annotated[tuple[Name, ...], Checked] | None = None


class Matrix(BenchmarkMatrix, ModelMatrix):
    """What a whole plan may vary."""


M = TypeVar("M", bound=_Axes)


class Varied(Frozen, Generic[M]):
    """Something of a plan that may be varied; where nothing is, nothing is written of it."""

    matrix: M | None = None

    @model_serializer(mode="wrap")
    def _written(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        values: dict[str, Any] = handler(self)
        return {name: value for name, value in values.items() if name != "matrix" or value is not None}

    def refuse_given(self, given: Mapping[str, Any]) -> None:
        """Raise ValueError for what is both set to one value and varied."""
        for name in self.axes():
            if name in given:
                raise ValueError(f"{name!r} is set to {given[name]!r} and also varied by 'matrix': leave one out")

    def axes(self) -> dict[str, tuple[Any, ...]]:
        """What is varied here, each with its values."""
        return {} if self.matrix is None else self.matrix.axes()
