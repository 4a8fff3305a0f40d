# apsis: `make demo` installs what is missing, builds, and runs the demo; `make test` does the same for the tests.
# You can set CC CFLAGS CPPFLAGS LDFLAGS PREFIX DESTDIR; DEVELOPER=1 turns warnings into errors.

PREFIX  ?= /usr/local
BUILD   ?= build
CC      ?= cc
CFLAGS  ?= -O2 -g
VERSION := 0.1.0
PACKAGES := lua5.4 libcjson yaml-0.1 libpcre2-8
# Headers only: apsis loads these at first use, because linking them adds 10 ms to every start.
LAZY    := libgit2 libcurl libmicrohttpd

WARN    := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla $(if $(DEVELOPER),-Werror)
PKG_CFLAGS = $(shell pkg-config --cflags $(PACKAGES) $(LAZY) 2>/dev/null)
# Uses Lua's archive if there is one: calls within it then skip the linkage table, a tenth of the time spent in Lua.
LUA_ARCHIVE = $(wildcard $(shell pkg-config --variable=libdir lua5.4 2>/dev/null)/liblua5.4.a)
PKG_LIBS   = $(if $(LUA_ARCHIVE),-Wl$(comma)--whole-archive $(LUA_ARCHIVE) -Wl$(comma)--no-whole-archive) \
    $(shell pkg-config --libs $(if $(LUA_ARCHIVE),$(filter-out lua5.4,$(PACKAGES)),$(PACKAGES)) 2>/dev/null)
comma     := ,
ALL_CFLAGS = -std=c11 $(WARN) $(PKG_CFLAGS) -Iruntime -I$(BUILD) $(CPPFLAGS) $(CFLAGS)

CAGE    := $(wildcard runtime/cage/*.c)
SOURCES := $(filter-out $(CAGE) runtime/host/launcher.c,$(wildcard runtime/*.c runtime/*/*.c))
OBJECTS := $(patsubst runtime/%.c,$(BUILD)/%.o,$(SOURCES)) $(BUILD)/embedded.o
ARGPARSE  := $(firstword $(wildcard $(addsuffix /lua/5.4/argparse.lua,/usr/share /usr/local/share) \
    /usr/share/lua/5.4/argparse/init.lua))
# Chart.js 3 for the charts of reports, wherever its package puts it. Its notice stays in every page.
CHART_JS  ?= $(firstword $(wildcard /usr/share/javascript/chart.js/chart.min.js \
    $(addsuffix /chart.js/dist/chart.min.js,/usr/share/nodejs /usr/lib/node_modules /usr/local/lib/node_modules)))
EMBEDDED  := $(shell find lua/apsis lua/meta strategies -name '*.lua' \
    -o -path 'strategies/prompts/*.md' ! -name README.md -o -path '*/import/*.py' \
    -o -path 'lua/apsis/report/*.*' ! -name README.md ! -name '*.png' \
    -o -path 'lua/apsis/serve/*.*' ! -name README.md | LC_ALL=C sort)
# NAME=PATH of what `require` finds in the program, as bytecode. The texts are there, too: help and the lab read some.
MODULES   := argparse=$(ARGPARSE) \
    $(foreach file,$(filter lua/apsis/%.lua,$(EMBEDDED)),$(subst /,.,$(patsubst lua/%.lua,%,$(file)))=$(file))
before     = $(firstword $(subst =, ,$1))

# V=1 shows the commands.
Q  := $(if $(V),,@)
CC_LINE = $(if $(V),,@echo "  cc  $<")

# What is built at once, if make was given no -j of its own; what is tested at once.
AT_ONCE = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(or $(JOBS),$(shell nproc)))
PROVE   = prove -j$(or $(JOBS),$(shell nproc))

.PHONY: all deps deps-test demo clean-demo hall lab lab-noise lab-verdicts lab-race lab-best-of-k test attacks \
    test-agents test-slurm test-slurm-kills bench-slurm doc-test check check-rooms asan asan-unit valgrind \
    valgrind-cli torture faults mutants soak bench compare-openevolve try-exports fuzz install uninstall deb bundle \
    try-packages docs clean lines format lint help
