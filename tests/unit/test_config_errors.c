// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config_helpers.h"

#include <errno.h>

/* Invalid inis: every mistake is reported, with exactly these words. */

static struct messages messages;

struct wrong {
	const char *ini;
	const char *messages;
};

/* Sections that complete a test's lines to a valid ini. */
#define JOB "[job]\nname = a\ndataset = b\n"
#define DATASET "[dataset d]\npath = /d\n"

static void expect_wrong_job(const char *text, const char *expected)
{
	struct job_config job;
	cr_assert_eq(parse_job(text, &messages, &job), -EINVAL, "%s", text);
	cr_assert_str_eq(messages.text, expected);
}

static void expect_wrong_daemon(const char *text, const char *expected)
{
	struct daemon_config daemon;
	cr_assert_eq(load_daemon(text, &messages, &daemon), -EINVAL, "%s", text);
	cr_assert_str_eq(messages.text, expected);
}

#define DAEMON_SECTIONS                                                                  \
	"allowed: [joaderfs], [cluster], [dataset NAME], [template NAME], [preparation " \
	"NAME]"
#define JOB_SECTIONS "allowed: [job], [tensor], [augment], [view]"
#define JOB_KEYS                                                                         \
	"allowed: name, dataset, label_table, epochs, order, where, owner, "             \
	"group, mode, weight, idle, second_script, other_machines, script, "             \
	"bad_sample, keep_epochs, ranks, rank, local_ranks, node_rank, training, "       \
	"global_batch"
#define DAEMON_KEYS                                                                      \
	"allowed: cache, eviction, sampler, workers, share, reads, max_pixels, seed, "   \
	"state, "                                                                        \
	"jobs, "                                                                         \
	"socket, socket_group, metrics"
#define OR_URL                                                                           \
	"; or a URL of http, https, s3, gs, az or hf, without spaces and without a user"
#define NAMES "allowed: 1 to 64 of A-Z a-z 0-9 . _ -, not starting with a dot"
#define OR_SEVERAL                                                                       \
	"; or up to 16 different names, separated by blanks or commas, each with or "    \
	"without a weight above 0, like photos:3 sketches:1, at most 180 bytes"
#define FORM "allowed: [SECTION], KEY = VALUE, or a comment after ; or #"

Test(config_errors, unknown_sections_and_keys)
{
	expect_wrong_job(JOB "[tensors]\ncrop = x\n",
		"job.ini:4:[tensors]: found \"tensors\", " JOB_SECTIONS
		"; did you mean \"tensor\"?\n");
	expect_wrong_job(JOB "[optimizer]\n",
		"job.ini:4:[optimizer]: found \"optimizer\", " JOB_SECTIONS "\n");
	expect_wrong_job(JOB "[view x]\n",
		"job.ini:4:[view x]: found \"view x\", " JOB_SECTIONS
		"; did you mean \"view\"?\n");
	expect_wrong_job(JOB "epoch = 3\n",
		"job.ini:4:[job]:epoch: found \"epoch\", " JOB_KEYS
		"; did you mean \"epochs\"?\n");
	expect_wrong_job(JOB "learning_rate = 0.1\n",
		"job.ini:4:[job]:learning_rate: found \"learning_rate\", " JOB_KEYS "\n");
	expect_wrong_job(JOB "crop = 3\n",
		"job.ini:4:[job]:crop: found \"crop\", " JOB_KEYS
		"; it belongs to [tensor]\n");
	expect_wrong_daemon("[joaderfs]\nCache = 4G\n" DATASET,
		"joaderfs.ini:2:[joaderfs]:Cache: found \"Cache\", " DAEMON_KEYS
		"; did you mean \"cache\"?\n");
	expect_wrong_daemon("[data set x]\npath = /x\n" DATASET,
		"joaderfs.ini:1:[data set x]: found \"data set x\", " DAEMON_SECTIONS
		"; did you mean \"dataset\"?\n");
}

