# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# The man pages, in build/man: the tables of options, counters and histograms come from the program.

MAN := $(patsubst man/%.in,build/man/%,$(sort $(wildcard man/*.in)))

.PHONY: man lint-man
man: $(MAN)

build/man/%: man/%.in $(BUILD)/joaderfs-docs
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)$(BUILD)/joaderfs-docs options > $@.options
	$(Q)$(BUILD)/joaderfs-docs counters > $@.counters
	$(Q)$(BUILD)/joaderfs-docs histograms > $@.histograms
	$(Q)sed -e '/^@OPTIONS@$$/{r $@.options' -e 'd}' \
		-e '/^@COUNTERS@$$/{r $@.counters' -e 'd}' \
		-e '/^@HISTOGRAMS@$$/{r $@.histograms' -e 'd}' $< > $@
	@rm $@.options $@.counters $@.histograms

lint-man: $(MAN)
	mandoc -Tlint -W warning $(MAN)
