# Everything a machine needs is Python 3.11 or later, git and make; each target sets up what it uses.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
WORKERS ?= auto

.PHONY: demo test check check-dependencies bench real harness lock clean

demo: $(READY)  ## audit the example submission, without Docker or a key
	$(BIN)/utboost-action demo

test: $(READY)  ## all tests; what a machine lacks is skipped with its reason
	$(BIN)/pytest -n $(WORKERS) --dist loadgroup

check: $(READY)  ## lint, format, types, import rules, Dockerfile, shell, workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pytest -q -p no:cacheprovider tests/unit/test_architecture.py
	$(BIN)/hadolint Dockerfile
	$(BIN)/shellcheck .ci/run tests/*.sh tests/end_to_end/*.sh
	$(BIN)/bandit -q -ll -r utboost_action entrypoint.py
	$(BIN)/zizmor --offline -q .github/workflows/*.yml action.yml examples/workflows/*.yml
	$(BIN)/check-jsonschema -q --builtin-schema vendor.github-actions action.yml
	$(BIN)/check-jsonschema -q --builtin-schema vendor.github-workflows .github/workflows/*.yml examples/workflows/*.yml
	tests/lint_workflows.sh

check-dependencies: $(READY)  ## known vulnerabilities of what is pinned, where their data can be had (ADVISORIES=--required: or fail)
	$(BIN)/python tests/check_dependencies.py $(ADVISORIES)

bench: $(READY)  ## measurements, each as a ratio to a reference in the same run
	$(BIN)/python -m bench

real: $(READY)  ## every real instance, in containers (needs Docker and the real data beside the project)
	UTBOOST_REAL=all $(BIN)/pytest -n $(WORKERS) --dist loadgroup tests/real

HARNESS := .venv-harness
harness: $(READY) $(HARNESS)/ready  ## exported rows in the official harness itself (Docker, the real data)
	UTBOOST_SWEBENCH=$(abspath $(HARNESS))/bin/python $(BIN)/pytest -s tests/real/test_official_harness.py

$(HARNESS)/ready: requirements-harness.txt
	$(PYTHON) -m venv $(HARNESS)
	$(HARNESS)/bin/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-harness.txt
	touch $@

lock:  ## pin the requirements again, by hash, with no index named
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header pyproject.toml -o requirements.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --extra dev pyproject.toml -c requirements.txt -o requirements-dev.txt
	uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header requirements-reference.in -o requirements-harness.txt

clean:
	rm -rf $(VENV) $(HARNESS) utboost-out build dist

$(READY): requirements-dev.txt requirements-reference.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; say which with make PYTHON=...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements-dev.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r requirements-reference.txt
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	touch $@
