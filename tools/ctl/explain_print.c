// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/size_text.h"
#include "explain_internal.h"

#include <math.h>

#define SAME .02 /* relative difference of times that is too small to be noticed */
/* A range of times is printed if its width, relative to the mean, is larger than this. */
#define WIDE .2

static const char *const causes[EXPLAIN_CAUSES] = {
	"storage", "decoding", "queue", "file system"};
static const char *const keys[EXPLAIN_CAUSES] = {
	"storage", "decoding", "queue", "filesystem"};

/* Computes for each cause the part of the latest epoch in which readers waited for this cause
 * (explain_job.waited). Reduces all parts in proportion if their sum is above 1, because several
 * readers can wait for the file system at the same time. Returns the sum. */
static double exposed(const struct explain_job *job, double ret[static EXPLAIN_CAUSES])
{
	double sum = 0;
	for (int i = 0; i < EXPLAIN_CAUSES; i++)
		sum += job->waited[i] / job->lap[0];
	for (int i = 0; i < EXPLAIN_CAUSES; i++)
		ret[i] = job->waited[i] / job->lap[0] / fmax(sum, 1);
	return fmin(sum, 1);
}

static bool is_trusted(
	const struct explain_job *job, const struct timed_outcome *simulated)
{
	return fabs(explain_off(job, simulated)) <= EXPLAIN_TRUSTED ||
	       (job->seconds >= simulated->least && job->seconds <= simulated->most);
}

static void print_waits(FILE *out, const struct explain_job *job)
{
	double parts[EXPLAIN_CAUSES], all = exposed(job, parts);
	fprintf(out, "%s: waited %.0f %% of epoch %.0f, %.3g s:", job->name, 100 * all,
		job->epoch, job->lap[0]);
	for (int i = 0; i < EXPLAIN_CAUSES; i++)
		fprintf(out, "%s %s %.0f", i ? "," : "", causes[i], 100 * parts[i]);
	fprintf(out,
		"\n  %.0f samples, %.0f %s; prepared for it %.0f, shared %.0f, "
		"found in the cache %.0f\n",
		job->samples, job->readers, job->readers == 1 ? "reader" : "readers",
		job->decoded, job->shared, job->hit);
	if (job->small_files)
		fprintf(out,
			"  a sample has %.0f bytes: opening its file takes longer "
			"than preparing it;\n"
			"  view.layout = batch puts many samples into a file\n",
			job->bytes);
}

static bool matters(double seconds, const struct explain_job *job)
{
	return fabs(seconds / job->seconds - 1) >= SAME;
}

static bool is_wide(double least, double seconds, double most)
{
	return most - least > WIDE * seconds;
}

static void print_one(
	FILE *out, const char *text, double seconds, const struct explain_job *job)
{
	fprintf(out, "  %-28s %8.3g s per epoch instead of %.3g", text, seconds,
		job->seconds);
}

static void print_change(FILE *out, const struct explain_change *change,
	const struct explain_job *job, size_t j)
{
	print_one(out, change->text, change->seconds[j], job);
	if (is_wide(change->least[j], change->seconds[j], change->most[j]))
		fprintf(out, ", %.3g to %.3g by chance", change->least[j],
			change->most[j]);
	fputc('\n', out);
}

static void print_changes(FILE *out, const struct explain_answer *answer,
	const struct explain_job *job, size_t j)
{
	bool any = false;
	for (size_t i = 0; i < answer->n_changes; i++)
		if (matters(answer->changes[i].seconds[j], job))
			print_change(out, &answer->changes[i], job, j);
	if (matters(answer->alone[j], job)) {
		print_one(out, "the job alone", answer->alone[j], job);
		fputc('\n', out);
	}
	for (size_t i = 0; i < answer->n_changes; i++) {
		if (matters(answer->changes[i].seconds[j], job))
			continue;
		fprintf(out, "%s%s",
			any ? "; " : "  no other: ", answer->changes[i].text);
		any = true;
	}
	if (any)
		fputc('\n', out);
}

static void print_job(FILE *out, const struct explain_facts *facts,
	const struct explain_answer *answer, size_t j)
{
	const struct explain_job *job = &facts->jobs[j];
	const struct timed_outcome *simulated = &answer->simulated[j];
	double off = explain_off(job, simulated);
	print_waits(out, job);
	fprintf(out,
		"  simulated as it is: %.3g s per epoch instead of %.3g, %.0f %% off\n",
		simulated->epoch, job->seconds, 100 * fabs(off));
	if (is_wide(simulated->least, simulated->epoch, simulated->most))
		fprintf(out,
			"  Chance makes it %.3g to %.3g s: it depends on how far apart "
			"the jobs draw.\n",
			simulated->least, simulated->most);
	if (is_trusted(job, simulated))
		print_changes(out, answer, job, j);
	else
		fputs("  This is too far off for predictions: the job does more than "
		      "read and compute in turn,\n  or the machine did other work "
		      "meanwhile.\n",
			out);
}

static bool is_asked(const struct explain_facts *facts, size_t asked, size_t j)
{
	return asked == facts->n_jobs || asked == j;
}

