# apsis: `make demo` installs what is missing, builds, and runs the main job; `make test` does the same for the tests.
# CC CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR are yours to set; DEVELOPER=1 turns warnings into errors.

PREFIX  ?= /usr/local
BUILD   ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
VERSION := 0.1.0
PACKAGES := lua5.4 libcjson yaml-0.1 libpcre2-8
# Headers only: loaded at first use, because linking them costs every start 10 ms.
LAZY    := libgit2 libcurl

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(DEVELOPER),-Werror)
PKG_CFLAGS = $(shell pkg-config --cflags $(PACKAGES) $(LAZY) 2>/dev/null)
# Lua from its archive where there is one: calls within it need no table then, a tenth of the time of what runs in Lua.
LUA_ARCHIVE = $(wildcard $(shell pkg-config --variable=libdir lua5.4 2>/dev/null)/liblua5.4.a)
PKG_LIBS   = $(if $(LUA_ARCHIVE),-Wl$(comma)--whole-archive $(LUA_ARCHIVE) -Wl$(comma)--no-whole-archive) \
    $(shell pkg-config --libs $(if $(LUA_ARCHIVE),$(filter-out lua5.4,$(PACKAGES)),$(PACKAGES)) 2>/dev/null)
comma     := ,
ALL_CFLAGS = -std=c11 $(WARN) $(PKG_CFLAGS) -Iruntime -I$(BUILD) $(CPPFLAGS) $(CFLAGS)

CAGE    := $(wildcard runtime/cage/*.c)
SOURCES := $(filter-out $(CAGE),$(wildcard runtime/*.c runtime/*/*.c))
OBJECTS := $(patsubst runtime/%.c,$(BUILD)/%.o,$(SOURCES)) $(BUILD)/embedded.o
ARGPARSE  := $(firstword $(wildcard /usr/share/lua/5.4/argparse.lua /usr/local/share/lua/5.4/argparse.lua /usr/share/lua/5.4/argparse/init.lua))
# The charts of reports: Chart.js 3, wherever its package has put it. Its notice stays in every page.
CHART_JS  ?= $(firstword $(wildcard /usr/share/javascript/chart.js/chart.min.js \
    $(addsuffix /chart.js/dist/chart.min.js,/usr/share/nodejs /usr/lib/node_modules /usr/local/lib/node_modules)))
EMBEDDED  := $(shell find lua/apsis strategies -name '*.lua' -o -path 'strategies/prompts/*.md' ! -name README.md -o -path '*/import/*.py' \
    -o -path 'lua/apsis/report/*.*' ! -name README.md ! -name '*.png' | LC_ALL=C sort)

# V=1 shows the commands.
Q  := $(if $(V),,@)
CC_LINE = $(if $(V),,@echo "  cc  $<")

.PHONY: all deps deps-test demo lab lab-noise lab-best-of-k test attacks test-agents check check-rooms asan valgrind valgrind-cli torture faults mutants soak bench fuzz install uninstall clean format lint help
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
	$(if $(V),,@echo "  ld  $@")
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -Wl,-E -o $@ $(OBJECTS) $(PKG_LIBS) -ldl -lm

$(BUILD)/%.o: runtime/%.c Makefile | $(BUILD)
	$(CC_LINE)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -DAP_VERSION='"$(VERSION)"' -MMD -MP -c -o $@ $<

