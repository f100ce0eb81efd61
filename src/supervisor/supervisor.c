// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "supervisor/supervisor.h"
#include "base/background.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "base/kept.h"
#include "base/log.h"
#include "base/supervised.h"
#include "supervisor/notify.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define DEATHS 5
#define DEATHS_NS UINT64_C(60000000000)
#define FIRST_PAUSE_NS UINT64_C(100000000)
#define SICK_PAUSE_NS UINT64_C(1000000000)
/* An engine increases kept->beats every second, even on a busy machine. It is killed after
 * SILENT_CHECKS checks without a change. Checks are counted, and not seconds, because the machine
 * may be suspended: then the engine does not beat, and the supervisor does not check. */
#define CHECK_NS UINT64_C(5000000000)
#define SILENT_CHECKS 12

static const char this_program[] = "/proc/self/exe";

struct supervisor {
	const struct supervisor_config *config;
	struct kept *kept;
	int page, socket, engines_socket, signals;
	/* signal mask that the supervisor started with; engines get it, too */
	sigset_t mask;
	pid_t engine;	   /* pid of the engine; 0: none is running */
	bool ready;	   /* the present engine has reported that it serves the mount */
	bool served;	   /* an engine has reported that it serves the mount */
	bool ending;	   /* a signal has asked the daemon to end */
	uint64_t start_ns; /* time at which to start the next engine; 0: none */
	uint64_t deaths[DEATHS];
	unsigned n_deaths; /* number of deaths by the engines' own fault */
	uint64_t check_ns; /* time of the next check of kept->beats; 0: never */
	uint64_t beats;	   /* kept->beats at the last check */
	unsigned n_silent; /* number of successive checks that found `beats` unchanged */
	struct notifier notifier;
};

static _Noreturn void become_engine(struct supervisor *supervisor, pid_t parent)
{
	struct kept *kept = supervisor->kept;
	char *const *arguments = supervisor->served ? supervisor->config->again
						    : supervisor->config->first;
	const char *program = kept->program[0] ? kept->program : this_program;
	/* The engine inherits descriptors without the flag FD_CLOEXEC. */
	fcntl(supervisor->engines_socket, F_SETFD, 0);
	fcntl(supervisor->page, F_SETFD, 0);
	for (uint32_t i = 0; i < KEPT_DESCRIPTORS; i++) {
		int fd = atomic_load(&kept->descriptors[i].fd);
		if (fd > 0)
			fcntl(fd, F_SETFD, 0);
	}
	/* a new session, so that the terminal sends its signals only to the supervisor */
	setsid();
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(EXIT_FAILURE);
	sigprocmask(SIG_SETMASK, &supervisor->mask, NULL);
	execv(program, arguments);
	_exit(EXIT_FAILURE);
}

static void start_engine(struct supervisor *supervisor)
{
	pid_t self = getpid();
	supervisor->ready = false;
	supervisor->check_ns = 0;
	atomic_store(&supervisor->kept->beats, 0);
	atomic_store(&supervisor->kept->blamed, false);
	supervisor->engine = fork();
	if (supervisor->engine == 0)
		become_engine(supervisor, self);
	if (supervisor->engine > 0) {
		atomic_fetch_add(&supervisor->kept->lives, 1);
		supervisor->start_ns = 0;
	} else { /* fork has failed, perhaps for lack of memory: try later */
		supervisor->engine = 0;
		supervisor->start_ns = clock_now_ns() + SICK_PAUSE_NS;
	}
}

static uint64_t pause_between_checks(void)
{
	return fault_hit("supervisor.patience") ? CHECK_NS / 10 : CHECK_NS;
}

static void begin_checks(struct supervisor *supervisor)
{
	supervisor->n_silent = 0;
	if (supervisor->config->watches)
		supervisor->check_ns = clock_now_ns() + pause_between_checks();
}

static void check_beats(struct supervisor *supervisor)
{
	uint64_t now_ns = clock_now_ns();
	uint64_t beats = atomic_load(&supervisor->kept->beats);
	if (!supervisor->engine || !supervisor->check_ns || now_ns < supervisor->check_ns)
		return;
	bool silent = beats != 0 && beats == supervisor->beats;
	supervisor->n_silent = silent ? supervisor->n_silent + 1 : 0;
	supervisor->beats = beats;
	supervisor->check_ns = now_ns + pause_between_checks();
	if (supervisor->n_silent < SILENT_CHECKS)
		return;
	supervisor->n_silent = 0;
	atomic_store(&supervisor->kept->hung, true);
	kill(supervisor->engine, SIGKILL);
}

