// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "load/load_internal.h"

#include <errno.h>
#include <string.h>

int load_bytes(struct load_task *task)
{
	static const struct preparation as_it_is = {.encoded = true};
	struct load_read *read = load_read_new();
	task->preparation = &as_it_is;
	task->tensor = NULL;
	task->message[0] = '\0';
	int err = read ? load_read_prepare(read, task) : -ENOMEM;
	if (!err) {
		load_read_run(read);
		err = read->status;
		memcpy(task->message, read->message, sizeof(task->message));
	}
	if (!err) {
		task->tensor = read->tensor;
		read->tensor = NULL;
	}
	load_read_free(&read);
	return task->status = err;
}
