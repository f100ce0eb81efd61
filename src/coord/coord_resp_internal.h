// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#include "base/bitmap.h"
#include "base/secret_file.h"
#include "coord/coord_tls.h"
#include "coord/coord_url.h"

#include <hiredis/hiredis.h>

/* The chunks of an epoch's log, as far as they are known: one per append (coord_resp_read.c). */
struct resp_chunks {
	char job[COORD_NAME];
	uint32_t epoch;
	uint32_t *ends; /* [n]: length of the log after each chunk, for all ranks */
	size_t n, room;
};

struct coord_resp {
	struct coord_engine engine;
	struct coord_server server;
	struct coord_url url; /* of server.url */
	size_t host;	      /* index of the host to try first */
	/* the server to which a Redis cluster has moved the group's keys; port 0: none */
	struct coord_host moved;
	char group[COORD_NAME + 2];
	uint32_t timeout_ms;
	redisContext *link;    /* NULL: not connected */
	struct coord_tls *tls; /* NULL: none */
	char run[COORD_RUN];
	char told[COORD_TEXT]; /* the refusal last logged */
	bool looks;	 /* set by coord_resp_look, which must not load the library */
	char policy[32]; /* maxmemory-policy; "": not known */
	char refused[COORD_TEXT]; /* the server's refusal; "": the server answered */
	const char *asked;	  /* name of the last command or function */
	/* makes: hiredis' functions that make replies; counts: functions that count memory, then
	 * call those in `makes` */
	redisReplyObjectFunctions *makes, counts;
	/* taken: bytes of memory of the reply being read; most: limit of `taken` */
	size_t taken, most;
	bool too_much;		  /* the reply being read exceeded the limit */
	struct resp_chunks *logs; /* known chunks, of at most two epochs of each job */
	size_t n_logs;
};

/* The words of a command. The caller's strings must live until the command is sent. */
struct resp_words {
	const char **word;
	size_t *length;
	size_t n, room;
	char *numbers; /* buffers of words that are numbers */
	/* why the command can't be sent; 0: it can; -ENOMEM: no memory, or over `room` words */
	int err;
};

/* --- coord_resp_link.c ------------------------------------------------------------------ */

/* Begins a command of at most `most` words. Sending the command frees its words. */
struct resp_words resp_begin(size_t most);
/* Begins an FCALL of a library function with at most `most` arguments. */
struct resp_words resp_function(struct coord_resp *resp, const char *name, size_t most);
/* Begins an FCALL whose first argument is `run`, the name of a life of the engine. Sending the
 * command fails with -ESTALE if the engine is in another life. */
struct resp_words resp_function_in(
	struct coord_resp *resp, const char *run, const char *name, size_t most);
void resp_bytes(struct resp_words *words, const void *bytes, size_t length);
void resp_text(struct resp_words *words, const char *text);
void resp_number(struct resp_words *words, uint64_t number);
void resp_hex(struct resp_words *words, uint64_t number);
void resp_token(struct resp_words *words, const struct coord_token *token);

/* Connects if needed, and sends the command. The caller frees *ret with freeReplyObject. */
must_check int resp_call(
	struct coord_resp *resp, struct resp_words *words, redisReply **ret);
/* Sends n commands at once, and reads n replies. If one command fails, there are no replies. */
must_check int resp_calls(
	struct coord_resp *resp, struct resp_words *words, size_t n, redisReply **ret);
/* Sends a command while the connection is being set up. An error reply that begins with `expected`
 * (may be NULL) is returned as a reply; other error replies are failures. */
must_check int resp_ask(struct coord_resp *resp, struct resp_words *words,
	const char *expected, redisReply **ret);
