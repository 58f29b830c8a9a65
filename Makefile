# make run                          answer a question about a photograph in examples/, with no key and no network
# make run IMAGE=photo.jpg QUESTION="What colour is the car?" [MODEL=openai]
# make test   (or: make check)      format, lint, types and tests; ARGS="-k images" goes to pytest
# make test SLOW=1                  the slow tests too, as .ci/run does
# make coverage                     which lines all tests run, not counting the commands and cells that they start
# make test-real                    the same wires against real model servers, which it installs into .venv-real
# make test-vllm                    the same model in vLLM, in .venv-vllm; needs a GPU, or a processor with AVX-512
# make test-vision                  the perception of local networks, on tiny ones, in .venv-vision, which it sets up
# make test-train                   the trainings of VDebugger on tiny models, in .venv-train, which it sets up
# make vdebugger-world              errors injected, a critic and a refiner trained and measured; ARGS=--quick, --claims
# make test-ray                     benchmarks over a cluster of two nodes; installs ray into .venv-ray
# make doctor [MODEL=openai]        what a model endpoint accepts and sees, and whether this machine can run cells
# make demo [MODEL=openai] [PORT=7860]   a chat in the browser
# make bench [SAMPLES=rows.jsonl]   a table of right answers by category; ARGS="--model openai" goes to the benchmark
# make bench-requests               what building a request costs, and how soon a cell starts
# make bench-faults                 200 questions to an endpoint that fails three times in ten
# make conversations [ARGS="--count 100"]   generated tool conversations against strict model servers, on every wire
# make conformance                  our metrics beside the published scorers, on published replies; fetches both
# make null-simulation              false alarms, coverage and power of audits and comparisons, in simulated worlds
# make bench-runner [ARGS=throughput]   what the benchmark runner costs: overhead, throughput, memory
# make long-run [ARGS="--engine ray"]   a benchmark of 10,000 samples, killed 10 times, with faults and a full disk
# make bench-sandbox                the speed and size of the sandbox beside plain Jupyter; ARGS="--quick --json"
# make docs                         the documentation with an API reference, in build/docs; a warning is an error
# make neighbours [ARGS="--minutes 10"]   what sessions notice of hostile ones beside them
# make teardown [ARGS="--kills 200"]      hosts killed under load: nothing of their containers survives
# make fuzz [ARGS="--inputs 200000"]      broken input for everything on the host that reads from a guest
# make frames [ARGS="--chains 10000"]    random chains of crops, turns and resizes: is the way back to the original exact?
# make evidence [ARGS="--samples 20"]     answers with their evidence masked: does an oracle notice, and only then?
# make simulated-model [ARGS="--questions 60"]   a model with the habits of strong ones: turns lost to the harness
# make test-places                  a question, and attacks, in emulated containers, pods and the like
# make soak [SESSIONS=2000]         that many sessions, some hostile: every result right, nothing left behind
# make lock                         the newest versions of all dependencies into requirements.lock; needs uv
# make clean                        remove what was built and cached; .venv* and runs/ stay
#
# Each of them sets up .venv and the system packages first, where they are missing.
# IMAGE is one file, whatever its name; when there is no such file, several divided by spaces: IMAGE="a.png b.png".
# QUESTION reaches the program as it stands: quotes and dollars need no more care than your shell asks for.

SHELL := bash

IMAGE ?= examples/street.jpg
QUESTION ?= What do the street signs say?
SAMPLES ?= benchmarks/data/vlms-are-blind/samples.jsonl
SESSIONS ?= 2000

PORT ?= 7860

.PHONY: help run demo test check coverage test-real test-vllm test-vision test-train test-ray vdebugger-world doctor bench bench-requests bench-faults bench-sandbox neighbours teardown fuzz frames evidence simulated-model conformance conversations null-simulation bench-runner long-run docs soak lock clean test-places

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

