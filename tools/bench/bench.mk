# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# The programs that are measured: read_epoch by tools/bench/bench and bench-layouts, prepare
# by tools/bench/bench-prepare.

.PHONY: bench-prepare bench-layouts

$(BUILD)/bench/%: $(BUILD)/tools/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

# Preparing photographs beside PIL + torchvision and cv2, per core.
bench-prepare:
	@tools/install-deps build demo test
	@$(MAKE) --no-print-directory -s VARIANT=release build/release/bench/prepare
	@tools/bench/bench-prepare

# What serving a prepared sample costs in each layout.
bench-layouts:
	@tools/install-deps build demo
	@$(MAKE) --no-print-directory -s VARIANT=release all build/release/bench/read_epoch
	@tools/bench/bench-layouts

# What each step of augmentation costs.
.PHONY: bench-augment
bench-augment: $(BUILD)/bench/augment
	@$<

-include $(wildcard $(BUILD)/tools/bench/*.d)