/* Sends a command. Returns 0 if the reply is an integer, -EBADE if it is of another type. */
must_check int resp_do(struct coord_resp *resp, struct resp_words *words);
/* Connects if needed. -ESTALE: the name of the server's life is not `run`. */
must_check int resp_same_life(struct coord_resp *resp, const char *run);
void resp_close(struct coord_resp *resp);
/* Returns the link's error as -errno, but never -ENOENT or -EAGAIN, to which coord_engine.h gives
 * other meanings. */
int resp_network_error(const redisContext *link);

/* Frees the reply, and returns err. If err is -EBADE, also closes the connection, which can't be
 * trusted any more. */
must_check int resp_end(struct coord_resp *resp, redisReply *reply, int err);

/* --- coord_resp_take.c: a reply as it comes --------------------------------------------- */

#define RESP_MOST_BYTES (256UL << 20) /* most memory for a reply */

/* Makes the connection count the memory of replies. */
void resp_count(struct coord_resp *resp);
/* Sends buffered commands, and reads one reply. */
must_check int resp_take(struct coord_resp *resp, redisReply **ret);

/* --- coord_resp_reply.c: false or -EBADE: the reply is of another type or malformed ------ */

bool resp_is_array(const redisReply *reply, size_t least);
/* Tells whether the reply is a text that fits into `size` bytes, including the \0. */
bool resp_is_text(const redisReply *reply, size_t size);
bool resp_take_name(const redisReply *reply, char ret[COORD_NAME]);
bool resp_take_u64(const redisReply *reply, uint64_t most, uint64_t *ret);
bool resp_take_u32(const redisReply *reply, uint32_t least, uint32_t most, uint32_t *ret);
bool resp_take_flag(const redisReply *reply, bool *ret);
bool resp_take_hex(const redisReply *reply, uint64_t *ret);
/* Parses a hexadecimal number at *at, and moves *at past it. */
bool resp_take_hex_at(const char **at, uint64_t *ret);
bool resp_take_position(const redisReply *reply, struct coord_position *ret);
must_check int resp_take_ids(const redisReply *reply, roaring_bitmap_t **ret);

/* --- coord_resp_connect.c --------------------------------------------------------------- */

must_check int resp_connect(struct coord_resp *resp);
/* Reads the password into resp->url. Errors have a message. */
must_check int resp_read_password(
	struct coord_resp *resp, char message[SECRET_FILE_MESSAGE]);

/* --- coord_resp_jobs.c ------------------------------------------------------------------ */

int resp_enter(void *context, const char *node, const struct coord_job *job,
	char differs[COORD_TEXT]);
int resp_leave(void *context, const char *node, const char *job);
int resp_jobs(void *context, const char *run, struct coord_engine_jobs *ret);
must_check int resp_take_jobs(const redisReply *reply, struct coord_engine_jobs *ret);
int resp_facts(void *context, const char *job, struct coord_job *ret);

/* --- coord_resp_log.c ------------------------------------------------------------------- */

int resp_open(void *context, const char *run, const char *job, uint32_t epoch);
int resp_append(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *append);
int resp_mend(void *context, const char *run, const char *job);
int resp_forget(
	void *context, const struct coord_token *token, const char *job, uint32_t epoch);
int resp_repair(void *context, const char *run, const struct coord_offer *offer);
int resp_repaired(void *context, const char *run, const char *node);
int resp_offers(void *context, const char *run, struct coord_offers *ret);
int resp_reported(void *context, const char *run, const struct coord_node *nodes,
	size_t n, bool *ret);
int resp_fill(void *context, const char *run, const struct coord_token *token,
	const struct coord_append *append);
int resp_ready(void *context, const char *run, const struct coord_token *token);

int resp_tell(void *context, const char *node, const char *dataset,
	const roaring_bitmap_t *ids, uint32_t ttl_ms);
int resp_told(void *context, const char *dataset, roaring_bitmap_t *ret);

/* --- coord_resp_read.c ------------------------------------------------------------------ */

int resp_read(void *context, const char *run, struct coord_read *reads, size_t n);
void resp_forget_chunks(struct coord_resp *resp);
