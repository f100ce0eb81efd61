// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "far/credentials.h"
#include "far/far_internal.h"

#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* The first origin that is configured is used, even if it gives no credentials:
 * credentials of an unintended identity would be worse than none. */

#define MOST_FILE 65536

char *variable(const char *name)
{
	char *value = getenv(name);
	return value && value[0] ? value : NULL;
}

/* Reads a whole text file. The caller frees *ret, which is NULL if the file does not exist. private:
 * the file must exist, and only its owner may have access. */
static int read_file(const char *path, bool private, char **ret, struct far_error *error)
{
	struct stat st;
	*ret = NULL;
	auto_fclose FILE *file = fopen(path, "re");
	if (!file && errno == ENOENT && !private)
		return 0;
	if (!file || fstat(fileno(file), &st) != 0)
		return far_fail(
			error, -EINVAL, "credentials: %s: %s", path, strerror(errno));
	if (private && (!S_ISREG(st.st_mode) || (st.st_mode & 077) != 0))
		return far_fail(error, -EINVAL,
			"credentials: %s: found the mode %04o, allowed: a file of mode "
			"0600",
			path, (unsigned)(st.st_mode & 07777));
	*ret = calloc(1, MOST_FILE + 1);
	if (!*ret)
		return far_no_memory(error);
	(*ret)[fread(*ret, 1, MOST_FILE, file)] = '\0';
	return 0;
}

int credentials_line(const char *path, bool private, char **ret, struct far_error *error)
{
	int err = read_file(path, private, ret, error);
	if (!err && *ret)
		(*ret)[strcspn(*ret, "\r\n")] = '\0';
	return err;
}

/* Sets *ret to the path in the environment variable; if it is not set, to ~/.aws/NAME. */
static int find_file(const char *name, const char *from_variable, char **ret)
{
	const char *home = variable("HOME");
	const struct passwd *user = home ? NULL : getpwuid(getuid());
	if (user)
		home = user->pw_dir;
	*ret = variable(from_variable) ? strdup(variable(from_variable))
				       : aprintf("%s/.aws/%s", home ? home : "", name);
	return *ret ? 0 : -ENOMEM;
}

static int add_file(struct profile *profile, const char *path, bool private,
	const char *section, struct far_error *error)
{
	auto_free char *text = NULL;
	int err = read_file(path, private, &text, error);
	if (!err && text && profile_read(profile, text, section) != 0)
		err = far_no_memory(error);
	return err;
}

static const char *profile_name(const struct key_settings *settings)
{
	const char *name = settings->profile ? settings->profile
			   : settings->file  ? NULL
					     : variable("AWS_PROFILE");
	return name ? name : "default";
}

int chain_profile(
	const struct key_settings *settings, struct profile *ret, struct far_error *error)
{
	const char *name = profile_name(settings);
	auto_free char *keys = NULL, *config = NULL;
	auto_free char *section =
		aprintf("%s%s", strcmp(name, "default") == 0 ? "" : "profile ", name);
	*ret = (struct profile){0};
	if (settings->file)
		return add_file(ret, settings->file, true, name, error);
	if (find_file("credentials", "AWS_SHARED_CREDENTIALS_FILE", &keys) != 0 ||
		find_file("config", "AWS_CONFIG_FILE", &config) != 0 || !section)
		return far_no_memory(error);
	int err = add_file(ret, keys, false, name, error);
	if (!err)
		err = add_file(ret, config, false, section, error);
	if (!err && !ret->found && (settings->profile || variable("AWS_PROFILE")))
		err = far_fail(error, -EINVAL,
			"profile: found \"%.40s\", allowed: a profile of %.30s or %.30s",
			name, keys, config);
	if (err)
		profile_free(ret);
	return err;
}

/* Fetches the credentials that the profile describes. Returns -ENOENT if the profile has no fields
 * for credentials. */
