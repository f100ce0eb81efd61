// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "dataset/label_table.h"
#include "base/aprintf.h"
#include "base/compare.h"
#include "dataset/dataset_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define ALLOWED "allowed: DATASET/CLASS LABEL, each class once, a LABEL from 0 to 999999"

struct entry {
	char *name; /* DATASET/CLASS */
	uint32_t label;
	unsigned line;
};

struct label_table {
	struct entry *entries; /* sorted by name */
	size_t n, capacity;
	uint32_t n_labels; /* 1 + the largest label */
};

struct reading {
	struct label_table *table;
	unsigned line;
	char **ret_message;
};

static int refuse(const struct reading *reading, const char *text)
{
	struct quoted quoted;
	*reading->ret_message = aprintf("found \"%s\" in line %u, " ALLOWED,
		quote_name(&quoted, text), reading->line);
	return -EINVAL;
}

/* `text` is the part of a line after the last blank. */
static bool parse_label(const char *text, uint32_t *ret)
{
	size_t n = strspn(text, "0123456789");
	*ret = n > 0 && n < 8 ? (uint32_t)strtoul(text, NULL, 10) : 0;
	return n > 0 && n < 8 && !text[n] && *ret < MOST_NUMBERED_CLASSES;
}

static int add(
	struct label_table *table, const char *name, size_t n, const struct entry *entry)
{
	if (!array_make_room(table->entries, table->n, &table->capacity))
		return -ENOMEM;
	struct entry *added = &table->entries[table->n];
	*added = *entry;
	added->name = strndup(name, n);
	if (!added->name)
		return -ENOMEM;
	table->n++;
	if (entry->label >= table->n_labels)
		table->n_labels = entry->label + 1;
	return 0;
}

/* Parses a line of the table. Changes `text`. */
static int read_line(const struct reading *reading, char *text)
{
	struct entry entry = {.line = reading->line};
	size_t n = strlen(text);
	while (n > 0 && strchr(" \t\r\n", text[n - 1]))
		text[--n] = '\0';
	if (n == 0 || *text == '#')
		return 0;
	size_t end = n;
	while (end > 0 && !strchr(" \t", text[end - 1]))
		end--;
	bool valid = parse_label(text + end, &entry.label);
	while (end > 0 && strchr(" \t", text[end - 1]))
		end--;
	const char *slash = memchr(text, '/', end);
	if (!valid || !slash || slash == text || slash + 1 == text + end)
		return refuse(reading, text);
	return add(reading->table, text, end, &entry);
}

static int sort(struct reading *reading)
{
	struct label_table *table = reading->table;
	if (table->n > 0)
		qsort(table->entries, table->n, sizeof(*table->entries), compare_texts);
	for (size_t i = 1; i < table->n; i++) {
		const struct entry *one = &table->entries[i - 1];
		const struct entry *next = &table->entries[i];
		if (strcmp(one->name, next->name) != 0)
			continue;
		reading->line = one->line > next->line ? one->line : next->line;
		return refuse(reading, next->name);
	}
	return 0;
}

static int read_lines(struct reading *reading, FILE *in)
{
	auto_free char *text = NULL;
	size_t room = 0;
	int err = 0;
	for (reading->line = 1; !err && getline(&text, &room, in) >= 0; reading->line++)
		err = read_line(reading, text);
	if (!err && ferror(in))
		err = -EIO;
	return err ? err : sort(reading);
}

/* Returns -EINVAL for all but regular files: a read of a FIFO or device could block. */
static int open_file(const char *path, FILE **ret)
{
	struct stat status;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	int err = fd < 0 || fstat(fd, &status) != 0 ? -errno : 0;
	if (!err && !S_ISREG(status.st_mode))
		err = -EINVAL;
	*ret = err ? NULL : fdopen(fd, "r");
	if (!*ret && fd >= 0)
		close(fd);
	return err || *ret ? err : -ENOMEM;
}

int label_table_read(const char *path, struct label_table **ret, char **ret_message)
{
	struct label_table *table = calloc(1, sizeof(*table));
	struct reading reading = {.table = table, .ret_message = ret_message};
	auto_fclose FILE *in = NULL;
	if (!table)
		return -ENOMEM;
	int err = open_file(path, &in);
	if (!err)
		err = read_lines(&reading, in);
	if (err)
		label_table_free(&table);
	else
		*ret = table;
	return err;
}

void label_table_free(struct label_table **table)
{
	struct label_table *old = *table;
	*table = NULL;
	for (size_t i = 0; old && i < old->n; i++)
		free(old->entries[i].name);
	if (old)
		free(old->entries);
	free(old);
}

uint32_t label_table_find(
	const struct label_table *table, const char *dataset, const char *class)
{
	struct entry key = {0};
	const struct entry *found = NULL;
	key.name = aprintf("%s/%s", dataset, class);
	if (!key.name)
		return LABEL_NONE;
	if (table->n > 0)
		found = bsearch(
			&key, table->entries, table->n, sizeof(key), compare_texts);
	free(key.name);
	return found ? found->label : LABEL_NONE;
}

/* Returns an array with the first entry in the file for each label; an element is NULL if no class
 * has the label. The caller frees the array; NULL: no memory. */
static const struct entry **first_entries(const struct label_table *table)
{
	const struct entry **first =
		calloc((size_t)table->n_labels + 1, sizeof(struct entry *));
	for (size_t i = 0; first && i < table->n; i++) {
		const struct entry *entry = &table->entries[i];
		const struct entry **of = &first[entry->label];
		if (!*of || (*of)->line > entry->line)
			*of = entry;
	}
	return first;
}

int label_table_classes(const struct label_table *table, char ***ret, uint32_t *ret_n)
{
	const struct entry **first = first_entries(table);
	*ret = calloc((size_t)table->n_labels + 1, sizeof(char *));
	int err = first && *ret ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < table->n_labels && !err; i++) {
		char number[16];
		snprintf(number, sizeof(number), "%u", i);
		(*ret)[i] = strdup(first[i] ? strchr(first[i]->name, '/') + 1 : number);
		err = (*ret)[i] ? 0 : -ENOMEM;
		*ret_n += !err;
	}
	free(first);
	return err;
}
