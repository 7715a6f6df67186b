# make help lists the targets. Go 1.26 and make are enough for all but bench-oracle and bench-windows (Python 3 with
# venv) and fuzz-oracle (a MariaDB server).

GO          ?= go
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEADCODE    := golang.org/x/tools/cmd/deadcode@v0.51.0
DUCKDB      := duckdb==2.0.0
SF          ?= 1
ROWS        ?= 10000000
FUZZTIME    ?= 30s
SECONDS     ?= 60
SEED        ?=
SCHEMAS     ?=
QUERIES     ?= 150
FILES       ?= 20000

export CGO_ENABLED ?= 0

.DEFAULT_GOAL := build

.PHONY: build demo test test-arrow18 test-clients test-emulated race race-transfers lint deadcode fuzz fuzz-oracle fuzz-others fuzz-devices damage bench bench-oracle bench-windows bench-memory bench-rows gpu gpu-bundle clean help

build: ## build build/radish and build/radish-bench
	@mkdir -p build
	$(GO) build -o build/ ./cmd/radish ./cmd/radish-bench

demo: ## generate TPC-H at scale factor 1, run the 22 queries, check the answers
	$(GO) run ./cmd/radish-bench demo

test: ## run all tests
	$(GO) build ./...
	$(GO) test -timeout 20m ./...

test-clients: ## test sqlx, sqlc's code, GORM, ent and goose over the driver, in a module of their own
	cd gormradish && $(GO) vet ./...
	cd test/clients && $(GO) vet ./... && $(GO) test ./...

test-arrow18: ## test the package for arrow-go v18, in a module of its own
	cd arrow18 && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./... && $(GO) test -tags assert ./...

race: ## run the short tests with the race detector (needs a C compiler)
	CGO_ENABLED=1 $(GO) test -race -short -timeout 20m ./...

race-transfers: ## 64 sessions that transfer balances for a minute, with the race detector
	CGO_ENABLED=1 RADISH_TRANSFER_SECONDS=$${RADISH_TRANSFER_SECONDS:-60} $(GO) test -race -count=1 -v -run TestTransfers ./engine

test-emulated: ## run sqllogictest with the kernels for GPUs, on the processor: the scripts here, some under 'auto', some on three devices, and QUERIES (150) of the sample if it is there
	$(GO) test ./test/sqllogic -count=1 -timeout 20m -v -device emulated -run TestScripts
	RADISH_TEST_SECONDS=$${RADISH_TEST_SECONDS:-60} $(GO) test ./test/sqllogic -count=1 -timeout 20m -v -device auto-emulated -run TestScripts -queries 25
	RADISH_TEST_SECONDS=30 $(GO) test ./test/sqllogic -count=1 -timeout 20m -v -device emulated -devices 3 -run TestScripts -queries 12
	RADISH_TEST_SECONDS=$${RADISH_TEST_SECONDS:-240} $(GO) test ./test/sqllogic -count=1 -timeout 20m -v -device emulated -run TestSample -short -queries $(QUERIES)

lint: ## check formatting, go vet, staticcheck
	@files=$$(gofmt -l .); if [ -n "$$files" ]; then echo "gofmt -w these files:"; echo "$$files"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(STATICCHECK) ./...
	cd test/oracle && $(GO) vet ./... && $(GO) run $(STATICCHECK) ./...

# No part of lint, which CI runs: it takes 35 s of processor time.
deadcode: ## list functions that no program and no test reaches; there is none
	@found=$$($(GO) run $(DEADCODE) -test ./...) || exit 1; if [ -n "$$found" ]; then echo "$$found"; exit 1; fi

fuzz: ## run each Go fuzz target for FUZZTIME (30s)
	@set -e; grep -rl --include='*_test.go' '^func Fuzz' . | grep -v '^./test/oracle/' | while read -r file; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\)(f \*testing.F).*/\1/p' "$$file"); do \
			echo "== $$(dirname "$$file") $$target"; \
			$(GO) test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")"; \
		done; \
	done

