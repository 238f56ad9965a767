"""Python functions as models."""

from __future__ import annotations

import asyncio
import sys
import threading
import time
from pathlib import Path
from textwrap import dedent

import pytest

from models.asking import ask, make, prompt
from proctor.domain.errors import (
    NotFoundError,
    PlanError,
    ProviderFaultError,
    RateLimitedError,
    RequestRejectedError,
)
from proctor.domain.response import FinishReason, Response, Usage

SOURCE = """
    from __future__ import annotations
    import asyncio
    import threading
    import time
    from proctor.domain.errors import RateLimitedError
    from proctor.domain.message import Prompt
    from proctor.domain.response import FinishReason, Response, Usage

    def shout(text): return text.upper()
    async def later(text: str) -> str:
        await asyncio.sleep(0)
        return "later " + text
    def roles(prompt: Prompt): return ",".join(m.role for m in prompt.messages)
    def whole(text): return Response("cut", FinishReason.LENGTH)
    def with_options(text, options): return repr(options)
    def thread_name(text): return threading.current_thread().name
    def hang(text): time.sleep(3600)
    async def hang_async(text): await asyncio.sleep(3600)
    def fails(text): raise KeyError("no such city")
    def times_out(text): raise TimeoutError("upstream")
    def leaves(text): raise SystemExit(3)
    def interrupts(text): raise KeyboardInterrupt("me")
    async def leaves_async(text): raise SystemExit(3)
    async def cancels_async(text): raise asyncio.CancelledError("me")
    async def ends_async(text): raise GeneratorExit("me")
    async def unknown_async(text): raise BaseException("\\ud800 half")
    class Wordless(BaseException):
        def __str__(self): raise KeyboardInterrupt
    def speechless(text): raise Wordless
    def busy(text): raise RateLimitedError("slow down", retry_after_seconds=2)
    def number(text): return 42
    def overpaid(text): return Response("x", cost_usd=-1.5, usage=Usage("3", 4))
    def wordless(text): return Response(None)
    def two(text, more): return text
    def none(): return ""
    class Agent:
        def __call__(self, text): return "agent " + text
        def method(self, text): return "method " + text
    agent = Agent()
    value = 3
"""


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    (tmp_path / "answers_for_tests.py").write_text(dedent(SOURCE))
    return tmp_path


def call(folder: Path, name: str, question: str = "hi", timeout: float = 20.0) -> str:
    return ask(make(f"python/answers_for_tests:{name}", folder=folder), question, {"seed": 1}, timeout).text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("interrupts", "KeyboardInterrupt: me"),
        ("leaves_async", r"exit\(3\)"),
        ("speechless", "Wordless: its message cannot be read: __str__ raised KeyboardInterrupt"),
        ("cancels_async", "CancelledError: me"),
        ("ends_async", "GeneratorExit: me"),
        ("unknown_async", "BaseException: \ufffd half"),
    ],
)
def test_nothing_that_a_function_raises_ends_the_run_or_is_waited_for(folder: Path, name: str, said: str) -> None:
    with pytest.raises(RequestRejectedError, match=said):
        call(folder, name, timeout=600.0)


def test_a_function_is_given_the_text_and_returns_the_answer(folder: Path) -> None:
    assert call(folder, "shout") == "HI"
    assert call(folder, "later") == "later hi"
    assert call(folder, "agent") == "agent hi"
    assert call(folder, "agent.method") == "method hi"


def test_a_parameter_annotated_prompt_gets_the_prompt(folder: Path) -> None:
    model = make("python/answers_for_tests:roles", folder=folder)
    assert ask(model, prompt("hi", system="be brief")).text == "system,user"


def test_a_parameter_called_options_gets_the_sampling_options(folder: Path) -> None:
    assert call(folder, "with_options") == "{'seed': 1}"


def test_a_response_is_kept_as_it_is_and_timed(folder: Path) -> None:
    response = ask(make("python/answers_for_tests:whole", folder=folder))
    assert response.finish_reason is FinishReason.LENGTH
    assert response.latency_seconds is not None


def test_a_plain_function_runs_in_a_thread_of_its_own(folder: Path) -> None:
    assert call(folder, "thread_name") != threading.current_thread().name


