# Every target sets up what it needs, says what it is doing, and does not set up again.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
RUN    := $(VENV)/.ready-run
DEV    := $(VENV)/.ready-dev
MODEL  := $(VENV)/.ready-model

export OPENBLAS_NUM_THREADS ?= 1
export OMP_NUM_THREADS ?= 1

.PHONY: help setup demo test check bench docs integration cluster local inspect clean

help:
	@echo "make demo    set everything up, certify the embedded model's answers, write a page"
	@echo "make test    set everything up and run all tests"
	@echo "make check   lint, types, import contracts and the fast tests"
	@echo "make bench   the recorded ratios and memory limits"
	@echo "make integration  run today's inspect_ai and lm-evaluation-harness, read their logs"
	@echo "make cluster run the model and the embedder on a local Ray cluster, a worker killed"
	@echo "make local   set torch and transformers up, look inside models, measure what that costs"
	@echo "make inspect set inspect_ai up, run evaluations on its mock model with our metrics and scorers"
	@echo "make docs    check that every command and number in the documents is true"
	@echo "make setup   only make $(VENV) with the command trueness in it"

$(VENV)/pyvenv.cfg:
	@echo "== making a virtual environment in $(VENV)"
	@$(PYTHON) -m venv $(VENV)

$(RUN): $(VENV)/pyvenv.cfg pyproject.toml
	@echo "== installing trueness and the runtime of its embedded model"
	@$(BIN)/python -m pip install --quiet --upgrade pip
	@$(BIN)/python -m pip install --quiet -e '.[embedded]'
	@touch $@

$(DEV): $(RUN)
	@echo "== installing what the tests need"
	@$(BIN)/python -m pip install --quiet --group dev
	@touch $@

$(MODEL): $(RUN)
	@echo "== fetching the embedded model and embedder (about 180 MB, once for this user)"
	@$(BIN)/trueness doctor --get embedded
	@$(BIN)/trueness doctor --get minilm
	@touch $@

setup: $(RUN)

demo: $(MODEL)
	@echo "== asking the embedded model and certifying its answers"
	@$(BIN)/trueness demo -o out/demo.html

test: $(DEV) $(MODEL)
	@echo "== running the tests"
	@$(BIN)/python -m pytest -n auto --dist loadfile

check: $(DEV)
	@echo "== lint"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@echo "== types"
	@$(BIN)/mypy
	@echo "== import contracts"
	@$(BIN)/lint-imports
	@echo "== fast tests"
	@$(BIN)/python -m pytest -q -n auto -m "not slow and not real and not browser"

bench: $(DEV) $(MODEL)
	@echo "== measuring ratios and memory; results/bench.json holds the record"
	@$(BIN)/python bench/run.py

docs: $(DEV) $(MODEL)
	@echo "== running the documents"
	@$(BIN)/python -m pytest -q tests/docs

integration: $(DEV)
	@echo "== setting other tools up, each in an environment of its own, and reading their logs"
	@$(BIN)/python -m pytest -q tests/integration -m integration

cluster:
	@echo "== setting ray up in an environment of its own, and running a local cluster of two workers"
	@$(PYTHON) -m venv out/cluster
	@out/cluster/bin/python -m pip install --quiet --upgrade pip
	@out/cluster/bin/python -m pip install --quiet -e '.[embedded,ray]' --group dev
	@out/cluster/bin/python -m pytest -q tests/cluster

local:
	@echo "== setting torch and transformers up in an environment of their own"
	@$(PYTHON) -m venv out/local
	@out/local/bin/python -m pip install --quiet --upgrade pip
	@out/local/bin/python -m pip install --quiet -e '.[embedded]' --group dev --group local-tests
	@out/local/bin/trueness doctor --get embedded
	@echo "== looking inside models"
	@out/local/bin/python -m pytest -q tests/backends/test_transformers_*.py tests/backends/test_entailment.py
	@echo "== measuring ratios; results/local.json holds the record"
	@out/local/bin/python bench/local.py

inspect:
	@echo "== setting inspect_ai up in an environment of its own, and evaluating its mock model"
	@$(PYTHON) -m venv out/inspect
	@out/inspect/bin/python -m pip install --quiet --upgrade pip
	@out/inspect/bin/python -m pip install --quiet -e '.[inspect]' --group dev
	@out/inspect/bin/python -m pytest -q tests/plugins tests/testing tests/docs/test_in_other_tools.py

clean:
	rm -rf $(VENV) out
