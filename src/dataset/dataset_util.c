// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "base/compare.h"
#include "base/escape.h"
#include "dataset/dataset_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define BLOCK_BYTES (256 * 1024)
#define ALIGNMENT 8

struct arena_block {
	struct arena_block *next;
	size_t bytes;
	_Alignas(ALIGNMENT) char data[];
};

static void *take(struct arena *arena, size_t bytes)
{
	if (bytes > arena->left) {
		size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
		struct arena_block *block = malloc(sizeof(*block) + size);
		if (!block)
			return NULL;
		*block = (struct arena_block){.next = arena->blocks, .bytes = size};
		arena->blocks = block;
		arena->left = size;
	}
	void *result = arena->blocks->data + arena->blocks->bytes - arena->left;
	arena->left -= bytes;
	return result;
}

void *arena_alloc(struct arena *arena, size_t bytes)
{
	arena->left -= arena->left % ALIGNMENT;
	return take(arena, (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

/* Texts are not aligned, which saves a quarter of the memory with millions of names. */
char *arena_span(struct arena *arena, const char *text, size_t n)
{
	char *copy = take(arena, n + 1);
	if (!copy)
		return NULL;
	memcpy(copy, text, n);
	copy[n] = '\0';
	return copy;
}

char *arena_text(struct arena *arena, const char *text)
{
	return arena_span(arena, text, strlen(text));
}

void arena_join(struct arena *into, struct arena *from)
{
	struct arena_block **end = &from->blocks;
	while (*end)
		end = &(*end)->next;
	*end = into->blocks;
	if (from->blocks)
		*into = (struct arena){.blocks = from->blocks, .left = 0};
	*from = (struct arena){0};
}

void arena_free(struct arena *arena)
{
	while (arena->blocks) {
		struct arena_block *block = arena->blocks;
		arena->blocks = block->next;
		free(block);
	}
	arena->left = 0;
}

#define SHRINK_AT (1 << 16)

void *array_shrink(void *items, size_t n, size_t item_bytes)
{
	if (n == 0 || n % SHRINK_AT != 0)
		return items;
	void *shrunk = realloc(items, n * item_bytes);
	return shrunk ? shrunk : items;
}

const char *quote_name(struct quoted *quoted, const char *name)
{
	const char *rest;
	size_t most = sizeof(quoted->text) - sizeof("...");
	size_t n = escape_controls(name, quoted->text, most, &rest);
	strcpy(quoted->text + n, *rest ? "..." : "");
	return quoted->text;
}

const char *group_digits(struct grouped *grouped, uint64_t number)
{
	/* cppcheck-suppress ctuuninitvar ; this function fills the text */
	char *out = grouped->text + sizeof(grouped->text) - 1;
	*out = '\0';
	int digits = 0;
	do {
		if (digits && digits % 3 == 0)
			*--out = ',';
		*--out = (char)('0' + number % 10);
		number /= 10;
		digits++;
	} while (number);
	return out;
}

struct parallel_call {
	void (*work)(void *context, unsigned worker);
	void *context;
	unsigned worker;
	pthread_t thread;
};

static void *run_call(void *argument)
{
	struct parallel_call *call = argument;
	call->work(call->context, call->worker);
	return NULL;
}

void parallel_run(
	unsigned threads, void (*work)(void *context, unsigned worker), void *context)
{
	unsigned started = 1;
	struct parallel_call *calls = calloc(threads, sizeof(*calls));
	for (; calls && started < threads; started++) {
		struct parallel_call *call = &calls[started];
		*call = (struct parallel_call){work, context, started, 0};
		if (pthread_create(&call->thread, NULL, run_call, call) != 0)
			break;
	}
	work(context, 0);
	for (unsigned i = 1; calls && i < started; i++)
		pthread_join(calls[i].thread, NULL);
	free(calls);
}

bool hidden_name(const char *name, size_t n)
{
	static const char *const left[] = {"__MACOSX", "Thumbs.db", "desktop.ini",
		"@eaDir", "$RECYCLE.BIN", "System Volume Information"};
	for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
		if (strlen(left[i]) == n && strncasecmp(left[i], name, n) == 0)
			return true;
	return n > 0 && name[0] == '.';
}

bool metadata_name(const char *name)
{
	return strcmp(name, "metadata.csv") == 0 || strcmp(name, "metadata.jsonl") == 0;
}

bool wanted_ending(const char *extensions, const char *ending)
{
	if (strcmp(extensions, "*") == 0)
		return true;
	for (const char *word = extensions; *word;) {
		size_t n = strcspn(word, " ");
		if (n && strncasecmp(ending, word, n) == 0 && ending[n] == '\0')
			return true;
		word += n + (word[n] == ' ');
	}
	return false;
}

bool wanted_name(const char *extensions, const char *name)
{
	const char *dot = strrchr(name, '.');
	if (strcmp(extensions, "*") == 0)
		return true;
	return dot && dot > name && wanted_ending(extensions, dot + 1);
}

bool names_have(const char *const *names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcasecmp(names[i], name) == 0)
			return true;
	return false;
}

int name_list_add(struct name_list *names, const char *name)
{
	if (!array_make_room(names->name, names->n, &names->capacity))
		return -ENOMEM;
	names->name[names->n++] = name;
	return 0;
}

int name_list_add_class(struct name_list *names, struct arena *arena, const char *path)
{
	size_t n = strcspn(path, "/");
	const char *last = names->n ? names->name[names->n - 1] : "";
	if (span_is(path, n, last))
		return 0;
	const char *copy = arena_span(arena, path, n);
	return copy ? name_list_add(names, copy) : -ENOMEM;
}

void name_list_sort(struct name_list *names)
{
	size_t n = 0;
	if (names->n)
		qsort(names->name, names->n, sizeof(*names->name), compare_texts);
	for (size_t i = 0; i < names->n; i++)
		if (n == 0 || strcmp(names->name[n - 1], names->name[i]) != 0)
			names->name[n++] = names->name[i];
	names->n = n;
}

const char *name_list_find(const struct name_list *names, const char *name)
{
	const char *const *found = names->n == 0
					   ? NULL
					   : bsearch(&name, names->name, names->n,
						     sizeof(*names->name), compare_texts);
	return found ? *found : NULL;
}

void tree_free(struct tree *tree)
{
	free(tree->files);
	free(tree->others);
	free(tree->beside.of);
	free(tree->classes.name);
	free(tree->unseen.name);
	free(tree->metadata.name);
	arena_free(&tree->names);
	*tree = (struct tree){0};
}

char *root_of_path(const char *path)
{
	size_t n = strlen(path);
	while (n && path[n - 1] == '/')
		n--;
	return strndup(path, n);
}

const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

size_t directory_bytes(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? (size_t)(slash - path) : 0;
}

bool span_is(const char *span, size_t n, const char *text)
{
	return strncmp(span, text, n) == 0 && text[n] == '\0';
}

int compare_spans(const char *a, size_t a_length, const char *b, size_t b_length)
{
	int order = memcmp(a, b, a_length < b_length ? a_length : b_length);
	return order ? order : (a_length > b_length) - (a_length < b_length);
}
