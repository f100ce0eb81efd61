// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "help.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* text: the line in the list of all commands; more: the other lines of the command's own help, or
 * "". */
static const struct command_help {
	const char *name, *arguments, *text, *more;
} commands[] = {
	{"add",
		"[--import FILE] [--at EPOCH:POSITION] [--name NAME] "
		"[--set SECTION.KEY=VALUE]... [FILE...]",
		"add jobs, all or none: each FILE is a job's ini,\n"
		"- is standard input\n",
		"    --import FILE    the job is where the one was that export has "
		"written\n"
		"                     to FILE, and its positions hold the same samples;\n"
		"                     of a rank: its training goes on from what was "
		"read\n"
		"                     by all ranks, whose exports are in FILE\n"
		"    --at EPOCH:POSITION  there instead\n"
		"-n, --name NAME      the job's name, instead of that in the ini\n"
		"-S, --set SECTION.KEY=VALUE\n"
		"                     a key of the ini: --set view.layout=classes\n"
		"-t, --template NAME  instead of FILE: [template NAME] in the daemon's "
		"ini\n"
		"\n"
		"A job that is there already, with the same configuration, is no error.\n"
		"A job that an ordinary user adds is this user's, and nobody else reads "
		"it\n"
		"unless its mode says so.\n"
		"%name in the ini's [view] path stands for the name; $NAME and ${NAME} "
		"in "
		"name,\n"
		"dataset, training, ranks, rank, local_ranks, node_rank and global_batch "
		"for\n"
		"environment variables.\n"},
	{"run",
		"[--name NAME] [--set SECTION.KEY=VALUE]... [--keep] [FILE] -- "
		"COMMAND...",
		"a job for as long as COMMAND runs, with the path of its\n"
		"view in place of {}\n",
		"-n, --name NAME      the job's name, instead of that in the ini\n"
		"-S, --set SECTION.KEY=VALUE\n"
		"                     a key of the ini: --set view.layout=classes\n"
		"-t, --template NAME  instead of FILE: [template NAME] in the daemon's "
		"ini\n"
		"    --keep           the job stays when COMMAND ends\n"
		"\n"
		"A job whose name is taken is NAME-2, NAME-3 and so on. COMMAND has the\n"
		"name in JOADERFS_JOB, and gets the signals that joaderctl gets. The\n"
		"exit status is COMMAND's.\n"},
	{"rm", "JOB...", "remove jobs; 'resnet*' is all with such names\n",
		"Everything that the daemon keeps of their epochs is removed, too.\n"},
	{"restore", "[--at EPOCH:POSITION] JOB FILE",
		"back to where the job was when jobs/JOB/state was copied\n"
		"to FILE; - is standard input\n",
		"--at EPOCH:POSITION  to this place instead: what was trained is not\n"
		"                     what was fetched. Positions before it are read.\n"
		"\n"
		"What was read since is unread, with the same samples at the same\n"
		"positions. No training should read the job meanwhile.\n"},
	{"export", "JOB >FILE",
		"where the job is, with all orders that are kept: for add\n"
		"--import on another machine, and order = replay:FILE\n",
		"The other machine needs the same files: paths below the dataset's\n"
		"directory, and sizes.\n"},
	{"mount", "[-o allow_other] JOB DIR",
		"mount the directory of a job here, as in a container\n",
		"-o allow_other       other users may read there, too\n"},
	{"grant", "JOB",
		"make a socket that can only mount and read the job, for a\n"
		"container, and print its path\n",
		"The directory that the socket lies in is bound into the container.\n"},
	{"revoke", "JOB", "remove this socket\n", ""},
	{"ls", "", "list the jobs\n", ""},
	{"top", "[--once] [--json] [--interval SECONDS] [--sort KEY]",
		"what jobs get and wait for, and what the machine does, live\n",
		"    --once           one screen, of one interval, and no more\n"
		"    --json           a JSON object for each interval, on one line\n"
		"-i, --interval SECONDS\n"
		"                     0.1 to 3600; 1 unless it is given\n"
		"-s, --sort KEY       name, waited, rate, done or prepared\n"
		"\n"
		"Keys: q quits; n, w, r, d, p sort by name, WAITED, SAMPLES/S, DONE,\n"
		"and what was prepared; the space bar looks at once. Without a terminal\n"
		"it is as --once.\n"},
	{"explain", "[--json] [--plan N] [JOB]",
		"what jobs waited for in their last epoch, and what would help\n",
		"    --json           the same for programs, and all changes that were\n"
		"                     tried\n"
		"-p, --plan N         a cache and a sampler for N jobs like JOB, or like "
		"the\n"
		"                     first one\n"
		"\n"
		"The last epochs are simulated again, with one thing changed: the "
		"cache,\n"
		"the sampler, decoders, look-ahead, a tier, the job alone. First they "
		"are\n"
		"simulated as they were, and if that is off by more than 20 %, nothing "
		"is\n"
		"promised.\n"},
	{"trace", "JOB >FILE", "each open and close of the job's readers, until ^C\n",
		"A line has, with tabs between: the time in seconds since 1970, the\n"
		"number of the open, event (open, ready, failed or release), epoch,\n"
		"position, sample, seconds that it waited for its sample, error.\n"},
	{"cluster", "[forget NODE|TRAINING | resize TRAINING RANKS [LOCAL_RANKS]]",
		"the group of this daemon, and where its ranks are\n",
		"forget   a node that never comes back runs no training any more; a "
		"training\n"
		"         that no live node runs is gone, and its name free\n"
		"resize   the training continues, when its jobs are removed "
		"and\n"
		"         jobs with the new number of ranks are added, on any nodes\n"},
	{"status", "[JOB]", "a job's progress and how it was served; without JOB: all\n",
		""},
	{"order", "JOB [EPOCH]",
		"the samples of an epoch in the order in which they were\n"
		"given out; without EPOCH: of the latest one\n",
		"A line is: position, sample, label, how it was served, source file.\n"},
	{"stats", "", "counters of the daemon\n", ""},
	{"dataset", "ls|add|rm|rescan ...",
		"list the datasets; add one, remove one, look for changes\n",
		"dataset ls\n"
		"dataset add NAME --set path=DIR [--set KEY=VALUE]...\n"
		"dataset add FILE.ini  with [dataset NAME] sections as in joaderfs.ini\n"
		"dataset rm NAME       which no job uses\n"
		"dataset rescan NAME   likewise; a scan that fails changes nothing\n"
		"\n"
		"What was added is there again when the daemon starts.\n"},
	{"datasets", "[DATASET]", "the datasets, or one of them\n", ""},
	{"doctor", "[CONFIG]",
		"what on this machine costs or breaks, and what mends it\n",
		"CONFIG is the daemon's ini. The exit status is 1 if something "
		"breaks.\n"},
	{"upgrade", "[PROGRAM]",
		"another engine takes over, of this program or another\n"
		"version; readers notice a pause\n",
		"It is refused if PROGRAM can't read the state of the daemon.\n"},
};

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))
#define COLUMN 23
#define NARROW 20 /* longer arguments get a line of their own */

