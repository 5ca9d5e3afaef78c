# Each target creates .venv if it is not there, installs what it needs once, and runs.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
COMPILED := $(VENV)/.compiled
DOCS_INSTALLED := $(VENV)/.installed-docs
BENCH_INSTALLED := $(VENV)/.installed-bench

.PHONY: help demo test test-slow test-machines lint house format bench kills docs coverage-figures clean

help:
	@echo "make demo       the story on built-in data, in under a minute"
	@echo "make test       the fast tests, on two cores"
	@echo "make test-slow  the tests that take longer, and property tests on 100 examples each"
	@echo "make test-machines   the tests of numbers as on other processors, or on some: MACHINES=Haswell"
	@echo "make lint       ruff, mypy, the dependency rule, and make house"
	@echo "make house      how many pieces the package has, and which rule a change broke"
	@echo "make format     let ruff rewrite the layout"
	@echo "make bench      every benchmark, or one: make bench NAME=gaussian_naive_bayes"
	@echo "make kills      kill every verb at random times, 1,000 times in all"
	@echo "make docs       the manual, in docs/_build/html"
	@echo "make coverage-figures   measure every figure of docs/coverage.md, and rewrite it"

demo: $(INSTALLED)
	$(BIN)/likely demo

test: $(COMPILED)
	$(BIN)/python -m pytest -q -n 2 --dist worksteal

test-slow: $(COMPILED)
	LIKELY_EXAMPLES=100 $(BIN)/python -m pytest -q -n 2 --dist worksteal -m "slow or long or hypothesis"

test-machines: $(COMPILED)
	$(BIN)/python .ci/machines $(MACHINES)

lint: $(INSTALLED) house
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

house: $(INSTALLED)
	$(BIN)/python .ci/house

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

kills: $(INSTALLED)
	$(BIN)/python -m benchmarks.kills

bench: $(BENCH_INSTALLED)
	$(BIN)/python -m benchmarks.run $(NAME)

docs: $(DOCS_INSTALLED)
	$(BIN)/python -m sphinx -q -W --keep-going -b html docs docs/_build/html

coverage-figures: $(INSTALLED)
	$(BIN)/python docs/measure_coverage.py $(ROWS)

clean:
	rm -rf build dist docs/_build .pytest_cache .mypy_cache .ruff_cache

$(INSTALLED): pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[test,dev]'
	touch $@

# loops are compiled once, before two test processes both would
$(COMPILED): $(INSTALLED)
	$(BIN)/python -c "import likely; likely.warmup()"
	touch $@

$(DOCS_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

$(BENCH_INSTALLED): $(INSTALLED)
	$(BIN)/python -m pip install --quiet --editable '.[bench]'
	touch $@
