// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "coord_world.h"

#include <errno.h>
#include <netinet/in.h>

/* Faults that only a real server has: it dies, forgets, stops, or belongs to another program. */

static void run(const char *command)
{
	cr_assert_eq(system(command), 0, "%s", command);
}

static void copy(const struct world *world, const char *from, const char *to)
{
	char command[256];
	snprintf(command, sizeof(command), "cd %s && rm -rf %s && cp -a %s %s",
		world->server.directory, to, from, to);
	run(command);
}

static void begin(struct world *world, const char *fsync)
{
	world_begin(world, WORLD_REDIS);
	if (!fsync)
		return;
	redis_end(&world->server);
	redis_new(&world->server, fsync);
	world->ttl_ns *= 3; /* disks are slow */
}

static void start_nodes(struct world *world, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct world_node *node = world_start(world, i);
		cr_assert_eq(
			coord_add_job(node->coord, world_job(world, 0, 0, 120, 3, 6)), 0);
		world_take(node, 0, i);
	}
}

static bool all_fed(const struct world *world, uint32_t least)
{
	return world->nodes[0].fed >= least && world->nodes[1].fed >= least &&
	       world->nodes[2].fed >= least;
}

static uint64_t repairs_of(const struct world *world)
{
	uint64_t repairs = 0;
	for (unsigned i = 0; i < WORLD_NODES; i++)
		repairs += world_status(&world->nodes[i]).repairs;
	return repairs;
}

static void redis(const struct world *world, const char *command)
{
	char text[512];
	snprintf(text, sizeof(text), "redis-cli -s %s %s >/dev/null",
		world->server.socket, command);
	run(text);
}

#define NEEDS_SERVER                                                                     \
	if (!redis_is_there())                                                           \
	cr_skip_test("no redis-server")

Test(coord_redis, a_killed_server_whose_disk_is_whole_has_lost_nothing)
{
	struct world world;
	NEEDS_SERVER;
	begin(&world, "always");
	world.hold_epoch = 0;
	world.hold_position = 12;
	start_nodes(&world, 3);
	world_until(&world, all_fed(&world, 12));
	redis_kill(&world.server);
	world_until(&world, world_status(&world.nodes[1]).state == COORD_AWAY);
	cr_assert_not_null(
		strstr(world_status(&world.nodes[1]).message, "does not answer"));
	redis_start(&world.server, "always");
	world_until(&world, world_status(&world.nodes[1]).lives == 2);
	struct coord_rank_status status;
	world_until(&world,
		coord_rank_status(world.nodes[1].coord, "job0", 1, &status) == 0 &&
			status.committed == 12);
	world.hold_epoch = UINT32_MAX;
	world_until(&world, world_is_given(&world, 0, 1));
	cr_assert(world_is_given(&world, 0, 0));
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(world_status(&world.nodes[i]).rebound, 0);
	world_end(&world);
}

/* The server's disk goes back to a time before most of the epoch was drawn. */
Test(coord_redis, a_server_that_was_rolled_back_is_repaired)
{
	struct world world;
	NEEDS_SERVER;
	begin(&world, "everysec");
	world.hold_epoch = 0;
	world.hold_position = 4;
	start_nodes(&world, 3);
	world_until(&world, all_fed(&world, 4));
	copy(&world, "appendonlydir", "before");
	world.hold_position = 20;
	world_until(&world, all_fed(&world, 24));
	redis_kill(&world.server);
	copy(&world, "before", "appendonlydir");
	/* One of the nodes has died, too, and comes back in time with its journal. */
	world_kill(&world.nodes[2]);
	redis_start(&world.server, "everysec");
	world_start(&world, 2);
	cr_assert_eq(coord_add_job(world.nodes[2].coord, &world.facts[0]), 0);
	world_take(&world.nodes[2], 0, 2);
	world.hold_epoch = UINT32_MAX;
	world_until(&world, world_is_given(&world, 0, 1));
	cr_assert(world_is_given(&world, 0, 0));
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(world_status(&world.nodes[i]).rebound, 0);
	cr_assert_geq(repairs_of(&world), 1);
	world_end(&world);
}

/* The other nodes wait for three ttl, and then continue. The node that was away is told when it
 * comes back. */
