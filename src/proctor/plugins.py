"""Every extension point of Proctor: a kind and a name lead to what was registered under them, loaded when asked for.

A package adds its own through the entry-point group ``proctor.plugins``; the entry's name is ``kind.name``, for
example ``scorers.haiku = "my_package.haiku:create"``. Built-in features are registered in the same table, so a plugin
can do whatever they do. A plugin that fails is named and left out; only who asks for that very plugin gets an error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from proctor.domain.errors import NotFoundError, ProctorError, UserError, did_you_mean

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "proctor.plugins"
T = TypeVar("T")


class PluginKind(NamedTuple):
    """What is registered under a kind, and what it must give."""

    word: str
    arguments: int | None = None
    """How many positional arguments it is called with; None where its options are its own affair."""
    gives: type | tuple[str, ...] = ()
    """The type of what a call gives, or the attributes that it has."""
    is_called: bool = True
    """Whether it is a function; else it is itself what is wanted."""

    @property
    def one(self) -> str:
        return f"{'an' if self.word[0] in 'aeiou' else 'a'} {self.word}"


KINDS: dict[str, PluginKind] = {
    "models": PluginKind("model provider", 4, ("identity", "respond", "close")),
    "scorers": PluginKind("scorer", None, ("name", "version", "score")),
    "sources": PluginKind("source", 2, ("label", "unit", "__iter__", "at")),
    "benchmarks": PluginKind("benchmark"),
    "metrics": PluginKind("metric", None, ("name", "start", "measure")),
    "sandboxes": PluginKind("sandbox", None, ("name", "is_isolated", "run", "check", "close")),
    "runners": PluginKind("runner", None, ("name", "is_isolated", "open", "close")),
    "reports": PluginKind("report format", 2, str),
    "exports": PluginKind("export format", 1, ("__iter__",)),
    "themes": PluginKind("theme", 0, Mapping),
    "commands": PluginKind("command", None, ("main", "invoke", "get_short_help_str"), is_called=False),
}

BUILT_IN: dict[str, dict[str, str]] = {
    "models": {
        "anthropic": "proctor.models.anthropic:create",
        "command": "proctor.models.command:create",
        "completions": "proctor.models.completions:create",
        "demo": "proctor.models.demo:create",
        "google": "proctor.models.google:create",
        "grpc": "proctor.models.grpc_agent:create",
        "http": "proctor.models.http_agent:create",
        "huggingface": "proctor.models.compatible:create_huggingface",
        "local": "proctor.models.local:create",
        "ollama": "proctor.models.compatible:create_ollama",
        "openai": "proctor.models.openai:create",
        "openrouter": "proctor.models.compatible:create_openrouter",
        "python": "proctor.models.function:create",
        "replay": "proctor.models.replay:create",
        "vllm": "proctor.models.compatible:create_vllm",
    },
    "scorers": {
        "bleu": "proctor.scorers.translation:create_bleu",
        "choice": "proctor.scorers.choice:create",
        "chrf": "proctor.scorers.translation:create_chrf",
        "evalplus": "proctor.scorers.code.evalplus:create",
        "deepeval": "proctor.scorers.deepeval_metric:create",
        "exact": "proctor.scorers.exact:create",
        "f1": "proctor.scorers.f1:create",
        "humaneval": "proctor.scorers.code.humaneval:create",
        "includes": "proctor.scorers.includes:create",
        "deepeval_benchmark": "proctor.scorers.deepeval_benchmark:create",
        "inspect": "proctor.scorers.inspect_scorer:create",
        "instructions": "proctor.scorers.instructions:create",
        "instructions_each": "proctor.scorers.instructions:create_each",
        "instructions_each_loose": "proctor.scorers.instructions:create_each_loose",
        "instructions_loose": "proctor.scorers.instructions:create_loose",
        "json_schema": "proctor.scorers.json_schema:create",
        "judge_pairwise": "proctor.scorers.judging.pairwise:create",
        "judge_reference": "proctor.scorers.judging.reference:create",
        "judge_rubric": "proctor.scorers.judging.rubric:create",
        "likelihood": "proctor.scorers.likelihood:create",
        "lm_eval": "proctor.scorers.lm_eval:create",
        "logprob": "proctor.scorers.logprob:create",
        "math": "proctor.scorers.math:create",
        "mbpp": "proctor.scorers.code.mbpp:create",
        "numeric": "proctor.scorers.numeric:create",
        "precision": "proctor.scorers.f1:create_precision",
        "program": "proctor.programs.scorer:create_passed",
        "program_mark": "proctor.programs.scorer:create_mark",
        "puzzle": "proctor.scorers.puzzle:create",
        "recall": "proctor.scorers.f1:create_recall",
        "regex": "proctor.scorers.regex:create",
        "rouge": "proctor.scorers.rouge:create",
        "similarity": "proctor.scorers.similarity:create",
        "stdio": "proctor.scorers.code.stdio:create",
        "tests": "proctor.scorers.code.tests:create",
        "tool_calls": "proctor.scorers.tool_calls:create",
    },
    "sources": {
        "csv": "proctor.benchmarks.tabular:read_csv",
        "hf": "proctor.benchmarks.hub:read_hub",
        "json": "proctor.benchmarks.tabular:read_json",
        "jsonl": "proctor.benchmarks.jsonl:read_jsonl",
        "python-jsonl": "proctor.benchmarks.jsonl:read_python_jsonl",
        "parquet": "proctor.benchmarks.parquet:read_parquet",
        "package": "proctor.benchmarks.packaged:read_package",
        "python": "proctor.benchmarks.packaged:read_function",
        "upload": "proctor.benchmarks.uploads:read_upload",
    },
    "benchmarks": {
        "arithmetic": "proctor.benchmarks.puzzles:arithmetic",
        "dates": "proctor.benchmarks.puzzles:dates",
        "logic": "proctor.benchmarks.puzzles:logic",
        "puzzles": "proctor.benchmarks.puzzles:puzzles",
        "requirements": "proctor.benchmarks.problems.benchmark:requirements",
        "sequences": "proctor.benchmarks.puzzles:sequences",
        "sorting": "proctor.benchmarks.puzzles:sorting",
        "strings": "proctor.benchmarks.puzzles:strings",
    },
    "metrics": {
        "accuracy": "proctor.metrics.accuracy:create",
        "macro_f1": "proctor.metrics.classification:create_f1",
        "macro_precision": "proctor.metrics.classification:create_precision",
        "macro_recall": "proctor.metrics.classification:create_recall",
        "mean": "proctor.metrics.mean:create",
    },
    "sandboxes": {
        "namespaces": "proctor.sandboxes.namespaces:create",
        "bubblewrap": "proctor.sandboxes.bubblewrap:create",
        "nsjail": "proctor.sandboxes.nsjail:create",
        "firejail": "proctor.sandboxes.firejail:create",
        "docker": "proctor.sandboxes.containers:create_docker",
        "podman": "proctor.sandboxes.containers:create_podman",
        "none": "proctor.sandboxes.none:create",
    },
    "runners": {
        "bubblewrap": "proctor.sandboxes.workspaces.bubblewrap:create",
        "docker": "proctor.sandboxes.workspaces.containers:create_docker",
        "podman": "proctor.sandboxes.workspaces.containers:create_podman",
        "kubernetes": "proctor.sandboxes.workspaces.kubernetes:create",
        "none": "proctor.sandboxes.workspaces.none:create",
    },
    "reports": {
        "html": "proctor.reports.formats:write_html",
        "md": "proctor.reports.formats:write_markdown",
        "json": "proctor.reports.formats:write_json",
    },
    "exports": {
        "jsonl": "proctor.reports.export:export_jsonl",
        "csv": "proctor.reports.export:export_csv",
        "parquet": "proctor.reports.parquet:export_parquet",
        "junit": "proctor.reports.junit:export_junit",
        "inspect": "proctor.reports.inspect_log:export_inspect",
    },
    "themes": {
        "default": "proctor.reports.theme:default",
    },
}


class Plugin(NamedTuple):
    """An entry of another package."""

    kind: str
    name: str
    package: str
    """The package and its version."""
    entry: EntryPoint

    def __str__(self) -> str:
        return f"{self.kind}.{self.name} of {self.package}"


class PluginNotFoundError(NotFoundError):
    """No plugin of that kind has that name."""

    def __init__(self, message: str, hint: str = "", known: list[str] | None = None) -> None:
        super().__init__(message)
        self.hint, self.known = hint, known or []


class BrokenPluginError(UserError):
    """A plugin of another package cannot be used."""

    def __init__(self, message: str, reason: str = "") -> None:
        super().__init__(message)
        self.reason = reason


def not_found(kind: str, name: str) -> PluginNotFoundError:
    """What to raise where nothing of that kind has that name."""
    known = names(kind)
    hint = did_you_mean(name, known)
    message = f"No {KINDS[kind].word} {name!r}.{hint} There are: {', '.join(known)}."
    return PluginNotFoundError(message, hint, known)


def _broken(plugin: Plugin, reason: str) -> BrokenPluginError:
    line = " ".join(reason.split()).rstrip(".")
    return BrokenPluginError(f"The plugin {plugin} cannot be used: {line}.", line)


_left_out: dict[Plugin, str] = {}


def take_left_out() -> dict[Plugin, str]:
    """The plugins that were done without since this was last asked, each with the reason; who asks says so."""
    taken = dict(_left_out)
    _left_out.clear()
    return taken


@cache
def _installed() -> dict[str, dict[str, Plugin]]:
    """Plugins of other packages, by kind and name; those whose name cannot be used are left out."""
    from importlib.metadata import entry_points

    found: dict[str, dict[str, Plugin]] = {}
    for entry in sorted(entry_points(group=GROUP)):
        kind, _, name = entry.name.partition(".")
        package = f"{entry.dist.name} {entry.dist.version}" if entry.dist is not None else "an unknown package"
        plugin = Plugin(kind, name, package, entry)
        earlier = found.get(kind, {}).get(name)
        if kind not in KINDS:
            reason = f"there is no kind {kind!r}.{did_you_mean(kind, KINDS)} There are: {', '.join(KINDS)}"
        elif not name:
            reason = f"it has no name: write {kind}.NAME"
        elif name in BUILT_IN.get(kind, ()):
            reason = f"Proctor has {KINDS[kind].one} of this name itself"
        elif earlier is not None and earlier.entry != entry:
            reason = f"{earlier.package} has {KINDS[kind].one} of this name, too"
        else:
            found.setdefault(kind, {})[name] = plugin
            continue
        _left_out[plugin] = reason
    return found


def installed() -> list[Plugin]:
    """Every usable entry of other packages, by kind and name; nothing is imported for it."""
    found = _installed()
    return [found[kind][name] for kind in KINDS for name in sorted(found.get(kind, ()))]


def plugin_of(kind: str, name: str) -> Plugin | None:
    """The entry of another package behind a name; None for what is built in or not there."""
    return None if name in BUILT_IN.get(kind, ()) else _installed().get(kind, {}).get(name)


def names(kind: str) -> list[str]:
    """All names of a kind: those built in, then those of other packages."""
    return [*BUILT_IN.get(kind, ()), *sorted(_installed().get(kind, ()))]


def is_known(kind: str, name: str) -> bool:
    """Whether there is one of that name; built-in ones are found without reading every package's metadata."""
    return name in BUILT_IN.get(kind, ()) or name in _installed().get(kind, ())