Test(config_errors, names_of_datasets_and_jobs)
{
	static const char *const names[] = {".a", "a/b", "a b", "\xc3\xa9",
		"12345678901234567890123456789012345678901234567890123456789012345"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char text[256], expected[512];
		snprintf(text, sizeof(text), "[dataset %s]\npath = /a\n", names[i]);
		snprintf(expected, sizeof(expected),
			"joaderfs.ini:1:[dataset %s]: found \"dataset %s\", allowed: "
			"[dataset NAME], NAME: 1 to 64 of A-Z a-z 0-9 . _ -, not "
			"starting "
			"with a dot\n",
			names[i], names[i]);
		expect_wrong_daemon(text, expected);
		snprintf(text, sizeof(text), "[job]\ndataset = b\nname = %s\n", names[i]);
		snprintf(expected, sizeof(expected),
			"job.ini:3:[job]:name: found \"%s\", " NAMES "\n", names[i]);
		expect_wrong_job(text, expected);
	}
	expect_wrong_daemon("[dataset]\npath = /a\n",
		"joaderfs.ini:1:[dataset]: found \"dataset\", allowed: [dataset NAME], "
		"NAME: "
		"1 to 64 of A-Z a-z 0-9 . _ -, not starting with a dot\n");
}

Test(config_errors, what_is_missing)
{
	expect_wrong_job("",
		"job.ini:[job]:name: found nothing, " NAMES "\n"
		"job.ini:[job]:dataset: found nothing, " NAMES OR_SEVERAL "\n");
	expect_wrong_daemon("",
		"joaderfs.ini: found no [dataset NAME], allowed: at least "
		"one\n");
	expect_wrong_daemon("[dataset d]\n",
		"joaderfs.ini:[dataset d]:path: found nothing, allowed: "
		"an absolute path, or one relative to the directory of "
		"this ini, without quotes and without ~" OR_URL "\n");
	expect_wrong_daemon("[dataset d]\npath =\n",
		"joaderfs.ini:2:[dataset d]:path: found \"\", allowed: an absolute path, "
		"or one relative to the directory of this ini, without quotes and "
		"without ~" OR_URL "\n");
}

Test(config_errors, what_is_given_twice)
{
	expect_wrong_job(JOB "name = c\n", "job.ini:4:[job]:name: found \"name\" again, "
					   "allowed: once; it is in line "
					   "2\n");
	expect_wrong_job(JOB "[job]\nepochs = 3\nname = c\n",
		"job.ini:4:[job]: found \"job\" again, allowed: once; it is in line 1\n"
		"job.ini:6:[job]:name: found \"name\" again, allowed: once; it is in "
		"line "
		"2\n");
	expect_wrong_daemon(DATASET "[dataset e]\npath = /d\n[dataset  d]\n",
		"joaderfs.ini:5:[dataset d]: found \"dataset d\" again, allowed: once; "
		"it is "
		"in line 1\n");
}

Test(config_errors, choices)
{
	expect_wrong_daemon("[joaderfs]\neviction = lru2\nsampler = exchanged\n" DATASET
			    "symlinks = yes\n",
		"joaderfs.ini:2:[joaderfs]:eviction: found \"lru2\", allowed: refcnt, "
		"lru, "
		"fifo, random; did you mean \"lru\"?\n"
		"joaderfs.ini:3:[joaderfs]:sampler: found \"exchanged\", allowed: dsa, "
		"isa, exchange; did you mean \"exchange\"?\n"
		"joaderfs.ini:6:[dataset d]:symlinks: found \"yes\", allowed: inside, "
		"follow\n");
	expect_wrong_job(JOB "order = Shuffled\n[tensor]\nformat = pmm\n[view]\n"
			     "layout = classed\nsize =\n",
		"job.ini:4:[job]:order: found \"Shuffled\", allowed: shuffled, "
		"sequential, replay:FILE with an absolute path; "
		"did you mean \"shuffled\"?\n"
		"job.ini:6:[tensor]:format: found \"pmm\", allowed: ppm, bmp, png, npy, "
		"raw, "
		"source, record; did you mean \"ppm\"?\n"
		"job.ini:8:[view]:layout: found \"classed\", allowed: flat, classes, "
		"mirror, tar, batch; did you mean \"classes\"?\n"
		"job.ini:9:[view]:size: found \"\", allowed: padded, exact\n");
}

