# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# The reader that tools/bench/bench measures serving with.

BENCH_READER := $(BUILD)/bench/read_epoch

$(BENCH_READER): $(BUILD)/tools/bench/read_epoch.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)
