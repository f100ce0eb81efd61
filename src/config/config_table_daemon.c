// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <stddef.h>

/* Options of the daemon's ini. */

static const char *const evictions[] = {"refcnt", "lru", "fifo", "random", NULL};
static const char *const samplers[] = {"dsa", "isa", "exchange", NULL};
static const char *const others[] = {"hide", "show", NULL};
static const char *const same_images[] = {"file", "content", NULL};
static const char *const symlinks[] = {"inside", "follow", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
/* Indexed by enum bucket_names. */
static const char *const bucket_names[] = {"auto", "path", "host", NULL};
/* Indexed by enum dataset_look. */
static const char *const looks[] = {"before", "background", "never", NULL};
/* Indexed by enum share_policy. */
static const char *const policies[] = {"slowdown", "fair", "throughput", "fifo", NULL};

#define DAEMON(field) .offset = offsetof(struct daemon_config, field)
#define CLUSTER(field) .offset = offsetof(struct cluster_config, field)
#define PREPARATION(field) .offset = offsetof(struct preparation_config, field)
#define DATASET(field) .offset = offsetof(struct dataset_config, field)

const struct option config_daemon_options[] = {
	{SECTION_JOADERFS, "cache", &value_cache, .min = 1, .max = INT64_MAX,
		.preset = "auto", DAEMON(cache_bytes),
		.help = "Memory for prepared images, shared by all jobs.\n"
			"auto: half of the memory that the machine has left at the "
			"start, or that the limits of the container (memory.max) "
			"leave; the log says how much.\n"
			"When it is full, images are evicted; what a job is about to "
			"read stays."},
	{SECTION_JOADERFS, "eviction", &value_choice, .choices = evictions,
		.preset = "refcnt", DAEMON(eviction),
		.help = "Which image leaves a full cache; the last three are there to "
			"compare with.\n"
			"refcnt: the one that the fewest jobs still need in their "
			"running epoch.\n"
			"lru: the one not used for the longest time.\n"
			"fifo: the oldest.\n"
			"random: any."},
	{SECTION_JOADERFS, "sampler", &value_choice, .choices = samplers, .preset = "dsa",
		DAEMON(sampler),
		.help = "How shuffled jobs get their samples.\n"
			"dsa: jobs that read at the same time are given the same samples "
			"as "
			"often as their orders stay uniformly random, so that a sample "
			"is "
			"prepared once for many.\n"
			"isa: each job draws on its own, as it would without joaderfs.\n"
			"exchange: what a job draws and is not in the cache is "
			"exchanged "
			"for something that is, among samples that the same jobs have; "
			"jobs that read at the same time draw such samples together as "
			"often as their orders stay uniformly random.\n"
			"It shares more "
			"than dsa with a far smaller cache, and a job's consecutive "
			"epochs are no longer independent."},
	{SECTION_JOADERFS, "workers", &value_workers, .min = 1, .max = 1024,
		.preset = "auto", DAEMON(workers),
		.help = "Threads that prepare images.\n"
			"auto: one for each CPU that the daemon may use, by its affinity "
			"(taskset) and the limits of its container (cpu.max)."},
	{SECTION_JOADERFS, "share", &value_choice, .choices = policies,
		.preset = "slowdown", DAEMON(share),
		.help = "Which job the workers serve when they are too few; see SHARES.\n"
			"slowdown: all jobs get the same part of what they could use, "
			"which is found while they run.\n"
			"fair: all get the same time of the workers.\n"
			"throughput: as many samples per second as possible; jobs whose "
			"images are costly get little.\n"
			"fifo: what a reader waits for first comes first."},
	{SECTION_JOADERFS, "reads", &value_reads, .min = 1, .max = 1024, .preset = "auto",
		DAEMON(reads),
		.help = "Files of one storage (a device) that are read at once.\n"
			"auto: as many as the storage rewards, up to 1024, which is "
			"found "
			"by trying.\n"
			"A disk rewards few, a server that takes long to open a file "
			"many."},
	{SECTION_JOADERFS, "max_pixels", &value_u64, .min = 1, .max = UINT32_MAX,
		.preset = "178956970", DAEMON(max_pixels),
		.help = "Images of more pixels, as they are or resized, are refused "
			"before memory is taken for them.\n"
			"The default is Pillow's.\n"
			"It also bounds the memory beside the cache; see "
			"joaderfs-preparation(7), Memory."},
	{SECTION_JOADERFS, "seed", &value_u64, .max = UINT64_MAX, .preset = "0",
		DAEMON(seed),
		.help = "Seed of all random choices.\n"
			"Each epoch has choices of its own, also after a start in "
			"between.\n"
			"0: another one at each start."},
	{SECTION_JOADERFS, "state", &value_path, DAEMON(state),
		.preset_help = "/var/lib/joaderfs for root, else "
			       "$XDG_STATE_HOME/joaderfs, else ~/.local/state/joaderfs",
		.help = "Directory of what outlives the daemon: catalogues of the "
			"datasets, "
			"jobs, and the order of each epoch.\n"
			"It belongs to the daemon's user, and nobody else may write "
			"there; see joaderfs-state(5)."},
	{SECTION_JOADERFS, "jobs", &value_path, DAEMON(jobs),
		.help = "Directory whose *.ini files are jobs added at the start.\n"
			"More can be added later with joaderctl."},
	{SECTION_JOADERFS, "socket", &value_path, DAEMON(socket),
		.preset_help =
			"/run/joaderfs.sock for root, else "
			"$XDG_RUNTIME_DIR/joaderfs.sock, else joaderfs.sock in the "
			"state directory",
		.help = "Socket that joaderctl speaks to, at most 107 bytes long."},
	{SECTION_JOADERFS, "socket_group", &value_group, DAEMON(socket_group),
		.preset_help = "nobody else reaches it",
		.help = "Group whose members reach the socket, too, and add jobs of "
			"their "
			"own; see OWNERS."},
	{SECTION_JOADERFS, "metrics", &value_text, .min = 1, .max = 100, DAEMON(metrics),
		.preset_help = "nowhere",
		.help = "PORT, ADDRESS:PORT or [ADDRESS]:PORT where Prometheus gets "
			"metrics, and browsers dashboard.html, by HTTP; a PORT alone "
			"is of this machine only.\n"
			"A request and its answer take at most ten seconds.\n"
			"There are 64 connections, 16 of one address; the oldest goes "
			"for a new one."},

	{SECTION_CLUSTER, "engine", &value_text, .min = 1, .max = 300, CLUSTER(engine),
		.preset_help = "in this daemon, which is alone",
		.help = "Server that keeps what the nodes agree on: "
			"redis[s]://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DB], "
			"redis+unix://[USER[:PASSWORD]@]/PATH[?DB], or Sentinels; see "
			"ENGINES.\n"
			"It speaks the Redis protocol, of version 7 or later."},
	{SECTION_CLUSTER, "engine_password_file", &value_path,
		CLUSTER(engine_password_file), .preset_help = "none",
		.help = "File with the password of the engine's user, which others than "
			"its owner and group can't use, as one of mode 0640.\n"
			"It is read at each connection."},
	{SECTION_CLUSTER, "engine_ca", &value_path, CLUSTER(engine_ca),
		.preset_help = "those that the system trusts",
		.help = "File with certificates of authorities, in PEM: one of them has "
			"signed the certificate of an engine of rediss://."},
	{SECTION_CLUSTER, "engine_cert", &value_path, CLUSTER(engine_cert),
		.preset_help = "none",
		.help = "File with this node's certificate, in PEM, for an engine that "
			"wants one."},
	{SECTION_CLUSTER, "engine_key", &value_path, CLUSTER(engine_key),
		.preset_help = "none",
		.help = "File with the key of engine_cert, in PEM, which others than its "
			"owner and group can't use."},
	{SECTION_CLUSTER, "group", &value_name, .preset = "joaderfs", CLUSTER(group),
		.help = "Nodes of one group share their trainings; one server may keep "
			"several groups."},
	{SECTION_CLUSTER, "node", &value_name, CLUSTER(node),
		.preset_help = "the host's name",
		.help = "Name of this daemon, another one on each node."},
	{SECTION_CLUSTER, "listen", &value_text, .min = 2, .max = 100, CLUSTER(listen),
		.preset_help = "every node prepares what it reads",
		.help = "ADDRESS:PORT where this daemon gives prepared images to the "
			"other nodes; [ADDRESS]:PORT for IPv6; NAME:PORT, a name that "
			"this machine knows; or :PORT for all addresses of this "
			"machine.\n"
			"Nodes that listen prepare each image once: each image has one "
			"of "
			"them as its home, and the others fetch it from there.\n"
			"Without a secret or tls_cert only addresses of this machine are "
			"allowed."},
	{SECTION_CLUSTER, "advertise", &value_text, .min = 1, .max = 100,
		CLUSTER(advertise),
		.preset_help = "the address of listen; auto, if that is all",
		.help = "ADDRESS or NAME at which the other nodes reach this one, with "
			"the port of listen, unless it has a :PORT of its own.\n"
			"auto: the address from which this machine reaches the engine.\n"
			"With listen = :7070 all nodes can have one ini."},
	{SECTION_CLUSTER, "secret", &value_path, CLUSTER(secret), .preset_help = "none",
		.help = "File with a text of 16 to 4096 bytes, the same on all nodes, "
			"which others than its owner and group can't use, as one of mode "
			"0640.\n"
			"Images are exchanged, by TLS 1.3, with nodes that know it."},
	{SECTION_CLUSTER, "tls_cert", &value_path, CLUSTER(tls_cert),
		.preset_help = "none",
		.help = "File with this node's certificate, in PEM, instead of secret.\n"
			"Images are exchanged, by TLS 1.3, with nodes whose certificate "
			"is of an authority of tls_ca.\n"
			"The files are read again when they have changed."},
	{SECTION_CLUSTER, "tls_key", &value_path, CLUSTER(tls_key), .preset_help = "none",
		.help = "File with the key of tls_cert, in PEM, which others than its "
			"owner and group can't use."},
	{SECTION_CLUSTER, "tls_ca", &value_path, CLUSTER(tls_ca), .preset_help = "none",
		.help = "File with certificates of the authorities of nodes, in PEM.\n"
			"Whoever has a certificate of one of them is a node: it should "
			"be an authority of the nodes' own."},
	{SECTION_CLUSTER, "encrypt", &value_flag, .choices = no_yes, .preset = "yes",
		CLUSTER(encrypt),
		.help = "Whether what the nodes send each other is encrypted.\n"
			"no: nodes still prove who they are, and then send images as "
			"they are, for less of the CPUs: for a network of one's own.\n"
			"The same on all nodes."},
	{SECTION_CLUSTER, "capacity", &value_weight, .max = 1000, .preset = "1",
		CLUSTER(capacity),
		.help = "How many images have this node as their home, beside others: a "
			"node with 2 has twice as many as one with 1."},
	{SECTION_CLUSTER, "ttl", &value_duration, .min = 1, .max = 3600, .preset = "5s",
		CLUSTER(ttl_s),
		.help = "A node that is silent for so long is taken for dead, and others "
			"may serve its ranks.\nThe same on all nodes."},
	{SECTION_CLUSTER, "patience", &value_duration, .max = 31536000, .preset = "0s",
		CLUSTER(patience_s),
		.help = "How long a reader waits while the engine can't be reached; 0s: "
			"for "
			"ever.\n"
			"Readers first get what was drawn for them before.\n"
			"Those that find nothing more fail with ETIMEDOUT when the "
			"engine "
			"has been away for so long, and get their samples as if nothing "
			"had been when it is back."},

	{SECTION_DATASET, "path", &value_source, .required = true, DATASET(path),
		.help = "Where the samples are; see SOURCES.\n"
			"It is only read.\n"
			"A directory with one directory of files per class; or tar "
			"files, "
			"as shard-{000000..000146}.tar or a directory of them; or a zip "
			"file; or an LMDB file; or a URL of http, https, s3, gs, az or "
			"hf."},
	{SECTION_DATASET, "label", &value_label, .preset = "auto", DATASET(label),
		.help = "What the class of a sample is; of one in a directory auto, "
			"directory or none.\n"
			"auto: in the file of its name that ends in .cls, if there are "
			"such files, else directory.\n"
			"directory: the first directory of its path.\n"
			"cls: what the file of its name that ends in .cls says.\n"
			"json:FIELD: what that field of the file of its name that ends "
			"in "
			".json says; json:a.b is the field b of the field a.\n"
			"csv:COLUMN: what that column of metadata.csv says, which lies "
			"beside the file.\n"
			"none: all samples are of one class, all, and a directory needs "
			"no directories of classes."},
	{SECTION_DATASET, "tier", &value_tier, .min = 1 << 20, .max = INT64_MAX,
		DATASET(tier), .preset_help = "nothing is kept",
		.help = "A directory on a disk of this machine that keeps samples as "
			"they were read, for datasets that are far away, and the most "
			"that it may take; see TIERS.\n"
			"Several datasets may have the same one."},
	{SECTION_DATASET, "symlinks", &value_flag, .choices = symlinks,
		.preset = "inside", DATASET(follow_outside),
		.help = "Symbolic links in the tree.\n"
			"inside: followed while they stay in the tree, else skipped;\n"
			"a file that lies elsewhere later can't be read.\n"
			"follow: followed everywhere."},
	{SECTION_DATASET, "others", &value_flag, .choices = others, .preset = "hide",
		DATASET(shows_others),
		.help = "Files of a directory that are no samples, as annotations, lists "
			"of names and texts.\n"
			"hide: they are nowhere.\n"
			"show: jobs with layout = mirror have them, byte for byte as the "
			"source has them, whatever where selects; hidden ones are left "
			"out."},
	{SECTION_DATASET, "same_images", &value_flag, .choices = same_images,
		.preset = "file", DATASET(same_content),
		.help = "Which images another dataset has, too; they are prepared once "
			"for "
			"jobs of both that have the same [tensor], as long as the cache "
			"holds them.\n"
			"file: the same file, by a hard or a symbolic link, or by the "
			"same "
			"path.\n"
			"content: what has the same bytes, if both datasets say so; what "
			"is "
			"read is hashed then."},
	{SECTION_DATASET, "extensions", &value_extensions, .max = 160,
		.preset = "jpg jpeg png ppm bmp pgm tif tiff webp", DATASET(extensions),
		.help = "Endings of the files that are samples, in any case.\n"
			"*: every file."},
	{SECTION_DATASET, "scan", &value_choice, .choices = looks, .preset = "background",
		DATASET(look),
		.help = "When a start looks for changes of a dataset that was scanned.\n"
			"background: jobs read what the last scan has found, and epochs "
			"that begin when the scan has ended have what it found.\n"
			"before: the mount waits for it, as it always does for a job "
			"that can't take changes (joaderctl(1), dataset rescan), with "
			"[cluster], and after a change of these keys.\n"
			"never: joaderctl dataset rescan looks."},
	{SECTION_DATASET, "timeout", &value_duration, .min = 1, .max = 3600,
		.preset = "20s", DATASET(timeout_s),
		.help = "A server that sends nothing for so long is asked again, a few "
			"times."},
	{SECTION_DATASET, "endpoint", &value_text, .min = 1, .max = 300,
		DATASET(endpoint),
		.preset_help = "$AWS_ENDPOINT_URL, else Amazon's for the region",
		.help = "Server of an s3 path, as http://HOST:PORT."},
	{SECTION_DATASET, "region", &value_text, .min = 1, .max = 60, DATASET(region),
		.preset_help = "$AWS_REGION, else us-east-1",
		.help = "Region that requests of an s3 path are signed for."},
	{SECTION_DATASET, "credentials", &value_credentials, DATASET(credentials),
		.preset_help = "where Amazon's tools look for them",
		.help = "File with the keys of an s3 path, in the form that Amazon's "
			"tools have it, which nobody else may read: its section "
			"[default], or that of the profile, has aws_access_key_id and "
			"aws_secret_access_key.\n"
			"It is read again once a minute, and when the server refuses "
			"the keys, which are shown nowhere.\n"
			"none: requests are not signed, for what everybody may read."},
	{SECTION_DATASET, "profile", &value_text, .min = 1, .max = 100, DATASET(profile),
		.preset_help = "$AWS_PROFILE, else default",
		.help = "Profile of Amazon's tools whose credentials requests of an s3 "
			"path are signed with, and nothing else."},
	{SECTION_DATASET, "bucket_names", &value_choice, .choices = bucket_names,
		.preset = "auto", DATASET(bucket_names),
		.help = "Where requests of an s3 path have the bucket.\n"
			"auto: as host for Amazon's servers, else as path, unless the "
			"profile has addressing_style.\n"
			"path: http://HOST/BUCKET.\n"
			"host: http://BUCKET.HOST."},
	{SECTION_DATASET, "requester_pays", &value_flag, .choices = no_yes,
		.preset = "no", DATASET(requester_pays),
		.help = "Whether requests of an s3 path say that their sender pays for "
			"them, as some buckets demand."},
	{SECTION_DATASET, "sampler", &value_choice, .choices = samplers, DATASET(sampler),
		.preset_help = "that of [joaderfs]",
		.help = "How jobs of this dataset get their samples; see [joaderfs]."},

	{SECTION_PREPARATION, "command", &value_command, .required = true, .min = 2,
		.max = 1000, PREPARATION(command),
		.help = "The program, and its arguments; no shell reads them.\n"
			"What the program's file holds, and files that are arguments, is "
			"part of what the arrays are known by."},
	{SECTION_PREPARATION, "shape", &value_array_shape, .required = true,
		PREPARATION(array), .help = "The axes of each array."},
	{SECTION_PREPARATION, "dtype", &value_array_dtype, .choices = array_dtypes,
		.required = true, PREPARATION(array),
		.help = "The type of its numbers, as NumPy calls it.\n"
			"Arrays of uint8 and a shape of H W 3 are images: jobs may have "
			"every format of images, [augment], and dtype and axes for "
			"them."},
	{SECTION_PREPARATION, "processes", &value_workers, .min = 1, .max = 256,
		.preset = "auto", PREPARATION(processes),
		.help = "Processes of the program that run beside each other.\n"
			"auto: one for each CPU that the daemon may use."},
	{SECTION_PREPARATION, "timeout", &value_duration, .min = 1, .max = 3600,
		.preset = "30s", PREPARATION(timeout_s),
		.help = "A process that takes longer for one sample is killed; its start "
			"may take a minute."},
	{SECTION_PREPARATION, "memory", &value_size, .min = 16 << 20, .max = INT64_MAX,
		.preset = "2G", PREPARATION(memory),
		.help = "The most address space that a process may have."},
	{SECTION_PREPARATION, "version", &value_text, .min = 1, .max = 100,
		PREPARATION(version), .preset_help = "empty",
		.help = "A text to change when the program gives other arrays though its "
			"file and its arguments are the same, as with another version "
			"of a module that it imports."},
	{SECTION_PREPARATION, "user", &value_text, .min = 1, .max = 64, PREPARATION(user),
		.preset_help = "nobody for a daemon of root's, else the daemon's own",
		.help = "The user as whom the program runs.\n"
			"root has to be asked for; a daemon that is not root's has no "
			"other user than its own."},
};

const size_t config_n_daemon_options =
	sizeof(config_daemon_options) / sizeof(config_daemon_options[0]);
