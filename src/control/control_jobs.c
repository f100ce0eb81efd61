// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "config/config_owner.h"
#include "control/control_request.h"
#include "sched/jobs.h"

#include <errno.h>
#include <string.h>

struct addition {
	struct job_config config;
	bool parsed;
	bool there; /* a job with the same ini exists */
	bool added;
};

struct additions {
	const struct request *request;
	struct sched *sched;
	const char *const *settings;
	size_t n_settings;
	/* template of the one job; NULL: the request has inis */
	const struct template_config *template;
	/* names and texts of inis, alternately; with a template only the name of the daemon's
	 * ini */
	const char *const *files;
	size_t n;
	struct addition *of;
	const struct sched_import *import; /* the checkpoint, or NULL */
	bool own_name; /* adds one job, under another name if its own is taken */
	size_t messages;
};

static void report(void *context, const char *message)
{
	struct additions *all = context;
	request_report(all->request->out, message);
	all->messages++;
}

/* default mode of a user's job: only the owner may read, because reading uses up samples */
#define MODE_OF_OTHERS 0500

static int refuse(struct additions *all, const struct job_config *config, const char *key,
	const char *allowed)
{
	config_report_text(report, all, "%s:[job]:%s: an ordinary user may set only: %s",
		config->file, key, allowed);
	return -EPERM;
}

/* Makes the sender of the request the owner of the job, if the sender is an ordinary user. The
 * job's group must be one of the user's groups. Keys that name files (an order to replay, a table
 * of labels) are refused, because the daemon can perhaps read files that the user can't read. */
static int take_owner(struct additions *all, struct job_config *config)
{
	const struct client *client = all->request->client;
	uid_t uid = client->sender.uid;
	if (config_is_master(uid))
		return 0;
	if (config->owner != CONFIG_NO_OWNER && config->owner != uid)
		return refuse(all, config, "owner", "this user");
	if (config->group != CONFIG_NO_OWNER && !request_has_group(client, config->group))
		return refuse(all, config, "group", "a group of this user");
	if (config->order == ORDER_REPLAY)
		return refuse(all, config, "order", "shuffled or sequential");
	if (config->label_table)
		return refuse(all, config, "label_table", "none");
	config->owner = uid;
	if (config->group == CONFIG_NO_OWNER)
		config->group = client->sender.gid;
	if (!config->mode)
		config->mode = MODE_OF_OTHERS;
	return 0;
}

static int parse_one(
	struct additions *all, size_t i, const char *const *settings, size_t n)
{
	struct addition *addition = &all->of[i];
	int err = all->template ? config_parse_template(all->files[0], all->template,
					  settings, n, report, all, &addition->config)
				: config_parse_job_with(all->files[2 * i],
					  all->files[2 * i + 1], settings, n, report, all,
					  &addition->config);
	addition->parsed = err == 0;
	return err ? err : take_owner(all, &addition->config);
}

#define OWN_NAMES 10000 /* the last name that find_own_name tries is NAME-9999 */

static bool is_taken(struct sched *sched, const char *name)
{
	auto_job *job = sched_job_find(sched, name);
	return job != NULL;
}

/* Finds the first free name of NAME, NAME-2, NAME-3 and so on. */
static int find_own_name(struct additions *all)
{
	auto_free const char **settings = calloc(all->n_settings + 1, sizeof(*settings));
	auto_free char *name = strdup(all->of->config.name);
	if (!settings || !name)
		return -ENOMEM;
	if (all->n_settings > 0)
		memcpy(settings, all->settings, all->n_settings * sizeof(*settings));
	for (int i = 2; i < OWN_NAMES && is_taken(all->sched, all->of->config.name);
		i++) {
		auto_free char *setting = aprintf("job.name=%s-%d", name, i);
		if (!setting)
			return -ENOMEM;
		settings[all->n_settings] = setting;
		config_job_free(&all->of->config);
		int err = parse_one(all, 0, settings, all->n_settings + 1);
		if (err)
			return err;
	}
	return 0;
}

static int parse(struct additions *all)
{
	int err = 0;
	for (size_t i = 0; i < all->n; i++) {
		int this = parse_one(all, i, all->settings, all->n_settings);
		err = err ? err : this;
	}
	return err;
}

static int check_names(struct additions *all)
{
	int err = 0;
	for (size_t i = 1; i < all->n; i++)
		for (size_t k = 0; k < i; k++) {
			const struct job_config *a = &all->of[k].config;
			const struct job_config *b = &all->of[i].config;
			if (strcmp(a->name, b->name) != 0)
				continue;
			config_report_text(report, all,
				"%s:[job]:name: found \"%s\", which is also the name in "
				"%s, allowed: a different name for each job",
				b->file, b->name, a->file);
			err = -EEXIST;
			break;
		}
	return err;
}

