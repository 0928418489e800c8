# What CI runs, under the same names.
.PHONY: test demo bench bench-peers cuda lint

# Everything is built once, in the profile that ships.
test: lint
	cargo test --release --workspace --lib --bins --tests -- --quiet
	cargo test --release --workspace --doc -- --quiet

demo:
	cargo run --release -- demo

# HG2V_DATA=DIR measures the real sets there, beside PyTorch and scikit-learn
# (a few gigabytes, installed under .venv/bench the first time).
bench:
	cargo bench --workspace --bench coarsen
	cargo bench --workspace --bench svm -- .venv/svm
	$(if $(HG2V_DATA),$(MAKE) bench-peers)

bench-peers: .venv/bench/ready
	cargo build --release
	.venv/bench/bin/python crates/hg2v/benches/twin.py target/release/hg2v $(HG2V_DATA)
	.venv/bench/bin/python crates/hg2v-eval/benches/sklearn_grid.py .venv/svm

.venv/bench/ready:
	python3 -m venv .venv/bench
	.venv/bench/bin/pip install --quiet torch scikit-learn
	touch $@

# On a machine with an NVIDIA card, CUDA 12 or 13 on LD_LIBRARY_PATH: whether it computes
# what the processor does, and how fast. CI has none.
cuda:
	cargo clippy --release --workspace --all-targets --features hg2v-cli/cuda -- -D warnings
	cargo bench --workspace --features hg2v-cli/cuda --bench cuda

lint:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