struct refused {
	const char *section;
	const char *key;
	const char *allowed;
	const char *values[16]; /* ends with NULL */
};

static void expect_refused(const struct refused *refused, bool daemon)
{
	for (size_t i = 0; refused->values[i]; i++) {
		const char *value = refused->values[i];
		char text[512], expected[1024];
		const char *before = strcmp(refused->section, "job") == 0 ? JOB : "";
		const char *after = *before || daemon ? "" : JOB;
		if (!*before)
			before = daemon ? DATASET "[joaderfs]\n" : "[view]\n";
		if (strcmp(refused->section, "tensor") == 0)
			before = "[tensor]\n";
		if (strcmp(refused->section, "augment") == 0)
			before = "[augment]\n";
		if (strcmp(refused->section, "dataset d") == 0)
			before = DATASET;
		unsigned line = 1;
		for (const char *c = before; *c; c++)
			line += *c == '\n';
		snprintf(text, sizeof(text), "%s%s = %s\n%s", before, refused->key, value,
			after);
		snprintf(expected, sizeof(expected),
			"%s:%u:[%s]:%s: found \"%s\", allowed: %s\n",
			daemon ? "joaderfs.ini" : "job.ini", line, refused->section,
			refused->key, value, refused->allowed);
		if (daemon)
			expect_wrong_daemon(text, expected);
		else
			expect_wrong_job(text, expected);
	}
}

