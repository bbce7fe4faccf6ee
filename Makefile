# Two commands for newcomers: `make demo` and `make test`. The rest is for those who work on the host.
.PHONY: demo test test-sdk bench-sdk soak fuzz check fmt plugins build bench install
.DEFAULT_GOAL := demo

demo: ## Sets everything up, runs the main job on real input, shows the tables
	scripts/demo.sh

test: ## Sets everything up and runs all tests
	scripts/test.sh

test-sdk: ## Tests of the SDKs: components built in Python, JavaScript, TypeScript, Go and C, with their own tools
	scripts/test-sdk.sh

soak: ## Twenty minutes of load, with the broker and the host ended again and again
	scripts/soak.sh $(MINUTES) $(SEED)

fuzz: ## Looks for what makes the host panic: messages, components and their memory made by chance
	scripts/fuzz.sh $(SECONDS)

check: ## What a change must pass besides the tests: format, lints, docs, dependencies and their advisories
	cargo fmt --all --check
	cargo clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --quiet
	scripts/deny.sh

fmt: ## Formats
	cargo fmt --all

plugins: ## Builds the bundled components into plugins/
	scripts/setup.sh
	scripts/plugins.sh

build: plugins ## Builds the host, optimised
	cargo build --release -p crisol-cli

install: plugins ## Installs `host` and, the same program, `crisol`
	cargo install --path host/cli
	ln -sf host "$${CARGO_HOME:-$$HOME/.cargo}/bin/crisol"

bench-sdk: ## Measures the same two stages in each language
	scripts/bench-sdk.sh

bench: ## Measures beside Spark on the same machine
	scripts/bench.sh
