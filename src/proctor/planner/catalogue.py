"""What a sentence may name: benchmarks with what they are about, models with prices, and the keys that are set."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal

from msgspec import Struct, field

FAMILIES: Mapping[str, tuple[str, str]] = {
    "gpt": ("openai", r"gpt-(\d+(?:\.\d+)?)(?:-sol)?"),
    "claude": ("anthropic", r"claude-sonnet-(\d+(?:-\d+)?)"),
    "sonnet": ("anthropic", r"claude-sonnet-(\d+(?:-\d+)?)"),
    "opus": ("anthropic", r"claude-opus-(\d+(?:-\d+)?)"),
    "haiku": ("anthropic", r"claude-haiku-(\d+(?:-\d+)?)"),
    "fable": ("anthropic", r"claude-fable-(\d+(?:-\d+)?)"),
    "mythos": ("anthropic", r"claude-mythos-(\d+(?:-\d+)?)"),
    **{line: ("openai", rf"gpt-(\d+(?:\.\d+)?)-{line}") for line in ("luna", "terra", "sol", "astra", "codex")},
    "gpt-mini": ("openai", r"gpt-(\d+(?:\.\d+)?)-mini"),
    "gpt-nano": ("openai", r"gpt-(\d+(?:\.\d+)?)-nano"),
    "gemini": ("google", r"gemini-(\d+(?:\.\d+)?)-flash(?:-preview)?"),
    "gemini-flash": ("google", r"gemini-(\d+(?:\.\d+)?)-flash(?:-preview)?"),
    "gemini-pro": ("google", r"gemini-(\d+(?:\.\d+)?)-pro(?:-preview)?"),
}
"""A family's name, whose it is, and which names are its members: the newest version is meant."""
FLAGSHIP = {"openai": "gpt", "anthropic": "claude", "google": "gemini"}
DEMO = ("strong", "weak", "perfect", "average", "guesser", "silent")
"""The names of the demo models."""
SMALL = {
    "openai": r"gpt-(\d+(?:\.\d+)?)-(?:luna|nano)",
    "anthropic": r"claude-haiku-(\d+(?:-\d+)?)",
    "google": r"gemini-(\d+(?:\.\d+)?)-flash-lite(?:-preview)?",
}
LARGE = {"openai": ("gpt",), "anthropic": ("opus", "sonnet"), "google": ("gemini-pro", "gemini-flash")}
GENERAL = {
    "openai": r"gpt-[4-9][\w.]*(?:-(?:mini|nano|turbo|sol|terra|luna|astra|pro))?|o\d(?:-mini|-pro)?",
    "anthropic": r"claude-(?:\w+-\d+(?:-\d+)?|\d+(?:-\d+)?-\w+(?:-latest)?)",
    "google": r"gemini-\d[\d.]*-(?:flash|pro|flash-lite)(?:-preview)?",
}
"""Models for text in general; those for images, speech or one trade alone answer no benchmark."""


class CatalogueBenchmark(Struct, frozen=True):
    """What is known of a benchmark without its data."""

    name: str
    tags: Mapping[str, str] = field(default_factory=dict)
    samples: int | None = None
    """None where it is not known; generated ones have as many as are asked for."""
    categories: Mapping[str, int] = field(default_factory=dict)
    """Each category with its number of samples."""
    languages: Sequence[str] = ()
    """The languages of its categories, for a benchmark in several."""
    variants: Sequence[str] = ()
    has_examples: bool = False
    needs_judge: bool = False
    needs_sandbox: bool = False
    description: str = ""
    max_tokens: int | None = None
    """The longest answer it asks for, where it says so."""
    is_own: bool = False
    """Whether it is one of a project's own, which was uploaded."""


class CatalogueModel(Struct, frozen=True):
    """A model of the price list; dollars for a million tokens."""

    name: str
    input_usd: Decimal | None = None
    output_usd: Decimal | None = None
    is_withdrawn: bool = False

    @property
    def provider(self) -> str:
        return self.name.partition("/")[0]

    @property
    def short(self) -> str:
        return self.name.partition("/")[2]


class PlannerCatalogue(Struct, frozen=True):
    """All that names can mean, passed in as a value: the same catalogue gives the same plan."""

    benchmarks: Sequence[CatalogueBenchmark]
    models: Sequence[CatalogueModel]
    providers: Sequence[str]
    """Providers whose `provider/name` can be written."""
    keys: Sequence[str] = ()
    """Providers whose key is set."""
    local: str = "local/smollm2-135m"
    prices_from: str = ""
    own_versions: Sequence[CatalogueBenchmark] = ()
    """Every version of a project's own benchmarks, as NAME@VERSION: understood by this name alone."""

    def benchmark(self, name: str) -> CatalogueBenchmark | None:
        return next((item for item in (*self.benchmarks, *self.own_versions) if item.name == name), None)

    def versions(self, provider: str, pattern: str) -> list[str]:
        """A provider's models whose names have this form, the newest first."""
        found = [
            (_version(match[1]), item.name)
            for item in self.models
            if item.provider == provider and not item.is_withdrawn and (match := re.fullmatch(pattern, item.short))
        ]
        return [name for _, name in sorted(found, reverse=True)]

    def newest(self, provider: str, pattern: str) -> str | None:
        return next(iter(self.versions(provider, pattern)), None)

    def family(self, name: str) -> str | None:
        provider, pattern = FAMILIES[name]
        return self.newest(provider, pattern)

    def generations(self, name: str) -> list[str]:
        """The models of a family, or of a provider's general line, the newest first."""
        return self.versions(*FAMILIES[FLAGSHIP.get(name, name)])

    def flagship(self, provider: str) -> str | None:
        return self.family(FLAGSHIP[provider]) if provider in FLAGSHIP else None

    def lines(self, provider: str) -> list[str]:
        """The newest of each line of a provider, the largest first."""
        families = [*LARGE.get(provider, ()), *(name for name, (house, _) in FAMILIES.items() if house == provider)]
        return list(dict.fromkeys(name for name in map(self.family, families) if name is not None))

    def cheapest(self, providers: Sequence[str]) -> list[CatalogueModel]:
        """Models for text in general with a known price, the cheapest first (input and output together)."""
        found = [
            item
            for item in self.models
            if item.provider in providers
            and not item.is_withdrawn
            and item.input_usd is not None
            and item.output_usd is not None
            and re.fullmatch(GENERAL.get(item.provider, ""), item.short)
        ]
        return sorted(found, key=lambda item: ((item.input_usd or 0) + (item.output_usd or 0), item.name))

    def small(self, providers: Sequence[str]) -> list[str]:
        """The newest small model of each provider, the cheapest first."""
        names = [self.newest(provider, SMALL[provider]) for provider in providers if provider in SMALL]
        prices = {item.name: (item.input_usd or 0) + (item.output_usd or 0) for item in self.models}
        return sorted((name for name in names if name), key=lambda name: (prices[name], name))

    def large(self, providers: Sequence[str]) -> list[str]:
        """The newest of each provider's lines, from its largest; one of each provider first."""
        lines = [[self.family(name) for name in LARGE[provider]] for provider in providers if provider in LARGE]
        depth = max(map(len, lines), default=0)
        return [line[at] for at in range(depth) for line in lines if at < len(line) and line[at]]  # type: ignore[misc]


def _version(text: str) -> tuple[int, ...]:
    # A date after a version (4-20250514) is no newer version.
    return tuple(int(part) for part in re.split(r"[.-]", text) if len(part) < 4)
