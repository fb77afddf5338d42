# XProf Hub for developers. `make demo` needs git, make and Python 3.11 to 3.13, nothing else.
#   make demo     open a 4-host session in XProf (ARGS="PATH --port N --no-browser")
#   make test     all tests, with the services that they need (ARGS="-k name")
#   make lint     ruff, mypy --strict, import-linter
#   make fuzz     damaged profiles through every tool (ARGS="--seconds 120 --seed 7 --replay FILE")
#   make bench    XProf Hub beside xprof on one session (ARGS="--markdown")
#   make bench-conversion  the same for conversion, on three sessions (ARGS="--profile FILE --markdown")
#   make bench-browser  the same in a real browser: bytes, and time to the first figure (ARGS="--markdown")
#   make bench-load  many people at once, on more and more workers (ARGS="--markdown", "--disturb", "--soak 10")
#   make screenshots  the pictures of docs/img/ (ARGS="--only overview")
#   make format   reformat and fix what ruff can fix
#   make lock     resolve the dependencies again
#   make clean    remove everything that these made
# PYTHON=/path/to/python3.12 chooses the Python of a new environment.

VENV ?= .venv
CLIENTS ?= .venv-clients
SCANNERS ?= .venv-scanners
PYTHON ?=
ARGS ?=
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input
PYTHON_CODE := auth loader server bench tests

.DEFAULT_GOAL := help
.PHONY: help demo test lint fuzz bench bench-conversion bench-browser bench-load screenshots format lock clean
.SUFFIXES:

help:
	@sed -n 's/^#   //p' Makefile

demo: $(BIN)/.demo
	@$(BIN)/xprof-hub demo $(ARGS)

test: $(BIN)/.dev $(CLIENTS)/.ready $(SCANNERS)/.ready
	@scripts/test_services.sh
	@$(BIN)/python -m pytest $(ARGS)

lint: $(BIN)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fuzz: $(BIN)/.dev
	@$(BIN)/python -m tests.hostile.fuzz $(ARGS)

bench: $(BIN)/.dev
	@$(BIN)/python bench/first_open.py $(ARGS)

bench-conversion: $(BIN)/.dev
	@$(BIN)/python bench/conversion.py $(ARGS)

bench-browser: $(BIN)/.dev
	@$(BIN)/python bench/browser.py $(ARGS)

bench-load: $(BIN)/.dev
	@$(BIN)/python -m bench.load $(ARGS)

screenshots: $(BIN)/.dev
	@$(BIN)/python bench/screenshots.py $(ARGS)

format: $(BIN)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(BIN)/python:
	@scripts/make_venv.sh $(VENV) $(PYTHON)

# Packages come from the locks with their hashes; the project itself goes in without fetching anything.
define install
	@echo "Installing $< into $(VENV) (once, until it changes)"
	@$(PIP) install --quiet --require-hashes -r $< -r requirements-build.lock
	@$(PIP) install --quiet --no-deps --no-index --no-build-isolation --editable .
	@XPROF_HUB_ASSET_CACHE=$(VENV)/share/xprof-hub/assets $(BIN)/xprof-hub compress-assets
	@touch $@
endef

$(BIN)/.demo: requirements-demo.lock requirements-build.lock pyproject.toml | $(BIN)/python
	$(install)

$(BIN)/.dev: requirements.lock requirements-build.lock pyproject.toml | $(BIN)/python
	$(install)

# What jobs run, and what looks for mistakes in deploy/: apart, so that its packages and ours never have to agree.
define install_apart
	@echo "Installing $< into $(@D) (once, until it changes)"
	@$(BIN)/python -m venv --clear $(@D)
	@$(@D)/bin/python -m pip --disable-pip-version-check --no-input install --quiet --require-hashes -r $<
	@touch $@
endef

$(CLIENTS)/.ready: requirements-clients.lock | $(BIN)/python
	$(install_apart)

$(SCANNERS)/.ready: requirements-scanners.lock | $(BIN)/python
	$(install_apart)

# One resolution for 3.11 to 3.13 and every platform. Demo and build are parts of the first, the clients are not.
COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --no-emit-index-url \
	--generate-hashes --custom-compile-command "make lock"

lock: $(BIN)/.dev
	$(COMPILE) $(UPGRADE) --extra engine --extra dev --group build pyproject.toml -o requirements.lock
	$(COMPILE) --constraint requirements.lock --extra engine --extra otel pyproject.toml -o requirements-demo.lock
	$(COMPILE) --constraint requirements.lock --group build -o requirements-build.lock
	$(COMPILE) $(UPGRADE) --group clients -o requirements-clients.lock
	$(COMPILE) $(UPGRADE) --group scanners -o requirements-scanners.lock

clean:
	rm -rf $(VENV) $(CLIENTS) $(SCANNERS) dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache bench/out
	find $(PYTHON_CODE) -name __pycache__ -type d -prune -exec rm -rf {} +
