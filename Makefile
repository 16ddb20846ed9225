# Zoothera's targets; `make help` lists them. Test farms call `make -j EXE=<name> EVALFILE=<net>`.

CARGO ?= cargo
EXE ?= zoothera
# Where cargo builds: CARGO_TARGET_DIR is honoured if it is set.
TARGET_DIR ?= $(or $(CARGO_TARGET_DIR),target)

# On Windows the binary has a suffix; EXE may or may not contain it.
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

# Tests list here what they skipped; it is printed after all of them.
NOTICES := $(TARGET_DIR)/tmp/skipped
# Runs the tests with these arguments and lists at the end what was skipped.
define run-tests
	@rm -f "$(NOTICES)"
	@status=0; $(CARGO) test --locked $(1) || status=$$?; .ci/skipped "$(NOTICES)"; exit $$status
endef

.DEFAULT_GOAL := build
.PHONY: help build test check-slow check-tune check-gpu-lint check-gpu train-smoke fmt clippy doc bench sprt dist check-dist web clean

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
	$(call run-tests)

check-slow: ## Run the slow tests: deep perft, long fuzzing, many kills, a net from nothing; Miri, ThreadSanitizer
	$(call run-tests,-- --ignored)
	.ci/sanitize

# WITH=feature: .ci/run gives the tests of both features one build.
check-tune: ## Lint and test the engine with the feature 'tune'
	$(CARGO) clippy --locked --all-targets --features tune -- -D warnings
	CARGO_PROFILE_TEST_OPT_LEVEL=1 $(CARGO) test --locked --features "tune $(WITH)" --test tune

check-gpu-lint: ## Lint the engine with the feature 'gpu'
	$(CARGO) clippy --locked --all-targets --features gpu -- -D warnings

check-gpu: ## Test training on a graphics card, or in software with mesa-vulkan-drivers
	CARGO_PROFILE_TEST_OPT_LEVEL=1 $(CARGO) test --locked --features "gpu $(WITH)" --lib --test train gpu::

train-smoke: ## Make positions, train and export a net, play it against material (minutes)
	$(CARGO) test --locked --test smoke -- --ignored --nocapture

fmt: ## Format the source
	$(CARGO) fmt

clippy: ## Lint every target, warnings are errors
	$(CARGO) clippy --locked --all-targets -- -D warnings

doc: ## Build the documentation of every item, warnings are errors
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --locked --no-deps --document-private-items

bench: build ## Build, then search the bench positions
	"./$(OUTPUT)" bench

sprt: ## Match against revision BASE; TC, NODES, BOOK, BOUNDS, GAMES, NET, RUNNER: see .ci/sprt
	@.ci/sprt

dist: ## Write archives, packages and manifests of a release to dist/; BASE_URL, HOMEPAGE: see .ci/dist
	@.ci/dist

check-dist: ## Open, install and run what dist/ contains
	@.ci/check-dist

web: ## Write the package for browsers and Node to dist/web/ and an archive, and the page to dist/page/
	@.ci/web
	@web/page/build dist/web dist/page

clean: ## Remove what was built
	$(CARGO) clean
	rm -rf "$(OUTPUT)" dist