Test(config_errors, values_of_the_daemon)
{
	static const struct refused refused[] = {
		{"joaderfs", "cache",
			"auto, or bytes, or a number with K, M, G or T (powers of 1024), "
			"like 512M or 4G; at least 1",
			{"0", "Auto", "+1", "4g", "4GB", "4 G", "1.5G", "G", "",
				"9223372036854775808", "99999999T"}},
		{"joaderfs", "reads", "auto, or 1..1024", {"0", "1025", "many", "-1"}},
		{"joaderfs", "workers", "auto, or 1..1024",
			{"0", "1025", "many", "2x", "0x2", "4294967297"}},
		{"joaderfs", "max_pixels", "1..4294967295",
			{"0", "-1", "4294967296", "1M"}},
		{"joaderfs", "seed", "0..18446744073709551615",
			{"-1", "18446744073709551616", "x"}},
		{"dataset d", "extensions",
			"endings without dots, separated by spaces, like jpg png, at "
			"most "
			"160 bytes; or *",
			{"", ".jpg", "jpg,png", "jpg *", "*.jpg", "tar.gz"}},
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		expect_refused(&refused[i], true);
}

Test(config_errors, values_of_a_job)
{
	static const char pixels[] = "N or WxH, each 1..65500";
	static const struct refused refused[] = {
		{"job", "epochs", "1..16383", {"0", "16384", "-1", "1e3", ""}},
		{"job", "idle",
			"seconds, or a number with s, m or h, like 600, 10m or 1h; at "
			"least "
			"1 s",
			{"0", "0m", "10M", "1d", "10 m", "m", "", "4294967296",
				"1193047h"}},
		{"job", "where", "1 to 180 bytes, not beginning with ;", {""}},
		{"tensor", "pad", "square, or N or WxH, each 1..65500",
			{"0", "squared", "65501", ""}},
		{"tensor", "fill",
			"a number, or three for red, green and blue, each 0..255",
			{"256", "-1", "1 2", "1 2 3 4", "1,2,3", ""}},
		{"tensor", "resize", "N, max:N or WxH, each 1..65500",
			{"max:", "max:0", "max:8x8", "max256", "0", "65501", "256x",
				"x256", "256x0", "0x256", "256X256", "256x8x8",
				"256 x 256", "-1", ""}},
		{"tensor", "crop", pixels, {"0", "65501", "8x65501", "224.0"}},
		{"augment", "random_crop", pixels, {"0", "65501", "8x"}},
		{"augment", "random_resized_crop", pixels, {"0", "224x224x3"}},
		{"augment", "hflip", "a number from 0 to 1, like 0.5",
			{"-0.1", "1.1", "50%", "nan", "1e-3", "0,5", "", ".",
				"0.1234567890123456"}},
		{"augment", "normalize",
			"three means / three standard deviations above 0, like 0.485 "
			"0.456 0.406 / 0.229 0.224 0.225, or one / one for gray; with "
			"channels = keep, one of each for each channel, up to 4",
			{"0.5 / 0", "1 / 1 1 1", "0 0 / 1", "/", "0.5", "0 0 0",
				"0 0 0 / 1 1 0", "0 0 0 / 1 1 -1", "0 0 0 / 1 1 1 1",
				"0 0 0 0 / 1 1 1", "0.5.5 0 / 1 1 1", "0 0 0 1 1 1",
				"inf 0 0 / 1 1 1", ""}},
		{"augment", "seed", "0..18446744073709551615", {"-1", "x"}},
		{"view", "extension", "1 to 16 letters and digits, not cls",
			{"", ".jpg", "cls", "12345678901234567", "a/b"}},
		{"view", "lookahead", "auto, or 1..65536", {"0", "65537", "far"}},
	};
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		expect_refused(&refused[i], false);
	expect_wrong_job(JOB "where=;drop\n",
		"job.ini:4:[job]:where: found \";drop\", allowed: 1 to 180 bytes, not "
		"beginning with ;\n");
}

Test(config_errors, keys_that_contradict_each_other)
{
	expect_wrong_job(JOB "[tensor]\nformat = source\nresize = 256\ncrop = 224\n",
		"job.ini:6:[tensor]:resize: found \"resize\", allowed: not with format = "
		"source, which gives the file as it is\n"
		"job.ini:7:[tensor]:crop: found \"crop\", allowed: not with format = "
		"source, "
		"which gives the file as it is\n");
	static const char raw[] =
		"job.ini:5:[tensor]:format: found \"raw\", allowed: only with crop, "
		"pad, random_crop, random_resized_crop or resize = WxH, since a raw file "
		"does not state its size\n";
	expect_wrong_job(JOB "[tensor]\nformat = raw\n", raw);
	expect_wrong_job(JOB "[tensor]\nformat = raw\nresize = 256\n", raw);
	expect_wrong_job(JOB "[tensor]\nformat = raw\ncrop = big\n",
		"job.ini:6:[tensor]:crop: found \"big\", allowed: N or WxH, each "
		"1..65500\n");
}

Test(config_errors, gray_that_contradicts)
{
	expect_wrong_job(JOB "[tensor]\nformat = bmp\nchannels = gray\n",
		"job.ini:6:[tensor]:channels: found \"gray\", allowed: rgb, with format "
		"= bmp; ppm, png, npy, record and raw hold gray\n");
	expect_wrong_job(JOB "[tensor]\nformat = npy\nchannels = gray\ndtype = float32\n"
			     "[augment]\nnormalize = 0 0 0 / 1 1 1\n",
		"job.ini:9:[augment]:normalize: found 3 means / 3 standard "
		"deviations, allowed: 1 / 1, with channels = gray in [tensor]\n");
	expect_wrong_job(JOB "[tensor]\nformat = npy\ndtype = float32\n"
			     "[augment]\nnormalize = 0.5 / 1\n",
		"job.ini:8:[augment]:normalize: found 1 means / 1 standard "
		"deviations, allowed: 3 / 3, with channels = rgb in [tensor]\n");
	expect_wrong_job(JOB "[tensor]\nchannels = keep\ncrop = 9\nfill = 1 2 3\n",
		"job.ini:7:[tensor]:fill: found 1 2 3, allowed: one number, with "
		"channels = keep\n");
}

Test(config_errors, images_that_do_not_fit_into_a_pad)
{
	static const char *const large[] = {"", "resize = 8\n", "resize = max:65\n",
		"resize = 64x65\n", "crop = 65x64\n", "resize = 8x8\ncrop = 65\n"};
	static const char *const small[] = {
		"resize = max:64\n", "resize = 64x32\n", "resize = 256\ncrop = 64\n"};
	char text[200];
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		snprintf(text, sizeof(text), JOB "[tensor]\npad = 64\n%s", large[i]);
		expect_wrong_job(text,
			"job.ini:5:[tensor]:pad: found 64x64, allowed: square, or a size "
			"into which every image fits by resize = max:N, resize = WxH or "
			"crop\n");
	}
	for (size_t i = 0; i < sizeof(small) / sizeof(small[0]); i++) {
		struct job_config job;
		snprintf(text, sizeof(text), JOB "[tensor]\nformat = raw\npad = 64\n%s",
			small[i]);
		cr_expect_eq(parse_job(text, &messages, &job), 0, "%s", messages.text);
		config_job_free(&job);
	}
}

