# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# libFuzzer on what reads foreign bytes, for SECONDS each.

SECONDS  := 60
FUZZ_SRC := $(filter-out $(if $(HIREDIS),,%/fuzz_resp.c),$(sort $(wildcard tests/fuzz/fuzz_*.c)))
FUZZ     := $(FUZZ_SRC:tests/%.c=$(BUILD)/tests/%)

# The flags of asan, with the coverage that guides libFuzzer's mutations. gcc has no libFuzzer.
CFLAGS.fuzz   := -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=undefined -fno-omit-frame-pointer
SANITIZE.fuzz := -fsanitize=fuzzer,address,undefined

.PHONY: fuzz fuzz-programs

fuzz:
	@tools/install-deps build test
	+@$(PARALLEL) -s VARIANT=fuzz CC=clang fuzz-programs
	tests/fuzz/run $(SECONDS) $(FUZZ_SRC:tests/%.c=build/fuzz/tests/%)

fuzz-programs: $(FUZZ)

$(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) -o $@ $^ $(ALL_LIBS)

-include $(FUZZ_SRC:%.c=$(BUILD)/%.d)
