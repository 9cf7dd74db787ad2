# make demo | test | fuzz | browser | lint | format | bench | bench-large | notebooks | pictures      (each sets up .venv on first use)
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test fuzz browser lint format bench bench-large notebooks pictures clean

demo: $(READY)
	$(BIN)/geotracs demo --out demo --overwrite

test: $(READY)
	$(BIN)/python -m pytest

# Damaged files of every kind, for some minutes; the tests make a few of these runs. Others: make fuzz RUNS=1000 SEED=1
RUNS ?= 10000
SEED ?= 0
fuzz: $(READY)
	$(BIN)/python -m tests.fuzz --runs $(RUNS) --seed $(SEED)

# For the tests of maps in a browser (Chromium must be installed): what their pages ask the network for.
browser: tests/browser/node_modules

tests/browser/node_modules: tests/browser/package.json
	npm install --silent --no-fund --no-audit --no-package-lock --prefix tests/browser
	touch $@

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

bench-large: $(READY)
	$(BIN)/python -m benchmarks.large

notebooks: $(READY)
	$(BIN)/jupyter-execute --inplace notebooks/*.ipynb

pictures: $(READY) browser
	$(BIN)/python -m docs.pictures

clean:
	rm -rf $(VENV) demo

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all,dev]"
	touch $@
