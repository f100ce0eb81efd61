# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# Makes completions for shells, and Debian packages.

COMPLETED := $(foreach program,joaderfs joaderctl joader-sim,\
	bash-completion/completions/$(program) zsh/vendor-completions/_$(program) \
	fish/vendor_completions.d/$(program).fish)
COMPLETION_FILES := $(COMPLETED:%=$(BUILD)/completions/%)

.PHONY: completions deb check-deb
completions: $(COMPLETION_FILES)

define complete
$(call say,GEN,$@)
@mkdir -p $(@D)
$(Q)tools/package/completions $(BUILD) $* $(1) >$@
endef

$(COMPLETION_FILES): tools/package/completions $(PROGRAMS)

$(BUILD)/completions/bash-completion/completions/%:
	$(call complete,bash)

$(BUILD)/completions/zsh/vendor-completions/_%:
	$(call complete,zsh)

$(BUILD)/completions/fish/vendor_completions.d/%.fish:
	$(call complete,fish)

# --- Debian packages --------------------------------------------------------------------
# Built in a copy of the repository, with config/debian as its directory debian.

DEB := build/deb

deb:
	@tools/install-deps build package
	@tools/package/deb $(DEB)

check-deb: deb
	@tools/package/check $(DEB)