#define NORMALIZE "normalize = 0 0 0 / 1 1 1\n"
#define WITH_SOURCE "allowed: not with format = source, which gives the file as it is\n"
#define ARRAYS "allowed: only with format = npy, record or raw\n"
#define TOO_LARGE "allowed: at most the size that resize and crop of [tensor] give\n"

Test(config_errors, augmentation_that_contradicts)
{
	expect_wrong_job(JOB "[tensor]\nformat = source\ndtype = uint8\naxes = CHW\n"
			     "exif = apply\n[augment]\nhflip = 0.5\n" NORMALIZE,
		"job.ini:8:[tensor]:exif: found \"exif\", " WITH_SOURCE
		"job.ini:7:[tensor]:axes: found \"axes\", " WITH_SOURCE
		"job.ini:10:[augment]:hflip: found \"hflip\", " WITH_SOURCE
		"job.ini:11:[augment]:normalize: found \"normalize\", " WITH_SOURCE);
	expect_wrong_job(JOB "[tensor]\nformat = png\ndtype = float16\naxes = CHW\n",
		"job.ini:6:[tensor]:dtype: found \"dtype\", " ARRAYS
		"job.ini:7:[tensor]:axes: found \"axes\", " ARRAYS);
	expect_wrong_job(JOB "[augment]\n" NORMALIZE,
		"job.ini:5:[augment]:normalize: found \"normalize\", allowed: only "
		"with dtype = float32 or float16 in [tensor]\n");
	expect_wrong_job(JOB "[augment]\nrandom_crop = 8\nrandom_resized_crop = 8\n",
		"job.ini:5:[augment]:random_crop: found \"random_crop\", allowed: not "
		"with random_resized_crop\n");
	expect_wrong_job(JOB "[tensor]\ncrop = 256x200\n[augment]\nrandom_crop = 224\n",
		"job.ini:7:[augment]:random_crop: found 224x224, " TOO_LARGE);
	expect_wrong_job(JOB "[tensor]\nresize = 200x256\n[augment]\n"
			     "random_crop = 201x1\n",
		"job.ini:7:[augment]:random_crop: found 201x1, " TOO_LARGE);
	expect_wrong_job(JOB "[tensor]\nresize = 200\n[augment]\nrandom_crop = 201\n",
		"job.ini:7:[augment]:random_crop: found 201x201, " TOO_LARGE);
}

