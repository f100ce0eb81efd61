// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/log.h"
#include "base/rng.h"
#include "edition/edition_internal.h"
#include "epoch/disk.h"
#include "image/sections.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/*
 * The result of edition_select is noted in a file of the job's directory:
 *
 *     head | selected | refused | label_begin
 *
 * After a restart joaderfs loads this note, so readers need not wait until it has looked at
 * millions of samples, or until SQLite has evaluated `where`. A note that is damaged, or belongs to
 * another catalogue, ini or version of joaderfs, is made again.
 */

#define MEASURED_MAGIC UINT64_C(0x6c65737265646f6a) /* "jodersel" */
#define MEASURED_VERSION 1

struct measured_head {
	uint64_t magic;
	uint64_t sum; /* hash of all bytes after this field */
	uint64_t key; /* hash of everything on which the note depends (key_of) */
	uint64_t content;
	uint64_t all_bytes, largest_bytes, sample_bytes, typical_bytes;
	uint64_t selected_bytes; /* bytes of the bitmap; 0: all samples are selected */
	uint64_t refused_bytes;	 /* bytes of the bitmap; 0: no sample is refused */
	uint32_t positions;
	uint32_t n_begins; /* length of label_begin; 0: there is no label_begin */
};

static uint64_t sum_of(const void *bytes, size_t n)
{
	const char *at = bytes;
	uint64_t sum = n, word;
	for (; n >= sizeof(word); n -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		sum = rng_mix(sum, word);
	}
	word = 0;
	memcpy(&word, at, n);
	return rng_mix(sum, word);
}

static uint64_t sum_of_file(const void *file, size_t n)
{
	size_t before = offsetof(struct measured_head, key);
	return sum_of((const char *)file + before, n - before);
}

/* Returns a hash of all on which the note depends; 0: the edition gets no note. Arrays that a
 * program makes get no note, because a changed program may make arrays of other sizes. Samples of
 * several files get no note, because their files have to be found after each restart anyway. */
static uint64_t key_of(const struct edition *edition)
{
	const struct job *job = edition->job;
	const struct supply *supply = job->supply;
	uint64_t content = dataset_content(edition->is.dataset);
	if (content == 0 || job->ini_hash == 0 || edition->n_parts > 1 ||
		config_is_mixed(&job->config) || job->config.preparation.array ||
		preparation_pair(&job->config.preparation) ||
		job->config.preparation.frames)
		return 0;
	uint64_t key = sum_of(JOADERFS_VERSION, strlen(JOADERFS_VERSION));
	key = rng_mix(rng_mix(key, MEASURED_VERSION), content);
	key = rng_mix(rng_mix(key, job->ini_hash), supply->config->cache_bytes);
	return rng_mix(rng_mix(key, supply->config->max_pixels), supply->copies);
}

/* --- reading the note --------------------------------------------------------------------- */

static int read_file(const char *path, uint8_t **ret, size_t *ret_n)
{
	struct stat status;
	auto_close int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOTDIR ? -ENOENT : -errno;
	if (fstat(fd, &status) != 0)
		return -errno;
	if (status.st_size < (off_t)sizeof(struct measured_head))
		return -EILSEQ;
	*ret_n = (size_t)status.st_size;
	*ret = malloc(*ret_n);
	size_t done = 0;
	int err = *ret ? disk_read(fd, *ret, *ret_n, 0, &done) : -ENOMEM;
	return err || done == *ret_n ? err : -EILSEQ;
}

/* Checks the head of the note in `file`. -ENOENT: the note is about other samples; -EILSEQ: the
 * note is damaged. */
static int check(const struct edition *edition, const uint8_t *file, size_t n)
{
	struct measured_head head;
	memcpy(&head, file, sizeof(head));
	uint64_t left = n - sizeof(head);
	if (head.magic != MEASURED_MAGIC || head.sum != sum_of_file(file, n))
		return -EILSEQ;
	if (head.key != key_of(edition))
		return -ENOENT;
	if (head.selected_bytes > left || head.refused_bytes > left - head.selected_bytes)
		return -EILSEQ;
	left -= head.selected_bytes + head.refused_bytes;
	bool classes = edition->job->config.layout == LAYOUT_CLASSES;
	uint32_t begins = classes ? dataset_classes(edition->is.dataset) + 1 : 0;
	return head.n_begins == begins && left == begins * sizeof(uint32_t) ? 0 : -EILSEQ;
}

/* Makes a set of ids from the bytes of a bitmap. -EILSEQ: the bytes are damaged, or the set has an
 * id that the dataset lacks. */
static int take_bitmap(const struct edition *edition, const uint8_t *bytes, size_t n,
	roaring_bitmap_t **ret)
{
	*ret = roaring_bitmap_portable_deserialize_safe((const char *)bytes, n);
	if (!*ret)
		return -EILSEQ;
	bool fits = roaring_bitmap_is_empty(*ret) ||
		    roaring_bitmap_maximum(*ret) < dataset_ids(edition->is.dataset);
	return fits ? 0 : -EILSEQ;
}

static int take_bitmaps(
	struct edition *edition, const struct measured_head *head, const uint8_t *bytes)
{
	auto_bitmap roaring_bitmap_t *refused = NULL;
	auto_free char *message = NULL;
	int err = head->selected_bytes ? take_bitmap(edition, bytes, head->selected_bytes,
						 &edition->selection)
				       : dataset_select(edition->is.dataset, NULL,
						 &edition->selection, &message);
	if (!err && head->refused_bytes)
		err = take_bitmap(edition, bytes + head->selected_bytes,
			head->refused_bytes, &refused);
	if (!err)
		edition->readable =
			refused ? roaring_bitmap_andnot(edition->selection, refused)
				: roaring_bitmap_copy(edition->selection);
	if (err)
		return err;
	if (!edition->readable)
		return -ENOMEM;
	uint64_t n = roaring_bitmap_get_cardinality(edition->selection);
	return n > 0 && n == head->positions ? 0 : -EILSEQ;
}

