// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/compare.h"
#include "base/signals.h"
#include "prepare/prepare.h"

#include <stdio.h>
#include <stdlib.h>

/* programs HELPER FUNCTION ANSWER: measures how long a sample takes in a program that prepares
 * samples. The preparation itself takes no time: the program answers each sample of 150 KB with the
 * same array of 150 KB. Measures two programs. The first runs joaderfs_prepare.py, whose path
 * is HELPER, with the Python file FUNCTION. The second is ANSWER, a program in C. One process
 * prepares one sample after another. */

#define SAMPLES 4000
#define BYTES 150528

static void measure(struct programs *programs, const char *name)
{
	static uint8_t data[BYTES];
	static uint64_t ns[SAMPLES];
	const struct program_sample sample = {"0001.wav", data, sizeof(data)};
	char message[IMAGE_MESSAGE];
	uint64_t all = 0;
	for (int i = -100; i < SAMPLES; i++) {
		struct tensor *tensor;
		uint64_t begin = clock_now_ns();
		if (programs_run(programs, programs_find(programs, name), &sample,
			    &tensor, message) != 0) {
			fprintf(stderr, "%s\n", message);
			exit(EXIT_FAILURE);
		}
		uint64_t took = clock_now_ns() - begin;
		tensor_free(tensor);
		if (i >= 0)
			all += ns[i] = took;
	}
	qsort(ns, SAMPLES, sizeof(ns[0]), compare_u64);
	printf("%-8s %6.1f us in the mean, %6.1f in the median, %6.1f for 99 %%\n", name,
		(double)all / SAMPLES / 1e3, (double)ns[SAMPLES / 2] / 1e3,
		(double)ns[SAMPLES * 99 / 100] / 1e3);
}

int main(int argc, char **argv)
{
	char python[1000], name[2][8] = {"Python", "C"};
	struct preparation_config preparations[2];
	struct programs *programs;
	if (argc != 4)
		return EXIT_FAILURE;
	snprintf(python, sizeof(python), "/usr/bin/python3 %s %s", argv[1], argv[2]);
	char *commands[] = {python, argv[3]};
	for (int i = 0; i < 2; i++) {
		preparations[i] = (struct preparation_config){.name = name[i],
			.command = commands[i],
			.processes = 1,
			.timeout_s = 30,
			.memory = UINT64_C(2) << 30};
		array_set_dtype(&preparations[i].array, 10);
		if (!array_parse_shape(&preparations[i].array, "128 294"))
			return EXIT_FAILURE;
	}
	char file[] = "the benchmark";
	const struct daemon_config config = {
		.file = file, .preparations = preparations, .n_preparations = 2};
	signals_begin_supervisor();
	if (programs_new(&config, true, &programs) != 0)
		return EXIT_FAILURE;
	for (int i = 0; i < 2; i++)
		measure(programs, name[i]);
	programs_stop(programs);
	programs_free(&programs);
	return 0;
}
