// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "commands.h"
#include "request.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static const struct command_help {
	/* text: printed in the list of all commands, and in the help of this command
	 * more: printed only in the help of this command */
	const char *name, *arguments, *text, *more;
} commands[] = {
	{"add",
		"[--import FILE] [--at EPOCH:POSITION] [--name NAME] "
		"[--set SECTION.KEY=VALUE]... [FILE...]",
		"add jobs, either all or none; each FILE is the ini of a\n"
		"job, and - is standard input\n",
		"    --import FILE    continue the job that export has written to FILE:\n"
		"                     positions hold the same samples. For a rank, FILE\n"
		"                     has the exports of all ranks of the training\n"
		"    --at EPOCH:POSITION  continue at this place instead\n"
		"-n, --name NAME      the name of the job, instead of that in the ini\n"
		"-S, --set SECTION.KEY=VALUE\n"
		"                     a key of the ini: --set view.layout=classes\n"
		"-t, --template NAME  instead of FILE: [template NAME] in the daemon's "
		"ini\n"
		"\n"
		"A job that already exists with the same configuration is no error.\n"
		"A job that an ordinary user adds belongs to this user, and nobody else\n"
		"can read it unless its mode allows that.\n"
		"In the ini, %name in path of [view] stands for the name of the job.\n"
		"$NAME and ${NAME} stand for environment variables in name, dataset,\n"
		"training, ranks, rank, local_ranks, node_rank and global_batch.\n"},
	{"run",
		"[--name NAME] [--set SECTION.KEY=VALUE]... [--keep] [FILE] -- "
		"COMMAND...",
		"add a job, run COMMAND with the path of the job's view in\n"
		"place of {}, and remove the job\n",
		"-n, --name NAME      the name of the job, instead of that in the ini\n"
		"-S, --set SECTION.KEY=VALUE\n"
		"                     a key of the ini: --set view.layout=classes\n"
		"-t, --template NAME  instead of FILE: [template NAME] in the daemon's "
		"ini\n"
		"    --keep           do not remove the job when COMMAND ends\n"
		"\n"
		"If the name is taken, the job is called NAME-2, NAME-3 and so on.\n"
		"COMMAND has the name in JOADERFS_JOB, and gets the signals that\n"
		"joaderctl gets. The exit status is that of COMMAND.\n"},
	{"rm", "JOB...", "remove jobs; 'resnet*' stands for all matching names\n",
		"The daemon also removes all data about their epochs.\n"},
	{"restore", "[--at EPOCH:POSITION] JOB FILE",
		"take a job back to the time when jobs/JOB/state was\n"
		"copied to FILE; - is standard input\n",
		"--at EPOCH:POSITION  take it to this place instead: only the positions\n"
		"                     before it count as read. Loaders fetch samples\n"
		"                     ahead, so name the place of the trained samples\n"
		"\n"
		"Later reads count as unread; positions keep their samples. No training\n"
		"should read the job meanwhile.\n"},
	{"export", "JOB >FILE",
		"print a job's progress and all its kept orders: for add\n"
		"--import on another machine, and order = replay:FILE\n",
		"The other machine needs the same files: the same paths below the\n"
		"dataset's directory, with the same sizes.\n"},
	{"mount", "[-o allow_other] JOB DIR",
		"mount the directory of a job here, for instance in a\n"
		"container\n",
		"-o allow_other       let other users read there, too\n"},
	{"grant", "JOB",
		"make a socket that can only mount and read the job, for a\n"
		"container, and print its path\n",
		"Bind the directory of this socket into the container.\n"},
	{"revoke", "JOB", "remove this socket\n", ""},
	{"ls", "", "list the jobs\n", ""},
	{"top", "[--once] [--json] [--interval SECONDS] [--sort KEY]",
		"show live the samples and waits of jobs, and the machine\n",
		"    --once           print one screen, of one interval, and end\n"
		"    --json           print a JSON object for each interval, on one "
		"line\n"
		"-i, --interval SECONDS\n"
		"                     0.1 to 3600; the default is 1\n"
		"-s, --sort KEY       name, waited, rate, done or prepared\n"
		"\n"
		"Keys: q quits; n, w, r, d, p sort by name, WAITED, SAMPLES/S, DONE,\n"
		"and prepared samples; the space bar refreshes the screen. Without a\n"
		"terminal, top works like --once.\n"},
	{"explain", "[--json] [--plan N] [JOB]",
		"show why jobs waited in their last epoch, and which\n"
		"changes would help\n",
		"    --json           print JSON, with all changes that were simulated\n"
		"-p, --plan N         recommend a cache and a sampler for N jobs like "
		"JOB,\n"
		"                     or like the first one\n"
		"\n"
		"The last epochs are simulated with one change at a time: the cache,\n"
		"the sampler, decoders, look-ahead, a tier, the job alone. First they\n"
		"are simulated unchanged; if the result is off by more than 20 %,\n"
		"nothing is predicted.\n"},
	{"trace", "JOB >FILE",
		"print each open and close by the job's readers, until ^C\n",
		"Each line has, separated by tabs: the time in seconds since 1970, the\n"
		"number of the open, the event (open, ready, failed or release), epoch,\n"
		"position, sample, the seconds that the open waited, error.\n"},
	{"cluster", "[forget NODE|TRAINING | resize TRAINING RANKS [LOCAL_RANKS]]",
		"show the group of this daemon, and where its ranks are\n",
		"forget   a node that never comes back: it runs no training any more;\n"
		"         or a training that no live node runs: its name is free again\n"
		"resize   continue a training with another number of ranks: then remove\n"
		"         its jobs, and add jobs with the new number, on any nodes\n"},
	{"status", "[JOB]",
		"show a job's progress and how it was served; without JOB:\n"
		"of all jobs\n",
		""},
	{"order", "JOB [EPOCH]",
		"print the samples of an epoch in the order in which they\n"
		"were bound; without EPOCH: of the latest epoch\n",
		"A line is: position, sample, label, how it was served, source file.\n"},
	{"stats", "", "print the counters of the daemon\n", ""},
	{"dataset", "ls|add|rm|rescan ...", "list, add, remove and rescan datasets\n",
		"dataset ls\n"
		"dataset add NAME --set path=DIR [--set KEY=VALUE]...\n"
		"dataset add FILE.ini  with [dataset NAME] sections as in joaderfs.ini\n"
		"dataset rm NAME       only if no job uses the dataset\n"
		"dataset rescan NAME   look for changes; a failed scan changes nothing\n"
		"\n"
		"An added dataset is there again when the daemon restarts.\n"},
	{"datasets", "[DATASET]", "show the datasets, or one of them\n", ""},
	{"doctor", "[CONFIG]",
		"check this machine for settings that cost or break\n"
		"something, and name the remedies\n",
		"CONFIG is the daemon's ini. The exit status is 1 if something "
		"breaks.\n"},
	{"upgrade", "[PROGRAM]",
		"replace the engine by a new one, of this program or of\n"
		"another version; readers notice a pause\n",
		"The upgrade is refused if PROGRAM can't read the daemon's state.\n"},
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
	      "  -h, --help           print this text; after a COMMAND: its help\n"
	      "      --version        print the version\n"
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
