// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config_helpers.h"

#include <errno.h>
#include <sys/prctl.h>

/* Valid inis: the values in structs, defaults, forms of values, and the conversion back to text. */

static struct messages messages;

static void expect_job(const char *text, struct job_config *ret)
{
	cr_assert_eq(parse_job(text, &messages, ret), 0, "%s", messages.text);
	cr_assert_str_empty(messages.text);
}

static void expect_daemon(const char *text, struct daemon_config *ret)
{
	cr_assert_eq(load_daemon(text, &messages, ret), 0, "%s", messages.text);
	cr_assert_str_empty(messages.text);
}

Test(config, defaults_of_a_job)
{
	struct job_config job;
	expect_job("[job]\nname = a\ndataset = b\n", &job);
	cr_assert_str_eq(job.name, "a");
	cr_assert_str_eq(job.dataset, "b");
	cr_assert_eq(job.epochs, 0);
	cr_assert_eq(config_job_epochs(&job), CONFIG_MOST_EPOCHS);
	cr_assert_eq(job.order, ORDER_SHUFFLED);
	cr_assert_null(job.where);
	cr_assert_eq(job.idle_s, 600);
	cr_assert_eq(job.keep_epochs, 10);
	struct preparation none = {0};
	cr_assert(preparation_equal(&job.preparation, &none));
	cr_assert_eq(job.format, FORMAT_PPM);
	cr_assert_eq(job.layout, LAYOUT_FLAT);
	cr_assert_eq(job.size, SIZE_PADDED);
	cr_assert_str_eq(job.extension, "ppm");
	cr_assert_eq(job.lookahead, 0, "auto");
	cr_assert_eq(config_lookahead(&job), 128);
	config_job_free(&job);
}

Test(config, every_key_of_a_job)
{
	struct job_config job;
	expect_job(
		"[job]\nname = R-1.x_y\ndataset = b\nepochs = 16383\n"
		"order = sequential\nwhere = label < 50 and class = 'a=b;c'\nidle = 1h\n"
		"[tensor]\nresize = 256\ncrop = 224x192\nformat = npy\n"
		"filter = lanczos\naccuracy = approx\nexif = apply\n"
		"[view]\nlayout = flat\nsize = exact\nextension = NPY2\nlookahead = 1\n",
		&job);
	cr_assert_str_eq(job.name, "R-1.x_y");
	cr_assert_eq(job.epochs, 16383);
	cr_assert_eq(job.order, ORDER_SEQUENTIAL);
	cr_assert_str_eq(job.where, "label < 50 and class = 'a=b;c'");
	cr_assert_eq(job.idle_s, 3600);
	struct preparation p = {.resize_short = 256,
		.crop_width = 224,
		.crop_height = 192,
		.approximate = true,
		.exif = true,
		.filter = FILTER_LANCZOS};
	cr_assert(preparation_equal(&job.preparation, &p));
	cr_assert_eq(job.augment.filter, FILTER_LANCZOS);
	cr_assert_eq(job.format, FORMAT_NPY);
	cr_assert_eq(job.size, SIZE_EXACT);
	cr_assert_str_eq(job.extension, "NPY2");
	cr_assert_eq(job.lookahead, 1);
	config_job_free(&job);
}

Test(config, every_key_of_augmentation)
{
	static const double mean[] = {0.485, 0.456, -1}, deviation[] = {0.229, 2, 0.5};
	struct job_config job;
	expect_job("[job]\nname = a\ndataset = b\n"
		   "[tensor]\nformat = npy\ndtype = float32\naxes = CHW\n"
		   "[augment]\nhflip = .25\nrandom_crop = 224x192\nseed = 9\n"
		   "normalize = 0.485 0.456 -1 / 0.229 2 0.5\n",
		&job);
	cr_assert_eq(job.pixels.dtype, DTYPE_FLOAT32);
	cr_assert_eq(job.pixels.axes, AXES_CHW);
	cr_assert_eq(job.augment.hflip, 0.25);
	cr_assert_eq(job.augment.random_crop.width, 224);
	cr_assert_eq(job.augment.random_crop.height, 192);
	cr_assert_eq(job.augment.seed, 9);
	cr_assert(job.augment.normalize.given);
	for (int c = 0; c < 3; c++) {
		cr_assert_eq(job.augment.normalize.mean[c], mean[c]);
		cr_assert_eq(job.augment.normalize.deviation[c], deviation[c]);
	}
	config_job_free(&job);
	expect_job(
		"[job]\nname=a\ndataset=b\n[augment]\nrandom_resized_crop=8x9\n", &job);
	cr_assert_eq(job.augment.random_resized_crop.width, 8);
	cr_assert_eq(job.augment.random_resized_crop.height, 9);
	cr_assert_eq(job.augment.random_crop.width, 0);
	cr_assert_not(job.augment.normalize.given);
	config_job_free(&job);
}

