// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/aprintf.h"
#include "base/ensure.h"
#include "config/config_internal.h"
#include "image/sections.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <string.h>

/* The library inih gets one line at a time. If inih got a whole ini, it would report only the first
 * bad line, cut long lines and long names of sections, and not tell in which line a section
 * begins. */

#define MAX_LINE (INI_MAX_LINE - 3) /* bytes of the longest line that inih accepts */
#define MAX_FILE (1 << 20)

void ini_mistake_nearest(struct ini *ini, unsigned line, const char *label,
	const char *key, const char *found, const char *allowed, const char *nearest)
{
	if (nearest)
		ini_mistake(ini, line, label, key,
			"found \"%s\", allowed: %s; did you mean \"%s\"?", found, allowed,
			nearest);
	else
		ini_mistake(ini, line, label, key, "found \"%s\", allowed: %s", found,
			allowed);
}

struct reader {
	struct ini *ini;
	unsigned line;
	/* section to which the next keys belong; NULL: the next keys are ignored */
	struct ini_section *section;
	bool began;
};

static void allowed_sections(enum ini_kind kind, char *ret, size_t size)
{
	size_t n = 0;
	for (int i = 0; i < SECTION_COUNT; i++)
		if (config_sections[i].kind == kind)
			n += (size_t)snprintf(ret + n, size - n, "%s[%s%s]",
				n ? ", " : "", config_sections[i].name,
				config_sections[i].named ? " NAME" : "");
	ensure(n < size);
}

static void report_other_kind(struct reader *reader, const char *label)
{
	struct ini *ini = reader->ini;
	char allowed[128];
	allowed_sections(ini->kind, allowed, sizeof(allowed));
	bool is_job = ini->kind == INI_DAEMON;
	if (!ini->unusable)
		ini_mistake(ini, reader->line, label, NULL,
			"found \"%s\", allowed: %s; this is the ini of %s %s%s", label,
			allowed, is_job ? "a job: joaderctl add" : "the daemon: joaderfs",
			ini->file, is_job ? "" : " MOUNTPOINT");
	ini->unusable = true;
}

static void report_unknown_section(
	struct reader *reader, const char *label, const char *word)
{
	const char *names[SECTION_COUNT];
	char allowed[128];
	size_t n = 0;
	for (int i = 0; i < SECTION_COUNT; i++)
		if (config_sections[i].kind == reader->ini->kind)
			names[n++] = config_sections[i].name;
	allowed_sections(reader->ini->kind, allowed, sizeof(allowed));
	ini_mistake_nearest(reader->ini, reader->line, label, NULL, label, allowed,
		config_nearest(word, names, n));
}

static struct ini_section *find_label(struct ini *ini, const char *label)
{
	for (size_t i = 0; i < ini->n_sections; i++)
		if (strcmp(ini->sections[i].label, label) == 0)
			return &ini->sections[i];
	return NULL;
}

static struct ini_section *add_section(
	struct reader *reader, enum section_id id, const char *label)
{
	struct ini *ini = reader->ini;
	struct ini_section *grown =
		reallocarray(ini->sections, ini->n_sections + 1, sizeof(*grown));
	if (!grown) {
		ini->err = -ENOMEM;
		return NULL;
	}
	ini->sections = grown;
	struct ini_section *section = &grown[ini->n_sections];
	*section = (struct ini_section){.id = id,
		.line = reader->line,
		.label = strdup(label),
		.values = calloc(config_n_options(), sizeof(*section->values))};
	if (!section->label || !section->values) {
		free(section->label);
		free(section->values);
		ini->err = -ENOMEM;
		return NULL;
	}
	size_t word = strlen(config_sections[id].name);
	section->name = section->label + word + (section->label[word] == ' ');
	ini->n_sections++;
	return section;
}

/* Begins a section, to which the next keys belong. It is a mistake if the ini has the section
 * twice. The keys of the second section are then added to the first one, so that contradictions
 * between the keys of both are found, too. */
