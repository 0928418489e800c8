# What CI runs, under the same names.
.PHONY: test test-peers svm-parity transport-parity demo bench bench-peers cuda lint

# Everything is built once, in the profile that ships.
test: lint
	cargo test --release --workspace --lib --bins --tests -- --quiet
	cargo test --release --workspace --doc -- --quiet

# Beside scikit-learn and POT, on the real sets of HG2V_DATA; a few hundred megabytes
# are installed under .venv/peers the first time.
test-peers: $(if $(HG2V_DATA),svm-parity transport-parity)
	$(if $(HG2V_DATA),,@echo "skipped: tests beside scikit-learn and POT need HG2V_DATA, a folder of TU zips")

svm-parity: .venv/peers/ready
	cargo test --release --workspace --lib --bins --tests --no-run
	.venv/peers/bin/python crates/hg2v-eval/peers/svm.py parity target/release/hg2v

transport-parity: .venv/peers/ready
	cargo build --release --workspace --bins --examples
	.venv/peers/bin/python crates/hg2v-baselines/peers/transport.py parity target/release/hg2v target/release/examples/distances

.venv/peers/ready: Makefile
	python3 -m venv .venv/peers
	.venv/peers/bin/pip install --quiet numpy scikit-learn POT
	touch $@

demo:
	cargo run --release -- demo

# HG2V_DATA=DIR measures the real sets there, beside PyTorch, scikit-learn and POT
# (a few gigabytes, installed under .venv/bench the first time).
bench:
	cargo bench --workspace --bench coarsen
	cargo bench --workspace --bench svm -- $(CURDIR)/.venv/svm
	$(if $(HG2V_DATA),$(MAKE) bench-peers)

bench-peers: .venv/bench/ready
	cargo build --release
	.venv/bench/bin/python crates/hg2v/benches/twin.py target/release/hg2v $(HG2V_DATA)
	.venv/bench/bin/python crates/hg2v-eval/peers/svm.py times target/release/hg2v .venv/svm
	cargo build --release --workspace --bins --examples
	.venv/bench/bin/python crates/hg2v-baselines/peers/transport.py times target/release/hg2v target/release/examples/distances

.venv/bench/ready: Makefile
	python3 -m venv .venv/bench
	.venv/bench/bin/pip install --quiet torch scikit-learn POT
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
