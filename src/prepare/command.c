// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "prepare/command.h"
#include "base/aprintf.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

static int fail(
	char *message, int err, const char *key, const char *found, const char *allowed)
{
	snprintf(message, COMMAND_MESSAGE, "%s: found \"%s\", allowed: %s", key, found,
		allowed);
	return err;
}

static int split(const char *text, struct command *command, char *message)
{
	char *save = NULL;
	command->text = strdup(text);
	if (!command->text)
		return -ENOMEM;
	for (char *word = strtok_r(command->text, " \t", &save); word;
		word = strtok_r(NULL, " \t", &save)) {
		if (command->n == COMMAND_MOST_WORDS)
			return fail(
				message, -EINVAL, "command", text, "at most 32 words");
		command->words[command->n++] = word;
	}
	return 0;
}

/* Makes the environment of the program. The daemon's variables are omitted, because they may
 * contain credentials. A process has to compute in one thread, because there is usually a process
 * per CPU. */
static int fill_environment(
	const struct preparation_config *config, struct command *command)
{
	static const char *const fixed[] = {"PATH=/usr/local/bin:/usr/bin:/bin",
		"LANG=C.UTF-8", "HOME=/nonexistent", "PYTHONDONTWRITEBYTECODE=1",
		"OMP_NUM_THREADS=1", "OPENBLAS_NUM_THREADS=1", "MKL_NUM_THREADS=1"};
	enum { n = sizeof(fixed) / sizeof(fixed[0]) };
	char array[ARRAY_TEXT];
	_Static_assert(sizeof(command->environment) / sizeof(char *) > n + 1,
		"room for the array, and NULL");
	for (size_t i = 0; i < n; i++)
		if (!(command->environment[i] = strdup(fixed[i])))
			return -ENOMEM;
	array_print(&config->array, array);
	command->environment[n] = aprintf("JOADERFS_ARRAY=%s", array);
	if (!command->environment[n])
		return -ENOMEM;
	return 0;
}

static int find_user(
	const struct preparation_config *config, struct command *command, char *message)
{
	const char *name = config->user ? config->user : "nobody";
	struct passwd entry, *found = NULL;
	char text[4096];
	bool root = geteuid() == 0;
	if (!config->user && !root)
		return 0;
	int err = getpwnam_r(name, &entry, text, sizeof(text), &found);
	if (err || !found)
		return fail(message, -EINVAL, "user", name,
			"the name of a user of this machine");
	if (!root && entry.pw_uid != geteuid())
		return fail(message, -EPERM, "user", name,
			"the user of the daemon, which is not root's");
	command->changes_user = root;
	command->user = entry.pw_uid;
	command->group = entry.pw_gid;
	return 0;
}

static void add_text(EVP_MD_CTX *hash, const char *text)
{
	EVP_DigestUpdate(hash, text, strlen(text) + 1);
}

static int add_bytes(EVP_MD_CTX *hash, int fd)
{
	static const size_t size = 1 << 16;
	auto_free uint8_t *buffer = malloc(size);
	ssize_t n;
	if (!buffer)
		return -ENOMEM;
	while ((n = read(fd, buffer, size)) > 0)
		EVP_DigestUpdate(hash, buffer, (size_t)n);
	return n < 0 ? -errno : 0;
}

/* Adds the content of the file to the hash. If the daemon can't open the file, adds the file's size
 * and mtime instead. */
static int add_file(EVP_MD_CTX *hash, const char *path, const struct stat *st)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char text[64];
	if (fd >= 0)
		return add_bytes(hash, fd);
	snprintf(text, sizeof(text), "%lld %lld", (long long)st->st_size,
		(long long)st->st_mtime);
	add_text(hash, text);
	return 0;
}

static int add_words(EVP_MD_CTX *hash, struct command *command)
{
	int err = 0;
	for (unsigned i = 0; !err && i < command->n; i++) {
		const char *word = command->words[i];
		struct stat *st = &command->files[i];
		add_text(hash, word);
		if (*word != '/' || stat(word, st) != 0 || !S_ISREG(st->st_mode))
			*st = (struct stat){0};
		else
			err = add_file(hash, word, st);
	}
	return err;
}

static int identify(const struct preparation_config *config, struct command *command)
{
	EVP_MD_CTX *hash = EVP_MD_CTX_new();
	uint8_t bytes[EVP_MAX_MD_SIZE];
	char array[ARRAY_TEXT];
	if (!hash)
		return -ENOMEM;
	array_print(&config->array, array);
	int err = EVP_DigestInit_ex(hash, EVP_sha256(), NULL) == 1 ? 0 : -ENOMEM;
	if (!err)
		err = add_words(hash, command);
	if (!err) {
		add_text(hash, config->version ? config->version : "");
		add_text(hash, array);
		EVP_DigestFinal_ex(hash, bytes, NULL);
	}
	EVP_MD_CTX_free(hash);
	for (int i = 0; !err && i < 32; i++)
		snprintf(command->identity + 2 * i, 3, "%02x", bytes[i]);
	return err;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	       a->st_size == b->st_size && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	       a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

bool command_has_changed(
	const struct command *command, char message[static COMMAND_MESSAGE])
{
	for (unsigned i = 0; i < command->n; i++) {
		struct stat now = {0};
		if (command->files[i].st_ino == 0)
			continue;
		if (stat(command->words[i], &now) == 0 &&
			same_file(&now, &command->files[i]))
			continue;
		snprintf(message, COMMAND_MESSAGE,
			"%s has changed since the daemon started; start the daemon again",
			command->words[i]);
		return true;
	}
	return false;
}

static int check_program(const struct command *command, char *message)
{
	const char *program = command->words[0];
	struct stat st;
	int err = stat(program, &st) != 0 ? -errno : 0;
	if (!err && !(S_ISREG(st.st_mode) && (st.st_mode & 0111)))
		err = -EACCES;
	if (err)
		snprintf(message, COMMAND_MESSAGE,
			"command: found \"%s\" (%s), allowed: an executable program",
			program, strerror(-err));
	return err;
}

int command_new(const struct preparation_config *config, struct command *ret,
	char message[static COMMAND_MESSAGE])
{
	*ret = (struct command){.memory = config->memory};
	snprintf(message, COMMAND_MESSAGE, "no memory");
	int err = split(config->command, ret, message);
	if (!err)
		err = check_program(ret, message);
	if (!err)
		err = find_user(config, ret, message);
	if (!err)
		err = fill_environment(config, ret);
	if (!err)
		err = identify(config, ret);
	if (err)
		command_free(ret);
	return err;
}

void command_free(struct command *command)
{
	for (size_t i = 0; i < sizeof(command->environment) / sizeof(char *); i++)
		free(command->environment[i]);
	free(command->text);
	*command = (struct command){0};
}
