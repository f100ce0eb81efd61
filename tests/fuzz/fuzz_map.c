// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "base/log.h"
#include "dataset/dataset_map.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Foreign bytes as a mapped catalogue. It is refused, or all answers about it come from within its
 * bytes. Most mutations get right checksums, because otherwise only the checksums would be tested.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed);

#define ROWS (PACK_BLOCK + 5)
#define MOST_ASKED 100000 /* a number in no bits can stand for many samples */

/* Makes a valid catalogue to begin with. */
static size_t make(uint8_t *data, size_t max_size)
{
	static const char *classes[] = {"a", "b"};
	struct container containers[] = {{.name = "x.tar", .bytes = 9000}};
	const struct part part = {.at = {.offset = 512, .stored_bytes = 7}};
	struct row rows[ROWS];
	char paths[ROWS][40];
	for (uint32_t i = 0; i < ROWS; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%x.jpg",
			i % 7 ? "a" : "b/more-than-fifteen", i * i);
		rows[i] = (struct row){.path = paths[i],
			.facts = {.bytes = 100 + i * i, .mtime_ns = 1000000000 * i},
			.label = i % 2,
			.part = &part,
			.gone = i == 3};
	}
	const struct catalogue catalogue = {.rows = rows,
		.n_rows = ROWS,
		.classes = classes,
		.n_classes = 2,
		.containers = containers,
		.n_containers = 1};
	struct catalogue_map *map;
	char directory[] = "/dev/shm/joaderfs-fuzz.XXXXXX", file[64], made[80];
	ensure(mkdtemp(directory));
	snprintf(file, sizeof(file), "%s/c", directory);
	snprintf(made, sizeof(made), "%s.map", file);
	close(open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	ensure(catalogue_map_make(file, "/x", "", &catalogue, &map) == 0);
	ensure(unlink(file) == 0 && unlink(made) == 0 && rmdir(directory) == 0);
	size_t size = map->size < max_size ? map->size : max_size;
	memcpy(data, map->bytes, size);
	map_close(&map);
	return size;
}

static void correct_sums(uint8_t *data, size_t size)
{
	struct map_head head;
	if (size < sizeof(head))
		return;
	memcpy(&head, data, sizeof(head));
	head.magic = MAP_MAGIC;
	if (head.version != MAP_WITHOUT_SHAPES)
		head.version = MAP_VERSION;
	head.head_bytes =
		head.version == MAP_VERSION ? sizeof(head) : MAP_HEAD_WITHOUT_SHAPES;
	head.file_bytes = size;
	for (int i = 0; i < map_sections(&head); i++) {
		struct map_place *place = &head.sections[i];
		if (place->offset <= size && place->bytes <= size - place->offset)
			place->sum = content_sum(data + place->offset, place->bytes);
	}
	head.sum = map_head_sum(&head);
	memcpy(data, &head, sizeof(head));
}

size_t LLVMFuzzerCustomMutator(
	uint8_t *data, size_t size, size_t max_size, unsigned int seed)
{
	ensure(log_to_file("/dev/null") == 0);
	if (size < sizeof(struct map_head))
		size = make(data, max_size);
	size = LLVMFuzzerMutate(data, size, max_size);
	if (seed % 4)
		correct_sums(data, size);
	return size;
}

static void ask(struct catalogue_map *map)
{
	struct dataset dataset = {0};
	const char *root = map_section(map, MAP_ABOUT);
	ensure(strlen(root) + strlen(map_rule(map)) < map->size);
	ensure(map_attach(&dataset, map) == 0);
	ensure(roaring_bitmap_get_cardinality(dataset.present) == dataset.n_samples);
	struct path_text text = {0};
	for (sample_id id = 0; id < dataset.n_ids && id < MOST_ASKED; id++) {
		const char *path = map_path(map, id, &text);
		struct part part;
		ensure(!path || *path);
		ensure(dataset_image_shape(&dataset, id).mode < N_PIXEL_MODES);
		(void)map_part(map, id, &part);
		uint32_t label = dataset_label(&dataset, id);
		ensure(label == LABEL_NONE || label < dataset.n_classes);
		for (int column = MAP_LABELS; column <= MAP_PATH_LENGTHS; column++)
			(void)map_value(map, (enum map_section)column, id);
	}
	size_t n = 0;
	const struct dataset_shape *shapes =
		dataset_shapes(&dataset, dataset.present, &n);
	for (size_t i = 0; i < n; i++)
		ensure(shapes[i].first < dataset.n_ids &&
			dataset_image_shape(&dataset, shapes[i].largest).mode <
				N_PIXEL_MODES);
	roaring_bitmap_free(dataset.present);
	for (uint32_t i = 0; i < dataset.n_classes; i++)
		free(dataset.classes[i]);
	free(dataset.classes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct catalogue_map *map;
	auto_close int fd = memfd_create("fuzz", MFD_CLOEXEC);
	ensure(fd >= 0 && log_to_file("/dev/null") == 0);
	ensure(pwrite(fd, data, size, 0) == (ssize_t)size);
	for (int check = 0; check < 2; check++) { /* also as the next engine checks it */
		int err = map_open_fd(fd, "fuzz", check, &map);
		ensure(err == 0 || err == -EILSEQ);
		if (!err)
			ask(map);
		map_close(&map);
	}
	return 0;
}
