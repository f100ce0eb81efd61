// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "web/web.h"
#include "base/aprintf.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

#ifdef HAVE_MICROHTTPD

#include "base/address.h"
#include "base/clock.h"
#include "base/ensure.h"
#include "base/fault.h"
#include "base/signals.h"
#include "files/made_text.h"
#include "web/visitors.h"

#include <arpa/inet.h>
#include <limits.h>
#include <microhttpd.h>
#include <poll.h>
#include <sys/eventfd.h>

/* The most connections of libmicrohttpd. This is more than VISITORS_MOST, because a connection that
 * is being ended stays open for a moment. */
#define MOST_CONNECTIONS (2 * VISITORS_MOST)
#define MOST_NS UINT64_C(10000000000)
#define MEMORY_EACH 16384u /* bytes per connection, enough for the head of a request */

struct web {
	const struct files_context *context;
	struct MHD_Daemon *daemon;
	/* events: epoll descriptor of libmicrohttpd; stop: an eventfd that ends the thread */
	int events, stop;
	bool running;
	pthread_t thread;
	struct visitors visitors;
};

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status,
	const char *type, char *text, size_t bytes)
{
	struct MHD_Response *response =
		MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_COPY);
	if (!response)
		return MHD_NO;
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		(void)MHD_add_response_header(
			response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result result = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return result;
}

static enum MHD_Result answer_text(
	struct MHD_Connection *connection, unsigned status, const char *text)
{
	auto_free char *copy = strdup(text); /* libmicrohttpd takes no const pointer */
	if (!copy)
		return MHD_NO;
	return answer(
		connection, status, "text/plain; charset=utf-8", copy, strlen(text));
}

static enum MHD_Result answer_made(const struct web *web,
	struct MHD_Connection *connection, enum made_kind kind, const char *type)
{
	struct made_text *text;
	if (made_texts_take(web->context, kind, false, &text) != 0)
		return MHD_NO;
	enum MHD_Result result =
		answer(connection, MHD_HTTP_OK, type, text->text, text->bytes);
	made_text_put(&text);
	return result;
}

