# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# The man pages, in build/man: the tables of options and counters come from the program.

MAN := $(patsubst man/%.in,build/man/%,$(sort $(wildcard man/*.in)))

.PHONY: man lint-man
man: $(MAN)

build/man/%: man/%.in $(BUILD)/joaderfs-docs
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(BUILD)/joaderfs-docs options > $@.options
	$(Q)$(BUILD)/joaderfs-docs counters > $@.counters
	$(Q)sed -e '/^@OPTIONS@$$/{r $@.options' -e 'd}' \
		-e '/^@COUNTERS@$$/{r $@.counters' -e 'd}' $< > $@
	@rm $@.options $@.counters

lint-man: $(MAN)
	mandoc -Tlint -W warning $(MAN)
