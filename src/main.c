// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/background.h"
#include "base/backing.h"
#include "base/crash.h"
#include "base/fault.h"
#include "base/kept.h"
#include "base/lock_file.h"
#include "base/log.h"
#include "base/own_directory.h"
#include "base/own_mounts.h"
#include "base/signals.h"
#include "base/size_text.h"
#include "config/config.h"
#include "config/config_try.h"
#include "control/control.h"
#include "dataset/dataset.h"
#include "epoch/state_version.h"
#include "far/far.h"
#include "files/content_bytes.h"
#include "files/made_text.h"
#include "fuse/fuse.h"
#include "fuse/reader.h"
#include "fuse/engine_failed.h"
#include "group/group.h"
#include "sched/datasets.h"
#include "sched/gauges.h"
#include "sched/jobs.h"
#include "sched/sched.h"
#include "stats/stats.h"
#include "supervisor/death.h"
#include "supervisor/supervisor.h"
#include "web/web.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <malloc.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* The command line, and all that main starts, in this order. stop() stops it in reverse order. */
struct daemon {
	const char *config_path;   /* NULL with --try */
	const char *try_directory; /* argument of --try, or NULL */
	const char *mount_options;
	const char *metrics; /* where Prometheus gets the metrics; NULL: as in the ini */
	const char *mount_argument;
	const char *engine; /* argument of --engine; NULL: there is no supervisor */
	bool foreground, debug, unsupervised;
	/* descriptor of /dev/fuse, mounted by another process; 0: joaderfs mounts the tree */
	int device;
	struct daemon_config config;
	char *mountpoint;
	int state_lock;
	struct dataset **datasets;
	struct backings *backings;
	struct sched *sched;
	struct group *group;
	struct made_texts *texts;
	struct files_context context;
	struct session *session;
	struct control *control;
	struct web *web;
};

static const char usage[] =
	"usage: joaderfs [-f] [-d] [-o OPTION[,OPTION...]] [--fault SPEC] CONFIG "
	"MOUNTPOINT\n"
	"       joaderfs [-f] [-d] [-o OPTION[,OPTION...]] --try DATASET MOUNTPOINT\n"
	"       joaderfs --help | --version\n"
	"\n"
	"Mounts the datasets of the daemon's ini CONFIG at MOUNTPOINT, for the training\n"
	"jobs in its jobs directory and those that joaderctl adds.\n"
	"\n"
	"  --try DATASET    run without an ini: mount the directory, shards, zip or "
	"LMDB\n"
	"                   file DATASET, with a job for each layout\n"
	"  --metrics PLACE  PORT, or ADDRESS:PORT, where Prometheus gets the metrics\n"
	"  --fuse-fd N      descriptor N is /dev/fuse, already mounted at MOUNTPOINT by "
	"a\n"
	"                   process that will unmount it\n"
	"  -f               stay in the foreground, with messages on standard error\n"
	"  -d               like -f, and print every FUSE request\n"
	"  --no-supervisor  run as one process, for debuggers; the mount ends with it\n"
	"  -o OPTIONS       mount options, such as allow_other; see joaderfs(8)\n"
	"  --fault SPEC     PLACE:ERROR[:after=N][:times=N][:until=FILE]: make\n"
	"                   PLACE fail or wait, for tests\n"
	"  -h, --help       print this text\n"
	"  -V, --version    print the version\n"
	"\n"
	"Without -f, joaderfs goes to the background when it has mounted, and writes "
	"its\n"
	"messages to joaderfs.log in the state directory. `umount MOUNTPOINT` ends it, "
	"for\n"
	"an ordinary user `fusermount3 -u MOUNTPOINT`, or SIGTERM.\n"
	"See joaderfs(8), joaderfs.ini(5), joaderctl(1).\n";

enum { EXIT_USAGE = 2 };

/* Returns EXIT_SUCCESS if an engine of this program can take over a mount. question:
 * "VERSION,BYTES,STATE": version and size of struct kept in the running engine, and the daemon's
 * state directory. */