static bool has_line(const char *text, const char *line, size_t n)
{
	for (; *text; text = strchr(text, '\n') + 1)
		if (strncmp(text, line, n) == 0 && text[n] == '\n')
			return true;
	return false;
}

/* Returns the first line of `text` that `other` lacks, and sets *ret_n to its length.
 * NULL: `other` has all lines. Each line of both texts ends with a newline. */
static const char *other_line(const char *text, const char *other, size_t *ret_n)
{
	for (; *text; text += *ret_n + 1) {
		*ret_n = strcspn(text, "\n");
		if (!has_line(other, text, *ret_n))
			return text;
	}
	return NULL;
}

static void report_difference(struct additions *all, const struct job_config *config,
	const char *here, const char *there)
{
	size_t n;
	const char *line = other_line(here, there, &n);
	const char *which = line ? "without" : "with";
	if (!line)
		line = other_line(there, here, &n);
	config_report_text(report, all,
		"%s:[job]:name: found \"%s\", which is the name of a running job %s "
		"\"%.*s\", allowed: another name, or remove that job first (joaderctl "
		"rm)",
		config->file, config->name, which, (int)n, line);
}

/* Compares the ini with the ini of the running job of this name, if there is such a job. Sets
 * addition->there if both inis are equal. Returns -EEXIST if they differ, or if the request imports
 * a checkpoint, because an imported job must have a new name. */
static int compare(struct additions *all, struct addition *addition)
{
	const struct job_config *config = &addition->config;
	auto_job *job = sched_job_find(all->sched, config->name);
	if (!job)
		return 0;
	auto_free char *here = config_job_text(config);
	auto_free char *there = config_job_text(sched_job_config(job));
	if (!here || !there)
		return -ENOMEM;
	addition->there = strcmp(here, there) == 0 && !all->import;
	if (addition->there)
		return 0;
	if (all->import)
		config_report_text(report, all,
			"%s:[job]:name: found \"%s\", which is the name of a running "
			"job, allowed with --import: another name",
			config->file, config->name);
	else
		report_difference(all, config, here, there);
	return -EEXIST;
}

static int compare_all(struct additions *all)
{
	int err = 0;
	for (size_t i = 0; i < all->n; i++) {
		int this = compare(all, &all->of[i]);
		err = err ? err : this;
	}
	return err;
}

static int keep(struct additions *all, const char *name)
{
	auto_job *job = sched_job_find(all->sched, name);
	int err = job ? sched_job_keep(job) : -ENODEV;
	if (err)
		config_report_text(report, all, "job %s: its ini can't be saved: %s",
			name, strerror(-err));
	return err;
}

static int add(struct additions *all)
{
	int err = 0;
	for (size_t i = 0; i < all->n && !err; i++) {
		if (all->of[i].there)
			continue;
		err = sched_job_add_import(
			all->sched, &all->of[i].config, false, all->import, report, all);
		all->of[i].added = err == 0;
	}
	for (size_t i = 0; i < all->n && !err; i++)
		if (all->of[i].added)
			err = keep(all, all->of[i].config.name);
	for (size_t i = all->n; err && i-- > 0;)
		if (all->of[i].added)
			(void)!sched_job_withdraw(all->sched, all->of[i].config.name);
	return err;
}

/* Warns if no known library that reads this layout can read files of the job's format. Known
 * libraries are, for instance, ImageFolder for layout = classes, and WebDataset for layout =
 * tar. */
static void tell_of_readers(FILE *out, const struct job_config *config)
{
	if (config->layout == LAYOUT_CLASSES && config_holds_arrays(config->format))
		fprintf(out,
			"%s: no known reader of layout = classes reads .%s files: "
			"ImageFolder and the like need format = ppm, bmp or png "
			"(joaderfs-readers(7))\n",
			config->name, config->extension);
	else if (config->layout == LAYOUT_TAR && config->format == FORMAT_RAW)
		fprintf(out,
			"%s: no known reader of layout = tar reads raw pixels: "
			"WebDataset needs format = ppm, png or npy "
			"(joaderfs-readers(7))\n",
			config->name);
}

