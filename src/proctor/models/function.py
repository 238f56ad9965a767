"""A Python function as a model: `python/my_module:answer`."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import sys
import threading
import time
from collections.abc import Awaitable, Callable, Mapping
from contextvars import copy_context
from hashlib import blake2b
from importlib.machinery import PathFinder
from pathlib import Path
from types import ModuleType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from proctor.domain.errors import ModelError, NotFoundError, PlanError, ProviderFaultError, RequestRejectedError
from proctor.domain.message import Json, Prompt
from proctor.domain.model import ModelIdentity
from proctor.domain.price import reported
from proctor.domain.response import Response
from proctor.domain.text import message_of
from proctor.models.figures import sound
from proctor.models.parts import plain_text
from proctor.models.provider import Provider
from proctor.models.settings import read_settings

ADAPTER_VERSION = "1"


class FunctionSettings(Struct, frozen=True):
    cache: bool = False
    """Take answers to the same request from the cache: whether what the function uses has changed cannot be seen."""


PROVIDER = Provider(
    "python", "A Python function, sync or async: python/my_module:answer", settings=FunctionSettings.__struct_fields__
)

_source_digests: dict[str, str] = {}


class FunctionModel:
    """Calls a function with the prompt's text, or with the Prompt if its parameter is annotated so."""

    def __init__(self, name: str, function: Callable[..., Any], source_digest: str, *, is_cached: bool = False) -> None:
        # Another source may answer otherwise, so it is another model to the cache.
        self.is_cached = is_cached
        self.identity = ModelIdentity("python", name, None, f"{ADAPTER_VERSION};source={source_digest}")
        self._name = f"python/{name}"
        self._function = function
        self._is_async = _is_async(function)
        self._wants_prompt, self._wants_options = _wants(function, self._name)

    async def respond(self, prompt: Prompt, options: Mapping[str, Json], *, timeout_seconds: float) -> Response:
        given = (prompt if self._wants_prompt else await plain_text(prompt, self._name),)
        named = {"options": dict(options)} if self._wants_options else {}
        try:
            async with asyncio.timeout(timeout_seconds) as limit:
                result, seconds = await self._call(given, named)
        except ModelError:
            raise
        except TimeoutError as error:
            if limit.expired():
                raise ProviderFaultError(f"{self._name} gave no answer within {timeout_seconds:g} s") from None
            raise self._raised(error) from error
        except Exception as error:
            raise self._raised(error) from error
        return self._response(result, seconds)

    async def _call(self, given: tuple[Any, ...], named: Mapping[str, Any]) -> tuple[Any, float]:
        """What the function gives, and the seconds it took: those of a thread's start and end are not its own."""
        if not self._is_async:
            result, seconds = await _in_thread(self._function, given, named)
            return (result, seconds) if not inspect.isawaitable(result) else await _awaited(result, seconds)
        return await _awaited(self._function(*given, **named))

    @property
    def unbounded(self) -> str | None:
        if self._wants_options:
            return None
        return "is a function that is not told max_tokens: give it a parameter 'options', and keep to what that holds"

    async def close(self) -> None:
        return None

    def _raised(self, error: Exception) -> ModelError:
        return RequestRejectedError(f"{self._name} raised {type(error).__name__}: {message_of(error)[:300]}")

    def _response(self, result: Any, seconds: float) -> Response:
        if isinstance(result, str):
            return Response(result, latency_seconds=seconds)
        if isinstance(result, Response):
            try:
                given = sound(result)
            except (AttributeError, TypeError) as error:
                raise RequestRejectedError(f"{self._name} returned a Response that is none: {error}") from None
            latency = seconds if given.latency_seconds is None else given.latency_seconds
            return replace(given, latency_seconds=latency, cost_basis=given.cost_basis or reported(given.cost_usd))
        raise RequestRejectedError(f"{self._name} returned {type(result).__name__}; expected text or a Response")


def create(name: str, settings: Mapping[str, Any], environment: Mapping[str, str], folder: Path) -> FunctionModel:  # noqa: ARG001
    given = read_settings(FunctionSettings, settings, PROVIDER.name)
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise PlanError(f"python/{name} names no function: write python/module:function.")
    module = _load(module_name, name, folder)
    function: Any = module
    for part in attribute.split("."):
        function = getattr(function, part, None)
    if not callable(function):
        known = [key for key, value in vars(module).items() if inspect.isfunction(value) and not key.startswith("_")]
        has = f"It has: {', '.join(sorted(known))}." if known else "It has no functions."
        raise NotFoundError(f"The module {module_name} has no function {attribute!r}. {has}")
    return FunctionModel(name, function, _source_digests[module_name], is_cached=given.cache)


