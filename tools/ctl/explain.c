// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "commands.h"
#include "explain_internal.h"
#include "request.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

struct asked {
	const char *job; /* NULL: all jobs */
	unsigned plan;	 /* number of planned jobs; 0: no plan */
	bool json;
};

static bool parse_plan(const char *text, unsigned *ret)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);
	*ret = (unsigned)n;
	if (text[0] >= '0' && text[0] <= '9' && !*end && n >= 1 && n <= TIMED_JOBS)
		return true;
	return complain(
		"explain: --plan: found \"%s\", allowed: 1 to %d", text, TIMED_JOBS);
}

static bool parse(int argc, char **argv, struct asked *ret)
{
	static const struct option options[] = {{"json", no_argument, NULL, 'j'},
		{"plan", required_argument, NULL, 'p'}, {NULL, 0, NULL, 0}};
	int option;
	optind = 0;
	while ((option = getopt_long(argc, argv, "p:", options, NULL)) != -1) {
		if (option == 'j')
			ret->json = true;
		else if (option != 'p' || !parse_plan(optarg, &ret->plan))
			return false;
	}
	if (argc - optind > 1)
		return complain("usage: joaderctl explain [--json] [--plan N] [JOB]");
	ret->job = argc > optind ? argv[optind] : NULL;
	return true;
}

/* Sets *ret to the index of the job `name`. If `name` is NULL, sets *ret to n_jobs, which means all
 * jobs. Returns false, and prints the reason, if there is no such job, or if the job is left out.
 * If `name` is NULL, returns false if all jobs are left out. */
static bool find(const struct explain_facts *facts, const char *name, size_t *ret)
{
	size_t reads = 0;
	*ret = facts->n_jobs;
	for (size_t i = 0; i < facts->n_jobs; i++) {
		reads += !facts->jobs[i].left_out;
		if (name && strcmp(facts->jobs[i].name, name) == 0)
			*ret = i;
	}
	if (name && *ret == facts->n_jobs)
		return complain("no job %s", name);
	if (name ? !facts->jobs[*ret].left_out : reads > 0)
		return true;
	return complain("explain: %s has to complete an epoch first, of samples that it "
			"draws (not layout = mirror or order = sequential)",
		name ? name : "a job");
}

static int answer_plan(
	const struct explain_facts *facts, const struct asked *asked, size_t job)
{
	struct explain_plan plan;
	for (size_t i = facts->n_jobs; job == facts->n_jobs && i-- > 0;)
		if (!facts->jobs[i].left_out)
			job = i;
	int err = explain_plan(facts, job, asked->plan, &plan);
	if (!err)
		(asked->json ? explain_print_plan_json : explain_print_plan)(
			stdout, facts, job, &plan);
	return err;
}

static int answer(
	const struct explain_facts *facts, const struct asked *asked, size_t job)
{
	auto_free struct explain_answer *answer = calloc(1, sizeof(*answer));
	if (!answer)
		return -ENOMEM;
	int err = explain_simulate(facts, answer);
	if (!err)
		(asked->json ? explain_print_json : explain_print)(
			stdout, facts, answer, job);
	return err;
}

int explain(const char *socket_path, int argc, char **argv)
{
	struct asked asked = {.job = NULL};
	auto_free struct explain_facts *facts = calloc(1, sizeof(*facts));
	size_t job;
	if (!parse(argc, argv, &asked))
		return EXIT_USAGE;
	if (!facts || !explain_ask(socket_path, facts))
		return EXIT_FAILURE;
	bool ok = find(facts, asked.job, &job);
	int err = 0;
	if (ok)
		err = asked.plan ? answer_plan(facts, &asked, job)
				 : answer(facts, &asked, job);
	if (err)
		complain("explain: %s", strerror(-err));
	explain_facts_free(facts);
	return ok && !err && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
