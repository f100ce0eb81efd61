// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/histogram.h"
#include "base/types.h"
#include "config/config.h"
#include "dataset/dataset.h"
#include "epoch/epoch.h"
#include "image/preparation.h"
#include "watch/figures.h"

/* Gauges of datasets, storages, the cache and jobs. Reading them changes nothing. */

struct sched;
struct sched_job; /* references are counted: see sched_job_find */
struct tier_status;

/* durations, in ns per sample, of reading and decoding the samples of a dataset */
struct sched_dataset_times {
	struct histogram_copy read, decode;
	uint64_t cpu_ns; /* processor time of all decoding */
};
/* Describes the dataset of this number. Returns false if there is none. */
bool sched_dataset_times(
	struct sched *sched, uint32_t number, struct sched_dataset_times *ret);

/* the samples of a dataset that at least one job reads with this preparation */
struct sched_prepared {
	char preparation[PREPARATION_TEXT];
	uint32_t jobs, samples;
	uint64_t sample_bytes; /* mean size of a tensor */
};
/* Lists one entry for each preparation of the dataset's jobs; the caller frees *ret. Takes
 * milliseconds with a million samples. -ENOMEM */
must_check int sched_dataset_prepared(struct sched *sched, const struct dataset *dataset,
	struct sched_prepared **ret, size_t *ret_n);

/* A device or a server with files of datasets. */
struct sched_storage {
	const char *root;    /* root directory or URL of a dataset on this storage */
	unsigned reads;	     /* reads in flight */
	unsigned most_reads; /* limit of reads in flight; more seem to be no faster */
	/* time since the oldest read began, if the storage does not answer; 0: it answers */
	uint64_t silent_ns;
	uint64_t ended, bytes; /* completed reads (also from a tier), and their bytes */
	uint64_t latency_ns;   /* mean duration of recent reads */
};
/* Describes storage i. Returns false if there are fewer storages. */
bool sched_storage(struct sched *sched, size_t i, struct sched_storage *ret);
/* Describes a storage of the job's datasets, if possible one that does not answer. */
void sched_job_storage(struct sched_job *job, struct sched_storage *ret);

struct sched_job_share {
	double demand; /* estimated samples per second that the job could use */
	/* a reader waited nearly all the last second, so the job may need more than `demand` */
	bool at_least;
	/* Parts (0 to 1) of the time of all decoders. wanted_part: what the job could use.
	 * granted_part: what the job gets. */
	double wanted_part, granted_part;
	double waiting; /* part of the last second during which a reader waited */
};

/* Returns the cause as one word, such as "storage". */
const char *sched_wait_cause(enum wait_cause cause);

#define SCHED_PROGRAMS 8
/* A process that has read files of a job. */
struct sched_program {
	long id; /* process id in /proc; 0: this entry and the later ones are empty */
	/* number of the process in the job's engine (struct reader, `rank`) */
	uint64_t number;
	/* number of the process's script in the job's engine (struct reader, `script`) */
	uint64_t script;
};
/* Tells whether the process lives. The scheduler holds no lock when it calls this. */
typedef bool sched_lives(const struct sched_program *program);
/* Makes the scheduler ask `lives` once a second which processes have ended: the epoch of current/
 * depends on the processes that live. Must be called before jobs are added. */
void sched_on_look(struct sched *sched, sched_lives *lives);
/* Asks `lives` at once about the job's processes, and tells the job's engine which scripts have
 * ended. */
void sched_look(struct sched_job *job);
#define SCHED_WAIT_TEXT 160 /* size of sched_job_status.waits_why, with the final 0 */

