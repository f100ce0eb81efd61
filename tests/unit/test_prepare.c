// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/clock.h"
#include "base/signals.h"
#include "prepare/prepare.h"

#include <criterion/criterion.h>
#include <criterion/new/assert.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Programs, well-behaved and hostile ones: scripts that begin with this preamble. */

static const char preamble[] =
	"import os, sys, time\n"
	"def put(data):\n"
	"    os.write(1, data)\n"
	"def ready():\n"
	"    put(b'joaderfs-prepare 1\\n')\n"
	"def get():\n"
	"    line = sys.stdin.buffer.readline()\n"
	"    if not line: sys.exit(0)\n"
	"    global number\n"
	"    word, number, n, m = line.split()\n"
	"    assert word == b'sample'\n"
	"    return sys.stdin.buffer.read(int(n)), sys.stdin.buffer.read(int(m))\n"
	"def head(dtype='|u1', shape=(8,)):\n"
	"    text = \"{'descr': '%s', 'fortran_order': False, 'shape': %r, }\" % (dtype, "
	"shape)\n"
	"    return b'\\x93NUMPY\\x01\\0v\\0' + text.ljust(117).encode() + b'\\n'\n"
	"def array(data, head=head()):\n"
	"    put(b'array %s %d\\n' % (number, len(head) + len(data)) + head + data)\n"
	"def error(text):\n"
	"    put(b'error %s %d\\n' % (number, len(text)) + text)\n"
	"mark = __file__ + '.mark'\n"
	"def first():\n"
	"    try: os.close(os.open(mark, os.O_CREAT | os.O_EXCL))\n"
	"    except FileExistsError: return False\n"
	"    return True\n";

static char directory[32];
static char script[64], command[96];
static struct preparation_config preparation;
static struct daemon_config config;
static struct programs *programs;

static void begin(const char *text, uint32_t timeout_s)
{
	strcpy(directory, "/tmp/test_prepare.XXXXXX");
	cr_assert(mkdtemp(directory) != NULL);
	chmod(directory, 0777); /* the script runs as another user */
	snprintf(script, sizeof(script), "%s/script", directory);
	FILE *file = fopen(script, "w");
	cr_assert(file != NULL);
	fprintf(file, "%s%s", preamble, text);
	fclose(file);
	snprintf(command, sizeof(command), "/usr/bin/python3 -S %s", script);
	signals_begin_supervisor();
	preparation = (struct preparation_config){.name = strdup("double"),
		.command = command,
		.processes = 2,
		.timeout_s = timeout_s,
		.memory = UINT64_C(1) << 40};
	array_set_dtype(&preparation.array, 0);
	cr_assert(array_parse_shape(&preparation.array, "8"));
	config = (struct daemon_config){.file = strdup("joaderfs.ini"),
		.preparations = &preparation,
		.n_preparations = 1};
	cr_assert(eq(int, programs_new(&config, true, &programs), 0));
}

static void end(void)
{
	char text[128];
	programs_stop(programs);
	programs_free(&programs);
	unlink(script);
	snprintf(text, sizeof(text), "%s.mark", script);
	unlink(text);
	rmdir(directory);
	free(preparation.name);
	free(config.file);
}

/* Requests the array of a sample of 12 bytes, or of one that is larger than a pipe. */
static int ask(size_t size, char array[static 9], char message[static IMAGE_MESSAGE])
{
	uint8_t *data = calloc(1, size);
	memcpy(data, "012345678901", 12);
	struct program_sample sample = {.name = "a/b.wav", .data = data, .size = size};
	struct tensor *tensor;
	message[0] = '\0';
	int err = programs_run(
		programs, programs_find(programs, "double"), &sample, &tensor, message);
	cr_assert(eq(int, err == 0, tensor != NULL));
	if (!err)
		memcpy(array, tensor->data, 8);
	array[8] = '\0';
	tensor_free(tensor);
	free(data);
	return err;
}

static void expect_array(size_t size, const char *expected)
{
	char message[IMAGE_MESSAGE], array[9];
	cr_expect(eq(int, ask(size, array, message), 0), "%s", message);
	cr_expect(strcmp(array, expected) == 0, "found %s, expected %s", array, expected);
}

