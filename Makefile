# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
#   make              builds the programs, in build/release
#   make check        installs missing packages, builds, and runs every test
#   make check-long   runs all tests with more repetitions, which notice smaller faults of
#                     chance, more valgrind, and make fuzz: tests/README.md
#   make check-programs  runs programs of each field on a mount, and prints a table that compares
#                     their results with Pillow and numpy on the originals
#   make demo         runs four jobs on real photographs; DATASET=DIR: your own images,
#                     SOURCE=tar|zip|lmdb|http: in such files, or from a server
#   make demo-cluster  runs four daemons in separate networks, as a group and then separately;
#                     QUICK=1: fewer photographs
#   make bench        measures epochs of 1, 2, 4 jobs, and the same readers without joaderfs
#   make bench-prepare  compares decoding and resizing with PIL + torchvision and cv2, per core
#   make bench-training  measures whether models learn as well: Fashion-MNIST, three jobs and seeds
#   make bench-explain  compares predictions of joaderctl explain with measurements
#   make figures      draws misses of the samplers against cache size, as plots and CSVs
#   make bench-sampler  measures insertion, deletion and rounds of up to 128 jobs of 2 M ids
#   make bench-coord  measures the cost of a group's log for the engine that keeps it
#   make bench-cluster  measures tensors from node to node, homes of samples, their division
#   make bench-programs  measures a program of [preparation NAME] without its function
#   make bench-epoch  measures an event in the epoch engine, with 64 jobs
#   make mutants      checks that the simulation of schedules notices faults: tests/dst
#   make doc          writes the manual pages as HTML, in build/doc
#   make fuzz         runs libFuzzer on code that reads foreign bytes, SECONDS=60 for each
#   make chaos        kills the engine again and again under readers, SECONDS=3600
#   make chaos-cluster  lets three daemons, their server and the network fail; SECONDS=3600 SEED=N
#   make lint         checks format, includes and documents, with static analysis
#   make install      PREFIX=/usr/local DESTDIR=
#   make deb          builds Debian packages, source and binary, in build/deb
#   make check-deb    lints them; installs, upgrades under readers and purges them in a new root
#   VARIANT=release|debug|asan|tsan   CC=gcc|clang   V=1: show the commands

# -r: make does not try its built-in rules, which would take seconds for a thousand files.
MAKEFLAGS += -r --no-print-directory

VARIANT ?= release
PREFIX  ?= /usr/local
BUILD   := build/$(VARIANT)

PKGS      := fuse3 libjpeg libpng inih sqlite3 zlib libcrypto
# CRoaring has a .pc file from version 0.9 on.
PKGS      += $(shell pkg-config --exists roaring 2>/dev/null && echo roaring)
LIBS_ELSE := $(shell pkg-config --exists roaring 2>/dev/null || echo -lroaring)
# Without hiredis there is no engine for groups of daemons.
HIREDIS   := $(shell pkg-config --exists hiredis 2>/dev/null && echo hiredis)
PKGS      += $(HIREDIS)
# Without libssl there is no TLS to engines, and nodes exchange images on one machine only.
LIBSSL    := $(shell pkg-config --exists 'libssl >= 3' 2>/dev/null && echo libssl)
PKGS      += $(LIBSSL)
# Without libcurl there are no datasets on http and s3 servers.
CURL      := $(shell pkg-config --exists libcurl 2>/dev/null && echo libcurl)
PKGS      += $(CURL)
# Without libmicrohttpd there is no server for Prometheus.
MICROHTTPD := $(shell pkg-config --exists libmicrohttpd 2>/dev/null && echo libmicrohttpd)
PKGS      += $(MICROHTTPD)
# Image formats that a build may lack, and libdeflate, without which PNG is slower: a macro and
# its package.
HAVE      := $(foreach codec,WEBP:libwebpdemux WEBP:libwebp TIFF:libtiff-4 DEFLATE:libdeflate,\
	$(if $(shell pkg-config --exists $(lastword $(subst :, ,$(codec))) 2>/dev/null && echo y),$(codec)))
PKGS      += $(foreach codec,$(HAVE),$(lastword $(subst :, ,$(codec))))
CODECS    := $(sort $(foreach codec,$(HAVE),-DHAVE_$(firstword $(subst :, ,$(codec)))))
# hiredis asks for file offsets of 64 bits, which a long has here. Without this flag open keeps its
# name, by which tests record writes.
PKG_CFLAGS := $(filter-out -D_FILE_OFFSET_BITS=64,$(shell pkg-config --cflags $(PKGS) | sed 's/-I/-isystem /g'))
PKG_LIBS   := $(shell pkg-config --libs $(PKGS))

