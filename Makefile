# make test runs every test, make fuzz the long ones; see CONTRIBUTING.md.

FUZZTIME    ?= 1m
STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
PLATFORMS   := linux/arm64 darwin/arm64 darwin/amd64 windows/amd64
# Packages with code or assembly of their own for arm64.
ARM64       := $(wildcard stats machine clock kbest)
BENCH       := $(patsubst %/go.mod,%,$(wildcard bench/go.mod))

.PHONY: test needs format vet staticcheck cross unit arm64 nested fuzz bench build

test: needs format vet staticcheck cross unit nested arm64
	@echo "all tests passed"

build:
	@echo "build: ./chronoscope, one static file"
	@CGO_ENABLED=0 go build -trimpath -o chronoscope ./cmd/chronoscope

needs:
	@echo "needs: what the tests use beside Go"
	@.ci/needs

format: needs
	@echo "format: gofmt finds nothing to change"
	@files=$$(gofmt -l .) && if [ -n "$$files" ]; then echo "run gofmt -w on:"; echo "$$files"; exit 1; fi

vet: needs
	@echo "vet: go vet"
	@go vet ./...

staticcheck: needs
	@echo "staticcheck: $(STATICCHECK)"
	@go run $(STATICCHECK) ./...

cross: needs
	@set -e; for platform in $(PLATFORMS); do \
		echo "cross: vet and build for $$platform"; \
		export CGO_ENABLED=0 GOOS=$${platform%/*} GOARCH=$${platform#*/}; \
		go vet ./...; go build ./...; \
	done

unit: needs
	@echo "unit: go test"
	@go test -count=1 ./...

nested: needs
	@set -e; for module in $(BENCH); do \
		echo "nested: vet and test of $$module"; \
		(cd $$module; go vet ./...; go test -count=1 ./...); \
	done

arm64: needs
	@echo "arm64: tests of $(ARM64) under emulation"
	@CGO_ENABLED=0 GOOS=linux GOARCH=arm64 go test -count=1 -exec qemu-aarch64-static $(ARM64:%=./%/...)

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
