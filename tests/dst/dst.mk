# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
#   make check-dst     the daemon's inside, with threads and clock that a seed schedules
#   make check-sites   each call for memory or a file fails, or is the process's last one
#   make check-dst-cluster  groups of daemons: coordinators, engine, network
#   make mutants       whether that notices faults: tests/dst/mutants

DST := $(BUILD)/tests/dst/simulate
DST_OBJECTS := $(patsubst %.c,$(BUILD)/%.o,$(sort $(wildcard tests/dst/*.c)))
DST_WRAP := pthread_mutex_lock pthread_mutex_trylock pthread_mutex_unlock \
	pthread_cond_wait pthread_cond_timedwait pthread_cond_signal pthread_cond_broadcast \
	pthread_join pthread_setschedparam pthread_setname_np sched_yield signals_thread \
	open openat pwrite ftruncate fsync fdatasync rename renameat unlink unlinkat rmdir \
	mkdir mkdirat readdir closedir pread malloc calloc realloc reallocarray aligned_alloc \
	posix_memalign strdup strndup asprintf vasprintf open_memstream
# How many schedules and failing calls are tried: one of every N sites, within the seconds.
ifeq ($(JOADERFS_LONG),1)
DST_EFFORT := --runs 1000000
DST_SITES  := --runs 40 --sites 1
else
DST_EFFORT := --seconds 20
DST_SITES  := --seconds 15 --sites 30
endif

.PHONY: check-dst check-dst-cluster check-sites mutants mutant

$(DST): WRAP := $(DST_WRAP)
$(DST): $(DST_OBJECTS) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

# Groups of daemons. The coordinator is built with the mutants that the simulation must notice.
DST_CLUSTER := $(BUILD)/tests/dst/cluster/simulate
DST_CLUSTER_SRC := $(sort $(wildcard tests/dst/cluster/*.c)) tests/dst/coroutines.c
DST_COORD_SRC := $(sort $(filter-out src/coord/coord_resp%,$(wildcard src/coord/coord*.c)))
DST_CLUSTER_OBJECTS := $(DST_CLUSTER_SRC:%.c=$(BUILD)/mutable/%.o) $(DST_COORD_SRC:%.c=$(BUILD)/mutable/%.o)

$(BUILD)/mutable/%.o: %.c
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(ALL_CFLAGS) -DCOORD_MUTANTS -MMD -MP -c -o $@ $<

$(DST_CLUSTER): $(DST_CLUSTER_OBJECTS) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

# The daemon with this coordinator, for tests on mounts.
MUTANT_OBJECTS := $(DST_COORD_SRC:%.c=$(BUILD)/mutable/%.o) $(BUILD)/mutable/tests/mutant/mutant.o
MUTANT_DAEMON := $(BUILD)/tests/mutant/joaderfs
$(MUTANT_DAEMON): $(BUILD)/src/main.o $(MUTANT_OBJECTS) $(LIB)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -rdynamic -o $@ $^ $(ALL_LIBS)

check-dst: check-dst-cluster
check-dst-cluster: $(DST_CLUSTER)
	$(DST_CLUSTER) --processes $(shell nproc) $(DST_EFFORT)
	BUILD=$(BUILD) tests/dst/cluster/mutants

# Seed 4730: a turn of current/ must not keep all files, otherwise the epoch never ends.
check-dst: $(DST)
	$(DST) --seed 4730
	$(DST) --processes $(shell nproc) $(DST_EFFORT)

check-sites: $(DST)
	$(DST) --processes $(shell nproc) --seed 0 --runs 1000000 $(DST_SITES)

mutants: $(DST)
	BUILD=$(BUILD) tests/dst/mutants

# Links MUTANT.c instead of the library's file from which it was made.
mutant: WRAP := $(DST_WRAP)
mutant:
	$(Q)$(CC) $(ALL_CFLAGS) -w -c -o $(MUTANT).o $(MUTANT).c
	$(Q)$(CC) -o $(MUTANT) $(DST_OBJECTS) $(MUTANT).o $(LIB) $(ALL_LIBS)

-include $(DST_OBJECTS:.o=.d) $(DST_CLUSTER_OBJECTS:.o=.d) $(MUTANT_OBJECTS:.o=.d)
