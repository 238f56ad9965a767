"""The renderer of benchmark files: a system and a user template, filled in from a sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.domain.errors import BenchmarkError
from proctor.domain.identity import digest
from proctor.domain.message import Message, Prompt
from proctor.domain.sample import Sample
from proctor.prompts.choices import Layout, lay_out, letters_for
from proctor.prompts.template import Template

RENDERER_VERSION = "1"
PLAIN = "{{ input }}"
_ONLY_INPUT = ("", "input", "")
WITH_CHOICES = "{{ input }}\n\n{{ choice_lines }}\n\nAnswer with the letter of the right choice."


_READERS: Mapping[str, Callable[[Sample], Any]] = {
    "input": lambda sample: sample.input_text,
    "choices": lambda sample: list(sample.choices),
    "letters": lambda sample: list(letters_for(sample.choices)),
    "category": lambda sample: sample.category,
    "tags": lambda sample: dict(sample.tags),
    "id": lambda sample: sample.id,
}
NAMES = (*_READERS, "choice_lines", "metadata")
"""What every template may use; a sample's other fields come after these. The target is never among them."""


@dataclass(frozen=True, slots=True)
class TemplateRenderer:
    """Renders samples through templates; a sample that brings its own messages keeps them."""

    user: str | None = None
    """None: the input, followed by the choices where there are any."""
    system: str | None = None
    layout: Layout = "A."
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Further names for 'input', 'choices', 'category' and 'id': what the data calls them."""
    hidden: frozenset[str] = frozenset()
    """The data's names for the target: naming one in a template is a mistake, not a hint to the model."""
    _system: Template | None = field(init=False, repr=False, compare=False)
    _user: Template = field(init=False, repr=False, compare=False)
    _user_choices: Template = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        system = None if self.system is None else _compiled("prompt.system", self.system)
        object.__setattr__(self, "_system", system)
        user = _compiled("prompt.user", PLAIN if self.user is None else self.user)
        object.__setattr__(self, "_user", user)
        object.__setattr__(self, "_user_choices", Template(WITH_CHOICES) if self.user is None else user)
        for template in (system, user):
            for name in (template.names or ()) if template else ():
                if name in self.hidden or name == "target":
                    raise BenchmarkError(f"a prompt may not use {{{{ {name} }}}}: that is the expected answer")

    @property
    def digest(self) -> str:
        values = [self.user, self.system, self.layout, dict(self.aliases), sorted(self.hidden), PLAIN, WITH_CHOICES]
        return digest(["template", RENDERER_VERSION, values])

    @property
    def can_fail(self) -> bool:
        """Whether a template uses more than what every sample has."""
        templates = [self._user, *([self._system] if self._system else [])]
        return any(t.names is None or not set(t.names) <= {*NAMES, *self.aliases} for t in templates)

    def render(self, sample: Sample) -> Prompt:
        system = () if self._system is None else (Message("system", self._fill(self._system, sample, "system")),)
        if not isinstance(sample.input, str):
            return Prompt(system + sample.input)
        template = self._user_choices if sample.choices else self._user
        return Prompt((*system, Message("user", self._fill(template, sample, "user"))))

    def _fill(self, template: Template, sample: Sample, field_name: str) -> str:
        parts = template.parts
        if parts is not None and len(parts) == 1:
            return parts[0]
        if parts == _ONLY_INPUT and type(sample.input) is str:
            return sample.input
        try:
            return template.render(self._variables(template, sample))
        except BenchmarkError as fault:
            raise BenchmarkError(
                f"prompt.{field_name}: {fault} (sample {sample.id!r}).{self._offer(sample)}"
            ) from fault

    def _variables(self, template: Template, sample: Sample) -> dict[str, Any]:
        further = {key: value for key, value in sample.metadata.items() if key not in self.hidden and key != "target"}
        variables: dict[str, Any] = {**further, "metadata": further}
        names = set(NAMES) if template.names is None else set(template.names)
        for name in names & _READERS.keys():
            variables[name] = _READERS[name](sample)
        if "choice_lines" in names:
            variables["choice_lines"] = lay_out(sample.choices, self.layout)
        for alias, name in self.aliases.items():
            if alias not in NAMES:
                variables[alias] = _READERS[name](sample)
        return variables

    def _offer(self, sample: Sample) -> str:
        names = sorted({*NAMES, *self.aliases, *(k for k in sample.metadata if k not in self.hidden)})
        return f" A template may use: {', '.join(names)}."


def _compiled(field_name: str, source: str) -> Template:
    try:
        return Template(source)
    except BenchmarkError as mistake:
        raise BenchmarkError(f"{field_name}: {mistake}") from mistake