static void begin_section(
	struct reader *reader, enum section_id id, const char *label, const char *name)
{
	struct ini *ini = reader->ini;
	if (id == SECTION_TENSOR && strlen(name) >= SECTION_NAME)
		ini_mistake(ini, reader->line, label, NULL,
			"found a name of %zu bytes, allowed: at most %d", strlen(name),
			SECTION_NAME - 1);
	if (config_sections[id].named && !config_name_valid(name))
		ini_mistake(ini, reader->line, label, NULL,
			"found \"%s\", allowed: [%s NAME], NAME: " NAME_RULE, label,
			config_sections[id].name);
	struct ini_section *first = find_label(ini, label);
	if (first)
		ini_mistake(ini, reader->line, label, NULL,
			"found \"%s\" again, allowed: once; it is in line %u", label,
			first->line);
	reader->section = first ? first : add_section(reader, id, label);
}

/* Begins the section whose brackets contain `text`, or reports that the ini must not have it.
 * `text` has no surrounding spaces. */
static void take_section(struct reader *reader, const char *text)
{
	size_t n = strcspn(text, " \t");
	auto_free char *word = strndup(text, n);
	const char *name = text + n + strspn(text + n, " \t");
	auto_free char *label =
		word ? aprintf("%s%s%s", word, *name ? " " : "", name) : NULL;
	reader->began = true;
	reader->section = NULL;
	if (!label) {
		reader->ini->err = -ENOMEM;
		return;
	}
	for (int i = 0; i < SECTION_COUNT; i++) {
		const struct section_spec *spec = &config_sections[i];
		if (strcmp(spec->name, word) != 0 ||
			(*name && !spec->named && i != SECTION_TENSOR))
			continue;
		if (spec->kind == reader->ini->kind)
			begin_section(reader, (enum section_id)i, label, name);
		else
			report_other_kind(reader, label);
		return;
	}
	report_unknown_section(reader, label, word);
}

static int find_option(enum section_id id, const char *key)
{
	for (size_t i = 0; i < config_n_options(); i++)
		if (config_option(i)->section == id &&
			strcmp(config_option(i)->key, key) == 0)
			return (int)i;
	return -1;
}

/* Returns the name of the first section of this kind of ini that allows the key. NULL: no section
 * allows the key. */
static const char *home_of_key(enum ini_kind kind, const char *key)
{
	for (int id = 0; id < SECTION_COUNT; id++)
		if (config_sections[id].kind == kind &&
			find_option((enum section_id)id, key) >= 0)
			return config_sections[id].name;
	return NULL;
}

static void report_unknown_key(struct reader *reader, const char *key)
{
	if (reader->section->id == SECTION_TEMPLATE) {
		template_report_key(
			reader->ini, reader->line, reader->section->label, key);
		return;
	}
	const char *names[32];
	char allowed[256];
	size_t n = 0, length = 0;
	for (size_t i = 0; i < config_n_options(); i++) {
		if (config_option(i)->section != reader->section->id)
			continue;
		ensure(n < sizeof(names) / sizeof(names[0]));
		length += (size_t)snprintf(allowed + length, sizeof(allowed) - length,
			"%s%s", n ? ", " : "", config_option(i)->key);
		ensure(length < sizeof(allowed));
		names[n++] = config_option(i)->key;
	}
	const char *home = home_of_key(reader->ini->kind, key);
	if (home)
		ini_mistake(reader->ini, reader->line, reader->section->label, key,
			"found \"%s\", allowed: %s; it belongs to [%s]", key, allowed,
			home);
	else
		ini_mistake_nearest(reader->ini, reader->line, reader->section->label,
			key, key, allowed, config_nearest(key, names, n));
}

/* Warns of a value that contains " # comment", which most programs would cut off. */
static void warn_of_comment(
	const struct reader *reader, const char *label, const char *key, const char *text)
{
	const char *hash = *text ? strchr(text + 1, '#') : NULL;
	while (hash && !isspace((unsigned char)hash[-1]))
		hash = strchr(hash + 1, '#');
	if (hash)
		ini_warning(reader->ini, reader->line, label, key,
			"\"%s\" belongs to the value: after a value, a comment begins "
			"with ; and not with #",
			hash);
}

/* Sets the value of a key. It is a mistake if the ini gives a key twice. A value from ini_set
 * replaces the value from the ini. */
