// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/log.h"
#include "base/signals.h"
#include "group/group_internal.h"
#include "peer/peer_link.h"
#include "sched/ranks.h"
#include "stats/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <unistd.h>

/* The group's thread: passes changes from the scheduler to the coordinator, and back. */

#define ENGINE_TIMEOUT_MS 1000
#define BYTES_OF_ID 32 /* most bytes that a leader's samplers need for each id */

static uint64_t now_of_engine(void *context)
{
	(void)context;
	return clock_now_ns();
}

static void wake(void *context)
{
	const struct group *group = context;
	peer_wake(group->wake);
}

static void sleep_until(const struct group *group, uint64_t due_ns)
{
	uint64_t count;
	struct pollfd fd = {.fd = group->wake, .events = POLLIN};
	int ms = clock_ms_until(due_ns);
	if (poll(&fd, 1, ms > 1000 ? 1000 : ms) == 1)
		(void)!read(group->wake, &count, sizeof(count));
}

static void keep_status(struct group *group)
{
	LOCK_SCOPE(&group->lock);
	group->was = group->status;
	coord_status(group->coord, &group->status);
	size_t n;
	const struct coord_node *members = coord_members(group->coord, &n);
	group->n_members = n < GROUP_MEMBERS ? n : GROUP_MEMBERS;
	for (size_t i = 0; i < group->n_members; i++)
		group->members[i] = members[i];
	const struct coord_node *silent = coord_silent(group->coord, &n);
	group->n_silent = n < GROUP_SILENT ? n : GROUP_SILENT;
	for (size_t i = 0; i < group->n_silent; i++)
		group->silent[i] = silent[i];
}

static void count(const struct group *group)
{
	const struct coord_status *status = &group->status;
	stats_set(STAT_CLUSTER_REACHED,
		status->state == COORD_LEADS || status->state == COORD_FOLLOWS);
	stats_set(STAT_CLUSTER_LEADS, status->state == COORD_LEADS);
	stats_set(STAT_CLUSTER_TERM, status->term);
	stats_set(STAT_CLUSTER_MEMBERS, group->n_members);
	stats_set(STAT_CLUSTER_DRAWN, status->drawn);
	stats_set(STAT_CLUSTER_LAG, group_lag(group));
}

static void tell(const struct group *group)
{
	const struct coord_status *is = &group->status, *was = &group->was;
	if (!group->config->cluster.engine)
		return; /* a node without a group has no state to report */
	if (is->state == was->state && is->repairing == was->repairing)
		return;
	if (is->state == COORD_AWAY)
		log_warn("cluster: the engine can't be reached: %s%s%s; readers get the "
			 "samples drawn so far, then wait",
			strerror(is->away_errno), is->message[0] ? ": " : "",
			is->message);
	else if (is->state == COORD_REFUSED)
		log_error("cluster: %s", is->message);
	else if (was->state == COORD_AWAY)
		log_info("cluster: the engine can be reached again");
	if (is->state == COORD_LEADS && was->state != COORD_LEADS)
		log_info("cluster: this node leads, term %llu",
			(unsigned long long)is->term);
	if (is->lives < 2)
		/* This node has seen no restart of the engine, so there is no loss to report. */
		return;
	if (is->repairing && !was->repairing)
		log_warn(
			"cluster: the engine has lost data: its log is repaired from the "
			"nodes' journals");
	if (!is->repairing && was->repairing)
		log_info("cluster: the log is repaired");
}

static void be_patient(struct group *group)
{
	const struct cluster_config *config = &group->config->cluster;
	uint64_t since_ns = group->status.away_since_ns;
	bool gives_up = config->patience_s && since_ns &&
			clock_now_ns() - since_ns >= config->patience_s * SECOND_NS;
	if (gives_up && !group->gives_up)
		log_error("cluster: the engine has been unreachable for %" PRIu32
			  " s ([cluster] patience): until it is back, opens without a "
			  "drawn sample fail with ETIMEDOUT",
			config->patience_s);
	group->gives_up = gives_up;
	group_tell_away(group);
}

static void *run(void *context)
{
	struct group *group = context;
	while (!atomic_load(&group->stopping)) {
		group_sync(group);
		uint64_t due_ns = coord_step(group->coord, clock_now_ns());
		keep_status(group);
		tell(group);
		be_patient(group);
		size_t n;
		const struct coord_node *members = coord_members(group->coord, &n);
		peers_members(group->peers, members, n);
		group_look_at_jobs(group);
		count(group);
		sleep_until(group, due_ns);
	}
	group_commit(group);
	coord_leave(group->coord);
	return NULL;
}

