# Concord's tasks. `make` or `make help` lists them.

GO      ?= go
FUZZTIME ?= 60s
PYTHON  ?= /usr/bin/python3
export PYTHON

.DEFAULT_GOAL := help

.PHONY: help
help: ## List the tasks
	@awk -F':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build the three programs into bin/ (concord as a static program)
	$(GO) build -trimpath -o bin/ ./cmd/concordd ./cmd/concord-lab
	CGO_ENABLED=0 $(GO) build -trimpath -tags noblas -o bin/ ./cmd/concord

.PHONY: stress
stress: ## Build bin/concord-stress, which is a module of its own (test/)
	cd test && $(GO) build -trimpath -o ../bin/ ./cmd/concord-stress

.PHONY: demo
demo: ## Run the demonstration: three hospitals, one server, ten seconds
	$(GO) run ./cmd/concord-lab demo

.PHONY: deps
deps: ## Install what the tests need (Debian packages, Go modules); quick when all is there
	@scripts/deps.sh

.PHONY: quick
quick: ## Build and vet everything, and run the quick tests of changed packages
	@scripts/quick.sh

.PHONY: test
test: deps ## All tests that need no data from outside the repository
	$(GO) vet ./...
	$(GO) test -timeout 20m ./...
	CONCORD_BLAS=go $(GO) test -count=1 -timeout 20m ./basis ./learn
	$(GO) test -short -tags noblas -timeout 20m ./linalg/... ./manifold ./align
	cd test && $(GO) vet -tags long ./... && $(GO) test -timeout 20m ./...

.PHONY: chaos
chaos: build stress ## Kill, cut power, break lines and attack for a quarter of an hour (docs/results/chaos.md)
	bin/concord-stress chaos --kills 200 --cuts 200 --trainings 5 --links 6 --requests 10000

.PHONY: test-race
test-race: deps ## The race detector on what computes or serves at once, and sessions of each kind; test-long has all of them
	$(GO) test -race -timeout 20m $$(scripts/concurrent.sh)
	$(GO) test -race -timeout 20m -run '^TestDemo$$' ./internal/demo
	$(GO) test -race -short -timeout 20m ./internal/cli/lab ./lab ./privacy ./table ./linalg/... ./align ./learn/... ./manifold
	$(GO) test -race -timeout 20m -run 'Workers|Processors' ./lab ./learn/... ./align
	$(GO) test -race -timeout 20m -run '$(RACED)' .
	cd test && $(GO) test -race -timeout 20m ./load ./powercut ./upload

# Sessions that the race detector watches in every run: each serves several sites at once
# by another part of the server.
RACED = TestSessions/^(by-hand|nri|pool|pieces|late|leaving|proxies|files-mixed|audit)$$

.PHONY: test-onnx
test-onnx: ## Compare our ONNX graphs with ONNX Runtime (fetches it from npm)
	@scripts/deps.sh onnxruntime
	onnx/testdata/onnxruntime/install.sh
	$(GO) test -tags onnxruntime -count=1 -run ONNXRuntime ./onnx ./party ./internal/demo

.PHONY: test-data
test-data: deps ## Checks on the data sets in the folder that CONCORD_DATA names
	@test -n "$(CONCORD_DATA)" || { echo "make test-data: set CONCORD_DATA to the folder of the data sets" >&2; exit 1; }
	CONCORD_DATA="$(abspath $(CONCORD_DATA))" $(GO) test -tags data -count=1 -timeout 30m -run 'Data' ./...
	@scripts/deps.sh peers
	$(GO) build -trimpath -o bin/ ./cmd/concord-lab
	bench/learners.py accuracy --data "$(CONCORD_DATA)" --out .cache/learners
	for e in E1 E5 E10 E11; do rm -rf .cache/$$e; bin/concord-lab reproduce $$e --quick --check --data "$(CONCORD_DATA)" --out .cache/$$e || exit 1; done

.PHONY: test-long
test-long: deps ## Everything three times with random cases, with the long plays of test/, and each fuzz target for FUZZTIME
	CONCORD_RANDOM_TESTS=1 $(GO) test -race -count=3 -timeout 60m ./...
	cd test && CONCORD_RANDOM_TESTS=1 $(GO) test -tags long -race -count=3 -timeout 60m ./...
	$(MAKE) fuzz

.PHONY: mutate
mutate: deps ## Break the code on purpose, one place at a time; every change must fail a test
	$(GO) run ./scripts/mutate

.PHONY: lint
lint: ## gofmt, go vet, staticcheck, and govulncheck where it can run
	@scripts/lint.sh

.PHONY: bench
bench: ## Benchmarks beside the code
	$(GO) test -run '^$$' -bench . -benchmem ./...

.PHONY: compare
compare: deps build ## Measure alignments and learners beside the Python peers, an hour alone on the machine (docs/results)
	@scripts/deps.sh peers
	bench/compare.py headline grid backends memory
	bench/learners.py accuracy time --data "$(CONCORD_DATA)"

.PHONY: experiments
experiments: build ## Reproduce E1 to E11 in full, hours alone on the machine (docs/results)
	@test -n "$(CONCORD_DATA)" || { echo "make experiments: set CONCORD_DATA to the folder of the data sets" >&2; exit 1; }
	scripts/experiments.sh "$(abspath $(CONCORD_DATA))"

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME (default 60s) each
	@scripts/fuzz.sh $(FUZZTIME)

.PHONY: clean
clean: ## Remove what the other tasks made
	rm -rf bin demo-out .cache