static int can_follow(const char *question)
{
	unsigned version;
	size_t bytes;
	int at = 0;
	if (sscanf(question, "%u,%zu,%n", &version, &bytes, &at) != 2 || at == 0)
		return EXIT_USAGE;
	if (version != KEPT_VERSION || bytes != sizeof(struct kept)) {
		log_error("joaderfs " JOADERFS_VERSION
			  " can't take over the mount, because it stores open files in "
			  "another format; unmount, then start it");
		return EXIT_FAILURE;
	}
	return state_version_take(question + at) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static bool take_number(const char *text, int *ret)
{
	char *end;
	errno = 0;
	long number = strtol(text, &end, 10);
	if (errno || end == text || *end || number <= STDERR_FILENO || number > INT_MAX) {
		log_error("--fuse-fd: found \"%s\", allowed: the number of an open "
			  "descriptor, at least 3",
			text);
		return false;
	}
	*ret = (int)number;
	return true;
}

static const struct option options[] = {
	{"help", no_argument, NULL, 'h'},
	{"version", no_argument, NULL, 'V'},
	{"fault", required_argument, NULL, 'F'},
	{"no-supervisor", no_argument, NULL, 'N'},
	{"try", required_argument, NULL, 'T'},
	{"metrics", required_argument, NULL, 'M'},
	{"fuse-fd", required_argument, NULL, 'D'},
	{"can-follow", required_argument, NULL, 'C'}, /* used by control_upgrade.c */
	{"engine", required_argument, NULL, 'E'},     /* used by the supervisor */
	{0},
};

static int parse_arguments(int argc, char **argv, struct daemon *ret)
{
	for (int c; (c = getopt_long(argc, argv, "fdo:hV", options, NULL)) != -1;) {
		switch (c) {
		case 'd':
			ret->debug = true;
			ret->foreground = true;
			break;
		case 'f':
			ret->foreground = true;
			break;
		case 'o':
			ret->mount_options = optarg;
			break;
		case 'F':
			if (fault_add(optarg) != 0)
				return -EINVAL;
			break;
		case 'N':
			ret->unsupervised = true;
			break;
		case 'T':
			ret->try_directory = optarg;
			break;
		case 'M':
			ret->metrics = optarg;
			break;
		case 'D':
			if (!take_number(optarg, &ret->device))
				return -EINVAL;
			break;
		case 'C':
			exit(can_follow(optarg));
		case 'E':
			ret->engine = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(EXIT_SUCCESS);
		case 'V':
			puts("joaderfs " JOADERFS_VERSION);
			exit(EXIT_SUCCESS);
		default:
			return -EINVAL;
		}
	}
	if (argc - optind != (ret->try_directory ? 1 : 2)) {
		fputs(usage, stderr);
		return -EINVAL;
	}
	ret->config_path = ret->try_directory ? NULL : argv[optind];
	ret->mount_argument = argv[argc - 1];
	return 0;
}

/* Finds the absolute path of the mount point. Does not call realpath if the mount point is mounted
 * already, because realpath would wait: no process serves the mount yet. */
static int find_mountpoint(struct daemon *daemon)
{
	const char *path = daemon->mount_argument;
	auto_free char *here = daemon->device ? getcwd(NULL, 0) : NULL;
	if (kept_is_again())
		daemon->mountpoint = strdup(path);
	else
		daemon->mountpoint =
			here ? config_path_absolute(here, path) : realpath(path, NULL);
	if (daemon->mountpoint) {
		own_mounts_begin(daemon->mountpoint);
		return 0;
	}
	int err = -errno;
	log_error("mount point %s: %s", path, strerror(-err));
	return err;
}

/* Raises the limit of open descriptors, because each worker and each client opens files. */
static void raise_descriptors(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max)
		return;
	rlim_t soft = limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
		log_warn("at most %llu files can be open: %s", (unsigned long long)soft,
			strerror(errno));
}

/* Refuses a dataset on the daemon's own mount, because the daemon would wait for itself. */
static int refuse_own_mount(const struct daemon *daemon)
{
	for (size_t i = 0; i < daemon->config.n_datasets; i++) {
		const struct dataset_config *dataset = &daemon->config.datasets[i];
		if (!own_mounts_cover(dataset->path))
			continue;
		log_error(
			"%s:[dataset %s]:path: found \"%s\", which is on the mount point "
			"%s itself, allowed: any other place",
			daemon->config.file, dataset->name, dataset->path,
			daemon->mountpoint);
		return -EINVAL;
	}
	return 0;
}

static int configure(struct daemon *daemon)
{
	int err = daemon->try_directory
			  ? config_try_daemon(daemon->try_directory, config_report_to_log,
				    NULL, &daemon->config)
			  : config_parse_daemon(daemon->config_path, NULL,
				    config_report_to_log, NULL, &daemon->config);
	if (err)
		return err;
	return kept_is_again() ? 0 : refuse_own_mount(daemon);
}

