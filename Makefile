# make demo | test | check | times | fuzz | browser | qgis | test-qgis | lint | format | matrix | docs | dist | bench | bench-large | notebooks | pictures      (each sets up .venv on first use)
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test times check fuzz browser qgis test-qgis lint format matrix docs dist bench bench-large notebooks pictures clean

demo: $(READY)
	$(BIN)/geotracs demo --out demo --overwrite

# All tests, on all cores; another number of processes: make test JOBS=2, and in one: make test JOBS=0
JOBS ?= logical
# One thread of BLAS and OpenMP each: the processes are as many as the cores.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest --numprocesses $(JOBS) --maxprocesses 8 --dist worksteal

test: $(READY)
	$(PYTEST)

# All tests once more, timed: writes which of them are too slow for the daily loop.
times: $(READY)
	$(PYTEST) -p tests.times tests

# The daily loop: what lint says, and the tests that are not slow, without the examples in docstrings.
check: lint
	$(PYTEST) -m "not slow" tests

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

# The plugin of QGIS as the zip file that plugins.qgis.org takes.
qgis:
	rm -rf build/qgis && mkdir -p build/qgis dist
	cp -r qgis_plugin/geotracs_qgis build/qgis/ && cp LICENSE build/qgis/geotracs_qgis/
	find build/qgis -name __pycache__ -prune -exec rm -r {} +
	cd build/qgis && $(PYTHON) -m zipfile -c ../../dist/geotracs_qgis.zip geotracs_qgis

# Its tests, in a real QGIS with the Python of the system. Debian's is installed if there is none; elsewhere they are skipped.
QGIS_PACKAGES := qgis python3-pytest xvfb xdotool
test-qgis: $(READY)
	if command -v apt-get >/dev/null && ! { command -v qgis_process && command -v Xvfb && command -v xdotool && \
	    /usr/bin/python3 -c "import pytest"; } >/dev/null 2>&1; then \
	    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(QGIS_PACKAGES) >/dev/null; fi
	if command -v qgis_process >/dev/null; then \
	    cd qgis_plugin/tests && env -i HOME="$$HOME" PATH=/usr/bin:/bin LANG=C.UTF-8 PYTHONDONTWRITEBYTECODE=1 \
	    GEOTRACS_PROGRAM="$(CURDIR)/$(BIN)/geotracs" /usr/bin/python3 -m pytest -q -p no:cacheprovider; \
	else echo "The tests of the QGIS plugin are skipped: QGIS is not installed."; fi

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The oldest versions that are allowed, the newest without extras, and other Pythons; one of them: make matrix NAMES=oldest
NAMES ?=
matrix: $(READY)
	$(BIN)/python -m tools.matrix $(NAMES)

# The documentation, in build/docs; links into it are checked. No network is needed once it is installed.
docs: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[all,docs]"
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs build/docs

# An sdist and a wheel, checked.
dist: $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check build twine
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python -m twine check --strict dist/*

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