WARNINGS := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla -Wformat=2 -Werror
CFLAGS.release := -O2 -g
CFLAGS.debug   := -O0 -g3
CFLAGS.asan    := -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	-fno-omit-frame-pointer
CFLAGS.tsan    := -O1 -g -fsanitize=thread -fno-omit-frame-pointer
SANITIZE.asan  := -fsanitize=address,undefined
SANITIZE.tsan  := -fsanitize=thread

VERSION    := $(shell cat VERSION)
ALL_CFLAGS  = -std=gnu17 -D_GNU_SOURCE -DFUSE_USE_VERSION=314 \
	-DJOADERFS_VERSION='"$(VERSION)"' $(CODECS) $(WARNINGS) $(CFLAGS.$(VARIANT)) -Isrc -I$(BUILD)/made $(if $(HIREDIS),-DHAVE_HIREDIS) $(if $(LIBSSL),-DHAVE_OPENSSL) $(if $(CURL),-DHAVE_CURL) $(if $(MICROHTTPD),-DHAVE_MICROHTTPD) \
	$(PKG_CFLAGS) -pthread $(CFLAGS)
ALL_LIBS    = $(WRAP:%=-Wl,--wrap=%) $(SANITIZE.$(VARIANT)) $(PKG_LIBS) $(LIBS_ELSE) -lm -pthread $(LDFLAGS)

