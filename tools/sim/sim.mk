# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# joader-sim: tools/joader-sim.c, tools/sim, and the inis of config/sim as built-in
# scenarios.

SIM_SRC := $(sort $(wildcard tools/sim/*.c))
SIM_INI := $(sort $(wildcard config/sim/*.ini))
SIM_OBJ := $(SIM_SRC:%.c=$(BUILD)/%.o) $(BUILD)/tools/sim/builtins.o
# GSL has the distributions of tools/sim/statistics.c.
SIM_LIBS = $(shell pkg-config --libs gsl)

# Writes the inis into a C file, so that the program needs no files.
$(BUILD)/tools/sim/builtins.c: $(SIM_INI) tools/sim/sim.mk
	$(call say,GEN,$@)
	@mkdir -p $(@D)
	$(Q){ echo '#include "sim.h"'; \
		echo 'const struct sim_builtin sim_builtins[] = {'; \
		for ini in $(SIM_INI); do \
			echo "{\"$$(basename $$ini .ini)\","; \
			sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $$ini; \
			echo '},'; \
		done; \
		echo '{NULL, NULL}};'; } > $@

$(BUILD)/tools/sim/builtins.o: $(BUILD)/tools/sim/builtins.c
	$(call say,CC,$@)
	$(Q)$(CC) $(ALL_CFLAGS) -Itools/sim -MMD -MP -c -o $@ $<

$(BUILD)/joader-sim: $(BUILD)/tools/joader-sim.o $(SIM_OBJ) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(SIM_LIBS) $(ALL_LIBS)

# Tests of the paper's tree need no other files of the simulation.
TREE_OBJ := $(filter $(BUILD)/tools/sim/dsa_tree% %/sim_sampler.o,$(SIM_OBJ))
TREE_TESTS := $(addprefix $(BUILD)/tests/unit/test_,dsa_tree sampler sampler_property sampler_round)
$(TREE_TESTS): $(BUILD)/tests/unit/%: $(BUILD)/tests/unit/%.o $(TREE_OBJ) $(LIB)
	$(link-unit)

$(BUILD)/tests/unit/test_sim_explain: $(BUILD)/tools/ctl/explain_simulate.o
$(BUILD)/tests/unit/test_sim_%: $(BUILD)/tests/unit/test_sim_%.o $(SIM_OBJ) $(LIB)
	$(link-unit) $(SIM_LIBS)

# Writes plots and CSV files: those of the paper's scenarios, with linear axes, and others.
FIGURES := build/figures

.PHONY: figures check-sim
figures:
	@tools/install-deps build
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/joader-sim
	@mkdir -p $(FIGURES)
	@tools/sim/figures build/release/joader-sim $(FIGURES)

# Checks figures of the simulation, within the bounds of chance.
check-sim: $(BUILD)/joader-sim
	tests/sim/run $(BUILD)/joader-sim

-include $(wildcard $(BUILD)/tools/sim/*.d)
