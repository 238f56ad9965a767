"""The renderer of benchmark files: templates filled in from a sample, after worked examples where there are some."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.domain.errors import BenchmarkError, TemplateLimitError
from proctor.domain.identity import digest
from proctor.domain.message import Json, Message, Part, Prompt, Text
from proctor.domain.sample import Sample
from proctor.prompts.choices import LETTERS, Layout, lay_out, letters_for
from proctor.prompts.json_input import read_json
from proctor.prompts.template import Template
from proctor.prompts.worked import PREAMBLE, Placement, WorkedExamples

RENDERER_VERSION = "1"
PLAIN = "{{ input }}"
TARGET = "{{ target }}"
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
    answer: str | None = None
    """How the answer of an example is written; it alone may use `target`, and `target_text` for a choice's words."""
    examples: WorkedExamples | None = None
    placement: Placement = "turns"
    before_answer: str = "\n"
    between: str = "\n\n"
    """Between question and answer, and between examples, where these are placed as text."""
    tools: tuple[Mapping[str, Json], ...] | str | None = None
    """The functions that may be called, or the metadata that holds them."""
    schema: Mapping[str, Json] | str | None = None
    """The JSON schema that answers must fit, or the metadata that holds it."""
    is_json_input: bool = False
    """Whether an input's text is JSON, whose fields templates may use."""
    _system: Template | None = field(init=False, repr=False, compare=False)
    _same_system: tuple[Message, ...] = field(init=False, repr=False, compare=False)
    """The system message of all samples, where it is one."""
    _user: Template = field(init=False, repr=False, compare=False)
    _user_choices: Template = field(init=False, repr=False, compare=False)
    _answer: Template = field(init=False, repr=False, compare=False)
    _shown: dict[int, tuple[tuple[Sample, ...], Any]] = field(
        init=False, repr=False, compare=False, default_factory=dict
    )
    """What examples look like, made once for each set of them."""

    def __post_init__(self) -> None:
        system = None if self.system is None else _compiled("prompt.system", self.system)
        object.__setattr__(self, "_system", system)
        parts = None if system is None else system.parts
        same = (Message("system", parts[0]),) if parts is not None and len(parts) == 1 else ()
        object.__setattr__(self, "_same_system", same)
        user = _compiled("prompt.user", PLAIN if self.user is None else self.user)
        object.__setattr__(self, "_user", user)
        object.__setattr__(self, "_user_choices", Template(WITH_CHOICES) if self.user is None else user)
        answer = _compiled("prompt.answer", TARGET if self.answer is None else self.answer)
        object.__setattr__(self, "_answer", answer)
        for template in (system, user):
            for name in (template.names or ()) if template else ():
                if name in self.hidden or name == "target":
                    raise BenchmarkError(f"a prompt may not use {{{{ {name} }}}}: that is the expected answer")

    @property
    def digest(self) -> str:
        values = [self.user, self.system, self.layout, dict(self.aliases), sorted(self.hidden), PLAIN, WITH_CHOICES]
        named = {"tools": self.tools, "schema": self.schema}
        further: dict[str, Json] = {name: value for name, value in named.items() if value is not None}
        if self.is_json_input:
            further["input"] = "json"
        if self.examples is not None:
            placed = [self.placement, self.before_answer, self.between]
            further["examples"] = [self.answer, placed, self.examples.digest]
        return digest(["template", RENDERER_VERSION, values, *([further] if further else [])])

    @property
    def can_fail(self) -> bool:
        """Whether a template uses more than what every sample has, or examples have yet to be read."""
        if self.examples is not None or isinstance(self.tools, str) or isinstance(self.schema, str):
            return True
        templates = [self._user, *([self._system] if self._system else [])]
        return any(t.names is None or not set(t.names) <= {*NAMES, *self.aliases} for t in templates)

    def render(self, sample: Sample) -> Prompt:
        system = self._system_messages(sample)
        tools = self._tools(sample, self.tools) if isinstance(self.tools, str) else self.tools or ()
        schema = self._schema(sample, self.schema) if isinstance(self.schema, str) else self.schema
        shown = self.examples.of(sample) if self.examples is not None else ()
        if self.placement == "text" and isinstance(sample.input, str):
            asked = Message("user", self._as_text(shown) + self.question(sample))
            return Prompt((*system, *_with_files((asked,), sample.files)), tools, schema)
        turns = self._as_turns(shown)
        if not isinstance(sample.input, str):
            return Prompt(system + turns + _with_files(sample.input, sample.files), tools, schema)
        return Prompt((*system, *turns, self._asked(sample)), tools, schema)

    def _system_messages(self, sample: Sample) -> tuple[Message, ...]:
        if self._system is None:
            return ()
        return self._same_system or (Message("system", self._fill(self._system, sample, "system")),)

    def _asked(self, sample: Sample) -> Message:
        asked = Message("user", self.question(sample))
        return _with_files((asked,), sample.files)[0] if sample.files else asked

    def question(self, sample: Sample) -> str:
        """The user's message for a sample, without anything before it."""
        template = self._user_choices if sample.choices else self._user
        return self._fill(template, sample, "user")

    def written_answer(self, sample: Sample) -> str:
        """The sample's expected answer in the form that examples show."""
        if not sample.targets:
            raise BenchmarkError(f"The example {sample.id!r} has no target, so its answer cannot be shown.")
        target = sample.targets[0]
        place = LETTERS.find(target) if len(target) == 1 else -1
        text = sample.choices[place] if 0 <= place < len(sample.choices) else target
        further = {"target": target, "targets": list(sample.targets), "target_text": text}
        return self._fill(self._answer, sample, "answer", further)

    def _as_turns(self, shown: tuple[Sample, ...]) -> tuple[Message, ...]:
        if not shown:
            return ()
        known = self._shown.get(id(shown))
        if known is None:
            made = tuple(message for example in shown for message in self._turn(example))
            # The examples are kept beside what they look like, so that their identity is not given to others.
            known = self._shown[id(shown)] = (shown, made)
        messages: tuple[Message, ...] = known[1]
        return messages

    def _turn(self, example: Sample) -> tuple[Message, Message]:
        return self._asked(example), Message("assistant", self.written_answer(example))

    def _as_text(self, shown: tuple[Sample, ...]) -> str:
        if not shown:
            return ""
        known = self._shown.get(id(shown))
        if known is None:
            if any(one.files for one in shown):
                raise BenchmarkError("prompt.examples: examples that bring files can only be placed as turns.")
            preamble = shown[0].metadata.get(PREAMBLE)
            texts = [str(preamble)] if preamble else []
            texts += [f"{self.question(one)}{self.before_answer}{self.written_answer(one)}" for one in shown]
            known = self._shown[id(shown)] = (shown, "".join(text + self.between for text in texts))
        text: str = known[1]
        return text

    def _tools(self, sample: Sample, name: str) -> tuple[Mapping[str, Json], ...]:
        listed = sample.metadata.get(name)
        if not isinstance(listed, list | tuple) or not all(isinstance(tool, Mapping) for tool in listed):
            raise BenchmarkError(f"prompt.tools: {name!r} of the sample {sample.id!r} is not a list of functions.")
        return tuple(listed)

    def _schema(self, sample: Sample, name: str) -> Mapping[str, Json]:
        found = sample.metadata.get(name)
        if not isinstance(found, Mapping):
            raise BenchmarkError(f"prompt.schema: {name!r} of the sample {sample.id!r} is not a JSON schema.")
        return found

    def _fill(self, template: Template, sample: Sample, field_name: str, more: Mapping[str, Any] | None = None) -> str:
        parts = template.parts
        if parts is not None and len(parts) == 1:
            return parts[0]
        if parts == _ONLY_INPUT and type(sample.input) is str:
            return sample.input
        try:
            return template.render({**self._variables(template, sample), **(more or {})})
        except TemplateLimitError as fault:
            raise TemplateLimitError(f"prompt.{field_name}: {fault} (sample {sample.id!r}).") from fault
        except BenchmarkError as fault:
            raise BenchmarkError(
                f"prompt.{field_name}: {fault} (sample {sample.id!r}).{self._offer(sample)}"
            ) from fault

    def _variables(self, template: Template, sample: Sample) -> dict[str, Any]:
        further = {key: value for key, value in sample.metadata.items() if key not in self.hidden and key != "target"}
        variables: dict[str, Any] = {**further, "metadata": further}
        names = set(NAMES) if template.names is None else set(template.names)
        for name in names & _READERS.keys():
            variables[name] = self._read(name, sample)
        if "choice_lines" in names:
            variables["choice_lines"] = lay_out(sample.choices, self.layout)
        for alias, name in self.aliases.items():
            if alias not in NAMES:
                variables[alias] = self._read(name, sample)
        return variables

    def _read(self, name: str, sample: Sample) -> Any:
        if name == "input" and self.is_json_input:
            return read_json(sample.input_text)
        return _READERS[name](sample)

    def _offer(self, sample: Sample) -> str:
        names = sorted({*NAMES, *self.aliases, *(k for k in sample.metadata if k not in self.hidden)})
        return f" A template may use: {', '.join(names)}."


def _with_files(messages: tuple[Message, ...], files: tuple[Part, ...]) -> tuple[Message, ...]:
    """The messages, the last of the user's with the files before its words."""
    last = max((place for place, message in enumerate(messages) if message.role == "user"), default=None)
    if not files or last is None:
        return messages
    said = messages[last].content
    words = (Text(said),) if isinstance(said, str) else said
    return (*messages[:last], Message("user", (*files, *words)), *messages[last + 1 :])


def _compiled(field_name: str, source: str) -> Template:
    try:
        return Template(source)
    except BenchmarkError as mistake:
        raise BenchmarkError(f"{field_name}: {mistake}") from mistake
