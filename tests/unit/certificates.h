// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#pragma once

#ifdef HAVE_OPENSSL

#include <criterion/criterion.h>
#include <openssl/ec.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* A certificate with its key, in files and in memory. */
struct certificate {
	char cert[64], key[64];
	X509 *x509;
	EVP_PKEY *pair;
};

static inline void write_pem(const struct certificate *certificate)
{
	FILE *out = fopen(certificate->cert, "w");
	cr_assert_not_null(out);
	cr_assert(PEM_write_X509(out, certificate->x509));
	fclose(out);
	out = fopen(certificate->key, "w");
	cr_assert_not_null(out);
	cr_assert_eq(fchmod(fileno(out), 0600), 0);
	cr_assert(
		PEM_write_PrivateKey(out, certificate->pair, NULL, NULL, 0, NULL, NULL));
	fclose(out);
}

static inline void make_authority(X509 *x509)
{
	X509_EXTENSION *extension = X509V3_EXT_conf_nid(
		NULL, NULL, NID_basic_constraints, "critical,CA:TRUE");
	cr_assert(X509_add_ext(x509, extension, -1));
	X509_EXTENSION_free(extension);
}

/* Makes a certificate; ca NULL: of an authority. days: until it ends; negative: days since it
 * ended. */
static inline void make_certificate(
	struct certificate *ret, const char *name, const struct certificate *ca, int days)
{
	X509 *x509 = X509_new();
	X509_NAME *subject = X509_get_subject_name(x509);
	*ret = (struct certificate){.x509 = x509, .pair = EVP_EC_gen("P-256")};
	snprintf(ret->cert, sizeof(ret->cert), "/tmp/peer_%s.%d.crt", name, getpid());
	snprintf(ret->key, sizeof(ret->key), "/tmp/peer_%s.%d.key", name, getpid());
	cr_assert(X509_set_version(x509, 2));
	cr_assert(ASN1_INTEGER_set(X509_get_serialNumber(x509), 1 + name[0]));
	cr_assert_not_null(X509_gmtime_adj(X509_getm_notBefore(x509), -10L * 86400));
	cr_assert_not_null(X509_gmtime_adj(X509_getm_notAfter(x509), 86400L * days));
	cr_assert(X509_NAME_add_entry_by_txt(
		subject, "CN", MBSTRING_ASC, (const unsigned char *)name, -1, -1, 0));
	cr_assert(X509_set_issuer_name(
		x509, ca ? X509_get_subject_name(ca->x509) : subject));
	cr_assert(X509_set_pubkey(x509, ret->pair));
	if (!ca)
		make_authority(x509);
	cr_assert(X509_sign(x509, ca ? ca->pair : ret->pair, EVP_sha256()));
	write_pem(ret);
}

static inline void remove_certificate(struct certificate *certificate)
{
	unlink(certificate->cert);
	unlink(certificate->key);
	X509_free(certificate->x509);
	EVP_PKEY_free(certificate->pair);
}

#endif
