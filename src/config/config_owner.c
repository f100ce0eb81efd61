// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/cleanup.h"
#include "config/config_internal.h"
#include "config/config_owner.h"

#include <errno.h>
#include <grp.h>
#include <inttypes.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

/* bytes of the largest buffer for the entry of a user or group; a group may have many members */
#define MOST_ANSWER (1u << 20)
#define READABLE 0555

/* Finds the number of a user or group. -EAGAIN: the buffer is too small; -EINVAL: no such name. */
typedef int find_name(const char *name, char *buffer, size_t size, uint32_t *ret);

static int name_error(int err, bool found)
{
	if (found)
		return 0;
	return err == ERANGE ? -EAGAIN : (err == ENOMEM ? -ENOMEM : -EINVAL);
}

static int find_user(const char *name, char *buffer, size_t size, uint32_t *ret)
{
	struct passwd entry, *found = NULL;
	int err = getpwnam_r(name, &entry, buffer, size, &found);
	if (found)
		*ret = found->pw_uid;
	return name_error(err, found != NULL);
}

static int find_group(const char *name, char *buffer, size_t size, uint32_t *ret)
{
	struct group entry, *found = NULL;
	int err = getgrnam_r(name, &entry, buffer, size, &found);
	if (found)
		*ret = found->gr_gid;
	return name_error(err, found != NULL);
}

static int parse_number_or_name(const char *text, find_name *find, uint32_t *ret)
{
	int err = -EAGAIN;
	size_t digits = strspn(text, "0123456789");
	if (digits > 0 && text[digits] == '\0') {
		errno = 0;
		unsigned long long number = strtoull(text, NULL, 10);
		if (errno || number >= CONFIG_NO_OWNER)
			return -EINVAL;
		*ret = (uint32_t)number;
		return 0;
	}
	for (size_t size = 1024; err == -EAGAIN && size <= MOST_ANSWER; size *= 4) {
		auto_free char *buffer = malloc(size);
		err = buffer ? find(text, buffer, size, ret) : -ENOMEM;
	}
	return err == -EAGAIN ? -EINVAL : err;
}

static int parse_user(const struct value_input *in, void *field)
{
	return parse_number_or_name(in->text, find_user, field);
}

static int parse_group(const struct value_input *in, void *field)
{
	return parse_number_or_name(in->text, find_group, field);
}

/* Prints the number, because the name may later belong to another user. */
static void print_number(const struct option *option, const void *field, FILE *out)
{
	uint32_t number = *(const uint32_t *)field;
	if (number != CONFIG_NO_OWNER)
		fprintf(out, "%s = %" PRIu32 "\n", option->key, number);
}

const struct value_type value_user = {"user", false, parse_user, print_number,
	"the name of a user of this machine, or a number"};
const struct value_type value_group = {"group", false, parse_group, print_number,
	"the name of a group of this machine, or a number"};

static int parse_mode(const struct value_input *in, void *field)
{
	size_t n = strspn(in->text, "01234567");
	if (n < 3 || n > 4 || in->text[n] != '\0')
		return -EINVAL;
	uint32_t mode = (uint32_t)strtoul(in->text, NULL, 8);
	if (mode == 0 || (mode & ~(uint32_t)READABLE))
		return -EINVAL;
	*(uint32_t *)field = mode;
	return 0;
}

static void print_mode(const struct option *option, const void *field, FILE *out)
{
	uint32_t mode = *(const uint32_t *)field;
	if (mode)
		fprintf(out, "%s = %04" PRIo32 "\n", option->key, mode);
}

const struct value_type value_mode = {"mode", false, parse_mode, print_mode,
	"an octal mode of read (4) and search (1) only, as 0500, 0550 or 0555"};

struct job_owner config_job_owner(const struct job_config *config)
{
	struct job_owner owner = {.uid = config->owner,
		.gid = config->group,
		.mode = config->mode ? config->mode : READABLE};
	if (config->owner == CONFIG_NO_OWNER)
		owner.uid = geteuid();
	if (config->group == CONFIG_NO_OWNER)
		owner.gid = getegid();
	return owner;
}

bool config_is_master(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

bool config_job_allows(
	const struct job_config *config, const struct config_user *user, unsigned wanted)
{
	struct job_owner owner = config_job_owner(config);
	unsigned group = owner.mode >> 3 & 7, others = owner.mode & 7;
	if (config_is_master(user->uid))
		return true;
	if (user->uid == owner.uid)
		return (owner.mode >> 6 & wanted) == wanted;
	bool member = user->gid == owner.gid;
	if (!member && group != others)
		member = user->has_group(user->context, owner.gid);
	return ((member ? group : others) & wanted) == wanted;
}

/* Looks only into /etc/passwd, because other sources of names, such as a server, can be slow. */
void config_print_user(FILE *out, uid_t uid)
{
	auto_fclose FILE *users = fopen("/etc/passwd", "re");
	char buffer[1024];
	struct passwd entry, *found = NULL;
	while (users && fgetpwent_r(users, &entry, buffer, sizeof(buffer), &found) == 0) {
		if (entry.pw_uid != uid)
			continue;
		fputs(entry.pw_name, out);
		return;
	}
	fprintf(out, "%lu", (unsigned long)uid);
}