.DEFAULT_GOAL := all

all: deps
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis

help: ## list the targets
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

# The supervisor of every command: a separate small static program, embedded below.
$(BUILD)/cage: $(CAGE) $(wildcard runtime/cage/*.h) Makefile | $(BUILD)
	$(CC_LINE)
	$(Q)$(CC) -std=c11 $(WARN) -O2 -static -s -Iruntime -o $@ $(CAGE) # without CFLAGS: a sanitizer cannot be static

# Changes only if a file was added or removed.
$(BUILD)/embedded.list: FORCE | $(BUILD)
	$(Q)echo $(EMBEDDED) | cmp -s - $@ || echo $(EMBEDDED) > $@

FORCE:

$(BUILD)/compile: .ci/compile.c Makefile | $(BUILD)
	$(CC_LINE)
	$(Q)$(CC) -std=c11 $(WARN) $(PKG_CFLAGS) -O2 -o $@ $< $(shell pkg-config --libs lua5.4)

$(BUILD)/embedded.S: .ci/embed Makefile $(EMBEDDED) $(BUILD)/embedded.list $(wildcard $(CHART_JS)) \
    $(BUILD)/cage $(BUILD)/compile
	$(Q)grep -q 'Chart.js v3\.' "$(CHART_JS)" 2>/dev/null || { echo "apsis: no Chart.js 3 in '$(CHART_JS)': install" \
	    "Debian's package libjs-chart.js, or run make CHART_JS=/path/to/chart.min.js" >&2; exit 2; }
	$(Q)rm -rf $(BUILD)/compiled && mkdir $(BUILD)/compiled && $(BUILD)/compile $(BUILD)/compiled $(MODULES)
	$(Q).ci/embed cage=$(BUILD)/cage lua/argparse.lua=$(ARGPARSE) lua/chart.js=$(CHART_JS) \
	    $(foreach file,$(EMBEDDED),$(file)=$(file)) \
	    $(foreach module,$(MODULES),compiled/$(call before,$(module))=$(BUILD)/compiled/$(call before,$(module))) > $@

$(BUILD)/embedded.o: $(BUILD)/embedded.S
	$(Q)$(CC) -c -o $@ $<

$(BUILD):
	@mkdir -p $@

demo: all ## install what is missing, build, and pack 26 circles for 60 seconds
	@.ci/demo $(BUILD)/apsis examples/circle-packing

clean-demo: $(BUILD)/apsis ## remove what the demo left: refs, branch, journal, workspaces; the next demo begins again
	@.ci/clean-demo $(BUILD)/apsis examples/circle-packing

SECONDS ?= 60
hall: all ## run the hall of results and print its table (SEEDS=3 SECONDS=60 ONLY="NAME ..."); an hour
	@SEEDS=$(or $(SEEDS),3) SECONDS=$(SECONDS) $(if $(ONLY),ONLY="$(ONLY)") $(BUILD)/apsis exec examples/hall/hall.lua

# What each of these strategies achieves in 500 evaluations; none stops early out of patience.
LAB_WORLDS := onemax:n=60 onemax:n=60,noise=gaussian leadingones:n=30 sphere:d=5,precision=0.01 \
    rastrigin:d=5,precision=10 rosenbrock:d=3,precision=1 ackley:d=5,precision=3 nk:n=20,k=4 kmodule:modules=6 proposer

LAB_STRATEGIES := annealing hillclimb hyperagents openevolve random_walk

lab: all ## compare five shipped strategies on synthetic worlds in one table; a minute on two cores at most
	@$(BUILD)/apsis lab $(LAB_STRATEGIES) $(addprefix --world ,$(LAB_WORLDS)) --seeds 30 --evaluations 500 --set hillclimb.patience=500 \
	    --set annealing.steps=500 --overview

lab-noise: all ## the figures of lua/apsis/noise/acceptance.md: candidates kept under noise (RUNS=1000)
	@RUNS=$(or $(RUNS),1000) JOBS=$(or $(JOBS),$(shell nproc)) $(BUILD)/apsis exec tests/bench/lab_noise.lua

lab-verdicts: all ## how often the lab's verdicts are wrong, and how often they find what there is (RUNS=400)
	@RUNS=$(or $(RUNS),400) JOBS=$(or $(JOBS),$(shell nproc)) $(BUILD)/apsis exec tests/bench/lab_verdicts.lua; code=$$?; \
	    RUNS=$(or $(RUNS),400) $(BUILD)/apsis exec tests/bench/lab_power.lua; exit $$code

lab-race: all ## how often a race of a sweep drops what it should not, and what it saves (RUNS=400)
	@RUNS=$(or $(RUNS),400) $(BUILD)/apsis exec tests/bench/lab_race.lua

lab-best-of-k: all ## the table of lua/apsis/lab/best_of_k.md: gains of best of K (RUNS=200)
	@RUNS=$(or $(RUNS),200) JOBS=$(or $(JOBS),$(shell nproc)) $(BUILD)/apsis exec tests/bench/lab_best_of_k.lua

# ---- tests ----

# Mechanism: the C without Lua, which a C test may link.
BINDING   := $(filter runtime/host/% %/own.c,$(SOURCES)) \
    $(foreach source,$(SOURCES),$(if $(filter l%,$(notdir $(source))),$(source)))
# The whole program without main, and the libraries.
LIBRARY    = $(filter-out $(BUILD)/host/main.o,$(OBJECTS)) $(PKG_LIBS) -ldl -lm
MECHANISM := $(patsubst runtime/%.c,$(BUILD)/%.o,$(filter-out $(BINDING),$(SOURCES)))
C_TESTS   := $(patsubst tests/c/%.c,$(BUILD)/tests/%,$(wildcard tests/c/test_*.c))
FUZZERS   := $(basename $(notdir $(wildcard tests/fuzz/fuzz_*.c tests/fuzz/fuzz_*.lua)))
LUA_TESTS := $(filter-out $(addprefix tests/lua/,tap.lua fake.lua recorded.lua scratch.lua), \
    $(wildcard tests/lua/*.lua tests/lua/*/*.lua))