static int make_engine(struct group *group, const struct cluster_config *config,
	const struct coord_engine **ret)
{
	char message[COORD_TEXT] = "";
	int err;
	if (!config->engine) {
		err = coord_local_new(now_of_engine, NULL, true, &group->local);
		if (!err)
			*ret = coord_local_engine(group->local);
		return err;
	}
	const struct coord_server server = {.url = config->engine,
		.password_file = config->engine_password_file,
		.ca = config->engine_ca,
		.cert = config->engine_cert,
		.key = config->engine_key};
	err = coord_resp_new(
		&server, config->group, ENGINE_TIMEOUT_MS, &group->resp, message);
	if (message[0])
		log_error("[cluster]:engine: %s", message);
	if (!err)
		*ret = coord_resp_engine(group->resp);
	return err;
}

static int random_number(uint64_t *ret)
{
	do
		if (getrandom(ret, sizeof(*ret), 0) != sizeof(*ret))
			return -EIO;
	while (*ret == 0);
	return 0;
}

static int name_self(const struct cluster_config *config, struct coord_node *ret)
{
	char host[HOST_NAME_MAX + 1] = "";
	*ret = (struct coord_node){.capacity = config->capacity};
	if (!config->node && gethostname(host, sizeof(host) - 1) != 0)
		return -errno;
	const char *name = config->node ? config->node : host;
	int n = snprintf(ret->name, sizeof(ret->name), "%s", name);
	return n < (int)sizeof(ret->name) ? random_number(&ret->incarnation)
					  : -ENAMETOOLONG;
}

static int make_coord(struct group *group, const struct daemon_config *config,
	struct dataset **datasets)
{
	const struct coord_engine *engine;
	struct coord_options options = {.ttl_ns = config->cluster.ttl_s * SECOND_NS,
		.most_ids = config->memory.most / BYTES_OF_ID,
		.calls = group_calls(group)};
	int err = name_self(&config->cluster, &group->self);
	if (!err && config->cluster.engine)
		group->self.before =
			incarnation_follow(config->state, group->self.incarnation);
	if (!err)
		err = random_number(&options.seed);
	bool begun = !err;
	if (!err)
		err = peers_new(
			config, datasets, group->sched, &group->self, &group->peers);
	options.self = group->self;
	if (!err)
		err = make_engine(group, &config->cluster, &engine);
	/* Errors other than -ENOMEM are mistakes in the ini, which were logged. */
	group->mistaken = begun && err && err != -ENOMEM;
	if (!err)
		err = coord_new(&options, engine, &group->coord);
	return err;
}

int group_new(const struct daemon_config *config, struct dataset **datasets,
	struct sched *sched, struct group **ret)
{
	struct group *group = calloc(1, sizeof(*group));
	*ret = NULL;
	if (!group)
		return -ENOMEM;
	group->config = config;
	group->sched = sched;
	group->began_ns = clock_now_ns();
	group->not_served = roaring_bitmap_create();
	TAILQ_INIT(&group->ranks);
	lock_init(&group->lock, LOCK_RANK_GROUP, "group");
	group->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int err = group->wake < 0      ? -errno
		  : !group->not_served ? -ENOMEM
				       : make_coord(group, config, datasets);
	if (!err)
		sched_on_news(sched, wake, group);
	if (err) {
		if (!group->mistaken)
			log_error("cluster: %s", strerror(-err));
		group_free(&group);
	}
	*ret = group;
	return err;
}

void group_add_dataset(struct group *group, struct dataset *dataset)
{
	int err = group && group->peers ? peers_share(group->peers, dataset) : 0;
	if (err)
		log_warn("dataset %s: its samples are not shared with other nodes: %s",
			dataset_name(dataset), strerror(-err));
}

void group_remove_dataset(struct group *group, const char *name)
{
	if (group && group->peers)
		peers_unshare(group->peers, name);
}

int group_start(struct group *group)
{
	int err = signals_thread(&group->thread, run, group);
	group->runs = err == 0;
	if (err)
		log_error("cluster: %s", strerror(-err));
	return err;
}

void group_free(struct group **group_pointer)
{
	struct group *group = *group_pointer;
	if (!group)
		return;
	atomic_store(&group->stopping, true);
	if (group->runs) {
		wake(group);
		pthread_join(group->thread, NULL);
	}
	peers_free(&group->peers);
	group_forget_ranks(group);
	coord_free(&group->coord);
	coord_local_free(&group->local);
	coord_resp_free(&group->resp);
	bitmap_free(&group->not_served);
	cleanup_close(&group->wake);
	lock_destroy(&group->lock);
	free(group);
	*group_pointer = NULL;
}