@pytest.mark.parametrize("name", ["hang", "hang_async"])
def test_a_function_that_does_not_return_is_given_up_at_the_time_limit(folder: Path, name: str) -> None:
    with pytest.raises(ProviderFaultError, match=rf"answers_for_tests:{name} gave no answer within 0.05 s"):
        call(folder, name, timeout=0.05)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("fails", "raised KeyError: 'no such city'"),
        ("times_out", "raised TimeoutError: upstream"),
        ("leaves", r"raised RuntimeError: the function called exit\(3\)"),
        ("number", "returned int; expected text or a Response"),
    ],
)
def test_what_goes_wrong_in_a_function_is_a_fault_and_not_an_answer(folder: Path, name: str, message: str) -> None:
    with pytest.raises(RequestRejectedError, match=message):
        call(folder, name)


def test_a_function_may_say_that_it_is_rate_limited(folder: Path) -> None:
    with pytest.raises(RateLimitedError) as caught:
        call(folder, "busy")
    assert caught.value.retry_after_seconds == 2


def test_mistakes_in_the_name_are_explained(folder: Path) -> None:
    with pytest.raises(NotFoundError, match="No module 'nowhere_at_all'"):
        make("python/nowhere_at_all:f", folder=folder)
    with pytest.raises(NotFoundError, match=r"no function 'shoot'. It has: busy, cancels_async, ends_async, fails"):
        make("python/answers_for_tests:shoot", folder=folder)
    with pytest.raises(NotFoundError, match="no function 'value'"):
        make("python/answers_for_tests:value", folder=folder)
    with pytest.raises(PlanError, match="write python/module:function"):
        make("python/answers_for_tests", folder=folder)
    for name in ("two", "none"):
        with pytest.raises(PlanError, match="must take one argument"):
            make(f"python/answers_for_tests:{name}", folder=folder)
    (folder / "broken_for_tests.py").write_text("1 +")
    with pytest.raises(PlanError, match="SyntaxError"):
        make("python/broken_for_tests:f", folder=folder)
    (folder / "lacking_for_tests.py").write_text("import not_installed_anywhere")
    with pytest.raises(PlanError, match="imports 'not_installed_anywhere'"):
        make("python/lacking_for_tests:f", folder=folder)
    with pytest.raises(PlanError, match="has no setting 'x'"):
        make("python/answers_for_tests:shout?x=1", folder=folder)


def test_a_changed_source_is_loaded_again_and_is_another_model(folder: Path) -> None:
    before = make("python/answers_for_tests:shout", folder=folder)
    same = make("python/answers_for_tests:shout", folder=folder)
    assert before.identity == same.identity
    (folder / "answers_for_tests.py").write_text("def shout(text): return 'new ' + text + ' and longer'")
    after = make("python/answers_for_tests:shout", folder=folder)
    assert ask(after, "hi").text == "new hi and longer"
    assert before.identity != after.identity


def test_the_folder_shadows_nothing_after_loading(folder: Path) -> None:
    make("python/answers_for_tests:shout", folder=folder)
    assert sys.path[0] != str(folder)
    assert sys.path[-1] == str(folder.resolve())


def test_figures_of_a_function_that_cannot_be_true_are_not_known(folder: Path) -> None:
    response = ask(make("python/answers_for_tests:overpaid", folder=folder))
    assert (response.usage, response.cost_usd, response.cost_basis) == (Usage(None, 4), None, None)
    with pytest.raises(RequestRejectedError, match="returned a Response that is none: a text was expected"):
        ask(make("python/answers_for_tests:wordless", folder=folder))


TIMED = """
import threading
has_begun, may_end, has_ended = threading.Event(), threading.Event(), threading.Event()
def answer(text):
    has_begun.set()
    may_end.wait(60)
    has_ended.set()
    return text
"""


def test_the_time_of_a_function_is_its_own_and_not_that_of_a_busy_program(tmp_path: Path) -> None:
    (tmp_path / "timed_model.py").write_text(TIMED)
    model = make("python/timed_model:answer", folder=tmp_path)
    module = sys.modules["timed_model"]

    async def keep_busy() -> None:
        while not module.has_begun.is_set():
            await asyncio.sleep(0.001)
        module.may_end.set()
        module.has_ended.wait(60)
        time.sleep(1)

    async def scenario() -> tuple[Response, float]:
        started = time.perf_counter()
        response, _ = await asyncio.gather(model.respond(prompt("hello"), {}, timeout_seconds=60), keep_busy())
        return response, time.perf_counter() - started

    response, whole = asyncio.run(scenario())
    assert response.latency_seconds is not None
    assert 0 < response.latency_seconds < whole - 0.9
