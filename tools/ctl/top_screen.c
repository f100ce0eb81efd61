// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "top_internal.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/* Prints lines about the machine, then a table of jobs. A narrow screen leaves
 * out the least important columns; a low screen leaves out the last jobs. */

#define CELL 96
#define LINE 600

struct figure {
	char text[24];
};

/* Divides n by `step` until n < step or `units` has no further letter, and prints the letter
 * units[k] after k divisions. A space stands for no letter. */
static struct figure scaled(double n, double step, const char *units)
{
	struct figure figure;
	const char *unit = units;
	for (; n >= step && unit[1]; unit++)
		n /= step;
	snprintf(figure.text, sizeof(figure.text),
		n < 10 && unit > units ? "%.1f" : "%.0f", n);
	if (*unit != ' ')
		strncat(figure.text, unit, 1);
	return figure;
}

static struct figure bytes(double n)
{
	return scaled(n, 1024, "BKMGT");
}

static struct figure count(double n)
{
	return n < 100000 ? scaled(n, 1e9, " ") : scaled(n, 1000, " kMG");
}

static struct figure percent(double part)
{
	struct figure figure;
	snprintf(figure.text, sizeof(figure.text), "%.0f%%", 100 * part);
	return figure;
}

static struct figure duration(double seconds)
{
	struct figure figure;
	unsigned long s = seconds < 1e9 ? (unsigned long)seconds : 1000000000;
	if (seconds < 0)
		strcpy(figure.text, "-");
	else if (s < 60)
		snprintf(figure.text, sizeof(figure.text), "%lu s", s);
	else if (s < 3600)
		snprintf(figure.text, sizeof(figure.text), "%lu:%02lu", s / 60, s % 60);
	else
		snprintf(figure.text, sizeof(figure.text), "%lu:%02lu:%02lu", s / 3600,
			s / 60 % 60, s % 60);
	return figure;
}

static void cell_done(const struct top_job *job, char ret[static CELL])
{
	double part = job->samples > 0 ? job->consumed / job->samples : 0;
	snprintf(ret, CELL, "%s", percent(part).text);
}

static void cell_left(const struct top_job *job, char ret[static CELL])
{
	snprintf(ret, CELL, "%s", duration(job->left).text);
}

static void cell_demand(const struct top_job *job, char ret[static CELL])
{
	if (job->demand > 0)
		snprintf(ret, CELL, "%s%.0f", job->at_least != 0 ? ">" : "", job->demand);
	else
		strcpy(ret, "-");
}

static void cell_share(const struct top_job *job, char ret[static CELL])
{
	snprintf(ret, CELL, "%s/%s", percent(job->granted).text,
		percent(job->wanted).text);
}

/* Prints three percentages of the samples: prepared for the job, shared, found in the cache. */
static void cell_how(const struct top_job *job, char ret[static CELL])
{
	double all = job->decoded + job->shared + job->hit;
	double each = all > 0 ? 100 / all : 0;
	snprintf(ret, CELL, "%.0f:%.0f:%.0f", each * job->decoded, each * job->shared,
		each * job->hit);
}

#define MEMBER(name) .member = offsetof(struct top_job, name)

static const struct column {
	const char *head;
	/* importance; the columns with the smallest numbers are left out first */
	int keep;
	enum { NAME, TEXT, NUMBER, PERCENT, OTHER } kind;
	size_t member; /* offset of the text or double that is shown */
	void (*cell)(const struct top_job *job, char ret[static CELL]); /* kind OTHER */
} columns[] = {
	{"JOB", 99, NAME, MEMBER(name)},
	{"DATASET", 10, TEXT, MEMBER(dataset)},
	{"STATE", 30, TEXT, MEMBER(state)},
	{"EPOCH", 40, NUMBER, MEMBER(epoch)},
	{"DONE", 90, OTHER, .cell = cell_done},
	{"LEFT", 50, OTHER, .cell = cell_left},
	{"SAMPLES/S", 95, NUMBER, MEMBER(per_second)},
	{"DEMAND", 20, OTHER, .cell = cell_demand},
	{"SHARE", 25, OTHER, .cell = cell_share},
	{"WAITED", 97, PERCENT, MEMBER(exposed)},
	{"STORAGE", 60, PERCENT, MEMBER(cause[TOP_STORAGE_WAIT])},
	{"DECODE", 70, PERCENT, MEMBER(cause[TOP_DECODING])},
	{"QUEUE", 55, PERCENT, MEMBER(cause[TOP_QUEUE])},
	{"FS", 52, PERCENT, MEMBER(cause[TOP_FILE_SYSTEM])},
	{"PREP:SHARED:HIT", 45, OTHER, .cell = cell_how},
};
#define COLUMNS (sizeof(columns) / sizeof(columns[0]))