PEER_TESTS := $(filter-out $(addprefix tests/peers/,cases.lua place.lua),$(wildcard tests/peers/*.lua))
CLI_TESTS := $(wildcard tests/cli/*.t)
ATTACKS   := $(wildcard tests/attacks/*.t)
SHELL_TESTS := tests/cases.t $(CLI_TESTS) $(ATTACKS)

$(BUILD)/tests/%: tests/c/%.c tests/c/tap.h tests/c/vanish.h tests/c/trip.h tests/c/command.h $(MECHANISM) $(BUILD)/cage | $(BUILD)/tests
	$(CC_LINE)
	$(Q)$(CC) $(ALL_CFLAGS) -DAP_CAGE='"$(BUILD)/cage"' $(LDFLAGS) -o $@ $< $(MECHANISM) -lpcre2-8 -ldl -lm

# Runs a fuzz target over its committed corpus as an ordinary test. Links every binding, so that any target links.
$(BUILD)/tests/replay_%: tests/fuzz/%.c tests/fuzz/replay.c $(OBJECTS) | $(BUILD)/tests
	$(CC_LINE)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) $(LIBRARY)

# A fuzz target written in Lua.
$(BUILD)/tests/replay_%: tests/fuzz/%.lua tests/fuzz/lua.c tests/fuzz/replay.c $(OBJECTS) | $(BUILD)/tests
	$(CC_LINE)
	$(Q)$(CC) $(ALL_CFLAGS) -DFUZZ_TARGET='"$<"' $(LDFLAGS) -o $@ $(filter %.c,$^) $(LIBRARY)

$(BUILD)/tests:
	@mkdir -p $@

.PHONY: test-programs
test-programs: $(BUILD)/apsis $(C_TESTS) $(patsubst %,$(BUILD)/tests/replay_%,$(FUZZERS))

test: deps-test ## every test: C, Lua, the built program, case files, examples, attacks on the default sandbox
	@$(MAKE) --no-print-directory $(AT_ONCE) test-programs
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) $(PROVE) -f --timer --exec tests/run $(C_TESTS) \
	    $(patsubst %,$(BUILD)/tests/replay_%,$(FUZZERS)) $(LUA_TESTS) $(PEER_TESTS) $(SHELL_TESTS)

doc-test: deps-test ## run every script that README and docs show, and compare what it prints
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@$(BUILD)/apsis exec tests/docs/doctest.lua $(CURDIR) README.md docs/README.md $(wildcard docs/*/*.md)

attacks: deps-test ## attack every sandbox that works here, and none; a table of the attacks that each stopped
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) tests/attacks/run $(ATTACKS)

