# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# The man pages, in build/man: the tables of options, counters and histograms come from the program.

MAN := $(patsubst man/%.in,build/man/%,$(sort $(wildcard man/*.in)))

.PHONY: man doc lint-man
man: $(MAN)

# The pages as HTML, with links from one to the other.
doc:
	@tools/install-deps build doc
	@$(MAKE) --no-print-directory -s build/doc/index.html
	@echo "build/doc/index.html"

build/doc/index.html: $(MAN) man/man.mk
	@mkdir -p $(@D)
	@cd build/man && for page in $(notdir $(MAN)); do \
		mandoc -T html -O 'man=%N.%S.html;https://manpages.debian.org/%N.%S,toc' \
			$$page > ../doc/$$page.html || exit 1; done
	@{ echo '<!DOCTYPE html><meta charset="utf-8"><title>joaderfs</title><h1>joaderfs</h1><ul>'; \
		for page in $(notdir $(MAN)); do \
			echo "<li><a href=\"$$page.html\">$${page%.*}($${page##*.})</a>:" \
				"$$(sed -n 's/^\.Nd //p' build/man/$$page)"; \
		done; echo '</ul>'; } > $@

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
