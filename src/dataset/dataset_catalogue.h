// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* SQLite's header of a catalogue has these; the version goes up when the
 * tables change. */
#define CATALOGUE_APPLICATION 0x4a4f4144 /* "JOAD" */
#define CATALOGUE_VERSION 5
/* It had a table `samples`, with a row of each. */
#define CATALOGUE_WITH_TABLE 4
/* The version that had no channels, bits and palette. */
#define CATALOGUE_WITHOUT_CHANNELS 3
/* The version that had no containers. */
#define CATALOGUE_WITHOUT_CONTAINERS 2
/* The version that had no exif_orientation either. */
#define CATALOGUE_WITHOUT_ORIENTATION 1