# `value` takes the text as it was given, and the environment carries it past the quoting of make and shell.
run: export RUN_IMAGE := $(value IMAGE)
run: export RUN_QUESTION := $(value QUESTION)
run: export RUN_MODEL := $(value MODEL)
run:
	@scripts/setup run
	@if [[ -f $$RUN_IMAGE ]]; then images=("$$RUN_IMAGE"); else read -ra images <<< "$$RUN_IMAGE"; fi; \
	set -- --question "$$RUN_QUESTION" $${RUN_MODEL:+--model "$$RUN_MODEL"}; \
	for image in "$${images[@]}"; do set -- "$$@" --image "$$image"; done; \
	exec .venv/bin/python -m pyvision run "$$@"

test check:
	@SLOW=$(SLOW) scripts/check $(ARGS)

coverage:
	@scripts/setup test
	@.venv/bin/python -m pytest -n logical --maxprocesses 4 --dist loadfile --cov --cov-report term $(ARGS)

test-real:
	@scripts/setup real
	@.venv-real/bin/python -m pytest -m 'real and not vllm' tests/real $(ARGS)

test-vllm:
	@scripts/setup vllm
	@.venv-vllm/bin/python -m pytest -m vllm tests/real $(ARGS)

test-vision:
	@scripts/setup vision
	@.venv-vision/bin/python -m pytest -m vision tests/tools/perception $(ARGS)

test-train:
	@scripts/setup train
	@.venv-train/bin/python -m pytest -m train tests/experiments/vdebugger_training tests/benchmarks $(ARGS)

vdebugger-world:
	@scripts/setup train
	@.venv-train/bin/python -m benchmarks.worlds.vdebugger_world $(ARGS)

test-ray:
	@scripts/setup ray
	@.venv-ray/bin/python -m pytest tests/bench/runner/test_ray.py $(ARGS)

doctor: export RUN_MODEL := $(value MODEL)
doctor:
	@scripts/setup run
	@exec .venv/bin/python -m pyvision doctor $${RUN_MODEL:+--model "$$RUN_MODEL"}

demo: export RUN_MODEL := $(value MODEL)
demo:
	@scripts/setup demo
	@exec .venv/bin/python app.py --port $(PORT) $${RUN_MODEL:+--model "$$RUN_MODEL"}

bench:
	@scripts/setup run
	@.venv/bin/python -m benchmarks.blind "$(SAMPLES)" $(ARGS)

bench-requests:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.requests $(ARGS)

bench-faults:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.endpoint_faults $(ARGS)

conversations:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.conversations $(ARGS)

null-simulation:
	@scripts/setup run
	@.venv/bin/python -m benchmarks.audit $(ARGS)
bench-runner:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.runner $(ARGS)

long-run:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.long_run $(ARGS)

bench-sandbox:
	@scripts/setup run
	@.venv/bin/python -m benchmarks.sandbox $(ARGS)

docs: export NO_MKDOCS_2_WARNING := 1
docs:
	@scripts/setup docs
	@.venv-docs/bin/python -m mkdocs build --strict --quiet
	@echo build/docs/index.html

conformance:
	@scripts/setup conformance
	@scripts/setup test
	@.venv/bin/python -m benchmarks.conformance --python .venv-conformance/bin/python $(ARGS)

neighbours:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.neighbours $(ARGS)

teardown:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.teardown $(ARGS)

test-places:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.places $(ARGS)

fuzz:
	@scripts/setup test
	@.venv/bin/python -m benchmarks.fuzz $(ARGS)

frames:
	@scripts/setup run
	@.venv/bin/python -m benchmarks.frame_chains $(ARGS)

evidence:
	@scripts/setup run
	@.venv/bin/python -m benchmarks.evidence $(ARGS)

simulated-model:
	@scripts/setup run
	@.venv/bin/python -m benchmarks.simulated $(ARGS)

soak:
	@scripts/setup run
	@.venv/bin/python -m benchmarks.soak --sessions "$(SESSIONS)" $(ARGS)

lock:
	uv pip compile pyproject.toml --universal --python-version 3.11 --upgrade --quiet --no-annotate --no-header \
	  --strip-extras $(addprefix --extra ,dev docs data web) --output-file requirements.lock

clean:
	rm -rf build dist *.egg-info .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis
	find . -name '.venv*' -prune -o -name __pycache__ -exec rm -rf {} +
