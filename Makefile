# Everything starts here, and every target does the set-up that it needs.
#   make run                       serve the pages on http://127.0.0.1:7860
#   make test                      run all tests and linters
#   make check                     prove every exercise right
#   make bench                     measure the figures of the README
#   make setup PYTHON=python3.12   choose the interpreter (3.11 or newer)

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
WORKERS ?= 2

.PHONY: setup run test lint check bench

setup: $(VENV)/.ready

# A stamp and not the folder: an installation that was interrupted is taken up again.
$(VENV)/.ready: requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; name it: make PYTHON=python3.12 …")'
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements.txt
	$(PY) -m pip install --quiet --disable-pip-version-check --no-deps --editable .
	@touch $@

$(VENV)/.ready-dev: requirements-dev.txt $(VENV)/.ready
	$(PY) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt
	@touch $@

run: setup
	$(PY) -m grader serve

test: lint
	$(PY) -m pytest -q -n $(WORKERS) --dist loadfile

lint: $(VENV)/.ready-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy --strict grader

check: setup
	$(PY) -m grader exercise check --all

bench: $(VENV)/.ready-dev
	$(PY) -m benchmarks latency
