# make demo | test | lint | format | bench | notebooks      (each sets up .venv on first use)
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test lint format bench notebooks clean

demo: $(READY)
	$(BIN)/geotracs demo --out demo --overwrite

test: $(READY)
	$(BIN)/python -m pytest

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(READY)
	$(BIN)/python -m benchmarks

notebooks: $(READY)
	$(BIN)/jupyter-execute --inplace notebooks/*.ipynb

clean:
	rm -rf $(VENV) demo

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all,dev]"
	touch $@
