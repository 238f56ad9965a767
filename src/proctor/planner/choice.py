"""Which benchmarks a description means: names, subjects, languages, forms and categories against the catalogue."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from msgspec import Struct, field

from proctor.planner.catalogue import CatalogueBenchmark, PlannerCatalogue
from proctor.planner.languages import NAMES_OF_LANGUAGES
from proctor.planner.names import squash
from proctor.planner.reading import Reading
from proctor.planner.slots.topics import GROUPS

USUAL: Mapping[str, str] = {
    "mathematics": "gsm8k",
    "science": "arc-challenge",
    "commonsense": "hellaswag",
    "programming": "humaneval",
    "tools": "bfcl-simple",
    "logic": "bbh",
    "general": "mmlu",
    "law": "agieval-lsat-ar",
    "geography": "capitals",
}
"""The benchmark that an English subject means when nothing more is said."""
BROAD: Mapping[str, str] = {"en": "mmlu", "ja": "jmmlu"}
"""The broad benchmark of each language, whose categories are fields of knowledge."""
SUBJECT_OF: Mapping[str, str] = {"arithmetic": "mathematics", "svamp": "mathematics", "logic": "logic"}
DEFAULT = "mmlu"
REGIONS = frozenset({"Africa", "Americas", "Asia", "Europe", "Oceania"})
"""The categories of `capitals`."""


class Chosen(Struct, frozen=True):
    """A benchmark, the samples that are meant of it, and where in the query it is named."""

    benchmark: str
    where: dict[str, list[str]] = field(default_factory=dict)
    at: int | None = None


class Gap(Struct, frozen=True):
    """A language and a subject that no benchmark has together, and the nearest that there is."""

    language: str | None
    subject: str | None
    nearest: tuple[str, ...]

    @property
    def sentence(self) -> str:
        about = "such work" if self.subject == "other" else (self.subject or "anything")
        inside = f" in {NAMES_OF_LANGUAGES.get(self.language, self.language)}" if self.language else ""
        near = f"; the nearest: {', '.join(self.nearest)}" if self.nearest else ""
        return f"no benchmark here is about {about}{inside}{near}"


class Choice(Struct):
    """The benchmarks of a plan, why, and what else could have been meant."""

    chosen: list[Chosen] = field(default_factory=list)
    reasons: list[tuple[str, str]] = field(default_factory=list)
    """A benchmark, and why it was chosen where that was open."""
    alternatives: list[list[Chosen]] = field(default_factory=list)
    gaps: list[Gap] = field(default_factory=list)

    def add(self, item: Chosen) -> None:
        if all(other.benchmark != item.benchmark for other in self.chosen):
            self.chosen.append(item)


def choose_benchmarks(reading: Reading, catalogue: PlannerCatalogue) -> Choice:
    """The benchmarks that a query means."""
    choice = Choice()
    languages = [name for name in reading.languages if name not in reading.excluded_languages]
    subjects = list(reading.subjects)
    if (
        subjects == ["logic"]
        and not reading.benchmarks
        and any(item.means("default") for item in reading.phrases.items)
    ):
        place = next(at for at, item in enumerate(reading.phrases.items) if item.means("default"))
        reading.benchmarks.append(("logic", place))  # `puzzles: 15 logic ones`
    for name, at in reading.benchmarks:
        _choose_named(reading, catalogue, choice, name, at, languages, subjects)
    _choose_categories(reading, catalogue, choice, languages)
    for subject in _subjects_left(reading, subjects, choice, catalogue):
        _choose_subject_in(reading, catalogue, choice, subject, languages)
    if not choice.chosen and not choice.gaps:
        _choose_language(reading, catalogue, choice, [name for name in languages if name != "en"])
    for item in reading.phrases.items if not choice.chosen and not choice.gaps else ():
        if default := item.means("default"):  # `20 puzzles`: what is counted is also what is asked
            choice.add(Chosen(default))
            choice.reasons.append((default, "what is counted is also what is asked"))
    if not choice.chosen and not choice.gaps and "en" in reading.excluded_languages:
        _choose_others(reading, catalogue, choice)
    if not choice.chosen and not choice.gaps:
        choice.add(Chosen(DEFAULT))
        choice.reasons.append((DEFAULT, "no benchmark and no subject is named; this is the broadest"))
    if not choice.chosen:
        near = choice.gaps[0].nearest
        for nearest in near[:1] or (DEFAULT,):
            choice.add(Chosen(nearest, _nearest_where(catalogue, nearest, choice.gaps[0])))
            choice.reasons.append((nearest, choice.gaps[0].sentence))
        for other in near[1:3]:
            choice.alternatives.append([Chosen(other, _nearest_where(catalogue, other, choice.gaps[0]))])
    kept = [item for item in choice.chosen if item.benchmark not in reading.excluded_benchmarks]
    choice.chosen = [_with_exclusions(item, reading, catalogue) for item in kept]
    return choice


def _choose_subject_in(
    reading: Reading, catalogue: PlannerCatalogue, choice: Choice, subject: str, languages: Sequence[str]
) -> None:
    multi = _in_all_of(catalogue, subject, languages, reading)
    if multi is not None:
        choice.add(Chosen(multi.name, _where(reading, multi, languages)))
        choice.reasons.append((multi.name, f"about {subject} in all these languages"))
        return
    left = _in_others(catalogue, subject, reading) if not languages else []
    for item in left:  # `commonsense, but nothing in English`
        choice.add(Chosen(item.name))
    if left:
        out = ", ".join(NAMES_OF_LANGUAGES.get(name, name) for name in reading.excluded_languages)
        choice.reasons.append((left[0].name, f"about {subject}, and not in {out}"))
        return
    for language in languages or [""]:
        _choose_subject(reading, catalogue, choice, subject, language)


def _in_others(catalogue: PlannerCatalogue, subject: str, reading: Reading) -> list[CatalogueBenchmark]:
    """The benchmarks about a subject that are left where English, the usual language, is left out."""
    if "en" not in reading.excluded_languages:
        return []
    about = [item for item in catalogue.benchmarks if item.tags.get("subject") == subject]
    return [item for item in about if item.tags.get("language") not in reading.excluded_languages]


def _in_all_of(
    catalogue: PlannerCatalogue, subject: str, languages: Sequence[str], reading: Reading
) -> CatalogueBenchmark | None:
    """The one benchmark about a subject that is in each of several languages."""
    is_every = any(item.means("alllanguages") is not None for item in reading.phrases.items)
    is_every = is_every or bool(reading.excluded_languages)  # `non-English maths`
    if len(languages) < 2 and not (is_every and not languages):
        return None
    fitting = [item for item in catalogue.benchmarks if item.tags.get("subject") == subject and item.languages]
    return next((item for item in fitting if set(languages) <= set(item.languages)), None)


def _choose_named(
    reading: Reading,
    catalogue: PlannerCatalogue,
    choice: Choice,
    name: str,
    at: int,
    languages: Sequence[str],
    subjects: list[str],
) -> None:
    is_soft, name = name.startswith("?"), name.removeprefix("?")
    is_described = reading.phrases.items[at].kind != "benchmark"
    benchmark = catalogue.benchmark(name)
    if benchmark is None:
        return
    others = [place for _, place in reading.benchmarks if reading.phrases.items[place].kind == "benchmark"]
    if is_described and name == "bbh" and others:
        return  # `reasoning` beside a benchmark that is named says how it is answered
    if is_described:
        benchmark = _of_its_name(reading, catalogue, benchmark)
        name = benchmark.name
    own = benchmark.tags.get("language", "")
    foreign = [language for language in languages if language != own and language not in benchmark.languages]
    is_every = is_soft and any(item.means("alllanguages") is not None for item in reading.phrases.items)
    is_every = is_every or (is_soft and reading.wants_every)
    if is_every or (is_described and languages and len(foreign) == len(languages) and own != "multi"):
        subject = SUBJECT_OF.get(name, benchmark.tags.get("subject", "general"))
        subjects += [] if subject in subjects else [subject]
        return
    if foreign and len(foreign) == len(languages) and not _is_of_another(reading, catalogue, foreign[0]):
        choice.gaps.append(_gap(catalogue, foreign[0], benchmark.tags.get("subject")))
    where = _where(reading, benchmark, languages)
    choice.add(Chosen(name, where, at))
    if is_soft and len(reading.benchmarks) == 1 and not where:
        choice.reasons.append((name, "'math' is the name of a benchmark; maths in general usually means gsm8k"))
        choice.alternatives.append([Chosen("gsm8k")])


def _is_of_another(reading: Reading, catalogue: PlannerCatalogue, language: str) -> bool:
    """`gsm8k and the German part of mgsm`: whether a benchmark that is named has the language."""
    named = [catalogue.benchmark(name.removeprefix("?")) for name, _ in reading.benchmarks]
    return any(item is not None and language in (item.tags.get("language"), *item.languages) for item in named)


def _of_its_name(reading: Reading, catalogue: PlannerCatalogue, benchmark: CatalogueBenchmark) -> CatalogueBenchmark:
    """`free-form truthfulqa`: of the benchmarks that share a name, the one with this form, or that a judge marks."""
    first = benchmark.name.rpartition("-")[0]
    alike = [item for item in catalogue.benchmarks if first and item.name.rpartition("-")[0] == first]
    fitting = [item for item in alike if reading.form is not None and item.tags.get("form") == reading.form]
    judged = [item for item in alike if item.needs_judge] if reading.judge and not benchmark.needs_judge else []
    is_right = reading.form is None or benchmark.tags.get("form") == reading.form
    return next(iter(judged if is_right else fitting or judged), benchmark)


def _where(reading: Reading, benchmark: CatalogueBenchmark, languages: Iterable[str]) -> dict[str, list[str]]:
    """Which of a benchmark's samples are meant: languages, fields and categories that it has."""
    wanted: list[str] = [language for language in languages if language in benchmark.languages]
    for group in reading.groups:
        wanted += members(benchmark, group)
    named = {squash(name) for name in reading.categories}
    wanted += [name for name in benchmark.categories if {squash(name), squash(f"high_school_{name}")} & named]
    where = {"category": sorted(dict.fromkeys(wanted))} if wanted else {}
    if benchmark.name == "math" and reading.levels:
        where["tags.level"] = [f"Level {level}" for level in _levels(reading.levels)]
    if benchmark.name == "requirements" and "http-service" in _requirement_areas(reading):
        where["category"] = ["http-service"]
    return where


