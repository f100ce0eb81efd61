// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "far/credentials.h"
#include "far/far_internal.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Asks services for credentials: the service of a container, the service of a machine (IMDSv2), and
 * Amazon's STS, which gives credentials for a web identity. Only requests to STS use the
 * environment's proxy. */

#define MACHINE "http://169.254.169.254"
#define MACHINE_PATH "/latest/meta-data/iam/security-credentials/"
#define CONTAINER "http://169.254.170.2"

#define MEMBER                                                                           \
	"SELECT value FROM json_each(CASE WHEN json_valid(?1) THEN ?1 ELSE '{}' END)"    \
	" WHERE key = ?2 AND type IN ('text', 'integer')"

/* Returns the text of a field of a JSON object. The caller frees it; NULL: no such field. */
static char *json_member(const char *text, const char *name)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *read = NULL;
	char *ret = NULL;
	if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
		sqlite3_prepare_v2(db, MEMBER, -1, &read, NULL) == SQLITE_OK &&
		sqlite3_bind_text(read, 1, text, -1, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_bind_text(read, 2, name, -1, SQLITE_STATIC) == SQLITE_OK &&
		sqlite3_step(read) == SQLITE_ROW && sqlite3_column_text(read, 0))
		ret = strdup((const char *)sqlite3_column_text(read, 0));
	sqlite3_finalize(read);
	sqlite3_close(db);
	return ret;
}

static int check_all(struct credentials *ret, const char *expires, const char *from,
	struct far_error *error)
{
	int64_t at = expires ? answer_listed_time(expires) : 0;
	if (ret->key_id && ret->secret && at != INT64_MIN) {
		ret->expires = at;
		return 0;
	}
	credentials_free(ret);
	return far_fail(error, -EIO, "credentials: found none in the answer of %s", from);
}

int credentials_of_json(const char *text, const char *token_name, const char *from,
	struct credentials *ret, struct far_error *error)
{
	auto_free char *expires = json_member(text, "Expiration");
	*ret = (struct credentials){.key_id = json_member(text, "AccessKeyId"),
		.secret = json_member(text, "SecretAccessKey"),
		.token = json_member(text, token_name)};
	return check_all(ret, expires, from, error);
}

/* Sets *ret to the answer's text, which the caller frees. from: name of the service in messages. */
static int ask(struct call *call, const char *from, char **ret, struct far_error *error)
{
	char code[60];
	int err = call_run(call, error);
	*ret = call->text;
	if (err) {
		char message[FAR_MESSAGE];
		snprintf(message, sizeof(message), "%s", error->message);
		return far_fail(error, err, "credentials: %s: %.90s", from, message);
	}
	if (call->status == 200 && call->text)
		return 0;
	find_element(call->text, "Code", code, sizeof(code));
	return far_fail(error, -EACCES, "credentials: %s answers %ld%s%s", from,
		call->status, code[0] ? ": " : "", code);
}

/* Tells whether credentials may come from the URL: by https from any host; by http, which is not
 * encrypted, only from this machine and its services. */
static bool is_near(const char *url)
{
	static const char *const hosts[] = {"127.0.0.1", "localhost", "[::1]",
		"169.254.170.2", "169.254.170.23", "[fd00:ec2::23]"};
	if (strncmp(url, "https://", 8) == 0)
		return true;
	if (strncmp(url, "http://", 7) != 0)
		return false;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		size_t n = strlen(hosts[i]);
		if (strncmp(url + 7, hosts[i], n) == 0 &&
			(url[7 + n] == ':' || url[7 + n] == '/' || !url[7 + n]))
			return true;
	}
	return false;
}

/* Returns the first line of the file. The caller frees it; NULL: the file is empty, or can't
 * be read. */
static char *first_line(const char *path)
{
	char *line = NULL;
	size_t room = 0;
	auto_fclose FILE *file = fopen(path, "re");
	if (!file || getline(&line, &room, file) < 0) {
		free(line);
		return NULL;
	}
	line[strcspn(line, "\r\n")] = '\0';
	return line;
}

static int authorize(struct call *call, char **ret, struct far_error *error)
{
	const char *path = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	const char *given = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN");
	auto_free char *read = path ? first_line(path) : NULL;
	*ret = NULL;
	if (path && !read)
		return far_fail(error, -EIO, "credentials: %.100s can't be read", path);
	if (!read && !given)
		return 0;
	*ret = aprintf("Authorization: %s", read ? read : given);
	if (!*ret)
		return far_no_memory(error);
	call->head = *ret;
	return 0;
}

int container_credentials(struct credentials *ret, struct far_error *error)
{
	const char *relative = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	const char *full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI");
	auto_free char *url = NULL, *head = NULL, *text = NULL;
	url = aprintf("%s%s", relative ? CONTAINER : "", relative ? relative : full);
	if (!url)
		return far_no_memory(error);
	if (!is_near(url))
		return far_fail(error, -EINVAL,
			"AWS_CONTAINER_CREDENTIALS_FULL_URI: allowed: https, or http of "
			"this machine");
	struct call call = {.url = url};
	int err = authorize(&call, &head, error);
	if (!err)
		err = ask(&call, "the container's service", &text, error);
	return err ? err
		   : credentials_of_json(
			     text, "Token", "the container's service", ret, error);
}

