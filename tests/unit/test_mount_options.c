// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "fuse/mount_options.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Checks the options that libfuse gets; a comma follows each of them. */
static void check_options(const char *options, bool debug, const char *expected)
{
	struct fuse_args args;
	char joined[512] = "";
	cr_assert_eq(mount_options(options, debug, &args), 0, "%s", options);
	for (int i = 1; i < args.argc; i++) {
		if (strcmp(args.argv[i], "-o") == 0)
			continue;
		strcat(joined, args.argv[i]);
		strcat(joined, ",");
	}
	cr_assert_str_eq(joined, expected);
	fuse_opt_free_args(&args);
}

Test(mount_options, the_mount_is_read_only_and_bears_our_name)
{
	check_options(NULL, false, "ro,fsname=joaderfs,subtype=joaderfs,");
	check_options("", true, "ro,fsname=joaderfs,subtype=joaderfs,debug,");
	check_options("allow_other,fsname=x", false,
		"allow_other,fsname=x,ro,subtype=joaderfs,");
}

Test(mount_options, what_mount_adds_for_any_file_system_does_not_get_through)
{
	check_options("rw,_netdev,noauto,nosuid,x-systemd.automount", false,
		"nosuid,ro,fsname=joaderfs,subtype=joaderfs,");
}

Test(mount_options, an_unknown_one_is_refused)
{
	struct fuse_args args;
	cr_assert_eq(mount_options("allow_ohter", false, &args), -EINVAL);
	cr_assert_eq(mount_options("ro,fsname", false, &args), -EINVAL);
	cr_assert_eq(mount_options("ro,max_read=4096", false, &args), -EINVAL);
}

static int check_point(const char *mountpoint, char *state)
{
	struct daemon_config config = {.state = state};
	struct files_context context = {.config = &config, .mountpoint = mountpoint};
	return mount_point_check(&context);
}

Test(mount_point, is_a_directory_where_nothing_is_mounted_and_without_the_state)
{
	char root[] = "/tmp/joaderfs-test-XXXXXX", state[64], file[64];
	cr_assert(mkdtemp(root));
	snprintf(state, sizeof(state), "%s/state", root);
	snprintf(file, sizeof(file), "%s/file", root);
	cr_assert_eq(mkdir(state, 0700), 0);
	FILE *out = fopen(file, "w");
	fclose(out);
	char elsewhere[] = "/var";
	cr_assert_eq(check_point(root, elsewhere), 0);
	cr_assert_eq(check_point(file, state), -ENOTDIR);
	cr_assert_eq(check_point("/proc", state), -EBUSY);
	cr_assert_eq(check_point(root, state), -EINVAL);
	cr_assert_eq(check_point(state, state), -EINVAL);
	remove(file);
	remove(state);
	cr_assert_eq(check_point(state, root), -ENOENT);
	remove(root);
}
