# Every target sets up .venv first; nothing needs to be installed beforehand but Python 3.11 or later.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TORCH := $(VENV)/.torch

# Without compiled test modules each worker of pytest rewrites their assertions anew: twelve seconds.
unexport PYTHONDONTWRITEBYTECODE

PYTEST := $(BIN)/python -m pytest -n auto --dist worksteal

# uv installs in ten seconds what takes pip fifty. Settings of pip alone, such as an index, it does not
# know: where it fails, pip installs.
# Python compiles what is imported; compiling all of what is installed takes twenty seconds more.
PIP := --quiet --disable-pip-version-check --no-compile

# pytest and the scripts take more options through ARGS, for example `make test ARGS="-k bytecode"`.
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help demo test test-all check lint style types coverage format mutate requirements corpus corpus-compile corpus-lower corpus-run emit-table fuzz fuzz-compile hint-sweep soak determinism cache-stress bench docs conformance samples gpu-samples has-cuda-tile has-cutile clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(READY) ## compile one GEMM kernel to a cubin and run it, step by step
	@echo "demo: one GEMM tile kernel, as far as the compiler goes"
	@$(BIN)/python tools/demo.py $(ARGS)

test: lint ## lint and run the tests, without repeats, in minutes; GPU tests are skipped without a GPU
	@echo "test: every test that is not marked exhaustive"
	@$(PYTEST) -m "not exhaustive" $(ARGS)

test-all: $(READY) ## run the repeats that make test leaves out: more seeds, sizes, GPUs and corpus modules
	@echo "test-all: the tests that are marked exhaustive"
	@$(PYTEST) -m exhaustive $(ARGS)

check: $(READY) ## the tests that the change since main can affect (ARGS="--base HEAD~1")
	@echo "check: the tests that call what changed since main, the most specific ones first"
	@$(BIN)/python tools/check.py $(ARGS)

lint: $(READY) ## check style, format, import direction and types
	@$(MAKE) --no-print-directory -j2 style types

style: $(READY)
	@echo "lint: ruff, the import contracts, the vocabulary"
	@$(BIN)/ruff check --quiet
	@$(BIN)/ruff format --check --quiet
	@$(BIN)/lint-imports --no-logo
	@$(BIN)/python tools/vocabulary.py --quiet

types: $(READY)
	@echo "lint: pyrefly"
	@$(BIN)/pyrefly check --summary=none

coverage: $(READY) ## line coverage of make test, and of make test and make test-all together (hours)
	@echo "coverage: the tests of make test, then those of make test-all"
	@rm -f .coverage
	@$(PYTEST) -m "not exhaustive" --cov --cov-report= $(ARGS)
	@quick=$$($(BIN)/coverage report --format=total) && \
	$(PYTEST) -m exhaustive --cov --cov-append --cov-report= $(ARGS) && \
	echo "line coverage of make test: $$quick %" && \
	echo "line coverage of make test and make test-all: $$($(BIN)/coverage report --format=total) %"

format: $(READY) ## rewrite the sources in the one format, fix what ruff can fix
	@echo "format: ruff format and the safe fixes of ruff check"
	@$(BIN)/ruff format
	@$(BIN)/ruff check --fix

mutate: $(READY) ## mutation testing: disable each pass and pattern between nv_tileaa and nvgpu, expect a failure
	@echo "mutate: one pass, pattern or rule disabled at a time; a test of its package must fail"
	@$(BIN)/python tools/mutation_testing.py $(ARGS)

requirements: $(READY) ## list the requirements with the tests that cover them, and run those tests
	@echo "requirements: each with its tests, which are run"
	@$(BIN)/python tools/requirements.py $(ARGS)

corpus: $(READY) ## compare every module of the corpus with what NVIDIA's tools say, and compile it
	@echo "corpus: every module of the corpus against NVIDIA's tools, then compiled for three GPUs"
	@$(BIN)/python tools/corpus.py $(ARGS)

corpus-compile: $(READY) ## compile every module of the corpus to a cubin (ARGS="--arch sm_80")
	@echo "corpus-compile: every module of the corpus, down to a cubin"
	@$(BIN)/python tools/corpus_compile.py $(ARGS)

corpus-lower: $(READY) ## take every module of the corpus down to nv_tileaa
	@echo "corpus-lower: every module of the corpus down to nv_tileaa"
	@$(BIN)/python tools/stage1.py $(ARGS)

