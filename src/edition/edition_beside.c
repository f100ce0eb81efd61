// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "edition/edition_internal.h"
#include "far/far.h"

#include <errno.h>
#include <inttypes.h>

/* Largest size of a file that belongs to a sample, such as a caption. An open file is held in
 * memory, and in a tar each of these files takes as much room as the largest of them. */
#define MOST_BYTES (UINT64_C(64) << 20)
#define MOST_BYTES_IN_TAR (UINT64_C(1) << 20)

struct looking {
	struct edition *edition;
	const struct job_config *config;
	/* key: the key of the ini, such as `beside`. what: how messages call the file or text */
	const char *key, *what;
	config_report *report;
	void *context;
};

static const char *name_of(
	const struct looking *looking, sample_id id, struct dataset_sample *sample)
{
	return dataset_get(looking->edition->is.dataset, id, sample) == 0
		       ? sample->relative
		       : "?";
}

static int refuse_size(
	const struct looking *looking, const struct dataset_besides *found, uint64_t most)
{
	struct dataset_sample sample = {0};
	config_report_text(looking->report, looking->context,
		"%s:[view]:%s: found %s of %" PRIu64
		" bytes for sample %u, %s, allowed: at most %" PRIu64
		"%s (where in [job] can leave out samples)",
		looking->config->file, looking->key, looking->what, found->most_bytes,
		found->most, name_of(looking, found->most, &sample), most,
		looking->config->layout == LAYOUT_TAR
			? " with layout = tar, where each file takes the space of the "
			  "largest"
			: "");
	dataset_sample_free(&sample);
	return -EINVAL;
}

static void warn_of_missing(
	const struct looking *looking, const struct dataset_besides *found)
{
	struct dataset_sample sample = {0};
	uint64_t all = roaring_bitmap_get_cardinality(looking->edition->selection);
	config_report_text(looking->report, looking->context,
		CONFIG_WARNING
		"job %s: %" PRIu64 " of %" PRIu64
		" samples have no %s, so their files are empty; the first: %s",
		looking->config->name, all - found->n, all, looking->what,
		name_of(looking, found->missing, &sample));
	dataset_sample_free(&sample);
}

static int check(const struct looking *looking, const struct dataset_besides *found)
{
	bool tar = looking->config->layout == LAYOUT_TAR;
	uint64_t most = tar ? MOST_BYTES_IN_TAR : MOST_BYTES;
	if (found->n == 0) {
		config_report_text(looking->report, looking->context,
			"%s:[view]:%s: found %s, but no selected sample of dataset %s "
			"has it, allowed: one that some samples have",
			looking->config->file, looking->key, looking->what,
			looking->config->dataset);
		return -EINVAL;
	}
	if (found->most_bytes > most)
		return refuse_size(looking, found, most);
	if (found->missing != SAMPLE_NONE)
		warn_of_missing(looking, found);
	return 0;
}

static int refuse_column(const struct looking *looking, const char *column)
{
	auto_free char *columns = NULL;
	int err = dataset_columns(looking->edition->is.dataset, &columns);
	if (err)
		return err;
	config_report_text(looking->report, looking->context,
		"%s:[view]:%s: found column %s, which dataset %s does not have, allowed: "
		"%s",
		looking->config->file, looking->key, column, looking->config->dataset,
		columns);
	return -EINVAL;
}

static int look_at_file(struct looking *looking, unsigned i)
{
	struct edition *edition = looking->edition;
	const char *ending = looking->config->beside.of[i];
	struct dataset_besides found;
	char what[CONFIG_LONGEST_ENDING + 2];
	snprintf(what, sizeof(what), ".%s", ending);
	looking->what = what;
	int err =
		dataset_besides(edition->is.dataset, edition->selection, ending, &found);
	edition->is.beside_bytes[i] = err ? 0 : found.most_bytes;
	return err ? err : check(looking, &found);
}

static int look_at_text(struct looking *looking)
{
	struct edition *edition = looking->edition;
	const char *column = looking->config->text;
	struct dataset_besides found;
	char what[CONFIG_LONGEST_COLUMN + 32];
	snprintf(what, sizeof(what), "text in column %s", column);
	looking->what = what;
	looking->key = "text";
	if (!dataset_column(edition->is.dataset, column))
		return refuse_column(looking, column);
	int err = dataset_texts(edition->is.dataset, edition->selection, column, &found);
	edition->is.beside_bytes[looking->config->beside.n] = err ? 0 : found.most_bytes;
	return err ? err : check(looking, &found);
}

static bool is_on_server(const struct edition *edition)
{
	for (size_t i = 0; i < edition->n_parts; i++)
		if (far_is(dataset_source(edition->parts[i].source->dataset)))
			return true;
	return false;
}

/* --- labels ------------------------------------------------------------------------------ */

static int refuse_number(const struct looking *looking, const char *column,
	const struct dataset_odd_number *odd)
{
	struct dataset_sample sample = {0};
	bool none = odd->found[0] == '\0';
	config_report_text(looking->report, looking->context,
		"%s:[view]:labels: found %s%s%s in column %s of sample %u, %s, allowed: "
		"a number that float32 holds, for each sample (where = %s IS NOT NULL "
		"leaves out samples without one)",
		looking->config->file, none ? "nothing" : "\"", odd->found,
		none ? "" : "\"", column, odd->sample,
		name_of(looking, odd->sample, &sample), column);
	dataset_sample_free(&sample);
	return -EINVAL;
}

static int take_column(
	const struct looking *looking, const char *column, size_t each, float *ret)
{
	struct edition *edition = looking->edition;
	struct dataset_odd_number odd;
	if (!dataset_column(edition->is.dataset, column))
		return refuse_column(looking, column);
	int err = dataset_numbers(
		edition->is.dataset, edition->selection, column, each, ret, &odd);
	return err == -EDOM ? refuse_number(looking, column, &odd) : err;
}

static int take_targets(struct looking *looking)
{
	struct edition *edition = looking->edition;
	const char *columns = config_label_columns(looking->config);
	char column[CONFIG_LONGEST_COLUMN + 1];
	size_t each = looking->config->n_targets;
	int err = 0;
	looking->key = "labels";
	edition->targets = calloc(dataset_ids(edition->is.dataset) * each, sizeof(float));
	if (!edition->targets)
		return -ENOMEM;
	for (size_t i = 0; !err && config_next_column(&columns, column); i++)
		err = take_column(looking, column, each, edition->targets + i);
	return err;
}

int edition_beside(struct edition *edition, config_report *report, void *context)
{
	const struct job_config *config = &edition->job->config;
	struct looking looking = {.edition = edition,
		.config = config,
		.key = "beside",
		.report = report,
		.context = context};
	int err = 0;
	edition->is.beside_waits = config->beside.n > 0 && is_on_server(edition);
	for (unsigned i = 0; !err && i < config->beside.n; i++)
		err = look_at_file(&looking, i);
	if (!err && config->text)
		err = look_at_text(&looking);
	if (!err && config->n_targets > 0)
		err = take_targets(&looking);
	return err;
}
