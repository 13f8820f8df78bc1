# The two commands: `make run` and `make test`. Each does the whole set-up first, or what is new of it.
MODEL ?= default
LLM_default := qwen2.5-coder-1.5b-instruct
LLM_small := qwen2.5-coder-0.5b-instruct
LLM := $(or $(LLM_$(MODEL)),$(MODEL))
VOICE_MODELS := whisper-base en_US-joe-medium
TEST_MODELS := $(VOICE_MODELS) whisper-tiny.en $(LLM_default) $(LLM_small)
ARGS ?=

.PHONY: run setup models test test-system lint lock

run: setup ## the assistant; MODEL=small for a small machine, or a name from the catalogue
	@$(if $(filter-out default,$(MODEL)),VOICE_AGENT_LLM__MODEL=$(LLM)) exec .venv/bin/voice-agent run $(ARGS)

setup: ## the set-up alone
	@setup/prepare run $(VOICE_MODELS) $(LLM)

models: ## the models alone
	@setup/prepare models $(VOICE_MODELS) $(LLM)

test: ## all tests but those that need root; ARGS="-k wake" for some of them
	@setup/prepare test $(TEST_MODELS)
	@.venv/bin/python -m pytest $(ARGS)
	@echo "The tests that need root are apart: make test-system"

test-system: ## the tests that need root
	@setup/prepare test $(TEST_MODELS)
	@[ "$$(id -u)" = 0 ] || { echo "These tests need root: sudo make test-system"; exit 1; }
	@.venv/bin/python -m pytest tests/system $(ARGS)

lint:
	@setup/prepare lint
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy

lock: ## pin anew what pyproject.toml asks for; needs pip-tools
	CUSTOM_COMPILE_COMMAND="make lock" pip-compile --upgrade --quiet --generate-hashes --allow-unsafe \
	  --no-annotate --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	  --extra dev --extra build --output-file setup/requirements.lock pyproject.toml