struct sched_job_status {
	bool started;	  /* an epoch has begun */
	bool running;	  /* an epoch has begun and not ended */
	bool parked_idle; /* no program has read the epoch for a long time */
	uint32_t epoch;	  /* the running epoch, or the last one */
	/* numbers of samples of `epoch`: in total, bound, consumed */
	uint32_t samples, bound, consumed;
	uint32_t drawn;	  /* samples drawn ahead, but not bound */
	uint32_t bad;	  /* bad samples that later epochs leave out */
	uint32_t skipped; /* bad samples that `epoch` leaves out */
	/* totals since the job was added. served: samples that readers got. decoded, shared, hit:
	 * bound samples, by enum served. errors: opens whose sample could not be prepared. waits:
	 * opens that waited. wait_ns: sum of these waits */
	uint64_t served, decoded, shared, hit, errors, waits, wait_ns;
	/* waits of readers by cause, since the job was added; simultaneous waits count once. The
	 * element WAIT_FILE_SYSTEM is another sum: the times to answer all opens. */
	uint64_t exposed_ns[WAIT_CAUSES];
	uint64_t now_ns; /* time of this status */
	/* Duration of the latest epoch, from its first open on: until now if a reader waits for a
	 * tensor, otherwise until the job's most recent consumption of a sample. */
	uint64_t epoch_ns;
	double waited_part; /* part of epoch_ns during which readers waited */
	/* sample_bytes: mean size of a tensor. all_bytes: size of all tensors together */
	uint64_t sample_bytes, all_bytes;
	double rate; /* samples consumed per second, in the last RATE_SECONDS (watch.h) */
	struct sched_job_share share;
	bool fixed; /* layout = classes: a file holds the same sample in all epochs */
	unsigned notices; /* Bit n is set if the user has got notice n of enum notice. */
	/* for how long the coordinator (ranks.h) can't be reached; 0: it can be, or the job is no
	 * rank */
	uint64_t unfed_ns;
	bool gives_up; /* An open fails if the feed has no sample for it. */
	/* why the training's next epoch does not begin; "": nothing holds it back */
	char waits_why[SCHED_WAIT_TEXT];
	/* processes that have read the job since this daemon started, the latest first */
	struct sched_program programs[SCHED_PROGRAMS];
	/* time since a sample was last consumed (layout = mirror: read), or the latest epoch was
	 * first opened, whichever was later; 0: nothing was opened yet */
	uint64_t read_ns;
};
void sched_job_status(struct sched_job *job, struct sched_job_status *ret);

/* Estimates the seconds until the running epoch ends, from status->rate; -1: not known, or no epoch
 * runs. */
double sched_seconds_left(const struct sched_job_status *status);

/* Returns new, running, parked (not read for long), waiting (for its next epoch) or finished. */
const char *sched_job_state(
	const struct job_config *config, const struct sched_job_status *status);

/* Describes the tier of the dataset. *ret_directory: the directory that the dataset has in the
 * tier. Returns false if the dataset has no tier. */
bool sched_tier(struct sched *sched, const struct dataset *dataset,
	struct tier_status *ret, const char **ret_directory);

/* Describes the first tier of the job's datasets. Returns false if there is none. */
bool sched_job_tier(
	struct sched_job *job, struct tier_status *ret, const char **ret_directory);

/* Copies the last hour of all jobs; the caller frees *ret. -ENOMEM */
must_check int sched_past(struct sched *sched, struct last_hour **ret);

/* --- laps: epochs that a job's readers have read to the end ----------------------------- */

void sched_job_laps(struct sched_job *job, struct sched_laps *ret);

/* A set of the jobs that sched_common compares, and the number of samples that exactly these jobs
 * read with the same preparation. */
struct sched_common {
	uint64_t jobs; /* Bit i: the job ids[i] reads the samples. */
	uint32_t samples;
};
#define SCHED_COMMON_JOBS 64
/* Counts, for each set of the n jobs (at most SCHED_COMMON_JOBS), the samples that exactly these
 * jobs read. The caller frees *ret. Takes milliseconds with a million samples. -ENOMEM */
must_check int sched_common(struct sched *sched, const job_id *ids, size_t n,
	struct sched_common **ret, size_t *ret_n);

/* Starts a trace, if there is none. Events are kept until no client has read them for a minute.
 * *ret_next: number of the next event. -ENOMEM */
must_check int sched_trace_begin(struct sched_job *job, uint64_t *ret_next);
/* Reads up to `most` events from number *from on, advances *from, and returns how many were read.
 * *ret_lost: number of earlier events that are no longer kept. */
uint32_t sched_trace_read(struct sched_job *job, uint64_t *from, uint64_t *ret_lost,
	struct sched_trace_event *ret, uint32_t most);

#define SCHED_NEEDS 5

struct sched_cache {
	uint64_t capacity;
	uint64_t held;	 /* bytes of ready or loading tensors */
	uint64_t pinned; /* bytes of tensors that are open, or drawn and not consumed */
	/* by_need: eviction = refcnt; otherwise `needed` is not set. needed[i]: bytes of unpinned
	 * ready tensors that i running epochs need; the last element: i or more epochs. */
	bool by_need;
	uint64_t needed[SCHED_NEEDS];
};
void sched_cache(struct sched *sched, struct sched_cache *ret);

/* Copies the gauges to the counters of src/stats. */
void sched_stats(struct sched *sched);
