// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* What marks a file as a catalogue; the version goes up when the tables change. */
#define CATALOGUE_APPLICATION 0x4a4f4144 /* "JOAD" */
#define CATALOGUE_VERSION 2
/* Without exif_orientation. */
#define CATALOGUE_VERSION_BEFORE 1