static int profile_credentials(const struct key_settings *settings, bool only_look,
	const struct profile *profile, struct credentials *ret, struct far_error *error)
{
	const struct credentials keys = {.key_id = profile->key_id,
		.secret = profile->secret,
		.token = profile->token,
		.read_anew = true};
	const struct identity identity = {.role = profile->role,
		.session = profile->session,
		.file = profile->identity};
	if (identity.role && identity.file)
		return only_look ? 0
				 : identity_credentials(
					   &identity, settings->region, ret, error);
	if (profile->role && profile->other_role)
		return far_fail(error, -EINVAL,
			"profile %.40s: found role_arn with source_profile or "
			"credential_source, allowed: keys, credential_process or "
			"web_identity_token_file",
			profile_name(settings));
	if (profile->key_id && profile->secret)
		return credentials_copy(&keys, ret) == 0 ? 0 : far_no_memory(error);
	if (profile->process)
		return only_look ? 0 : process_credentials(profile->process, ret, error);
	if (profile->sso)
		return far_fail(error, -EINVAL,
			"profile %.40s: found sso, allowed: credential_process = aws "
			"configure export-credentials --format process --profile ...",
			profile_name(settings));
	return -ENOENT;
}

/* Returns -ENOENT if the profile has no credentials, so that the caller tries the next origin. If
 * the user has named the profile or its file, returns -EINVAL instead. */
static int named_credentials(const struct key_settings *settings, bool only_look,
	struct credentials *ret, struct far_error *error)
{
	struct profile profile;
	int err = chain_profile(settings, &profile, error);
	if (!err)
		err = profile_credentials(settings, only_look, &profile, ret, error);
	profile_free(&profile);
	if (err == -ENOENT && settings->file)
		return far_fail(error, -EINVAL,
			"credentials: %s: found no aws_access_key_id and "
			"aws_secret_access_key in its section [%.30s]",
			settings->file, profile_name(settings));
	if (err == -ENOENT && settings->profile)
		return far_fail(error, -EINVAL, "profile %.40s: found no credentials",
			profile_name(settings));
	return err;
}

static int environment_credentials(struct credentials *ret, struct far_error *error)
{
	const struct credentials keys = {.key_id = variable("AWS_ACCESS_KEY_ID"),
		.secret = variable("AWS_SECRET_ACCESS_KEY"),
		.token = variable("AWS_SESSION_TOKEN")};
	if (!keys.key_id && !keys.secret)
		return -ENOENT;
	if (!keys.key_id || !keys.secret)
		return far_fail(error, -EINVAL,
			"only one of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY is set");
	return credentials_copy(&keys, ret) == 0 ? 0 : far_no_memory(error);
}

static int environment_identity(const struct key_settings *settings, bool only_look,
	struct credentials *ret, struct far_error *error)
{
	const struct identity identity = {.role = variable("AWS_ROLE_ARN"),
		.session = variable("AWS_ROLE_SESSION_NAME"),
		.file = variable("AWS_WEB_IDENTITY_TOKEN_FILE")};
	if (!identity.file)
		return -ENOENT;
	if (!identity.role)
		return far_fail(error, -EINVAL,
			"AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
	return only_look ? 0
			 : identity_credentials(&identity, settings->region, ret, error);
}

static int service_credentials(
	bool only_look, struct credentials *ret, struct far_error *error)
{
	const char *disabled = variable("AWS_EC2_METADATA_DISABLED");
	if (variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") ||
		variable("AWS_CONTAINER_CREDENTIALS_FULL_URI"))
		return only_look ? 0 : container_credentials(ret, error);
	if (disabled && strcasecmp(disabled, "true") == 0)
		return far_fail(error, -EINVAL,
			"found no credentials in the environment or a profile; "
			"credentials = none reads without credentials");
	return only_look ? 0 : machine_credentials(ret, error);
}

int chain_fetch(const struct key_settings *settings, bool only_look,
	struct credentials *ret, struct far_error *error)
{
	*ret = (struct credentials){0};
	if (settings->file || settings->profile)
		return named_credentials(settings, only_look, ret, error);
	if (settings->google)
		return only_look ? 0 : google_credentials(ret, error);
	int err = environment_credentials(ret, error);
	if (err == -ENOENT)
		err = environment_identity(settings, only_look, ret, error);
	if (err == -ENOENT)
		err = named_credentials(settings, only_look, ret, error);
	if (err == -ENOENT)
		err = service_credentials(only_look, ret, error);
	return err;
}