Test(coord_redis, a_node_that_was_away_while_the_log_was_repaired_is_told)
{
	struct world world;
	NEEDS_SERVER;
	begin(&world, NULL);
	world.hold_epoch = 0;
	world.hold_position = 10;
	start_nodes(&world, 3);
	world_until(&world, all_fed(&world, 16));
	world.nodes[2].silent = true;
	uint64_t repairs = repairs_of(&world);
	redis_kill(&world.server);
	redis_start(&world.server, NULL);
	world_until(&world, repairs_of(&world) > repairs);
	world.nodes[2].silent = false;
	world_until(&world, world_status(&world.nodes[2]).rebound > 0);
	world.hold_epoch = UINT32_MAX;
	world_until(&world, world_is_given(&world, 0, 1));
	world_end(&world);
}

Test(coord_redis, a_server_that_does_not_answer_is_waited_for)
{
	struct world world;
	NEEDS_SERVER;
	begin(&world, NULL);
	start_nodes(&world, 1);
	struct world_node *node = &world.nodes[0];
	world_until(&world, world_status(node).state == COORD_LEADS);
	kill(world.server.pid, SIGSTOP);
	world_until(&world, world_status(node).state == COORD_AWAY);
	cr_assert_eq(world_status(node).away_errno, ETIMEDOUT);
	kill(world.server.pid, SIGCONT);
	world_until(&world, world_status(node).state == COORD_LEADS);
	cr_assert_eq(world_status(node).lives, 1);
	world_end(&world);
}

Test(coord_redis, a_server_that_is_emptied_while_it_runs_is_repaired)
{
	struct world world;
	NEEDS_SERVER;
	begin(&world, NULL);
	world.hold_epoch = 0;
	world.hold_position = 10;
	start_nodes(&world, 3);
	world_until(&world, all_fed(&world, 16));
	redis(&world, "FLUSHALL");
	world.hold_epoch = UINT32_MAX;
	world_until(&world, world_is_given(&world, 0, 1));
	cr_assert(world_is_given(&world, 0, 0));
	world_end(&world);
}

Test(coord_redis, a_group_of_another_version_is_refused)
{
	struct world world;
	NEEDS_SERVER;
	begin(&world, NULL);
	redis(&world, "SET '{group}:version' 1");
	struct world_node *node = world_start(&world, 0);
	world_until(&world, world_status(node).state == COORD_REFUSED);
	cr_assert_str_eq(world_status(node).message,
		"the group's version of the protocol is not 2, this node's");
	world_end(&world);
}

Test(coord_redis, groups_of_one_server_do_not_see_each_other)
{
	struct world world;
	char message[COORD_TEXT];
	struct coord_resp *other;
	struct coord_view view;
	NEEDS_SERVER;
	begin(&world, NULL);
	start_nodes(&world, 1);
	world_until(&world, world_is_given(&world, 0, 0) || world.nodes[0].fed > 0);
	cr_assert_eq(coord_resp_new(&(struct coord_server){.url = world.server.url},
			     "other", 1000, &other, message),
		0);
	const struct coord_engine *engine = coord_resp_engine(other);
	struct coord_node self = {.name = "node0", .incarnation = 5, .capacity = 1};
	const struct coord_beat beat = {.self = &self, .ttl_ms = 1000};
	cr_assert_eq(engine->beat(engine->context, &beat, &view), 0);
	struct coord_engine_jobs jobs;
	cr_assert_eq(engine->jobs(engine->context, view.run, &jobs), 0);
	cr_assert_eq(jobs.n, 0);
	cr_assert_eq(view.leader, 0);
	coord_engine_jobs_free(&jobs);
	coord_resp_free(&other);
	world_end(&world);
}

/* --- errors that are no fences ----------------------------------------------------------- */

/* A command changes the password file, and the message says what is wrong with it. */
static const struct {
	const char *command, *says;
} password_files[] = {
	{"rm", "No such file"},
	{"chmod 644", "any user may use the file (mode 644)"},
	{"truncate -s 0", "not a password"},
};

static void change_file(const char *command, const char *path)
{
	char text[256];
	snprintf(text, sizeof(text), "%s %s", command, path);
	run(text);
}