LIB_SRC    := $(sort $(wildcard src/*/*.c src/*/*/*.c))
TOOL_SRC   := $(sort $(wildcard tools/*.c))
UNIT_SRC   := $(sort $(wildcard tests/unit/test_*.c))
STRESS_SRC := $(sort $(wildcard tests/stress/*.c))
CLIENT_SRC := $(sort $(wildcard tests/clients/*.c))

LIB      := $(BUILD)/libjoaderfs.a
PROGRAMS := $(BUILD)/joaderfs $(TOOL_SRC:tools/%.c=$(BUILD)/%)
UNIT     := $(UNIT_SRC:tests/%.c=$(BUILD)/tests/%)
STRESS   := $(STRESS_SRC:tests/%.c=$(BUILD)/tests/%)
CLIENTS  := $(CLIENT_SRC:tests/%.c=$(BUILD)/tests/%)
OBJECTS   = $(patsubst %.c,$(BUILD)/%.o,$(LIB_SRC) src/main.c $(TOOL_SRC) $(UNIT_SRC) \
	$(STRESS_SRC) $(CLIENT_SRC))

# What is built, a short line each; V=1 shows the commands.
ifeq ($(V),)
Q := @
say = @echo '  $(1)  $(2)';
else
say =
endif

.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: all programs tests man check check-here check-long check-unit check-valgrind \
	check-fs chaos chaos-cluster check-clients check-programs check-stress syntax demo demo-cluster bench lint format install uninstall clean deps

all: programs man

programs: $(PROGRAMS)

tests: $(UNIT) $(STRESS) $(CLIENTS)

$(BUILD)/%.o: %.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -MMD -MP -c -o $@ $<

# The functions of the engine, as a string of C.
COORD_LUA := $(BUILD)/made/coord/coord_lua.h
$(COORD_LUA): src/coord/coord.lua
	@mkdir -p $(@D)
	$(Q){ echo 'static const char coord_lua[] ='; \
		sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $<; echo ';'; } >$@
$(BUILD)/src/coord/coord_resp_connect.o $(BUILD)/mutable/src/coord/coord_resp_connect.o: $(COORD_LUA)

# A page, likewise.
DASHBOARD := $(BUILD)/made/files/dashboard_html.h
$(DASHBOARD): src/files/dashboard.html
	@mkdir -p $(@D)
	$(Q){ echo 'static const char dashboard_html[] ='; \
		sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/"&\\n"/' $<; echo ';'; } >$@
$(BUILD)/src/files/text_dashboard.o $(BUILD)/mutable/src/files/text_dashboard.o: $(DASHBOARD)

$(LIB): $(LIB_SRC:%.c=$(BUILD)/%.o)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

# -rdynamic: a backtrace has the names of functions.
$(BUILD)/joaderfs: $(BUILD)/src/main.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -rdynamic -o $@ $^ $(ALL_LIBS)

$(BUILD)/%: $(BUILD)/tools/%.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

define link-unit
$(call say,LD,$@)
$(Q)$(CC) -o $@ $^ $(ALL_LIBS) $(shell pkg-config --libs criterion)
endef

$(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(LIB)
	$(link-unit)

# Calls that a test takes the place of.
$(BUILD)/tests/unit/test_power_%: WRAP := open openat pwrite ftruncate fsync fdatasync rename \
	renameat unlink unlinkat rmdir mkdir mkdirat
$(BUILD)/tests/unit/test_dataset_slow: WRAP := probe_header
$(BUILD)/tests/unit/test_config_allocations: WRAP := malloc calloc reallocarray strdup strndup \
	vasprintf open_memstream

$(BUILD)/tests/stress/%: $(BUILD)/tests/stress/%.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

$(BUILD)/tests/clients/%: $(BUILD)/tests/clients/%.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

# --- tests ------------------------------------------------------------------------------
# The packages first, in a make of its own: what pkg-config says is read when make starts.

deps:
	tools/install-deps build

check:
	tools/install-deps build test lint demo
	$(MAKE) check-here

# Every test, with what is installed: unit tests and mounts under ASan and UBSan, some unit
# tests under valgrind, stress programs under TSan. What chance decides is counted a few times
# (tests/unit/effort.h). As many commands at once as there are CPUs, unless -j says how many.
PARALLEL = $(MAKE) $(if $(findstring -j,$(MAKEFLAGS)),,-j$(shell nproc))

check-here:
	+$(PARALLEL) VARIANT=asan check-unit
	+$(PARALLEL) VARIANT=asan check-sites
	+$(PARALLEL) VARIANT=asan check-fs
	+$(PARALLEL) VARIANT=release check-valgrind
	+$(PARALLEL) VARIANT=release check-clients
	+$(PARALLEL) VARIANT=release check-sim
	+$(PARALLEL) VARIANT=release check-dst
	+$(PARALLEL) VARIANT=tsan check-stress

# The same with full counts, valgrind on all of it, and what is too slow for every change, as
# to make and to install a package.
check-long:
	tools/install-deps build test lint demo
	$(MAKE) JOADERFS_LONG=1 check-here
	+$(PARALLEL) CC=clang VARIANT=debug programs tests
	$(MAKE) fuzz
	$(MAKE) check-programs
	$(MAKE) check-deb
export JOADERFS_LONG

FAULTY := $(BUILD)/tests/unit/faulty

check-unit: $(UNIT) $(FAULTY)
	tests/unit/run --notices "assertion abort leak freed" $(FAULTY)
	tests/unit/run $(UNIT)

# valgrind finds what ASan doesn't: the use of memory that nobody has written. In make check for
# what takes bytes apart or puts them together; in make check-long for all but statistics.
ifeq ($(JOADERFS_LONG),1)
VALGRIND := $(filter-out %_uniform %_misses %_epochs %_round %_property %_randomness %_labelled \
	%_restart %_replay %_twin %_sim_run %_prepare,$(UNIT))
else
VALGRIND := $(filter %_augment %_escape %_format %_header %_journal_damage %_json %_metadata \
	%_orientation %_part %_pixels %_jpeg %_png %_preamble %_resample %_bytes %_parts %_head \
	%_config %_control,$(UNIT))
endif

# These tests watch the C library's own allocator, which ASan and valgrind replace.
ALLOCATOR := $(addprefix $(BUILD)/tests/unit/,test_exchange_memory test_load_allocations \
	test_sched_space)

check-valgrind: $(VALGRIND) $(FAULTY) $(ALLOCATOR)
	tests/unit/run --valgrind --notices "assertion abort leak freed uninitialised" $(FAULTY)
	JOADERFS_LONG= tests/unit/run --valgrind $(VALGRIND)
	tests/unit/run $(ALLOCATOR)

# Packages first, as check does: this may be the only thing that is asked for.
check-clients:
	tools/install-deps build demo test
	$(MAKE) programs $(CLIENTS)
	tests/clients/run $(BUILD)/tests/clients

# With what is installed: nothing is fetched.
check-programs: programs
	tests/programs/run $(BUILD)

# Each time with another seed, which is printed; CHAOS_SEED=N repeats one.
chaos: programs
	@seed=$${CHAOS_SEED:-$$RANDOM$$$$}; echo "CHAOS_SEED=$$seed"; \
	CHAOS_SEED=$$seed CHAOS_SECONDS=$(or $(SECONDS),3600) \
		TEST_TIMEOUT=$$(($(or $(SECONDS),3600) + 300)) \
		BUILD=$(BUILD) tests/fs/run engine_killed

# The same of three daemons, their server and the network between them.
chaos-cluster: programs
	@seed=$(or $(SEED),$$RANDOM$$$$); echo "SEED=$$seed"; \
	CHAOS_SEED=$$seed CHAOS_SECONDS=$(or $(SECONDS),3600) \
		TEST_TIMEOUT=$$(($(or $(SECONDS),3600) + 300)) \
		BUILD=$(BUILD) tests/fs/run cluster_chaos

check-stress: $(STRESS)
	tests/stress/run $(STRESS)

# What another compiler says of all that is compiled by this one.
syntax: $(COORD_LUA) $(DASHBOARD)
	@find src tests tools -name '*.c' | \
		xargs -P $(shell nproc) -n 20 $(CC) $(ALL_CFLAGS) -Itools/sim -fsyntax-only

# --- installation ------------------------------------------------------------------------
# mount(8) finds `mount -t fuse.joaderfs` by itself: mount.fuse3 runs the joaderfs of PATH.

INSTALLED := joaderfs joaderctl joader-sim
EXAMPLES  := $(sort $(wildcard config/*.ini config/*.service config/*.json config/*.yml))
# Each goes into the folder that it has here, so that links between documents work.
DOCUMENTS := README.md LICENSE src/README.md $(sort $(wildcard src/*/README.md tools/README.md tools/*/README.md)) \
	$(sort $(wildcard docs/*) $(wildcard tools/examples/*.py tools/prepare/examples/*.py))
DOC       := $(DESTDIR)$(PREFIX)/share/doc/joaderfs
# Where python3 looks: that of Debian's packages, or of this version below another prefix.
SITE      ?= $(PREFIX)/lib/$(if $(filter /usr,$(PREFIX)),python3/dist-packages,$(shell \
	python3 -c 'import sys, os; v = "python%d.%d" % sys.version_info[:2]; print(v + (\
	"/dist-packages" if os.path.isdir("/usr/lib/python3/dist-packages") else "/site-packages"))'))
PYTHON_MODULE := $(sort $(wildcard tools/python/joaderfs/*.py tools/python/joaderfs/py.typed))

install: all completions
	install -d $(DESTDIR)$(PREFIX)/bin $(DOC)/examples/sim
	install -m 755 $(INSTALLED:%=$(BUILD)/%) $(DESTDIR)$(PREFIX)/bin
	for document in $(DOCUMENTS); do \
		install -D -m 644 $$document $(DOC)/$$document || exit 1; \
	done
	install -m 644 $(EXAMPLES) $(DOC)/examples
	install -m 644 $(SIM_INI) $(DOC)/examples/sim
	install -m 644 $(wildcard config/examples/*) $(DOC)/examples
	ln -sfn examples $(DOC)/config
	for page in $(MAN); do section=$${page##*.} && \
		install -d $(DESTDIR)$(PREFIX)/share/man/man$$section && \
		install -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man$$section || exit 1; \
	done
	install -d $(DESTDIR)$(SITE)/joaderfs
	install -m 644 $(PYTHON_MODULE) $(DESTDIR)$(SITE)/joaderfs
	install -m 644 tools/prepare/joaderfs_prepare.py $(DESTDIR)$(SITE)
	install -D -m 644 tools/prepare/joaderfs_prepare.h $(DESTDIR)$(PREFIX)/include/joaderfs_prepare.h
	for file in $(COMPLETED); do \
		install -D -m 644 $(BUILD)/completions/$$file $(DESTDIR)$(PREFIX)/share/$$file || exit 1; \
	done

uninstall:
	rm -f $(COMPLETED:%=$(DESTDIR)$(PREFIX)/share/%)
	rm -f $(INSTALLED:%=$(DESTDIR)$(PREFIX)/bin/%)
	rm -rf $(DOC) $(DESTDIR)$(SITE)/joaderfs $(DESTDIR)$(SITE)/joaderfs_prepare.py \
		$(DESTDIR)$(PREFIX)/include/joaderfs_prepare.h
	for page in $(notdir $(MAN)); do \
		rm -f $(DESTDIR)$(PREFIX)/share/man/man$${page##*.}/$$page; done

format:
	clang-format -i $(shell git ls-files '*.c' '*.h')

include tests/fuzz/fuzz.mk
include tests/dst/dst.mk
include tests/sites/sites.mk
include man/man.mk
include tools/package/package.mk
include tools/tools.mk
include tools/sim/sim.mk

clean:
	rm -rf build

-include $(OBJECTS:.o=.d)