static void fill_cell(
	const struct column *column, const struct top_job *job, char ret[static CELL])
{
	const void *member = (const char *)job + column->member;
	if (column->kind == OTHER)
		column->cell(job, ret);
	else if (column->kind == NAME)
		snprintf(ret, CELL, "%s%s", job->name, job->notices != 0 ? "!" : "");
	else if (column->kind == TEXT)
		snprintf(ret, CELL, "%s", (const char *)member);
	else if (column->kind == NUMBER)
		snprintf(ret, CELL, "%.0f", *(const double *)member);
	else
		snprintf(ret, CELL, "%s", percent(*(const double *)member).text);
}

struct table {
	int width[COLUMNS]; /* 0: the column is left out */
};

static int full_width(const struct table *table)
{
	int width = 0;
	for (size_t c = 0; c < COLUMNS; c++)
		width += table->width[c] > 0 ? table->width[c] + (width > 0 ? 2 : 0) : 0;
	return width;
}

static size_t least_kept(const struct table *table)
{
	size_t least = 0; /* the first column is never left out */
	for (size_t c = 1; c < COLUMNS; c++)
		if (table->width[c] > 0 && columns[c].keep < columns[least].keep)
			least = c;
	return least;
}

static struct table lay_out(const struct top_sample *sample, int width)
{
	struct table table;
	size_t out;
	char cell[CELL];
	for (size_t c = 0; c < COLUMNS; c++) {
		table.width[c] = (int)strlen(columns[c].head);
		for (size_t i = 0; i < sample->n_jobs; i++) {
			fill_cell(&columns[c], &sample->jobs[i], cell);
			int n = (int)strlen(cell);
			table.width[c] = n > table.width[c] ? n : table.width[c];
		}
	}
	while (full_width(&table) > width && (out = least_kept(&table)) != 0)
		table.width[out] = 0;
	return table;
}

#define BOLD "\033[1m"
#define REVERSE "\033[7m"
#define RED "\033[1;31m"
#define YELLOW "\033[33m"
#define NORMAL "\033[0m"
#define TO_END "\033[K"

struct screen {
	FILE *out;
	const struct top_view *view;
	int lines;
};

static bool is_full(const struct screen *screen)
{
	return screen->view->height > 0 && screen->lines >= screen->view->height;
}

/* The last line of a full screen gets no newline, which would scroll the screen. */
static void end_line(struct screen *screen)
{
	screen->lines++;
	if (screen->view->attributes)
		fputs(NORMAL TO_END, screen->out);
	if (!is_full(screen))
		fputc('\n', screen->out);
}

/* Prints as many UTF-8 characters of the text as fit into `width` columns. */
static void print_cut(FILE *out, const char *text, int width)
{
	for (int n = 0; *text; text++) {
		n += (*text & 0xc0) != 0x80;
		if (n > width)
			return;
		fputc(*text, out);
	}
}

static printf_like(3, 4) void print_line(
	struct screen *screen, const char *attribute, const char *format, ...)
{
	char line[LINE];
	va_list args;
	if (is_full(screen))
		return;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (screen->view->attributes)
		fputs(attribute, screen->out);
	print_cut(screen->out, line, screen->view->width);
	end_line(screen);
}

static void print_cell(FILE *out, size_t c, const char *text, int width)
{
	fprintf(out, columns[c].kind <= TEXT ? "%s%-*s" : "%s%*s", c > 0 ? "  " : "",
		width, text);
}

static void print_heads(struct screen *screen, const struct table *table)
{
	if (is_full(screen))
		return;
	if (screen->view->attributes)
		fputs(REVERSE, screen->out);
	for (size_t c = 0; c < COLUMNS; c++)
		if (table->width[c] > 0)
			print_cell(screen->out, c, columns[c].head, table->width[c]);
	end_line(screen);
}

/* Returns the colour of a job: red if its readers wait for at least a fifth of the time, yellow if
 * they wait for at least a twentieth, otherwise "". */
static const char *attribute_of(const struct top_job *job)
{
	if (job->exposed >= 0.2)
		return RED;
	return job->exposed >= 0.05 ? YELLOW : "";
}

