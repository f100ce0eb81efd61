// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "far/far_internal.h"

#include "base/ensure.h"
#include "base/lock.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Each request uses a handle of libcurl. An unused handle keeps its connection open for
 * the next request. All handles share the resolved names and the TLS sessions. */

static atomic_bool stopped;

void far_stop(void)
{
	atomic_store(&stopped, true);
}

bool transfer_is_stopped(void)
{
	return atomic_load_explicit(&stopped, memory_order_relaxed);
}

#ifndef HAVE_CURL

int transfer_check(bool signs, struct far_error *error)
{
	(void)signs;
	return far_fail(error, -ENOTSUP,
		"this joaderfs was built without libcurl, which reads http, https and "
		"s3");
}

int transfer_run(struct transfer *transfer, struct far_error *error)
{
	(void)transfer;
	return transfer_check(false, error);
}

#else

#define CONNECT_MS 10000L
#define POLL_MS 200 /* pause between two checks for far_stop */
#define MOST_REDIRECTIONS 5L

struct handle {
	struct handle *next;
	CURL *easy;
	CURLM *multi;
	char error[CURL_ERROR_SIZE];
};

static struct lock idle_lock;
static struct handle *idle; /* (idle_lock) handles that no thread uses */
static struct lock share_locks[CURL_LOCK_DATA_LAST];
static CURLSH *share;
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* The first version of libcurl that signs all that s3 demands: also the content's hash and further
 * header lines. */
#define SIGNS_VERSION 0x075800 /* libcurl 7.88 */

int transfer_check(bool signs, struct far_error *error)
{
	const curl_version_info_data *info = curl_version_info(CURLVERSION_NOW);
	if (!signs || info->version_num >= SIGNS_VERSION)
		return 0;
	return far_fail(error, -ENOTSUP,
		"found libcurl %s, which can't sign for s3, allowed: 7.88 or later",
		info->version);
}

static void take_share(
	CURL *easy, curl_lock_data data, curl_lock_access access, void *context)
{
	(void)easy, (void)access, (void)context;
	lock_take(&share_locks[data]);
}

static void release_share(CURL *easy, curl_lock_data data, void *context)
{
	(void)easy, (void)context;
	lock_release(&share_locks[data]);
}

/* Lets all handles share names and sessions. If this fails, they share nothing. */
static void begin(void)
{
	lock_init(&idle_lock, LOCK_RANK_FAR, "far handles");
	for (size_t i = 0; i < CURL_LOCK_DATA_LAST; i++)
		lock_init(&share_locks[i], LOCK_RANK_FAR_SHARE + (enum lock_rank)i,
			"far share");
	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK ||
		!(share = curl_share_init()))
		return;
	curl_share_setopt(share, CURLSHOPT_LOCKFUNC, take_share);
	curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, release_share);
	curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
	curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
}

static struct handle *handle_new(void)
{
	struct handle *handle = calloc(1, sizeof(*handle));
	if (!handle)
		return NULL;
	handle->easy = curl_easy_init();
	handle->multi = curl_multi_init();
	if (handle->easy && handle->multi)
		return handle;
	curl_easy_cleanup(handle->easy);
	curl_multi_cleanup(handle->multi);
	free(handle);
	return NULL;
}

static struct handle *take_handle(void)
{
	ensure(pthread_once(&once, begin) == 0);
	lock_take(&idle_lock);
	struct handle *handle = idle;
	if (handle)
		idle = handle->next;
	lock_release(&idle_lock);
	return handle ? handle : handle_new();
}

static void give_handle(struct handle *handle)
{
	curl_easy_reset(handle->easy);
	LOCK_SCOPE(&idle_lock);
	handle->next = idle;
	idle = handle;
}

static size_t take_line(char *data, size_t size, size_t n, void *context)
{
	struct transfer *transfer = context;
	answer_line(&transfer->answer, data, size * n);
	return size * n;
}