/* Sends a heartbeat. look: receives the group's nodes and jobs; NULL: not asked for. */
static int beat_as(struct coord_resp *resp, const char *name, struct coord_look *look)
{
	struct coord_node self = {.incarnation = 5, .capacity = 1};
	snprintf(self.name, sizeof(self.name), "%s", name);
	const struct coord_beat beat = {.self = &self, .ttl_ms = 1000, .look = look};
	struct coord_view view;
	const struct coord_engine *engine = coord_resp_engine(resp);
	return engine->beat(engine->context, &beat, &view);
}

Test(coord_redis, a_password_file_that_cannot_be_read_is_no_answer_of_the_engine)
{
	struct world world;
	char path[128], message[COORD_TEXT];
	struct coord_resp *resp;
	NEEDS_SERVER;
	begin(&world, NULL);
	redis(&world, "CONFIG SET requirepass hunter2");
	snprintf(path, sizeof(path), "%s/password", world.server.directory);
	change_file("umask 077; echo hunter2 >", path);
	const struct coord_server server = {
		.url = world.server.url, .password_file = path};
	cr_assert_eq(coord_resp_new(&server, "group", 1000, &resp, message), 0);
	const struct coord_engine *engine = coord_resp_engine(resp);
	for (size_t i = 0; i < sizeof(password_files) / sizeof(password_files[0]); i++) {
		change_file(password_files[i].command, path);
		cr_assert_eq(beat_as(resp, "node0", NULL), -ENOKEY);
		const char *said = engine->refused(engine->context);
		cr_expect_not_null(strstr(said, path), "%s", said);
		cr_expect_not_null(strstr(said, password_files[i].says), "%s", said);
		change_file("umask 077; echo hunter2 >", path);
		change_file("chmod 640", path);
		cr_assert_eq(beat_as(resp, "node0", NULL), 0);
		redis(&world, "-a hunter2 CLIENT KILL TYPE normal");
		cr_assert_lt(beat_as(resp, "node0", NULL), 0);
	}
	coord_resp_free(&resp);
	world_end(&world);
}

/* --- evicted keys ------------------------------------------------------------------------ */

/* Returns all keys, one on each line. */
static FILE *keys_of(const struct world *world)
{
	char command[256];
	snprintf(command, sizeof(command), "redis-cli -s %s keys '*' | sort",
		world->server.socket);
	FILE *in = popen(command, "r");
	cr_assert_not_null(in);
	return in;
}

/* Evicts the k-th key during the second epoch. false: there are fewer keys. */
static bool evict(struct world *world, unsigned k)
{
	char name[256] = "", command[320];
	FILE *in = keys_of(world);
	for (unsigned i = 0; i <= k; i++)
		if (!fgets(name, sizeof(name), in))
			name[0] = '\0';
	pclose(in);
	name[strcspn(name, "\n")] = '\0';
	if (!name[0])
		return false;
	fprintf(stderr, "evicted: %s\n", name);
	snprintf(command, sizeof(command), "DEL '%s'", name);
	redis(world, command);
	return true;
}

static void evict_each(unsigned first, unsigned step)
{
	bool more = true;
	for (unsigned k = first; more; k += step) {
		struct world world;
		begin(&world, NULL);
		world.hold_epoch = 1;
		world.hold_position = 20;
		start_nodes(&world, 3);
		world_until(&world,
			world_is_given(&world, 0, 0) && world_given_any(&world, 0, 1));
		more = evict(&world, k);
		world.hold_epoch = UINT32_MAX;
		world_until(&world, world_is_given(&world, 0, 2));
		cr_assert(world_is_given(&world, 0, 1));
		world_end(&world);
	}
}

Test(coord_redis, any_key_may_be_evicted)
{
	NEEDS_SERVER;
	evict_each(0, 3);
}

Test(coord_redis, any_key_may_be_evicted_second)
{
	NEEDS_SERVER;
	evict_each(1, 3);
}

Test(coord_redis, any_key_may_be_evicted_third)
{
	NEEDS_SERVER;
	evict_each(2, 3);
}