static void expect_error(const char *expected)
{
	char message[IMAGE_MESSAGE], array[9];
	cr_expect(eq(int, ask(12, array, message), -EIO), "for %s", expected);
	cr_expect(strstr(message, expected) != NULL, "found: %s, expected: %s", message,
		expected);
}

Test(prepare, samples_become_arrays)
{
	begin("ready()\n"
	      "while True:\n"
	      "    name, data = get()\n"
	      "    assert name == b'a/b.wav'\n"
	      "    array(data[2:10])\n",
		60);
	for (int i = 0; i < 20; i++)
		expect_array(12, "23456789");
	expect_array(5 << 20, "23456789");
	end();
}

/* A process continues after an error, and its messages block nobody. */
Test(prepare, an_error_is_of_one_sample)
{
	begin("ready()\n"
	      "for i in range(100):\n"
	      "    get()\n"
	      "    sys.stderr.write('x' * 100000)\n"
	      "    error(b'no\\xffsound') if i % 2 == 0 else array(b'%08d' % i)\n",
		60);
	for (int i = 0; i < 6; i += 2) {
		char expected[9] = "0000000";
		expected[7] = (char)('1' + i);
		expect_error("preparation double: no?sound");
		expect_array(12, expected);
	}
	end();
}

Test(prepare, a_process_that_dies_has_a_successor)
{
	begin("ready()\n"
	      "while True:\n"
	      "    get()\n"
	      "    if first(): os._exit(3)\n"
	      "    array(b'survived')\n",
		60);
	expect_array(12, "survived");
	end();
}

/* The kernel may kill a process because memory is short. No sample is to blame. */
Test(prepare, a_process_that_ended_while_nobody_asked)
{
	begin("ready()\n"
	      "get()\n"
	      "array(b'the last')\n",
		60);
	for (int i = 0; i < 3; i++) {
		expect_array(12, "the last");
		/* the process ends meanwhile, or a try fails; both are allowed */
		usleep(100000);
	}
	end();
}

Test(prepare, hostile_programs)
{
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"sys.exit('no module')", "has ended with status 1: no module"},
		{"ready(); get(); os._exit(3)", "has ended with status 3"},
		{"ready(); get(); os.abort()", "was ended by signal"},
		{"put(b'hello\\n')", "does not begin with joaderfs-prepare 1"},
		{"ready(); get(); put(b'array 2 136\\n' + head() + b'12345678')",
			"answered for another sample than the requested one"},
		{"ready(); get(); put(b'x' * 100000); time.sleep(9)",
			"an invalid answer"},
		{"ready(); get(); put(b'array 1 -1\\n'); time.sleep(9)",
			"an invalid answer"},
		{"ready(); get(); put(b'array 1 99999999999999999999\\n'); time.sleep(9)",
			"an invalid answer"},
		{"ready(); get(); put(b'error 1 99999\\n'); time.sleep(9)",
			"an error of more than 1024 bytes"},
		{"ready(); get(); put(b'array 1 136\\n' + b'x' * 136); time.sleep(9)",
			"sent no NumPy array"},
		{"ready(); get(); array(b'12345678', head('<f8')); time.sleep(9)",
			"sent an array of <f8 (8,), allowed: |u1 (8,)"},
		{"ready(); get(); array(b'12345678', head('|u1', (4, 2))); time.sleep(9)",
			"sent an array of |u1 (4, 2), allowed: |u1 (8,)"},
		{"ready(); get(); array(b'1234567'); time.sleep(9)",
			"whose length differs from its header's"},
		{"ready(); get(); array(b'123456789'); time.sleep(9)",
			"whose length differs from its header's"},
		{"ready(); get(); put(b'array 1 136\\n' + head() + b'12345678more'); "
		 "time.sleep(9)",
			"more than it was asked for"},
		{"ready(); get(); put(b'array 1 136\\n' + head() + b'1234'); os._exit(0)",
			"has ended with status 0"},
		{"os.close(1); time.sleep(9)", "has closed its output"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin(cases[i].text, 60);
		expect_error(cases[i].message);
		end();
	}
}

