"""Names of benchmarks and models in a query, however they are spaced: gpt 5 mini, GSM-8K, claude sonnet 4.5."""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from proctor.planner.catalogue import PlannerCatalogue
from proctor.planner.lexicon import Concepts, Lexicon
from proctor.planner.words import CJK, Token

PLAIN_WORDS = frozenset({"math", "logic", "dates", "sorting", "strings", "sequences", "arithmetic", "capitals",
                         "puzzles", "requirements"})  # fmt: skip
"""Benchmarks whose names are words: the lexicon says what they mean."""
MAX_PARTS = 8
UNITS = frozenset(
    {
        "shot",
        "sample",
        "epoch",
        "times",
        "percent",
        "currency",
        "minutes",
        "example",
        "seconds",
        "points",
        "counter",
        "token",
        "request",
        "fractionbar",
        "modelword",
    }
)
_NEW_MODEL = {"gpt": "openai", "claude": "anthropic", "gemini": "google"}


class Names(Struct, frozen=True):
    """Every name without its spaces and hyphens."""

    squashed: dict[str, Concepts]

    def longest(self, tokens: list[Token], start: int, words: Lexicon) -> tuple[int, Concepts] | None:
        """The end and the meaning of the longest name that begins here."""
        if tokens[start].kind not in ("word", "number"):
            return None
        best, joined = None, ""
        for at in range(start, min(start + MAX_PARTS, len(tokens))):
            token = tokens[at]
            if token.kind not in ("word", "number") or (at > start and token.gap not in ("", " ", "-", "_")):
                break
            if at == start + 1 and token.gap == " " and tokens[start].text.isdigit():
                break  # `4 o'clock` is no 4o
            joined += squash(token.text)
            if joined in self.squashed and not _is_counted(tokens, at, start, words):
                best = (at + 1, self.squashed[joined])
        newer = _new_model(tokens, start)
        is_longer = newer is not None and (best is None or newer[0] > best[0])
        return newer if is_longer else best


def squash(text: str) -> str:
    return "".join(filter(str.isalnum, text.lower()))


@lru_cache(maxsize=4)
def _squashed(names: tuple[tuple[str, str], ...]) -> Names:
    found: dict[str, Concepts] = {}
    for kind, name in names:
        meaning: Concepts = ((kind, name),)
        if kind == "benchmark":
            if name not in PLAIN_WORDS:
                found[squash(name)] = meaning
            continue
        provider, _, short = name.partition("/")
        forms = {short, name, short.removeprefix("claude-"), f"{provider}-{short}"}
        # claude-3-5-haiku-latest is also said as claude 3.5 haiku, or as haiku 3.5
        plain = short.removesuffix("-latest").removesuffix("-preview")
        forms |= {plain, plain.removeprefix("claude-")}
        if short.startswith("gpt-"):
            forms |= {f"chat{plain}", plain.removesuffix("-turbo")}
            forms |= {plain.removeprefix("gpt-")} if plain.startswith("gpt-4o") else set()
        if plain.startswith("claude-"):
            if re.fullmatch(r"claude-\w+-\d-0", plain):  # opus 4 is claude-opus-4-0
                forms |= {plain[:-2], plain.removeprefix("claude-")[:-2]}
            if match := re.fullmatch(r"claude-(\d[\d-]*)-(\w+)", plain):
                forms |= {f"{match[2]}-{match[1]}", f"claude-{match[2]}-{match[1]}"}
            if match := re.fullmatch(r"claude-([a-z]+)-(\d[\d-]*)", plain):  # claude 4.5 sonnet
                forms.add(f"claude-{match[2]}-{match[1]}")
        elif match := re.fullmatch(r"gpt-(\d[\d.]*)-(luna|terra|sol|astra)", plain):  # luna 6
            forms.add(f"{match[2]}-{match[1]}")
        for form in forms:
            written = squash(form)
            if (not written.isalpha() or form == "codex-mini") and not form.isdigit() and len(written) > 1:
                found.setdefault(written, meaning)
    return Names(found)


def known_names(catalogue: PlannerCatalogue) -> Names:
    """The names of a catalogue."""
    models = sorted(catalogue.models, key=lambda item: item.provider not in ("openai", "anthropic"))
    listed = [("model", item.name) for item in models] + [("model", catalogue.local)]
    return _squashed((*(("benchmark", item.name) for item in catalogue.benchmarks), *listed))


def exact_models(text: str, tokens: list[Token], catalogue: PlannerCatalogue) -> dict[int, tuple[int, tuple[str, str]]]:
    """Models written as `provider/name?option=value`, and addresses: where each begins and ends, and what it is."""
    found: dict[int, tuple[int, tuple[str, str]]] = {}
    for match in re.finditer(r"https?://[^\s,;，、()\[\]\"']+", text, re.IGNORECASE):
        inside = [at for at, token in enumerate(tokens) if match.start() <= token.start < match.end()]
        found[inside[0]] = (inside[-1] + 1, ("address", match[0]))
    for item in catalogue.own_versions:
        for match in re.finditer(rf"(?<![\w./@-]){re.escape(item.name)}(?![\w@-]|\.\w)", text, re.IGNORECASE):
            inside = [at for at, token in enumerate(tokens) if match.start() <= token.start < match.end()]
            found[inside[0]] = (inside[-1] + 1, ("benchmark", item.name))
    if "/" not in text:
        return found
    providers = "|".join(sorted(map(re.escape, catalogue.providers), key=len, reverse=True))
    for match in re.finditer(rf"(?<![^\W{CJK}])(?<!/)(?:{providers})/[^\s,;，、()\[\]\"']+", text, re.IGNORECASE):
        written = re.match(r"[\x21-\x7e]+", match[0])
        spec = (written[0] if written else match[0]).rstrip(".:!?")
        end = match.start() + len(spec)
        inside = [at for at, token in enumerate(tokens) if match.start() <= token.start < end]
        if inside:
            provider, slash, name = spec.partition("/")
            found[inside[0]] = (inside[-1] + 1, ("model", provider.lower() + slash + name))
    return found


def _is_counted(tokens: list[Token], at: int, start: int, words: Lexicon) -> bool:
    """Whether the last number of a name is the number of something: `opus 5 shots`."""
    if at == start or tokens[at].kind != "number" or tokens[at].gap != " " or at + 1 >= len(tokens):
        return False
    follows = words.longest(tokens, at + 1)
    kind = "" if follows is None else follows[1][0][0]
    if kind == "currency" and tokens[at + 1].kind == "mark" and _text_kind(tokens, at + 2) == "number":
        return False  # `sonnet 5 $12`
    is_whole = "." not in tokens[at].text  # nothing is counted in `the haiku 4.5 model`
    return kind in UNITS and (is_whole or kind in ("currency", "minutes", "seconds", "percent", "points"))


def _text_kind(tokens: list[Token], at: int) -> str:
    return tokens[at].kind if at < len(tokens) and not tokens[at].gap else ""


def _new_model(tokens: list[Token], start: int) -> tuple[int, Concepts] | None:
    """A name of a known house that no list here has, as it is written with hyphens: it may be newer than the list."""
    provider = _NEW_MODEL.get(re.sub(r"\d+$", "", tokens[start].text))
    end = start + 1
    while end < len(tokens) and tokens[end].gap == "-" and tokens[end].kind in ("word", "number"):
        end += 1
    written = "-".join(token.text for token in tokens[start:end])
    if provider is None or not re.search(r"\d", written) or end == start + 1:
        return None
    return end, (("model", f"{provider}/{written}"), ("unlisted", written))
