// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "sched/jobs.h"
#include "sched/positions.h"
#include "simulation.h"

#include "base/log.h"

#include <errno.h>
#include <string.h>

/*
 * Scripts. Each reads one job, by the numbers of epochs or through current/, in its own order,
 * with several files open at once. Scripts give up, come back, and are killed.
 */

#define MOST_OPEN 3
#define MOST_READERS 4
#define FOR_EVER_NS UINT64_C(200000000000)

struct open {
	struct model_job *job;
	unsigned generation;
	struct sched_opened opened;
	bool done, gives_up_at_once, gave_up;
	uint64_t ticket; /* 0: the open is not parked */
};

static void on_opened(void *context, const struct sched_opened *opened)
{
	struct open *open = context;
	ensure(!open->done);
	ensure((opened->status == 0) == (opened->handle != NULL));
	open->opened = *opened;
	open->done = true;
	co_wake(open, true);
}

static void give_up(struct open *open)
{
	open->gave_up = true;
	sched_cancel(simulation.sched, open->ticket);
}

static void on_parking(void *context, uint64_t ticket)
{
	struct open *open = context;
	open->ticket = ticket;
	co_pause();
	if (open->gives_up_at_once)
		give_up(open);
}

/* Waits for the answer, and checks that the wait ends. */
static void wait_for_answer(struct open *open, uint64_t patience_ns)
{
	uint64_t begin_ns = co_now();
	while (!open->done) {
		ensure(co_now() - begin_ns < FOR_EVER_NS);
		(void)co_wait_until(open, begin_ns + patience_ns);
		if (open->done || co_now() - begin_ns < patience_ns)
			continue;
		if (!open->gave_up && open->ticket && patience_ns < FOR_EVER_NS)
			give_up(open);
		patience_ns = FOR_EVER_NS;
	}
}

static bool may_be(const struct open *open, uint32_t epoch, int err)
{
	bool gone = open->generation != open->job->generation || !open->job->there ||
		    simulation.ending;
	switch (err) {
	case 0:
		return true;
	case -EINTR:
		return open->gave_up;
	case -ENODEV:
		return gone;
	case -ENOENT:
		return epoch != SCHED_CURRENT;
	case -EIO:
		return simulation.bad || simulation.passing_in || sites_have_failed();
	case -ENOMEM:
		return simulation.passing_in || sites_have_failed();
	case -ESTALE:
	case -EAGAIN:
		return epoch != SCHED_CURRENT || gone;
	default:
		return false;
	}
}

static void check_status(const struct open *open, uint32_t epoch, int err)
{
	if (may_be(open, epoch, err))
		return;
	log_error("%s (layout %d, %u epochs), epoch %d: %s", open->job->name,
		(int)open->job->config.layout, open->job->config.epochs, (int)epoch,
		strerror(-err));
	ensure(!"an answer that may be");
}

static void check_content(const struct model_job *job, struct sched_handle *handle)
{
	const struct tensor *tensor = sched_handle_tensor(handle);
	sample_id sample = sched_handle_sample(handle);
	const struct preparation *preparation = &job->config.preparation;
	uint8_t shade = shade_of(simulation.number_of[sample], preparation);
	uint32_t side = preparation->resize_width ? preparation->resize_width : SIDE;
	ensure(!is_bad(sample) && tensor->bytes == 3ull * side * side);
	for (uint64_t i = 0; i < tensor->bytes; i++)
		ensure(tensor->data[i] == shade);
}

static int finish(struct open *open, uint32_t epoch, uint32_t position, bool label,
	struct sched_handle **ret)
{
	int err = open->opened.status;
	check_status(open, epoch, err);
	simulation.counts.errors += err == -EIO || err == -ENOMEM;
	simulation.counts.cancelled += err == -EINTR;
	*ret = open->opened.handle;
	if (err)
		return err;
	simulation.counts.answers++;
	uint32_t found = sched_handle_epoch(*ret);
	ensure(epoch == SCHED_CURRENT || epoch == found);
	model_tell(
		open->job, open->generation, found, position, sched_handle_sample(*ret));
	if (!label)
		check_content(open->job, *ret);
	return 0;
}

struct script {
	struct model_job *job;
	unsigned generation;
	bool current;
	uint64_t number; /* the number of its thread */
	unsigned script; /* its rank and script, which other threads may share */
	unsigned opens;
	uint32_t epoch;
	uint32_t next, order[SAMPLES];
	struct sched_handle *open[MOST_OPEN];
	bool labels[MOST_OPEN];
	unsigned hurry; /* one in this many steps takes long */
};

