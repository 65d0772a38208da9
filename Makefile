PYTHON ?= python3
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test slow spark bench paper lint types format clean

help:  ## print this list
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: .venv/ready  ## fit reviews with a known truth: topics, predictions, a page; seconds, the first time minutes
	@ls src/topicprism/kernels/__pycache__/*.nbi >/dev/null 2>&1 || \
		echo "compiling kernels while the demo runs (once; a few minutes)"
	@$(BIN)/python -m topicprism demo --folder results/demo

test: .venv/ready lint types  ## style, types and tests
	@$(BIN)/python tests/chromium.py
	@$(BIN)/python -m pytest -n auto -m "not slow"

slow: .venv/ready  ## the tests that `make test` leaves out: whole scripts, many fits; minutes
	@$(BIN)/python -m pytest -n auto -m slow

spark: .venv/spark  ## tests of documents on Spark, which it installs (400 MB); needs Java 17
	@$(BIN)/python -c "import pyspark; print('Spark', pyspark.__version__, 'on two cores of this machine')"
	@$(BIN)/python -m pytest tests/test_spark.py -v -rs -p no:xdist

bench: .venv/rivals  ## speed beside rivals, which it installs; ten minutes on a quiet machine
	@$(BIN)/python benchmarks/run.py timing
	@$(BIN)/python benchmarks/run.py growth
	@$(BIN)/python benchmarks/run.py inference
	@$(BIN)/python benchmarks/run.py disk 0.5
	@$(BIN)/python benchmarks/token_rate.py
	@$(BIN)/python benchmarks/kernels.py

FIGURES := recovery training_size hotel movies polar_words times threads \
	whitening word_scale decompositions bounds
ONLY ?= $(FIGURES)

paper: $(if $(QUICK),.venv/ready,.venv/rivals)  ## figures and tables of the paper; hours, QUICK=1 minutes
	@$(if $(QUICK),echo "quick: sizes are tiny and verdicts say nothing of the paper")
	@for name in $(ONLY); do \
		echo "== $$name"; start=$$(date +%s); \
		$(BIN)/python experiments/paper/$$name.py $(if $(QUICK),--quick) $(if $(OUT),--out $(OUT)) || exit 1; \
		echo "$$name took $$(( $$(date +%s) - start )) seconds"; \
	done

lint: .venv/ready  ## style
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .

types: .venv/ready  ## static types
	@$(BIN)/mypy

format: .venv/ready  ## put the code in the house style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

clean:  ## remove the environment and everything made
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis

.venv/ready: pyproject.toml
	@echo "setting up .venv (once; a minute or two)"
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[dev]'
	@touch $@

.venv/spark: .venv/ready
	@echo "installing Spark into .venv (once)"
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[spark]'
	@touch $@

.venv/rivals: .venv/ready
	@$(BIN)/python -m pip install -qq --disable-pip-version-check -e '.[bench]'
	@touch $@
