# What CI runs, under the same names.
.PHONY: test test-peers svm-parity layer-parity demo bench bench-peers cuda lint

# Everything is built once, in the profile that ships.
test: lint
	cargo test --release --workspace --lib --bins --tests -- --quiet
	cargo test --release --workspace --doc -- --quiet

# Beside PyTorch Geometric, and beside scikit-learn on the real sets of HG2V_DATA; a few
# gigabytes are installed under .venv/torch and .venv/peers the first time.
test-peers: layer-parity $(if $(HG2V_DATA),svm-parity)
	$(if $(HG2V_DATA),,@echo "skipped: tests beside scikit-learn need HG2V_DATA, a folder of TU zips")

svm-parity: .venv/peers/ready
	cargo test --release --workspace --lib --bins --tests --no-run
	.venv/peers/bin/python crates/hg2v-eval/peers/svm.py parity target/release/hg2v

layer-parity: .venv/torch/ready
	cargo build --release --workspace --example layers
	.venv/torch/bin/python crates/hg2v-baselines/peers/layers.py target/release/examples/layers

.venv/torch/ready:
	python3 -m venv .venv/torch
	.venv/torch/bin/pip install --quiet torch torch_geometric
	touch $@

.venv/peers/ready:
	python3 -m venv .venv/peers
	.venv/peers/bin/pip install --quiet numpy scikit-learn
	touch $@

demo:
	cargo run --release -- demo

# HG2V_DATA=DIR measures the real sets there, beside PyTorch and scikit-learn
# (a few gigabytes, installed under .venv/bench the first time).
bench:
	cargo bench --workspace --bench coarsen
	cargo bench --workspace --bench svm -- $(CURDIR)/.venv/svm
	$(if $(HG2V_DATA),$(MAKE) bench-peers)

bench-peers: .venv/bench/ready
	cargo build --release
	.venv/bench/bin/python crates/hg2v/benches/twin.py target/release/hg2v $(HG2V_DATA)
	.venv/bench/bin/python crates/hg2v-eval/peers/svm.py times target/release/hg2v .venv/svm

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
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps --quiet
