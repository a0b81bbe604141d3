# Everything starts here, and every target does the set-up that it needs.
#   make run                       serve the pages on http://127.0.0.1:7860
#   make quick                     at each save, under a minute: linters, types, the core's tests, three exercises
#   make test                      run the linters, and show every guarantee once
#   make proof                     run the other tests: everything in every place, kills, walks through all of torch
#   make check                     prove every exercise right
#   make bench                     measure the first figures of docs/performance.md
#   make tables                    write docs/exercises.md anew
#   make screenshots               take the pictures of the docs from the running application
#   make editor                    build the page's editor from grader/pages/editor (npm is needed)
#   make lock                      write requirements.txt and constraints.txt anew (LOCK=--upgrade: newest versions)
#   make run TORCH=cpu             set up with the build of PyTorch for processors, without 5 GB of CUDA libraries
#   make setup PYTHON=python3.12   choose the interpreter (3.11 or newer)

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
WORKERS ?= 2
TORCH ?=
# It has the pinned version with "+cpu" behind it, which pip prefers.
$(if $(filter-out cpu,$(TORCH)),$(error TORCH is "$(TORCH)"; expected: cpu, or nothing))
INDEX := $(if $(TORCH),--extra-index-url https://download.pytorch.org/whl/cpu)
PIP := $(PY) -m pip install --quiet --disable-pip-version-check

# uv resolves for all platforms and versions of Python at once, which pip cannot. Its version is part of the lock.
UV_VERSION := 0.13.9
LOCK ?=
COMPILE := pip compile --quiet --universal --python-version 3.11
# What torch of PyPI needs on Linux, gigabytes that no CPU uses. requirements.txt leaves them out, since whatever it
# names is installed, also beside a torch for CPUs only; constraints.txt pins them for whoever has a GPU.
CUDA := cuda-bindings cuda-pathfinder cuda-toolkit nvidia-cublas nvidia-cuda-cupti nvidia-cuda-nvrtc \
	nvidia-cuda-runtime nvidia-cudnn-cu13 nvidia-cufft nvidia-cufile nvidia-curand nvidia-cusolver nvidia-cusparse \
	nvidia-cusparselt-cu13 nvidia-nccl-cu13 nvidia-nvjitlink nvidia-nvshmem-cu13 nvidia-nvtx triton

.PHONY: setup run quick test proof lint check bench tables screenshots editor lock

setup: $(VENV)/.ready

# A stamp and not the folder: an installation that was interrupted is taken up again.
$(VENV)/.ready: requirements.txt constraints.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("Python 3.11 or newer is needed; name it: make PYTHON=python3.12 …")'
	@$(PY) -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(PIP) -c constraints.txt -r requirements.txt $(INDEX)
	$(PIP) --no-deps --editable .
	@touch $@

$(VENV)/.ready-dev: requirements-dev.txt $(VENV)/.ready
	$(PIP) -c constraints.txt -r requirements-dev.txt
	@touch $@

run: setup
	$(VENV)/bin/attention-gym serve

# What needs no service, no browser and no machine of its own. The gate of an exercise grades its examples as well.
GATE := tests/test_gate.py::test_an_exercise_passes_the_gate
QUICK := tests/test_architecture.py tests/test_docs.py tests/test_settings.py tests/checks tests/exercise tests/reference \
	tests/store $(addprefix tests/box/test_,arguments.py choosing.py kinds_of_weights.py observe.py parts.py seeing.py \
	weights.py wire.py) $(addprefix tests/judge/test_,grade.py inspection.py notebook.py pairs.py parts.py) \
	$(foreach exercise,softmax padding_mask causal_attention,"$(GATE)[$(exercise)]")

quick: lint
	$(PY) -m pytest -q -n $(WORKERS) $(QUICK)

# Which worker gets which tests is decided in tests/conftest.py, and which tests are the proof in tests/proof.py.
test: lint
	$(PY) -m pytest -q -n $(WORKERS) -m "not proof"

proof: $(VENV)/.ready-dev
	$(PY) -m pytest -q -n $(WORKERS) -m proof

lint: $(VENV)/.ready-dev
	$(PY) -m ruff check .
	$(PY) -m ruff format --check .
	$(PY) -m mypy
	$(VENV)/bin/lint-imports --no-cache --no-logo

check: setup
	$(VENV)/bin/attention-gym exercise check --all

bench: $(VENV)/.ready-dev
	$(PY) -m benchmarks latency

editor:
	cd grader/pages/editor && npm ci --silent && npm run --silent build

tables: setup
	$(VENV)/bin/attention-gym exercise table --write docs/exercises.md

screenshots: $(VENV)/.ready-dev
	$(PY) -m docs.screenshots

# No hashes: one version of torch is another file for CPUs, for CUDA and on each system.
lock: setup
	$(PIP) uv==$(UV_VERSION)
	$(VENV)/bin/uv $(COMPILE) $(LOCK) requirements.in requirements-dev.txt -o constraints.txt
	$(VENV)/bin/uv $(COMPILE) $(LOCK) --no-annotate -c constraints.txt $(addprefix --no-emit-package ,$(CUDA)) requirements.in -o requirements.txt
