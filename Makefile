# What CI runs, under the same names.
.PHONY: test test-peers svm-parity kernel-parity layer-parity demo bench bench-peers cuda card lint

# Everything is built once, in the profile that ships.
test: lint
	cargo test --release --workspace --lib --bins --tests -- --quiet
	cargo test --release --workspace --doc -- --quiet

# Beside PyTorch Geometric, and beside scikit-learn, GraKeL and gensim on the real sets of
# HG2V_DATA; a few gigabytes are installed under .venv/torch and .venv/peers the first time.
test-peers: layer-parity $(if $(HG2V_DATA),svm-parity kernel-parity)
	$(if $(HG2V_DATA),,@echo "skipped: tests on real sets beside other programs need HG2V_DATA, a folder of TU zips")

svm-parity: .venv/peers/ready
	cargo test --release --workspace --lib --bins --tests --no-run
	.venv/peers/bin/python crates/hg2v-eval/peers/svm.py parity target/release/hg2v

kernel-parity: .venv/peers/ready
	cargo test --release --workspace --lib --bins --tests --no-run
	cargo bench --workspace --bench kernels -- $(CURDIR)/.venv/baselines MUTAG PTC_FR ENZYMES
	.venv/peers/bin/python crates/hg2v-baselines/peers/kernels.py parity target/release/hg2v \
		.venv/baselines MUTAG PTC_FR ENZYMES

layer-parity: .venv/torch/ready
	cargo test --release --workspace --examples --no-run
	.venv/torch/bin/python crates/hg2v-baselines/peers/layers.py target/release/examples/layers

.venv/torch/ready:
	python3 -m venv .venv/torch
	.venv/torch/bin/pip install --quiet torch torch_geometric scikit-learn grakel gensim
	touch $@

.venv/peers/ready:
	python3 -m venv .venv/peers
	.venv/peers/bin/pip install --quiet numpy scikit-learn grakel gensim
	touch $@

demo:
	cargo run --release -- demo

# HG2V_DATA=DIR measures the real sets there, beside PyTorch and scikit-learn
# (a few gigabytes, installed under .venv/torch the first time).
bench:
	cargo bench --workspace --bench coarsen
	cargo bench --workspace --bench svm -- $(CURDIR)/.venv/svm
	$(if $(HG2V_DATA),$(MAKE) bench-peers)

bench-peers: .venv/torch/ready
	cargo build --release
	.venv/torch/bin/python crates/hg2v/benches/twin.py target/release/hg2v $(HG2V_DATA)
	.venv/torch/bin/python crates/hg2v-eval/peers/svm.py times target/release/hg2v .venv/svm
	cargo bench --workspace --bench kernels -- $(CURDIR)/.venv/baselines NCI1 NCI1:1000
	.venv/torch/bin/python crates/hg2v-baselines/peers/kernels.py times target/release/hg2v \
		.venv/baselines NCI1:1000

# On a machine with an NVIDIA card, CUDA 12 or 13 on LD_LIBRARY_PATH: whether it computes
# what the processor does, and how fast. CI has none. With HG2V_DATA, and a python3 that has
# PyTorch and PyTorch Geometric, also real sets and PyTorch, into experiments/results/cuda.
cuda:
	cargo clippy --release --workspace --all-targets --features hg2v-cli/cuda -- -D warnings
	cargo bench --workspace --features hg2v-cli/cuda --bench cuda
	$(if $(HG2V_DATA),$(MAKE) card)

card:
	cargo build --release --features cuda
	BENCH=$$(cargo bench --no-run --workspace --features hg2v-cli/cuda --bench cuda 2>&1 | sed -n 's/.*(\(.*cuda-.*\))/\1/p') && \
	python3 crates/hg2v/benches/card.py $$BENCH target/release/hg2v $(HG2V_DATA) experiments/results/cuda

lint:
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps --quiet
