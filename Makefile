# Zoothera's targets; `make help` lists them. Test farms call `make -j EXE=<name> EVALFILE=<net>`.

CARGO ?= cargo
EXE ?= zoothera
# Where cargo builds: CARGO_TARGET_DIR is honoured if it is set.
TARGET_DIR ?= $(or $(CARGO_TARGET_DIR),target)

# On Windows the binary has a suffix, and a test farm may or may not have written it.
ifeq ($(OS),Windows_NT)
SUFFIX := .exe
endif
OUTPUT := $(patsubst %.exe,%,$(EXE))$(SUFFIX)

# The build script embeds the net that EVALFILE names; cargo runs it in another directory,
# so that a relative path must become absolute here.
ifdef EVALFILE
override EVALFILE := $(abspath $(EVALFILE))
export EVALFILE
endif

.DEFAULT_GOAL := build
.PHONY: help build test check-slow train-smoke fmt clippy bench sprt clean

help: ## List the targets
	@echo "make [target] [EXE=name] [EVALFILE=net.nnue]"
	@echo
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1|\2/p' $(firstword $(MAKEFILE_LIST)) | \
		awk -F'|' '{ printf "%-12s %s\n", $$1, $$2 }'

build: ## Build the engine and copy it to ./EXE (the default target)
	$(CARGO) build --release --locked
ifdef EVALFILE
	"$(TARGET_DIR)/release/zoothera$(SUFFIX)" net verify "$(EVALFILE)"
endif
	cp -f "$(TARGET_DIR)/release/zoothera$(SUFFIX)" "$(OUTPUT)"

test: ## Run all tests but the slow ones
	$(CARGO) test --locked

check-slow: ## Run the slow tests: deep perft, long fuzzing, many kills, a net from nothing
	$(CARGO) test --locked -- --ignored

train-smoke: ## Make positions, train and export a net, play it against material (minutes)
	$(CARGO) test --locked --test smoke -- --ignored --nocapture

fmt: ## Format the source
	$(CARGO) fmt

clippy: ## Lint every target, warnings are errors
	$(CARGO) clippy --locked --all-targets -- -D warnings

bench: build ## Build, then search the bench positions
	"./$(OUTPUT)" bench

sprt: ## Match against revision BASE; TC, NODES, BOOK, BOUNDS, GAMES, NET, RUNNER: see .ci/sprt
	@.ci/sprt

clean: ## Remove what was built
	$(CARGO) clean
	rm -f "$(OUTPUT)"
