// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "../sched_bind.h"
#include "../tiny_dataset.h"
#include "control/control.h"
#include "sched/jobs.h"
#include "sched/sched.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define REQUEST_MAX (1u << 20)

/* A daemon without a mount: one dataset of six images, no job. */
static char *directory;
static struct daemon_config config;
static struct dataset_config dataset_config;
static struct dataset *dataset;
static struct sched *sched;
static struct files_context context;
static struct control *control;

static void setup(void)
{
	directory = tiny_directory();
	dataset_config = (struct dataset_config){.name = strdup("flowers"),
		.path = tiny_path(directory, "flowers"),
		.extensions = strdup("png")};
	tiny_dataset(dataset_config.path, 2, 6, 8);
	config = (struct daemon_config){.cache_bytes = 1 << 20,
		.eviction = EVICTION_REFCNT,
		.sampler = SAMPLER_DSA,
		.workers = 1,
		.seed = 1,
		.state = tiny_path(directory, "state"),
		.socket = tiny_path(directory, "socket"),
		.datasets = &dataset_config,
		.n_datasets = 1};
	cr_assert_eq(mkdir(config.state, 0755), 0);
	cr_assert_eq(dataset_open(&dataset_config, config.state, NULL, &dataset), 0);
	cr_assert_eq(sched_new(&config, &dataset, 1, &sched), 0);
	context = (struct files_context){
		.config = &config, .sched = sched, .mountpoint = "/nowhere"};
}

static void setup_and_serve(void)
{
	setup();
	cr_assert_eq(control_new(&context, NULL, &control), 0);
}

static void teardown(void)
{
	control_free(&control);
	sched_stop(sched);
	sched_free(&sched);
	dataset_close(&dataset);
	tiny_remove(directory);
	free(dataset_config.name);
	free(dataset_config.path);
	free(dataset_config.extensions);
	free(config.state);
	free(config.socket);
	free(directory);
}

/* --- a client ---------------------------------------------------------------------- */

static struct sockaddr_un address(void)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	snprintf(a.sun_path, sizeof(a.sun_path), "%s", config.socket);
	return a;
}

