// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <stddef.h>

/* Options of a job's ini. */

static const char *const orders[] = {"shuffled", "sequential", NULL};
static const char *const exifs[] = {"ignore", "apply", NULL};
static const char *const truncateds[] = {"fail", "fill", NULL};
/* Indexed by enum preparation_channels. */
static const char *const channels[] = {"rgb", "gray", "keep", NULL};
static const char *const accuracies[] = {"exact", "approx", NULL};
/* Indexed by enum resample_filter. */
static const char *const filters[] = {
	"bilinear", "bicubic", "lanczos", "box", "hamming", "nearest", NULL};
static const char *const formats[] = {
	"ppm", "bmp", "png", "npy", "raw", "source", "record", NULL};
static const char *const dtypes[] = {"uint8", "float32", "float16", NULL};
static const char *const axes[] = {"HWC", "CHW", NULL};
static const char *const layouts[] = {"flat", "classes", "mirror", "tar", "batch", NULL};
static const char *const sizes[] = {"padded", "exact", NULL};
static const char *const ios[] = {"auto", "direct", "cached", NULL};
static const char *const second_scripts[] = {"warned", "refused", NULL};
static const char *const scripts[] = {"auto", "one", NULL};
static const char *const bad_samples[] = {"fail", "skip", NULL};
/* Indexed by enum view_mapping. */
static const char *const mappings[] = {"fresh", "auto", "fixed", NULL};
static const char *const groups[] = {"none", "directory", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};

#define JOB(field) .offset = offsetof(struct job_config, field)

