// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/size_text.h"
#include "config/config_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/un.h>

#define MIB (UINT64_C(1) << 20)
#define LEAST_CACHE (16 * MIB)
#define MAX_SOCKET (sizeof(((struct sockaddr_un *)NULL)->sun_path) - 1)

void config_fill_datasets(struct ini *ini, struct daemon_config *daemon)
{
	daemon->datasets = calloc(ini->n_sections + 1, sizeof(*daemon->datasets));
	if (!daemon->datasets) {
		ini->err = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < ini->n_sections; i++) {
		const struct ini_section *section = &ini->sections[i];
		if (section->id != SECTION_DATASET)
			continue;
		struct dataset_config *dataset = &daemon->datasets[daemon->n_datasets++];
		ini_fill(ini, section, SECTION_DATASET, dataset);
		if (!ini_text(section, "sampler"))
			dataset->sampler = daemon->sampler;
		dataset->name = strdup(section->name);
		if (!dataset->name)
			ini->err = -ENOMEM;
	}
	/* not reported after another mistake, which may be the cause */
	if (daemon->n_datasets == 0 && ini->mistakes == 0)
		ini_mistake(ini, 0, NULL, NULL,
			"found no [dataset NAME], allowed: at least one");
	if (daemon->n_datasets > CONFIG_MOST_DATASETS)
		ini_mistake(ini, 0, NULL, NULL,
			"found %zu sections [dataset NAME], allowed: at most %d",
			daemon->n_datasets, CONFIG_MOST_DATASETS);
}

/* Checks that each tier directory has the same size in all sections that name it. */
static void check_tiers(struct ini *ini, const struct daemon_config *daemon)
{
	for (size_t i = 0; i < daemon->n_datasets; i++) {
		const struct dataset_config *dataset = &daemon->datasets[i];
		for (size_t k = 0; k < i && dataset->tier.directory; k++) {
			const struct dataset_config *other = &daemon->datasets[k];
			if (!other->tier.directory ||
				strcmp(other->tier.directory, dataset->tier.directory) !=
					0 ||
				other->tier.bytes == dataset->tier.bytes)
				continue;
			auto_free char *label = aprintf("dataset %s", dataset->name);
			ini_mistake(ini, 0, label, "tier",
				"found %s for %s, allowed: %s, as [dataset %s] has it",
				size_text(dataset->tier.bytes).text,
				dataset->tier.directory,
				size_text(other->tier.bytes).text, other->name);
			return;
		}
	}
}

/* Returns the default path of the control socket. For an ordinary user without a runtime directory,
 * the socket is in the directory `state`. */
static char *socket_in(const char *state)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	if (geteuid() == 0 || (runtime && runtime[0] == '/'))
		return config_default_socket();
	return config_path_absolute(state, "joaderfs.sock");
}

static void fill_places(struct ini *ini, struct daemon_config *daemon)
{
	daemon->file = strdup(ini->file);
	if (!daemon->state)
		daemon->state = config_default_state();
	if (daemon->state && !daemon->socket)
		daemon->socket = socket_in(daemon->state);
	if (!daemon->file || !daemon->state || !daemon->socket)
		ini->err = -ENOMEM;
	else if (strlen(daemon->socket) > MAX_SOCKET)
		ini_mistake(ini, ini_line(ini, SECTION_JOADERFS, "socket"), "joaderfs",
			"socket", "found \"%s\", allowed: at most %zu bytes",
			daemon->socket, MAX_SOCKET);
}

static void fill_cache(struct daemon_config *daemon)
{
	daemon->memory = machine_memory("");
	if (daemon->cache_bytes != 0)
		return;
	uint64_t bytes = daemon->memory.left / 2 / MIB * MIB;
	daemon->cache_auto = true;
	daemon->cache_bytes = bytes < LEAST_CACHE ? LEAST_CACHE : bytes;
}

static int finish(struct ini *ini, struct daemon_config *ret)
{
	struct daemon_config daemon = {0};
	if (!ini->unusable && !ini->err) {
		ini_fill(ini, ini_section(ini, SECTION_JOADERFS), SECTION_JOADERFS,
			&daemon);
		ini_fill(ini, ini_section(ini, SECTION_CLUSTER), SECTION_CLUSTER,
			&daemon.cluster);
		fill_cache(&daemon);
		config_fill_datasets(ini, &daemon);
		check_tiers(ini, &daemon);
		config_fill_preparations(ini, &daemon);
		config_fill_templates(ini, &daemon);
		fill_places(ini, &daemon);
	}
	int err = ini_result(ini);
	if (err)
		config_daemon_free(&daemon);
	else
		*ret = daemon;
	return err;
}

int config_parse_daemon(const char *file, const char *text, config_report *report,
	void *context, struct daemon_config *ret)
{
	struct ini ini = {
		.file = file, .kind = INI_DAEMON, .report = report, .context = context};
	int err = ini_read(&ini, text);
	if (!err)
		err = finish(&ini, ret);
	ini_free(&ini);
	return err;
}

void config_daemon_free(struct daemon_config *config)
{
	for (size_t i = 0; i < config->n_datasets; i++)
		config_dataset_free(&config->datasets[i]);
	free(config->datasets);
	config_free_preparations(config);
	config_free_templates(config);
	config_free_fields(SECTION_CLUSTER, &config->cluster);
	config_free_fields(SECTION_JOADERFS, config);
	free(config->file);
	*config = (struct daemon_config){0};
}