static int make_parents(const char *path)
{
	auto_free char *copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	for (char *slash = copy + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(copy, 0755) != 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

/* Locks the state directory, because only one daemon may use it. */
static int take_state(struct daemon *daemon)
{
	const char *state = daemon->config.state;
	auto_free char *key = aprintf("%s:[joaderfs]:state: ", daemon->config.file);
	auto_free char *path = aprintf("%s/lock", state);
	int err = make_parents(state);
	if (err) {
		log_error("%s:[joaderfs]:state: %s: %s", daemon->config.file, state,
			strerror(-err));
		return err;
	}
	if (!key || !path)
		return -ENOMEM;
	err = own_directory_of(key, state, true);
	if (err)
		return err;
	struct kept_descriptor *kept = kept_next(NULL, KEPT_LOCK);
	daemon->state_lock = kept ? atomic_load(&kept->fd) : lock_file_open(path);
	err = daemon->state_lock < 0 ? daemon->state_lock : 0;
	if (!err)
		err = lock_file_take(daemon->state_lock);
	kept = err || kept ? NULL : kept_new();
	if (kept)
		kept_add(kept, KEPT_LOCK, daemon->state_lock);
	if (!err)
		return state_version_take(state);
	log_error("%s:[joaderfs]:state: %s: %s", daemon->config.file, path,
		err == -EWOULDBLOCK ? "in use by another joaderfs" : strerror(-err));
	return err;
}

static void dump_state(void *context, FILE *out)
{
	const struct daemon *daemon = context;
	sched_dump(daemon->sched, out);
	stats_print_text(out);
}

static void tell_cache(const struct daemon *daemon)
{
	const struct daemon_config *config = &daemon->config;
	const struct machine_memory *memory = &config->memory;
	const char *limit = memory->limit[0] ? memory->limit : "this machine";
	if (config->cache_auto)
		log_info("cache = auto: %s, half of the %s that %s leaves",
			size_text(config->cache_bytes).text, size_text(memory->left).text,
			limit);
	else if (config->cache_bytes > memory->most)
		log_warn("%s:[joaderfs]:cache: %s is more than the memory of %s, %s",
			config->file, size_text(config->cache_bytes).text, limit,
			size_text(memory->most).text);
	sched_report_cache(daemon->sched, config_report_to_log, NULL);
}

static int start_sched(struct daemon *daemon)
{
	int err = sched_new(&daemon->config, daemon->datasets, daemon->config.n_datasets,
		&daemon->sched);
	if (err)
		return err;
	crash_dump_by(dump_state, daemon);
	sched_use_backings(daemon->sched, daemon->backings, content_head);
	sched_on_look(daemon->sched, reader_lives);
	err = group_new(&daemon->config, daemon->datasets, daemon->sched, &daemon->group);
	if (!err)
		err = sched_jobs_begin(
			daemon->sched, &daemon->config, daemon->try_directory != NULL);
	if (!err)
		err = group_start(daemon->group);
	if (!err)
		tell_cache(daemon);
	return err;
}

static int go_to_background(struct daemon *daemon)
{
	if (daemon->foreground || kept_is_again())
		return 0;
	auto_free char *path = aprintf("%s/joaderfs.log", daemon->config.state);
	if (!path)
		return -ENOMEM;
	int err = log_to_file(path);
	if (err) {
		log_error("%s: %s", path, strerror(-err));
		return err;
	}
	snprintf(kept()->log, sizeof(kept()->log), "%s", path);
	if (kept_is_supervised())
		background_leave();
	else
		background_ready();
	return 0;
}

/* Opens the log file again if an earlier engine opened it in the background. */
static void go_on_with_log(const struct daemon *daemon)
{
	const char *path = kept()->log;
	int err = daemon->foreground || !path[0] ? 0 : log_to_file(path);
	if (err)
		log_error("%s: %s", path, strerror(-err));
}

/* Starts the web server. An engine that is not the first one ignores an error, because it can serve
 * readers without a web server. */
static int start_web(struct daemon *daemon)
{
	const char *place = daemon->metrics ? daemon->metrics : daemon->config.metrics;
	int err = place ? web_new(&daemon->context, place, &daemon->web) : 0;
	return kept_is_again() ? 0 : err;
}

static int open_datasets(struct daemon *daemon)
{
	auto_free char *stay = sched_datasets_that_stay(&daemon->config);
	return stay ? datasets_open(&daemon->config, stay, &daemon->datasets) : -ENOMEM;
}

static int start(struct daemon *daemon)
{
	int err = configure(daemon);
	if (!err)
		err = take_state(daemon);
	if (!err)
		err = open_datasets(daemon);
	if (!err)
		err = backings_new(0, &daemon->backings);
	if (!err)
		err = start_sched(daemon);
	if (!err)
		err = made_texts_new(&daemon->texts);
	if (err)
		return err;
	daemon->context = (struct files_context){.config = &daemon->config,
		.sched = daemon->sched,
		.group = daemon->group,
		.backings = daemon->backings,
		.texts = daemon->texts,
		.mountpoint = daemon->mountpoint,
		.device = daemon->device};
	signals_hold(); /* session_run releases the signals */
	err = session_mount(
		&daemon->context, daemon->mount_options, daemon->debug, &daemon->session);
	if (!err)
		err = control_new(&daemon->context, daemon->session, &daemon->control);
	if (!err)
		err = start_web(daemon);
	if (!err && daemon->try_directory && !kept_is_again())
		config_try_print(stdout, daemon->mountpoint);
	if (!err)
		err = go_to_background(daemon);
	if (!err)
		kept_ready();
	return err;
}

static int stop(struct daemon *daemon)
{
	int err = 0;
	if (daemon->session)
		session_detach(daemon->session);
	far_stop();
	web_free(&daemon->web);
	control_free(&daemon->control);
	if (daemon->session)
		session_stop(daemon->session);
	if (daemon->sched)
		sched_stop(daemon->sched);
	if (daemon->session) {
		err = session_unmount(&daemon->session);
		atomic_store(&kept()->ended, true);
	}
	made_texts_free(&daemon->texts);
	crash_dump_by(NULL, NULL);
	group_free(&daemon->group);
	sched_free(&daemon->sched);
	backings_free(&daemon->backings);
	for (size_t i = 0; daemon->datasets && i < daemon->config.n_datasets; i++)
		dataset_close(&daemon->datasets[i]);
	free(daemon->datasets);
	if (daemon->state_lock >= 0)
		close(daemon->state_lock);
	config_daemon_free(&daemon->config);
	free(daemon->mountpoint);
	return err;
}

/* malloc maps each block of at least this size by itself. Mapped memory is zero, and takes no room
 * until it is written. In the heap, calloc would clear an epoch's large arrays while readers
 * wait. */
#define MAPPED_ALONE (4 << 20)

static void begin_process(const struct daemon *daemon)
{
	mallopt(M_MMAP_THRESHOLD, MAPPED_ALONE);
	signals_begin();
	crash_install();
	raise_descriptors();
	if (!daemon->foreground)
		log_keep();
}

/* Tells whether the last engine ended because a signal had asked the daemon to end. */
static bool died_as_asked(void)
{
	int died = atomic_load(&kept()->died);
	return atomic_load(&kept()->ending) &&
	       (died == 0 || (WIFSIGNALED(died) && WTERMSIG(died) == SIGTERM));
}

/* Unmounts if the daemon is to end; otherwise engines have died too often, and readers get EIO. */
static int serve_nothing(struct daemon *daemon)
{
	bool ends = atomic_load(&kept()->ending);
	int status = ends ? engine_failed_unmount(daemon->mountpoint)
			  : engine_failed_run(daemon->mountpoint);
	free(daemon->mountpoint);
	return died_as_asked() ? EXIT_SUCCESS : status;
}

static int serve(struct daemon *daemon)
{
	int err = kept_begin(daemon->engine);
	if (err)
		return EXIT_FAILURE;
	if (kept_is_again())
		go_on_with_log(daemon);
	death_tell(kept_is_again() && !died_as_asked());
	if (find_mountpoint(daemon) != 0)
		return EXIT_USAGE;
	if (atomic_load(&kept()->ending) || atomic_load(&kept()->sick))
		return serve_nothing(daemon);
	err = start(daemon);
	if (!err)
		err = session_run(daemon->session);
	int stop_err = stop(daemon);
	return err || stop_err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	struct daemon daemon = {.state_lock = -1};
	background_fill_stdio();
	if (parse_arguments(argc, argv, &daemon) != 0)
		return EXIT_USAGE;
	if (!daemon.engine && !daemon.unsupervised) {
		signals_begin_supervisor();
		/* the supervisor, too, holds copies of the engine's descriptors */
		raise_descriptors();
		return supervise(
			daemon.foreground, daemon.debug, daemon.device, argc, argv);
	}
	if (!daemon.engine && !daemon.foreground && background_begin() != 0)
		return EXIT_FAILURE;
	begin_process(&daemon);
	return serve(&daemon);
}
