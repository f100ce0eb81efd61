// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "commands.h"
#include "request.h"
#include "top_internal.h"

#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <time.h>

struct options {
	bool once, json;
	double interval; /* seconds */
	enum top_order order;
};

static const struct {
	char key;
	const char *name;
	enum top_order order;
} orders[] = {
	{'n', "name", TOP_BY_NAME},
	{'w', "waited", TOP_BY_WAITED},
	{'r', "rate", TOP_BY_RATE},
	{'d', "done", TOP_BY_DONE},
	{'p', "prepared", TOP_BY_PREPARED},
};
#define ORDERS (sizeof(orders) / sizeof(orders[0]))

static bool parse_order(const char *text, enum top_order *ret)
{
	for (size_t i = 0; i < ORDERS; i++) {
		if (strcmp(text, orders[i].name) != 0)
			continue;
		*ret = orders[i].order;
		return true;
	}
	return complain(
		"top: --sort: found \"%s\", allowed: name, waited, rate, done, prepared",
		text);
}

static bool parse_interval(const char *text, double *ret)
{
	char *end;
	*ret = strtod(text, &end);
	if (end != text && *end == '\0' && *ret >= 0.1 && *ret <= 3600)
		return true;
	return complain(
		"top: --interval: found \"%s\", allowed: 0.1 to 3600 seconds", text);
}

static bool parse(int argc, char **argv, struct options *ret)
{
	static const struct option options[] = {{"once", no_argument, NULL, '1'},
		{"json", no_argument, NULL, 'j'},
		{"interval", required_argument, NULL, 'i'},
		{"sort", required_argument, NULL, 's'}, {NULL, 0, NULL, 0}};
	bool ok = true;
	*ret = (struct options){.interval = 1};
	optind = 0; /* restarts getopt after joaderctl's own options */
	for (int c; ok && (c = getopt_long(argc, argv, "i:s:", options, NULL)) != -1;) {
		ret->once |= c == '1';
		ret->json |= c == 'j';
		if (c == 'i')
			ok = parse_interval(optarg, &ret->interval);
		else if (c == 's')
			ok = parse_order(optarg, &ret->order);
		else if (c == '?')
			ok = false;
	}
	if (ok && optind < argc)
		complain("top: found \"%s\", allowed: options only", argv[optind]);
	return ok && optind == argc;
}

static volatile sig_atomic_t ends, stops;

/* The signal also interrupts the wait for the next screen, so the main loop reacts at once. */
static void take_signal(int signal_number)
{
	if (signal_number == SIGTSTP)
		stops = 1;
	else if (signal_number != SIGWINCH && signal_number != SIGCONT)
		ends = 1;
}

/* Blocks signals outside of waits, so that none is lost. Returns the signal mask for waits. */
static sigset_t take_signals(void)
{
	static const int taken[] = {
		SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH, SIGCONT};
	struct sigaction action = {.sa_handler = take_signal};
	sigset_t blocked, before;
	sigemptyset(&blocked);
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		sigaction(taken[i], &action, NULL);
		sigaddset(&blocked, taken[i]);
	}
	sigprocmask(SIG_BLOCK, &blocked, &before);
	return before;
}

#define ENTER "\033[?1049h\033[?25l"
#define LEAVE "\033[?25h\033[?1049l"
#define HOME "\033[H"
#define CLEAR_BELOW "\033[J"

static void enter(const struct termios *before)
{
	struct termios keys = *before;
	keys.c_lflag &= (tcflag_t) ~(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
	fputs(ENTER, stdout);
	fflush(stdout);
}

static void leave(const struct termios *before)
{
	fputs(LEAVE, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSADRAIN, before);
}

/* Stops this process, as a shell expects after ^Z, and sets the terminal again when it goes on. */
static void stop_for_shell(const struct termios *before)
{
	stops = 0;
	leave(before);
	raise(SIGSTOP);
	enter(before);
}

static struct top_view view_of_terminal(void)
{
	struct winsize size = {0};
	struct top_view view = {.width = 80, .height = 24, .attributes = true};
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 &&
		size.ws_row > 0)
		view = (struct top_view){size.ws_col, size.ws_row, true};
	return view;
}

/* Draws the screen in one write, so that it does not flicker. */
static bool draw(struct top_sample *sample, enum top_order order, const char *message)
{
	auto_free char *text = NULL;
	size_t n;
	struct top_view view = view_of_terminal();
	FILE *out = open_memstream(&text, &n);
	if (!out)
		return false;
	top_sort(sample, order);
	fputs(HOME, out);
	top_print_screen(out, sample, &view, message);
	fputs(CLEAR_BELOW, out);
	if (fclose(out) != 0)
		return false;
	fwrite(text, 1, n, stdout);
	return fflush(stdout) == 0;
}

