// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <stddef.h>

static const char *const evictions[] = {"refcnt", "lru", "fifo", "random", NULL};
static const char *const samplers[] = {"dsa", "isa", "exchange", NULL};
static const char *const others[] = {"hide", "show", NULL};
static const char *const same_images[] = {"file", "content", NULL};
static const char *const symlinks[] = {"inside", "follow", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};
static const char *const bucket_names[] = {"auto", "path", "host", NULL};
static const char *const looks[] = {"before", "background", "never", NULL};
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
			"When the cache is full, images are evicted; samples that a "
			"job is about to read stay."},
	{SECTION_JOADERFS, "eviction", &value_choice, .choices = evictions,
		.preset = "refcnt", DAEMON(eviction),
		.help = "The policy that chooses an image to evict from a full cache; "
			"the last three are for comparison.\n"
			"refcnt: the image that the fewest jobs still need in their "
			"running epoch.\n"
			"lru: the image that has not been used for the longest time.\n"
			"fifo: the oldest image.\n"
			"random: a random image."},
	{SECTION_JOADERFS, "sampler", &value_choice, .choices = samplers, .preset = "dsa",
		DAEMON(sampler),
		.help = "How shuffled jobs get their samples.\n"
			"dsa: jobs that read at the same time get the same samples as "
			"often as their orders stay uniformly random, so that a sample "
			"is prepared once for several jobs.\n"
			"isa: each job draws independently, as it would without "
			"joaderfs.\n"
			"exchange: if a job draws a sample that is not in the cache, "
			"this sample is exchanged for one that is, among samples that "
			"the same jobs have; jobs that read at the same time draw such "
			"samples together as often as their orders stay uniformly "
			"random.\n"
			"exchange shares more than dsa with a far smaller cache, but "
			"consecutive epochs of a job are not independent."},
	{SECTION_JOADERFS, "workers", &value_workers, .min = 1, .max = 1024,
		.preset = "auto", DAEMON(workers),
		.help = "Number of threads that prepare images.\n"
			"auto: one for each CPU that the daemon may use, by its "
			"affinity (taskset) and the limits of its container (cpu.max)."},
	{SECTION_JOADERFS, "share", &value_choice, .choices = policies,
		.preset = "slowdown", DAEMON(share),
		.help = "Which job the workers serve when they are too few; see "
			"SHARES.\n"
			"slowdown: all jobs get the same part of what they could use, "
			"which the daemon measures while they run.\n"
			"fair: all jobs get the same time of the workers.\n"
			"throughput: as many samples per second as possible; jobs with "
			"costly images get little.\n"
			"fifo: samples are prepared in the order in which readers began "
			"to wait for them."},
	{SECTION_JOADERFS, "reads", &value_reads, .min = 1, .max = 1024, .preset = "auto",
		DAEMON(reads),
		.help = "Number of files of one storage (a device) that are read at "
			"once.\n"
			"auto: the number that makes the storage fastest, up to 1024, "
			"found by trying.\n"
			"This is a small number for a disk, and a large one for a "
			"server that takes long to open a file."},
	{SECTION_JOADERFS, "max_pixels", &value_u64, .min = 1, .max = UINT32_MAX,
		.preset = "178956970", DAEMON(max_pixels),
		.help = "The largest number of pixels of an image, as stored or "
			"resized; joaderfs refuses larger images before it takes "
			"memory for them.\n"
			"The default is Pillow's.\n"
			"This number also limits the memory beside the cache; see "
			"joaderfs-preparation(7), Memory."},
	{SECTION_JOADERFS, "seed", &value_u64, .max = UINT64_MAX, .preset = "0",
		DAEMON(seed),
		.help = "Seed of all random choices.\n"
			"The choices differ from epoch to epoch, even if the daemon is "
			"restarted between them.\n"
			"0: another seed at each start."},
	{SECTION_JOADERFS, "state", &value_path, DAEMON(state),
		.preset_help = "/var/lib/joaderfs for root, otherwise "
			       "$XDG_STATE_HOME/joaderfs or ~/.local/state/joaderfs",
		.help = "Directory of the data that outlive the daemon: catalogues of "
			"the datasets, jobs, and the order of each epoch.\n"
			"It belongs to the daemon's user, and nobody else may write "
			"there; see joaderfs-state(5)."},
	{SECTION_JOADERFS, "jobs", &value_path, DAEMON(jobs),
		.help = "Directory whose *.ini files are jobs that are added at the "
			"start.\n"
			"joaderctl can add further jobs later."},
	{SECTION_JOADERFS, "socket", &value_path, DAEMON(socket),
		.preset_help =
			"/run/joaderfs.sock for root, otherwise "
			"$XDG_RUNTIME_DIR/joaderfs.sock or joaderfs.sock in the state "
			"directory",
		.help = "Socket for joaderctl; its path has at most 107 bytes."},
	{SECTION_JOADERFS, "socket_group", &value_group, DAEMON(socket_group),
		.preset_help = "no group may use the socket",
		.help = "Group whose members may also use the socket, and add their "
			"own jobs; see OWNERS."},
	{SECTION_JOADERFS, "metrics", &value_text, .min = 1, .max = 100, DAEMON(metrics),
		.preset_help = "nowhere",
		.help = "PORT, ADDRESS:PORT or [ADDRESS]:PORT where Prometheus gets "
			"metrics, and browsers dashboard.html, by HTTP; a PORT alone "
			"can only be reached from this machine.\n"
			"A request and its answer take at most ten seconds.\n"
			"There can be 64 connections, 16 from one address; a new "
			"connection replaces the oldest one."},

	{SECTION_CLUSTER, "engine", &value_text, .min = 1, .max = 300, CLUSTER(engine),
		.preset_help = "an engine in this daemon, which has no other nodes",
		.help = "Server that keeps the common state of the nodes: "
			"redis[s]://[USER[:PASSWORD]@]HOST[:PORT][,HOST[:PORT]...][/DB], "
			"redis+unix://[USER[:PASSWORD]@]/PATH[?DB], or Sentinels; see "
			"ENGINES.\n"
			"The server speaks the Redis protocol, version 7 or later."},
	{SECTION_CLUSTER, "engine_password_file", &value_path,
		CLUSTER(engine_password_file), .preset_help = "none",
		.help = "File with the password of the engine's user; only its owner "
			"and group may have access, as with mode 0640.\n"
			"The file is read at each connection."},
	{SECTION_CLUSTER, "engine_ca", &value_path, CLUSTER(engine_ca),
		.preset_help = "those that the system trusts",
		.help = "File with certificates of authorities, in PEM; one of them "
			"must have signed the certificate of an engine with rediss://."},
	{SECTION_CLUSTER, "engine_cert", &value_path, CLUSTER(engine_cert),
		.preset_help = "none",
		.help = "File with this node's certificate, in PEM, for an engine that "
			"requires one."},
	{SECTION_CLUSTER, "engine_key", &value_path, CLUSTER(engine_key),
		.preset_help = "none",
		.help = "File with the key of engine_cert, in PEM; only its owner and "
			"group may have access."},
	{SECTION_CLUSTER, "group", &value_name, .preset = "joaderfs", CLUSTER(group),
		.help = "Name of the group; its nodes share their trainings, and one "
			"server may keep several groups."},
	{SECTION_CLUSTER, "node", &value_name, CLUSTER(node),
		.preset_help = "the host's name",
		.help = "Name of this daemon, different on each node."},
	{SECTION_CLUSTER, "listen", &value_text, .min = 2, .max = 100, CLUSTER(listen),
		.preset_help = "this daemon prepares all images that it needs",
		.help = "ADDRESS:PORT at which this daemon offers prepared images to "
			"the other nodes; [ADDRESS]:PORT for IPv6; NAME:PORT with a "
			"name that this machine knows; or :PORT for all addresses of "
			"this machine.\n"
			"Nodes that listen prepare each image once: each image has one "
			"node as its home, and the others fetch it from there.\n"
			"Without secret or tls_cert only addresses of this machine are "
			"allowed."},
	{SECTION_CLUSTER, "advertise", &value_text, .min = 1, .max = 100,
		CLUSTER(advertise),
		.preset_help = "the address in listen; auto if listen is only a :PORT",
		.help = "ADDRESS or NAME at which the other nodes reach this one, with "
			"the port of listen unless a :PORT follows.\n"
			"auto: the address from which this machine reaches the "
			"engine.\n"
			"With listen = :7070, all nodes can have the same ini."},
	{SECTION_CLUSTER, "secret", &value_path, CLUSTER(secret), .preset_help = "none",
		.help = "File with a text of 16 to 4096 bytes, the same on all nodes; "
			"only its owner and group may have access, as with mode 0640.\n"
			"Nodes that know the secret exchange images by TLS 1.3."},
	{SECTION_CLUSTER, "tls_cert", &value_path, CLUSTER(tls_cert),
		.preset_help = "none",
		.help = "File with this node's certificate, in PEM, instead of "
			"secret.\n"
			"Nodes whose certificates are signed by an authority of tls_ca "
			"exchange images by TLS 1.3.\n"
			"The files are read again after they have changed."},
	{SECTION_CLUSTER, "tls_key", &value_path, CLUSTER(tls_key), .preset_help = "none",
		.help = "File with the key of tls_cert, in PEM; only its owner and "
			"group may have access."},
	{SECTION_CLUSTER, "tls_ca", &value_path, CLUSTER(tls_ca), .preset_help = "none",
		.help = "File with certificates of the authorities of nodes, in PEM.\n"
			"Every owner of a certificate from one of them counts as a "
			"node, so use an authority that serves only the nodes."},
	{SECTION_CLUSTER, "encrypt", &value_flag, .choices = no_yes, .preset = "yes",
		CLUSTER(encrypt),
		.help = "Whether nodes encrypt the data that they send each other.\n"
			"no: nodes still prove their identity, but then send images "
			"unencrypted, which saves time of the CPUs; for a private "
			"network.\n"
			"All nodes must have the same value."},
	{SECTION_CLUSTER, "capacity", &value_weight, .max = 1000, .preset = "1",
		CLUSTER(capacity),
		.help = "The share of images whose home is this node: a node with 2 is "
			"the home of twice as many images as a node with 1."},
	{SECTION_CLUSTER, "ttl", &value_duration, .min = 1, .max = 3600, .preset = "5s",
		CLUSTER(ttl_s),
		.help = "After this time of silence a node counts as dead, and others "
			"may serve its ranks.\n"
			"All nodes must have the same value."},
	{SECTION_CLUSTER, "patience", &value_duration, .max = 31536000, .preset = "0s",
		CLUSTER(patience_s),
		.help = "How long a reader waits while the engine can't be reached; "
			"0s: for ever.\n"
			"Readers first get the samples that were drawn for them "
			"before.\n"
			"When these are used up and this time has passed, opens fail "
			"with ETIMEDOUT; when the engine is back, they continue at the "
			"same positions."},

	{SECTION_DATASET, "path", &value_source, .required = true, DATASET(path),
		.help = "Where the samples are; see SOURCES.\n"
			"joaderfs only reads there.\n"
			"A directory with one directory of files for each class; tar "
			"files, such as shard-{000000..000146}.tar or a directory of "
			"them; a zip file; an LMDB file; or a URL of http, https, s3, "
			"gs, az or hf."},
	{SECTION_DATASET, "label", &value_label, .preset = "auto", DATASET(label),
		.help = "Where the class of a sample is written; in a directory only "
			"auto, directory and none are possible.\n"
			"auto: as cls if there are files that end in .cls, otherwise "
			"as directory.\n"
			"directory: the first directory of the sample's path.\n"
			"cls: the file with the sample's name and the ending .cls.\n"
			"json:FIELD: this field of the file with the sample's name and "
			"the ending .json; json:a.b is the field b of the field a.\n"
			"csv:COLUMN: this column of the metadata.csv beside the source "
			"file.\n"
			"none: all samples are in one class, all, and a directory "
			"needs no directories of classes."},
	{SECTION_DATASET, "tier", &value_tier, .min = 1 << 20, .max = INT64_MAX,
		DATASET(tier), .preset_help = "nothing is kept",
		.help = "A directory on a disk of this machine that keeps samples of a "
			"remote dataset as they were read, and the size that it may "
			"have; see TIERS.\n"
			"Several datasets may have the same tier."},
	{SECTION_DATASET, "symlinks", &value_flag, .choices = symlinks,
		.preset = "inside", DATASET(follow_outside),
		.help = "Symbolic links in the tree.\n"
			"inside: links are followed if they stay in the tree, and "
			"skipped otherwise;\n"
			"a file that is moved out of the tree later can't be read.\n"
			"follow: all links are followed."},
	{SECTION_DATASET, "others", &value_flag, .choices = others, .preset = "hide",
		DATASET(shows_others),
		.help = "Files of a directory that are no samples, such as "
			"annotations, lists of names and texts.\n"
			"hide: no job shows them.\n"
			"show: jobs with layout = mirror show them, byte for byte as "
			"in the source, and where does not apply to them; hidden files "
			"are left out."},
	{SECTION_DATASET, "same_images", &value_flag, .choices = same_images,
		.preset = "file", DATASET(same_content),
		.help = "Which images count as the same as those of another dataset; "
			"they are prepared once for jobs of both datasets that have "
			"the same [tensor], as long as the cache holds them.\n"
			"file: the same file, by a hard or a symbolic link, or by the "
			"same path.\n"
			"content: images with the same bytes, if both datasets have "
			"this value; joaderfs then hashes the bytes that it reads."},
	{SECTION_DATASET, "extensions", &value_extensions, .max = 160,
		.preset = "jpg jpeg png ppm bmp pgm tif tiff webp", DATASET(extensions),
		.help = "Endings of the files that are samples, in upper or lower "
			"case.\n"
			"*: every file."},
	{SECTION_DATASET, "scan", &value_choice, .choices = looks, .preset = "background",
		DATASET(look),
		.help = "When a start looks for changes of a dataset that was scanned "
			"before.\n"
			"background: jobs read the samples of the last scan, and "
			"epochs that begin after the new scan have its samples.\n"
			"before: the mount waits for the scan; it always waits for a "
			"job that can't change (joaderctl(1), dataset rescan), with "
			"[cluster], and after a change of these keys.\n"
			"never: only joaderctl dataset rescan looks."},
	{SECTION_DATASET, "timeout", &value_duration, .min = 1, .max = 3600,
		.preset = "20s", DATASET(timeout_s),
		.help = "If a server sends nothing for this time, the request is "
			"repeated, a few times."},
	{SECTION_DATASET, "endpoint", &value_text, .min = 1, .max = 300,
		DATASET(endpoint),
		.preset_help =
			"$AWS_ENDPOINT_URL, otherwise Amazon's server for the region",
		.help = "Server of an s3 path, such as http://HOST:PORT."},
	{SECTION_DATASET, "region", &value_text, .min = 1, .max = 60, DATASET(region),
		.preset_help = "$AWS_REGION, otherwise us-east-1",
		.help = "Region for which requests of an s3 path are signed."},
	{SECTION_DATASET, "credentials", &value_credentials, DATASET(credentials),
		.preset_help = "those that Amazon's tools would find",
		.help = "File with the keys of an s3 path, in the form of Amazon's "
			"tools; nobody else may read it.\n"
			"Its section [default], or that of the profile, has "
			"aws_access_key_id and aws_secret_access_key.\n"
			"The file is read again once a minute, and when the server "
			"refuses the keys, which joaderfs shows nowhere.\n"
			"none: requests are not signed; for public objects."},
	{SECTION_DATASET, "profile", &value_text, .min = 1, .max = 100, DATASET(profile),
		.preset_help = "$AWS_PROFILE, otherwise default",
		.help = "Profile of Amazon's tools with whose credentials requests of "
			"an s3 path are signed; no other credentials are used."},
	{SECTION_DATASET, "bucket_names", &value_choice, .choices = bucket_names,
		.preset = "auto", DATASET(bucket_names),
		.help = "Where requests of an s3 path name the bucket.\n"
			"auto: in the host for Amazon's servers, otherwise in the "
			"path, unless the profile has addressing_style.\n"
			"path: http://HOST/BUCKET.\n"
			"host: http://BUCKET.HOST."},
	{SECTION_DATASET, "requester_pays", &value_flag, .choices = no_yes,
		.preset = "no", DATASET(requester_pays),
		.help = "Whether requests of an s3 path say that the sender pays for "
			"them, as some buckets demand."},
	{SECTION_DATASET, "sampler", &value_choice, .choices = samplers, DATASET(sampler),
		.preset_help = "the sampler of [joaderfs]",
		.help = "How jobs of this dataset get their samples; see [joaderfs]."},

	{SECTION_PREPARATION, "command", &value_command, .required = true, .min = 2,
		.max = 1000, PREPARATION(command),
		.help = "The program and its arguments; no shell interprets them.\n"
			"The contents of the program's file, and of files that are "
			"arguments, are a part of the identity of its arrays."},
	{SECTION_PREPARATION, "shape", &value_array_shape, .required = true,
		.max = ARRAY_MOST_BYTES, PREPARATION(array),
		.help = "The lengths of the axes of each array."},
	{SECTION_PREPARATION, "dtype", &value_array_dtype, .choices = array_dtypes,
		.required = true, PREPARATION(array),
		.help = "The type of the numbers in an array, with NumPy's name.\n"
			"Arrays of uint8 with a shape of H W 3 are images: for these "
			"jobs may have every image format, [augment], dtype and axes."},
	{SECTION_PREPARATION, "processes", &value_workers, .min = 1, .max = 256,
		.preset = "auto", PREPARATION(processes),
		.help = "Number of processes of the program that run at once.\n"
			"auto: one for each CPU that the daemon may use."},
	{SECTION_PREPARATION, "timeout", &value_duration, .min = 1, .max = 3600,
		.preset = "30s", PREPARATION(timeout_s),
		.help = "A process that takes longer for one sample is killed; it may "
			"take a minute to start."},
	{SECTION_PREPARATION, "memory", &value_size, .min = 16 << 20, .max = INT64_MAX,
		.preset = "2G", PREPARATION(memory),
		.help = "The largest address space of a process."},
	{SECTION_PREPARATION, "version", &value_text, .min = 1, .max = 100,
		PREPARATION(version), .preset_help = "empty",
		.help = "A text to change when the program makes other arrays although "
			"its file and its arguments are the same, for instance with "
			"another version of a module."},
	{SECTION_PREPARATION, "user", &value_text, .min = 1, .max = 64, PREPARATION(user),
		.preset_help =
			"nobody for a daemon that runs as root, otherwise the daemon's "
			"own user",
		.help = "The user that runs the program.\n"
			"root must be named explicitly; a daemon that does not run as "
			"root can only use its own user."},
};

const size_t config_n_daemon_options =
	sizeof(config_daemon_options) / sizeof(config_daemon_options[0]);