/* The size of the image is not known, and most images are wide enough. */
Test(config, a_random_crop_may_be_longer_than_the_shorter_side)
{
	struct job_config job;
	expect_job("[job]\nname=a\ndataset=b\n[tensor]\nresize=200\nformat=raw\n"
		   "[augment]\nrandom_crop = 300x200\n",
		&job);
	config_job_free(&job);
}

/* The enumerations and the choices in the table have the same order. */
Test(config, a_format_is_its_name_and_its_ending)
{
	static const struct {
		const char *name;
		enum sample_format format;
		const char *extension;
	} formats[] = {{"ppm", FORMAT_PPM, "ppm"}, {"bmp", FORMAT_BMP, "bmp"},
		{"png", FORMAT_PNG, "png"}, {"npy", FORMAT_NPY, "npy"},
		{"raw", FORMAT_RAW, "raw"}, {"source", FORMAT_SOURCE, "jpg"},
		{"record", FORMAT_RECORD, "npy"}};
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		struct job_config job;
		char text[128];
		bool source = formats[i].format == FORMAT_SOURCE;
		snprintf(text, sizeof(text),
			"[job]\nname=a\ndataset=b\n[tensor]\nformat=%s\n%s",
			formats[i].name, source ? "" : "resize = 8x9\n");
		expect_job(text, &job);
		cr_assert_eq(job.format, formats[i].format);
		cr_assert_str_eq(job.extension, formats[i].extension);
		cr_assert_eq(job.preparation.encoded, source);
		cr_assert_eq(job.preparation.resize_width, source ? 0 : 8);
		cr_assert_eq(job.preparation.resize_height, source ? 0 : 9);
		cr_assert_eq(job.preparation.resize_short, 0);
		config_job_free(&job);
	}
}

Test(config, durations)
{
	static const struct {
		const char *text;
		uint32_t seconds;
	} durations[] = {{"1", 1}, {"600", 600}, {"45s", 45}, {"10m", 600}, {"1h", 3600},
		{"4294967295", UINT32_MAX}};
	for (size_t i = 0; i < sizeof(durations) / sizeof(durations[0]); i++) {
		struct job_config job;
		char text[128];
		snprintf(text, sizeof(text), "[job]\nname=a\ndataset=b\nidle = %s\n",
			durations[i].text);
		expect_job(text, &job);
		cr_assert_eq(job.idle_s, durations[i].seconds, "%s", durations[i].text);
		config_job_free(&job);
	}
}

Test(config, sizes)
{
	static const struct {
		const char *text;
		uint64_t bytes;
	} sizes[] = {{"1", 1}, {"4096", 4096}, {"1K", 1024}, {"512M", 512u << 20},
		{"4G", UINT64_C(4) << 30}, {"2T", UINT64_C(2) << 40},
		{"9223372036854775807", INT64_MAX}};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct daemon_config daemon;
		char text[128];
		snprintf(text, sizeof(text),
			"[joaderfs]\ncache = %s\n[dataset a]\npath=/a\n", sizes[i].text);
		expect_daemon(text, &daemon);
		cr_assert_eq(daemon.cache_bytes, sizes[i].bytes, "%s", sizes[i].text);
		config_daemon_free(&daemon);
	}
}

