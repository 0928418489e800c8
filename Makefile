# What CI runs, under the same names.
.PHONY: test demo bench lint fuzz

# Everything is built once, in the profile that ships.
test: lint
	cargo test --release --workspace --all-targets -- --quiet
	cargo test --release --workspace --doc -- --quiet

demo:
	cargo run --release -- demo

# HG2V_DATA=DIR measures the real sets there.
bench:
	cargo bench -p hg2v --bench coarsen

lint:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings

# SECONDS=300 make fuzz: each reader in turn.
SECONDS ?= 60
fuzz:
	./fuzz/run $(SECONDS)
