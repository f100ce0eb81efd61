// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "dataset/dataset_map.h"

#include <stdlib.h>

static void mixed_free(struct dataset *made)
{
	free(made->labels);
	for (size_t i = 0; i < made->n_mixed; i++)
		dataset_close(&made->mixed[i]);
	free(made->mixed);
	free(made->firsts);
}

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
	if (old->map)
		map_close(&old->map);
	else
		mixed_free(old);
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
