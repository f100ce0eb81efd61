// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

/* restore [DIRECTORY]: measures a checkpoint, and its restoring, for a job with 1.28 million and
 * with 14 million positions. Half of the positions were read, either nearly in order, as by several
 * workers, or in random order. The steps are the daemon's: print the text of the checkpoint; save
 * the order of the running epoch to a file; load this file; save the part before the restored
 * position to a file, from which the journal continues; load that part into the engine. The files
 * are in DIRECTORY, by default /tmp, and are removed. */

#include "base/clock.h"
#include "base/ensure.h"
#include "base/rng.h"
#include "state/checkpoint.h"
#include "epoch/questions.h"

#include <stdlib.h>
#include <unistd.h>

#define TEXTS 1000

static roaring_bitmap_t *selection;

static double ms_since(uint64_t begin)
{
	return (double)(clock_now_ns() - begin) / 1e6;
}

static void replay(struct epochs *epochs, struct record record)
{
	const char *reason = NULL;
	ensure(epochs_replay(epochs, &record, &reason) == 0);
}

static uint32_t *read_order(uint32_t n, bool shuffled)
{
	struct rng rng;
	uint32_t *order = calloc(n, sizeof(*order));
	ensure(order);
	rng_seed(&rng, 1);
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t near = n - i < 64 ? n - i : 64;
		uint32_t k = i + (uint32_t)rng_below(&rng, shuffled ? n - i : near);
		uint32_t old = order[i];
		order[i] = order[k];
		order[k] = old;
	}
	return order;
}

/* Makes an engine whose epoch 0 has all positions bound, and half of them read. */
static struct epochs *make(uint32_t n, bool shuffled)
{
	struct epochs_config config = {.set.selection = selection,
		.set.positions = n,
		.limit = 2,
		.lookahead = 1,
		.file = 1};
	struct epochs *epochs;
	uint32_t *order = read_order(n, shuffled);
	ensure(epochs_new(&config, &epochs) == 0);
	replay(epochs, (struct record){.kind = RECORD_BEGUN});
	for (uint32_t i = 0; i < n; i++)
		replay(epochs, (struct record){.kind = RECORD_BOUND,
				       .position = order[i],
				       .sample = n - 1 - i});
	for (uint32_t i = 0; i < n / 2; i++)
		replay(epochs,
			(struct record){.kind = RECORD_CONSUMED, .position = order[i]});
	free(order);
	return epochs;
}

static size_t print_text(const struct epochs *epochs, uint32_t n)
{
	struct checkpoint checkpoint = {
		.job = "resnet50", .has_journal = true, .samples = n};
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	ensure(out);
	epochs_place(epochs, &checkpoint.place);
	checkpoint.n_runs = epochs_read_runs(
		epochs, 0, checkpoint.runs, CHECKPOINT_RUNS, &checkpoint.all_runs);
	checkpoint_print(out, &checkpoint);
	ensure(fclose(out) == 0);
	free(text);
	return bytes;
}

static void measure_text(const struct epochs *epochs, uint32_t n)
{
	size_t bytes = 0;
	uint64_t begin = clock_now_ns();
	for (int i = 0; i < TEXTS; i++)
		bytes = print_text(epochs, n);
	printf("  checkpoint %8.1f us, %zu bytes\n", ms_since(begin) * 1e3 / TEXTS,
		bytes);
}

static void measure_restore(struct epochs *epochs, const char *directory, uint32_t n)
{
	struct order data;
	struct effects effects;
	struct epoch *running;
	const char *reason = "";
	char path[4200];
	snprintf(path, sizeof(path), "%s/journal-0001.running", directory);
	uint64_t begin = clock_now_ns(), all = begin;
	effects_init(&effects);
	epochs_hold(epochs, &effects);
	struct order order = epochs_order(epochs, 0);
	ensure(order_save(directory, 0, 1, &order) == 0);
	printf("  restore: save %.0f ms", ms_since(begin));
	begin = clock_now_ns();
	ensure(order_load(directory, 0, n, 1, &data) == 0);
	printf(", load %.0f ms", ms_since(begin));
	begin = clock_now_ns();
	data.consumed /= 2;
	ensure(order_save_at(path, 0, 1, &data) == 0);
	printf(", save %.0f ms", ms_since(begin));
	begin = clock_now_ns();
	ensure(epochs_prepare(epochs, epochs_set(epochs, 0), 0, &data, n, n / 4, &reason,
		       &running) == 0);
	printf(", prepare %.0f ms", ms_since(begin));
	begin = clock_now_ns();
	epochs_restored(epochs, running, NULL, &effects);
	printf(", with the lock %.3f ms; all %.0f ms\n", ms_since(begin), ms_since(all));
	unlink(path);
	snprintf(path, sizeof(path), "%s/epoch-0000.order", directory);
	unlink(path);
}

int main(int argc, char **argv)
{
	static const uint32_t sizes[] = {1281167, 14000000};
	char directory[4096];
	snprintf(directory, sizeof(directory), "%s/joaderfs-restore.XXXXXX",
		argc > 1 ? argv[1] : "/tmp");
	ensure(mkdtemp(directory));
	for (size_t i = 0; i < 2; i++)
		for (int shuffled = 0; shuffled < 2; shuffled++) {
			selection = roaring_bitmap_from_range(0, sizes[i], 1);
			struct epochs *epochs = make(sizes[i], shuffled);
			printf("%u positions, read %s\n", sizes[i],
				shuffled ? "in a random order" : "in their order");
			measure_text(epochs, sizes[i]);
			measure_restore(epochs, directory, sizes[i]);
			epochs_free(&epochs);
			roaring_bitmap_free(selection);
		}
	rmdir(directory);
	return 0;
}