Test(prepare, what_does_not_answer_in_time)
{
	static const char *const texts[] = {"ready(); get(); put(b'arr'); time.sleep(99)",
		"ready(); get()\nwhile True: sys.stderr.write('x' * 1000)"};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		begin(texts[i], 1);
		expect_error("has not answered for 1 s");
		end();
	}
}

/* Bytes that a process writes later belong to no other sample. */
Test(prepare, an_answer_that_nobody_has_asked_for)
{
	begin("ready()\n"
	      "while True:\n"
	      "    get()\n"
	      "    array(b'asked   ')\n"
	      "    array(b'unasked ')\n",
		60);
	for (int i = 0; i < 4; i++) {
		char message[IMAGE_MESSAGE], array[9];
		int err = ask(12, array, message);
		cr_expect(err == 0 || err == -EIO);
		if (!err)
			cr_expect(strcmp(array, "asked   ") == 0, "found %s", array);
	}
	end();
}

static void *ask_in_thread(void *context)
{
	char message[IMAGE_MESSAGE], array[9];
	*(int *)context = ask(12, array, message);
	return NULL;
}

Test(prepare, the_end_waits_for_no_program)
{
	pthread_t threads[3]; /* two of them have a process, and one waits for one */
	int err[3];
	begin("ready(); get(); first(); time.sleep(99)", 60);
	char mark[128];
	snprintf(mark, sizeof(mark), "%s.mark", script);
	for (int i = 0; i < 3; i++)
		pthread_create(&threads[i], NULL, ask_in_thread, &err[i]);
	while (access(mark, F_OK) != 0)
		usleep(1000);
	programs_stop(programs);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		cr_expect(eq(int, err[i], -EINTR));
	}
	end();
}

Test(prepare, files_that_change)
{
	begin("ready()\nget()\narray(b'12345678')\nget()\nos._exit(0)\n", 60);
	expect_array(12, "12345678");
	FILE *file = fopen(script, "a");
	fputs("# another program\n", file);
	fclose(file);
	expect_error("has changed since the daemon started");
	end();
}

/* --- identities ----------------------------------------------------------------------- */

static void identity_of(char ret[65])
{
	struct programs *own;
	cr_assert(eq(int, programs_new(&config, true, &own), 0));
	strcpy(ret, programs_find(own, "double")->identity);
	programs_free(&own);
}

Test(prepare, identities)
{
	char first[65], again[65], other[5][65], longer[128];
	begin("", 60);
	identity_of(first);
	preparation.timeout_s = 3;
	preparation.processes = 1;
	identity_of(again);
	cr_expect(strcmp(first, again) == 0);
	preparation.version = strdup("2");
	identity_of(other[0]);
	array_parse_shape(&preparation.array, "9");
	identity_of(other[1]);
	array_set_dtype(&preparation.array, 1);
	identity_of(other[2]);
	snprintf(longer, sizeof(longer), "%s 5", command);
	preparation.command = longer;
	identity_of(other[3]);
	FILE *file = fopen(script, "a");
	fputs("# another program\n", file);
	fclose(file);
	identity_of(other[4]);
	for (int i = 0; i < 5; i++) {
		cr_expect(strcmp(first, other[i]) != 0);
		for (int k = 0; k < i; k++)
			cr_expect(strcmp(other[k], other[i]) != 0);
	}
	free(preparation.version);
	preparation.processes = 2;
	end();
}

Test(prepare, commands_that_can_not_be_run)
{
	struct programs *own;
	begin("", 60);
	preparation.command = strdup("/nowhere/program 1");
	cr_expect(eq(int, programs_new(&config, true, &own), -ENOENT));
	/* allowed, with a warning */
	cr_expect(eq(int, programs_new(&config, false, &own), 0));
	programs_free(&own);
	free(preparation.command);
	preparation.command = strdup("/etc/passwd");
	cr_expect(eq(int, programs_new(&config, true, &own), -EACCES));
	free(preparation.command);
	preparation.command = command;
	preparation.user = strdup("no-such-user");
	cr_expect(eq(int, programs_new(&config, true, &own), -EINVAL));
	free(preparation.user);
	end();
}