fuzz-oracle: ## compare random statements with MariaDB for SECONDS (60), from SEED on, in at most SCHEMAS schemas
	cd test/oracle && RADISH_FUZZ_SECONDS=$(SECONDS) $(if $(SEED),RADISH_FUZZ_SEED=$(SEED)) $(if $(SCHEMAS),RADISH_FUZZ_SCHEMAS=$(SCHEMAS)) $(GO) test -count 1 -v -timeout $$(($(SECONDS) + 600))s -run '^TestFuzz$$' ./fuzz

fuzz-others: ## compare simpler random statements with DuckDB (needs a C compiler) and SQLite, for SECONDS each
	cd test/oracle && CGO_ENABLED=1 RADISH_FUZZ_SECONDS=$(SECONDS) $(if $(SEED),RADISH_FUZZ_SEED=$(SEED)) $(if $(SCHEMAS),RADISH_FUZZ_SCHEMAS=$(SCHEMAS)) $(GO) test -count 1 -v -timeout $$((4 * $(SECONDS) + 600))s ./others

fuzz-devices: ## compare random statements on the CPU and with the kernels for GPUs (RADISH_TEST_DEVICE=cuda: on a GPU) for SECONDS
	cd test/oracle && RADISH_FUZZ_SECONDS=$(SECONDS) $(if $(SEED),RADISH_FUZZ_SEED=$(SEED)) $(if $(SCHEMAS),RADISH_FUZZ_SCHEMAS=$(SCHEMAS)) $(GO) test -count 1 -v -timeout $$((2 * $(SECONDS) + 600))s -run '^TestDevices$$' ./others

bench: build ## time the 22 TPC-H queries at scale factor SF (1); ANSWERS=folder compares with published answers
	build/radish-bench tpch --sf $(SF) $(if $(ANSWERS),--verify $(ANSWERS))

bench-oracle: build build/duckdb/bin/python ## time them against DuckDB over the same files
	build/radish-bench oracle --duckdb-python build/duckdb/bin/python --sf $(SF) --markdown build/oracle.md

bench-windows: build build/duckdb/bin/python ## time window functions over ROWS rows (10 million) against DuckDB
	build/radish-bench windows --duckdb-python build/duckdb/bin/python --rows $(ROWS) --markdown build/windows.md

bench-memory: build ## run statements under memory limits and show each process's peak of resident memory
	build/radish-bench memory --markdown build/memory.md

bench-rows: ## time statements of single rows beside SQLite; ROWFLAGS are the command's flags
	cd test/oracle && $(GO) run ./cmd/rows $(ROWFLAGS)

damage: build/writers/bin/python ## damage FILES (20000) Parquet, Arrow, CSV and JSON files of five writers by SEED (1), and read them in processes of bounded memory
	build/writers/bin/python test/damage/sources.py build/damage
	RADISH_DAMAGE_SOURCES=$(CURDIR)/build/damage RADISH_DAMAGE_FILES=$(FILES) RADISH_DAMAGE_SEED=$(or $(SEED),1) $(GO) test -count 1 -v -timeout 60m -run TestDamage ./test/damage

build/writers/bin/python:
	python3 -m venv build/writers
	build/writers/bin/pip install --quiet $(DUCKDB) pyarrow==26.0.1 polars==2.1.0 pandas==3.1.1 || { rm -rf build/writers; exit 1; }

build/duckdb/bin/python:
	python3 -m venv build/duckdb
	build/duckdb/bin/pip install --quiet $(DUCKDB) || { rm -rf build/duckdb; exit 1; }

gpu: ## build build/libradish_gpu.so with nvcc 12.4 or newer, or with NVIDIA's wheels from PyPI; no GPU is needed
	gpukernels/build.sh build

gpu-bundle: ## pack build/radish-gpu-bundle.tar.xz: what builds, tests and measures the GPU backend on a host without Go
	gpukernels/bundle/make.sh build

clean: ## remove what was built
	rm -rf build

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "  %-14s %s\n", $$1, $$2 }'