/* No node enters its job again meanwhile, so all keys that were evicted before stay away. */
Test(coord_redis, a_look_at_the_group_succeeds_whichever_keys_were_evicted)
{
	struct world world;
	char name[256], command[320], message[COORD_TEXT];
	struct coord_resp *resp;
	struct coord_look look = {0};
	NEEDS_SERVER;
	begin(&world, NULL);
	start_nodes(&world, 3);
	world_until(&world, world_given_any(&world, 0, 0));
	const struct coord_server server = {.url = world.server.url};
	cr_assert_eq(coord_resp_new(&server, "group", 1000, &resp, message), 0);
	cr_assert_eq(beat_as(resp, "looker", &look), 0);
	cr_assert_eq(look.jobs.n, 1);
	coord_look_free(&look);
	FILE *in = keys_of(&world);
	while (fgets(name, sizeof(name), in)) {
		name[strcspn(name, "\n")] = '\0';
		snprintf(command, sizeof(command), "DEL '%s'", name);
		redis(&world, command);
		cr_expect_eq(beat_as(resp, "looker", &look), 0, "%s", name);
		coord_look_free(&look);
	}
	pclose(in);
	coord_resp_free(&resp);
	world_end(&world);
}

/* Evicts all keys that match the pattern, or only the first one. */
static void evict_matching(const struct world *world, const char *pattern, bool all)
{
	char command[512];
	snprintf(command, sizeof(command),
		"redis-cli -s %s --scan --pattern '%s' | sort | %s | xargs redis-cli -s "
		"%s DEL | grep -q '[1-9]'",
		world->server.socket, pattern, all ? "cat" : "head -1",
		world->server.socket);
	run(command);
}

/* Node 2 begins epoch `epoch` late: its log was evicted, in part, before node 2 could read it. The
 * other two nodes are in epoch `others`. */
static void evict_unread(const char *pattern, uint32_t epoch, uint32_t others)
{
	struct world world;
	begin(&world, NULL);
	world.hold_epoch = epoch;
	world.hold_position = 1;
	start_nodes(&world, 3);
	struct world_node *late = &world.nodes[2];
	world_until(&world, late->consumed_epoch[0][2] == epoch);
	world_kill(late);
	late->consumed_epoch[0][2] = epoch; /* its reader is in this epoch */
	world.hold_epoch = others;
	world.hold_position = 10;
	world_until(&world, world.nodes[0].consumed_epoch[0][0] == others &&
				    world.nodes[0].consumed[0][0] == 10 &&
				    world.nodes[1].consumed_epoch[0][1] == others);
	for (uint32_t p = 2; p < JOURNAL_POSITIONS; p++)
		late->journal.ids[0][epoch][2][p] = SAMPLE_NONE;
	evict_matching(&world, pattern, false);
	late->consumed_epoch[0][2] = 0;
	world_start(&world, 2);
	cr_assert_eq(coord_add_job(late->coord, &world.facts[0]), 0);
	world_take(late, 0, 2);
	world.hold_epoch = UINT32_MAX;
	world_until(&world, world_is_given(&world, 0, others + 1));
	for (uint32_t e = 0; e <= others; e++)
		cr_assert(world_is_given(&world, 0, e), "epoch %u", e);
	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(world_status(&world.nodes[i]).rebound, 0);
	world_end(&world);
}

Test(coord_redis, a_list_of_chunks_that_was_evicted_before_a_rank_read_it_comes_back)
{
	NEEDS_SERVER;
	evict_unread("{group}:log:job0:1", 1, 1);
	evict_unread("{group}:log:job0:1", 1, 2);
}

Test(coord_redis, a_chunk_that_was_evicted_before_a_rank_read_it_comes_back)
{
	NEEDS_SERVER;
	evict_unread("{group}:log:job0:1:*", 1, 1);
	evict_unread("{group}:log:job0:1:*", 1, 2);
}

/* --- the number of requests -------------------------------------------------------------- */

/* Returns the number of the server's calls, without the calls by the test. */
static unsigned long calls_of(const struct world *world)
{
	char command[256];
	unsigned long calls = 0;
	snprintf(command, sizeof(command),
		"redis-cli -s %s info commandstats | "
		"sed -n 's/^cmdstat_[fx][cr]a[a-z]*:calls=\\([0-9]*\\),.*/\\1/p'",
		world->server.socket);
	FILE *in = popen(command, "r");
	for (unsigned long more; fscanf(in, "%lu", &more) == 1;)
		calls += more;
	pclose(in);
	return calls;
}

