// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

/* joaderctl export: to standard output. */
int export_job(const char *socket_path, int argc, char **argv);

/* joaderctl restore: argv is the command and its arguments. The exit status. */
int restore_job(const char *socket_path, int argc, char **argv);
