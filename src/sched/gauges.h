// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/histogram.h"
#include "base/types.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "epoch/epoch.h"
#include "image/preparation.h"

/* How datasets, storages, the cache and jobs are; it changes nothing. */

struct sched;
struct sched_job; /* counted reference, see sched_job_find */
struct tier_status;

/* How long reading and preparing its samples took. */
struct sched_dataset_times {
	struct histogram_copy read, decode;
	uint64_t cpu_ns; /* processor time of all that was decoded */
};
bool sched_dataset_times(
	struct sched *sched, uint32_t number, struct sched_dataset_times *ret);

/* What the jobs of a dataset with one preparation read, all together. */
struct sched_prepared {
	char preparation[PREPARATION_TEXT];
	uint32_t jobs, samples;
	uint64_t sample_bytes; /* of a tensor, in the mean */
};
/* Those of a dataset; the caller frees *ret. Takes milliseconds with a million samples.
 * -ENOMEM */
must_check int sched_dataset_prepared(struct sched *sched, const struct dataset *dataset,
	struct sched_prepared **ret, size_t *ret_n);

/* Where the files of a dataset lie. */
struct sched_storage {
	const char *root;      /* of the first dataset on it */
	unsigned reads;	       /* in flight */
	unsigned most_reads;   /* that it rewards, as far as is known */
	uint64_t silent_ns;    /* since it has not answered; 0: it answers */
	uint64_t ended, bytes; /* reads that have, and their bytes; from a tier, too */
	uint64_t latency_ns;   /* of a read, in the mean of late */
};
/* The i-th one; false: there are not so many. */
bool sched_storage(struct sched *sched, size_t i, struct sched_storage *ret);
void sched_job_storage(struct sched_job *job, struct sched_storage *ret);

struct sched_job_share {
	double demand; /* samples per second that it could use, as far as is known */
	bool at_least; /* its readers never idle: it may be more */
	double wanted_part, granted_part; /* of all workers */
	double waiting; /* part of the last second in which a reader waited */
};

/* What readers wait for: waits.c. */
enum wait_cause {
	WAIT_STORAGE,
	WAIT_DECODING,
	WAIT_QUEUE,
	WAIT_FILE_SYSTEM,
	WAIT_CAUSES
};
const char *sched_wait_cause(enum wait_cause cause); /* "storage", ... */

/* A process that has read a job. */
#define SCHED_PROGRAMS 8
struct sched_program {
	long id;	 /* in /proc; 0: not known, and none follows */
	uint64_t number; /* reader.rank */
	uint64_t script; /* reader.script */
};
/* true: the process lives. Called by a thread that holds no lock. */
typedef bool sched_lives(const struct sched_program *program);
/* Has the scheduler ask `lives` once a second, for current/. Called before there are jobs. */
void sched_on_look(struct sched *sched, sched_lives *lives);
/* Looks at once: which scripts of current/ have ended is known afterwards. */
void sched_look(struct sched_job *job);
struct sched_job_status {
	bool started, running,
		parked_idle;		   /* running: an epoch has begun and not ended */
	uint32_t epoch;			   /* the running one, or the last */
	uint32_t samples, bound, consumed; /* of that epoch */
	uint32_t drawn;			   /* drawn ahead, not bound */
	uint32_t bad;			   /* samples that later epochs leave out */
	uint32_t skipped;		   /* those that this one does */
	uint64_t served, decoded, shared, hit, errors, waits,
		wait_ns; /* since it was added */
	/* Since then, the time in which a reader waited; of the file system the time that
	 * it took, of all readers together. */
	uint64_t exposed_ns[WAIT_CAUSES];
	uint64_t now_ns;    /* when all of this was so */
	uint64_t epoch_ns;  /* since the last epoch's first open, until now or its end */
	double waited_part; /* of that */
	uint64_t sample_bytes, all_bytes; /* of a tensor in the mean; of all together */
	double rate; /* samples consumed per second, over the last seconds */
	struct sched_job_share share;
	bool fixed;	  /* layout = classes: a file holds one sample in all epochs */
	unsigned notices; /* a bit for each enum notice that there was */
	uint64_t
		unfed_ns; /* for so long whoever feeds it can't; 0: it can, or is not fed */
	bool gives_up;	  /* so opens that find nothing fail */
	/* The processes that have read it, those of late first; without them nobody has since
	 * this daemon began. */
	struct sched_program programs[SCHED_PROGRAMS];
	uint64_t read_ns; /* since the last sample was read */
};
/* What a notice means for a training, and what to do. */
const char *sched_notice_text(enum notice notice);
void sched_job_status(struct sched_job *job, struct sched_job_status *ret);