static void tell(const struct additions *all)
{
	const struct request *request = all->request;
	for (size_t i = 0; i < all->n; i++) {
		const struct job_config *config = &all->of[i].config;
		if (all->of[i].there)
			fprintf(request->out, "%s is there already\n", config->name);
		else if (all->own_name)
			fprintf(request->out, "%s\t%s/jobs/%s\n", config->name,
				request->context->mountpoint, config->name);
		else
			fprintf(request->out, "added %s\n", config->name);
		tell_of_readers(request->out, config);
		if (!all->of[i].there && request->session)
			session_jobs_changed(
				request->session, config->name, config->path);
	}
}

static int carry_out(struct additions *all)
{
	int err = parse(all);
	if (!err && all->own_name)
		err = find_own_name(all);
	if (!err)
		err = check_names(all);
	if (!err)
		err = compare_all(all);
	if (!err)
		err = add(all);
	if (!err) {
		tell(all);
		sched_report_cache(all->sched, report, all);
	}
	return err;
}

/* Sets all->template to the template of this name. rest: number of the request's arguments for
 * inis, which a template does not need. Returns false if there is no such template, or if `rest` is
 * not 0; the answer has the reason. */
static bool take_template(struct additions *all, const struct daemon_config *daemon,
	const char *name, size_t rest)
{
	FILE *out = all->request->out;
	all->template = config_template(daemon, name);
	if (all->template)
		return rest == 0 || request_refuse(all->request,
					    "--template: found a template and a file, "
					    "allowed: only one of them");
	fprintf(out, "--template: found \"%s\", allowed:", name);
	for (size_t i = 0; i < daemon->n_templates; i++)
		fprintf(out, "%s %s", i ? "," : "", daemon->templates[i].name);
	if (daemon->n_templates == 0)
		fprintf(out, " [template NAME] in %s, which has none", daemon->file);
	fputc('\n', out);
	return false;
}

bool control_add(const struct request *request)
{
	const struct files_context *context = request->context;
	const char *const *arguments = request->argument + 1;
	size_t n = request->n_arguments - 1;
	struct additions all = {.request = request, .sched = context->sched};
	struct sched_import import = {.fd = request->client->descriptor};
	const char *template = NULL;
	size_t used = 0;
	if (n >= 2 && strcmp(arguments[0], "--import") == 0 && import.fd >= 0) {
		import.name = arguments[1];
		all.import = &import;
		used = 2;
		if (n >= 4 && strcmp(arguments[2], "--at") == 0) {
			import.at = arguments[3];
			used = 4;
		}
	} else if (n >= 1 && strcmp(arguments[0], "--own-name") == 0) {
		all.own_name = true;
		used = 1;
	}
	auto_free const char **settings = calloc(n + 1, sizeof(*settings));
	auto_free struct addition *of = calloc(n + 1, sizeof(*of));
	for (; n - used >= 2; used += 2)
		if (strcmp(arguments[used], "--template") == 0)
			template = arguments[used + 1];
		else if (strcmp(arguments[used], "--set") != 0)
			break;
		else if (settings)
			settings[all.n_settings++] = arguments[used + 1];
	if (!settings || !of)
		return request_refuse(request, "out of memory");
	if ((n == used && !template) || (n - used) % 2 != 0)
		return request_refuse(request, "usage: " CONTROL_ADD_USAGE);
	all.settings = settings;
	all.files = arguments + used;
	all.n = template ? 1 : (n - used) / 2;
	all.of = of;
	if (template) {
		all.files = (const char *const *)&context->config->file;
		if (!take_template(&all, context->config, template, n - used))
			return false;
	}
	if ((all.import || all.own_name) && all.n > 1)
		return request_refuse(
			request, "%s: found several jobs, allowed: one", arguments[0]);
	int err = carry_out(&all);
	for (size_t i = 0; i < all.n; i++)
		if (of[i].parsed)
			config_job_free(&of[i].config);
	if (err && all.messages == 0)
		fprintf(request->out, "%s: %s\n", all.files[0], strerror(-err));
	if (err && all.n > 1)
		fputs("none of these jobs was added\n", request->out);
	return err == 0;
}

struct wanted_ini {
	const char *name; /* job whose ini is searched */
	char *path;	  /* path of the ini; NULL: none was found yet */
};

static int look_at_ini(void *context, const char *path)
{
	struct wanted_ini *wanted = context;
	struct job_config config;
	if (config_parse_job(path, NULL, NULL, NULL, &config) != 0)
		return 0;
	if (strcmp(config.name, wanted->name) == 0)
		wanted->path = strdup(path);
	config_job_free(&config);
	return wanted->path != NULL;
}

char *control_ini_of(const char *directory, const char *name)
{
	struct wanted_ini wanted = {.name = name};
	if (directory)
		(void)!config_each_ini(directory, look_at_ini, &wanted);
	return wanted.path;
}