Test(config_errors, lines_of_another_form)
{
	expect_wrong_job("name = c\n" JOB,
		"job.ini:1:name: found \"name\", allowed: keys after a [section]\n");
	expect_wrong_job("hello\n" JOB "world\n = 3\n[view\nlookahead = 0\n[tensor] x\n",
		"job.ini:1: found \"hello\", " FORM "\n"
		"job.ini:5:[job]: found \"world\", " FORM "\n"
		"job.ini:6:[job]: found \"= 3\", " FORM "\n"
		"job.ini:7:[job]: found \"[view\", " FORM "\n"
		"job.ini:9: found \"[tensor] x\", " FORM "\n");
	expect_wrong_job(
		JOB "a\x1b[1m\tb\n", "job.ini:4:[job]: found \"a?[1m?b\", " FORM "\n");
}

/* A line that inih would cut is refused. The longest line that inih takes is taken whole. */
Test(config_errors, lines_that_are_too_long)
{
	char text[512] = DATASET "[dataset e]\npath = /";
	size_t n = strlen(text);
	memset(text + n, 'p', 189);
	struct daemon_config daemon;
	cr_assert_eq(load_daemon(text, &messages, &daemon), 0, "%s", messages.text);
	cr_assert_eq(strlen(daemon.datasets[1].path), 190);
	config_daemon_free(&daemon);
	memset(text + n, 'p', 190);
	expect_wrong_daemon(text,
		"joaderfs.ini:4:[dataset e]: found a line of 198 bytes, allowed: at most "
		"197\n"
		"joaderfs.ini:[dataset e]:path: found nothing, allowed: an absolute "
		"path, or one relative to the directory of this ini, without quotes and "
		"without ~" OR_URL "\n");
}

Test(config_errors, the_ini_of_the_other_kind)
{
	expect_wrong_daemon(JOB "oops\n[tensor]\ncrop = 3\n[view]\n",
		"joaderfs.ini:1:[job]: found \"job\", " DAEMON_SECTIONS
		"; this is the ini of a job: joaderctl add joaderfs.ini\n"
		"joaderfs.ini:4: found \"oops\", " FORM "\n");
	expect_wrong_job("[joaderfs]\ncache = 4G\n" DATASET,
		"job.ini:1:[joaderfs]: found \"joaderfs\", " JOB_SECTIONS
		"; this is the ini of the daemon: joaderfs job.ini MOUNTPOINT\n");
}

Test(config_errors, all_mistakes_at_once)
{
	expect_wrong_daemon("[joaderfs]\ncach = 4G\nworkers = 0\n[dataset a]\n"
			    "[dataset b]\npath = /b\nsymlinks = no\n",
		"joaderfs.ini:2:[joaderfs]:cach: found \"cach\", " DAEMON_KEYS
		"; did you mean \"cache\"?\n"
		"joaderfs.ini:3:[joaderfs]:workers: found \"0\", allowed: auto, or "
		"1..1024\n"
		"joaderfs.ini:[dataset a]:path: found nothing, allowed: an absolute "
		"path, or one relative to the directory of this ini, without quotes and "
		"without ~" OR_URL "\n"
		"joaderfs.ini:7:[dataset b]:symlinks: found \"no\", allowed: inside, "
		"follow\n");
}

Test(config_errors, a_socket_that_no_address_holds)
{
	char text[512] = "[joaderfs]\nsocket = /", expected[1024];
	memset(text + strlen(text), 's', 107);
	snprintf(expected, sizeof(expected),
		"joaderfs.ini:2:[joaderfs]:socket: found \"%s\", allowed: at most 107 "
		"bytes\n",
		text + strlen("[joaderfs]\nsocket = "));
	strcat(text, "\n" DATASET);
	expect_wrong_daemon(text, expected);
}