corpus-run: $(READY) ## run every module of the corpus on the reference executor
	@echo "corpus-run: every module of the corpus on the reference executor"
	@$(BIN)/python tools/corpus_run.py $(ARGS)

emit-table: $(READY) ## take every NVVM operation and library function through LLVM and ptxas
	@echo "emit-table: every row of the emission table, for every GPU"
	@$(BIN)/python tools/emit_table.py $(ARGS)

fuzz: $(READY) ## feed mutated bytecode and text to the readers (N=count SEED=number)
	@echo "fuzz: mutated bytecode and text into the readers"
	@$(BIN)/python tools/fuzz.py $(if $(N),-n $(N)) $(if $(SEED),--seed $(SEED)) $(ARGS)

fuzz-compile: $(READY) ## compile mutated programs in watched processes (N=count SEED=number)
	@echo "fuzz-compile: mutated programs, down to cubins"
	@$(BIN)/python tools/fuzz_compile.py $(if $(N),-n $(N)) $(if $(SEED),--seed $(SEED)) $(ARGS)

hint-sweep: $(READY) ## compile kernels under combinations of hints (ARGS="--every 10")
	@echo "hint-sweep: kernels under combinations of optimization hints, down to cubins"
	@$(BIN)/python tools/hint_sweep.py $(ARGS)

soak: $(READY) ## 10,000 compilations in one process, with flat memory (ARGS="--threads 64")
	@echo "soak: many compilations in one process"
	@$(BIN)/python tools/soak.py $(ARGS)

determinism: $(READY) ## compile the corpus with two hash seeds and in many threads, compare every byte
	@echo "determinism: the corpus with two hash seeds, and in many threads"
	@$(BIN)/python tools/determinism.py $(ARGS)

cache-stress: $(READY) ## 32 processes compile into one cache, some are killed (ARGS="--modules 100")
	@echo "cache-stress: many processes on one cache, some of them killed"
	@$(BIN)/python tools/cache_stress.py $(ARGS)

bench: $(READY) ## time the front end on the corpus
	@echo "bench: the front end on the corpus"
	@$(BIN)/python benchmarks/front_end.py $(ARGS)

docs: $(READY) ## build the documentation site into build/site; a warning is an error
	@echo "docs: the documentation site"
	@$(BIN)/python tools/docs_site.py $(ARGS)

conformance: has-cuda-tile $(READY) ## run the lit tests of a cuda-tile checkout (CUDA_TILE=folder)
	@echo "conformance: the lit tests of $(CUDA_TILE)"
	@$(BIN)/python tools/lit_conformance.py "$(CUDA_TILE)" $(ARGS)

samples: has-cutile $(TORCH) ## run the sample kernels of a cuTile Python checkout (CUTILE=folder)
	@echo "samples: the kernels of $(CUTILE)"
	@$(BIN)/python tools/cutile_samples.py "$(CUTILE)" $(ARGS)

gpu-samples: has-cutile $(TORCH) ## run the samples of a cuTile Python checkout on a GPU, unmodified (CUTILE=folder)
	@echo "gpu-samples: the programs of $(CUTILE)/samples"
	@$(BIN)/python tools/gpu_samples.py "$(CUTILE)/samples" $(ARGS)

clean: ## remove the virtual environment, the caches and the build products
	@echo "clean: environment, caches, build products"
	@rm -rf $(VENV) build dist .coverage .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	@find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# Asked before anything is installed.
has-cuda-tile:
	@test -d "$(CUDA_TILE)" || { echo "make: set CUDA_TILE to a checkout of NVIDIA/cuda-tile" >&2; exit 2; }

has-cutile:
	@test -d "$(CUTILE)" || { echo "make: set CUTILE to a checkout of NVIDIA/cutile-python" >&2; exit 2; }

# The stamp is written last, so a set-up that was interrupted is done again.
$(READY): pyproject.toml
	@echo "set-up: Python packages into $(VENV); takes a minute or two"
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or later is needed, found " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install $(PIP) uv && \
	$(BIN)/uv pip install --quiet --python $(BIN)/python --editable '.[dev,docs,gpu,tune]' || \
	$(BIN)/python -m pip install $(PIP) --editable '.[dev,docs,gpu,tune]'
	@touch $@

$(TORCH): $(READY)
	@echo "set-up: torch, which the samples of cuTile Python import, into $(VENV)"
	@$(BIN)/python -m pip install $(PIP) --editable '.[samples]'
	@touch $@