def load(kind: str, name: str) -> Any:
    """What is registered under a name; built-in names cannot be taken over by a package."""
    target = BUILT_IN.get(kind, {}).get(name)
    if target is not None:
        module, _, attribute = target.partition(":")
        return getattr(import_module(module), attribute)
    plugin = _installed().get(kind, {}).get(name)
    if plugin is None:
        raise not_found(kind, name)
    with attribute_faults(kind, name):
        loaded = plugin.entry.load()
        _refuse_uncallable(plugin, loaded)
    return loaded


def create(kind: str, name: str, /, *given: Any, **options: Any) -> Any:
    """Call what is registered under a name, and make sure that it gave what its kind must give."""
    factory = load(kind, name)
    plugin = plugin_of(kind, name)
    if plugin is None:
        return factory(*given, **options)
    _refuse_options(plugin, factory, given, options)
    with attribute_faults(kind, name):
        made = factory(*given, **options)
        _refuse_other(plugin, made)
    return made


@contextmanager
def attribute_faults(kind: str, name: str, *, is_strict: bool = False) -> Iterator[None]:
    """Whatever the code of another package raises here becomes a BrokenPluginError.

    Proctor's own errors stay themselves, for they may be about what a user gave; strictly, they are the plugin's too.
    """
    plugin = plugin_of(kind, name)
    try:
        yield
    except BrokenPluginError:
        raise
    except (Exception, SystemExit) as fault:
        is_ours = isinstance(fault, ProctorError)
        if plugin is None or (is_ours and not is_strict):
            raise
        raise _broken(plugin, str(fault) if is_ours else f"{type(fault).__name__}: {fault}") from fault