/* Three nodes whose ranks have read an epoch, and do not begin the next one. With a ttl of 5 s
 * they make as many calls as with 0.4 s; a node that is not the leader makes less than one call
 * per second. */
Test(coord_redis, nodes_whose_readers_pause_ask_rarely)
{
	struct world world;
	NEEDS_SERVER;
	begin(&world, NULL);
	world.hold_epoch = 0;
	start_nodes(&world, 3);
	world_until(&world, world_is_given(&world, 0, 0));
	world_pass(&world, 6 * world.ttl_ns);
	unsigned long before = calls_of(&world);
	world_pass(&world, 6 * world.ttl_ns);
	unsigned long calls = calls_of(&world) - before;
	cr_assert_geq(calls, 6 * 3, "%lu", calls); /* they are alive */
	cr_assert_leq(calls, 6 * 24, "%lu", calls);
	world.hold_epoch = UINT32_MAX;
	world_until(&world, world_is_given(&world, 0, 1));
	world_end(&world);
}

/* Redirects each client of the listening socket to the port. */
static void send_away(int listening, int port)
{
	char words[4096], reply[64];
	int n = snprintf(reply, sizeof(reply), "-MOVED 5 127.0.0.1:%d\r\n", port);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = accept(listening, NULL, NULL);
		if (read(fd, words, sizeof(words)) > 0)
			(void)!write(fd, reply, (size_t)n);
		close(fd);
	}
}

static int listen_somewhere(int *ret_port)
{
	struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t length = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&address, length), 0);
	cr_assert_eq(listen(fd, 4), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&address, &length), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

Test(coord_redis, a_group_that_moved_is_followed)
{
	struct world world;
	char command[64], url[64], message[COORD_TEXT];
	struct coord_resp *resp;
	struct coord_view view;
	struct coord_node self = {.name = "node0", .incarnation = 5, .capacity = 1};
	const struct coord_beat beat = {.self = &self, .ttl_ms = 1000};
	int port, from;
	NEEDS_SERVER;
	begin(&world, NULL);
	close(listen_somewhere(&port)); /* the port is free now */
	snprintf(command, sizeof(command), "CONFIG SET port %d", port);
	redis(&world, command);
	int listening = listen_somewhere(&from);
	pid_t other = fork();
	if (other == 0)
		send_away(listening, port);
	snprintf(url, sizeof(url), "redis://127.0.0.1:%d", from);
	cr_assert_eq(coord_resp_new(&(struct coord_server){.url = url}, "group", 2000,
			     &resp, message),
		0);
	const struct coord_engine *engine = coord_resp_engine(resp);
	cr_assert_eq(engine->beat(engine->context, &beat, &view), -ECONNRESET);
	cr_assert_eq(engine->beat(engine->context, &beat, &view), 0);
	cr_assert_not(view.ready);
	coord_resp_free(&resp);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
	close(listening);
	world_end(&world);
}

Test(coord_redis, addresses)
{
	static const char *const good[] = {"redis://localhost", "redis://localhost:6380",
		"redis://10.0.0.1:6380/", "redis://10.0.0.1:6380/3",
		"redis://:secret@host:1/0", "redis+unix:///run/x.sock",
		"redis+unix:///run/x.sock?2"};
	static const char *const bad[] = {"", "localhost", "http://localhost", "redis://",
		"redis://host:", "redis://host:70000", "redis://host:1/x",
		"redis://host:1/1x", "redis+unix://run", "redis+unix:///run?x"};
	char message[COORD_TEXT];
	struct coord_resp *resp;
	NEEDS_SERVER;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		cr_assert_eq(coord_resp_new(&(struct coord_server){.url = good[i]},
				     "group", 100, &resp, message),
			0, "%s", good[i]);
		coord_resp_free(&resp);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		cr_assert_eq(coord_resp_new(&(struct coord_server){.url = bad[i]},
				     "group", 100, &resp, message),
			-EINVAL, "%s", bad[i]);
		cr_assert_not_null(strstr(message, "allowed: redis[s]://"));
	}
	cr_assert_eq(coord_resp_new(&(struct coord_server){.url = good[0]}, "a group",
			     100, &resp, message),
		-EINVAL);
}
