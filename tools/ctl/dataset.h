// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* Runs joaderctl dataset. argv[0] is the command's name. Returns the exit status. */
int dataset_command(const char *socket_path, int argc, char **argv);
