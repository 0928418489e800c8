# What CI runs, under the same names.
.PHONY: test test-peers svm-parity kernel-parity demo bench bench-peers cuda card lint

# Everything is built once, in the profile that ships.
test: lint
	cargo test --release --workspace --lib --bins --tests -- --quiet
	cargo test --release --workspace --doc -- --quiet

# Beside scikit-learn, GraKeL and gensim, on the real sets of HG2V_DATA; a few hundred
# megabytes are installed under .venv/peers the first time.
test-peers: $(if $(HG2V_DATA),svm-parity kernel-parity)
	$(if $(HG2V_DATA),,@echo "skipped: tests beside other programs need HG2V_DATA, a folder of TU zips")

svm-parity: .venv/peers/ready
	cargo test --release --workspace --lib --bins --tests --no-run
	.venv/peers/bin/python crates/hg2v-eval/peers/svm.py parity target/release/hg2v

kernel-parity: .venv/peers/ready
	cargo test --release --workspace --lib --bins --tests --no-run
	cargo bench --workspace --bench kernels -- $(CURDIR)/.venv/baselines MUTAG PTC_FR ENZYMES
	.venv/peers/bin/python crates/hg2v-baselines/peers/kernels.py parity target/release/hg2v \
		.venv/baselines MUTAG PTC_FR ENZYMES

.venv/peers/ready:
	python3 -m venv .venv/peers
	.venv/peers/bin/pip install --quiet numpy scikit-learn grakel gensim
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
	cargo bench --workspace --bench kernels -- $(CURDIR)/.venv/baselines NCI1 NCI1:1000
	.venv/bench/bin/python crates/hg2v-baselines/peers/kernels.py times target/release/hg2v \
		.venv/baselines NCI1:1000

.venv/bench/ready:
	python3 -m venv .venv/bench
	.venv/bench/bin/pip install --quiet torch scikit-learn grakel gensim
	touch $@

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
