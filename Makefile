# make check is for every few minutes, make test is what CI runs, make test-long takes
# hours; see CONTRIBUTING.md.

FUZZTIME    ?= 1m
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
PLATFORMS   := linux/arm64 darwin/arm64 darwin/amd64 windows/amd64
# With linux/amd64 these have all code for each system and each architecture.
UNLIKE      := linux/arm64 darwin/arm64 windows/amd64
# Packages with code or assembly of their own for arm64, and those whose simulations take
# minutes under emulation, with their tests that run such code.
ARM64       := $(wildcard stats machine clock)
ARM64_SOME  := $(wildcard kbest slowclock)
ARM64_TESTS := ^(Example|TestSweptBytes|TestFlush|TestWhereCodeLies|TestRing|TestEviction|TestPreparations|TestHere|TestKeep|TestTrialAllocates|TestReport$$|TestRun$$|TestCount|TestNobodyCounts)
# Many tests wait for programs that they start: twice as many packages as there are CPUs are tested at a time, and twice as
# many tests of each.
AT_ONCE     := $(shell expr 2 '*' $$(nproc 2>/dev/null || echo 2))
BENCH       := $(patsubst %/go.mod,%,$(wildcard bench/go.mod))
NESTED      := $(BENCH) $(patsubst %/go.mod,%,$(wildcard deploy/go.mod))

# Systems that ready-made files are for, and where these go.
DIST        := linux/amd64 $(PLATFORMS)
DISTDIR     := dist

.PHONY: check test test-long cases corrections packages needs format vet short staticcheck cross cross-build cross32 unit otlp arm64 arm64-long nested fuzz bench build dist manual

check: format vet short
	@echo "short tests passed"

test: needs format vet staticcheck cross unit nested arm64
	@echo "all tests passed"

test-long: test cross-build cross32 cases corrections otlp arm64-long fuzz
	@echo "all tests, emulation and fuzzing passed"

build:
	@echo "build: ./chronoscope, one static file"
	@CGO_ENABLED=0 go build -trimpath -o chronoscope ./cmd/chronoscope

dist: manual
	@set -e; for platform in $(DIST); do \
		name=chronoscope-$${platform%/*}-$${platform#*/}; \
		case $$platform in windows/*) name=$$name.exe;; esac; \
		echo "dist: $(DISTDIR)/$$name, static"; \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go build -trimpath -ldflags='-s -w' -o $(DISTDIR)/$$name ./cmd/chronoscope; \
	done
	@cd $(DISTDIR) && sha256sum chronoscope-* >SHA256SUMS

packages:
	@echo "packages: built twice, and tried in a clean Debian (as root, with debootstrap)"
	@deploy/packaging/check

manual:
	@echo "manual: pages and shell completions in $(DISTDIR)"
	@mkdir -p $(DISTDIR)/completions
	@go build -o $(DISTDIR)/this ./cmd/chronoscope
	@SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(DISTDIR)/this manual $(DISTDIR)/man1
	@set -e; for shell in bash zsh fish powershell; do $(DISTDIR)/this completion $$shell >$(DISTDIR)/completions/chronoscope.$$shell; done
	@rm $(DISTDIR)/this

needs:
	@echo "needs: what the tests use beside Go"
	@.ci/needs

format:
	@echo "format: gofmt finds nothing to change"
	@files=$$(gofmt -l .) && if [ -n "$$files" ]; then echo "run gofmt -w on:"; echo "$$files"; exit 1; fi

vet:
	@echo "vet: go vet"
	@go vet ./...

staticcheck: needs
	@echo "staticcheck: $(STATICCHECK)"
	@go run $(STATICCHECK) ./...

cross: needs
	@set -e; for platform in $(UNLIKE); do \
		echo "cross: vet for $$platform"; \
		CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/} go vet ./...; \
	done

cross-build: needs
	@set -e; for platform in $(PLATFORMS); do \
		echo "cross-build: vet and build for $$platform"; \
		export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		go vet ./...; go build ./...; \
	done

cross32: needs
	@echo "cross32: vet for linux/386, which stands for systems of 32 bits"
	@CGO_ENABLED=0 GOOS=linux GOARCH=386 go vet ./...

short:
	@echo "short: go test without what takes seconds"
	@go test -short ./...

unit: needs
	@echo "unit: go test"
	@go test -count=1 -timeout 30m -p $(AT_ONCE) -parallel $(AT_ONCE) ./...

cases: needs
	@echo "cases: simulations with four times the cases"
	@CHRONOSCOPE_CASES=4 go test -timeout 60m -count=1 ./clock/... ./timermeter ./fidelity ./activity ./gobench ./changepoint
	@CHRONOSCOPE_CASES=4 go test -timeout 60m -count=1 -run SimulatedProbe ./internal/cli
	@CHRONOSCOPE_CASES=4 go test -count=1 -run Real ./exporter

corrections:
	@echo "corrections: each is switched off in turn, and a test has to fail"
	@CHRONOSCOPE_CORRECTIONS=1 go test -timeout 90m -count=1 -run EachCorrectionMatters .

otlp: needs
	@echo "otlp: a real Prometheus 3, which is built first, takes what serve pushes"
	@mkdir -p $(DISTDIR)/prometheus3
	@.ci/prometheus3 $(DISTDIR)/prometheus3/prometheus
	@CHRONOSCOPE_PROMETHEUS=$$PWD/$(DISTDIR)/prometheus3/prometheus go test -count=1 -run PrometheusTakes ./internal/cli

nested: needs
	@set -e; for module in $(NESTED); do \
		echo "nested: vet and test of $$module"; \
		(cd $$module; go vet ./...; go test -count=1 ./...); \
	done

# Simulations compute the same on every architecture: under emulation the short tests do.
arm64: needs
	@echo "arm64: short tests of $(ARM64) under emulation, and some of $(ARM64_SOME)"
	@export CGO_ENABLED=0 GOOS=linux GOARCH=arm64; \
		go test -short -count=1 -exec qemu-aarch64-static $(ARM64:%=./%/...) && \
		go test -short -count=1 -run '$(ARM64_TESTS)' -exec qemu-aarch64-static $(ARM64_SOME:%=./%/...)

arm64-long: needs
	@echo "arm64: all tests of $(ARM64) $(ARM64_SOME) under emulation"
	@CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go test -timeout 60m -count=1 -exec qemu-aarch64-static $(ARM64:%=./%/...) $(ARM64_SOME:%=./%/...)

fuzz:
	@set -e; for package in $$(go list ./...); do \
		targets=$$(go test -list '^Fuzz' $$package); \
		for target in $$(echo "$$targets" | grep '^Fuzz'); do \
			echo "fuzz: $$target of $$package for $(FUZZTIME)"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

bench:
	@set -e; for module in $(BENCH); do \
		echo "bench: benchmarks of $$module"; \
		(cd $$module; go test -run '^$$' -bench . -benchmem ./...); \
	done
