# SPDX-License-Identifier: MIT
# A thin cover over Meson and Ninja; `make help` lists the targets.
MESON ?= meson
NINJA ?= ninja
export MESON NINJA

.PHONY: all deps demo curves check check-asan check-tsan portable lint bench man ptx install clean help
.NOTPARALLEL:

all: ## build/spur, the program, and build/libspur.so
	@scripts/deps --check build
	@scripts/build build

deps: ## installs the Debian packages that are missing (root or sudo), or prints the command
	@scripts/deps lint

demo: ## prepares a real file, compares three paths on it, writes report.html; then two on simulated storage
	@scripts/deps demo
	@scripts/build build
	@scripts/demo build/spur

curves: ## the published curves on simulated storage, without GPU: pages in build/curves (docs/tutorial.md)
	@scripts/deps demo
	@scripts/build build
	@scripts/curves build

check: ## builds everything and runs all tests
	@scripts/deps check
	@scripts/check build

check-asan: ## the same under AddressSanitizer and UndefinedBehaviorSanitizer
	@scripts/deps check
	@scripts/check build-asan

check-tsan: ## the same under ThreadSanitizer
	@scripts/deps check
	@scripts/check build-tsan

portable: ## build-portable/spur: one file that needs nothing but the C library
	@scripts/deps build
	@scripts/portable build-portable

lint: ## form of sources, scripts and manual pages
	@scripts/deps lint
	@scripts/lint

bench: ## spur beside fio, and what compare costs; writes bench/RESULTS.md
	@scripts/deps bench
	@scripts/build build
	@python3 bench/bench.py
	@python3 bench/sweep.py --write

man: ## writes docs/man anew from the option tables
	@scripts/build build
	@docs/man/update.sh "$(CURDIR)/build/spur"

ptx: ## writes src/kernels/spur.ptx anew (needs nvcc 13.0)
	@src/kernels/make-ptx.sh

install: all ## installs program, library, header and manual pages (DESTDIR)
	@$(MESON) install -C build --no-rebuild

clean: ## removes what was built
	rm -rf build build-asan build-tsan build-clang build-portable

help: ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1: /p' Makefile | awk -F': ' '{ printf "make %-11s %s\n", $$1, substr($$0, length($$1) + 3) }'