static int connected(void)
{
	struct sockaddr_un a = address();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Receives all bytes until the end. The caller frees them. */
static char *received(int fd)
{
	char *text;
	size_t bytes;
	FILE *all = open_memstream(&text, &bytes);
	char part[4096];
	ssize_t n;
	while ((n = recv(fd, part, sizeof(part), 0)) > 0)
		fwrite(part, 1, (size_t)n, all);
	fclose(all);
	close(fd);
	return text;
}

static void send_bytes(int fd, const char *data, size_t bytes)
{
	while (bytes > 0) {
		ssize_t n = send(fd, data, bytes, MSG_NOSIGNAL);
		if (n < 0)
			return; /* refused: the answer says why */
		data += n;
		bytes -= (size_t)n;
	}
}

static char *answer_to(const char *request, size_t bytes)
{
	int fd = connected();
	send_bytes(fd, request, bytes);
	shutdown(fd, SHUT_WR);
	return received(fd);
}

/* Appends the texts of the frames. Returns the word of the last frame. */
static const char *unframed(const char *answer, char *text, size_t room)
{
	static char word[8];
	size_t said;
	int head;
	text[0] = '\0';
	strcpy(word, "more");
	while (strcmp(word, "more") == 0) {
		cr_assert_eq(sscanf(answer, "%7s %zu%n", word, &said, &head), 2,
			"no answer: %s", answer);
		cr_assert_eq(answer[head], '\n');
		answer += head + 1;
		cr_assert_leq(said, strlen(answer));
		cr_assert_lt(strlen(text) + said, room);
		strncat(text, answer, said);
		answer += said;
	}
	cr_assert_str_eq(answer, "");
	return word;
}

/* Returns the text of the answer. '|' separates the arguments. */
static const char *ask(const char *arguments, bool expect_ok)
{
	static char text[65536];
	auto_free char *request = strdup(arguments);
	size_t bytes = strlen(request) + 1;
	for (char *bar = request; (bar = strchr(bar, '|')); bar++)
		*bar = '\0';
	auto_free char *answer = answer_to(request, bytes);
	const char *word = unframed(answer, text, sizeof(text));
	cr_assert_str_eq(word, expect_ok ? "ok" : "error", "%s: %s", arguments, text);
	return text;
}

#define ASK(arguments) ask(arguments, true)
#define REFUSED(arguments) ask(arguments, false)

static void contains(const char *text, const char *part)
{
	cr_assert(strstr(text, part), "\"%s\" is not in \"%s\"", part, text);
}

#define JOB_INI                                                                          \
	"[job]\nname = alpha\ndataset = flowers\nepochs = 2\n"                           \
	"[tensor]\nresize = 4x4\n"

/* --- requests ---------------------------------------------------------------------- */

Test(control, a_job_lives_from_add_to_rm, .init = setup_and_serve, .fini = teardown)
{
	cr_assert_str_eq(ASK("ls"),
		"NAME  DATASET  STATE  EPOCH  PROGRESS  MAPPING  RATE  DEMAND  SHARE  "
		"WAITED  PREPARED/SERVED  OWNER\n");
	cr_assert_str_eq(ASK("status"), "");
	contains(ASK("add|alpha.ini|" JOB_INI), "added alpha\n");
	cr_assert_str_eq(ASK("ls"),
		"NAME   DATASET  STATE  EPOCH  PROGRESS  MAPPING  RATE  DEMAND  SHARE  "
		"WAITED  PREPARED/SERVED  OWNER\n"
		"alpha  flowers  new    -      -         -        -     -       -      "
		"-       -                root\n");
	contains(ASK("status"), "job alpha\n");
	contains(REFUSED("order|alpha"), "has not begun its first epoch");

	struct sched_job *job = sched_job_find(sched, "alpha");
	sample_id id;
	cr_assert_eq(sched_bind(job, 0, 3, &id), 0);
	sched_job_put(job);
	contains(ASK("ls"),
		"alpha  flowers  running  0      0/6 0%    -        -     -       -      "
		"0%      1/0              ");
	contains(ASK("status|alpha"), "state running\n");
	cr_assert_eq(strncmp(ASK("order|alpha"), "3\t", 2), 0);
	cr_assert_eq(strncmp(ASK("order|alpha|0"), "3\t", 2), 0);

	contains(ASK("rm|alpha"), "removed alpha\n");
	cr_assert_null(sched_job_find(sched, "alpha"));
}

Test(control, texts_of_the_daemon, .init = setup_and_serve, .fini = teardown)
{
	contains(ASK("stats"), "jobs 0\n");
	contains(ASK("datasets"), "name flowers\n");
	contains(ASK("datasets|flowers"), "name flowers\n");
	contains(REFUSED("datasets|flower"), "no dataset flower, did you mean flowers?");
	contains(REFUSED("datasets|x"),
		"no dataset x; \"joaderctl datasets\" lists all datasets");
}

Test(control, a_mistake_is_answered_with_what_is_near, .init = setup_and_serve,
	.fini = teardown)
{
	contains(REFUSED("statsu"), "did you mean stats?");
	contains(REFUSED("x"), "add rm restore export mount grant revoke ls cluster "
			       "cluster-forget cluster-resize status order "
			       "stats trace top explain dataset datasets");
	contains(REFUSED("ls|more"), "usage: ls\n");
	contains(REFUSED("order"), "usage: order JOB [EPOCH]\n");
	contains(REFUSED("rm|a|b|c|d|e"), "usage: rm JOB\n");
	contains(REFUSED("rm|alhpa"), "no job alhpa: the daemon has no job");

	ASK("add|alpha.ini|" JOB_INI);
	contains(REFUSED("rm|alhpa"), "did you mean alpha?");
	contains(REFUSED("status|alhpa"), "did you mean alpha?");
	contains(REFUSED("order|alhpa"), "did you mean alpha?");
	contains(ASK("add|alpha.ini|" JOB_INI), "alpha is there already");
	contains(REFUSED("add|alpha.ini|" JOB_INI "crop = 2\n"),
		"a running job without \"crop = 2x2\"");

	struct sched_job *job = sched_job_find(sched, "alpha");
	sample_id id;
	cr_assert_eq(sched_bind(job, 0, 0, &id), 0);
	sched_job_put(job);
	contains(REFUSED("order|alpha|1"),
		"has not begun epoch 1, its running epoch is 0");
	contains(REFUSED("order|alpha|2"), "has no epoch 2, its last epoch is 1");
	contains(REFUSED("order|alpha|-1"),
		"found \"-1\", allowed: the number of an epoch");
	contains(REFUSED("order|alpha|99999999999999999999999"),
		"allowed: the number of an epoch");
}

Test(control, a_refused_ini_is_answered_with_all_its_mistakes, .init = setup_and_serve,
	.fini = teardown)
{
	const char *text = REFUSED("add|b.ini|[job]\nname = b\ndataset = flowers\n"
				   "epocs = 3\nidle = never\n");
	contains(text, "b.ini");
	contains(text, "epocs");
	contains(text, "epochs");
	contains(text, "idle");
	text = REFUSED("add|b.ini|[job]\nname = b\ndataset = flovers\nepochs = 1\n");
	contains(text, "flovers");
	contains(text, "flowers");
	cr_assert_null(sched_job_find(sched, "b"));
}

/* --- the wire ---------------------------------------------------------------------- */

Test(control, a_request_may_come_in_pieces, .init = setup_and_serve, .fini = teardown)
{
	static const char request[] = "rm\0nobody";
	int fd = connected();
	for (size_t i = 0; i < sizeof(request); i++) {
		send_bytes(fd, request + i, 1);
		usleep(1000);
	}
	shutdown(fd, SHUT_WR);
	auto_free char *answer = received(fd);
	contains(answer, "no job nobody");
}

Test(control, what_is_no_request_is_refused, .init = setup_and_serve, .fini = teardown)
{
	auto_free char *cut = answer_to("ls", 2);
	contains(cut, "cut off");
	auto_free char *empty = answer_to("", 1);
	contains(empty, "error ");
	/* the client connected and sent nothing */
	auto_free char *nothing = answer_to("", 0);
	cr_assert_str_eq(nothing, "");
	ASK("ls");
}

Test(control, a_request_has_a_largest_size, .init = setup_and_serve, .fini = teardown)
{
	auto_free char *request = malloc(2 * REQUEST_MAX);
	memset(request, 'x', 2 * REQUEST_MAX);
	request[2] = request[REQUEST_MAX - 1] = '\0';
	memcpy(request, "rm", 2);
	auto_free char *largest = answer_to(request, REQUEST_MAX);
	contains(largest, "no job xxxx");
	request[REQUEST_MAX - 1] = 'x';
	request[REQUEST_MAX] = '\0';
	auto_free char *larger = answer_to(request, REQUEST_MAX + 1);
	contains(larger, "larger than 1 MiB");
	auto_free char *twice = answer_to(request, 2 * REQUEST_MAX);
	contains(twice, "larger than 1 MiB");
}

Test(control, nobody_waits_for_a_silent_client, .init = setup_and_serve, .fini = teardown)
{
	int silent = connected(), empty = connected();
	send_bytes(silent, "l", 1);
	int gone = connected();
	close(gone);
	ASK("ls");
	send_bytes(silent, "s", 2);
	shutdown(silent, SHUT_WR);
	auto_free char *answer = received(silent);
	contains(answer, "NAME  DATASET");
	close(empty);
}

Test(control, the_one_that_is_silent_longest_makes_room, .init = setup_and_serve,
	.fini = teardown)
{
	int silent[257];
	for (size_t i = 0; i < 257; i++) {
		silent[i] = connected();
		if (i == 255)
			send_bytes(silent[0], "l", 1);
	}
	auto_free char *told = received(silent[1]);
	contains(told, "allowed: 256 clients");
	send_bytes(silent[0], "s", 2);
	shutdown(silent[0], SHUT_WR);
	auto_free char *answer = received(silent[0]);
	contains(answer, "NAME  DATASET");
	for (size_t i = 2; i < 257; i++)
		close(silent[i]);
}

/* 100 clients send requests of 1 MiB without an end. The daemon keeps 32 MiB of them. */
Test(control, requests_have_a_largest_size_together, .init = setup_and_serve,
	.fini = teardown)
{
	auto_free char *most = calloc(1, REQUEST_MAX);
	int fd[100];
	for (size_t i = 0; i < 100; i++) {
		fd[i] = connected();
		send_bytes(fd[i], most, REQUEST_MAX);
	}
	ASK("ls");
	auto_free char *told = received(fd[0]);
	contains(told, "33554432 bytes");
	for (size_t i = 1; i < 100; i++)
		close(fd[i]);
}

Test(control, the_end_waits_for_no_client, .init = setup_and_serve, .fini = teardown)
{
	int silent = connected();
	send_bytes(silent, "l", 1);
	control_free(&control);
	auto_free char *answer = received(silent);
	cr_assert_str_eq(answer, "");
}

/* --- the socket file --------------------------------------------------------------- */

static bool exists(void)
{
	return access(config.socket, F_OK) == 0;
}

Test(control, the_socket_is_only_for_its_user, .init = setup, .fini = teardown)
{
	struct stat st;
	mode_t before = umask(0);
	cr_assert_eq(control_new(&context, NULL, &control), 0);
	umask(before);
	cr_assert_eq(lstat(config.socket, &st), 0);
	cr_assert(S_ISSOCK(st.st_mode));
	cr_assert_eq(st.st_mode & 07777, 0600);
	control_free(&control);
	cr_assert_not(exists());
}

Test(control, a_stale_socket_is_replaced, .init = setup, .fini = teardown)
{
	struct sockaddr_un a = address();
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	cr_assert_eq(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	close(fd);
	cr_assert(exists());
	cr_assert_eq(control_new(&context, NULL, &control), 0);
	ASK("ls");
}

Test(control, a_live_socket_is_left_alone, .init = setup_and_serve, .fini = teardown)
{
	struct control *second = NULL;
	cr_assert_eq(control_new(&context, NULL, &second), -EADDRINUSE);
	cr_assert_null(second);
	ASK("ls");
}

Test(control, a_file_that_is_no_socket_is_left_alone, .init = setup, .fini = teardown)
{
	cr_assert_eq(symlink("/nowhere", config.socket), 0);
	cr_assert_eq(control_new(&context, NULL, &control), -EEXIST);
	cr_assert_null(control);
	struct stat st;
	cr_assert_eq(lstat(config.socket, &st), 0);
}

Test(control, a_socket_that_took_its_place_stays, .init = setup_and_serve,
	.fini = teardown)
{
	struct control *second = NULL;
	cr_assert_eq(unlink(config.socket), 0);
	cr_assert_eq(control_new(&context, NULL, &second), 0);
	control_free(&control);
	cr_assert(exists());
	ASK("ls");
	control_free(&second);
	cr_assert_not(exists());
}

Test(control, a_path_that_is_too_long_is_refused, .init = setup, .fini = teardown)
{
	free(config.socket);
	config.socket = malloc(201);
	memset(config.socket, 'x', 200);
	config.socket[200] = '\0';
	cr_assert_eq(control_new(&context, NULL, &control), -ENAMETOOLONG);
}

/* --- descriptors ------------------------------------------------------------------- */

/* Sends the end of a pipe with the request. Returns true if the other end still has a reader. */
static bool keeps_descriptor(const char *request, size_t bytes)
{
	int ends[2], fd = connected();
	union {
		char space[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} rights = {.space = {0}};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)request, .iov_len = bytes};
	struct msghdr message = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &rights,
		.msg_controllen = sizeof(rights.space)};
	struct cmsghdr *head = CMSG_FIRSTHDR(&message);
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	*head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
		.cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(int))};
	memcpy(CMSG_DATA(head), &ends[0], sizeof(int));
	cr_assert_eq(sendmsg(fd, &message, MSG_NOSIGNAL), (ssize_t)bytes);
	close(ends[0]);
	shutdown(fd, SHUT_WR);
	free(received(fd));
	bool kept = write(ends[1], "", 1) == 1;
	close(ends[1]);
	return kept;
}

Test(control, a_descriptor_that_is_no_use_is_closed, .init = setup_and_serve,
	.fini = teardown)
{
	signal(SIGPIPE, SIG_IGN);
	cr_assert_not(keeps_descriptor("ls", 3));
	cr_assert_not(keeps_descriptor("mount\0alpha", 12));
	cr_assert_not(keeps_descriptor("no request", 10));
}

Test(control, without_a_mount_there_are_no_further_ones, .init = setup_and_serve,
	.fini = teardown)
{
	contains(REFUSED("mount|alpha"), "the daemon has no mount");
	contains(REFUSED("mount"), "usage: mount JOB");
}
