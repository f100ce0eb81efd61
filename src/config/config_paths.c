// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "config/config.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <pwd.h>
#include <string.h>
#include <unistd.h>

/* Returns the directory that the variable names. NULL: the variable is not set, or its value is no
 * absolute path; the XDG specification demands that such a value is ignored. */
static const char *environment_directory(const char *variable)
{
	const char *value = getenv(variable);
	return value && value[0] == '/' ? value : NULL;
}

static const char *home_directory(void)
{
	const char *home = environment_directory("HOME");
	if (home)
		return home;
	const struct passwd *user = getpwuid(geteuid());
	if (user && user->pw_dir && user->pw_dir[0] == '/')
		return user->pw_dir;
	return ""; /* an unknown user: the path begins at the root directory */
}

char *config_default_state(void)
{
	if (geteuid() == 0)
		return strdup("/var/lib/joaderfs");
	const char *state = environment_directory("XDG_STATE_HOME");
	if (state)
		return aprintf("%s/joaderfs", state);
	return aprintf("%s/.local/state/joaderfs", home_directory());
}

char *config_default_socket(void)
{
	if (geteuid() == 0)
		return strdup("/run/joaderfs.sock");
	const char *runtime = environment_directory("XDG_RUNTIME_DIR");
	if (runtime)
		return aprintf("%s/joaderfs.sock", runtime);
	auto_free char *state = config_default_state();
	return state ? aprintf("%s/joaderfs.sock", state) : NULL;
}

static int is_ini(const struct dirent *entry)
{
	return fnmatch("*.ini", entry->d_name, FNM_PERIOD) == 0;
}

int config_each_ini(const char *directory, int (*visit)(void *context, const char *path),
	void *context)
{
	auto_free struct dirent **entries = NULL;
	int n = scandir(directory, &entries, is_ini, alphasort);
	int err = n < 0 ? -errno : 0;
	for (int i = 0; i < n; i++) {
		auto_free char *path = aprintf("%s/%s", directory, entries[i]->d_name);
		if (!err)
			err = path ? visit(context, path) : -ENOMEM;
		free(entries[i]);
	}
	return err;
}
