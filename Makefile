PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# Byte code is kept, whatever the surroundings say: otherwise every process of a test compiles all libraries anew.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test test-fast test-slow coverage lint evolve-small paragone-v2 docs clean

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --editable .
	touch $@

$(VENV)/installed-for-tests: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile torch==2.13.0
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[boost,cluster,dask,excel,hdf,logs,nirs,parquet,recsys,view,docs,dev]"
	touch $@ $(VENV)/installed $(VENV)/installed-for-docs

$(VENV)/installed-for-docs: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --no-compile --editable ".[docs]"
	touch $@ $(VENV)/installed

demo: $(VENV)/installed
	$(BIN)/paragone demo

# A test that hangs fails after ten minutes, and the others are heard of.
test: $(VENV)/installed-for-tests
	scripts/install-browser
	scripts/install-fuse
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow" --timeout 600

test-fast: $(VENV)/installed-for-tests
	$(BIN)/python -m pytest -n 2 --dist worksteal -m "not slow and not system" --timeout 600

test-slow: $(VENV)/installed-for-tests
	scripts/install-browser
	scripts/install-latex
	scripts/install-fuse
	scripts/install-slurm
	$(BIN)/python -m pytest -m slow

coverage: $(VENV)/installed-for-tests
	$(BIN)/python -m coverage run -m pytest -m "not slow and not system"
	$(BIN)/python -m coverage report

lint: $(VENV)/installed-for-tests
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: $(VENV)/installed-for-docs
	$(BIN)/sphinx-build --builder html --fail-on-warning --keep-going --quiet docs build/docs
	@echo "the site: build/docs/index.html"

evolve-small: $(VENV)/installed-for-tests
	$(BIN)/paragone generate evolve examples/evolve-small.toml --out evolved --workers 2 --hours 1

# One sitting of an hour; the next one goes on where it ended. The shipped collection took 3.2 hours of two cores so.
paragone-v2: $(VENV)/installed-for-tests
	mkdir -p build
	$(BIN)/paragone generate evolve examples/evolve-v2.toml --store build/paragone-v2.sqlite --out build/paragone-v2 --workers 2 --hours 1

clean:
	rm -rf $(VENV) build dist