/* Refuses texts that are no number, too small, too large, or have an exponent. */
Test(config, weights)
{
	static const struct {
		const char *text;
		double weight; /* 0: refused */
	} cases[] = {{"2", 2}, {".5", .5}, {"0.01", .01}, {"100", 100}, {"0", 0},
		{"0.009", 0}, {"100.1", 0}, {"-1", 0}, {"1e1", 0}, {"nan", 0}, {"", 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_config job;
		char text[128];
		snprintf(text, sizeof(text),
			"[job]\nname = a\ndataset = b\nweight = %s\n[tensor]\ncrop = 8\n",
			cases[i].text);
		int err = parse_job(text, &messages, &job);
		cr_assert_eq(err != 0, cases[i].weight <= 0, "%s", cases[i].text);
		if (err) {
			cr_assert_not_null(strstr(messages.text, "from 0.01 to 100"),
				"%s", messages.text);
			continue;
		}
		cr_assert_eq(job.weight, cases[i].weight);
		config_job_free(&job);
	}
}

Test(config, policies_in_the_order_of_the_enumeration)
{
	static const char *const names[] = {[SHARE_SLOWDOWN] = "slowdown",
		[SHARE_FAIR] = "fair",
		[SHARE_THROUGHPUT] = "throughput",
		[SHARE_FIFO] = "fifo"};
	for (int i = 0; i < 4; i++) {
		struct daemon_config daemon;
		char text[128];
		snprintf(text, sizeof(text),
			"[joaderfs]\nshare = %s\n[dataset a]\npath=/a\n", names[i]);
		expect_daemon(text, &daemon);
		cr_assert_eq(daemon.share, (enum share_policy)i);
		config_daemon_free(&daemon);
	}
}

Test(config, defaults_of_the_daemon)
{
	struct daemon_config daemon;
	expect_daemon("[dataset a]\npath = /a\n", &daemon);
	cr_assert_str_eq(daemon.file, "joaderfs.ini");
	cr_assert(daemon.cache_auto);
	cr_assert_eq(daemon.cache_bytes, daemon.memory.left / 2 >> 20 << 20);
	cr_assert_eq(daemon.eviction, EVICTION_REFCNT);
	cr_assert_eq(daemon.sampler, SAMPLER_DSA);
	cr_assert_eq(daemon.workers, sysconf(_SC_NPROCESSORS_ONLN));
	cr_assert_eq(daemon.reads, 0, "auto");
	cr_assert_eq(daemon.max_pixels, 178956970);
	cr_assert_eq(daemon.seed, 0);
	cr_assert_null(daemon.jobs);
	cr_assert_eq(daemon.n_datasets, 1);
	cr_assert_str_eq(daemon.datasets[0].name, "a");
	cr_assert_str_eq(daemon.datasets[0].path, "/a");
	cr_assert_not(daemon.datasets[0].follow_outside);
	cr_assert_str_eq(
		daemon.datasets[0].extensions, "jpg jpeg png ppm bmp pgm tif tiff webp");
	config_daemon_free(&daemon);
}

Test(config, every_key_of_the_daemon)
{
	struct daemon_config daemon;
	expect_daemon("[joaderfs]\ncache = 1G\neviction = random\nsampler = isa\n"
		      "workers = 3\nreads = 7\nmax_pixels = 1000000\nseed = "
		      "18446744073709551615\nstate = /s\njobs = /j\n"
		      "socket = /k\n"
		      "[dataset flowers]\npath = /f\nsymlinks = follow\n"
		      "extensions =  JPG\tpng  \n"
		      "[dataset  2.x_-]\npath = /g\nsymlinks = inside\nextensions = *\n",
		&daemon);
	cr_assert_eq(daemon.cache_bytes, UINT64_C(1) << 30);
	cr_assert_eq(daemon.eviction, EVICTION_RANDOM);
	cr_assert_eq(daemon.sampler, SAMPLER_ISA);
	cr_assert_eq(daemon.workers, 3);
	cr_assert_eq(daemon.reads, 7);
	cr_assert_eq(daemon.max_pixels, 1000000);
	cr_assert_eq(daemon.seed, UINT64_MAX);
	cr_assert_str_eq(daemon.state, "/s");
	cr_assert_str_eq(daemon.jobs, "/j");
	cr_assert_str_eq(daemon.socket, "/k");
	cr_assert_eq(daemon.n_datasets, 2);
	cr_assert_str_eq(daemon.datasets[0].name, "flowers");
	cr_assert(daemon.datasets[0].follow_outside);
	cr_assert_str_eq(daemon.datasets[0].extensions, "jpg png");
	cr_assert_str_eq(daemon.datasets[1].name, "2.x_-");
	cr_assert_not(daemon.datasets[1].follow_outside);
	cr_assert_str_eq(daemon.datasets[1].extensions, "*");
	config_daemon_free(&daemon);
}

Test(config, a_dataset_has_the_sampler_of_the_daemon_or_one_of_its_own)
{
	struct daemon_config daemon;
	expect_daemon("[dataset a]\npath = /a\nsampler = dsa\n[dataset b]\npath = /b\n"
		      "[joaderfs]\nsampler = exchange\n[dataset c]\npath = /c\n"
		      "sampler = isa\n",
		&daemon);
	cr_assert_eq(daemon.sampler, SAMPLER_EXCHANGE);
	cr_assert_eq(daemon.datasets[0].sampler, SAMPLER_DSA);
	cr_assert_eq(daemon.datasets[1].sampler, SAMPLER_EXCHANGE);
	cr_assert_eq(daemon.datasets[2].sampler, SAMPLER_ISA);
	config_daemon_free(&daemon);
}

Test(config, evictions_in_the_order_of_the_enumeration)
{
	static const char *const names[] = {[EVICTION_REFCNT] = "refcnt",
		[EVICTION_LRU] = "lru",
		[EVICTION_FIFO] = "fifo",
		[EVICTION_RANDOM] = "random"};
	for (int i = 0; i < 4; i++) {
		struct daemon_config daemon;
		char text[128];
		snprintf(text, sizeof(text),
			"[joaderfs]\neviction = %s\n[dataset a]\npath=/a\n", names[i]);
		expect_daemon(text, &daemon);
		cr_assert_eq(daemon.eviction, (enum eviction_policy)i);
		config_daemon_free(&daemon);
	}
}

/* Paths are computed from the text alone: none of them exists. */
Test(config, relative_paths_start_from_the_ini)
{
	struct daemon_config daemon;
	expect_daemon("[joaderfs]\nstate = ./state//x/\njobs = ../jobs.d\n"
		      "socket = /a/b/../../../c/./d\n"
		      "[dataset a]\npath = ../../../../../..\n",
		&daemon);
	cr_assert_eq(strncmp(daemon.state, "/tmp/test_config.", 17), 0);
	cr_assert_str_eq(strchr(daemon.state + 5, '/'), "/state/x");
	cr_assert_str_eq(daemon.jobs, "/tmp/jobs.d");
	cr_assert_str_eq(daemon.socket, "/c/d");
	cr_assert_str_eq(daemon.datasets[0].path, "/");
	config_daemon_free(&daemon);
}

static void expect_places(const char *state, const char *socket)
{
	struct daemon_config daemon;
	expect_daemon("[dataset a]\npath = /a\n", &daemon);
	cr_assert_str_eq(daemon.state, state);
	cr_assert_str_eq(daemon.socket, socket);
	config_daemon_free(&daemon);
}

Test(config, places_of_state_and_socket)
{
	bool root = geteuid() == 0;
	if (root) {
		setenv("XDG_STATE_HOME", "/x", 1);
		setenv("XDG_RUNTIME_DIR", "/r", 1);
		expect_places("/var/lib/joaderfs", "/run/joaderfs.sock");
		cr_assert_eq(seteuid(65534), 0);
	}
	setenv("HOME", "/h", 1);
	setenv("XDG_STATE_HOME", "/x", 1);
	setenv("XDG_RUNTIME_DIR", "/r", 1);
	expect_places("/x/joaderfs", "/r/joaderfs.sock");
	unsetenv("XDG_STATE_HOME");
	expect_places("/h/.local/state/joaderfs", "/r/joaderfs.sock");
	setenv("XDG_RUNTIME_DIR", "relative", 1);
	expect_places(
		"/h/.local/state/joaderfs", "/h/.local/state/joaderfs/joaderfs.sock");
	struct daemon_config daemon;
	expect_daemon("[joaderfs]\nstate = /s\n[dataset a]\npath = /a\n", &daemon);
	cr_assert_str_eq(daemon.socket, "/s/joaderfs.sock");
	config_daemon_free(&daemon);
	/* LeakSanitizer traces the process, which is forbidden after it was another user. */
	if (root)
		cr_assert(seteuid(0) == 0 && prctl(PR_SET_DUMPABLE, 1) == 0);
}

/* A comment begins at the start of a line with ; or #, or with ; after a space. */
Test(config, comments_spaces_and_line_ends)
{
	struct job_config job;
	char long_comment[1024] = "# ";
	memset(long_comment + 2, 'x', 900);
	strcat(long_comment, "\n[job]\ndataset=b\nname=a#1\n");
	cr_assert_eq(parse_job(long_comment, &messages, &job), -EINVAL);
	expect_job("\xef\xbb\xbf[ job ]  ; comment\r\n"
		   "  name : a\t;comment\r\n"
		   "\tdataset=b\r\n"
		   "; where = id\r\n"
		   "  # where = id\r\n"
		   "where = path like 'a;b#c' ; and what follows\r\n",
		&job);
	cr_assert_str_eq(job.name, "a");
	cr_assert_str_eq(job.dataset, "b");
	cr_assert_str_eq(job.where, "path like 'a;b#c'");
	config_job_free(&job);
}

static char *printed_job(const struct job_config *job)
{
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	config_print_job(out, job);
	fclose(out);
	return text;
}

Test(config, a_printed_job_is_read_back_as_it_was)
{
	char where[256] = "[job]\nname=a\ndataset=b\nwhere=";
	size_t n = strlen(where);
	memset(where + n, 'w', 180);
	const char *const jobs[] = {"[job]\nname = a\ndataset = b\n", where,
		"[job]\nname=a\ndataset=b\nepochs=3\norder=sequential\nwhere=id%2 = 0\n"
		"idle=90m\n[tensor]\nresize=256\ncrop=224\nformat=raw\n"
		"[view]\nsize=exact\nextension=jpg\nlookahead=65536\n",
		"[job]\nname=a\ndataset=b\n[tensor]\nresize=65500x1\nfilter=box\npad="
		"65500\nfill=1 2 255\nformat=bmp\n"
		"accuracy=approx\n",
		"[job]\nname=a\ndataset=b\n[tensor]\nformat=source\n",
		"[job]\nname=a\ndataset=b\n[tensor]\nformat=npy\ndtype=float16\naxes="
		"CHW\n"
		"[augment]\nrandom_crop=224x192\nhflip=.000012345678901\n"
		"seed=18446744073709551615\n"
		"normalize=-0.485 123456789.123456 .1/0.00001 0.224 999999999999999\n",
		"[job]\nname=a\ndataset=b\n[tensor]\nformat=npy\ndtype=float32\n"
		"channels=gray\n[augment]\nnormalize=.5/.25\n",
		"[job]\nname=a\ndataset=b\n[augment]\nrandom_resized_crop=224\n",
		"[job]\nname=a\ndataset=b\nowner=root\ngroup=4294967294\nmode=550\n"};
	for (size_t i = 0; i < sizeof(jobs) / sizeof(jobs[0]); i++) {
		struct job_config job, again;
		expect_job(jobs[i], &job);
		auto_free char *text = printed_job(&job);
		expect_job(text, &again);
		auto_free char *text_again = printed_job(&again);
		cr_assert_str_eq(text, text_again);
		cr_assert(preparation_equal(&job.preparation, &again.preparation));
		cr_assert_eq(job.idle_s, again.idle_s);
		cr_assert_eq(job.keep_epochs, again.keep_epochs);
		cr_assert_eq(job.format, again.format);
		cr_assert_eq(memcmp(&job.pixels, &again.pixels, sizeof(job.pixels)), 0);
		cr_assert_eq(
			memcmp(&job.augment, &again.augment, sizeof(job.augment)), 0);
		cr_assert_eq(!job.where, !again.where);
		config_job_free(&job);
		config_job_free(&again);
	}
}

Test(config, the_effective_job_has_the_defaults_filled_in)
{
	struct job_config job;
	expect_job("[job]\nname=a\ndataset=b\n[tensor]\ncrop = 8\nresize = 16x9\n", &job);
	auto_free char *text = printed_job(&job);
	cr_assert_str_eq(text,
		"[job]\nname = a\ndataset = b\norder = shuffled\n"
		"weight = 1\nidle = 600\nsecond_script = warned\nother_machines = "
		"refused\nscript = auto\nbad_sample = fail\nkeep_epochs = 10\n"
		"[tensor]\ngroup = none\nresize = 16x9\nfilter = bilinear\ncrop = "
		"8x8\nfill = "
		"0\nchannels = rgb\n"
		"accuracy = exact\n"
		"exif = ignore\ntruncated = fail\nformat = ppm\n"
		"dtype = uint8\naxes = HWC\n"
		"[augment]\nhflip = 0\nseed = 0\n"
		"[view]\nlayout = flat\nlabels = drawn\nbatch = 64\n"
		"mapping = auto\ndrop_last = no\njson = no\n"
		"io = auto\nsize = padded\nextension = ppm\nlookahead = auto\n");
	config_job_free(&job);
}

/* The examples' directory, relative to the directory where tests are built. */
#define EXAMPLE(name) "config/" name

Test(config, the_examples_are_right)
{
	struct daemon_config daemon;
	struct job_config job;
	cr_assert_eq(access(EXAMPLE("joaderfs.ini"), R_OK), 0, "run at the top");
	messages.text[0] = '\0';
	cr_assert_eq(config_parse_daemon(
			     EXAMPLE("joaderfs.ini"), NULL, collect, &messages, &daemon),
		0, "%s", messages.text);
	cr_assert_eq(daemon.n_datasets, 2);
	cr_assert_str_eq(daemon.datasets[1].path, "/data/flowers/val");
	cr_assert_eq(
		config_parse_job(EXAMPLE("resnet18.ini"), NULL, collect, &messages, &job),
		0, "%s", messages.text);
	cr_assert_str_eq(job.dataset, daemon.datasets[0].name);
	cr_assert_eq(job.preparation.crop_width, 0);
	cr_assert_eq(job.preparation.resize_short, 256);
	config_job_free(&job);
	cr_assert_eq(config_parse_job(
			     EXAMPLE("validation.ini"), NULL, collect, &messages, &job),
		0, "%s", messages.text);
	cr_assert_str_eq(job.dataset, daemon.datasets[1].name);
	cr_assert_eq(job.order, ORDER_SEQUENTIAL);
	config_job_free(&job);
	cr_assert_eq(
		config_parse_job(EXAMPLE("mixture.ini"), NULL, collect, &messages, &job),
		0, "%s", messages.text);
	cr_assert_str_eq(job.dataset, "flowers:3,sketches");
	config_job_free(&job);
	config_daemon_free(&daemon);
	cr_assert_str_empty(messages.text);
}

Test(config, the_man_page_has_every_key)
{
	static const char *const keys[] = {"cache", "eviction", "sampler", "workers",
		"share", "reads", "max_pixels", "seed", "state", "jobs", "socket", "path",
		"symlinks", "extensions", "name", "dataset", "epochs", "order", "where",
		"weight", "idle", "keep_epochs", "resize", "crop", "format", "layout",
		"labels", "size", "extension", "lookahead"};
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	config_print_man(out);
	fclose(out);
	const char *place = text;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		char item[64];
		snprintf(item, sizeof(item), ".It Cm %s ", keys[i]);
		place = strstr(place, item);
		cr_assert_not_null(place, "%s", keys[i]);
	}
	cr_assert_not_null(strstr(text, ".Ss Section Bq dataset NAME\n"));
	free(text);
}

