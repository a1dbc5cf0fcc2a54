# Few verbs. `make` alone lists them.
.PHONY: help run demo fleet test test-embedded test-fleet check-deploy check-facts lint check images peers chaos plans bench install

help: ## this list
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

run: ## the service, on embedded parts
	cargo run

demo: ## posts going out on every simulated network
	cargo run -- demo

# PROFILE=release for measuring.
PROFILE ?= dev
fleet: ## the service on private PostgreSQL and Redis: two api processes, four workers, until Ctrl-C
	cargo build --workspace --profile $(PROFILE)
	scripts/fleet.sh --binary $(or $(CARGO_TARGET_DIR),target)/$(PROFILE:dev=debug)/fanfare

# Says what each part of a run took.
TIMED := scripts/timed.sh

install: ## what tests need on Debian: every crate of the lock file, Redis, PostgreSQL, ffmpeg, Chromium, Node, Python, curl, docker-compose, promtool
	$(TIMED) install scripts/install.sh

# A failed story's message stays readable in a log that is cut, whatever the environment says; `make test RUST_BACKTRACE=1` shows more.
export RUST_BACKTRACE := 0

# Stories wait more than they work: six run on two cores.
export RUST_TEST_THREADS ?= $(shell expr $$(nproc) \* 3)

# Stories write to memory where there is enough; faults and benchmarks go to the disk, as in production.
test-embedded test-fleet: export TMPDIR := $(shell scripts/scratch.sh)

# In seconds. A machine that is busy with something else fails no story; one story by hand gives up after 30 s.
test-embedded test-fleet: export TEST_PATIENCE ?= 300

# Always the whole workspace: cargo then builds each dependency once, with one set of features.
# What fails on one stack does not hide the other: all parts run, and their outcomes are listed at the end.
test: install ## everything, on both stacks
	@export TIMES="$$(mktemp)"; status=0; \
	$(MAKE) --no-print-directory --keep-going check-deploy check-facts test-embedded test-fleet || status=$$?; \
	echo; cat "$$TIMES"; rm -f "$$TIMES"; exit $$status

test-embedded: ## every crate's own tests, and the stories on SQLite and the memory queue
	$(TIMED) build cargo test --workspace --no-run
	TEST_STACK=embedded $(TIMED) "embedded stack" cargo test --workspace --no-fail-fast

test-fleet: ## the stories on PostgreSQL and Redis
	$(TIMED) "fleet stack" scripts/with-services.sh env TEST_STACK=fleet cargo test --workspace --test stories

check-deploy: ## docker-compose.yml, Prometheus' configuration and the alarms with their tests
	$(TIMED) deployment scripts/check-deploy.sh

check-facts: ## the files of what vendors say of their APIs, and the script that makes them
	cd scripts && python3 -m vendor_facts.validate && python3 -m unittest --quiet vendor_facts.test_make

images: ## the pictures of docs/images, by the tests' Chromium
	scripts/images.sh

lint: ## formatting, lints, the documentation of the code
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	cargo clippy --workspace --test plans --test real --test chaos -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps

check: lint ## formatting, lints, words, tests, dependencies
	@if command -v typos >/dev/null; then typos; else \
		echo "typos is not installed; run: cargo install typos-cli"; exit 1; fi
	$(MAKE) test
	@if command -v cargo-deny >/dev/null; then cargo deny check; else \
		echo "cargo-deny is not installed; run: cargo install cargo-deny"; exit 1; fi

peers: ## the stories that need software of others (a Bluesky PDS, WordPress, clients and suites of MCP and OAuth, generators of clients, a Stripe, axe-core, vendors' packages)
	scripts/install.sh --peers
	TEST_STACK=embedded cargo test --workspace --test real

# Amounts, as variables: SEEDS POSTS KILLS SCHEDULED WINDOW AWAY RESTARTS STOPS PEER_JOBS PEER_KILLS.
chaos: ## faults thrown at whole fleets, judged by the networks (ONLY=kills,real,sets,flush,away,noeviction,postgres,stops,clocks,disk,peers FULL=1)
	scripts/install.sh --peers
	SEEDS=$(or $(SEEDS),5000) cargo test --workspace --test simulation
	cargo test --workspace --test chaos

plans: ## what every statement costs over small and large tables, on both databases (PLAN_ROWS=1000000)
	scripts/install.sh
	TEST_STACK=embedded TEST_PATIENCE=600 cargo test --workspace --test plans
	TEST_PATIENCE=600 scripts/with-services.sh env TEST_STACK=fleet cargo test --workspace --test plans

bench: ## ratios beside peers in one run (ONLY="full lateness", POSTS=5000, ROUNDS=1, SLOTS=384, PENDING=10000000, DAYS=7, MB=500)
	scripts/install.sh --peers
	scripts/with-services.sh cargo bench --workspace --bench bench -- \
		$(if $(ONLY),--only "$(ONLY)") $(if $(POSTS),--posts $(POSTS)) \
		$(if $(SLOTS),--slots $(SLOTS)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(PENDING),--pending $(PENDING)) $(if $(DAYS),--days $(DAYS)) $(if $(MB),--megabytes $(MB))