const struct option config_job_options[] = {
	{SECTION_JOB, "name", &value_name, .required = true, JOB(name),
		.help = "Name of the job, and of its directory below jobs."},
	{SECTION_JOB, "dataset", &value_mixture, .required = true, .max = 180,
		JOB(dataset),
		.help = "Name of a dataset of the daemon; or several, each with a weight "
			"or 1, as photos:3 sketches:1, of which samples come in this "
			"proportion; see MIXTURES."},
	{SECTION_JOB, "label_table", &value_text, .min = 1, .max = 180, JOB(label_table),
		.preset_help = "classes of one name are one class",
		.help = "Absolute path of a file with the labels of a mixture's classes: "
			"a line for each, DATASET/CLASS LABEL; see MIXTURES."},
	{SECTION_JOB, "epochs", &value_u32, .min = 1, .max = CONFIG_MOST_EPOCHS,
		JOB(epochs),
		.preset_help = "without end, that is 16383, after which no inode number "
			       "is left",
		.help = "How many epochs the job may read.\n"
			"After the last one current/ gives the last one again, and the "
			"log and status tell so."},
	{SECTION_JOB, "order", &value_order, .choices = orders, .preset = "shuffled",
		JOB(order_text),
		.help = "shuffled: a new random order in each epoch.\n"
			"sequential: position k is the k-th selected sample of "
			"the dataset, in each epoch, for validation.\n"
			"replay:FILE: the orders of an earlier run, epoch by epoch, that "
			"joaderctl export has written to FILE, an absolute path; epochs "
			"has to be given.\n"
			"The job's samples have to be those of that run: the same paths "
			"below the dataset's directory, and sizes."},
	{SECTION_JOB, "where", &value_text, .min = 1, .max = 180, JOB(where),
		.preset_help = "every sample",
		.help = "Selects samples: an SQL expression over the columns id, path, "
			"class, label, bytes, mtime, width, height, channels, bits, "
			"palette, and those of the dataset's metadata.csv, for instance "
			"label < 50 and width >= 224.\n"
			"hash(X) is a number made of the text of X, the same on every "
			"machine: hash(path) % 5 != 0 leaves out a fifth of each class, "
			"which hash(path) % 5 = 0 selects; see FOLDS."},
	{SECTION_JOB, "owner", &value_user, JOB(owner),
		.preset_help = "who adds the job; of one in the jobs directory the "
			       "daemon's user",
		.help = "User whose job it is.\n"
			"This user and root can remove the job, restore it, export it "
			"and "
			"grant it; see OWNERS."},
	{SECTION_JOB, "group", &value_group, JOB(group),
		.preset_help = "the group of who adds the job; of one in the jobs "
			       "directory the daemon's",
		.help = "Group of the job's directory."},
	{SECTION_JOB, "mode", &value_mode, JOB(mode),
		.preset_help = "0555, and 0500 of a job that an ordinary user adds",
		.help = "Who can read the job, as chmod(1) has it: the mode of its "
			"directory, and of all below, where files have no x.\n"
			"Who reads takes samples."},
	{SECTION_JOB, "weight", &value_weight, .max = 100, .preset = "1", JOB(weight),
		.help = "While workers are too few, a job with twice the weight gets "
			"twice as much: of what it could use, or of their time, as "
			"share in [joaderfs] says."},
	{SECTION_JOB, "idle", &value_duration, .min = 1, .max = UINT32_MAX,
		.preset = "10m", JOB(idle_s),
		.help = "After so long without a read the job no longer holds anything "
			"in "
			"the cache.\n"
			"It goes on as before when it reads again."},
	{SECTION_JOB, "second_script", &value_flag, .choices = second_scripts,
		.preset = "warned", JOB(refuses_second),
		.help = "A script that reads current/ more than an epoch away from "
			"another one.\n"
			"warned: it is given the running epoch.\n"
			"refused: its opens fail with EBUSY.\n"
			"The log and status say so in both cases."},
	{SECTION_JOB, "other_machines", &value_flag, .choices = second_scripts,
		.preset = "refused", JOB(refuses_machines),
		.help = "A process that a launcher has started as one rank of several, "
			"of "
			"which some run on other machines, reads a job without ranks, "
			"where a file holds other samples on other machines.\n"
			"warned: the log and status say so.\n"
			"refused: and its opens fail with EOPNOTSUPP, where the files of "
			"a directory are a class (layout = classes, or labels = fixed), "
			"because scripts divide these by their numbers."},
	{SECTION_JOB, "script", &value_flag, .choices = scripts, .preset = "auto",
		JOB(one_script),
		.help = "Which programs that read current/ at one time are the ranks of "
			"one training, so that each epoch is divided among them.\n"
			"auto: those that /proc tells to be such; see "
			"joaderfs-readers(7).\n"
			"one: all programs that read the job, also from other shells, "
			"sessions and containers, and programs that only look.\n"
			"When all of them have ended, the next program is another "
			"training."},
	{SECTION_JOB, "bad_sample", &value_flag, .choices = bad_samples, .preset = "fail",
		JOB(skips_bad),
		.help = "A sample that can't be read or prepared.\n"
			"fail: its file answers EIO, in each epoch.\n"
			"skip: its file answers EIO in the epoch in which that is "
			"found; the epochs that begin after it have one file less, and "
			"each of them has each other sample once.\n"
			"What the scan has found without a readable header is never "
			"there.\n"
			"The log and status name such samples.\n"
			"A sample comes back when its file has changed and the daemon "
			"has started again.\n"
			"Only with layout = flat or classes, without ranks, and not "
			"with order = replay:FILE."},
	{SECTION_JOB, "keep_epochs", &value_u32, .min = 1, .max = 16383, .preset = "10",
		JOB(keep_epochs),
		.help = "Of so many epochs that have ended the order is kept.\n"
			"The files of older ones can't be opened any more."},
	{SECTION_JOB, "ranks", &value_u32, .min = 1, .max = 4096, JOB(processes.ranks),
		.preset_help = "the job is of this node alone",
		.help = "Ranks of a training that runs on the nodes of a [cluster].\n"
			"The job has the samples of one of them, or of a node's "
			"local_ranks: each sample goes to one rank in each epoch.\n"
			"Only with order = shuffled, and not with layout = classes or "
			"mirror, or labels = fixed."},
	{SECTION_JOB, "rank", &value_u32, .max = 4095, JOB(processes.rank),
		.preset_help = "0",
		.help = "Which of the ranks the job is, from 0; not with local_ranks."},
	{SECTION_JOB, "local_ranks", &value_u32, .min = 1, .max = 4096,
		JOB(processes.local_ranks),
		.preset_help = "each rank has a job of its own",
		.help = "How many ranks read this job, as many on each node: each of "
			"them reads its part of the files.\n"
			"A node with twice as many ranks as others has two such jobs."},
	{SECTION_JOB, "node_rank", &value_u32, .max = 4095, JOB(processes.node_rank),
		.preset_help = "0",
		.help = "With local_ranks: which of these jobs it is, from 0.\n"
			"It has ranks node_rank * local_ranks and the next ones."},
	{SECTION_JOB, "training", &value_name, JOB(training),
		.preset_help = "the job's name",
		.help = "Name of the training, the same for all its ranks."},
	{SECTION_JOB, "global_batch", &value_u32, .min = 1, .max = 16777216,
		JOB(global_batch), .preset_help = "32 for each rank",
		.help = "Samples that all ranks together read in one step.\n"
			"They are drawn together; which rank reads which of them follows "
			"the nodes that have them.\n"
			"With local_ranks a multiple of ranks."},

	{SECTION_TENSOR, "prepare", &value_name, JOB(prepare),
		.preset_help = "samples are images",
		.help = "A [preparation NAME] of the daemon's ini, whose program makes "
			"the arrays, instead of resize, crop and all other keys for the "
			"pixels of images.\n"
			"Jobs with the same one share them.\n"
			"format is npy by default, and may be record or raw; more for "
			"arrays that are images."},
	{SECTION_TENSOR, "from", &value_text, .min = 1, .max = 150, JOB(from),
		.preset_help = "samples are single files",
		.help = "Only in [tensor NAME]: the second file of each sample, as the "
			"mask "
			"of an image, by a path relative to the first one's directory in "
			"the dataset; {stem} is the name without its last ending: "
			"../masks/{stem}.png; see PAIRS."},
	{SECTION_TENSOR, "group", &value_flag, .choices = groups, .preset = "none",
		JOB(groups_directories),
		.help = "none: each file is a sample.\n"
			"directory: all files of a directory are one, as the frames of a "
			"video, in the order of their names; see GROUPS.\n"
			"Only with format = npy (its default then), record or raw."},
	{SECTION_TENSOR, "frames", &value_u32, .min = 1, .max = 256,
		JOB(preparation.frames), .preset_help = "samples are single files",
		.help = "With group = directory: so many files of each directory, evenly "
			"spaced from the first one on.\n"
			"A directory that has fewer is a sample that can't be prepared."},
	{SECTION_TENSOR, "resize", &value_resize, .min = 1, .max = 65500,
		JOB(preparation), .preset_help = "not resized",
		.help = "Size in pixels: N for the shorter side, max:N for the longer "
			"one, the other one follows; WxH for both; see SIZES."},
	{SECTION_TENSOR, "filter", &value_choice, .choices = filters,
		.preset = "bilinear", JOB(preparation.filter),
		.help = "How resize, and random_resized_crop in [augment], compute a "
			"pixel: with the filter of this name of Pillow's Image.resize, "
			"to the bit, which is also that of torchvision's transforms of "
			"PIL images; see FILTERS.\n"
			"bilinear: torchvision's default.\n"
			"bicubic: what timm, open_clip, DINOv2 and MAE use.\n"
			"nearest: each pixel is one of the image, as masks need it."},
	{SECTION_TENSOR, "crop", &value_crop, .min = 1, .max = 65500, JOB(preparation),
		.preset_help = "not cropped",
		.help = "Cut out of the middle, after resize; N for a square.\n"
			"Where the image is smaller, fill is added."},
	{SECTION_TENSOR, "pad", &value_pad, .min = 1, .max = 65500, JOB(preparation),
		.preset_help = "nothing is added",
		.help = "Size in pixels of what the image lies in the middle of, after "
			"resize and crop; N for a square of this size, square for one "
			"as large as the longer side of each image.\n"
			"resize = max:640 with pad = square is what detectors call a "
			"letterbox."},
	{SECTION_TENSOR, "fill", &value_fill, .max = 255, .preset = "0",
		JOB(preparation.fill),
		.help = "Colour of what crop and pad add: red, green and blue, or one "
			"number for all; only one number with channels = keep."},
	{SECTION_TENSOR, "channels", &value_choice, .choices = channels, .preset = "rgb",
		JOB(preparation.channels),
		.help = "rgb: red, green and blue, as Pillow's convert(\"RGB\") gives "
			"them.\n"
			"gray: one channel, as convert(\"L\") gives it, before resize.\n"
			"A ppm is a PGM then, a png gray, an array has 1 where it has 3 "
			"else; not with format = bmp.\n"
			"keep: those of the file: one stays one, alpha and 16 bits stay, "
			"a palette's indices stay indices, and a TIFF's float32 is read; "
			"see CHANNELS."},
	{SECTION_TENSOR, "accuracy", &value_flag, .choices = accuracies,
		.preset = "exact", JOB(preparation.approximate),
		.help = "Whether the pixels may differ from those of Pillow.\n"
			"exact: to the bit the same.\n"
			"approx: a JPEG is decoded at 1/2, 1/4 or 1/8 of its size when "
			"it "
			"is to be made that small, which is faster."},
	{SECTION_TENSOR, "exif", &value_flag, .choices = exifs, .preset = "ignore",
		JOB(preparation.exif),
		.help = "Orientation that a camera wrote into the file.\n"
			"ignore: the pixels as they are stored, as Image.open gives "
			"them.\n"
			"apply: turned before resize and crop, as Pillow's "
			"ImageOps.exif_transpose does it; such a job shares prepared "
			"images with its like, but no decoding with others."},
	{SECTION_TENSOR, "truncated", &value_flag, .choices = truncateds,
		.preset = "fail", JOB(preparation.fills_truncated),
		.help = "A JPEG or PNG whose pixels end too early, or are damaged.\n"
			"fail: EIO for its file.\n"
			"fill: what is there, and black below it, as Pillow gives with "
			"LOAD_TRUNCATED_IMAGES; such a job shares prepared images with "
			"its like, but no decoding with others."},
	{SECTION_TENSOR, "format", &value_choice, .choices = formats, .preset = "ppm",
		JOB(format),
		.help = "Format of the files.\n"
			"ppm: read by Pillow, OpenCV and torchvision.\n"
			"bmp: 24 bit, the cheapest for OpenCV.\n"
			"png: not compressed, read by everything.\n"
			"npy: a NumPy array of the dtype and axes below.\n"
			"raw: the same without a head; needs a fixed size, as a crop or "
			"a resize to WxH gives.\n"
			"source: the file of the dataset as it is, without resize, crop "
			"and augmentation.\n"
			"record: npy with the label in it, so that one open gives both; "
			"numpy.load(file)[\"image\"] and [\"label\"]."},
	{SECTION_TENSOR, "dtype", &value_choice, .choices = dtypes, .preset = "uint8",
		JOB(pixels.dtype),
		.help = "Type of the numbers in npy, record and raw.\n"
			"uint8: 0 to 255; with channels = keep 16 bits stay uint16, and "
			"float32 stays.\n"
			"float32: 0 to 1, as torchvision's ToTensor gives them; see "
			"normalize.\n"
			"float16: the same, rounded to nearest."},
	{SECTION_TENSOR, "axes", &value_choice, .choices = axes, .preset = "HWC",
		JOB(pixels.axes),
		.help = "Order of the axes in npy, record and raw.\n"
			"HWC: (height, width, channels), as Pillow and OpenCV have it.\n"
			"CHW: (channels, height, width), as PyTorch has it."},

	{SECTION_AUGMENT, "random_crop", &value_shape, .min = 1, .max = 65500,
		JOB(augment.random_crop), .preset_help = "not cropped",
		.help = "Size in pixels of a piece that is cut out anywhere; N for a "
			"square.\n"
			"Where the image is smaller, it lies anywhere on black."},
	{SECTION_AUGMENT, "random_resized_crop", &value_shape, .min = 1, .max = 65500,
		JOB(augment.random_resized_crop), .preset_help = "not cropped",
		.help = "Size in pixels to which a piece is resized that is cut out "
			"anywhere; N for a square.\n"
			"As torchvision's RandomResizedCrop: 8 to 100 percent of the "
			"area, ratio of the sides 3:4 to 4:3, with filter of [tensor].\n"
			"Not together with random_crop."},
	{SECTION_AUGMENT, "hflip", &value_probability, .preset = "0", JOB(augment.hflip),
		.help = "Probability with which left and right are exchanged."},
	{SECTION_AUGMENT, "normalize", &value_normalize, JOB(augment.normalize),
		.preset_help = "not normalized",
		.help = "Mean and standard deviation of red, green and blue, or of the "
			"one channel that channels = gray gives; with channels = keep of "
			"each channel, or one of each for all.\n"
			"The mean is subtracted from the numbers of 0 to 1, and the "
			"result divided by the deviation, as torchvision's Normalize "
			"does.\n"
			"Needs dtype = float32 or float16."},
	{SECTION_AUGMENT, "seed", &value_u64, .max = UINT64_MAX, .preset = "0",
		JOB(augment.seed),
		.help = "Seed of the random choices of this section.\n"
			"0: from the seed in the daemon's ini, also if that is 0, and "
			"the name of the job."},

	{SECTION_VIEW, "layout", &value_choice, .choices = layouts, .preset = "flat",
		JOB(layout),
		.help = "flat: 00000000.ppm with its label in 00000000.cls, and so on; "
			"for scripts that read files in order.\n"
			"classes: CLASS/00000000.ppm, as many in each class as it has "
			"samples; for torchvision's ImageFolder and its like, with the "
			"script's own shuffling.\n"
			"mirror: CLASS/NAME.ppm, NAME being that of the source file: "
			"nothing is sampled, only decoding is shared.\n"
			"tar: shard-000000.tar, and so on, for WebDataset: "
			"00000000.cls, 00000000.ppm, and so on; with io = direct only.\n"
			"batch: batch-000000.npy of several samples with their labels in "
			"batch-000000.labels.npy, and so on; with format = npy, which is "
			"its default, and images of a fixed size only."},
	{SECTION_VIEW, "shard", &value_u32, .min = 1, .max = 10000000, JOB(shard),
		.preset_help = "flat: not divided; tar: 1000",
		.help = "Samples in each directory of flat (000/00000000.ppm) or in each "
			"file of tar."},
	{SECTION_VIEW, "labels", &value_labels, .preset = "drawn", JOB(labels),
		.help = "Which label a position of flat has, or what labels are.\n"
			"drawn: that of its sample, another one in each epoch.\n"
			"fixed: the same for ever, for scripts that read the labels once "
			"and the images later; each epoch only exchanges samples within "
			"a label.\n"
			"This costs what classes costs: samples are not prepared ahead, "
			"and jobs share less; and labels that are read in order come in "
			"the same order in each epoch.\n"
			"columns: X Y: not the number of a class, but the numbers in "
			"these columns of metadata.csv, as float32: of shape (N, "
			"columns) in batch-000000.labels.npy, of shape (columns,) in the "
			"field label of a record; for regression and several labels.\n"
			"Columns need layout = batch or format = record, and in each "
			"sample a number."},
	{SECTION_VIEW, "batch", &value_u32, .min = 1, .max = 65536, .preset = "64",
		JOB(batch), .help = "Samples in each file of batch."},
	{SECTION_VIEW, "mapping", &value_choice, .choices = mappings, .preset = "auto",
		JOB(mapping),
		.help = "Whether a file of classes holds the same sample in every "
			"epoch.\n"
			"fixed: the same one; whatever a script opens is exact, in any "
			"order "
			"and by any number of processes: random_split, k-fold by index, "
			"DistributedSampler, sampling with replacement; the script "
			"shuffles.\n"
			"fresh: in each epoch another one of its label, as often as "
			"possible "
			"one that is in the cache.\n"
			"auto: fixed if all prepared samples of the job fit into the "
			"cache "
			"when the job is added, else fresh; the status of the job tells "
			"which, and it stays so for as long as the job has its state."},
	{SECTION_VIEW, "drop_last", &value_flag, .choices = no_yes, .preset = "no",
		JOB(drop_last),
		.help = "Whether the last file of batch or tar is left out when it would "
			"be shorter than the others."},
	{SECTION_VIEW, "json", &value_flag, .choices = no_yes, .preset = "no", JOB(json),
		.help = "Whether each sample has a .json beside it (flat, tar) with its "
			"label, class, source path and the columns of metadata.csv."},
	{SECTION_VIEW, "beside", &value_endings, JOB(beside), .preset_help = "none",
		.help = "Endings of files that come along with each sample (flat, tar), "
			"byte for byte, as txt json: what has the name of the image but "
			"for the ending, in the directory, tar, zip or LMDB file that "
			"has "
			"the image.\n"
			"Where a sample has none the file is empty; not for datasets on "
			"servers; joaderfs-layouts(7) has the details."},
	{SECTION_VIEW, "text", &value_column, JOB(text), .preset_help = "none",
		.help = "A column of metadata.csv that is the .txt of each sample (flat, "
			"tar), as captions in one file; class and path are columns, "
			"too.\n"
			"Where a sample has none the .txt is empty."},
	{SECTION_VIEW, "path", &value_text, .min = 1, .max = 180, JOB(path),
		.preset_help = "none",
		.help = "A path below data/ that leads to the job's running epoch, for "
			"instance resnet18/train: a script that looks for train and val "
			"in one directory is given data/resnet18.\n"
			"%name stands for the name of the job, so that copies of the ini "
			"have paths of their own."},
	{SECTION_VIEW, "io", &value_choice, .choices = ios, .preset = "auto", JOB(io),
		.help = "How reads go through the kernel.\n"
			"direct: each is answered by the daemon, past the page cache; "
			"files can be mapped shared, as np.memmap does, from Linux 6.6 "
			"on.\n"
			"cached: through its page cache; files can be mapped; what is "
			"read again in an explicit epoch comes from there; not with "
			"layout = tar.\n"
			"auto: by the kernel itself where it can, the cheapest; see "
			"joaderfs-readers(7). Otherwise direct; for batch cached with a "
			"Linux "
			"older than 6.6."},
	{SECTION_VIEW, "size", &value_choice, .choices = sizes, .preset = "padded",
		JOB(size),
		.help = "Size of the files when that of the images varies.\n"
			"padded: all as large as the largest, zeros follow the image.\n"
			"exact: 0 until the file is opened, then its own; not for "
			"readers "
			"that ask for the size or map the file before they open it."},
	{SECTION_VIEW, "extension", &value_extension, .min = 1, .max = 16, JOB(extension),
		.preset_help = "the name of the format, for source jpg",
		.help = "Ending of the files, for scripts that list only some.\n"
			"Not cls, which is the ending of the labels."},
	{SECTION_VIEW, "lookahead", &value_reads, .min = 1, .max = 65536,
		.preset = "auto", JOB(lookahead),
		.help = "Samples drawn and prepared ahead of the reader.\n"
			"auto: 128, or twice as many as the job's storage reads at once "
			"where that is more (reads in [joaderfs]).\n"
			"Fewer if those of all jobs would take more than half of the "
			"cache.\n"
			"With layout = batch auto is at least two batches; with sampler "
			"= dsa it draws along with other jobs up "
			"to one batch, however small the cache is.\n"
			"None where a file's name says more than its position (layout = "
			"classes or mirror, order = sequential): there several workers "
			"have to read."},
};

const size_t config_n_job_options =
	sizeof(config_job_options) / sizeof(config_job_options[0]);