Test(config_errors, too_many_datasets)
{
	auto_free char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	for (int i = 0; i <= CONFIG_MOST_DATASETS; i++)
		fprintf(out, "[dataset d%d]\npath = /d\n", i);
	fclose(out);
	expect_wrong_daemon(text, "joaderfs.ini: found 2049 sections [dataset NAME], "
				  "allowed: at most 2048\n");
	*strstr(text, "[dataset d2048]") = '\0';
	struct daemon_config daemon;
	messages.text[0] = '\0';
	cr_assert_eq(load_daemon(text, &messages, &daemon), 0, "%s", messages.text);
	cr_assert_eq(daemon.n_datasets, CONFIG_MOST_DATASETS);
	config_daemon_free(&daemon);
}

Test(config_errors, files_that_can_not_be_read)
{
	struct job_config job;
	struct daemon_config daemon;
	cr_assert_eq(
		config_parse_job("/no/job.ini", NULL, collect, &messages, &job), -ENOENT);
	cr_assert_eq(
		config_parse_daemon("/tmp", NULL, collect, &messages, &daemon), -EISDIR);
	cr_assert_str_eq(messages.text,
		"/no/job.ini: can't be read: No such file or directory\n"
		"/tmp: can't be read: Is a directory\n");
	char path[] = "/tmp/test_config.XXXXXX";
	auto_close int fd = mkstemp(path);
	cr_assert_eq(write(fd, "[job]\n\0", 7), 7);
	messages.text[0] = '\0';
	cr_assert_eq(config_parse_job(path, NULL, collect, &messages, &job), -EINVAL);
	cr_assert_not_null(strstr(messages.text, ": found a NUL byte, allowed: text\n"));
	cr_assert_eq(ftruncate(fd, 2 << 20), 0);
	cr_assert_eq(config_parse_job(path, NULL, collect, &messages, &job), -EFBIG);
	unlink(path);
}

Test(config_errors, nothing_is_given_back_after_a_mistake)
{
	struct job_config job = {.name = NULL, .epochs = 77};
	cr_assert_eq(parse_job(JOB "epochs = 0\n", &messages, &job), -EINVAL);
	cr_assert_null(job.name);
	cr_assert_eq(job.epochs, 77);
	cr_assert_eq(
		config_parse_job("f", JOB "epochs = 0\n", NULL, NULL, &job), -EINVAL);
}

Test(config_errors, the_nearest_name)
{
	static const char *const names[] = {"cache", "eviction", "lru", "path"};
	static const struct {
		const char *word;
		const char *nearest;
	} cases[] = {{"cache", "cache"}, {"cahce", "cache"}, {"CACHE", "cache"},
		{"cachesiz", "cache"}, {"cachesize", NULL}, {"evict", "eviction"},
		{"evic", NULL}, {"lr", "lru"}, {"fifo", NULL}, {"xyz", NULL},
		{"pxy", NULL}, {"lxyz", NULL}, {"", NULL}, {"pathes", "path"}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *nearest = config_nearest(cases[i].word, names, 4);
		cr_assert_eq(nearest == NULL, cases[i].nearest == NULL, "%s -> %s",
			cases[i].word, nearest ? nearest : "none");
		if (nearest)
			cr_assert_str_eq(nearest, cases[i].nearest);
	}
	cr_assert_null(config_nearest("cache", names, 0));
	char longest[4096];
	memset(longest, 'a', sizeof(longest));
	longest[4095] = '\0';
	const char *const long_names[] = {longest};
	cr_assert_null(config_nearest(longest, long_names, 1));
}