def _load(module_name: str, name: str, folder: Path) -> ModuleType:
    """The module, from the working folder first; loaded again when its file has changed."""
    path = str(folder.resolve())
    sys.path.insert(0, path)
    try:
        importlib.invalidate_caches()
        known = sys.modules.get(module_name)
        if known is None:
            module = importlib.import_module(module_name)
        elif _is_stale(known, path):
            module = importlib.reload(known)
        else:
            module = known
    except ModuleNotFoundError as error:
        if error.name is None or module_name.partition(".")[0] != error.name.partition(".")[0]:
            raise PlanError(
                f"python/{name} cannot be loaded: it imports {error.name!r}, which is not installed."
            ) from None
        raise NotFoundError(f"No module {module_name!r} in {folder} or on PYTHONPATH (python/{name}).") from None
    except Exception as error:
        raise PlanError(f"python/{name} cannot be loaded: {type(error).__name__}: {error}") from error
    finally:
        # The function may import its neighbours later; at the end, the folder cannot shadow anything of ours.
        sys.path.remove(path)
        if path not in sys.path:
            sys.path.append(path)
    _source_digests[module_name] = _digest(module)
    return module


def _is_stale(module: ModuleType, path: str) -> bool:
    if module.__name__ in _source_digests:
        spec = PathFinder.find_spec(module.__name__, [path]) if "." not in module.__name__ else None
        has_moved = spec is not None and spec.origin != getattr(module, "__file__", None)
        return has_moved or _source_digests[module.__name__] != _digest(module)
    return False


def _digest(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    content = Path(file).read_bytes() if file else module.__name__.encode()
    return blake2b(content, digest_size=8).hexdigest()


def _is_async(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004


def _wants(function: Callable[..., Any], name: str) -> tuple[bool, bool]:
    """Whether the function takes the Prompt itself, and whether it takes the sampling options."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return False, False
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD, p.VAR_POSITIONAL)]
    required = [
        p
        for p in parameters
        if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD) and p.name != "options"
    ]
    if not positional or len(required) > 1 or (required and required[0].kind is inspect.Parameter.KEYWORD_ONLY):
        raise PlanError(f"{name} must take one argument, the prompt; its signature is {inspect.signature(function)}.")
    annotation = positional[0].annotation
    is_prompt = annotation is Prompt or (
        isinstance(annotation, str) and annotation.strip("'\"").split(".")[-1] == "Prompt"
    )
    return is_prompt, any(p.name == "options" for p in parameters[1:])


async def _awaited(result: Awaitable[Any], seconds: float = 0.0) -> tuple[Any, float]:
    started = time.perf_counter()
    try:
        return await result, seconds + time.perf_counter() - started
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:
        task = asyncio.current_task()
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            raise  # it is we who gave it up
        raise _as_exception(error) from error


def _as_exception(error: BaseException) -> Exception:
    """What a function raised, as something that ends neither the event loop nor a generator around it."""
    if isinstance(error, SystemExit):
        return RuntimeError(f"the function called exit({message_of(error)})")
    if isinstance(error, Exception) and not isinstance(error, StopIteration):
        return error
    return RuntimeError(f"{type(error).__name__}: {message_of(error)}")


async def _in_thread(
    function: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any]
) -> tuple[Any, float]:
    """Run and time it in a daemon thread: one that never returns can neither fill a pool nor keep a program alive."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[Any, float]] = loop.create_future()
    context = copy_context()

    def settle(result: Any, seconds: float, error: BaseException | None) -> None:
        if not future.done():
            future.set_result((result, seconds)) if error is None else future.set_exception(error)

    def work() -> None:
        result: Any = None
        error: BaseException | None = None
        started = time.perf_counter()
        try:
            result = context.run(function, *given, **named)
        except BaseException as caught:  # noqa: BLE001 - carried to the caller, who names it
            error = _as_exception(caught)
        seconds = time.perf_counter() - started
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, result, seconds, error)

    threading.Thread(target=work, daemon=True, name="proctor-function").start()
    return await future