static int line_bytes(const char *text)
{
	return (int)strcspn(text, "\r\n");
}

static int ask_machine(const char *base, const char *path, const char *head,
	const char *method, char **ret, struct far_error *error)
{
	*ret = NULL;
	auto_free char *url = aprintf("%s%s", base, path);
	if (!url)
		return far_no_memory(error);
	struct call call = {
		.url = url, .method = method, .head = head, .connect_ms = 1000};
	return ask(&call, "the machine's service", ret, error);
}

static int fetch_role(
	const char *base, const char *head, char **ret, struct far_error *error)
{
	auto_free char *role = NULL;
	int err = ask_machine(base, MACHINE_PATH, head, NULL, &role, error);
	if (err)
		return err;
	auto_free char *path = aprintf("%s%.*s", MACHINE_PATH, line_bytes(role), role);
	if (!path)
		return far_no_memory(error);
	return ask_machine(base, path, head, NULL, ret, error);
}

int machine_credentials(struct credentials *ret, struct far_error *error)
{
	const char *given = variable("AWS_EC2_METADATA_SERVICE_ENDPOINT");
	auto_free char *base = strdup(given ? given : MACHINE);
	auto_free char *token = NULL, *text = NULL;
	if (!base)
		return far_no_memory(error);
	for (size_t n = strlen(base); n > 0 && base[n - 1] == '/';)
		base[--n] = '\0';
	int err = ask_machine(base, "/latest/api/token",
		"X-aws-ec2-metadata-token-ttl-seconds: 21600", "PUT", &token, error);
	if (err && !given)
		return far_fail(error, err,
			"found no credentials in the environment, a profile or the "
			"machine's service; credentials = none reads without "
			"credentials");
	if (err)
		return err;
	auto_free char *head =
		aprintf("X-aws-ec2-metadata-token: %.*s", line_bytes(token), token);
	if (!head)
		return far_no_memory(error);
	err = fetch_role(base, head, &text, error);
	return err ? err
		   : credentials_of_json(
			     text, "Token", "the machine's service", ret, error);
}

/* Asks the host in $GCE_METADATA_HOST if this is set, as Google's tools do. */
int google_credentials(struct credentials *ret, struct far_error *error)
{
	const char *host = variable("GCE_METADATA_HOST");
	auto_free char *text = NULL;
	auto_free char *url =
		aprintf("http://%s/computeMetadata/v1/instance/service-accounts/default/"
			"token",
			host ? host : "metadata.google.internal");
	if (!url)
		return far_no_memory(error);
	struct call call = {
		.url = url, .head = "Metadata-Flavor: Google", .connect_ms = 1000};
	int err = ask(&call, "Google's machine", &text, error);
	if (err)
		return err;
	auto_free char *seconds = json_member(text, "expires_in");
	*ret = (struct credentials){.bearer = json_member(text, "access_token")};
	if (seconds && strtol(seconds, NULL, 10) > 0)
		ret->expires = (int64_t)time(NULL) + strtol(seconds, NULL, 10);
	return ret->bearer && ret->expires ? 0
					   : far_fail(error, -EIO,
						     "credentials: found none in the "
						     "answer of Google's machine");
}

static char *identity_body(const struct identity *identity, const char *token)
{
	char *body = NULL;
	size_t size;
	FILE *out = open_memstream(&body, &size);
	if (!out)
		return NULL;
	fputs("Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=", out);
	print_escaped(out, identity->role, false);
	fputs("&RoleSessionName=", out);
	print_escaped(out, identity->session ? identity->session : "joaderfs", false);
	fputs("&WebIdentityToken=", out);
	print_escaped(out, token, false);
	return close_text(out, &body);
}

static char *sts_url(const char *region)
{
	const char *given = variable("AWS_ENDPOINT_URL_STS");
	if (!given)
		given = variable("AWS_ENDPOINT_URL");
	return given ? aprintf("%s%s", given, given[strlen(given) - 1] == '/' ? "" : "/")
		     : aprintf("https://sts.%s.amazonaws.com%s/", region,
			       strncmp(region, "cn-", 3) == 0 ? ".cn" : "");
}

static char *element(const char *text, const char *name)
{
	char value[MOST_TOKEN];
	find_element(text, name, value, sizeof(value));
	return value[0] ? strdup(value) : NULL;
}

int identity_credentials(const struct identity *identity, const char *region,
	struct credentials *ret, struct far_error *error)
{
	static const char from[] = "STS";
	auto_free char *token = first_line(identity->file);
	auto_free char *body = token ? identity_body(identity, token) : NULL;
	auto_free char *url = sts_url(region), *text = NULL;
	if (!token)
		return far_fail(error, -EIO, "credentials: %.90s can't be read: %s",
			identity->file, strerror(errno));
	if (!body || !url)
		return far_no_memory(error);
	struct call call = {.url = url, .method = "POST", .body = body, .by_proxy = true};
	int err = ask(&call, from, &text, error);
	if (err)
		return err;
	auto_free char *expires = element(text, "Expiration");
	*ret = (struct credentials){.key_id = element(text, "AccessKeyId"),
		.secret = element(text, "SecretAccessKey"),
		.token = element(text, "SessionToken")};
	return check_all(ret, expires, from, error);
}