# Coding agents from npm, at the exact versions in tests/agents; their install scripts are not run. Not `npm ci`, which
# refuses a lock file without the programs for other platforms.
AGENTS := $(BUILD)/agents/installed

test-agents: deps-test ## run five coding agents, installed from npm, against stand-ins for their models (ONLY=pi)
	@.ci/deps agents
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis $(AGENTS)
	@rm -f $(BUILD)/agents-cells && touch $(BUILD)/agents-cells
	@APSIS=$(abspath $(BUILD)/apsis) AGENTS=$(abspath $(BUILD)/agents) CELLS=$(abspath $(BUILD)/agents-cells) \
	    prove -j5 -fo --exec tests/run $(if $(ONLY),$(ONLY:%=tests/agents/%.t),tests/agents/*.t)
	@tests/agents/table $(BUILD)/agents-cells

test-slurm: deps-test ## measure on four real Slurm nodes on this machine, as root; five minutes (KILLS=100 AWAY=60: more)
	@.ci/deps slurm
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) tests/run tests/cluster/slurm.t

test-slurm-kills: deps-test ## the same while nodes and apsis are killed, for ten minutes (MINUTES=5: fewer)
	@.ci/deps slurm
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) MINUTES=$(or $(MINUTES),10) tests/run tests/cluster/kills.t

bench-slurm: deps-test ## what an experiment takes on four real Slurm nodes and here, with 1 to 64 workers
	@.ci/deps slurm
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) tests/run tests/cluster/overhead.t

$(AGENTS): tests/agents/package.json tests/agents/package-lock.json
	@echo "  npm install  into $(@D)"
	$(Q)mkdir -p $(@D) && cp $^ $(@D) && cd $(@D) && \
	    timeout 600 npm install --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error && touch $(@F)

check: deps-test ## check rooms, headers, stubs against live modules, formatting and lint
	@$(MAKE) --no-print-directory $(AT_ONCE) DEVELOPER=1 $(BUILD)/apsis
	@CC="$(CC)" CFLAGS="$(PKG_CFLAGS)" BUILD=$(BUILD) .ci/check

check-rooms: deps-test ## remove each feature room: the rest must build and pass its tests (ROOMS="goals lab")
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@BUILD=$(BUILD) MAKE="$(MAKE)" .ci/check-rooms $(ROOMS)

asan: deps-test ## the tests under AddressSanitizer and UBSan (WHOLE_STACKS=1: full leak stacks, far slower)
	@APSIS_SANITIZED=1 ASAN_OPTIONS=detect_leaks=1:fast_unwind_on_malloc=$(if $(WHOLE_STACKS),0,1) \
	    LSAN_OPTIONS=suppressions=$(abspath tests/lsan.supp):print_suppressions=0 \
	    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 $(MAKE) --no-print-directory test BUILD=$(BUILD)/asan \
	    CFLAGS="-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer"

asan-unit: ## the same without the shell tests but three, in a few minutes
	@$(MAKE) --no-print-directory asan SHELL_TESTS="tests/cases.t $(patsubst %,tests/cli/%.t,bad_journal bad_moment chat)"

valgrind: deps-test ## the C and Lua tests under valgrind
	@$(MAKE) --no-print-directory $(AT_ONCE) test-programs
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) VALGRIND=1 $(PROVE) --exec tests/run $(C_TESTS) $(LUA_TESTS)

valgrind-cli: deps-test ## the command-line tests under valgrind; takes over an hour
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) VALGRIND=1 $(PROVE) --exec tests/run $(CLI_TESTS)

torture: deps-test ## kill -9 at random moments; nothing may be lost (TORTURE=1000 kills)
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) tests/torture/torture

faults: deps-test ## every call and allocation fails once, power cuts at every byte; nothing may be lost (FAULTS=20)
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis $(addprefix $(BUILD)/faults/,shim.so recorder.so allocations)
	@APSIS=$(abspath $(BUILD)/apsis) FAULTS="$(FAULTS)" JOBS=$(or $(JOBS),$(shell nproc)) tests/faults/faults

$(BUILD)/faults/%.so: tests/faults/%.c Makefile | $(BUILD)/faults
	$(CC_LINE)
	$(Q)$(CC) -std=c11 $(WARN) -O2 -g -shared -fPIC -o $@ $< -ldl

# Its malloc overrides libc's; -E exports it to the libraries.
$(BUILD)/faults/allocations: $(addprefix tests/faults/,allocations.c memory.c memory.h) $(OBJECTS) | $(BUILD)/faults
	$(CC_LINE)
	$(Q)$(CC) $(ALL_CFLAGS) $(LDFLAGS) -Wl,-E -o $@ $(filter %.c,$^) $(LIBRARY)

$(BUILD)/faults:
	@mkdir -p $@

# MUTANTS=600 for more, SEED=2 for others, ONLY=runtime/git for one room.
mutants: deps-test ## small changes of core and runtime, each of which a test should find; nightly (MUTANTS=60)
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@nice $(BUILD)/apsis exec tests/mutants/mutants.lua $(BUILD) $(or $(MUTANTS),60) $(or $(SEED),1) \
	    $(or $(JOBS),$(shell nproc)) '$(ONLY)'

soak: deps-test ## one long run with crashes, timeouts and kill -9; nothing may be lost or grow (SOAK=100000 WORKERS=8)
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) tests/soak/soak

# SEEDS, EXPERIMENTS, EXAMPLES, WORKERS and PYTHON change the rest.
compare-openevolve: all ## OpenEvolve's own code beside apsis, with a scripted model (OPENEVOLVE=CHECKOUT)
	@test -n "$(OPENEVOLVE)" || { echo "make compare-openevolve OPENEVOLVE=CHECKOUT"; exit 2; }
	@APSIS=$(abspath $(BUILD)/apsis) $(or $(PYTHON),python3) tests/bench/openevolve/compare.py $(OPENEVOLVE) \
	    --seeds $(or $(SEEDS),5) --experiments $(or $(EXPERIMENTS),100) --workers $(or $(WORKERS),1,2) \
	    $(if $(EXAMPLES),--examples $(EXAMPLES))

# With Debian's python3 and R, whose packages .ci/deps installs.
try-exports: all ## the lab's exports, read by IOHanalyzer's and COCO's own code (IOHANALYZER=CHECKOUT COCO=CHECKOUT)
	@test -n "$(IOHANALYZER)" && test -n "$(COCO)" || { \
	    echo "make try-exports IOHANALYZER=CHECKOUT COCO=CHECKOUT"; exit 2; }
	@.ci/deps exports
	@APSIS=$(abspath $(BUILD)/apsis) $(or $(PYTHON),/usr/bin/python3) tests/exports/try.py --iohanalyzer $(IOHANALYZER) \
	    --coco $(COCO)

bench: deps-test ## print the table of benchmarks, and write build/bench.json
	@$(MAKE) --no-print-directory $(AT_ONCE) $(BUILD)/apsis
	@APSIS=$(abspath $(BUILD)/apsis) BUILD=$(BUILD) tests/bench/bench

fuzz: deps-test ## libFuzzer on every target, SECONDS=60 each, JOBS at a time (TARGETS= for some)
	@JOBS=$(or $(JOBS),$(shell nproc)) .ci/fuzz $(SECONDS) $(or $(TARGETS),$(FUZZERS))

# ---- installing ----

install: $(BUILD)/apsis ## install program, manual, completions and editor stubs (PREFIX=/usr/local DESTDIR=)
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/apsis/meta \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions $(DESTDIR)$(PREFIX)/share/zsh/site-functions \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d
	install -m 755 $(BUILD)/apsis $(DESTDIR)$(PREFIX)/bin/apsis
	$(BUILD)/apsis exec lua/apsis/manual/write.lua man $(DESTDIR)$(PREFIX)/share/man
	$(BUILD)/apsis exec lua/apsis/cli/completion.lua bash > $(DESTDIR)$(PREFIX)/share/bash-completion/completions/apsis
	$(BUILD)/apsis exec lua/apsis/cli/completion.lua zsh > $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_apsis
	$(BUILD)/apsis exec lua/apsis/cli/completion.lua fish > $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/apsis.fish
	install -m 644 lua/meta/*.lua $(DESTDIR)$(PREFIX)/share/apsis/meta

deb: all ## make a Debian package of it in build/
	@.ci/deb $(BUILD)/apsis $(VERSION) $(BUILD)

bundle: all ## make a folder, and an archive of it, that runs where no library is installed
	@.ci/bundle $(BUILD)/apsis $(VERSION) $(BUILD)

try-packages: deb bundle ## try both where nothing else is installed; root, busybox-static and debootstrap
	@tests/packages/bundle $(BUILD)/apsis-$(VERSION)-*.tar.gz
	@tests/packages/deb $(BUILD)/apsis_$(VERSION)_*.deb

uninstall: ## remove what install installed
	rm -f $(DESTDIR)$(PREFIX)/bin/apsis $(wildcard $(DESTDIR)$(PREFIX)/share/man/man*/apsis.* \
	    $(DESTDIR)$(PREFIX)/share/man/man*/apsis-*) \
	    $(DESTDIR)$(PREFIX)/share/bash-completion/completions/apsis $(DESTDIR)$(PREFIX)/share/zsh/site-functions/_apsis \
	    $(DESTDIR)$(PREFIX)/share/fish/vendor_completions.d/apsis.fish
	rm -rf $(DESTDIR)$(PREFIX)/share/apsis