static const char *printed(const struct job_config *job)
{
	static char text[4096];
	FILE *out = fmemopen(text, sizeof(text), "w");
	config_print_job(out, job);
	fclose(out);
	return text;
}

/* Every text of the copy is its own: the original is freed before the copy is printed. */
Test(config, a_copy_of_a_job_has_texts_of_its_own)
{
	struct job_config job, copy;
	expect_job("[job]\nname = a\ndataset = b\nwhere = label < 5\n"
		   "[view]\nextension = jpg\npath = x/y\n",
		&job);
	auto_free char *before = strdup(printed(&job));
	cr_assert_eq(config_job_copy(&job, &copy), 0);
	memset(job.name, '?', 1);
	config_job_free(&job);
	cr_assert_str_eq(printed(&copy), before);
	cr_assert_str_eq(copy.file, "job.ini");
	cr_assert_str_eq(copy.path, "x/y");
	config_job_free(&copy);
}

/* Names and weights come back in their order, also in the effective configuration. */
Test(config, a_mixture)
{
	static const struct config_mixed expected[] = {
		{"photos", 3}, {"sketches", 1}, {"c", 0.25}};
	struct job_config job, again;
	struct config_mixed mixed;
	size_t n = 0;
	expect_job("[job]\nname = a\ndataset =  photos:3  sketches\tc:.25, \n", &job);
	cr_assert(config_is_mixed(&job));
	cr_assert_str_eq(job.dataset, "photos:3,sketches,c:.25");
	for (const char *text = job.dataset; config_next_mixed(&text, &mixed); n++) {
		cr_assert_str_eq(mixed.name, expected[n].name);
		cr_assert_eq(mixed.weight, expected[n].weight);
	}
	cr_assert_eq(n, 3);
	cr_assert_eq(config_job_copy(&job, &again), 0);
	cr_assert_str_eq(again.dataset, job.dataset);
	config_job_free(&again);
	config_job_free(&job);

	/* The weight of a single dataset has no effect. */
	expect_job("[job]\nname = a\ndataset = photos:3\n", &job);
	cr_assert_not(config_is_mixed(&job));
	cr_assert_str_eq(job.dataset, "photos");
	config_job_free(&job);
}
