SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help build demo check unit stack test bench bench-generator fuzz slow soak clean

# ./... leaves testdata out, whose packages are named here one by one; FrankenPHP is a module of its own.
testdata_packages := $(filter-out ./testdata/frankenphp/,$(addprefix ./,$(sort $(dir $(wildcard testdata/*/*.go)))))
packages := ./... $(testdata_packages)

# Tests on real stacks stand in files of their own, so that they can be run without all the others once more.
stack_files := $(shell find . -name '*_stack_test.go')
stack_packages := $(sort $(dir $(stack_files)))
stack_tests = ^($(shell grep -oh '^func Test[A-Za-z0-9_]*' $(stack_files) | sort -u | sed 's/^func //' | paste -sd '|'))$$

fuzztime ?= 10s
rounds ?= 10

help:
	@echo 'make demo    build, and show the gateway at work; needs Go only'
	@echo 'make build   bin/gateway, a static binary'
	@echo 'make test    all tests; installs PHP-FPM, Laravel, nginx and so on from Debian first (as root)'
	@echo 'make unit    the tests that need Go and a C compiler only'
	@echo 'make stack   the tests on real stacks'
	@echo 'make bench   compare with nginx and Caddy on this machine, in about 25 minutes'
	@echo 'make bench-generator  what a request costs our load generator, wrk and h2load'
	@echo 'make fuzz    every fuzz target for $(fuzztime) (fuzztime=1m make fuzz)'
	@echo 'make slow    5000 slow clients for a minute'
	@echo 'make soak    the tests on real stacks, $(rounds) times over (rounds=50 make soak)'
	@echo 'make clean   remove what was built; installed packages stay'

build:
	CGO_ENABLED=0 go build -trimpath -o bin/gateway ./cmd/gateway

demo: build
	bin/gateway demo

check:
	@bad=$$(gofmt -l .); [ -z "$$bad" ] || { echo "gofmt would change:"; echo "$$bad"; exit 1; }
	go vet $(packages)
	go vet -tags stack $(packages)

# The race detector needs a C compiler, which install.sh brings where there is none. One package at a time: some measure on a
# real clock, and each uses all cores by itself.
unit:
	@command -v gcc >/dev/null || testdata/install.sh
	go test -race -p 1 $(packages)

# One package at a time: they measure how fast answers come, and start servers of their own.
stack:
	testdata/install.sh
	go test -race -tags stack -p 1 -timeout 15m -run '$(stack_tests)' $(stack_packages)

test: check unit stack

bench:
	testdata/install.sh bench
	go run ./testdata/peers

bench-generator:
	testdata/install.sh bench
	go run ./testdata/peers generators

fuzz:
	@grep -rHo --include='*_test.go' '^func Fuzz[A-Za-z0-9_]*' . | sed 's/:func / /' | while read -r file name; do \
		echo "$$name in $$(dirname "$$file")"; \
		go test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(fuzztime) "$$(dirname "$$file")" </dev/null; \
	done

# Without the race detector, whose memory would hide that of the connections.
slow:
	testdata/install.sh
	SLOW_CONNECTIONS=5000 SLOW_SECONDS=60 go test -tags stack -count 1 -v -run '^TestSlowHeads$$' ./cmd/gateway

soak:
	testdata/install.sh
	go test -race -tags stack -p 1 -timeout 0 -count $(rounds) -run '$(stack_tests)' $(stack_packages)

clean:
	rm -rf bin testdata/var