static int open_file(struct open *open, struct sched_job *found, uint32_t epoch,
	uint32_t position, const struct script *script, bool label)
{
	struct sched_open_callbacks callbacks = {.opened = on_opened,
		.parking = on_parking,
		.context = open,
		.label = label};
	if (script)
		callbacks.reader.who = (struct reader){.thread = script->number,
			.rank = script->script,
			.script = script->script};
	callbacks.reader.done = script && co_one_in(2);
	simulation.counts.opens++;
	return sched_open(found, epoch, position, &callbacks);
}

int reader_open(struct model_job *job, struct sched_job *found, uint32_t epoch,
	uint32_t position, struct sched_handle **ret)
{
	struct open open = {.job = job, .generation = job->generation};
	int err = open_file(&open, found, epoch, position, NULL, false);
	if (err)
		return err;
	wait_for_answer(&open, FOR_EVER_NS);
	return finish(&open, epoch, position, false, ret);
}

/* --- scripts --------------------------------------------------------------------------- */

static void begin_pass(struct script *script, uint32_t n)
{
	script->next = 0;
	for (uint32_t i = 0; i < n; i++)
		script->order[i] = i;
	if (co_one_in(2))
		return;
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = co_random(i + 1), position = script->order[i];
		script->order[i] = script->order[j];
		script->order[j] = position;
	}
}

static void close_file(struct script *script, unsigned i)
{
	struct sched_handle *handle = script->open[i];
	script->open[i] = NULL;
	if (!handle)
		return;
	if (script->labels[i] || co_one_in(8))
		sched_undo(handle);
	else
		sched_release(handle);
}

static uint64_t patience(void)
{
	if (co_one_in(6))
		return co_random(co_one_in(2) ? 10000 : 5000000);
	return FOR_EVER_NS;
}

static void read_one(struct script *script, struct sched_job *found)
{
	unsigned place = co_random(MOST_OPEN);
	uint32_t epoch = script->current ? SCHED_CURRENT : script->epoch;
	uint32_t position = script->order[script->next];
	struct open open = {.job = script->job,
		.generation = script->generation,
		.gives_up_at_once = co_one_in(20)};
	bool label = co_one_in(8);
	close_file(script, place);
	int err = open_file(&open, found, epoch, position, script, label);
	if (err) {
		simulation.counts.refused++;
		check_status(&open, epoch, err);
		return;
	}
	simulation.n_still++;
	wait_for_answer(&open, patience());
	simulation.n_still--;
	struct sched_handle *handle;
	err = finish(&open, epoch, position, label, &handle);
	script->next += err != -EINTR && !co_one_in(20);
	if (err)
		return;
	script->labels[place] = label;
	script->open[place] = handle;
}

static void rest(const struct script *script)
{
	if (!co_one_in(script->hurry))
		return;
	co_sleep(
		co_one_in(20) ? co_random(3000) * UINT64_C(1000000) : co_random(4000000));
}

static void read_job(struct script *script, struct sched_job *found)
{
	uint32_t n = sched_job_samples(found, 0);
	begin_pass(script, n);
	while (script->opens-- > 0 && !simulation.ending) {
		if (script->next >= n) {
			begin_pass(script, n);
			script->epoch += script->epoch + 1 < script->job->config.epochs;
		}
		read_one(script, found);
		rest(script);
	}
	for (unsigned i = 0; i < MOST_OPEN; i++)
		close_file(script, i);
}

static void *run_script(void *context)
{
	struct script *script = context;
	struct sched_job *found = sched_job_find(simulation.sched, script->job->name);
	script->generation = script->job->generation;
	if (found) {
		read_job(script, found);
		sched_job_put(found);
	}
	simulation.n_readers--;
	co_wake(&simulation.n_readers, true);
	return NULL;
}

static struct script scripts[MOST_READERS];
static int ids[MOST_READERS];
static unsigned n_ids;

void readers_start(void)
{
	unsigned n = 1 + co_random(MOST_READERS);
	unsigned most = co_one_in(4) ? 60 : 20;
	for (n_ids = 0; n_ids < n; n_ids++) {
		struct script *script = &scripts[n_ids];
		*script = (struct script){
			.job = &simulation.jobs[co_random(simulation.n_jobs)],
			.current = co_one_in(2),
			.number = 1 + n_ids,
			.script = 1 + co_random(n_ids + 1),
			.opens = 1 + co_random(most),
			.epoch = co_one_in(4) ? co_random(MOST_EPOCHS) : 0,
			.hurry = 1 + co_random(6)};
		simulation.n_readers++;
		ids[n_ids] = co_start(run_script, script);
	}
}

void readers_wait(void)
{
	while (simulation.n_readers > simulation.n_still)
		co_sleep(1000000);
}

void readers_wait_for_all(void)
{
	while (n_ids > 0)
		co_join(ids[--n_ids]);
}
