// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "effort.h"
#include "power_journal.h"

/* The power fails while journals and orders are set aside, and while this is undone. */

TestSuite(power_aside, .init = make_places, .fini = remove_places, .timeout = 600);

static bool is_there(const char *at, const char *name)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/%s", at, name);
	return access(path, F_OK) == 0;
}

static void write_earlier(void)
{
	char path[128];
	snprintf(path, sizeof(path), "%s/before", live);
	cr_assert_eq(0, mkdir(path, 0755));
	strcat(path, "/journal-0777");
	int fd = open(path, O_WRONLY | O_CREAT, 0644);
	cr_assert(fd >= 0);
	close(fd);
}

/* Checks that everything is in place, with files that were set aside earlier, or that everything
 * is set aside. */
static const char *check_aside(
	const char *at, const struct record *history, size_t n, bool done)
{
	struct found found;
	const char *wrong = find(at, &found);
	bool aside = found.found == JOURNAL_NEW;
	if (!wrong && !aside)
		wrong = check_records(&found.replay, history, n, n);
	if (!wrong && !aside && found.n_orders != 1)
		wrong = "the order is gone";
	if (!wrong && !aside && !is_there(at, "before/journal-0777"))
		wrong = "what was set aside earlier is gone";
	if (!wrong && aside &&
		(!is_there(at, "before/journal-0000") ||
			!is_there(at, "before/journal-0002") ||
			!is_there(at, "before/epoch-0000.order")))
		wrong = "a part of it is set aside";
	if (!wrong && done && !aside)
		wrong = "it is not set aside";
	found_free(&found);
	return wrong;
}

static void write_aside(const struct record *records, size_t n)
{
	uint32_t samples[EPOCH_POSITIONS] = {1}, log[] = {0};
	struct order order = {EPOCH_POSITIONS, 1, 0, samples, log, NULL};
	struct found found;
	disk_clear(live);
	/* Some file systems list the newest files first. */
	cr_assert_eq(0, order_save(live, 0, FINGERPRINT, &order));
	cr_assert_null(find(live, &found));
	append_all(found.journal, records, n);
	found_free(&found);
	write_earlier();
}

Test(power_aside, sets_all_aside_or_nothing)
{
	const struct record records[] = {begun(0), bound(0, 0, 0), ended(0), begun(1),
		bound(1, 1, 1), ended(1), begun(2)};
	const size_t n = N_OF(records);
	const unsigned times = effort(20, 200);
	struct rng rng;
	rng_seed(&rng, 1);
	write_aside(records, n);
	disk_record(live, LIE_NONE);
	cr_assert_eq(0, journal_set_aside(live));
	disk_stop();
	const size_t n_events = disk.n_events;
	for (size_t end = 0; end <= n_events; end++)
		for (unsigned i = 0; i < times; i++) {
			power_fails(end, i % DISK_ORDERS, &rng, crashed);
			const char *wrong =
				check_aside(crashed, records, n, end == n_events);
			cr_assert_null(wrong, "%zu of %zu: %s", end, n_events, wrong);
		}
}

/* The power fails in the middle, and again during the recovery. */
Test(power_aside, fails_again_while_what_was_set_aside_comes_back)
{
	const struct record records[] = {begun(0), bound(0, 0, 0), ended(0), begun(1),
		bound(1, 1, 1), ended(1), begun(2)};
	const size_t n = N_OF(records);
	struct rng rng;
	rng_seed(&rng, 2);
	for (unsigned i = 0; i < effort(60, 1000); i++) {
		struct found found;
		write_aside(records, n);
		disk_record(live, LIE_NONE);
		cr_assert_eq(0, journal_set_aside(live));
		disk_stop();
		power_fails(rng_below(&rng, disk.n_events + 1), i % DISK_ORDERS, &rng,
			crashed);
		disk_record(crashed, LIE_NONE);
		cr_assert_null(find(crashed, &found));
		disk_stop();
		found_free(&found);
		for (size_t end = 0; end <= disk.n_events; end++) {
			power_fails(end, i % DISK_ORDERS, &rng, again);
			const char *wrong = check_aside(again, records, n, false);
			cr_assert_null(wrong, "case %u, %zu of %zu: %s", i, end,
				disk.n_events, wrong);
		}
	}
}

/* Checks that an incomplete removal leaves only files that existed once. */
static const char *check_removed(const struct record *history, size_t n)
{
	struct found found;
	const char *wrong = find(crashed, &found);
	size_t left = found.replay.n;
	if (!wrong)
		wrong = check_records(&found.replay, history, n, 0);
	for (size_t i = 0; i < found.n_orders && !wrong; i++)
		if (left == 0 || found.orders[i] > found.replay.records[left - 1].epoch)
			wrong = "the journal does not know the epoch of an order";
	found_free(&found);
	return wrong;
}

Test(power_aside, leaves_what_was_there_once_when_a_removal_does_not_end)
{
	const struct record records[] = {begun(0), bound(0, 0, 0), ended(0), begun(1),
		bound(1, 1, 1), ended(1), begun(2), bound(2, 2, 2)};
	struct rng rng;
	rng_seed(&rng, 3);
	write_aside(records, N_OF(records));
	disk_record(live, LIE_NONE);
	int fd = open(live, O_RDONLY | O_DIRECTORY);
	cr_assert(fd >= 0);
	cr_assert_eq(0, journal_remove_all(fd));
	close(fd);
	disk_stop();
	for (size_t end = 0; end <= disk.n_events; end++)
		for (unsigned i = 0; i < 20; i++) {
			power_fails(end, DISK_ORDERED, &rng, crashed);
			const char *wrong = check_removed(records, N_OF(records));
			cr_assert_null(
				wrong, "%zu of %zu: %s", end, disk.n_events, wrong);
		}
}
