"""Templates: the quick way gives what Jinja2 would give."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from proctor.domain.errors import BenchmarkError
from proctor.domain.text import storable
from proctor.prompts.template import Template

NAMES = ["input", "category", "x1", "_y", "class", "range", "none", "self", "choices"]
pieces = st.one_of(
    st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=8),
    st.sampled_from(["\n", "\r\n", "\r", "\n\n", "{", "}", "}}", "{ {", "%}", "#}", "%", "# x", "##", "-", "\t"]),
    st.builds(
        lambda name, before, after: f"{{{{{before}{name}{after}}}}}",
        st.sampled_from(NAMES),
        st.sampled_from(["", " ", "\n", "\t ", "\u00a0", "-", "+"]),
        st.sampled_from(["", " ", " \r\n", "-", " | upper"]),
    ),
)
values = st.one_of(st.text(max_size=10), st.integers(), st.floats(), st.none(), st.lists(st.text(max_size=3)))


@given(st.lists(pieces, max_size=8).map("".join), st.fixed_dictionaries(dict.fromkeys(NAMES, values)))
@example("a\r\n{{ input }}\r\n", dict.fromkeys(NAMES, "{{ x1 }}"))
@example("{{{ input }}", dict.fromkeys(NAMES, "v"))
@example("{ {{ input }}{", dict.fromkeys(NAMES, "v"))
@example("{{ none }}", dict.fromkeys(NAMES, "v"))
@example("{{ range }}{{ class }}", dict.fromkeys(NAMES, "v"))
def test_a_template_renders_exactly_as_jinja2_renders_it(source: str, variables: dict[str, object]) -> None:
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    environment.globals.clear()
    try:
        expected = environment.from_string(source).render(variables)
    except Exception:  # noqa: BLE001 (whatever Jinja2 makes of it)
        with pytest.raises(BenchmarkError):
            Template(source).render(variables)
        return
    if "self" in source and "<TemplateReference" in expected:
        return  # an object of Jinja2's own, with an address in its text
    # What Jinja2 fills in is made storable here; what needs no Jinja2 is so already, or is refused with its sample.
    assert storable(Template(source).render(variables)) == storable(expected)


def test_a_plain_template_does_not_load_jinja2() -> None:
    code = (
        "import sys; from proctor.prompts.template import Template; "
        "print(Template('Q: {{ input }}\\n').render({'input': 'x'}), 'jinja2' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Q: x False\n"


def test_logic_is_jinja2s() -> None:
    template = Template("{% for choice in choices %}{{ loop.index }}. {{ choice }}\n{% endfor %}")
    assert template.render({"choices": ["a", "b"]}) == "1. a\n2. b\n"
    assert template.names is None


def test_a_name_without_a_value_is_an_error_with_its_name() -> None:
    for source in ("{{ nothing }}", "{{ nothing | upper }}"):
        with pytest.raises(BenchmarkError, match="nothing"):
            Template(source).render({"input": "x"})


def test_data_is_never_taken_for_a_template() -> None:
    assert Template("{{ input }}").render({"input": "{{ secret }}{% raw %}"}) == "{{ secret }}{% raw %}"


@pytest.mark.parametrize(
    "source", ["{{ ''.__class__.__mro__ }}", "{{ input.__init__.__globals__ }}", "{{ lipsum }}", "{{ cycler }}"]
)
def test_templates_cannot_reach_into_python(source: str) -> None:
    with pytest.raises(BenchmarkError):
        Template(source).render({"input": "x"})


def test_templates_cannot_change_what_they_are_given() -> None:
    given_list = ["a"]
    with pytest.raises(BenchmarkError):
        Template("{{ choices.append('b') }}").render({"choices": given_list})
    assert given_list == ["a"]


def test_a_mistake_in_a_template_names_its_line() -> None:
    with pytest.raises(BenchmarkError, match="line 2"):
        Template("a\n{% if %}")
