# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# Builds and runs the benchmarks of tools/bench/README.md.

define link-bench
@mkdir -p $(@D)
$(call say,LD,$@)
$(Q)$(CC) -o $@ $^ $(CALLS:%=-Wl,--wrap=%) $(ALL_LIBS)
endef

$(BUILD)/bench/%: $(BUILD)/tools/bench/%.o $(LIB)
	$(link-bench)

# This program measures dsa, and the paper's tree of tools/sim for comparison.
$(BUILD)/bench/sampler: $(BUILD)/tools/bench/sampler.o \
		$(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/sim/dsa_tree*.c) tools/sim/sim_sampler.c) $(LIB)
	$(link-bench)

# The linker redirects these functions to wrappers of the program: calls of locks are timed, and in
# `many` decoding also sleeps.
LOCK_CALLS = lock_take lock_release lock_yield lock_wait lock_wait_until
$(BUILD)/bench/many: CALLS = $(LOCK_CALLS) image_decode
$(BUILD)/bench/holds: CALLS = $(LOCK_CALLS)
$(BUILD)/bench/holds $(BUILD)/bench/many: $(BUILD)/bench/%: $(BUILD)/tools/bench/%.o \
		$(BUILD)/tools/bench/lock_calls.o $(BUILD)/tools/bench/one_image.o $(LIB)
	$(link-bench)

# Measures how long the scheduler's lock is held when a job comes or goes, with exchange.
.PHONY: bench-joins
bench-joins: $(BUILD)/bench/joins
	@$<
	@$< 14000000

# Measures the costs of a Redis server that several nodes use as the engine of their group.
.PHONY: bench-coord
bench-coord: $(BUILD)/bench/coord $(BUILD)/bench/nodes
	@tools/bench/bench-coord $^

# Measures the cost of a program of [preparation NAME] without its function.
.PHONY: bench-programs
bench-programs: $(BUILD)/bench/programs $(BUILD)/bench/answer
	@$< $(CURDIR)/tools/prepare/joaderfs_prepare.py $(CURDIR)/tools/bench/answer.py \
		$(CURDIR)/$(BUILD)/bench/answer

# Measures the cost of making a checkpoint, and of restoring it.
.PHONY: bench-restore
bench-restore: $(BUILD)/bench/restore
	@$<

# Measures the longest time for which the scheduler's lock is held.
.PHONY: bench-holds
bench-holds: $(BUILD)/bench/holds
	@$<
	@$< 14000000

# Trains three models at once, with several seeds, and prints their accuracy.
.PHONY: bench-training
bench-training:
	@tools/install-deps build demo test
	@$(MAKE) --no-print-directory -s VARIANT=release programs
	@tools/bench/bench-training

# Compares the preparation of photographs with PIL + torchvision and cv2, in one thread.
.PHONY: bench-prepare
bench-prepare:
	@tools/install-deps build demo test
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/prepare
	@tools/bench/bench-prepare

# Measures the cost of each step of the augmentation.
.PHONY: bench-augment
bench-augment:
	@tools/install-deps build demo test
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/augment
	@tools/bench/bench --only augment

# Measure in one thread, without a daemon; the comment of each program says what:
#   bench-sampler  insertion, deletion, and rounds of 2 to 128 jobs
#   bench-epoch    an event in the epoch engine
#   bench-journal  a job's journal: per record, per write, and at a restart
#   bench-cluster  several nodes: sending tensors, finding homes, dividing mini-batches
ALONE := bench-sampler bench-epoch bench-journal bench-cluster
.PHONY: $(ALONE)
$(ALONE): bench-%:
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/$*
	@build/release/bench/$*

-include $(wildcard $(BUILD)/tools/bench/*.d)

# Compares predictions of joaderctl explain with measurements after the change.
.PHONY: bench-explain
bench-explain:
	@tools/install-deps build demo test
	@$(MAKE) --no-print-directory -s VARIANT=release programs build/release/bench/laps \
		build/release/tests/clients/slow_storage
	@tools/bench/bench-explain build/release $(CASES)