/* Returns false if the text would have more than `most` bytes, or if there is no memory. */
static bool take_text(struct transfer *transfer, size_t most, const char *data, size_t n)
{
	size_t used = transfer->got;
	if (n > most - used)
		return false;
	char *grown = realloc(transfer->text, used + n + 1);
	if (!grown)
		return false;
	transfer->text = grown;
	memcpy(transfer->text + used, data, n);
	transfer->text[used + n] = '\0';
	transfer->got += n;
	return true;
}

/* Returns false if there are more bytes than Content-Range announced, or than were requested. */
static bool take_bytes(struct transfer *transfer, const char *data, size_t n)
{
	const struct answer *answer = &transfer->answer;
	uint64_t told = answer->has_range && answer->first == transfer->offset
				? answer->last - answer->first + 1
				: 0;
	if (told > transfer->bytes || transfer->got > told || n > told - transfer->got)
		return false;
	memcpy(transfer->out + transfer->got, data, n);
	transfer->got += n;
	return true;
}

static size_t take_body(char *data, size_t size, size_t n, void *context)
{
	struct transfer *transfer = context;
	long status = transfer->answer.status;
	bool good;
	n *= size;
	if (transfer->ranged && status == 206)
		good = take_bytes(transfer, data, n);
	else if (transfer->ranged && status == 200)
		good = n == 0;
	else
		good = take_text(transfer,
			status == 200 ? transfer->most : MOST_ERROR_BODY, data, n);
	transfer->wrong = transfer->wrong || !good;
	return good ? n : CURL_WRITEFUNC_ERROR;
}

/* Appends a header line. Returns false if there is no memory. */
printf_like(2, 3) static bool add_head(struct curl_slist **heads, const char *format, ...)
{
	char text[MOST_TOKEN];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	struct curl_slist *grown = curl_slist_append(*heads, text);
	if (grown)
		*heads = grown;
	return grown;
}

static struct curl_slist *heads_of(
	const struct transfer *transfer, const struct credentials *credentials)
{
	struct curl_slist *heads = NULL;
	const struct place *place = transfer->place;
	const char *bearer = credentials->bearer ? credentials->bearer : place->bearer;
	bool signs = credentials->key_id;
	if (add_head(&heads, "Accept: */*") &&
		(!transfer->ranged ||
			add_head(&heads, "Range: bytes=%" PRIu64 "-%" PRIu64,
				transfer->offset,
				transfer->offset + transfer->bytes - 1)) &&
		(!bearer || add_head(&heads, "Authorization: Bearer %s", bearer)) &&
		(!signs || add_head(&heads, "x-amz-content-sha256: UNSIGNED-PAYLOAD")) &&
		(!signs || !place->requester_pays ||
			add_head(&heads, "x-amz-request-payer: requester")) &&
		(!credentials->token ||
			add_head(&heads, "x-amz-security-token: %s", credentials->token)))
		return heads;
	curl_slist_free_all(heads);
	return NULL;
}

static void set_signature(
	CURL *easy, const struct place *place, const struct credentials *credentials)
{
	char provider[200];
	snprintf(provider, sizeof(provider), "aws:amz:%s:s3", place_region(place));
	curl_easy_setopt(easy, CURLOPT_AWS_SIGV4, provider);
	curl_easy_setopt(easy, CURLOPT_USERNAME, credentials->key_id);
	curl_easy_setopt(easy, CURLOPT_PASSWORD, credentials->secret);
}

/* Uses the certificate authorities to which environment variables point. The program curl does
 * this by itself, but libcurl does not. */
static void set_authorities(CURL *easy)
{
	const char *file = variable("CURL_CA_BUNDLE");
	const char *directory = variable("SSL_CERT_DIR");
	if (!file)
		file = variable("SSL_CERT_FILE");
	if (file)
		curl_easy_setopt(easy, CURLOPT_CAINFO, file);
	if (directory)
		curl_easy_setopt(easy, CURLOPT_CAPATH, directory);
}

static void set_protocols(CURL *easy)
{
#if LIBCURL_VERSION_NUM >= 0x075500
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
#else
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
	curl_easy_setopt(easy, CURLOPT_REDIR_PROTOCOLS, CURLPROTO_HTTP | CURLPROTO_HTTPS);
#endif
}