static void set_value(struct reader *reader, const struct ini_section *section,
	struct ini_value *value, const char *text)
{
	struct ini *ini = reader->ini;
	const char *key = config_option((size_t)(value - section->values))->key;
	if (value->line && value->line != LINE_OF_SETTING &&
		reader->line != LINE_OF_SETTING) {
		ini_mistake(ini, reader->line, section->label, key,
			"found \"%s\" again, allowed: once; it is in line %u", key,
			value->line);
		return;
	}
	warn_of_comment(reader, section->label, key, text);
	free(value->text);
	value->line = reader->line;
	value->text = strdup(text);
	if (!value->text)
		ini->err = -ENOMEM;
}

static void take_key(struct reader *reader, const char *key, const char *text)
{
	struct ini *ini = reader->ini;
	if (!reader->began) {
		ini_mistake(ini, reader->line, NULL, key,
			"found \"%s\", allowed: keys after a [section]", key);
		reader->began = ini->unusable = true;
	}
	if (!reader->section)
		return;
	enum section_id id = reader->section->id;
	int i = id == SECTION_TEMPLATE ? template_option(key) : find_option(id, key);
	if (i < 0) {
		report_unknown_key(reader, key);
		return;
	}
	set_value(reader, reader->section, &reader->section->values[i], text);
}

static void report_form(struct reader *reader, const char *text)
{
	ini_mistake(reader->ini, reader->line,
		reader->section ? reader->section->label : NULL, NULL,
		"found \"%s\", allowed: [SECTION], KEY = VALUE, or a comment after ; or "
		"#",
		text);
}

static void take_section_line(struct reader *reader, char *text)
{
	char *end = strchr(text, ']');
	const char *rest = end ? end + 1 + strspn(end + 1, " \t") : NULL;
	if (!end || (*rest && !strchr(";#", *rest))) {
		report_form(reader, text);
		reader->began = true;
		reader->section = NULL;
		return;
	}
	while (end > text + 1 && isspace((unsigned char)end[-1]))
		end--;
	*end = '\0';
	take_section(reader, text + 1 + strspn(text + 1, " \t"));
}

static int take_pair(void *user, const char *section, const char *key, const char *value)
{
	(void)section;
	if (!*key || !value)
		return 0;
	take_key(user, key, value);
	return 1;
}

/* Handles one line of the ini. `text` has no surrounding spaces, and may be modified. */
static void take_line(struct reader *reader, char *text)
{
	if (!*text || strchr(";#", *text))
		return;
	if (strlen(text) > MAX_LINE)
		ini_mistake(reader->ini, reader->line,
			reader->section ? reader->section->label : NULL, NULL,
			"found a line of %zu bytes, allowed: at most %d", strlen(text),
			MAX_LINE);
	else if (*text == '[')
		take_section_line(reader, text);
	else if (ini_parse_string(text, take_pair, reader) != 0)
		report_form(reader, text);
}

static void read_text(struct ini *ini, const char *text)
{
	struct reader reader = {.ini = ini};
	if (strncmp(text, "\xef\xbb\xbf", 3) == 0)
		text += 3;
	while (*text && !ini->err) {
		const char *end = strchrnul(text, '\n');
		const char *next = *end ? end + 1 : end;
		reader.line++;
		while (text < end && isspace((unsigned char)*text))
			text++;
		while (end > text && isspace((unsigned char)end[-1]))
			end--;
		auto_free char *line = strndup(text, (size_t)(end - text));
		if (line)
			take_line(&reader, line);
		else
			ini->err = -ENOMEM;
		text = next;
	}
}

/* Finds or adds the section that a setting names. NULL: a mistake was reported, or memory has run
 * out (ini->err). */
static struct ini_section *section_of_setting(struct reader *reader, const char *word)
{
	struct ini_section *section = find_label(reader->ini, word);
	for (int i = 0; !section && i < SECTION_COUNT; i++) {
		const struct section_spec *spec = &config_sections[i];
		if (strcmp(spec->name, word) != 0 || spec->kind != reader->ini->kind)
			continue;
		section = add_section(reader, (enum section_id)i, word);
		if (!section)
			return NULL;
	}
	if (!section)
		report_unknown_section(reader, word, word);
	return section;
}

