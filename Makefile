# apsis: `make demo` installs what is missing, builds, and runs the main job; `make test` does the same for the tests.
# CC CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR are yours to set; DEVELOPER=1 turns warnings into errors.

PREFIX  ?= /usr/local
BUILD   ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
VERSION := 0.1.0
PACKAGES := lua5.4 yaml-0.1 libcjson libpcre2-8
# Headers only: loaded at first use, because linking them costs every start 10 ms.
LAZY    := libgit2 libcurl

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(DEVELOPER),-Werror)
PKG_CFLAGS = $(shell pkg-config --cflags $(PACKAGES) $(LAZY) 2>/dev/null)
PKG_LIBS   = $(shell pkg-config --libs $(PACKAGES) 2>/dev/null)
ALL_CFLAGS = -std=c11 $(WARN) $(PKG_CFLAGS) -Iruntime -I$(BUILD) $(CPPFLAGS) $(CFLAGS)

OBJECTS := $(patsubst runtime/%.c,$(BUILD)/%.o,$(filter-out runtime/cage.c,$(wildcard runtime/*.c))) $(BUILD)/embedded.o
ARGPARSE  := $(firstword $(wildcard /usr/share/lua/5.4/argparse.lua /usr/local/share/lua/5.4/argparse.lua /usr/share/lua/5.4/argparse/init.lua))
EMBEDDED  := $(shell find lua/apsis strategies -name '*.lua' 2>/dev/null | LC_ALL=C sort)

.PHONY: all deps deps-test demo test check asan valgrind torture bench fuzz install uninstall clean format lint help
.DEFAULT_GOAL := all

all: deps
	@$(MAKE) --no-print-directory $(BUILD)/apsis

help: ## this list
	@grep -hE '^[a-z.-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 16

deps:
	@.ci/deps build

deps-test:
	@.ci/deps test

$(BUILD)/apsis: $(OBJECTS)
	$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-E -o $@ $(OBJECTS) $(PKG_LIBS) -ldl -lm

$(BUILD)/%.o: runtime/%.c Makefile | $(BUILD)
	$(CC) $(ALL_CFLAGS) -DAP_VERSION='"$(VERSION)"' -MMD -MP -c -o $@ $<

# The supervisor of every command: its own tiny static program, embedded below.
$(BUILD)/cage: runtime/cage.c Makefile | $(BUILD)
	$(CC) -std=c11 $(WARN) -O2 -static -s -o $@ $<

$(BUILD)/embedded.S: .ci/embed Makefile $(EMBEDDED) $(BUILD)/cage | $(BUILD)
	.ci/embed cage=$(BUILD)/cage lua/argparse.lua=$(ARGPARSE) $(foreach file,$(EMBEDDED),$(file)=$(file)) > $@

$(BUILD)/embedded.o: $(BUILD)/embedded.S
	$(CC) -c -o $@ $<

$(BUILD):
	@mkdir -p $@

-include $(wildcard $(BUILD)/*.d)
