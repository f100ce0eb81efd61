# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# The programs that are measured: read_epoch by tools/bench/bench, prepare
# by tools/bench/bench-prepare.

.PHONY: bench-prepare

$(BUILD)/bench/%: $(BUILD)/tools/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

# It has the paper's tree beside ours.
$(BUILD)/bench/sampler: $(BUILD)/tools/bench/sampler.o \
		$(patsubst %.c,$(BUILD)/%.o,$(wildcard tools/sim/dsa_tree*.c) tools/sim/sim_sampler.c) $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

# Each hold of the scheduler's lock is timed; of many, of each lock, and decoding also
# sleeps.
LOCK_CALLS = lock_take lock_release lock_yield lock_wait lock_wait_until
$(BUILD)/bench/many: CALLS = $(LOCK_CALLS) image_decode
$(BUILD)/bench/holds: CALLS = $(LOCK_CALLS)
$(BUILD)/bench/holds $(BUILD)/bench/many: $(BUILD)/bench/%: $(BUILD)/tools/bench/%.o \
		$(BUILD)/tools/bench/lock_calls.o $(BUILD)/tools/bench/one_image.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(CALLS:%=-Wl,--wrap=%) $(ALL_LIBS)

# How long the scheduler's lock is held when a job comes or goes, with exchange.
.PHONY: bench-joins
bench-joins: $(BUILD)/bench/joins
	@$<
	@$< 14000000

# What the log of a group of daemons costs the engine that keeps it.
.PHONY: bench-coord
bench-coord: $(BUILD)/bench/coord $(BUILD)/bench/nodes
	@tools/bench/bench-coord $^

# What a program of [preparation NAME] costs beside its function.
.PHONY: bench-programs
bench-programs: $(BUILD)/bench/programs $(BUILD)/bench/answer
	@$< $(CURDIR)/tools/prepare/joaderfs_prepare.py $(CURDIR)/tools/bench/answer.py \
		$(CURDIR)/$(BUILD)/bench/answer

# What a checkpoint costs, and the way back to it.
.PHONY: bench-restore
bench-restore: $(BUILD)/bench/restore
	@$<

# How long it is held at most, whatever holds it.
.PHONY: bench-holds
bench-holds: $(BUILD)/bench/holds
	@$<
	@$< 14000000

# Three real trainings at once, with several seeds: do models learn as well?
.PHONY: bench-training
bench-training:
	@tools/install-deps build demo test
	@$(MAKE) --no-print-directory -s VARIANT=release programs
	@tools/bench/bench-training

# Preparing photographs beside PIL + torchvision and cv2, per core.
bench-prepare:
	@tools/install-deps build demo test
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/prepare
	@tools/bench/bench-prepare

# What each step of augmentation costs.
.PHONY: bench-augment
bench-augment:
	@tools/install-deps build demo test
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/augment
	@tools/bench/bench --only augment

# What sampling costs: insertion, deletion, rounds of 2 to 128 jobs.
.PHONY: bench-sampler
bench-sampler:
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/sampler
	@build/release/bench/sampler

# What an event costs the epoch engine.
.PHONY: bench-epoch
bench-epoch:
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/epoch
	@build/release/bench/epoch

# What the journal of a job costs: per record, per write, at a restart.
.PHONY: bench-journal
bench-journal:
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/journal
	@build/release/bench/journal

# What several nodes cost: tensors from one to the other, homes, and who takes what.
.PHONY: bench-cluster
bench-cluster:
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/cluster
	@build/release/bench/cluster

-include $(wildcard $(BUILD)/tools/bench/*.d)

# What joaderctl explain predicts beside what is measured when the change is made.
.PHONY: bench-explain
bench-explain:
	@tools/install-deps build demo test
	@$(MAKE) --no-print-directory -s VARIANT=release programs build/release/bench/laps \
		build/release/tests/clients/slow_storage
	@tools/bench/bench-explain build/release $(CASES)
