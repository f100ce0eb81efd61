// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "dataset/dataset_map.h"

#include <stdlib.h>

void dataset_close(struct dataset **dataset)
{
	struct dataset *old = *dataset;
	*dataset = NULL;
	if (!old || atomic_fetch_sub(&old->references, 1) > 1)
		return;
	connections_close(old);
	dataset_paths_free(old->paths);
	free(atomic_load(&old->by_label));
	dataset_pairs_free(atomic_load(&old->pairs));
	dataset_groups_free(atomic_load(&old->groups));
	ensure(pthread_cond_destroy(&old->paths_made) == 0);
	lock_destroy(&old->lock);
	for (uint32_t i = 0; i < old->n_classes; i++)
		free(old->classes[i]);
	free(old->classes);
	free(old->beside);
	map_close(&old->map);
	for (size_t i = 0; i < old->n_mixed; i++)
		dataset_close(&old->mixed[i]);
	free(old->mixed);
	free(old->firsts);
	free(old->labels);
	if (old->present)
		roaring_bitmap_free(old->present);
	free(old->name);
	free(old->source);
	free(old->root);
	if (old->provisional && old->file)
		catalogue_remove(old->file);
	for (size_t i = 0; i < sizeof(old->files) / sizeof(old->files[0]); i++)
		free(old->files[i]);
	free(old);
}
