// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "commands.h"
#include "doctor.h"
#include "request.h"

#include <stdarg.h>

void found(struct findings *findings, enum verdict verdict, const char *remedy,
	const char *format, ...)
{
	static const char *const words[] = {"ok", "costs", "breaks"};
	va_list args;
	findings->n[verdict]++;
	printf("%-7s ", words[verdict]);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(remedy ? "\n            %s\n" : "\n", remedy);
}

int doctor(int argc, char **argv)
{
	struct findings findings = {0};
	struct daemon_config config;
	if (argc > 2)
		return exit_usage("usage: joaderctl doctor [CONFIG]");
	if (argc == 2) {
		if (config_parse_daemon(argv[1], NULL, complain_of_ini, NULL, &config) !=
			0)
			return EXIT_FAILURE;
		findings.config = &config;
	}
	check_fuse(&findings);
	check_readers(&findings);
	check_limits(&findings);
	check_memory(&findings);
	check_datasets(&findings);
	check_jobs(&findings);
	check_cluster(&findings);
	if (argc == 2)
		config_daemon_free(&config);
	else
		puts("        (joaderctl doctor CONFIG also checks the cache, datasets "
		     "and jobs)");
	if (fflush(stdout) != 0)
		return EXIT_FAILURE;
	return findings.n[BREAKS] > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