def _requirement_areas(reading: Reading) -> list[str]:
    return ["http-service"] if re.search(r"\bhttp[ -]services?\b", reading.phrases.text.lower()) else []


def _levels(text: str) -> list[int]:
    low, _, high = text.partition("-")
    return list(range(int(float(low)), int(float(high or low)) + 1))


def members(benchmark: CatalogueBenchmark, group: str) -> list[str]:
    """The categories of a benchmark that belong to a field, such as medicine."""
    return [name for name in benchmark.categories if re.fullmatch(GROUPS[group][1], name)]


def _choose_categories(reading: Reading, catalogue: PlannerCatalogue, choice: Choice, languages: Sequence[str]) -> None:
    """Fields and categories that no chosen benchmark has: the broad benchmark of the language has them, or another."""
    chosen = [item for item in (catalogue.benchmark(one.benchmark) for one in choice.chosen) if item]
    groups = [name for name in reading.groups if not any(members(item, name) for item in chosen)]
    lone = [name for name in reading.categories if not any(_has(item, name) for item in chosen)]
    for language in languages or ["en"]:
        broad = catalogue.benchmark(BROAD.get(language, ""))
        for group in groups:
            if broad is None or not members(broad, group):
                choice.gaps.append(_gap(catalogue, language, group))
        if broad is not None and any(members(broad, group) for group in groups):
            choice.add(Chosen(broad.name, _where(reading, broad, languages)))
            choice.reasons.append((broad.name, f"it has categories for {', '.join(groups)}"))
    for name in lone:
        if name in REGIONS and choice.chosen:
            continue  # `american` beside another benchmark describes something else
        having = [item for item in catalogue.benchmarks if _has(item, name)]
        having.sort(key=lambda item: (item.name not in ("mmlu", "math"), item.name))
        if languages:
            having = [item for item in having if item.tags.get("language") in languages] or having
        if having:
            choice.add(Chosen(having[0].name, _where(reading, having[0], languages)))
            choice.reasons.append((having[0].name, f"{name} is one of its categories"))