# The supervisor of every command: its own tiny static program, embedded below.
$(BUILD)/cage: $(CAGE) $(wildcard runtime/cage/*.h) Makefile | $(BUILD)
	$(CC_LINE)
	$(Q)$(CC) -std=c11 $(WARN) -O2 -static -s -Iruntime -o $@ $(CAGE) # without CFLAGS: a sanitizer cannot be static

$(BUILD)/embedded.S: .ci/embed Makefile $(EMBEDDED) $(wildcard $(CHART_JS)) $(BUILD)/cage | $(BUILD)
	$(Q)grep -q 'Chart.js v3\.' "$(CHART_JS)" 2>/dev/null || { echo "apsis: no Chart.js 3 in '$(CHART_JS)': install Debian's package" \
	    "libjs-chart.js, or say make CHART_JS=/path/to/chart.min.js" >&2; exit 2; }
	$(Q).ci/embed cage=$(BUILD)/cage lua/argparse.lua=$(ARGPARSE) lua/chart.js=$(CHART_JS) $(foreach file,$(EMBEDDED),$(file)=$(file)) > $@

$(BUILD)/embedded.o: $(BUILD)/embedded.S
	$(Q)$(CC) -c -o $@ $<

$(BUILD):
	@mkdir -p $@

demo: all ## install what is missing, build, and pack 26 circles for 60 seconds
	@.ci/demo $(BUILD)/apsis examples/circle-packing

# What each strategy can do in 500 evaluations, with none ended early by its own patience.
LAB_WORLDS := onemax:n=60 onemax:n=60,noise=gaussian leadingones:n=30 sphere:d=5,precision=0.01 rastrigin:d=5,precision=10 \
    rosenbrock:d=3,precision=1 ackley:d=5,precision=3 nk:n=20,k=4 kmodule:modules=6 proposer

lab: all ## every shipped strategy on synthetic worlds: one table, within a minute on two cores
	@$(BUILD)/apsis lab $(addprefix --world ,$(LAB_WORLDS)) --seeds 30 --evaluations 500 --set hillclimb.patience=500 \
	    --set annealing.steps=500 --overview

lab-noise: all ## what is kept under noise, with acceptance and without: the figures of lua/apsis/noise/acceptance.md (RUNS=1000)
	@RUNS=$(or $(RUNS),1000) JOBS=$(or $(JOBS),$(shell nproc)) $(BUILD)/apsis exec tests/bench/lab_noise.lua

lab-best-of-k: all ## what best of K gains with confidence that tells, that tells nothing and that misleads: the table of lua/apsis/lab/best_of_k.md
	@RUNS=$(or $(RUNS),200) JOBS=$(or $(JOBS),$(shell nproc)) $(BUILD)/apsis exec tests/bench/lab_best_of_k.lua

# ---- tests ----

# Mechanism: what stands without Lua, and so what a C test may link.
BINDING   := $(filter runtime/host/% %/own.c,$(SOURCES)) $(foreach source,$(SOURCES),$(if $(filter l%,$(notdir $(source))),$(source)))
MECHANISM := $(patsubst runtime/%.c,$(BUILD)/%.o,$(filter-out $(BINDING),$(SOURCES)))
C_TESTS   := $(patsubst tests/c/%.c,$(BUILD)/tests/%,$(wildcard tests/c/test_*.c))
FUZZERS   := $(basename $(notdir $(wildcard tests/fuzz/fuzz_*.c tests/fuzz/fuzz_*.lua)))
LUA_TESTS := $(filter-out $(addprefix tests/lua/,tap.lua fake.lua recorded.lua scratch.lua),$(wildcard tests/lua/*.lua tests/lua/*/*.lua))
CLI_TESTS := $(wildcard tests/cli/*.t)
ATTACKS   := $(wildcard tests/attacks/*.t)

$(BUILD)/tests/%: tests/c/%.c tests/c/tap.h tests/c/vanish.h $(MECHANISM) $(BUILD)/cage | $(BUILD)/tests
	$(CC_LINE)
	$(Q)$(CC) $(ALL_CFLAGS) -DAP_CAGE='"$(BUILD)/cage"' $(LDFLAGS) -o $@ $< $(MECHANISM) -lpcre2-8 -ldl -lm

# A fuzz target over its committed corpus, as an ordinary test: every binding is in, so that any target links.
$(BUILD)/tests/replay_%: tests/fuzz/%.c tests/fuzz/replay.c $(OBJECTS) | $(BUILD)/tests
	$(CC_LINE)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) $(filter-out $(BUILD)/host/main.o,$(OBJECTS)) $(PKG_LIBS) -ldl -lm

# One that is written in Lua.
$(BUILD)/tests/replay_%: tests/fuzz/%.lua tests/fuzz/lua.c tests/fuzz/replay.c $(OBJECTS) | $(BUILD)/tests
	$(CC_LINE)
	$(Q)$(CC) $(ALL_CFLAGS) -DFUZZ_TARGET='"$<"' $(LDFLAGS) -o $@ $(filter %.c,$^) $(filter-out $(BUILD)/host/main.o,$(OBJECTS)) \
	    $(PKG_LIBS) -ldl -lm

$(BUILD)/tests:
	@mkdir -p $@

.PHONY: test-programs
test-programs: $(BUILD)/apsis $(C_TESTS) $(patsubst %,$(BUILD)/tests/replay_%,$(FUZZERS))

test: deps-test ## every test: C without Lua, Lua, the built program, the case files, the examples, the attacks in the default way
	@$(MAKE) --no-print-directory test-programs
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) prove -j2 --exec tests/run $(C_TESTS) \
	    $(patsubst %,$(BUILD)/tests/replay_%,$(FUZZERS)) $(LUA_TESTS) tests/cases.t $(CLI_TESTS) $(ATTACKS)

attacks: deps-test ## attacks on the sandbox, in every way that it works here and without one; the table of what each has stopped
	@$(MAKE) --no-print-directory $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) tests/attacks/run $(ATTACKS)

# Coding agents from npm, at the exact versions of tests/agents; none of their install scripts is run.
AGENTS := $(BUILD)/agents/installed

test-agents: deps-test ## a real coding agent (pi, installed from npm) against the scripted chat server
	@.ci/deps agents
	@$(MAKE) --no-print-directory $(BUILD)/apsis $(AGENTS)
	@APSIS=$(abspath $(BUILD)/apsis) AGENTS=$(abspath $(BUILD)/agents) prove --exec tests/run tests/agents/*.t

$(AGENTS): tests/agents/package.json tests/agents/package-lock.json
	@echo "  npm ci  into $(@D)"
	$(Q)mkdir -p $(@D) && cp $^ $(@D) && cd $(@D) && \
	    timeout 600 npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error && touch $(@F)

check: deps-test ## layers, headers, stubs against live modules, formatting, lint
	@$(MAKE) --no-print-directory DEVELOPER=1 $(BUILD)/apsis
	@CC="$(CC)" CFLAGS="$(PKG_CFLAGS)" BUILD=$(BUILD) .ci/check

check-rooms: deps-test ## each feature room removed: the rest builds, and its unit tests pass; ROOMS="goals lab" for some
	@$(MAKE) --no-print-directory $(BUILD)/apsis
	@BUILD=$(BUILD) MAKE="$(MAKE)" .ci/check-rooms $(ROOMS)

asan: deps-test ## the tests under AddressSanitizer and UBSan; WHOLE_STACKS=1 says more of leaks, and is far slower
	@APSIS_SANITIZED=1 ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=$(if $(WHOLE_STACKS),0,1) LSAN_OPTIONS=suppressions=$(abspath tests/lsan.supp):print_suppressions=0 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(MAKE) --no-print-directory test \
	    BUILD=$(BUILD)/asan CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"

valgrind: deps-test ## the C and Lua tests under valgrind
	@$(MAKE) --no-print-directory test-programs
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) VALGRIND=1 prove -j2 --exec tests/run $(C_TESTS) $(LUA_TESTS)

valgrind-cli: deps-test ## the program of the command-line tests under valgrind; takes an hour and more
	@$(MAKE) --no-print-directory $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) VALGRIND=1 prove -j2 --exec tests/run $(CLI_TESTS)

torture: deps-test ## kill -9 at random moments (TORTURE=1000 kills); nothing may be lost
	@$(MAKE) --no-print-directory $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) tests/torture/torture

faults: deps-test ## every call fails once, every allocation fails once, power cuts at every byte; nothing may be lost (FAULTS=20: each 20th case)
	@$(MAKE) --no-print-directory $(BUILD)/apsis $(addprefix $(BUILD)/faults/,shim.so recorder.so allocations)
	@APSIS=$(abspath $(BUILD)/apsis) FAULTS="$(FAULTS)" JOBS=$(or $(JOBS),$(shell nproc)) tests/faults/faults

$(BUILD)/faults/%.so: tests/faults/%.c Makefile | $(BUILD)/faults
	$(CC_LINE)
	$(Q)$(CC) -std=c11 $(WARN) -O2 -g -shared -fPIC -o $@ $< -ldl

# Its malloc stands before libc's, and it exports it (-E) to the libraries.
$(BUILD)/faults/allocations: tests/faults/allocations.c tests/faults/memory.c tests/faults/memory.h $(OBJECTS) | $(BUILD)/faults
	$(CC_LINE)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,-E -o $@ $(filter %.c,$^) $(filter-out $(BUILD)/host/main.o,$(OBJECTS)) $(PKG_LIBS) -ldl -lm

$(BUILD)/faults:
	@mkdir -p $@

# MUTANTS=600 for more, SEED=2 for others.
mutants: deps-test ## MUTANTS=60 small changes of the core and the runtime, each of which a test should find; nightly
	@$(MAKE) --no-print-directory $(BUILD)/apsis
	@nice $(BUILD)/apsis exec tests/mutants/mutants.lua $(BUILD) $(or $(MUTANTS),60) $(or $(SEED),1) $(or $(JOBS),$(shell nproc))

soak: deps-test ## one run of SOAK=100000 experiments with WORKERS=8, crashes, timeouts and kill -9: nothing lost, and nothing grows
	@$(MAKE) --no-print-directory $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) tests/soak/soak

bench: deps-test ## the table of figures, and build/bench.json
	@$(MAKE) --no-print-directory $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) tests/bench/bench

SECONDS ?= 60
fuzz: deps-test ## libFuzzer on every target, SECONDS=60 each, JOBS (as many as there are processors) at a time; TARGETS= for some
	@JOBS=$(or $(JOBS),$(shell nproc)) .ci/fuzz $(SECONDS) $(or $(TARGETS),$(FUZZERS))

# ---- installing ----

install: all ## PREFIX=/usr/local DESTDIR=: the program, its manual, completions, the editor stubs
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/man/man1 $(DESTDIR)$(PREFIX)/share/apsis/meta \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $(BUILD)/apsis $(DESTDIR)$(PREFIX)/bin/apsis
	$(BUILD)/apsis exec lua/apsis/cli/manual.lua man > $(DESTDIR)$(PREFIX)/share/man/man1/apsis.1
	$(BUILD)/apsis exec lua/apsis/cli/manual.lua bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/apsis
	$(BUILD)/apsis exec lua/apsis/cli/manual.lua zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_apsis
	$(BUILD)/apsis exec lua/apsis/cli/manual.lua fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/apsis.fish
	install -m 644 lua/meta/*.lua $(DESTDIR)$(PREFIX)/share/apsis/meta

uninstall: ## take all of it away again
	rm -f $(DESTDIR)$(PREFIX)/bin/apsis $(DESTDIR)$(PREFIX)/share/man/man1/apsis.1 \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/apsis $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_apsis \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/apsis.fish
	rm -rf $(DESTDIR)$(PREFIX)/share/apsis

# ---- upkeep ----

clean: ## remove what was built
	rm -rf $(BUILD)

lines: ## the product's lines by room; of these, how many are code (neither blank nor comment)
	@git ls-files runtime lua strategies | grep -E '\.(c|h|lua|js|css|html|py)$$' | xargs awk '\
	    FNR == 1 { split(FILENAME, part, "/"); \
	        room = FILENAME ~ /^lua\/apsis\/[^\/]*$$/ ? "lua/apsis/*" : part[1] == "lua" && part[2] == "apsis" ? "lua/apsis/" part[3] : \
	            part[1] == "strategies" ? part[1] : part[1] "/" part[2]; inside = 0 } \
	    { all[room]++; total++ } \
	    /^[ \t]*\/\*/ { inside = 1 } \
	    !inside && !/^[ \t]*(--.*)?$$/ { code[room]++; sum++ } \
	    /\*\// { inside = 0 } \
	    END { for (room in all) printf "%-22s %6d %6d\n", room, all[room], code[room]; printf "%-22s %6d %6d\n", "~ total", total, sum }' \
	    | sort | sed 's/^~/ /; 1i room                    lines   code'

format: ## clang-format the C in place
	clang-format -i $(wildcard runtime/*/*.[ch]) tests/c/*.[ch] tests/fuzz/*.c tests/bench/*.c tests/faults/*.[ch]

lint: ## cppcheck, clang-tidy and luacheck, for reading
	cppcheck --quiet --std=c11 --enable=warning,portability,performance --suppress=missingIncludeSystem -Iruntime runtime
	clang-tidy --quiet $(SOURCES) -- -std=c11 $(PKG_CFLAGS) -Iruntime -DAP_VERSION='""' || true
	luacheck lua strategies examples tests

compile_commands.json: ## for editors: needs bear
	bear -- $(MAKE) -B $(BUILD)/apsis

-include $(wildcard $(BUILD)/*/*.d)
