// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "supply/quarantine.h"
#include "base/aprintf.h"
#include "base/array_grow.h"
#include "base/kept.h"
#include "base/log.h"
#include "epoch/disk.h"
#include "supply/supply.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define DEATHS 2

/* An image whose preparation ended the engine `deaths` times. bytes, mtime_ns: size and time that
 * the image's file then had. */
struct blamed {
	size_t dataset;
	sample_id sample;
	uint64_t bytes;
	int64_t mtime_ns;
	unsigned deaths;
};

struct quarantine {
	struct dataset **datasets;
	size_t n;
	roaring_bitmap_t **samples; /* quarantined samples of each dataset, or NULL */
	struct blamed *blamed;
	size_t n_blamed, room;
};

static size_t find_dataset(const struct quarantine *quarantine, const char *name)
{
	size_t i = 0;
	while (i < quarantine->n &&
		strcmp(dataset_name(quarantine->datasets[i]), name) != 0)
		i++;
	return i;
}

static struct blamed *add(struct quarantine *quarantine, const struct blamed *blamed)
{
	size_t n = quarantine->n_blamed;
	if (!array_make_room(quarantine->blamed, n, &quarantine->room))
		return NULL;
	quarantine->blamed[quarantine->n_blamed++] = *blamed;
	return &quarantine->blamed[n];
}

static int read_file(struct quarantine *quarantine, const char *path)
{
	char name[256];
	struct blamed blamed;
	auto_fclose FILE *in = disk_fopen(path);
	if (!in)
		return errno == ENOENT ? 0 : -errno;
	while (fscanf(in, "%255s %" SCNu32 " %" SCNu64 " %" SCNd64 " %u", name,
		       &blamed.sample, &blamed.bytes, &blamed.mtime_ns,
		       &blamed.deaths) == 5) {
		blamed.dataset = find_dataset(quarantine, name);
		if (blamed.dataset < quarantine->n &&
			bad_sample_is_unchanged(quarantine->datasets[blamed.dataset],
				blamed.sample, blamed.bytes, blamed.mtime_ns) &&
			!add(quarantine, &blamed))
			return -ENOMEM;
	}
	return 0;
}

static int write_file(const struct quarantine *quarantine, const char *state)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return -ENOMEM;
	for (size_t i = 0; i < quarantine->n_blamed; i++) {
		const struct blamed *blamed = &quarantine->blamed[i];
		fprintf(out, "%s %" PRIu32 " %" PRIu64 " %" PRId64 " %u\n",
			dataset_name(quarantine->datasets[blamed->dataset]),
			blamed->sample, blamed->bytes, blamed->mtime_ns, blamed->deaths);
	}
	return close_text(out, &text) ? disk_replace(state, "quarantine", text, 0644)
				      : -ENOMEM;
}

static struct blamed *find(struct quarantine *quarantine, size_t dataset, sample_id id)
{
	for (size_t i = 0; i < quarantine->n_blamed; i++)
		if (quarantine->blamed[i].dataset == dataset &&
			quarantine->blamed[i].sample == id)
			return &quarantine->blamed[i];
	return NULL;
}

static int blame(struct quarantine *quarantine, const struct kept_note *note)
{
	struct dataset_sample sample = {0};
	size_t dataset = find_dataset(quarantine, note->dataset);
	if (dataset == quarantine->n ||
		dataset_get(quarantine->datasets[dataset], note->sample, &sample) != 0)
		return 0;
	struct blamed *blamed = find(quarantine, dataset, note->sample);
	if (!blamed)
		blamed = add(quarantine, &(struct blamed){.dataset = dataset,
						 .sample = note->sample,
						 .bytes = sample.bytes,
						 .mtime_ns = sample.mtime_ns});
	if (blamed && ++blamed->deaths >= DEATHS)
		log_error("dataset %s: %s: preparing it ended the engine twice; readers "
			  "get EIO until the file changes",
			note->dataset, sample.path);
	else if (blamed)
		log_warn("dataset %s: %s: preparing it ended the engine", note->dataset,
			sample.path);
	dataset_sample_free(&sample);
	return blamed ? 0 : -ENOMEM;
}

static int take_notes(struct quarantine *quarantine, bool *ret_any)
{
	int err = 0;
	for (uint32_t i = 0; i < KEPT_WORKERS; i++) {
		struct kept_note *note = &kept()->notes[i];
		bool guilty = atomic_load(&note->busy) && atomic_load(&note->crashed);
		note->dataset[sizeof(note->dataset) - 1] = '\0';
		if (guilty && !err)
			err = blame(quarantine, note);
		*ret_any = *ret_any || guilty;
		atomic_store(&note->busy, false);
		atomic_store(&note->crashed, false);
	}
	return err;
}

static int fill(struct quarantine *quarantine)
{
	for (size_t i = 0; i < quarantine->n_blamed; i++) {
		const struct blamed *blamed = &quarantine->blamed[i];
		roaring_bitmap_t **samples = &quarantine->samples[blamed->dataset];
		if (blamed->deaths < DEATHS)
			continue;
		if (!*samples)
			*samples = roaring_bitmap_create();
		if (!*samples)
			return -ENOMEM;
		roaring_bitmap_add(*samples, blamed->sample);
	}
	return 0;
}

static int begin(struct quarantine *quarantine, const char *state)
{
	bool any = false;
	auto_free char *path = aprintf("%s/quarantine", state);
	if (!path)
		return -ENOMEM;
	int err = read_file(quarantine, path);
	if (!err)
		err = take_notes(quarantine, &any);
	if (!err && any)
		err = write_file(quarantine, state);
	if (err)
		log_error("%s: %s", path, strerror(-err));
	return err ? err : fill(quarantine);
}

int quarantine_open(
	const char *state, struct dataset **datasets, size_t n, struct quarantine **ret)
{
	struct quarantine *quarantine = calloc(1, sizeof(*quarantine));
	if (!quarantine)
		return -ENOMEM;
	quarantine->datasets = datasets;
	quarantine->n = n;
	quarantine->samples = calloc(n + 1, sizeof(roaring_bitmap_t *));
	int err = quarantine->samples ? begin(quarantine, state) : -ENOMEM;
	if (err)
		quarantine_free(&quarantine);
	*ret = quarantine;
	return err;
}

void quarantine_free(struct quarantine **quarantine_pointer)
{
	struct quarantine *quarantine = *quarantine_pointer;
	*quarantine_pointer = NULL;
	if (!quarantine)
		return;
	for (size_t i = 0; quarantine->samples && i < quarantine->n; i++)
		bitmap_free(&quarantine->samples[i]);
	free(quarantine->samples);
	free(quarantine->blamed);
	free(quarantine);
}

const roaring_bitmap_t *quarantine_of(const struct quarantine *quarantine, size_t i)
{
	return quarantine->samples[i];
}