def _has(benchmark: CatalogueBenchmark, category: str) -> bool:
    wanted = squash(category)
    return any(wanted in (squash(name), squash(f"high_school_{name}")) for name in benchmark.categories)


def _subjects_left(reading: Reading, subjects: Sequence[str], choice: Choice, catalogue: PlannerCatalogue) -> list[str]:
    """Subjects that no chosen benchmark is about."""
    about: set[str] = set()
    for item in choice.chosen:
        known = catalogue.benchmark(item.benchmark)
        about |= {known.tags.get("subject", ""), SUBJECT_OF.get(known.name, "")} if known else set()
        if known and (known.name in BROAD.values() or known.name in ("bbh", "puzzles", "requirements", "mt-bench")):
            about |= {GROUPS[group][0] for group in reading.groups}
    named = [at for name, at in reading.benchmarks if reading.phrases.items[at].kind == "benchmark"]
    # A benchmark that is named says what is meant; a subject beside it describes it.
    return [] if named else [subject for subject in subjects if subject not in about]


def _choose_subject(reading: Reading, catalogue: PlannerCatalogue, choice: Choice, subject: str, language: str) -> None:
    fitting = [
        item
        for item in catalogue.benchmarks
        if item.tags.get("subject") == subject
        and (
            item.tags.get("language") == (language or "en")
            or (language not in ("", "en") and language in item.languages)
        )
    ]
    of_form = [item for item in fitting if reading.form in (None, item.tags.get("form"))] or fitting
    if not of_form:
        choice.gaps.append(_gap(catalogue, language or None, subject))
        return
    if reading.wants_every and language in ("", "en"):
        for item in of_form:
            choice.add(Chosen(item.name))
        choice.reasons.append((of_form[0].name, f"every benchmark about {subject}"))
        return
    if language in ("", "en"):
        usual = USUAL.get(subject, "")
        first = next((item for item in of_form if item.name == usual), of_form[0])
        choice.add(Chosen(first.name))
        if len(of_form) > 1:
            others = ", ".join(item.name for item in of_form if item is not first)
            choice.reasons.append((first.name, f"the usual one about {subject}; also about it: {others}"))
            choice.alternatives.append([Chosen(item.name) for item in of_form])
        return
    for item in of_form:
        choice.add(Chosen(item.name, _where(reading, item, reading.languages)))
        choice.reasons.append((item.name, f"about {subject} in {NAMES_OF_LANGUAGES.get(language, language)}"))


