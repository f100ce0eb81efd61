// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "far/far_internal.h"

#include "base/clock.h"
#include "base/fault.h"
#include "stats/stats.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool far_is(const char *path)
{
	return strncmp(path, "http://", 7) == 0 || strncmp(path, "https://", 8) == 0 ||
	       cloud_of(path) != CLOUD_NONE;
}

int far_fail(struct far_error *error, int err, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(error->message, sizeof(error->message), format, args);
	va_end(args);
	return err;
}

int far_no_memory(struct far_error *error)
{
	return far_fail(error, -ENOMEM, "no memory");
}

static int fail_passing(struct far_error *error, int err, uint64_t retry_ns)
{
	error->passing = true;
	error->retry_ns = retry_ns;
	return err;
}

void find_element(const char *text, const char *name, char *ret, size_t size)
{
	char tag[40];
	snprintf(tag, sizeof(tag), "<%s>", name);
	const char *begin = text ? strstr(text, tag) : NULL;
	ret[0] = '\0';
	if (!begin)
		return;
	begin += strlen(tag);
	size_t n = strcspn(begin, "<");
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)begin[i] < ' ' || (unsigned char)begin[i] > '~')
			return;
	snprintf(ret, size, "%.*s", (int)n, begin);
}

/* Prints ": CODE: MESSAGE" from the body of an s3 error. */
static const char *reason(const struct transfer *transfer, char ret[140])
{
	char code[40], message[90];
	find_element(transfer->text, "Code", code, sizeof(code));
	find_element(transfer->text, "Message", message, sizeof(message));
	snprintf(ret, 140, "%s%s%s%s", code[0] ? ": " : "", code, message[0] ? ": " : "",
		message);
	return ret;
}

/* Tells whether the server's error is about the credentials. Its code is then in `codes`, which has
 * codes of s3 and compatible servers. Any other code may concern only this object. */
static bool is_about_credentials(const struct transfer *transfer)
{
	static const char *const codes[] = {"AccountProblem", "AuthenticationFailed",
		"AuthorizationHeaderMalformed", "ExpiredToken", "InvalidAccessKeyId",
		"InvalidSecurity", "InvalidToken", "NotSignedUp", "RequestExpired",
		"RequestTimeTooSkewed", "SignatureDoesNotMatch", "TokenRefreshRequired"};
	char code[40];
	find_element(transfer->text, "Code", code, sizeof(code));
	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if (strcmp(code, codes[i]) == 0)
			return true;
	return false;
}

static bool status_passes(long status)
{
	return status == 408 || status == 425 || status == 429 ||
	       (status >= 500 && status != 501 && status != 505);
}

/* Stores the bucket's region, from a header line or an error's body. Returns true if the region is
 * new. */
static bool learns_region(const struct transfer *transfer)
{
	char region[40];
	snprintf(region, sizeof(region), "%s", transfer->answer.region);
	if (!region[0])
		find_element(transfer->text, "Region", region, sizeof(region));
	return place_learns(transfer->place, region);
}

int far_refused(const struct transfer *transfer, struct far_error *error)
{
	char text[140];
	long status = transfer->answer.status;
	int err = status == 404 || status == 410   ? -ENOENT
		  : status == 401 || status == 403 ? -EACCES
		  : status == 416		   ? -ESTALE
						   : -EIO;
	(void)far_fail(error, err, "the server answers %ld%s%s", status,
		status == 416 ? ", the object has become shorter" : "",
		reason(transfer, text));
	if (learns_region(transfer)) {
		(void)far_fail(error, -EIO, "the bucket is in the region %s",
			place_region(transfer->place));
		return fail_passing(error, -EIO, 0);
	}
	if ((status >= 400 && status < 500 && is_about_credentials(transfer)) ||
		status == 401 || status == 403) {
		error->denied = true;
		if (transfer->place->keyring)
			keyring_refused(transfer->place->keyring, transfer->edition);
		return fail_passing(error, -EACCES, 0);
	}
	return status_passes(status) ? fail_passing(error, err, transfer->answer.retry_ns)
				     : err;
}

static int check_range(const struct transfer *transfer, struct far_error *error)
{
	const struct answer *answer = &transfer->answer;
	uint64_t last = transfer->offset + transfer->bytes - 1;
	if (answer->status == 200)
		return far_fail(error, -EIO,
			"the server sends the whole object (200) instead of the "
			"requested range (206): it can't be read in parts");
	if (answer->status != 206)
		return far_refused(transfer, error);
	if (!answer->has_range)
		return far_fail(
			error, -EIO, "the server does not state which range it sends");
	if (answer->first != transfer->offset || answer->last > last)
		return far_fail(error, -EIO,
			"the server sends the range %" PRIu64 "-%" PRIu64
			" instead of %" PRIu64 "-%" PRIu64,
			answer->first, answer->last, transfer->offset, last);
	if (transfer->wrong)
		return far_fail(error, -EIO,
			"the server sends more than the %" PRIu64
			" bytes that it announced",
			answer->last - answer->first + 1);
	return 0;
}

