# Octavo. `make help` lists the targets.
SHELL       := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-print-directory

# -trimpath lets every checkout on a machine share the build cache.
export GOFLAGS := -buildvcs=false -trimpath
# The tools have a module of their own, so that their dependencies are not ours.
LINTER   := bin/tools/golangci-lint
LICENCES := bin/tools/licences
ENGINES  := deploy/engines/node_modules/.package-lock.json
ENCODER  := deploy/engines/encoder/model.whl
GUARD    := deploy/engines/writeguard/writeguard.so
CLIENT   := api/clienttest/node_modules/.package-lock.json
DASHBOARD := api/dashboard/node_modules/.package-lock.json
# Every package starts its tests' own databases on shared engines: see cmd/engine/enginetest.
WITH_ENGINES := go run ./cmd/engine/enginetest/with --

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):[^#]*## (.*)/\1|\2/' | while IFS='|' read -r t d; do printf '  %-12s %s\n' "$$t" "$$d"; done

.PHONY: run
run: engines build ## fetch engines, build, start everything on 127.0.0.1:8080
	@exec bin/octavo serve --quickstart

# Without git, or outside a clone, the build names no version.
VERSION = $(shell git describe --tags --always --dirty 2>/dev/null)
.PHONY: build
build: ## build bin/octavo
	@go build -ldflags '-X main.version=$(VERSION)' -o bin/octavo ./cmd/octavo

.PHONY: engines
engines: $(ENGINES) $(GUARD) $(ENCODER) ## fetch the pinned engines and the model, compile the write guard

$(ENGINES): deploy/engines/package.json deploy/engines/package-lock.json
	npm ci --prefix deploy/engines --no-audit --no-fund --loglevel=error
	@touch $@

# The write guard of ClickHouse. Package enginetest makes this target too, for a plain `go test`.
$(GUARD): deploy/engines/writeguard/writeguard.c
	gcc -O2 -fPIC -shared -Wall -Wextra -Werror -o $@.tmp $< -ldl
	@mv $@.tmp $@

# The model that compares conversations. Without it, Octavo groups conversations by words alone.
$(ENCODER): deploy/engines/model.pin
	@go run ./cmd/engine/fetchmodel $< $@ || \
	echo 'There is no model: Octavo groups conversations by words alone, and the tests of the model are skipped.' >&2

.PHONY: clienttest
clienttest: $(CLIENT) ## fetch the published client that tests drive the server with, pinned by a lock file

$(CLIENT): api/clienttest/package.json api/clienttest/package-lock.json
	npm ci --prefix api/clienttest --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: dashboard
dashboard: $(DASHBOARD) ## fetch what the dashboard is built of and checked with, pinned by a lock file

$(DASHBOARD): api/dashboard/package.json api/dashboard/package-lock.json
	npm ci --prefix api/dashboard --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@

.PHONY: test
test: engines clienttest dashboard build ## run each test in its short form, on the embedded engines, without a browser
	RACE=$(RACE) $(WITH_ENGINES) .ci/test

.PHONY: test-all
test-all: test test-rest ## make test, and all that takes longer: see test-rest

.PHONY: test-rest
test-rest: engines clienttest build kafka ## long forms, alert rules, a browser, faults, power cuts, Apache Kafka
	@.ci/alerts
	$(MAKE) test-long
	$(MAKE) test-browser
	$(MAKE) chaos-short
	$(MAKE) powercut-short
	.ci/apache-kafka
	$(MAKE) test-sites

# make test runs the seeds of every fuzz target. make differential draws more queries than test-long does.
.PHONY: test-deep
test-deep: fuzz bench-quick ## before a release, and after work on these parts: fuzz targets, every row of the bench

.PHONY: test-race
test-race: engines ## test the packages with concurrent code under the race detector
	packages=$$(.ci/race); $(WITH_ENGINES) go test -race -short -vet=off -timeout 60m -p 4 $$packages

.PHONY: test-long
test-long: engines build ## run the long forms: more random cases, whole nodes that are killed, a log of 1 GB
	$(WITH_ENGINES) .ci/long

.PHONY: test-repeat
test-repeat: engines ## run concurrent packages RUNS times (50), or PACKAGES, and count failures
	$(WITH_ENGINES) .ci/repeat $(PACKAGES)

KAFKA := deploy/kafka/target/lib
.PHONY: kafka
kafka: $(KAFKA) ## fetch Apache Kafka's broker by Maven, for make test-all

$(KAFKA): deploy/kafka/pom.xml
	mvn -q -B -f deploy/kafka/pom.xml package
	@touch $@

SITES  := api/browsertest/sites
BUILT  := node_modules/.package-lock.json
NODE_SITES := vitepress docusaurus starlight
MKDOCS := $(SITES)/mkdocs/venv/bin/mkdocs
.PHONY: sites
sites: $(NODE_SITES:%=$(SITES)/%/$(BUILT)) $(MKDOCS) ## install the generators of the tracker's example sites, pinned

$(SITES)/%/$(BUILT): $(SITES)/%/package.json $(SITES)/%/package-lock.json
	npm ci --prefix $(SITES)/$* --no-audit --no-fund --loglevel=error
	@touch $@

# Debian has the module venv in the package python3-venv.
$(MKDOCS): $(SITES)/mkdocs/requirements.txt
	python3 -m venv $(SITES)/mkdocs/venv
	$(SITES)/mkdocs/venv/bin/pip install --quiet --disable-pip-version-check -r $<
	@touch $@

.PHONY: test-browser
test-browser: engines dashboard ## test the dashboard, /docs and the tracker in Chromium, where it is installed
	@command -v chromium > /dev/null || echo 'Chromium is not installed: api/browsertest is skipped' >&2
	$(WITH_ENGINES) go test -short -vet=off -timeout 60m ./api/browsertest

.PHONY: test-sites
test-sites: sites ## build the tracker's example sites and read them in Chromium
	go test ./api/browsertest -run '^Test(VitePress|Material|MkDocs|Docusaurus|Starlight)$$' -count 1 -timeout 20m

.PHONY: fuzz
fuzz: ## run every fuzz target FUZZTIME (5000x) times
	@.ci/fuzz

.PHONY: bench
bench: engines build ## benchmarks with their ratios, into bench/results/
	go run ./bench/run

.PHONY: bench-quick
bench-quick: engines ## measure every row of the benchmarks briefly: that they can be measured, not their figures
	$(WITH_ENGINES) go test ./bench/run -vet=off -timeout 60m

BENCH_QUERY_FLAGS ?= --rounds 3
.PHONY: bench-query
bench-query: engines ## a dashboard's questions over 1, 10 and 100 million events, which stay in bench/.data, into bench/results/ (as root, to empty the kernel's page cache)
	go run ./bench/run --rows query $(BENCH_QUERY_FLAGS)

BENCH_CONTENT_FLAGS ?=
.PHONY: bench-content
bench-content: engines ## import, merge, paths and search in spaces of up to 50,000 pages, into bench/results/
	go run ./bench/run --rows content $(BENCH_CONTENT_FLAGS)

BENCH_VIEWS_FLAGS ?=
.PHONY: bench-views
bench-views: engines ## 50 page views a second of a site of 1,000 pages, as a front end makes them, into bench/results/
	go run ./bench/run --rows pageviews $(BENCH_VIEWS_FLAGS)

# make test compares 50 requests, and make test-long 500.
DIFFERENTIAL_REQUESTS ?= 5000
DIFFERENTIAL_ROUNDS ?= 20
.PHONY: differential
differential: engines ## compare DIFFERENTIAL_REQUESTS random queries with a simple evaluator, DIFFERENTIAL_ROUNDS times
	$(WITH_ENGINES) go test ./query -run TestDifferential -v -count $(DIFFERENTIAL_ROUNDS) -timeout 6h -rapid.checks=$(DIFFERENTIAL_REQUESTS)

.PHONY: abuse
abuse: engines ## let callers take all they can, without a token and with one, and look at what others wait
	go run ./bench/abuse

CHAOS_FAULTS   ?= 320
CHAOS_DURATION ?= 18m
CHAOS_FLAGS    ?= --record
# The binary with a clock that can be set takes minutes to build. Without it: make chaos CHAOS_CLOCKS=
CHAOS_CLOCKS   ?= --clocks
.PHONY: bench-log
bench-log: ## the embedded broker's start with 20 GB of log, for which the disk must have room, and its produces
	OCTAVO_TEST_LOG_BYTES=20000000000 go test ./cmd/engine/kafkaserver/seglog -run TestALargeLog -v -timeout 1h
	go test ./cmd/engine/kafkaserver -run '^$$' -bench Produce -count 6

.PHONY: screenshots
screenshots: engines ## take the pictures in deploy/screenshots with Chromium, from a node with made-up events
	go run ./bench/screenshots

BOOK ?= /tmp/octavo-book.pdf
.PHONY: bench-book
bench-book: engines ## a PDF of more than 1,200 dense sheets into the file BOOK, with its time and memory
	OCTAVO_TEST_BOOK=$(BOOK) go test ./api/jobs/book -run TestLargeBook -v -timeout 2h

.PHONY: small-machines
small-machines: engines ## full load in control groups of 512, 768 and 1,024 MiB (as root: it makes the groups)
	OCTAVO_TEST_SMALL_MACHINES=all $(WITH_ENGINES) go test ./cmd/octavo -run TestSmallMachines -v -timeout 1h

.PHONY: chaos
chaos: engines ## kill, pause and cut every process under load, then compare what was acknowledged with what is stored, into bench/results/
	go run ./bench/chaos --faults $(CHAOS_FAULTS) --duration $(CHAOS_DURATION) $(CHAOS_CLOCKS) $(CHAOS_FLAGS)

.PHONY: chaos-short
chaos-short: engines ## the same with each kind of fault once or twice, about a minute
	go run ./bench/chaos --faults 12 --duration 40s --rate 500

POWERCUT_CUTS  ?= 21
POWERCUT_FLAGS ?= --record
.PHONY: powercut
powercut: engines ## cut the power under load at random moments (as root: it mounts disks), then compare, into bench/results/
	go run ./bench/powercut --cuts $(POWERCUT_CUTS) $(POWERCUT_FLAGS)

.PHONY: powercut-short
powercut-short: engines ## the same with three cuts, about a minute; an ordinary user is told that it did not run
	go run ./bench/powercut --cuts 3 --rate 500

DAMAGE_FLAGS ?= --record
.PHONY: damage
damage: engines ## damage each kind of file of a node, and judge what it then answers, into bench/results/
	go run ./bench/damage $(DAMAGE_FLAGS)

MINUTES    ?= 60
SOAK_FLAGS ?= --record
.PHONY: soak
soak: engines ## everybody's work for MINUTES (60): fails if memory, files or response times grow
	go run ./bench/soak --minutes $(MINUTES) $(SOAK_FLAGS)

.PHONY: lint
lint: $(LINTER) ## linters, the size of files, plain words, and no conflict of a merge left behind
	$(LINTER) run ./...
	@.ci/size
	@.ci/prose
	@# nolintlint ignores a nolint comment for a linter that is off.
	@git grep -ohE '//nolint:[a-z,]+' -- '*.go' | sed 's/.*://' | tr , '\n' | sort -u | while read -r linter; do \
	    grep -qx "    - $$linter" .golangci.yml || \
	      { echo "there are nolint comments for $$linter, which is off" >&2; exit 1; }; done
	@! git grep -nE '^(<{7}|>{7}) '

$(LINTER): .ci/tools/go.mod .ci/tools/go.sum
	go build -C .ci/tools -o $(CURDIR)/$(LINTER) github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: audit
audit: $(LICENCES) ## licences and known vulnerabilities of all that Octavo is built of
	$(LICENCES) deploy/engines/package-lock.json api/clienttest/package-lock.json \
	    api/dashboard/package-lock.json
	@.ci/vulnerabilities

$(LICENCES): .ci/tools/go.mod .ci/tools/go.sum .ci/tools/licences/main.go
	go build -C .ci/tools -o $(CURDIR)/$(LICENCES) ./licences

.PHONY: generate
generate: dashboard ## write the generated files: documents from the tables, typed SQL
	go generate ./...
	go run ./cmd/gen

.PHONY: verify
verify: dashboard ## generated files are fresh, modules are tidy
	go mod tidy -diff
	go run ./cmd/gen --check
	@.ci/verify-generated

.PHONY: fmt
fmt: ## format the code
	gofmt -w $$(git ls-files '*.go')

.PHONY: clean
clean: ## remove what was built (not the data)
	rm -rf bin
