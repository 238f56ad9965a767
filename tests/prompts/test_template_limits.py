"""Templates of strangers: bounded in size, time and memory, and the same text as Jinja2's otherwise."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jinja2 import StrictUndefined
from jinja2.sandbox import ImmutableSandboxedEnvironment

from commands import Cli
from fakes.descriptors import many_open_files
from fakes.folders import write_shadowing_modules
from fakes.loopback import Exchange, Loopback
from models.asking import ask, make, prompt
from proctor.domain.errors import BenchmarkError, RequestRejectedError, RunError, TemplateLimitError
from proctor.prompts.template import MAX_SOURCE_LENGTH, Template
from proctor.prompts.template_process import CPU_SECONDS, TemplateProcess, fill_in

DOUBLED = "{% set x = 'aaaaaaaaaaaaaaaa' %}" + "{% set x = x ~ x %}" * 40 + "{{ x }}"
NESTED = "{% for a in t %}{% for b in t %}{% for c in t %}{% endfor %}{% endfor %}{% endfor %}"
REPEATED = "{% for a in t %}{{ t }}{{ t }}{% endfor %}"
HOSTILE = [
    "{{ 'a' * 200000000 }}",
    "{{ ['a'] * 2000000000 }}",
    "{{ 'a'.ljust(2000000000) }}",
    "{{ '%2000000000d' % 1 }}",
    "{{ '{:2000000000}'.format(1) }}",
    "{{ 'a' | center(2000000000) }}",
    "{{ t | replace('a', t) | replace('a', t) | replace('a', t) }}",
    "{{ t | join(t) | join(t) }}",
    "{{ (10 ** 10) ** (10 ** 10) }}",
    "{% set x %}{{ t }}{{ t }}{% endset %}" + "{% set x %}{{ x }}{{ x }}{% endset %}" * 40 + "{{ x }}",
    "{% set x = ['a', 'b'] %}" + "{% set x = [x, x] %}" * 40 + "{{ x }}",
    "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}{{ m(60) }}",
    REPEATED,
    DOUBLED,
    NESTED,
]


@pytest.fixture
def process() -> Iterator[TemplateProcess]:
    """With a tenth of the usual time: what never ends need not be waited for longer."""
    started = TemplateProcess(cpu_seconds=CPU_SECONDS / 10)
    yield started
    started.close()


@pytest.mark.parametrize("source", HOSTILE, ids=lambda source: source[:40])
def test_a_template_that_grows_out_of_hand_is_ended_and_the_next_is_filled_in(
    source: str, process: TemplateProcess
) -> None:
    with pytest.raises((TemplateLimitError, ValueError)) as caught:
        process.fill_in("benchmark", source, {"t": "a" * 5_000})
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 1_400
    assert process.fill_in("benchmark", "{{ 'ab' * n }}", {"n": 3}) == "ababab"


@pytest.mark.parametrize(("source", "is_quick"), [(NESTED, False), (REPEATED, True)])
def test_such_a_template_is_a_mistake_of_its_benchmark_and_the_next_is_filled_in(source: str, is_quick: bool) -> None:
    template = Template(source)
    assert template.is_quick == is_quick
    with pytest.raises(BenchmarkError, match="the template cannot be filled in: it "):
        template.render({"t": "a" * 5_000})
    assert Template("{{ 'ab' * n }}").render({"n": 3}) == "ababab"


def test_a_run_with_many_connections_has_its_templates_filled_in_too(process: TemplateProcess) -> None:
    with many_open_files():
        assert process.fill_in("benchmark", "{{ 'ab' * n }}", {"n": 3}) == "ababab"


class Sleeping:
    """A value whose reading takes time, but no processor."""

    def __reduce__(self) -> tuple[object, tuple[float]]:
        return time.sleep, (1.0,)


def test_only_the_time_that_a_template_computes_is_limited(process: TemplateProcess) -> None:
    assert process.fill_in("benchmark", "{{ 'ab' * n }}", {"n": 3, "slow": Sleeping()}) == "ababab"
    with pytest.raises(TemplateLimitError, match=r"more than 0\.5 s of processor time"):
        process.fill_in("benchmark", NESTED, {"t": "a" * 5_000})


def test_nothing_is_imported_from_the_folder_that_a_benchmark_is_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, process: TemplateProcess
) -> None:
    imported = write_shadowing_modules(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert process.fill_in("benchmark", "{{ 'ab' * n }}", {"n": 3}) == "ababab"
    assert not imported.exists()


def test_a_process_that_does_not_start_is_no_mistake_of_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RunError, match="did not start"):
        TemplateProcess().fill_in("benchmark", "{{ 'ab' * n }}", {"n": 3})


QUICK = [
    "{{ none_of_it | default('x') }}{{ cs | join(', ') }}",
    "{% if a is defined %}{{ a }}{% else %}none{% endif %}",
    "{% for c in cs %}{{ loop.index }}. {{ c | trim }}{% if not loop.last %}, {% endif %}{% endfor %}",
    "{{ a + ' ' + cs[0] ~ d['k'] }}",
    "{{ a.strip().upper() }} {{ ', '.join(cs) }} {{ cs | length }} {{ d | tojson }}",
    '{% set w = {"x": "y"} %}{{ w["x"] }}{{ a[:2] }}{{ a if cs else "no" }}',
]


@pytest.mark.parametrize("source", QUICK)
def test_what_cannot_grow_is_filled_in_at_once_and_alike_in_both_ways(source: str) -> None:
    variables = {"a": " text ", "cs": ["one", "two "], "d": {"k": "v"}}
    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, autoescape=False)
    environment.globals.clear()
    expected = environment.from_string(source).render(variables)
    template = Template(source)
    assert template.is_quick
    assert template.render(variables) == expected == fill_in("benchmark", source, variables)


def test_the_templates_of_the_catalogue_are_filled_in_at_once() -> None:
    import yaml

    import proctor.catalog

    def texts(value: Any) -> list[str]:
        if isinstance(value, dict):
            return [text for item in value.values() for text in texts(item)]
        if isinstance(value, list):
            return [text for item in value for text in texts(item)]
        return [value] if isinstance(value, str) and ("{{" in value or "{%" in value) else []

    folder = Path(next(iter(proctor.catalog.__path__)))
    found = [text for path in folder.glob("*.yaml") for text in texts(yaml.safe_load(path.read_text()))]
    assert len(found) > 10
    assert [text for text in found if not Template(text).is_quick] == []


def test_half_a_surrogate_pair_in_a_template_is_replaced() -> None:
    assert Template("{{ '\\ud800' }}{{ a }}").render({"a": "x"}) == "\ufffdx"


def test_a_template_that_is_too_long_or_too_deep_or_uses_unknown_filters_is_a_mistake() -> None:
    for source in ("{% if a %}" + "x" * MAX_SOURCE_LENGTH + "{% endif %}", "{{ " + "(" * 5_000 + ")" * 5_000 + " }}"):
        with pytest.raises(BenchmarkError, match=r"characters|deeply|mistake"):
            Template(source)
    with pytest.raises(BenchmarkError, match="there is no filter 'nothing'"):
        Template("{{ a | nothing }}")


def test_a_benchmark_with_such_a_template_is_refused_in_one_line(cli: Cli) -> None:
    Path("rows.jsonl").write_text((json.dumps({"input": "x", "target": "y"}) + "\n") * 1_000)
    document = {
        "name": "big",
        "dataset": {"source": "rows.jsonl"},
        "prompt": {"user": "{{ input }}{{ 'a' * 200000000 }}"},
        "scorers": ["exact"],
    }
    Path("big.yaml").write_text(json.dumps(document))
    ended = cli("run", "big.yaml", "-m", "demo/strong")
    assert ended.code == 2
    assert "prompt.user: the template cannot be filled in: it " in ended.error


def test_an_agents_body_is_bounded_and_does_not_hold_up_other_requests() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.reply_json(200, {"answer": "7"})

    with Loopback(answer) as server:
        slow = make({"model": "http/", "url": server.url, "body": "{% set t = range(9999) %}" + NESTED})
        quick = make({"model": "http/", "url": server.url})

        async def both() -> float:
            asked = asyncio.create_task(slow.respond(prompt(), {}, timeout_seconds=60))
            await asyncio.sleep(0)
            started = time.monotonic()
            assert (await quick.respond(prompt(), {}, timeout_seconds=60)).text == "7"
            assert not asked.done()
            with pytest.raises(RequestRejectedError, match="it takes more than"):
                await asked
            await slow.close()
            await quick.close()
            return time.monotonic() - started

        asyncio.run(both())
        body = '{"q": {{ (prompt * 2) | tojson }}}'
        assert ask(make({"model": "http/", "url": server.url, "body": body})).text == "7"