def _choose_language(reading: Reading, catalogue: PlannerCatalogue, choice: Choice, languages: Sequence[str]) -> None:
    for language in languages:
        fitting = [item for item in catalogue.benchmarks if item.tags.get("language") == language]
        if reading.wants_every or not fitting:
            fitting += [item for item in catalogue.benchmarks if language in item.languages]
        fitting = [item for item in fitting if reading.form in (None, item.tags.get("form"))] or fitting
        if not fitting:
            choice.gaps.append(_gap(catalogue, language, None))
        for item in fitting:
            choice.add(Chosen(item.name, _where(reading, item, languages)))
            choice.reasons.append((item.name, f"it is in {NAMES_OF_LANGUAGES.get(language, language)}"))


def _choose_others(reading: Reading, catalogue: PlannerCatalogue, choice: Choice) -> None:
    """`everything that is not English`, and nothing more: the benchmarks of the other languages."""
    for item in catalogue.benchmarks:
        if item.tags.get("language") not in reading.excluded_languages:
            choice.add(Chosen(item.name))
            choice.reasons.append((item.name, "it is not in English"))


def _gap(catalogue: PlannerCatalogue, language: str | None, subject: str | None) -> Gap:
    """The nearest: first what is about the subject, then what is in the language."""
    group = subject if subject in GROUPS else None
    if group is not None and group not in ("medicine", "law", "history"):
        subject = GROUPS[group][0]
    inside = [item.name for item in catalogue.benchmarks if language and item.tags.get("language") == language]
    inside = inside or [item.name for item in catalogue.benchmarks if language and language in item.languages]
    about = [item.name for item in catalogue.benchmarks if subject and item.tags.get("subject") == subject]
    about.sort(key=lambda name: (name != "mgsm", name != USUAL.get(subject or "")))
    if group is not None:
        about = [BROAD["en"], *about]
    near = [*about[:2], *inside[:2]] if about else inside[:3]
    return Gap(language, subject, tuple(dict.fromkeys(near)))


def _nearest_where(catalogue: PlannerCatalogue, name: str, gap: Gap) -> dict[str, list[str]]:
    benchmark = catalogue.benchmark(name)
    if benchmark is None or gap.subject is None or gap.subject not in GROUPS:
        return {}
    found = members(benchmark, gap.subject)
    return {"category": found} if found else {}


def _with_exclusions(item: Chosen, reading: Reading, catalogue: PlannerCatalogue) -> Chosen:
    """What is left out, said as what is kept: a plan's filter names what it lets through."""
    benchmark = catalogue.benchmark(item.benchmark)
    if benchmark is None or not benchmark.categories:
        return item
    dropped = {name for name in reading.excluded_languages if name in benchmark.languages}
    dropped |= {name for group in reading.excluded_groups for name in members(benchmark, group)}
    dropped |= {name for name in reading.excluded_categories if name in benchmark.categories}
    if not dropped:
        return item
    kept = [name for name in item.where.get("category", list(benchmark.categories)) if name not in dropped]
    return Chosen(item.benchmark, {**item.where, "category": sorted(kept)}, item.at)
