# Everything works from a fresh clone with Python 3.11+ and make; nothing is installed outside .venv.
# `make help` lists the targets.

PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11,\
  $(shell $(name) -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && echo $(name))))
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)

# The levels of lock/: what a run needs, what the tests need besides, what `make check` needs; and
# what `make docs` needs.
RUN := $(VENV)/.ready-run
TEST := $(VENV)/.ready-test
DEV := $(VENV)/.ready-dev
DOCS := $(VENV)/.ready-docs

.DEFAULT_GOAL := help
.PHONY: help demo test check faults format screenshots bench docs lock clean

help: ## Show this list
	@grep -hE '^[a-z]+:.*##' Makefile | sed -E 's/^([a-z]+):.*## (.*)/make \1\t\2/' | expand -t 20

demo: $(RUN) ## Record an agent, replay it, change a file, see where it parts; VENDOR=openai-responses for another
	@$(BIN)/python examples/demo.py $(VENDOR)

test: $(TEST) ## Run the tests
	$(BIN)/python -m pytest -q -n auto

check: $(DEV) ## Run every check: style, types, import contracts, doctests, tests
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/pyright
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -q -n auto

# In one process, so that the drives have the machine and their counts are printed.
faults: $(TEST) ## Kill, fill, swap and cut at full strength, minutes long, and print the counts
	FAULTS=full $(BIN)/python -m pytest -q tests/faults

format: $(DEV) ## Put every file into the project's format
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

screenshots: $(TEST) ## Draw every screen anew into screenshots/
	$(BIN)/python examples/take_screenshots.py

bench: $(DEV) ## Measure: each figure beside its floor; writes benchmarks/results.json
	$(BIN)/python benchmarks/run_all.py

# Not --quiet: then a broken link would not fail it.
docs: $(DOCS) ## Build the site of docs/ into build/site, strictly: every page, every link
	$(BIN)/python -m mkdocs build --strict

lock: $(DEV) ## Resolve the ranges of pyproject.toml anew into lock/
	$(BIN)/python lock/resolve.py

clean: ## Remove what these targets made, the environment included
	rm -rf $(VENV) .demo .pytest_cache .ruff_cache .hypothesis build dist

$(RUN) $(TEST) $(DEV) $(DOCS): $(VENV)/.ready-%: lock/%.txt pyproject.toml | $(BIN)/python
ifdef UV
	uv pip install --quiet --python $(BIN)/python --require-hashes -r lock/$*.txt
	uv pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation --editable .
else
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip >/dev/null
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r lock/$*.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
endif
	@touch $@

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 or newer found; install one, or name it: make PYTHON=/path/to/python3" >&2; exit 1; }
ifdef UV
	uv venv --quiet --python "$(PYTHON)" $(VENV)
else
	$(PYTHON) -m venv $(VENV) || { echo "make: '$(PYTHON)' cannot make a virtual environment; install its venv package (python3-venv on Debian)" >&2; rm -rf $(VENV); exit 1; }
endif
