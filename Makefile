# What CI runs, under the same names.
.PHONY: test demo bench lint

# Everything is built once, in the profile that ships.
test: lint
	cargo test --release --workspace --lib --bins --tests -- --quiet
	cargo test --release --workspace --doc -- --quiet

demo:
	cargo run --release -- demo

# HG2V_DATA=DIR measures the real sets there.
bench:
	cargo bench --workspace --bench coarsen

lint:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