Test(config_errors, mixtures)
{
	static const char *const wrong[] = {"a:0 b", "a:-1 b", "a:x b", "a: b",
		"a b:", ":2", "a a", "a b:2 a:3", "a:1e9 b", "a;b", "a .b", "a:2:3",
		"a:0.0000000001 b", "a b c d e f g h i j k l m n o p q"};
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		char text[200], expected[600];
		snprintf(text, sizeof(text), "[job]\nname = x\ndataset = %s\n", wrong[i]);
		snprintf(expected, sizeof(expected),
			"job.ini:3:[job]:dataset: found \"%s\", " NAMES OR_SEVERAL "\n",
			wrong[i]);
		expect_wrong_job(text, expected);
	}
	expect_wrong_job("[job]\nname = x\ndataset = a\nlabel_table = /t\n",
		"job.ini:4:[job]:label_table: found \"/t\", allowed: an absolute path, "
		"only where dataset names several datasets\n");
	expect_wrong_job("[job]\nname = x\ndataset = a b\n[view]\nlayout = classes\n",
		"job.ini:5:[view]:layout: found \"classes\", allowed: flat, tar or "
		"batch, "
		"since dataset names several datasets\n");
}

Test(config_errors, preparations)
{
	static const char dataset[] = "[dataset x]\npath = /d\n";
	static const struct {
		const char *text, *message;
	} cases[] = {
		{"[preparation p]\nshape = 3\ndtype = int8\n",
			"joaderfs.ini:[preparation p]:command: found nothing, allowed: "
			"the absolute path of a program"},
		{"[preparation p]\ncommand = python3 a.py\nshape = 3\ndtype = int8\n",
			":4:[preparation p]:command: found \"python3 a.py\", allowed: "
			"the absolute path of a program"},
		{"[preparation p]\ncommand = /a \"b c\"\nshape = 3\ndtype = int8\n",
			"without quotes"},
		{"[preparation p]\ncommand = /a\nshape = 3x4\ndtype = int8\n",
			"shape: found \"3x4\", allowed: 1 to 6 numbers"},
		{"[preparation p]\ncommand = /a\nshape = 3\ndtype = float3\n",
			"did you mean \"float32\"?"},
		{"[preparation p]\ncommand = /a\nshape = 1000000 1000\ndtype = int64\n",
			"found arrays of 8000000000 bytes"},
		{"[preparation p]\ncommand = /a\nshape = 3\ndtype = int8\nmemory = 1K\n",
			"memory: found \"1K\""},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct daemon_config daemon;
		char text[300];
		snprintf(text, sizeof(text), "%s%s", dataset, cases[i].text);
		cr_expect_eq(load_daemon(text, &messages, &daemon), -EINVAL);
		cr_expect(strstr(messages.text, cases[i].message) != NULL,
			"found: %s, expected: %s", messages.text, cases[i].message);
	}
}

/* Keys for the pixels of images have no meaning for arrays, but their defaults may be written. */
Test(config_errors, keys_for_images_beside_a_program)
{
	static const char *const refused[] = {"resize = 8", "resize = max:8",
		"filter = box", "crop = 8", "pad = square", "fill = 1 2 3",
		"channels = gray", "accuracy = approx", "exif = apply",
		"truncated = fill"};
	static const char defaults[] =
		"filter = bilinear\nfill = 0\nchannels = rgb\naccuracy = exact\n"
		"exif = ignore\ntruncated = fail\n";
	static const char *const taken[] = {"format = raw\naxes = CHW\n", defaults,
		"filter = box\n[augment]\nrandom_resized_crop = 8\n"};
	char text[300], expected[200];
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
		int n = (int)strcspn(refused[i], " ");
		snprintf(text, sizeof(text), JOB "[tensor]\nprepare = p\n%s\n",
			refused[i]);
		snprintf(expected, sizeof(expected),
			"job.ini:6:[tensor]:%.*s: found \"%.*s\", allowed: not with "
			"prepare, whose program makes the arrays\n",
			n, refused[i], n, refused[i]);
		expect_wrong_job(text, expected);
	}
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++) {
		struct job_config job;
		snprintf(text, sizeof(text), JOB "[tensor]\nprepare = p\n%s", taken[i]);
		cr_expect_eq(parse_job(text, &messages, &job), 0, "%s", messages.text);
		config_job_free(&job);
	}
}