/* Until the end of the running epoch at the rate of late; -1: not known. */
double sched_seconds_left(const struct sched_job_status *status);

/* One word: new, running, parked (it has read nothing for long), waiting (for its next
 * epoch) or finished. */
const char *sched_job_state(
	const struct job_config *config, const struct sched_job_status *status);

/* The dataset's tier, and its directory. false: it has none. */
bool sched_tier(struct sched *sched, const struct dataset *dataset,
	struct tier_status *ret, const char **ret_directory);

bool sched_job_tier(
	struct sched_job *job, struct tier_status *ret, const char **ret_directory);

/* --- laps: epochs that a job's readers have read to the end ----------------------------- */

#define SCHED_LAPS 12

/* What joaderctl explain needs to know of a job. Times are in ns. */
struct sched_laps {
	/* Its first open, and when a sample was consumed last, by clock_now_ns; 0: never. */
	uint64_t first_ns, last_ns;
	uint64_t n;	   /* laps so far */
	uint64_t ended_ns; /* the latest */
	/* The latest, and for how long their opens waited, of all readers together: the last one
	 * at (n - 1) % SCHED_LAPS. */
	uint64_t ns[SCHED_LAPS], waited_ns[SCHED_LAPS];
	/* The latest: */
	uint32_t epoch, samples;
	unsigned readers;  /* threads that opened files, at once in the mean */
	uint64_t pause_ns; /* between the lap before and this one */
	uint64_t exposed_ns[WAIT_CAUSES];
	uint64_t decoded, shared, hit;
	/* Processor time of readers, and samples that they were given for it, of all laps. */
	uint64_t cpu_ns, cpu_samples;
	/* The set of samples, and the tensors that are made of them. */
	bool drawn; /* by a sampler, not by the positions */
	uint32_t
		labels; /* that a script asks for one by one; 0: any sample at any time */
	uint64_t sample_bytes;
	enum sampler_kind sampler;
	double weight;
};
void sched_job_laps(struct sched_job *job, struct sched_laps *ret);

/* Samples that the same jobs have in the cache, prepared in the same way. */
struct sched_common {
	uint64_t jobs; /* a bit for each of the ids that were asked for */
	uint32_t samples;
};
#define SCHED_COMMON_JOBS 64
/* Of at most SCHED_COMMON_JOBS jobs; the caller frees *ret. Takes milliseconds with a million
 * samples. -ENOMEM */
must_check int sched_common(struct sched *sched, const job_id *ids, size_t n,
	struct sched_common **ret, size_t *ret_n);

/* --- trace: what a job's readers open and close --- */

enum sched_trace_kind {
	SCHED_TRACE_OPEN,  /* asked for */
	SCHED_TRACE_READY, /* answered */
	SCHED_TRACE_FAILED,
	SCHED_TRACE_RELEASE
};

struct sched_trace_event {
	uint64_t ns; /* clock_now_ns */
	enum sched_trace_kind kind;
	int status;	/* 0 or -errno */
	uint64_t open;	/* the number of the open; 0: it was before the trace */
	uint32_t epoch; /* SCHED_CURRENT: not known yet */
	uint32_t position;
	sample_id sample;   /* SAMPLE_NONE: likewise */
	uint64_t waited_ns; /* for its tensor */
};

/* From now on events are kept, until nobody has asked for a minute. *ret_next: the number of
 * the next one. -ENOMEM */
must_check int sched_trace_begin(struct sched_job *job, uint64_t *ret_next);
/* Up to `most` events from the number *from on, which then is that of the next one; how many.
 * *ret_lost: so many are gone that were between. */
uint32_t sched_trace_read(struct sched_job *job, uint64_t *from, uint64_t *ret_lost,
	struct sched_trace_event *ret, uint32_t most);

#define SCHED_NEEDS 5

struct sched_cache {
	uint64_t capacity;
	uint64_t held;	 /* ready tensors, and those on their way */
	uint64_t pinned; /* of these, drawn and not consumed, or open */
	/* eviction = refcnt: the others, by how many running epochs need them, the last one
	 * by that many and more. */
	bool by_need;
	uint64_t needed[SCHED_NEEDS];
};
void sched_cache(struct sched *sched, struct sched_cache *ret);

/* Publishes the gauges to stats. */
void sched_stats(struct sched *sched);