static int take_begins(
	struct edition *edition, const struct measured_head *head, const uint8_t *bytes)
{
	uint32_t before = 0, n = head->n_begins;
	if (n == 0)
		return 0;
	edition->label_begin = calloc(n, sizeof(*edition->label_begin));
	if (!edition->label_begin)
		return -ENOMEM;
	memcpy(edition->label_begin, bytes, n * sizeof(*edition->label_begin));
	for (uint32_t i = 0; i < n; i++) {
		if (edition->label_begin[i] < before)
			return -EILSEQ;
		before = edition->label_begin[i];
	}
	return edition->label_begin[0] == 0 && before == head->positions ? 0 : -EILSEQ;
}

static void take_numbers(struct edition *edition, const struct measured_head *head)
{
	edition->set.positions = head->positions;
	edition->content = head->content;
	edition->all_bytes = head->all_bytes;
	edition->largest_bytes = head->largest_bytes;
	edition->sample_bytes = head->sample_bytes;
	edition->typical_bytes = head->typical_bytes;
	edition->parts[0].all_bytes = head->all_bytes;
	edition->parts[0].selection = edition->selection;
	edition->parts[0].in_epoch = head->positions;
	edition->noted = true;
}

static void take_nothing(struct edition *edition)
{
	bitmap_free(&edition->selection);
	bitmap_free(&edition->readable);
	free(edition->label_begin);
	edition->label_begin = NULL;
}

static int take(struct edition *edition, const uint8_t *file, size_t n)
{
	struct measured_head head;
	int err = check(edition, file, n);
	if (err)
		return err;
	memcpy(&head, file, sizeof(head));
	file += sizeof(head);
	err = take_bitmaps(edition, &head, file);
	if (!err)
		err = take_begins(
			edition, &head, file + head.selected_bytes + head.refused_bytes);
	if (err)
		take_nothing(edition);
	else
		take_numbers(edition, &head);
	return err;
}

int measured_load(struct edition *edition)
{
	auto_free uint8_t *file = NULL;
	size_t n = 0;
	if (key_of(edition) == 0)
		return -ENOENT;
	auto_free char *path = aprintf("%s/" MEASURED_FILE, edition->job->directory);
	if (!path)
		return -ENOMEM;
	int err = read_file(path, &file, &n);
	if (!err)
		err = take(edition, file, n);
	if (!err || err == -ENOENT || err == -ENOMEM)
		return err;
	log_warn("%s: %s; joaderfs makes this file again from the samples", path,
		err == -EILSEQ ? "it is damaged" : strerror(-err));
	return -ENOENT;
}

/* --- writing the note --------------------------------------------------------------------- */

/* Returns the number of selected samples; set.positions may count only a rank's part. */
static uint32_t n_selected(const struct edition *edition)
{
	return (uint32_t)roaring_bitmap_get_cardinality(edition->selection);
}

/* Makes the content of the file, which the caller frees. NULL: no memory. */
static uint8_t *make_file(
	const struct edition *edition, const roaring_bitmap_t *refused, size_t *ret_n)
{
	const roaring_bitmap_t *selected = edition->selection;
	struct measured_head head = {.magic = MEASURED_MAGIC,
		.key = key_of(edition),
		.content = edition->content,
		.all_bytes = edition->all_bytes,
		.largest_bytes = edition->largest_bytes,
		.sample_bytes = edition->sample_bytes,
		.typical_bytes = edition->typical_bytes,
		.positions = n_selected(edition)};
	if (head.positions != dataset_samples(edition->is.dataset))
		head.selected_bytes = roaring_bitmap_portable_size_in_bytes(selected);
	if (!roaring_bitmap_is_empty(refused))
		head.refused_bytes = roaring_bitmap_portable_size_in_bytes(refused);
	if (edition->label_begin)
		head.n_begins = dataset_classes(edition->is.dataset) + 1;
	size_t begins = head.n_begins * sizeof(*edition->label_begin);
	*ret_n = sizeof(head) + head.selected_bytes + head.refused_bytes + begins;
	uint8_t *file = malloc(*ret_n);
	if (!file)
		return NULL;
	uint8_t *at = file + sizeof(head);
	if (head.selected_bytes)
		at += roaring_bitmap_portable_serialize(selected, (char *)at);
	if (head.refused_bytes)
		at += roaring_bitmap_portable_serialize(refused, (char *)at);
	if (begins)
		memcpy(at, edition->label_begin, begins);
	memcpy(file, &head, sizeof(head));
	head.sum = sum_of_file(file, *ret_n);
	memcpy(file, &head, sizeof(head));
	return file;
}

static int write_note(const struct edition *edition)
{
	auto_bitmap roaring_bitmap_t *refused =
		roaring_bitmap_andnot(edition->selection, edition->readable);
	size_t n = 0;
	if (!refused)
		return -ENOMEM;
	auto_free uint8_t *file = make_file(edition, refused, &n);
	return file ? disk_replace_bytes(
			      edition->job->directory, MEASURED_FILE, file, n, 0644)
		    : -ENOMEM;
}

void measured_save(const struct edition *edition)
{
	if (edition->noted || key_of(edition) == 0)
		return;
	int err = write_note(edition);
	if (err)
		log_warn("%s/" MEASURED_FILE
			 ": can't be written: %s; a restart looks at all samples again",
			edition->job->directory, strerror(-err));
}