static int check_length(const struct transfer *transfer, struct far_error *error)
{
	const struct answer *answer = &transfer->answer;
	uint64_t told = answer->last - answer->first + 1;
	if (transfer->got == told)
		return 0;
	far_fail(error, -EIO, "the answer is cut off: %" PRIu64 " bytes of %" PRIu64,
		transfer->got, told);
	return fail_passing(error, -EIO, 0);
}

static int check_version(const struct transfer *transfer, const struct far_object *object,
	struct far_error *error)
{
	const struct answer *answer = &transfer->answer;
	int64_t found = answer_version(answer->etag, answer->modified);
	if ((answer->total != UINT64_MAX && answer->total != object->bytes) ||
		versions_differ(object->mtime_ns, found))
		return far_fail(
			error, -ESTALE, "changed since the scan (rescan the dataset)");
	return 0;
}

static int check_read(const struct transfer *transfer, const struct far_object *object,
	struct far_error *error)
{
	int err = check_range(transfer, error);
	if (!err)
		err = check_version(transfer, object, error);
	if (!err)
		err = check_length(transfer, error);
	if (!err && transfer->got != transfer->bytes)
		err = far_fail(error, -ESTALE,
			"has become shorter since the scan (rescan the dataset)");
	return err;
}

static int read_once(const struct far_object *object, uint64_t offset, uint64_t bytes,
	uint8_t *ret, struct far_error *error)
{
	const struct place *place = place_of(object->url);
	auto_free char *url = NULL;
	uint64_t begun_ns = clock_now_ns();
	*error = (struct far_error){0};
	int err = place_url(place, object, &url);
	if (err)
		return far_no_memory(error);
	struct transfer transfer = {.place = place,
		.url = url,
		.ranged = true,
		.offset = offset,
		.bytes = bytes,
		.out = ret};
	err = transfer_run(&transfer, error);
	stats_add(STAT_SOURCE_BYTES, transfer.got);
	if (!err)
		err = check_read(&transfer, object, error);
	free(transfer.text);
	if (!err)
		health_good(health_of(place, object->url), url, begun_ns);
	return err;
}

/* Tells whether the server refuses only single objects: reads a byte of an object that belongs to
 * the same source, and that could be read earlier. */
static bool others_are_allowed(const struct place *place, struct health *health)
{
	uint8_t byte[1];
	struct far_error error = {0};
	auto_free char *known = health_known(health);
	struct transfer transfer = {
		.place = place, .url = known, .ranged = true, .bytes = 1, .out = byte};
	bool good = known && transfer_run(&transfer, &error) == 0 &&
		    transfer.answer.status == 206;
	free(transfer.text);
	return good;
}

int far_read(const struct far_object *object, uint64_t offset, uint64_t bytes,
	uint8_t *ret, struct far_error *error)
{
	const struct place *place = place_of(object->url);
	*error = (struct far_error){0};
	if (bytes == 0)
		return 0;
	int err = fault_hit("far.read");
	if (err)
		return far_fail(error, err, "far.read: %s, as asked for", strerror(-err));
	err = read_once(object, offset, bytes, ret, error);
	if (!err || !error->denied)
		return err;
	struct health *health = health_of(place, object->url);
	if (others_are_allowed(place, health)) {
		err = read_once(object, offset, bytes, ret, error);
		if (err && error->denied)
			error->denied = error->passing = false;
	}
	if (err && error->denied)
		health_denied(health, error->message);
	return err;
}

static int take_look(const struct transfer *transfer, struct far_object *object,
	struct far_error *error)
{
	const struct answer *answer = &transfer->answer;
	object->mtime_ns = answer_version(answer->etag, answer->modified);
	/* Servers answer the range of an empty object by 416, or by 200 without a body. */
	if ((answer->status == 416 && answer->total == 0) ||
		(answer->status == 200 && transfer->got == 0 && !transfer->wrong)) {
		object->bytes = 0;
		return 0;
	}
	int err = check_range(transfer, error);
	if (!err && answer->total == UINT64_MAX)
		err = far_fail(
			error, -EIO, "the server does not state the object's length");
	if (!err)
		err = check_length(transfer, error);
	object->bytes = answer->total;
	return err;
}

static int look(
	struct far_object *object, uint8_t *ret, size_t *bytes, struct far_error *error)
{
	const struct place *place = place_of(object->url);
	auto_free char *url = NULL;
	*error = (struct far_error){0};
	int err = place_url(place, object, &url);
	if (err)
		return far_no_memory(error);
	struct transfer transfer = {
		.place = place, .url = url, .ranged = true, .bytes = *bytes, .out = ret};
	err = transfer_run(&transfer, error);
	if (!err)
		err = take_look(&transfer, object, error);
	free(transfer.text);
	*bytes = err || object->bytes == 0 ? 0 : (size_t)transfer.got;
	return err;
}

int far_look(
	struct far_object *object, uint8_t *ret, size_t *bytes, struct far_error *error)
{
	size_t asked = *bytes;
	int err;
	for (unsigned tried = 0;; tried++) {
		*bytes = asked;
		err = look(object, ret, bytes, error);
		if (!err || !far_tries_again(tried, error))
			return err;
	}
}
