// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* Runs joaderctl export, which writes to standard output. Returns the exit status. */
int export_job(const char *socket_path, int argc, char **argv);

/* Runs joaderctl restore. argv[0] is the command's name. Returns the exit status. */
int restore_job(const char *socket_path, int argc, char **argv);
