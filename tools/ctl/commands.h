// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include <stdbool.h>
#include <stdio.h>

/* The commands of joaderctl. argv[0] is the command's name. They return the exit status. */

/* Reads the inis of jobs, and sends all of them in one request. Prints the daemon's answer to
 * `out`. own: adds one job for joaderctl run. The daemon chooses another name if the job's name
 * is taken. The answer with `own` is: name, tab, directory, newline. */
int add_jobs(const char *socket_path, int argc, char **argv, bool own, FILE *out);

int dataset_command(const char *socket_path, int argc, char **argv);

/* Prints settings of this machine that cost time or break something, each with a remedy. Asks only
 * the system, so no daemon is needed. Leaves out settings that can't be determined. argv[1]: a
 * daemon's ini, if any. Exit status 1: something does not work. */
int doctor(int argc, char **argv);

/* Tells why jobs are slow, and which changes would help. The daemon reports measurements of the
 * last epochs; this process simulates the changes (tools/sim/timed.h). */
int explain(const char *socket_path, int argc, char **argv);

/* Exit status 1: the help can't be written. */
int help_all(FILE *out);
/* EXIT_USAGE: there is no such command. */
int help_of(const char *command, FILE *out);

/* Prints the list of jobs (joaderctl ls). On a terminal it has the colours of joaderctl top, unless
 * NO_COLOR is set in the environment. */
int list_jobs(const char *socket_path);

/*
 * joaderctl mount: mounts /dev/fuse in the name space of the caller, and has the daemon serve it.
 *
 *   a detached mount is made -> the daemon gets the descriptor of /dev/fuse, and serves the mount
 *   -> the mount is attached to the directory
 *
 * A detached mount vanishes when joaderctl ends. Nothing is left if joaderctl ends before the last
 * step, and nobody ever sees a directory that is not served. A user who is not allowed to mount
 * needs fusermount3, which mounts on the directory at once; a guard process then unmounts the
 * directory if joaderctl ends before the daemon serves the mount.
 */
int mount_job(const char *socket_path, const char *job, const char *directory,
	bool allow_other);

/* Writes to standard output. */
int export_job(const char *socket_path, int argc, char **argv);
int restore_job(const char *socket_path, int argc, char **argv);

/* Adds a job for as long as a command runs. {} in the command stands for the path of current/.
 * Signals such as SIGINT, SIGTERM, SIGUSR1 and SIGWINCH are passed to the command. Returns the exit
 * status of the command that was run; 128 plus the number of the signal that ended it; 126 or 127
 * as in env(1) if it can't be started; otherwise 1 or EXIT_USAGE. */
int run_command(const char *socket_path, int argc, char **argv);

int top(const char *socket_path, int argc, char **argv);

/* Prints the opens and closes of a job's readers until a signal comes. Asks the daemon for them
 * again and again. */
int trace(const char *socket_path, int argc, char **argv);
