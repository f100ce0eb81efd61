// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/background.h"
#include "base/log.h"
#include "supervisor/supervisor.h"

#include <string.h>

/* Copies the arguments. Leaves ret[1] free for the argument that the supervisor adds. */
static char **engine_arguments(int argc, char **argv)
{
	char **ret = calloc((size_t)argc + 2, sizeof(*ret));
	if (!ret)
		return NULL;
	ret[0] = argv[0];
	for (int i = 1; i < argc; i++)
		ret[i + 1] = argv[i];
	return ret;
}

/* Returns the absolute path, which the caller frees; NULL: no such path, or no memory. is_mounted:
 * `path` is a mount that no process serves yet, so this function must not access it. */
static char *absolute(const char *path, bool is_mounted)
{
	if (!is_mounted)
		return realpath(path, NULL);
	if (*path == '/')
		return strdup(path);
	auto_free char *here = getcwd(NULL, 0);
	return here ? aprintf("%s/%s", here, path) : NULL;
}

int supervise(bool foreground, bool debug, int device, int argc, char **argv)
{
	auto_free char **first = engine_arguments(argc, argv);
	auto_free char **again = engine_arguments(argc, argv);
	auto_free char *ini = absolute(argv[argc - 2], false);
	auto_free char *mountpoint = absolute(argv[argc - 1], device != 0);
	struct supervisor_config config = {
		.first = first, .again = again, .watches = !debug, .device = device};
	int err = foreground ? 0 : background_begin();
	if (err)
		log_error("can't go to the background: %s", strerror(-err));
	if (err || !first || !again)
		return EXIT_FAILURE;
	/* A path that does not exist is passed on: the first engine reports it. */
	again[argc - 1] = ini ? ini : argv[argc - 2];
	again[argc] = mountpoint ? mountpoint : argv[argc - 1];
	return supervisor_run(&config);
}
