// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "far/far_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Requests to services that give credentials are rare, so each request closes its connection. */

#ifndef HAVE_CURL

int call_run(struct call *call, struct far_error *error)
{
	(void)call;
	return transfer_check(true, error);
}

#else

#define CONNECT_MS 5000L
#define WHOLE_MS 10000L
#define MOST_ANSWER ((size_t)64 << 10)

static size_t take_body(char *data, size_t size, size_t n, void *context)
{
	struct call *call = context;
	n *= size;
	if (!call->text)
		call->text = calloc(1, MOST_ANSWER + 1);
	if (!call->text || n > MOST_ANSWER - call->used)
		return CURL_WRITEFUNC_ERROR;
	memcpy(call->text + call->used, data, n);
	call->used += n;
	call->text[call->used] = '\0';
	return n;
}

static void set_call(
	CURL *easy, struct call *call, struct curl_slist *heads, char *message)
{
	transfer_set_common(easy);
	curl_easy_setopt(easy, CURLOPT_URL, call->url);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, message);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, heads);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS,
		call->connect_ms ? call->connect_ms : CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, WHOLE_MS);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	if (call->body)
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, call->body);
	else if (call->method)
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, call->method);
	if (!call->by_proxy)
		curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
}

static int fail_call(struct far_error *error, CURLcode code, const char *message)
{
	int err = code == CURLE_OPERATION_TIMEDOUT    ? -ETIMEDOUT
		  : code == CURLE_ABORTED_BY_CALLBACK ? -EINTR
						      : -EIO;
	return far_fail(
		error, err, "%s", message[0] ? message : curl_easy_strerror(code));
}

int call_run(struct call *call, struct far_error *error)
{
	char message[CURL_ERROR_SIZE] = "";
	CURL *easy = curl_easy_init();
	CURLM *multi = curl_multi_init();
	struct curl_slist *heads =
		call->head ? curl_slist_append(NULL, call->head) : NULL;
	CURLcode code =
		easy && multi && (heads || !call->head) ? CURLE_OK : CURLE_OUT_OF_MEMORY;
	if (code == CURLE_OK) {
		set_call(easy, call, heads, message);
		code = transfer_perform(multi, easy);
	}
	if (code == CURLE_OK)
		curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &call->status);
	curl_easy_cleanup(easy);
	curl_multi_cleanup(multi);
	curl_slist_free_all(heads);
	return code == CURLE_OK ? 0 : fail_call(error, code, message);
}

#endif
