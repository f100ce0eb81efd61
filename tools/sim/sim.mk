# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# joader-sim: tools/joader-sim.c, tools/sim, and the inis of config/sim as built-in
# scenarios.

SIM_SRC := $(sort $(wildcard tools/sim/*.c))
SIM_INI := $(sort $(wildcard config/sim/*.ini))
SIM_OBJ := $(SIM_SRC:%.c=$(BUILD)/%.o) $(BUILD)/tools/sim/builtins.o
# The distributions that figures of randomness are held against.
SIM_LIBS = $(shell pkg-config --libs gsl)

# Text as a C string, so that the program needs no files.
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

$(BUILD)/tests/unit/test_sim_%: $(BUILD)/tests/unit/test_sim_%.o $(SIM_OBJ) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(SIM_LIBS) $(ALL_LIBS) $(shell pkg-config --libs criterion)

-include $(wildcard $(BUILD)/tools/sim/*.d)