def each(kind: str, use: Callable[[str], T]) -> dict[str, T]:
    """What `use` makes of every name of a kind; a plugin for which it fails is left out."""
    found = {}
    for name in names(kind):
        try:
            with attribute_faults(kind, name, is_strict=True):
                found[name] = use(name)
        except BrokenPluginError as fault:
            _left_out[_installed()[kind][name]] = fault.reason
    return found


def fault_of_plugin(error: BaseException) -> BrokenPluginError | None:
    """The error as that of the plugin whose code raised it while it was used; None where the code is Proctor's own."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    modules = []
    frame = error.__traceback__
    while frame is not None:
        modules.append(str(frame.tb_frame.f_globals.get("__name__", "")))
        frame = frame.tb_next
    own = __name__.partition(".")[0]
    for module in reversed(modules):
        package = module.partition(".")[0]
        if package == own:
            return None
        found = [plugin for plugin in installed() if plugin.entry.module.partition(".")[0] == package]
        if found:
            reason = f"{type(error).__name__}: {error}"
            suspects = [plugin for plugin in found if plugin.entry.module == module]
            if len(suspects) == 1:
                return _broken(suspects[0], reason)
            return BrokenPluginError(f"A plugin of {found[0].package} failed, in {module}: {reason}.", reason)
    return None


def _refuse_uncallable(plugin: Plugin, loaded: Any) -> None:
    import inspect

    kind = KINDS[plugin.kind]
    if not kind.is_called:
        _refuse_other(plugin, loaded)
    elif not callable(loaded):
        raise _broken(plugin, f"{plugin.entry.value} is not a function but {type(loaded).__name__}")
    elif kind.arguments is not None:
        try:
            inspect.signature(loaded).bind(*[None] * kind.arguments)
        except TypeError as mistake:
            wanted = f"{kind.one} is called with {kind.arguments} arguments"
            raise _broken(plugin, f"{wanted}, and {plugin.entry.value} cannot be: {mistake}") from None


def _refuse_options(plugin: Plugin, factory: Any, given: tuple[Any, ...], options: Mapping[str, Any]) -> None:
    """An option that a plugin does not have is the mistake of who gave it."""
    import inspect

    try:
        inspect.signature(factory).bind(*given, **options)
    except TypeError as mistake:
        raise UserError(f"The {KINDS[plugin.kind].word} {plugin.name!r} ({plugin.package}): {mistake}.") from None


def _refuse_other(plugin: Plugin, made: Any) -> None:
    kind = KINDS[plugin.kind]
    if isinstance(kind.gives, type):
        if not isinstance(made, kind.gives):
            raise _broken(plugin, f"{kind.one} gives {kind.gives.__name__}, not {type(made).__name__}")
        return
    missing = [attribute for attribute in kind.gives if not hasattr(made, attribute)]
    if missing:
        raise _broken(plugin, f"{kind.one} has {missing[0]!r}, and {type(made).__name__} has not")
