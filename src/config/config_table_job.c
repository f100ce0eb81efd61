// SPDX-License-Identifier: MIT
// Copyright (c) 2026 The joaderfs authors

#include "config/config_internal.h"

#include <stddef.h>

static const char *const orders[] = {"shuffled", "sequential", NULL};
static const char *const exifs[] = {"ignore", "apply", NULL};
static const char *const truncateds[] = {"fail", "fill", NULL};
static const char *const channels[] = {"rgb", "gray", "keep", NULL};
static const char *const accuracies[] = {"exact", "approx", NULL};
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
static const char *const mappings[] = {"fresh", "auto", "fixed", NULL};
static const char *const groups[] = {"none", "directory", NULL};
static const char *const no_yes[] = {"no", "yes", NULL};

#define JOB(field) .offset = offsetof(struct job_config, field)

const struct option config_job_options[] = {
	{SECTION_JOB, "name", &value_name, .required = true, JOB(name),
		.help = "Name of the job, and of its directory below jobs."},
	{SECTION_JOB, "dataset", &value_mixture, .required = true, .max = 180,
		JOB(dataset),
		.help = "Name of a dataset of the daemon, or of several, each with a "
			"weight (1 unless given), such as photos:3 sketches:1; the job "
			"gets samples in this proportion; see MIXTURES."},
	{SECTION_JOB, "label_table", &value_text, .min = 1, .max = 180, JOB(label_table),
		.preset_help = "classes with the same name are one class",
		.help = "Absolute path of a file with the labels of a mixture's "
			"classes, a line DATASET/CLASS LABEL for each; see MIXTURES."},
	{SECTION_JOB, "epochs", &value_u32, .min = 1, .max = CONFIG_MOST_EPOCHS,
		JOB(epochs),
		.preset_help =
			"without end; in fact 16383, after which no inode number is "
			"left",
		.help = "How many epochs the job may read.\n"
			"After the last epoch, current/ gives this epoch again, and "
			"the log and status say so."},
	{SECTION_JOB, "order", &value_order, .choices = orders, .preset = "shuffled",
		JOB(order_text),
		.help = "shuffled: a new random order in each epoch.\n"
			"sequential: position k is the k-th selected sample of the "
			"dataset, in each epoch; for validation.\n"
			"replay:FILE: the orders of an earlier run, epoch by epoch, "
			"from the output of joaderctl export in FILE, an absolute "
			"path; epochs must be given.\n"
			"The job must have the samples of that run: the same paths "
			"below the dataset's directory, with the same sizes."},
	{SECTION_JOB, "where", &value_text, .min = 1, .max = 180, JOB(where),
		.preset_help = "all samples",
		.help = "Selects samples: an SQL expression over the columns id, path, "
			"class, label, bytes, mtime, width, height, channels, bits, "
			"palette, and those of the dataset's metadata.csv, for "
			"instance label < 50 and width >= 224.\n"
			"hash(X) is a number made of the text of X, the same on every "
			"machine: hash(path) % 5 != 0 leaves out a fifth of each "
			"class, and hash(path) % 5 = 0 selects this fifth; see FOLDS."},
	{SECTION_JOB, "owner", &value_user, JOB(owner),
		.preset_help =
			"the user who adds the job; the daemon's user for a job in the "
			"jobs directory",
		.help = "User to whom the job belongs.\n"
			"This user and root can remove, restore, export and grant the "
			"job; see OWNERS."},
	{SECTION_JOB, "group", &value_group, JOB(group),
		.preset_help =
			"the group of the user who adds the job; the daemon's group "
			"for a job in the jobs directory",
		.help = "Group of the job's directory."},
	{SECTION_JOB, "mode", &value_mode, JOB(mode),
		.preset_help = "0555, and 0500 for a job that an ordinary user adds",
		.help = "Which users can read the job, as in chmod(1): the mode of its "
			"directory, and of everything below it, where files have no "
			"x.\n"
			"Reading takes samples from the job."},
	{SECTION_JOB, "weight", &value_weight, .max = 100, .preset = "1", JOB(weight),
		.help = "While workers are too few, a job with twice the weight gets "
			"twice as much, either of its need or of the workers' time, "
			"depending on share in [joaderfs]."},
	{SECTION_JOB, "idle", &value_duration, .min = 1, .max = UINT32_MAX,
		.preset = "10m", JOB(idle_s),
		.help = "After this time without a read, nothing stays in the cache "
			"for the job.\n"
			"The job continues as before when it reads again."},
	{SECTION_JOB, "second_script", &value_flag, .choices = second_scripts,
		.preset = "warned", JOB(refuses_second),
		.help = "What happens to a script that reads current/ more than an "
			"epoch away from another script.\n"
			"warned: it gets the running epoch.\n"
			"refused: its opens fail with EBUSY.\n"
			"In both cases the log and status say so."},
	{SECTION_JOB, "other_machines", &value_flag, .choices = second_scripts,
		.preset = "refused", JOB(refuses_machines),
		.help = "What happens to a process that a launcher has started as one "
			"of several ranks, some of them on other machines, if it reads "
			"a job without ranks whose files hold other samples on other "
			"machines.\n"
			"warned: the log and status say so.\n"
			"refused: in addition, its opens fail with EOPNOTSUPP if each "
			"directory of files is a class (layout = classes, or labels = "
			"fixed), because scripts divide these files by their numbers."},
	{SECTION_JOB, "script", &value_flag, .choices = scripts, .preset = "auto",
		JOB(one_script),
		.help = "Which programs that read current/ at the same time are the "
			"ranks of one training, so that each epoch is divided among "
			"them.\n"
			"auto: those that joaderfs recognizes in /proc; see "
			"joaderfs-readers(7).\n"
			"one: all programs that read the job, even from other shells, "
			"sessions and containers, and even programs that only look.\n"
			"When all of them have ended, the next program is another "
			"training."},
	{SECTION_JOB, "bad_sample", &value_flag, .choices = bad_samples, .preset = "fail",
		JOB(skips_bad),
		.help = "What happens to a sample that can't be read or prepared.\n"
			"fail: its file fails with EIO, in each epoch.\n"
			"skip: its file fails with EIO in the epoch in which this is "
			"found; later epochs have one file less, and each of the other "
			"samples once.\n"
			"Files in which the scan has found no readable header are "
			"never samples.\n"
			"The log and status name bad samples.\n"
			"A sample comes back when its file has changed and the daemon "
			"was restarted.\n"
			"Only with layout = flat or classes, without ranks, and not "
			"with order = replay:FILE."},
	{SECTION_JOB, "keep_epochs", &value_u32, .min = 1, .max = 16383, .preset = "10",
		JOB(keep_epochs),
		.help = "Number of ended epochs whose orders are kept.\n"
			"The files of older epochs can't be opened any more."},
	{SECTION_JOB, "ranks", &value_u32, .min = 1, .max = 4096, JOB(processes.ranks),
		.preset_help = "the training is only on this node",
		.help = "Number of ranks of a training that runs on the nodes of a "
			"[cluster].\n"
			"The job gets the samples of one rank, or of the local_ranks "
			"of a node; in each epoch each sample goes to one rank.\n"
			"Only with order = shuffled, and not with layout = classes or "
			"mirror, or labels = fixed."},
	{SECTION_JOB, "rank", &value_u32, .max = 4095, JOB(processes.rank),
		.preset_help = "0",
		.help = "The rank whose samples the job gets, counted from 0; not with "
			"local_ranks."},
	{SECTION_JOB, "local_ranks", &value_u32, .min = 1, .max = 4096,
		JOB(processes.local_ranks), .preset_help = "each rank has its own job",
		.help = "Number of ranks on each node that read this job; each of them "
			"reads its part of the files.\n"
			"A node with twice as many ranks as others has two such jobs."},
	{SECTION_JOB, "node_rank", &value_u32, .max = 4095, JOB(processes.node_rank),
		.preset_help = "0",
		.help = "With local_ranks: the number of this job among such jobs, "
			"counted from 0.\n"
			"The job has the ranks from node_rank * local_ranks on."},
	{SECTION_JOB, "training", &value_name, JOB(training),
		.preset_help = "the job's name",
		.help = "Name of the training, the same for all its ranks."},
	{SECTION_JOB, "global_batch", &value_u32, .min = 1, .max = 16777216,
		JOB(global_batch), .preset_help = "32 for each rank",
		.help = "Number of samples that all ranks together read in one step.\n"
			"They are drawn together, and then divided among the ranks "
			"according to the nodes that have them.\n"
			"With local_ranks a multiple of ranks."},

	{SECTION_TENSOR, "prepare", &value_name, JOB(prepare),
		.preset_help = "samples are images",
		.help = "Name of a [preparation NAME] in the daemon's ini, whose "
			"program makes the arrays; it replaces resize, crop and all "
			"other keys about the pixels of images.\n"
			"Jobs with the same preparation share the arrays.\n"
			"format is npy by default, and may be record or raw; arrays "
			"that are images allow more formats."},
	{SECTION_TENSOR, "from", &value_text, .min = 1, .max = 150, JOB(from),
		.preset_help = "samples are single files",
		.help = "Only in [tensor NAME]: the path of the second file of each "
			"sample, such as the mask of an image, relative to the "
			"directory of the first file in the dataset; {stem} is the "
			"name without its last ending: ../masks/{stem}.png; see PAIRS."},
	{SECTION_TENSOR, "group", &value_flag, .choices = groups, .preset = "none",
		JOB(groups_directories),
		.help = "none: each file is a sample.\n"
			"directory: all files of a directory are one sample, such as "
			"the frames of a video, in the order of their names; see "
			"GROUPS.\n"
			"Only with format = npy (then the default), record or raw."},
	{SECTION_TENSOR, "frames", &value_u32, .min = 1, .max = 256,
		JOB(preparation.frames), .preset_help = "samples are single files",
		.help = "With group = directory: the number of files taken from each "
			"directory, evenly spaced from the first one on.\n"
			"A directory with fewer files is a sample that can't be "
			"prepared."},
	{SECTION_TENSOR, "resize", &value_resize, .min = 1, .max = 65500,
		JOB(preparation), .preset_help = "not resized",
		.help = "Size in pixels: N for the shorter side or max:N for the "
			"longer side, and the other side follows; WxH for both; see "
			"SIZES."},
	{SECTION_TENSOR, "filter", &value_choice, .choices = filters,
		.preset = "bilinear", JOB(preparation.filter),
		.help = "The filter of Pillow's Image.resize with which resize, and "
			"random_resized_crop in [augment], compute pixels; the result "
			"equals Pillow's, and torchvision's for PIL images, to the "
			"bit; see FILTERS.\n"
			"bilinear: torchvision's default.\n"
			"bicubic: the filter of timm, open_clip, DINOv2 and MAE.\n"
			"nearest: each pixel is a pixel of the image, as masks require."},
	{SECTION_TENSOR, "crop", &value_crop, .min = 1, .max = 65500, JOB(preparation),
		.preset_help = "not cropped",
		.help = "Size in pixels of the middle part that is cut out after "
			"resize; N for a square.\n"
			"Where the image is smaller, fill is added."},
	{SECTION_TENSOR, "pad", &value_pad, .min = 1, .max = 65500, JOB(preparation),
		.preset_help = "nothing is added",
		.help = "Size in pixels to which fill is added around the image, after "
			"resize and crop; N for a square of this size, square for a "
			"square as large as the longer side of each image.\n"
			"Detectors call resize = max:640 with pad = square a letterbox."},
	{SECTION_TENSOR, "fill", &value_fill, .max = 255, .preset = "0",
		JOB(preparation.fill),
		.help = "Colour that crop and pad add: red, green and blue, or one "
			"number for all channels; with channels = keep only one number."},
	{SECTION_TENSOR, "channels", &value_choice, .choices = channels, .preset = "rgb",
		JOB(preparation.channels),
		.help = "rgb: red, green and blue, as Pillow's convert(\"RGB\") gives "
			"them.\n"
			"gray: one channel, as convert(\"L\") gives it, before "
			"resize.\n"
			"With gray, ppm files are PGM, png files are gray, and arrays "
			"have 1 channel instead of 3; not with format = bmp.\n"
			"keep: the channels of the file: one channel stays one, alpha "
			"and 16 bits stay, the indices of a palette stay indices, and "
			"float32 of a TIFF can be read; see CHANNELS."},
	{SECTION_TENSOR, "accuracy", &value_flag, .choices = accuracies,
		.preset = "exact", JOB(preparation.approximate),
		.help = "Whether pixels may differ from Pillow's.\n"
			"exact: they are the same to the bit.\n"
			"approx: a JPEG is decoded at 1/2, 1/4 or 1/8 of its size if "
			"it is resized to that size or less, which is faster."},
	{SECTION_TENSOR, "exif", &value_flag, .choices = exifs, .preset = "ignore",
		JOB(preparation.exif),
		.help = "The orientation that a camera wrote into the file.\n"
			"ignore: pixels stay as they are stored, as with Image.open.\n"
			"apply: the image is turned before resize and crop, as by "
			"Pillow's ImageOps.exif_transpose; such jobs share prepared "
			"images with each other, but no decoding with other jobs."},
	{SECTION_TENSOR, "truncated", &value_flag, .choices = truncateds,
		.preset = "fail", JOB(preparation.fills_truncated),
		.help = "What happens to a JPEG or PNG whose pixels are damaged or end "
			"too early.\n"
			"fail: its file fails with EIO.\n"
			"fill: the missing pixels are those of Pillow with "
			"LOAD_TRUNCATED_IMAGES; such jobs share prepared images with "
			"each other, but no decoding with other jobs."},
	{SECTION_TENSOR, "format", &value_choice, .choices = formats, .preset = "ppm",
		JOB(format),
		.help = "Format of the files.\n"
			"ppm: for Pillow, OpenCV and torchvision.\n"
			"bmp: 24 bits, the fastest for OpenCV.\n"
			"png: not compressed, for all programs.\n"
			"npy: a NumPy array with the keys dtype and axes.\n"
			"raw: the numbers of this array without a head; needs a fixed "
			"size, for instance by crop or a resize to WxH.\n"
			"source: the unchanged file of the dataset, without resize, "
			"crop and augmentation.\n"
			"record: npy with the label, so that one open gives both: "
			"numpy.load(file)[\"image\"] and [\"label\"]."},
	{SECTION_TENSOR, "dtype", &value_choice, .choices = dtypes, .preset = "uint8",
		JOB(pixels.dtype),
		.help = "Type of the numbers in npy, record and raw.\n"
			"uint8: 0 to 255; with channels = keep, 16 bits are uint16, "
			"and float32 stays.\n"
			"float32: 0 to 1, as torchvision's ToTensor gives them; see "
			"normalize.\n"
			"float16: like float32, rounded to nearest."},
	{SECTION_TENSOR, "axes", &value_choice, .choices = axes, .preset = "HWC",
		JOB(pixels.axes),
		.help = "Order of the axes in npy, record and raw.\n"
			"HWC: (height, width, channels), as in Pillow and OpenCV.\n"
			"CHW: (channels, height, width), as in PyTorch."},

	{SECTION_AUGMENT, "random_crop", &value_shape, .min = 1, .max = 65500,
		JOB(augment.random_crop), .preset_help = "not cropped",
		.help = "Size in pixels of a part of the image that is cut out at a "
			"random place; N for a square.\n"
			"If the image is smaller, it is at a random place on black."},
	{SECTION_AUGMENT, "random_resized_crop", &value_shape, .min = 1, .max = 65500,
		JOB(augment.random_resized_crop), .preset_help = "not cropped",
		.help = "Size in pixels to which a random part of the image is "
			"resized; N for a square.\n"
			"The part is chosen like that of torchvision's "
			"RandomResizedCrop, with 8 to 100 percent of the area and a "
			"ratio of the sides of 3:4 to 4:3, and resized with filter of "
			"[tensor].\n"
			"Not together with random_crop."},
	{SECTION_AUGMENT, "hflip", &value_probability, .preset = "0", JOB(augment.hflip),
		.help = "Probability with which left and right are exchanged."},
	{SECTION_AUGMENT, "normalize", &value_normalize, JOB(augment.normalize),
		.preset_help = "not normalized",
		.help = "Mean and standard deviation of red, green and blue, or of the "
			"one channel with channels = gray; with channels = keep of "
			"each channel, or one of each for all channels.\n"
			"The mean is subtracted from numbers of 0 to 1, and the result "
			"divided by the deviation, as by torchvision's Normalize.\n"
			"Needs dtype = float32 or float16."},
	{SECTION_AUGMENT, "seed", &value_u64, .max = UINT64_MAX, .preset = "0",
		JOB(augment.seed),
		.help = "Seed of the random choices of this section.\n"
			"0: a seed made of the seed in the daemon's ini, even if that "
			"is 0, and the name of the job."},

	{SECTION_VIEW, "layout", &value_choice, .choices = layouts, .preset = "flat",
		JOB(layout),
		.help = "flat: 00000000.ppm with its label in 00000000.cls, and so on; "
			"for scripts that read files in order.\n"
			"classes: CLASS/00000000.ppm and so on, in each class as many "
			"as it has samples; for torchvision's ImageFolder and similar "
			"scripts, which shuffle the files.\n"
			"mirror: CLASS/NAME.ppm, where NAME is that of the source "
			"file: no samples are drawn, only the decoding is shared.\n"
			"tar: shard-000000.tar and so on, with the members "
			"00000000.cls, 00000000.ppm and so on, for WebDataset; only "
			"with io = direct.\n"
			"batch: batch-000000.npy with several samples, and "
			"batch-000000.labels.npy with their labels, and so on; only "
			"with format = npy, then the default, and images of a fixed "
			"size."},
	{SECTION_VIEW, "shard", &value_u32, .min = 1, .max = 10000000, JOB(shard),
		.preset_help = "flat: not divided; tar: 1000",
		.help = "Number of samples in each directory of flat "
			"(000/00000000.ppm) or in each file of tar."},
	{SECTION_VIEW, "labels", &value_labels, .max = CONFIG_MOST_TARGETS,
		.preset = "drawn", JOB(labels),
		.help = "Which label a position of flat has, or of what kind labels "
			"are.\n"
			"drawn: the label of its sample, which differs from epoch to "
			"epoch.\n"
			"fixed: the same label in all epochs, for scripts that first "
			"read all labels, and the images later; each epoch only "
			"exchanges samples within a label.\n"
			"Like classes, this prevents samples from being prepared "
			"ahead, and jobs share less; labels that are read in order "
			"come in the same order in each epoch.\n"
			"columns: X Y: instead of the number of a class, the numbers "
			"in these columns of metadata.csv, as float32: of shape (N, "
			"columns) in batch-000000.labels.npy, of shape (columns,) in "
			"the field label of a record; for regression and several "
			"labels.\n"
			"Columns need layout = batch or format = record, and a number "
			"for each sample."},
	{SECTION_VIEW, "batch", &value_u32, .min = 1, .max = 65536, .preset = "64",
		JOB(batch), .help = "Number of samples in each file of batch."},
	{SECTION_VIEW, "mapping", &value_choice, .choices = mappings, .preset = "auto",
		JOB(mapping),
		.help = "Whether a file of classes holds the same sample in every "
			"epoch.\n"
			"fixed: the same sample; a script always gets exactly the "
			"files that it opens, in any order and by any number of "
			"processes: random_split, k-fold by index, DistributedSampler, "
			"sampling with replacement; the script shuffles.\n"
			"fresh: in each epoch another sample of the label, as often as "
			"possible one in the cache.\n"
			"auto: fixed if all prepared samples of the job fit into the "
			"cache when the job is added, otherwise fresh; the status of "
			"the job shows the choice, which stays as long as the job's "
			"state."},
	{SECTION_VIEW, "drop_last", &value_flag, .choices = no_yes, .preset = "no",
		JOB(drop_last),
		.help = "Whether the last file of batch or tar is left out if it would "
			"be shorter than the others."},
	{SECTION_VIEW, "json", &value_flag, .choices = no_yes, .preset = "no", JOB(json),
		.help = "Whether each sample has a .json beside it (flat, tar) with its "
			"label, class, source path and the columns of metadata.csv."},
	{SECTION_VIEW, "beside", &value_endings, .max = CONFIG_MOST_ENDINGS, JOB(beside),
		.preset_help = "none",
		.help = "Endings of files that each sample shows beside its image "
			"(flat, tar), byte for byte, such as txt json: files in the "
			"same directory, tar, zip or LMDB file whose names differ from "
			"that of the image only in the ending.\n"
			"If a sample has no such file, the file is empty; a manifest "
			"on a server has no such files; joaderfs-layouts(7) has the "
			"details."},
	{SECTION_VIEW, "text", &value_column, JOB(text), .preset_help = "none",
		.help = "A column of metadata.csv that is the .txt of each sample "
			"(flat, tar), such as captions; class and path are columns, "
			"too.\n"
			"If a sample has no text, the .txt is empty."},
	{SECTION_VIEW, "path", &value_text, .min = 1, .max = 180, JOB(path),
		.preset_help = "none",
		.help = "A path below data/ that leads to the job's running epoch, for "
			"instance resnet18/train: a script that looks for train and "
			"val in one directory gets data/resnet18.\n"
			"%name stands for the name of the job, so that copies of the "
			"ini have different paths."},
	{SECTION_VIEW, "io", &value_choice, .choices = ios, .preset = "auto", JOB(io),
		.help = "How reads go through the kernel.\n"
			"direct: the daemon answers each read, and the page cache is "
			"not used; files can be mapped shared, as by np.memmap, from "
			"Linux 6.6 on.\n"
			"cached: reads use the page cache; files can be mapped, and "
			"repeated reads of an explicit epoch come from there; not with "
			"layout = tar.\n"
			"auto: the kernel reads by itself where it can, which is the "
			"fastest; see joaderfs-readers(7). Otherwise direct; cached "
			"for batch before Linux 6.6."},
	{SECTION_VIEW, "size", &value_choice, .choices = sizes, .preset = "padded",
		JOB(size),
		.help = "Size of the files if images have several sizes.\n"
			"padded: all files are as large as the largest image; zeros "
			"follow smaller images.\n"
			"exact: 0 until the file is opened, then the size of its "
			"image; not for readers that ask for the size or map the file "
			"before they open it."},
	{SECTION_VIEW, "extension", &value_extension, .min = 1, .max = 16, JOB(extension),
		.preset_help = "the name of the format; jpg for source",
		.help = "Ending of the files, for scripts that list only certain "
			"endings.\n"
			"Not cls, the ending of the labels."},
	{SECTION_VIEW, "lookahead", &value_reads, .min = 1, .max = 65536,
		.preset = "auto", JOB(lookahead),
		.help = "Number of samples drawn and prepared ahead of the reader.\n"
			"auto: 128, or twice the number of files that the job's "
			"storage reads at once if that is more (reads in [joaderfs]).\n"
			"The number is lower if the samples of all jobs would take "
			"more than half of the cache.\n"
			"With layout = batch, auto is at least two batches; with "
			"sampler = dsa, it draws along with other jobs up to one "
			"batch, however small the cache is.\n"
			"Nothing is prepared ahead where a file's name determines more "
			"than its position (layout = classes or mirror, order = "
			"sequential): there several workers have to read."},
};

const size_t config_n_job_options =
	sizeof(config_job_options) / sizeof(config_job_options[0]);