void ini_set(struct ini *ini, const char *setting, unsigned line)
{
	struct reader reader = {.ini = ini, .line = line, .began = true};
	size_t word_length = strcspn(setting, ".= \n");
	const char *pair = setting + word_length + 1;
	auto_free char *word = strndup(setting, word_length);
	if (!word) {
		ini->err = -ENOMEM;
	} else if (word_length == 0 || setting[word_length] != '.' ||
		   strchr(pair, '\n') || strlen(pair) > MAX_LINE || !strchr(pair, '=') ||
		   !isalpha((unsigned char)*pair)) {
		ini_mistake(ini, line, NULL, NULL,
			"found \"%s\", allowed: SECTION.KEY=VALUE, a line of at most %d "
			"bytes",
			setting, MAX_LINE);
	} else {
		reader.section = section_of_setting(&reader, word);
		if (reader.section && ini_parse_string(pair, take_pair, &reader) != 0)
			report_form(&reader, pair);
	}
}

static int read_all(FILE *file, char **ret)
{
	char *text = malloc(MAX_FILE + 1);
	if (!text)
		return -ENOMEM;
	errno = 0;
	size_t n = fread(text, 1, MAX_FILE, file);
	int err = ferror(file) ? -errno : n == MAX_FILE ? -EFBIG : 0;
	text[n] = '\0';
	if (!err && strlen(text) != n)
		err = -EILSEQ;
	if (err)
		free(text);
	else
		*ret = text;
	return err;
}

/* Replaces environment variables in `text`, and reads the result. The ini is a file that this
 * process reads itself. In an ini that joaderctl sends, joaderctl has already replaced the
 * variables. */
static int read_job(struct ini *ini, const char *text)
{
	auto_free char *filled = NULL;
	struct config_unset unset;
	int err = config_environment(text, &filled, &unset);
	if (err == -EINVAL)
		ini_mistake(ini, unset.line, "job", unset.key, "%s", unset.text);
	else if (!err)
		read_text(ini, filled);
	return err;
}

static int read_file(struct ini *ini)
{
	auto_free char *text = NULL;
	auto_fclose FILE *file = fopen(ini->file, "re");
	int err = file ? read_all(file, &text) : -errno;
	if (err == -EILSEQ)
		ini_mistake(ini, 0, NULL, NULL, "found a NUL byte, allowed: text");
	else if (err)
		ini_mistake(ini, 0, NULL, NULL, "can't be read: %s", strerror(-err));
	else if (ini->kind == INI_JOB)
		err = read_job(ini, text);
	else
		read_text(ini, text);
	return err == -EILSEQ ? -EINVAL : err;
}

int ini_read(struct ini *ini, const char *text)
{
	int err = 0, no_dir = 0;
	if (text)
		read_text(ini, text);
	else
		err = read_file(ini);
	if (!err && ini->kind == INI_DAEMON)
		no_dir = config_path_dir(ini->file, &ini->dir);
	ini->err = no_dir ? no_dir : ini->err;
	return err;
}

void ini_free(struct ini *ini)
{
	for (size_t i = 0; i < ini->n_sections; i++) {
		for (size_t k = 0; k < config_n_options(); k++)
			free(ini->sections[i].values[k].text);
		free(ini->sections[i].values);
		free(ini->sections[i].label);
	}
	free(ini->sections);
	free(ini->dir);
}

const struct ini_section *ini_section(const struct ini *ini, enum section_id id)
{
	for (size_t i = 0; i < ini->n_sections; i++)
		if (ini->sections[i].id == id &&
			(config_sections[id].named || !*ini->sections[i].name))
			return &ini->sections[i];
	return NULL;
}

const char *ini_text(const struct ini_section *section, const char *key)
{
	int i = find_option(section->id, key);
	ensure(i >= 0);
	return section->values[i].text;
}

unsigned ini_line(const struct ini *ini, enum section_id id, const char *key)
{
	const struct ini_section *section = ini_section(ini, id);
	int i = find_option(id, key);
	ensure(i >= 0);
	return section ? section->values[i].line : 0;
}