static enum MHD_Result answer_metrics(
	const struct web *web, struct MHD_Connection *connection)
{
	const char *accept = MHD_lookup_connection_value(
		connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	if (accept && strstr(accept, "application/openmetrics-text"))
		return answer_made(web, connection, MADE_OPENMETRICS,
			"application/openmetrics-text; version=1.0.0; charset=utf-8");
	return answer_made(web, connection, MADE_METRICS,
		"text/plain; version=0.0.4; charset=utf-8");
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection,
	const char *url, const char *method, const char *version, const char *upload,
	size_t *upload_bytes, void **request)
{
	(void)version;
	(void)upload;
	(void)request;
	*upload_bytes = 0; /* discards the body of the request */
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
		strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return answer_text(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
			"Only GET and HEAD are allowed.\n");
	if (strcmp(url, "/metrics") == 0)
		return answer_metrics(context, connection);
	if (strcmp(url, "/dashboard.html") == 0)
		return answer_made(
			context, connection, MADE_DASHBOARD, "text/html; charset=utf-8");
	return answer_text(connection, MHD_HTTP_NOT_FOUND,
		"joaderfs: /metrics is for Prometheus, /dashboard.html for browsers; "
		"there are no other pages.\n");
}

static int parse_place(
	const char *place, struct sockaddr_storage *ret, socklen_t *ret_bytes)
{
	bool only_port = place[0] && strspn(place, "0123456789") == strlen(place);
	auto_free char *whole = aprintf("%s%s", only_port ? "127.0.0.1:" : "", place);
	if (!whole)
		return -ENOMEM;
	int err = address_parse(whole, ret, ret_bytes);
	if (err == -EINVAL)
		log_error("metrics: found \"%s\", allowed: PORT, ADDRESS:PORT or "
			  "[ADDRESS]:PORT, as 9101 or 127.0.0.1:9101",
			place);
	return err;
}

static void comes_or_goes(void *context, struct MHD_Connection *connection,
	void **visitor, enum MHD_ConnectionNotificationCode what)
{
	struct web *web = context;
	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		const struct sockaddr *address = MHD_get_connection_info(
			connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS)
							 ->client_addr;
		int fd = MHD_get_connection_info(
			connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd;
		*visitor = visitors_add(&web->visitors, address, fd);
		if (!*visitor)
			(void)shutdown(fd, SHUT_RDWR);
	} else if (*visitor) {
		visitors_remove(&web->visitors, *visitor);
	}
}

static void served(void *context, struct MHD_Connection *connection, void **request,
	enum MHD_RequestTerminationCode how)
{
	struct web *web = context;
	struct visitor *visitor =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
			->socket_context;
	(void)request;
	if (visitor && how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		visitors_served(&web->visitors, visitor);
}

/* Starts libmicrohttpd. Returns 0 or -errno; -EIO: libmicrohttpd has failed without setting
 * errno. */
static int start_library(struct web *web, const struct sockaddr_storage *address)
{
	unsigned flags = MHD_USE_EPOLL;
	if (address->ss_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	errno = 0;
	web->daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, web,
		MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)address,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS,
		MHD_OPTION_NOTIFY_CONNECTION, comes_or_goes, web,
		MHD_OPTION_NOTIFY_COMPLETED, served, web,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_EACH, MHD_OPTION_END);
	if (!web->daemon)
		return errno ? -errno : -EIO;
	web->events =
		MHD_get_daemon_info(web->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	return 0;
}

static int milliseconds(const struct web *web, uint64_t overdue_ns)
{
	int left_ms = clock_ms_until(overdue_ns);
	MHD_UNSIGNED_LONG_LONG ms;
	if (MHD_get_timeout(web->daemon, &ms) != MHD_YES || ms > INT_MAX)
		ms = INT_MAX;
	if (left_ms >= 0 && (MHD_UNSIGNED_LONG_LONG)left_ms < ms)
		ms = (MHD_UNSIGNED_LONG_LONG)left_ms;
	return ms < INT_MAX ? (int)ms : -1;
}

static void *run(void *context)
{
	struct web *web = context;
	struct pollfd fds[] = {{.fd = web->events, .events = POLLIN},
		{.fd = web->stop, .events = POLLIN}};
	uint64_t overdue_ns = UINT64_MAX;
	for (;;) {
		int n = poll(fds, 2, milliseconds(web, overdue_ns));
		ensure(n >= 0 || errno == EINTR);
		if (n > 0 && fds[1].revents)
			return NULL;
		(void)MHD_run(web->daemon);
		overdue_ns = visitors_hurry(&web->visitors,
			fault_hit("web.patience") ? MOST_NS / 20 : MOST_NS);
	}
}

static int start(struct web *web, const struct sockaddr_storage *address)
{
	int err = start_library(web, address);
	if (err)
		return err;
	web->stop = eventfd(0, EFD_CLOEXEC);
	err = web->stop < 0 ? -errno : signals_thread(&web->thread, run, web);
	web->running = err == 0;
	return err;
}

static void log_place(const struct web *web, const struct sockaddr_storage *address)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(web->daemon, MHD_DAEMON_INFO_BIND_PORT);
	char text[INET6_ADDRSTRLEN] = "?";
	bool six = address->ss_family == AF_INET6;
	const void *bytes =
		six ? (const void *)&((const struct sockaddr_in6 *)address)->sin6_addr
		    : (const void *)&((const struct sockaddr_in *)address)->sin_addr;
	inet_ntop(address->ss_family, bytes, text, sizeof(text));
	log_info("metrics are at http://%s%s%s:%u/metrics", six ? "[" : "", text,
		six ? "]" : "", info ? info->port : 0U);
}

int web_new(const struct files_context *context, const char *place, struct web **ret)
{
	struct sockaddr_storage address;
	socklen_t bytes;
	int err = parse_place(place, &address, &bytes);
	if (err)
		return err;
	struct web *web = calloc(1, sizeof(*web));
	if (!web)
		return -ENOMEM;
	web->context = context;
	web->stop = -1;
	TAILQ_INIT(&web->visitors);
	err = start(web, &address);
	if (err) {
		log_error("metrics: can't listen at %s: %s", place, strerror(-err));
		web_free(&web);
		return err;
	}
	log_place(web, &address);
	*ret = web;
	return 0;
}

void web_free(struct web **web)
{
	if (!*web)
		return;
	if ((*web)->running) {
		ensure(eventfd_write((*web)->stop, 1) == 0);
		ensure(pthread_join((*web)->thread, NULL) == 0);
	}
	if ((*web)->daemon)
		MHD_stop_daemon((*web)->daemon);
	if ((*web)->stop >= 0)
		close((*web)->stop);
	free(*web);
	*web = NULL;
}

#else

int web_new(const struct files_context *context, const char *place, struct web **ret)
{
	(void)context;
	(void)ret;
	log_error("metrics = %s: this joaderfs was built without libmicrohttpd; the file "
		  "metrics of the mount has the same data",
		place);
	return -ENOSYS;
}

void web_free(struct web **web)
{
	(void)web;
}

#endif