static int end_of(FILE *out)
{
	return fflush(out) != 0 || ferror(out) ? EXIT_FAILURE : EXIT_SUCCESS;
}

static void print_indented(FILE *out, int column, const char *text, int at)
{
	while (*text) {
		size_t n = strcspn(text, "\n") + 1;
		fprintf(out, "%*s%.*s", n > 1 ? column - at : 0, "", (int)n, text);
		text += n;
		at = 0;
	}
}

static void print_command(FILE *out, const struct command_help *command)
{
	int at = fprintf(out, "  %s%s%s", command->name, *command->arguments ? " " : "",
		command->arguments);
	if (at > NARROW) {
		fputc('\n', out);
		at = 0;
	}
	print_indented(out, COLUMN, command->text, at);
}

int help_all(FILE *out)
{
	fputs("usage: joaderctl [-s SOCKET] COMMAND [ARGUMENT]...\n\n", out);
	for (size_t i = 0; i < N_COMMANDS; i++)
		print_command(out, &commands[i]);
	fputs("\n"
	      "  -s, --socket SOCKET  control socket of the daemon; otherwise\n"
	      "                       $JOADERFS_SOCKET, otherwise the daemon's default\n"
	      "  -c, --config CONFIG  the daemon's ini, which names its control socket\n"
	      "  -h, --help           this text; after a COMMAND: more about it\n"
	      "      --version        the version\n"
	      "\n"
	      "Exit status: 0 done, 1 refused or no daemon, 2 wrong usage.\n",
		out);
	return end_of(out);
}

int help_of(const char *name, FILE *out)
{
	for (size_t i = 0; i < N_COMMANDS; i++) {
		const struct command_help *command = &commands[i];
		if (strcmp(command->name, name) != 0)
			continue;
		fprintf(out, "usage: joaderctl [-s SOCKET] %s%s%s\n\n", name,
			*command->arguments ? " " : "", command->arguments);
		print_indented(out, 2, command->text, 0);
		if (*command->more)
			fputc('\n', out);
		print_indented(out, 2, command->more, 0);
		return end_of(out);
	}
	return EXIT_USAGE;
}