struct live {
	const char *socket_path;
	struct options options;
	struct top_sample before, now;
	char *message; /* error of the last request; NULL: the daemon has answered */
};

static void look(struct live *live)
{
	struct top_sample sample;
	size_t n;
	free(live->message);
	live->message = NULL;
	FILE *complaints = open_memstream(&live->message, &n);
	if (!complaints)
		return;
	complain_to(complaints);
	bool ok = top_sample_get(live->socket_path, &sample);
	complain_to(NULL);
	fclose(complaints);
	if (!ok)
		return;
	free(live->message);
	live->message = NULL;
	top_sample_free(&live->before);
	live->before = live->now;
	live->now = sample;
	top_sample_compare(&live->now, live->before.now_ns > 0 ? &live->before : NULL);
}

/* Handles a key that was pressed. Returns false if top has to quit. */
static bool take_key(struct live *live, uint64_t *due_ns)
{
	char key;
	ssize_t n = read(STDIN_FILENO, &key, 1);
	if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
		return false; /* the terminal was closed */
	if (n < 0)
		return true;
	for (size_t i = 0; i < ORDERS; i++)
		if (orders[i].key == key)
			live->options.order = orders[i].order;
	if (key == ' ')
		*due_ns = 0;
	return key != 'q' && key != 'Q';
}

/* Waits until *due_ns, a key or a signal. Returns false if top has to quit. */
static bool wait_for_event(struct live *live, const sigset_t *signals, uint64_t *due_ns)
{
	struct pollfd keys = {.fd = STDIN_FILENO, .events = POLLIN};
	uint64_t now_ns = clock_now_ns();
	uint64_t left_ns = *due_ns > now_ns ? *due_ns - now_ns : 0;
	struct timespec left = timespec_of_ns(left_ns);
	int n = ppoll(&keys, 1, &left, signals);
	if (ends)
		return false;
	return n <= 0 || take_key(live, due_ns);
}

static int run_live(struct live *live)
{
	struct termios before;
	if (tcgetattr(STDIN_FILENO, &before) != 0)
		return exit_failure("top: %s", strerror(errno));
	sigset_t signals = take_signals();
	enter(&before);
	bool goes_on = true;
	for (uint64_t due_ns = 0; goes_on;) {
		if (clock_now_ns() >= due_ns) {
			look(live);
			due_ns =
				clock_now_ns() + (uint64_t)(live->options.interval * 1e9);
		}
		goes_on = draw(&live->now, live->options.order, live->message) &&
			  wait_for_event(live, &signals, &due_ns);
		if (stops)
			stop_for_shell(&before);
	}
	leave(&before);
	return EXIT_SUCCESS;
}

static void pause_for(double seconds)
{
	struct timespec left = timespec_of_ns((uint64_t)(seconds * 1e9));
	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

static bool print_lines(struct live *live)
{
	static const struct top_view view = {.width = 10000};
	top_sort(&live->now, live->options.order);
	if (live->options.json)
		top_print_json(stdout, &live->now);
	else
		top_print_screen(stdout, &live->now, &view, NULL);
	return fflush(stdout) == 0;
}

static bool next_sample(struct live *live)
{
	top_sample_free(&live->before);
	live->before = live->now;
	live->now = (struct top_sample){0};
	if (!top_sample_get(live->socket_path, &live->now))
		return false;
	top_sample_compare(&live->now, &live->before);
	return true;
}

/* Prints the rates of one interval. With --json, but without --once, goes on with the next
 * interval, again and again. */
static int run_lines(struct live *live)
{
	bool ok = top_sample_get(live->socket_path, &live->now);
	do {
		if (ok)
			pause_for(live->options.interval);
		ok = ok && next_sample(live) && print_lines(live);
	} while (ok && live->options.json && !live->options.once);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

int top(const char *socket_path, int argc, char **argv)
{
	struct live live = {.socket_path = socket_path};
	if (!parse(argc, argv, &live.options))
		return EXIT_USAGE;
	bool terminal = isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	bool lines = live.options.once || live.options.json || !terminal;
	int status = lines ? run_lines(&live) : run_live(&live);
	top_sample_free(&live.before);
	top_sample_free(&live.now);
	free(live.message);
	return status;
}