# ---- upkeep ----

docs: all ## write docs/reference from the program's own tables
	@rm -rf docs/reference && $(BUILD)/apsis exec lua/apsis/manual/write.lua markdown docs/reference

clean: ## remove what was built
	rm -rf $(BUILD)

lines: ## count the product's lines by room, and those that are code (neither blank nor comment)
	@git ls-files runtime lua strategies | grep -E '\.(c|h|lua|js|css|html|py)$$' | xargs awk '\
	    FNR == 1 { split(FILENAME, part, "/"); \
	        room = FILENAME ~ /^lua\/apsis\/[^\/]*$$/ ? "lua/apsis/*" : \
	            part[1] == "lua" && part[2] == "apsis" ? "lua/apsis/" part[3] : \
	            part[1] == "strategies" ? part[1] : part[1] "/" part[2]; inside = 0 } \
	    { all[room]++; total++ } \
	    /^[ \t]*\/\*/ { inside = 1 } \
	    !inside && !/^[ \t]*(--.*)?$$/ { code[room]++; sum++ } \
	    /\*\// { inside = 0 } \
	    END { for (room in all) printf "%-22s %6d %6d\n", room, all[room], code[room]; \
	        printf "%-22s %6d %6d\n", "~ total", total, sum }' \
	    | sort | sed 's/^~/ /; 1i room                    lines   code'

format: ## format the C in place with clang-format
	clang-format -i $(wildcard runtime/*/*.[ch]) tests/c/*.[ch] tests/fuzz/*.c tests/bench/*.c tests/faults/*.[ch]

lint: ## run cppcheck, clang-tidy and luacheck
	cppcheck --quiet --std=c11 --enable=warning,portability,performance --suppress=missingIncludeSystem -Iruntime runtime
	clang-tidy --quiet $(SOURCES) -- -std=c11 $(PKG_CFLAGS) -Iruntime -DAP_VERSION='""' || true
	luacheck lua strategies examples tests

compile_commands.json: ## for editors: needs bear
	bear -- $(MAKE) -B $(BUILD)/apsis

-include $(wildcard $(BUILD)/*/*.d)
