// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "certificates.h"
#include "peer/peer_link.h"
#include "relay.h"

/* Which daemons trust each other. What a trusted daemon sends arrives whole, or is not used. */

#ifdef HAVE_OPENSSL

TestSuite(trust, .init = log_begin, .fini = log_end);

/* --- secrets ----------------------------------------------------------------------------- */

static void write_file(char path[static 32], const char *text, mode_t mode)
{
	strcpy(path, "/tmp/peer_secret.XXXXXX");
	int fd = mkstemp(path);
	cr_assert(fd >= 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	cr_assert_eq(fchmod(fd, mode), 0);
	close(fd);
}

static struct peer_trust *secret_of(
	const char *text, mode_t mode, bool plain, int expected)
{
	char path[32];
	struct peer_trust *trust = NULL;
	write_file(path, text, mode);
	const struct peer_trust_files files = {.secret = path, .is_plain = plain};
	cr_assert_eq(peer_trust_new(&files, &trust), expected);
	unlink(path);
	return trust;
}

static struct peer_trust *secret(const char *text)
{
	return secret_of(text, 0600, false, 0);
}

static int trust_new(const struct peer_trust_files *files)
{
	struct peer_trust *trust = NULL;
	int err = peer_trust_new(files, &trust);
	peer_trust_free(&trust);
	return err;
}

Test(trust, a_secret_that_others_may_read_is_refused)
{
	secret_of("0123456789abcdef", 0604, false, -EACCES);
	cr_assert(logged("any user may use the file (mode 604)"));
	secret_of("0123456789abcde\n", 0600, false, -EINVAL);
	cr_assert(logged("15 bytes; allowed: 16 to 4096"));
	cr_assert_eq(
		trust_new(&(struct peer_trust_files){.secret = "/tmp/no/such"}), -ENOENT);
	cr_assert_eq(trust_new(&(struct peer_trust_files){.secret = "/tmp"}), -EINVAL);
	cr_assert(logged("[cluster]:secret: /tmp: not a regular file"));
	cr_assert_eq(trust_new(&(struct peer_trust_files){.secret = "/s", .cert = "/c"}),
		-EINVAL);
	cr_assert(logged("found a secret and certificates; allowed: either secret, or "));
	cr_assert_eq(trust_new(&(struct peer_trust_files){.cert = "/c", .key = "/k"}),
		-EINVAL);
	cr_assert(logged("tls_cert, tls_key and tls_ca belong together"));
	struct peer_trust *trust = secret_of("0123456789abcdef\n", 0640, false, 0);
	peer_trust_free(&trust);
	cr_assert_eq(trust_new(&(struct peer_trust_files){0}), 0);
}

/* --- acceptance -------------------------------------------------------------------------- */

/* A client with one trust fetches from a server with another one. If the server refuses the
 * client, the logs of both say why. */
static int ask_and_hear(struct peer_trust *clients, struct peer_trust *servers,
	const char *server_says, const char *client_says)
{
	struct owner *owner = serve("b", servers);
	struct asker asker =
		ask_as("a", clients, "b", peer_server_address(owner->server));
	log_begin();
	int err = fetch_one(&asker, 1, PATIENCE_S);
	cr_assert_eq(owner->asked, err ? 0 : 1);
	if (server_says)
		EVENTUALLY(logged(server_says));
	if (client_says)
		EVENTUALLY(logged(client_says));
	peer_client_free(&asker.client);
	end_serving(&owner);
	return err;
}

static int ask_with(struct peer_trust *clients, struct peer_trust *servers)
{
	return ask_and_hear(clients, servers, NULL, NULL);
}

static void refuses(struct peer_trust *clients, struct peer_trust *servers,
	const char *server_says, const char *client_says)
{
	cr_assert_eq(
		ask_and_hear(clients, servers, server_says, client_says), -EHOSTDOWN);
}

Test(trust, both_need_the_same_secret)
{
	struct peer_trust *one = secret("the one secret of all\n");
	struct peer_trust *same = secret_of("the one secret of all", 0400, false, 0);
	struct peer_trust *other = secret("the one secret of ale");
	cr_assert_eq(ask_with(one, same), 0);
	refuses(one, other, "it is refused: its secret differs from this node's", NULL);
	cr_assert(logged("peer at 127.0.0.1"));
	cr_assert(logged("node b at 127.0.0.1"));
	refuses(NULL, other, "peer a at 127.0.0.1",
		"it refuses this node, which has no secret or certificate");
	refuses(one, NULL,
		"it is refused: it has a secret or certificate, but this node has none",
		NULL);
	peer_trust_free(&one);
	peer_trust_free(&same);
	peer_trust_free(&other);
}

Test(trust, both_encrypt_or_none)
{
	struct peer_trust *tls = secret("the one secret of all");
	struct peer_trust *plain = secret_of("the one secret of all", 0600, true, 0);
	struct peer_trust *other = secret_of("the one secret of ale", 0600, true, 0);
	cr_assert_eq(ask_with(plain, plain), 0);
	refuses(plain, other, "its secret differs from this node's",
		"it refuses this node, whose secret differs");
	refuses(plain, tls, "it has encrypt = no, but this node encrypts",
		"it refuses this node, which has encrypt = no");
	refuses(tls, plain, "it encrypts, but this node has encrypt = no",
		"it refuses this node, which encrypts");
	peer_trust_free(&tls);
	peer_trust_free(&plain);
	peer_trust_free(&other);
}

/* --- certificates ------------------------------------------------------------------------ */

static struct peer_trust *trust_of(
	const struct certificate *own, const struct certificate *ca)
{
	struct peer_trust *trust;
	const struct peer_trust_files files = {
		.ca = ca->cert, .cert = own->cert, .key = own->key};
	cr_assert_eq(peer_trust_new(&files, &trust), 0);
	return trust;
}

Test(trust, both_need_a_certificate_of_the_authority)
{
	struct certificate ours, others, node, stranger, old;
	make_certificate(&ours, "ours", NULL, 1);
	make_certificate(&others, "others", NULL, 1);
	make_certificate(&node, "node", &ours, 1);
	make_certificate(&stranger, "stranger", &others, 1);
	make_certificate(&old, "old", &ours, -1);
	struct peer_trust *one = trust_of(&node, &ours), *same = trust_of(&node, &ours);
	struct peer_trust *foreign = trust_of(&stranger, &others);
	struct peer_trust *accepts = trust_of(&stranger, &ours);
	struct peer_trust *expired = trust_of(&old, &ours);
	struct peer_trust *by_secret = secret("the one secret of all");
	cr_assert_eq(ask_with(one, same), 0);
	/* The other end's message may be lost with the connection. */
	refuses(one, foreign, NULL, "this node does not accept its certificate: ");
	refuses(accepts, one, "this node does not accept its certificate: ", NULL);
	refuses(expired, one,
		"this node does not accept its certificate: certificate has expired",
		NULL);
	refuses(by_secret, one, NULL, "it is refused: its TLS has no secret");
	refuses(one, by_secret, "it is refused: its TLS has no secret", NULL);
	refuses(NULL, one, "it has no secret or certificate, but this node has one",
		"it refuses this node, which has no secret or certificate");
	refuses(one, NULL, "it has a secret or certificate, but this node has none",
		"it has no secret or certificate, but this node has one");
	struct peer_trust *all[] = {one, same, foreign, accepts, expired, by_secret};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		peer_trust_free(&all[i]);
	struct certificate *files[] = {&ours, &others, &node, &stranger, &old};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		remove_certificate(files[i]);
}

Test(trust, a_certificate_that_is_renewed_is_read_again)
{
	struct certificate ours, node, old;
	make_certificate(&ours, "ours", NULL, 1);
	make_certificate(&node, "node", &ours, 1);
	make_certificate(&old, "old", &ours, -1);
	struct peer_trust *good = trust_of(&node, &ours),
			  *renewed = trust_of(&old, &ours);
	cr_assert_eq(ask_with(renewed, good), -EHOSTDOWN);
	/* In the middle of a renewal the key does not fit the certificate. */
	cr_assert_eq(rename(node.key, old.key), 0);
	cr_assert_eq(ask_with(renewed, good), -EHOSTDOWN);
	cr_assert(logged("the certificate's key is not the key of tls_key"));
	cr_assert(logged("the previous certificate stays in use"));
	cr_assert_eq(rename(node.cert, old.cert), 0);
	cr_assert_eq(ask_with(renewed, renewed), 0);
	cr_assert(logged("was read again"));
	peer_trust_free(&good);
	peer_trust_free(&renewed);
	remove_certificate(&ours);
	remove_certificate(&node);
	remove_certificate(&old);
}

/* --- the data between the daemons -------------------------------------------------------- */

#define MANY 100

static void come_whole(struct peer_trust *trust)
{
	struct owner *owner = serve("b", trust);
	struct asker asker = ask_as("a", trust, "b", peer_server_address(owner->server));
	static struct got gots[MANY];
	for (uint32_t i = 0; i < MANY; i++)
		cr_assert_eq(start_fetch(&asker, &gots[i], i, PATIENCE_S), 0);
	for (uint32_t i = 0; i < MANY; i++) {
		EVENTUALLY(gots[i].done);
		cr_assert(is_whole(&gots[i]), "sample %u: %d", i, gots[i].err);
		free(gots[i].bytes);
	}
	cr_assert_eq(owner->asked, MANY);
	EVENTUALLY(owner->released == MANY);
	peer_client_free(&asker.client);
	end_serving(&owner);
}

Test(trust, tensors_come_whole)
{
	struct peer_trust *tls = secret("the one secret of all");
	struct peer_trust *plain = secret_of("the one secret of all", 0600, true, 0);
	come_whole(tls);
	come_whole(plain);
	peer_trust_free(&tls);
	peer_trust_free(&plain);
}

/* Returns the bytes that both ends sent during the fetch of a tensor. */
static struct relay *overhear(struct peer_trust *trust)
{
	struct owner *owner = serve("b", trust);
	struct relay *relay = relay_to(peer_server_address(owner->server));
	struct asker asker = ask_as("a", trust, "b", relay->address);
	cr_assert_eq(fetch_one(&asker, 1, PATIENCE_S), 0);
	peer_client_free(&asker.client);
	relay_stop(relay);
	cr_assert_gt(relay->n, tensor_length(1));
	end_serving(&owner);
	return relay;
}

static bool are_heard(struct peer_trust *trust, const void *bytes, size_t n)
{
	struct relay *relay = overhear(trust);
	bool heard = memmem(relay->bytes, relay->n, bytes, n);
	relay_free(&relay);
	return heard;
}

Test(trust, nobody_between_them_sees_what_goes)
{
	struct peer_trust *tls = secret("the one secret of all");
	struct peer_trust *plain = secret_of("the one secret of all", 0600, true, 0);
	uint8_t bytes[64];
	for (uint64_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = tensor_byte(1, 1000 + i);
	cr_assert(are_heard(plain, bytes, sizeof(bytes)));
	cr_assert(are_heard(plain, "photos", 6));
	cr_assert(!are_heard(tls, bytes, sizeof(bytes)));
	cr_assert(!are_heard(tls, "photos", 6));
	peer_trust_free(&tls);
	peer_trust_free(&plain);
}

/* With keys that last for two records, the tensor is the same, and TLS sends records that announce
 * the next key. No other record is as short. */
Test(trust, keys_are_renewed)
{
	static const uint8_t update[] = {0x17, 3, 3, 0, 22};
	char path[32];
	struct peer_trust *often, *seldom;
	write_file(path, "the one secret of all", 0600);
	struct peer_trust_files files = {.secret = path};
	cr_assert_eq(peer_trust_new(&files, &seldom), 0);
	files.key_lasts = 20000;
	cr_assert_eq(peer_trust_new(&files, &often), 0);
	cr_assert(!are_heard(seldom, update, sizeof(update)));
	cr_assert(are_heard(often, update, sizeof(update)));
	come_whole(often);
	peer_trust_free(&often);
	peer_trust_free(&seldom);
	unlink(path);
}

/* The server's bytes are cut off, or changed, from one byte on. */
Test(trust, what_is_cut_off_or_changed_on_the_way_is_not_believed)
{
	struct peer_trust *trust = secret("the one secret of all");
	const size_t at[] = {0, 3, 100, 180, 400, 450, 5000, 30000, 120000};
	for (size_t i = 0; i < 2 * sizeof(at) / sizeof(at[0]); i++) {
		struct owner *owner = serve("b", trust);
		struct relay *relay = relay_to(peer_server_address(owner->server));
		struct asker asker = ask_as("a", trust, "b", relay->address);
		size_t from = at[i / 2];
		relay->cuts_at = i % 2 ? from + 1 : 0;
		relay->flips_at = i % 2 ? 0 : from + 1;
		int err = fetch_one(&asker, 1, 5);
		cr_assert(err == -ECONNRESET || err == -EHOSTDOWN || err == -ETIMEDOUT,
			"%zu: %d", i, err);
		relay->cuts_at = relay->flips_at = 0;
		EVENTUALLY(fetch_one(&asker, 1, PATIENCE_S) == 0);
		peer_client_free(&asker.client);
		relay_free(&relay);
		end_serving(&owner);
	}
	cr_assert(logged("TLS ends: decryption failed or bad record mac"));
	cr_assert(logged("it hung up in the middle of a tensor"));
	peer_trust_free(&trust);
}

/* --- one that stalls in the handshake ---------------------------------------------------- */

Test(trust, a_client_that_stalls_hangs_nobody)
{
	static const uint8_t half[] = {0x16, 3, 1, 1, 0, 1, 0, 0, 0xfc, 3, 3};
	struct peer_trust *trust = secret("the one secret of all");
	struct owner *owner = serve("b", trust);
	int fd = relay_connect(peer_server_address(owner->server));
	cr_assert_eq(send(fd, half, sizeof(half), MSG_NOSIGNAL), (ssize_t)sizeof(half));
	for (int i = 0; i < 3; i++) {
		struct asker asker =
			ask_as("a", trust, "b", peer_server_address(owner->server));
		cr_assert_eq(fetch_one(&asker, 1, PATIENCE_S), 0);
		peer_client_free(&asker.client);
	}
	EVENTUALLY(logged("its greeting takes too long"));
	close(fd);
	end_serving(&owner);
	peer_trust_free(&trust);
}

Test(trust, a_server_that_stalls_hangs_nobody)
{
	struct peer_trust *trust = secret("the one secret of all");
	struct owner *owner = serve("c", trust);
	char address[PEER_ADDRESS_TEXT];
	int listener = relay_listen(address);
	struct asker asker = ask_as("a", trust, "b", address);
	struct got stalled = {0};
	cr_assert_eq(start_fetch(&asker, &stalled, 1, PATIENCE_S), 0);
	cr_assert_eq(peer_client_node(asker.client, "c",
			     peer_server_address(owner->server), &asker.node),
		0);
	for (int i = 0; i < 3; i++)
		cr_assert_eq(fetch_one(&asker, 1, PATIENCE_S), 0);
	EVENTUALLY(stalled.done);
	cr_assert_eq(stalled.err, -EHOSTDOWN);
	cr_assert(logged("it sends no greeting"));
	peer_client_free(&asker.client);
	close(listener);
	end_serving(&owner);
	peer_trust_free(&trust);
}

#endif
