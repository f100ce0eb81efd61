// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* In an engine that follows another one: how that has ended goes to the log, and to
 * kept()->reason. */
void death_log(void);