static void keep(struct supervisor *supervisor, uint32_t place, int fd)
{
	struct kept_descriptor *kept = &supervisor->kept->descriptors[place];
	int before = atomic_exchange(&kept->fd, fd);
	if (before > 0)
		close(before);
}

static void obey(
	struct supervisor *supervisor, const struct supervised_message *message, int fd)
{
	bool has_place = message->place < KEPT_DESCRIPTORS;
	if (message->order == SUPERVISED_KEEP && has_place && fd > 0) {
		keep(supervisor, message->place, fd);
		return;
	}
	if (fd >= 0)
		close(fd);
	if (message->order == SUPERVISED_DROP && has_place)
		keep(supervisor, message->place, 0);
	if (message->order != SUPERVISED_READY)
		return;
	supervisor->ready = true;
	begin_checks(supervisor);
	if (!supervisor->served) {
		background_ready();
		/* The engine has sent a copy to keep, so the supervisor has the device twice. */
		if (supervisor->config->device)
			close(supervisor->config->device);
	}
	notifier_ready(&supervisor->notifier);
	supervisor->served = true;
}

/* Takes one message from the engine, and obeys it. Returns false if there is none. */
static bool take_message(struct supervisor *supervisor)
{
	struct supervised_message message = {0};
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec iov = {.iov_base = &message, .iov_len = sizeof(message)};
	struct msghdr packet = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes)};
	int fd = -1;
	ssize_t n = recvmsg(supervisor->socket, &packet, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	if (n < 0)
		return errno == EINTR;
	const struct cmsghdr *header = CMSG_FIRSTHDR(&packet);
	if (header && header->cmsg_level == SOL_SOCKET &&
		header->cmsg_type == SCM_RIGHTS &&
		header->cmsg_len == CMSG_LEN(sizeof(int)))
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	if (n == sizeof(message))
		obey(supervisor, &message, fd);
	else if (fd >= 0)
		close(fd);
	return true;
}

/* Tells whether the engine died by its own fault, so that the next engine would probably die,
 * too. */
static bool counts(const struct supervisor *supervisor, int status)
{
	bool killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	return !(killed && supervisor->ready) && !atomic_load(&supervisor->kept->blamed);
}

static unsigned deaths_within(const struct supervisor *supervisor, uint64_t now_ns)
{
	unsigned n = 0;
	for (unsigned i = 0; i < DEATHS && i < supervisor->n_deaths; i++)
		n += now_ns - supervisor->deaths[i] < DEATHS_NS;
	return n;
}

static void plan_next(struct supervisor *supervisor, int status)
{
	struct kept *kept = supervisor->kept;
	uint64_t now_ns = clock_now_ns();
	supervisor->start_ns = now_ns;
	if (atomic_load(&kept->sick)) {
		supervisor->start_ns += SICK_PAUSE_NS;
		return;
	}
	if (!counts(supervisor, status))
		return;
	supervisor->deaths[supervisor->n_deaths++ % DEATHS] = now_ns;
	unsigned n = deaths_within(supervisor, now_ns);
	if (n == DEATHS)
		atomic_store(&kept->sick, true);
	else if (n > 1)
		supervisor->start_ns += FIRST_PAUSE_NS << (n - 2);
}

/* Notes that the engine has ended, and plans the start of the next one. Returns true if the
 * supervisor must end, too, with exit status *ret. */