void explain_print(FILE *out, const struct explain_facts *facts,
	const struct explain_answer *answer, size_t asked)
{
	bool first = true;
	for (size_t j = 0; j < facts->n_jobs; j++) {
		if (!is_asked(facts, asked, j) || !facts->jobs[j].name[0])
			continue;
		fputs(first ? "" : "\n", out);
		first = false;
		if (facts->jobs[j].left_out)
			fprintf(out,
				"%s: left out: only a job that draws samples, and that "
				"has recently completed an epoch, is simulated\n",
				facts->jobs[j].name);
		else
			print_job(out, facts, answer, j);
	}
}

static void print_job_json(FILE *out, const struct explain_facts *facts,
	const struct explain_answer *answer, size_t j)
{
	const struct explain_job *job = &facts->jobs[j];
	const struct timed_outcome *simulated = &answer->simulated[j];
	double parts[EXPLAIN_CAUSES], all = exposed(job, parts);
	fprintf(out,
		"{\"name\": \"%s\", \"epoch\": %.0f, \"samples\": %.0f, \"readers\": "
		"%.0f, \"seconds\": %.6g, \"last\": %.6g, \"waited\": {\"all\": %.4g",
		job->name, job->epoch, job->samples, job->readers, job->seconds,
		job->lap[0], all);
	for (int i = 0; i < EXPLAIN_CAUSES; i++)
		fprintf(out, ", \"%s\": %.4g", keys[i], parts[i]);
	fprintf(out,
		"}, \"think\": %.4g, \"cpu\": %.4g, \"read\": %.4g, \"decode\": %.4g",
		answer->jobs[j].think, answer->jobs[j].cpu, answer->jobs[j].read,
		answer->jobs[j].decode);
	fprintf(out,
		", \"decoded\": %.0f, \"shared\": %.0f, \"hit\": %.0f, "
		"\"simulated\": %.6g, \"least\": %.6g, \"most\": %.6g, \"off\": %.4g, "
		"\"trusted\": %s, \"changes\": {",
		job->decoded, job->shared, job->hit, simulated->epoch, simulated->least,
		simulated->most, explain_off(job, simulated),
		is_trusted(job, simulated) ? "true" : "false");
	for (size_t i = 0; i < answer->n_changes; i++)
		fprintf(out,
			"\"%s\": {\"text\": \"%s\", \"seconds\": %.6g, "
			"\"least\": %.6g, \"most\": %.6g}, ",
			answer->changes[i].key, answer->changes[i].text,
			answer->changes[i].seconds[j], answer->changes[i].least[j],
			answer->changes[i].most[j]);
	fprintf(out, "\"alone\": {\"text\": \"the job alone\", \"seconds\": %.6g}}}",
		answer->alone[j]);
}

void explain_print_json(FILE *out, const struct explain_facts *facts,
	const struct explain_answer *answer, size_t asked)
{
	const char *between = "";
	fprintf(out, "{\"loads\": %.4g, \"jobs\": [", answer->loads);
	for (size_t j = 0; j < facts->n_jobs; j++) {
		if (!is_asked(facts, asked, j) || facts->jobs[j].left_out)
			continue;
		fputs(between, out);
		print_job_json(out, facts, answer, j);
		between = ", ";
	}
	fputs("]}\n", out);
}

static const char *sampler_name(enum sampler_kind kind)
{
	return kind == SAMPLER_EXCHANGE ? "exchange" : "dsa";
}

void explain_print_plan(FILE *out, const struct explain_facts *facts, size_t job,
	const struct explain_plan *plan)
{
	fprintf(out,
		"%u jobs like %s (%.0f samples of %s), which begin one after the "
		"other:\n\n",
		plan->jobs, facts->jobs[job].name, facts->jobs[job].samples,
		size_text((uint64_t)facts->jobs[job].bytes).text);
	fputs("     cache          sampler    s per epoch  prepared per sample read\n",
		out);
	for (size_t i = 0; i < plan->n_rows; i++)
		fprintf(out, "%10s %4.0f %%  %-8s %13.3g %12.3f\n",
			size_text((uint64_t)plan->rows[i].cache).text,
			100 * plan->rows[i].part, sampler_name(plan->rows[i].sampler),
			plan->rows[i].seconds, plan->rows[i].loads);
	fprintf(out, "\nrecommended: cache = %s, sampler = %s\n",
		size_text((uint64_t)plan->rows[plan->best].cache).text,
		sampler_name(plan->rows[plan->best].sampler));
}

void explain_print_plan_json(FILE *out, const struct explain_facts *facts, size_t job,
	const struct explain_plan *plan)
{
	fprintf(out, "{\"jobs\": %u, \"like\": \"%s\", \"rows\": [", plan->jobs,
		facts->jobs[job].name);
	for (size_t i = 0; i < plan->n_rows; i++)
		fprintf(out,
			"%s{\"cache\": %.0f, \"sampler\": \"%s\", \"seconds\": %.6g, "
			"\"prepared\": %.4g}",
			i ? ", " : "", plan->rows[i].cache,
			sampler_name(plan->rows[i].sampler), plan->rows[i].seconds,
			plan->rows[i].loads);
	fprintf(out, "], \"recommended\": {\"cache\": %.0f, \"sampler\": \"%s\"}}\n",
		plan->rows[plan->best].cache,
		sampler_name(plan->rows[plan->best].sampler));
}
