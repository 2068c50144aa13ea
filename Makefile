# `make refresh` and `make test` are all that a fresh clone needs; each makes its environment first, as `make install` does.
PYTHON ?= $(or $(shell command -v python3.11),python3)
BIN := .venv/bin
# Told where bytecode may not be written, Python would compile the same files again in each of hundreds of tasks.
export PYTHONDONTWRITEBYTECODE =

.PHONY: help install eval refresh lint quick test check soak rows docs search versions up down lock clean

help:
	@sed -n 's/^\([a-z]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

install: .venv/run ## make the environment, and nothing else
	@echo 'Type $(BIN)/driftline, or . $(BIN)/activate once and then driftline. What works here: $(BIN)/driftline doctor'

eval: .venv/pyvenv.cfg requirements-eval.lock ## make the environment for prompts, answers and scores alone, without Airflow
	$(BIN)/python -m pip install --quiet --require-hashes -r requirements-eval.lock
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --no-index -e .

refresh: .venv/run ## collect, prove and publish the starter profile in Airflow
	$(BIN)/driftline airflow refresh --profile starter

lint: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

quick: lint ## lint, types, layers, and the tests that begin no process and open no connection
	$(BIN)/python -m pytest -m "not slow" -p tests.quick -r fE -n 2

test: lint ## lint, types and tests
	$(BIN)/python -m pytest -m "not slow" -n 2 --durations=25 --durations-min=3

check: .venv/dev ## the slower tests: real Airflow, the real package index
	$(BIN)/python -m pytest -m "slow and not soak" -n 3 $(BY_FILE) --durations=40 --durations-min=5

soak: .venv/dev ## the slower tests, and the same on more input: hours, before a release
	$(BIN)/python -m pytest -m slow -n 3 $(BY_FILE) --durations=40 --durations-min=5

rows: .venv/dev ## write the types of the rows again from schemas/
	$(BIN)/python -m pipeline.lake.row_types

docs: .venv/dev ## build the documentation into .site, with its links checked
	$(BIN)/mkdocs build --strict --quiet

search: .venv/dev ## property tests with fresh random input, as long as it takes
	$(BIN)/python -m pytest -m "hypothesis and not slow" -n 2 --hypothesis-profile search

versions: .venv/dev ## say of changed stages and caches whether their results change: RAISE="NAME ..." or SAME="NAME ..."
	$(BIN)/python -m tests.versions "$(RAISE)" "$(SAME)"

up: .venv/run ## start Airflow with its web page
	$(BIN)/driftline airflow up

down: ## end Airflow with all its processes
	@test ! -x $(BIN)/driftline || $(BIN)/driftline airflow down

lock: .venv/dev ## resolve the requirements again, keeping what need not change
	$(BIN)/uv pip compile $(LOCK) --extra refresh pyproject.toml -o requirements.lock
	$(BIN)/uv pip compile $(LOCK) --extra eval -c requirements.lock pyproject.toml -o requirements-eval.lock
	$(BIN)/uv pip compile $(LOCK) --extra refresh --extra cluster -c requirements.lock pyproject.toml \
		-o requirements-cluster.lock
	$(BIN)/uv pip compile $(LOCK) --extra refresh --extra dev --extra cluster -c requirements.lock \
		-c requirements-cluster.lock pyproject.toml -o requirements-dev.lock

clean: down ## remove the environment and Airflow's files; the lake stays
	rm -rf .venv .airflow

BY_FILE := --dist loadfile --no-loadscope-reorder
LOCK := -q --universal --generate-hashes --no-emit-index-url --no-header --no-annotate --python-version 3.11

.venv/pyvenv.cfg:
	$(PYTHON) -m venv .venv

# uv takes a tenth of pip's time. It reads no settings of pip but the index that is named here; where it fails, pip goes on.
INDEX = $(or $(PIP_INDEX_URL),$(shell $(BIN)/python -m pip config get global.index-url 2>/dev/null))
define sync
	$(BIN)/uv pip install --quiet --require-hashes --python $(BIN)/python $(addprefix --default-index ,$(INDEX)) -r $(1) \
		|| $(BIN)/python -m pip install --quiet --require-hashes -r $(1)
endef

.venv/bin/uv: .venv/pyvenv.cfg
	awk '/^[^ ]/ {wanted = /^uv==/} wanted' requirements.lock > .venv/uv.lock
	$(BIN)/python -m pip install --quiet --require-hashes -r .venv/uv.lock

.venv/run: .venv/bin/uv requirements.lock pyproject.toml
	$(call sync,requirements.lock)
	$(BIN)/python -m pip install --quiet --no-deps --no-build-isolation --no-index -e .
	@touch $@

.venv/dev: .venv/run requirements-dev.lock
	$(call sync,requirements-dev.lock)
	@touch $@
