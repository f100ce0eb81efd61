# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# Targets that run programs in tools/ and tests/fs. First packages are installed. Then a second make
# builds the programs, because a makefile calls pkg-config when it is read.

include tools/bench/bench.mk

CTL_SRC := $(sort $(wildcard tools/ctl/*.c))
# The files of tools/sim with which joaderctl explain simulates.
CTL_SIM := $(patsubst %,$(BUILD)/tools/sim/%.o,timed timed_runs timed_script timed_world sim_sched \
	sim_draw sim_supply sim_sampler dsa_tree dsa_tree_round)
$(BUILD)/joaderctl: $(BUILD)/tools/joaderctl.o $(CTL_SRC:%.c=$(BUILD)/%.o) $(CTL_SIM) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

-include $(CTL_SRC:%.c=$(BUILD)/%.d)

demo:
	@tools/install-deps build demo
	+@$(PARALLEL) -s VARIANT=release all
	@tools/demo

demo-cluster:
	@tools/install-deps build demo
	+@$(PARALLEL) -s VARIANT=release all
	@tools/demo-cluster $(if $(QUICK),--quick)

bench:
	@tools/install-deps build demo test bench
	@$(MAKE) --no-print-directory -s VARIANT=release all \
		$(patsubst %,build/release/bench/%,augment catalogue many prepare read_epoch read_paced) \
		build/release/tests/clients/slow_storage
	@tools/bench/bench $(if $(QUICK),--quick) $(if $(LARGE),--large)

lint:
	@tools/install-deps build lint
	@$(MAKE) --no-print-directory -s man
	@tools/lint --self-test
	@tools/lint

check-fs: all $(SITES) $(MUTANT_DAEMON) $(BUILD)/tests/clients/slow_storage
	@BUILD=$(BUILD) tests/fs/run