void transfer_set_common(CURL *easy)
{
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_USERAGENT, "joaderfs/" JOADERFS_VERSION);
	set_protocols(easy);
	set_authorities(easy);
}

/* A signed request follows no redirection: its signature is valid for one server. */
static void set_request(struct handle *handle, struct transfer *transfer,
	struct curl_slist *heads, const struct credentials *credentials)
{
	CURL *easy = handle->easy;
	const struct place *place = transfer->place;
	handle->error[0] = '\0';
	curl_easy_setopt(easy, CURLOPT_URL, transfer->url);
	curl_easy_setopt(easy, CURLOPT_SHARE, share);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, handle->error);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, heads);
	curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, (long)place->timeout_s);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_line);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer);
	transfer_set_common(easy);
	if (credentials->key_id) {
		set_signature(easy, place, credentials);
		return;
	}
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 1L);
	curl_easy_setopt(easy, CURLOPT_MAXREDIRS, MOST_REDIRECTIONS);
	curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_OPTIONAL);
}

CURLcode transfer_perform(CURLM *multi, CURL *easy)
{
	int running = 1, left;
	CURLcode code = CURLE_ABORTED_BY_CALLBACK;
	if (curl_multi_add_handle(multi, easy) != CURLM_OK)
		return CURLE_OUT_OF_MEMORY;
	while (running && !transfer_is_stopped()) {
		if (curl_multi_perform(multi, &running) != CURLM_OK)
			break;
		if (running)
			curl_multi_poll(multi, NULL, 0, POLL_MS, NULL);
	}
	const CURLMsg *message = curl_multi_info_read(multi, &left);
	if (message && message->msg == CURLMSG_DONE)
		code = message->data.result;
	curl_multi_remove_handle(multi, easy);
	return code;
}

static bool code_passes(CURLcode code)
{
	switch (code) {
	case CURLE_COULDNT_RESOLVE_PROXY:
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_CONNECT:
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
	case CURLE_PARTIAL_FILE:
	case CURLE_OPERATION_TIMEDOUT:
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_SEND_ERROR:
	case CURLE_RECV_ERROR:
	case CURLE_AGAIN:
	case CURLE_OUT_OF_MEMORY:
		return true;
	default:
		return false;
	}
}

static int judge(const struct handle *handle, const struct transfer *transfer,
	CURLcode code, struct far_error *error)
{
	if (code == CURLE_OK || (code == CURLE_WRITE_ERROR && transfer->wrong))
		return 0;
	error->passing = code_passes(code) || code == CURLE_ABORTED_BY_CALLBACK;
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return far_fail(error, -EINTR, "the read was interrupted");
	if (code == CURLE_OPERATION_TIMEDOUT && transfer->answer.status)
		return far_fail(error, -ETIMEDOUT,
			"the server has sent nothing for %u s after %llu bytes",
			transfer->place->timeout_s, (unsigned long long)transfer->got);
	return far_fail(error, code == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT : -EIO, "%s",
		handle->error[0] ? handle->error : curl_easy_strerror(code));
}

static int run(struct transfer *transfer, const struct credentials *credentials,
	struct far_error *error)
{
	struct handle *handle = take_handle();
	struct curl_slist *heads = handle ? heads_of(transfer, credentials) : NULL;
	answer_begin(&transfer->answer);
	if (heads)
		set_request(handle, transfer, heads, credentials);
	CURLcode code = heads ? transfer_perform(handle->multi, handle->easy)
			      : CURLE_OUT_OF_MEMORY;
	int err = handle ? judge(handle, transfer, code, error) : 0;
	if (!handle) {
		error->passing = true;
		err = far_no_memory(error);
	}
	if (handle)
		give_handle(handle);
	curl_slist_free_all(heads);
	return err;
}

int transfer_run(struct transfer *transfer, struct far_error *error)
{
	struct credentials credentials = {0};
	struct keyring *keyring = transfer->place->keyring;
	int err = 0;
	if (keyring)
		err = keyring_take(keyring, &credentials, &transfer->edition, error);
	if (!err)
		err = run(transfer, &credentials, error);
	credentials_free(&credentials);
	return err;
}

#endif
