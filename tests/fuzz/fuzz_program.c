// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/ensure.h"
#include "prepare/process.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* The output of a program until it ends: the requested array, an error with a text, or nonsense,
 * which a message must name. */

#define MOST 60000 /* bytes that a pipe holds */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int pipe_with(const uint8_t *data, size_t size)
{
	int ends[2];
	ensure(pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0);
	ensure(write(ends[1], data, size) == (ssize_t)size);
	close(ends[1]);
	return ends[0];
}

static size_t rest_of(int fd)
{
	static uint8_t bytes[MOST];
	ssize_t n = read(fd, bytes, sizeof(bytes));
	return n > 0 ? (size_t)n : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct program_sample sample = {
		.name = "a.wav", .data = (const uint8_t *)"sound", .size = 5};
	struct array_type type;
	uint8_t tensor[24 * 4];
	char message[IMAGE_MESSAGE] = "";
	if (size > MOST)
		return 0;
	array_set_dtype(&type, 10);
	ensure(array_parse_shape(&type, "4 6"));
	struct process process = {.in = open("/dev/null", O_WRONLY | O_CLOEXEC),
		.out = pipe_with(data, size),
		.err = pipe_with(data, size < 100 ? size : 100),
		.pidfd = pipe_with(NULL, 0)};
	int err = process_ask(
		&process, &sample, &type, UINT64_C(1000000000), tensor, message);
	ensure(err == 0 || err == -EBADMSG || err == -EPROTO || err == -EPIPE);
	ensure(err == 0 || err == -EBADMSG || message[0]);
	size_t end = size - rest_of(process.out);
	ensure(err != 0 ||
		(end > sizeof(tensor) && memcmp(data + end - sizeof(tensor), tensor,
						 sizeof(tensor)) == 0));
	close(process.in);
	close(process.out);
	close(process.err);
	close(process.pidfd);
	return 0;
}
