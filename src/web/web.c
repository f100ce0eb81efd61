// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "web/web.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>

#ifdef HAVE_MICROHTTPD

#include "base/address.h"
#include "files/made_text.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <signal.h>

#define MOST_CONNECTIONS 16
#define TIMEOUT_S 10
#define MEMORY_EACH 16384u /* bytes of a request's head, and more */

struct web {
	const struct files_context *context;
	struct MHD_Daemon *daemon;
};

/* --- answers ---------------------------------------------------------------------------- */

/* text: it is copied. */
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
	auto_free char *copy = strdup(text); /* the library wants no const */
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
	*upload_bytes = 0; /* what comes along is dropped */
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
		"there is nothing else here.\n");
}

/* --- the server ------------------------------------------------------------------------- */

static int parse_place(
	const char *place, struct sockaddr_storage *ret, socklen_t *ret_bytes)
{
	auto_free char *whole = NULL;
	bool only_port = place[0] && strspn(place, "0123456789") == strlen(place);
	if (asprintf(&whole, "%s%s", only_port ? "127.0.0.1:" : "", place) < 0) {
		whole = NULL;
		return -ENOMEM;
	}
	int err = address_parse(whole, ret, ret_bytes);
	if (err == -EINVAL)
		log_error("metrics: found \"%s\", allowed: PORT, ADDRESS:PORT or "
			  "[ADDRESS]:PORT, as 9101 or 127.0.0.1:9101",
			place);
	return err;
}

/* The library logs nothing; errno says why. */
static struct MHD_Daemon *start(struct web *web, const struct sockaddr_storage *address)
{
	unsigned flags = MHD_USE_AUTO | MHD_USE_INTERNAL_POLLING_THREAD;
	sigset_t all, before;
	if (address->ss_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	/* Signals are for other threads. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	errno = 0;
	struct MHD_Daemon *daemon = MHD_start_daemon(flags, 0, NULL, NULL, handle, web,
		MHD_OPTION_SOCK_ADDR, (const struct sockaddr *)address,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)MOST_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)TIMEOUT_S,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_EACH, MHD_OPTION_END);
	int err = errno;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = err;
	return daemon;
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
	web->daemon = start(web, &address);
	if (!web->daemon) {
		err = errno ? -errno : -EIO;
		log_error("metrics: can't listen at %s: %s", place, strerror(-err));
		free(web);
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
	MHD_stop_daemon((*web)->daemon);
	free(*web);
	*web = NULL;
}

#else

int web_new(const struct files_context *context, const char *place, struct web **ret)
{
	(void)context;
	(void)ret;
	log_error("metrics = %s: this joaderfs was built without libmicrohttpd; the "
		  "mount's "
		  "file metrics has the same",
		place);
	return -ENOSYS;
}

void web_free(struct web **web)
{
	(void)web;
}

#endif
