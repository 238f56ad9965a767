"""What every benchmark that a function makes keeps: it is listed, and a seed always gives the same samples."""

from __future__ import annotations

from pathlib import Path

import pytest

from plugins.example import names
from proctor.benchmarks.check import check_benchmark
from proctor.benchmarks.registry import find_info, list_benchmarks, load_benchmark
from proctor.domain.benchmark import Benchmark
from proctor.domain.errors import BenchmarkError
from proctor.domain.plan import BenchmarkSpec
from proctor.domain.taxonomy import refuse_foreign_words
from proctor.metrics.labels import metrics_of
from proctor.metrics.registry import create_metric
from proctor.scorers.registry import create_scorers


def _load(name: str, folder: Path, **parameters: object) -> Benchmark:
    spec = BenchmarkSpec(benchmark=name, parameters=parameters)
    return load_benchmark(spec, seed=7, folder=folder)


@pytest.mark.parametrize("name", names("benchmarks"))
def test_a_benchmark_is_listed_with_what_it_says_of_itself(name: str, tmp_path: Path) -> None:
    [listed] = [item for item in list_benchmarks() if item.name == name]
    assert listed.description
    assert listed.licence
    refuse_foreign_words(listed.tags)
    assert find_info(BenchmarkSpec(benchmark=name), tmp_path) == listed


@pytest.mark.parametrize("name", names("benchmarks"))
def test_its_samples_can_be_read_rendered_and_scored(name: str, tmp_path: Path) -> None:
    benchmark = _load(name, tmp_path)
    assert benchmark.name == name
    assert not check_benchmark(benchmark).warnings
    ids = [sample.id for sample in benchmark.samples]
    assert ids
    assert len(set(ids)) == len(ids)
    scorers = create_scorers(benchmark.scorers)
    assert scorers
    assert all(create_metric(metric) for one in scorers for metric in metrics_of(one.name, benchmark.metrics))


@pytest.mark.parametrize("name", names("benchmarks"))
def test_the_same_seed_makes_the_same_samples(name: str, tmp_path: Path) -> None:
    first, second = _load(name, tmp_path), _load(name, tmp_path)
    assert first.samples.fingerprint() == second.samples.fingerprint()
    assert first.version == second.version


@pytest.mark.parametrize("name", names("benchmarks"))
def test_a_parameter_that_there_is_not_is_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(BenchmarkError, match="no_such_parameter"):
        _load(name, tmp_path, no_such_parameter=1)


def test_parameters_reach_the_examples_function_as_what_it_declares(tmp_path: Path) -> None:
    assert len(list(_load("opposites", tmp_path, count="3").samples)) == 3