static void print_job(
	struct screen *screen, const struct table *table, const struct top_job *job)
{
	char cell[CELL];
	bool attributes = screen->view->attributes;
	for (size_t c = 0; c < COLUMNS; c++) {
		if (table->width[c] == 0)
			continue;
		bool marked = attributes &&
			      columns[c].member == offsetof(struct top_job, exposed);
		fill_cell(&columns[c], job, cell);
		fputs(marked ? attribute_of(job) : "", screen->out);
		if (c == 0) /* the first column may be wider than the screen */
			cell[screen->view->width < CELL ? screen->view->width
							: CELL - 1] = '\0';
		print_cell(screen->out, c, cell, table->width[c]);
		fputs(marked ? NORMAL : "", screen->out);
	}
	end_line(screen);
}

static void print_jobs(struct screen *screen, const struct top_sample *sample)
{
	struct table table = lay_out(sample, screen->view->width);
	if (sample->n_jobs == 0) {
		print_line(screen, "", "no jobs");
		return;
	}
	print_heads(screen, &table);
	for (size_t i = 0; i < sample->n_jobs && !is_full(screen); i++) {
		size_t left = sample->n_jobs - i;
		bool last = screen->view->height > 0 &&
			    screen->lines + 1 == screen->view->height;
		if (last && left > 1) {
			print_line(screen, "", "and %zu more", left);
			return;
		}
		print_job(screen, &table, &sample->jobs[i]);
	}
}

static void print_cache(struct screen *screen, const struct top_sample *sample)
{
	const double needed[] = {sample->cache_needed_0, sample->cache_needed_1,
		sample->cache_needed_2, sample->cache_needed_3, sample->cache_needed_4};
	double all = 0;
	char by_need[200] = "";
	for (int i = 0; i < 5; i++)
		all += needed[i];
	if (all > 0)
		snprintf(by_need, sizeof(by_need),
			", needed by no job %s, 1 %s, 2 %s, 3 %s, more %s",
			bytes(needed[0]).text, bytes(needed[1]).text,
			bytes(needed[2]).text, bytes(needed[3]).text,
			bytes(needed[4]).text);
	print_line(screen, "", "cache    %s of %s: drawn %s%s",
		bytes(sample->cache_held).text, bytes(sample->cache_capacity).text,
		bytes(sample->cache_pinned).text, by_need);
	print_line(screen, sample->evicted_needed > 0 ? YELLOW : "",
		"evicted  %s, though needed %s", count(sample->evictions).text,
		count(sample->evictions_needed).text);
}

static void print_storages(struct screen *screen, const struct top_sample *sample)
{
	for (size_t i = 0; i < sample->n_storages; i++) {
		const struct top_storage *storage = &sample->storages[i];
		if (storage->silent_ns > 0)
			print_line(screen, RED,
				"storage  does not answer for %s, %.0f reads wait: %s",
				duration(storage->silent_ns / 1e9).text,
				storage->in_flight, storage->name);
		else
			print_line(screen, "",
				"storage  %s/s, %s reads/s of %.1f ms, %.0f of %.0f at a "
				"time: %s",
				bytes(storage->bytes_per_second).text,
				count(storage->reads_per_second).text,
				storage->latency_ns / 1e6, storage->in_flight,
				storage->most, storage->name);
	}
	if (sample->tier_hits > 0 || sample->tier_fetched_bytes > 0)
		print_line(screen, "", "tier     %s/s read, %s in all, %s that it lacked",
			bytes(sample->tier_per_second).text,
			bytes(sample->tier_hit_bytes).text,
			bytes(sample->tier_fetched_bytes).text);
	if (sample->fetched > 0)
		print_line(screen, "", "nodes    %s samples came from others, %s",
			count(sample->fetched).text, bytes(sample->fetched_bytes).text);
}

void top_print_screen(FILE *out, const struct top_sample *sample,
	const struct top_view *view, const char *message)
{
	struct screen screen = {.out = out, .view = view};
	double busy = sample->workers > 0 ? sample->busy / sample->workers : 0;
	print_line(&screen, BOLD, "joaderfs %s  jobs %zu", sample->mountpoint,
		sample->n_jobs);
	if (message)
		print_line(&screen, RED, "%s", message);
	print_line(&screen, "",
		"samples  %s/s served, %s/s prepared, %.0f workers %s busy",
		count(sample->served_per_second).text,
		count(sample->decodes_per_second).text, sample->workers,
		percent(busy < 1 ? busy : 1).text);
	print_line(&screen, "", "saved    %s of decoding, beside %s done",
		duration(sample->saved_ns / 1e9).text,
		duration(sample->decode_ns / 1e9).text);
	print_cache(&screen, sample);
	print_storages(&screen, sample);
	print_line(&screen, "", "%s", "");
	print_jobs(&screen, sample);
}