static bool note_end(struct supervisor *supervisor, int status, int *ret)
{
	struct kept *kept = supervisor->kept;
	supervisor->engine = 0;
	while (take_message(supervisor))
		;
	supervisor->check_ns = 0;
	*ret = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
	if (!supervisor->served && WIFSIGNALED(status))
		log_error("ended by signal %d (%s) before it was ready", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	if (!supervisor->served || atomic_load(&kept->ended))
		return true;
	if (atomic_load(&kept->hands_over)) {
		atomic_store(&kept->hands_over, false);
		atomic_store(&kept->sick, false);
		atomic_store(&kept->died, 0);
		supervisor->n_deaths = 0;
		supervisor->start_ns = clock_now_ns();
		return false;
	}
	atomic_store(&kept->died, status);
	atomic_store(&kept->died_ns, (int64_t)clock_now_ns());
	plan_next(supervisor, status);
	return false;
}

static bool reap(struct supervisor *supervisor, int *ret)
{
	int status;
	pid_t pid = waitpid(-1, &status, WNOHANG);
	return pid > 0 && pid == supervisor->engine && note_end(supervisor, status, ret);
}

static const int ends[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU};

/* A signal that this process has ignored since its start stays ignored. */
static int open_signals(struct supervisor *supervisor)
{
	sigset_t signals;
	struct sigaction action;
	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (sigaction(ends[i], NULL, &action) == 0 &&
			action.sa_handler != SIG_IGN)
			sigaddset(&signals, ends[i]);
	ensure(sigprocmask(SIG_BLOCK, &signals, &supervisor->mask) == 0);
	ensure(signal(SIGCHLD, SIG_DFL) != SIG_ERR);
	supervisor->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	return supervisor->signals < 0 ? -errno : 0;
}

static void take_signals(struct supervisor *supervisor)
{
	struct signalfd_siginfo info;
	while (read(supervisor->signals, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGCHLD || supervisor->ending)
			continue;
		supervisor->ending = true;
		notifier_stopping(&supervisor->notifier);
		/* An engine that is started from now on only unmounts. */
		atomic_store(&supervisor->kept->ending, true);
		supervisor->start_ns = supervisor->engine ? 0 : clock_now_ns();
		if (supervisor->engine)
			kill(supervisor->engine, SIGTERM);
	}
}

static int share(struct supervisor *supervisor)
{
	int ends_of_pair[2];
	supervisor->page = memfd_create("joaderfs-kept", MFD_CLOEXEC);
	if (supervisor->page < 0 ||
		ftruncate(supervisor->page, sizeof(struct kept)) != 0 ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends_of_pair) != 0)
		return -errno;
	supervisor->socket = ends_of_pair[0];
	supervisor->engines_socket = ends_of_pair[1];
	void *at = mmap(NULL, sizeof(struct kept), PROT_READ | PROT_WRITE, MAP_SHARED,
		supervisor->page, 0);
	if (at == MAP_FAILED)
		return -errno;
	supervisor->kept = at;
	supervisor->kept->version = KEPT_VERSION;
	supervisor->kept->bytes = sizeof(struct kept);
	return 0;
}

/* Returns the time at which the supervisor has to act even if there is no message or signal;
 * UINT64_MAX: never. */
static uint64_t next_event(const struct supervisor *supervisor)
{
	uint64_t next = notifier_next(&supervisor->notifier);
	if (supervisor->start_ns && supervisor->start_ns < next)
		next = supervisor->start_ns;
	if (supervisor->check_ns && supervisor->check_ns < next)
		next = supervisor->check_ns;
	return next;
}

static int run(struct supervisor *supervisor)
{
	int status = EXIT_FAILURE;
	for (;;) {
		struct pollfd fds[] = {{.fd = supervisor->signals, .events = POLLIN},
			{.fd = supervisor->socket, .events = POLLIN}};
		uint64_t next = next_event(supervisor);
		if (poll(fds, 2, clock_ms_until(next)) < 0)
			ensure(errno == EINTR);
		while (take_message(supervisor))
			;
		take_signals(supervisor);
		if (reap(supervisor, &status))
			return status;
		if (!supervisor->engine && supervisor->start_ns <= clock_now_ns())
			start_engine(supervisor);
		check_beats(supervisor);
		notifier_beat(&supervisor->notifier);
	}
}

int supervisor_run(const struct supervisor_config *config)
{
	static struct supervisor supervisor;
	static char argument[48];
	supervisor.config = config;
	int err = share(&supervisor);
	if (!err)
		err = open_signals(&supervisor);
	if (err) {
		log_error("can't begin: %s", strerror(-err));
		return EXIT_FAILURE;
	}
	snprintf(argument, sizeof(argument), "--engine=%d,%d", supervisor.engines_socket,
		supervisor.page);
	config->first[1] = config->again[1] = argument;
	notifier_begin(&supervisor.notifier);
	start_engine(&supervisor);
	return run(&supervisor);
}
