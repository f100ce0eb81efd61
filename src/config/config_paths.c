// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config.h"

#include <pwd.h>
#include <unistd.h>

/* Returns the directory that an environment variable names. NULL: there is none, or it is not
 * absolute and therefore ignored (XDG base directory specification). */
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
	return ""; /* the user is unknown, so the path begins at the root directory */
}

static char *join(const char *directory, const char *name)
{
	char *path;
	return asprintf(&path, "%s/%s", directory, name) < 0 ? NULL : path;
}

char *config_default_state(void)
{
	if (geteuid() == 0)
		return join("/var/lib", "joaderfs");
	const char *state = environment_directory("XDG_STATE_HOME");
	if (state)
		return join(state, "joaderfs");
	return join(home_directory(), ".local/state/joaderfs");
}

char *config_default_socket(void)
{
	if (geteuid() == 0)
		return join("/run", "joaderfs.sock");
	const char *runtime = environment_directory("XDG_RUNTIME_DIR");
	if (runtime)
		return join(runtime, "joaderfs.sock");
	auto_free char *state = config_default_state();
	return state ? join(state, "joaderfs.sock") : NULL;
}
