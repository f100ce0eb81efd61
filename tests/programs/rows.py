# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Programs: how each one opens files, and what it makes of the originals."""

import csv
import dataclasses
import glob
import io
import os
import sys
import tarfile
from typing import Any, Callable

import numpy
from PIL import Image
from torchvision import datasets, transforms

from data import SOURCES

IMAGENET = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NORMALIZE = "0.485 0.456 0.406 / 0.229 0.224 0.225"


@dataclasses.dataclass
class Row:
    program: str
    how: str  # important keys, for the table
    set: str
    keys: dict[str, Any]
    read: Callable[[str, "Row"], Any]  # (path of the original, pixels, label) for each sample
    make: Callable[[Image.Image], Any]  # pixels that the program makes of an original
    sources: tuple[str, ...] = SOURCES
    only: str = ""  # the originals whose paths begin so
    then: Callable[[Image.Image], Any] = lambda image: image  # what the program itself does
    labelled: bool = True
    label: Callable[[dict[str, bytes], str], Any] = lambda files, path: class_of(files, path)

    truth: Any = None  # the originals, for programs that compare more than one file

    def expected(self, files):
        made = {}
        for path, content in files.items():
            if path.startswith(self.only) and path.endswith((".jpg", ".png", ".tiff")):
                with Image.open(io.BytesIO(content)) as image:
                    made[path] = (self.make(image),
                                  self.label(files, path) if self.labelled else None)
        return made


def class_of(files, path):
    return sorted({path.split("/")[0] for path in files}).index(path.split("/")[0])


def caption_of(files, path):
    """The bytes of the caption, and the known facts about the image."""
    stem = os.path.splitext(path)[0]
    return files[f"{stem}.txt"], files[f"{stem}.json"]


def row_of(files, path):
    rows = csv.DictReader(io.StringIO(files["metadata.csv"].decode(), newline=""))
    return next(row for row in rows if row["file_name"] == path)


def text_of(files, path):
    return row_of(files, path)["caption"].encode()


def numbers_of(files, path):
    row = row_of(files, path)
    return [float(numpy.float32(row[column])) for column in ("age", "metres")]


def same(expected, have):
    expected, have = numpy.asarray(expected), numpy.asarray(have)
    return (expected.shape == have.shape and expected.dtype == have.dtype
            and numpy.array_equal(expected, have))


def check_comparison():
    """Checks that one changed number is noticed."""
    one = numpy.zeros((4, 5, 3), numpy.float32)
    other = one.copy()
    other[3, 4, 2] = 1e-7
    if not same(one, one.copy()) or same(one, other) or same(one, one.astype(numpy.float16)):
        sys.exit("run: does not notice a changed number")


def order(job):
    """{position: (label, path of the original)}"""
    with open(os.path.join(job, "epoch-0000.order"), encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    return {int(line[0]): (int(line[2]), line[4]) for line in lines}


def number(path):
    return int(os.path.basename(path)[:8])


# --- how programs read ------------------------------------------------------------------------


def image_folder(job, row):
    """imagenet/main.py, timm, Lightning: torchvision's ImageFolder of a directory of classes."""
    folder = datasets.ImageFolder(os.path.join(job, "epoch-0000"), row.then)
    samples = [folder[i] for i in range(len(folder))]
    taken = order(job)  # positions go from class to class, as names do
    for position, (pixels, label) in enumerate(samples):
        yield taken[position][1], pixels, label


def arrays(job, row):
    """An own Dataset: numpy.load, and the label in the file beside it."""
    paths = sorted(glob.glob(os.path.join(job, "epoch-0000", "*.npy")))
    loaded = []
    for path in paths:
        with open(path[:-3] + "cls", encoding="ascii") as file:
            loaded.append((number(path), numpy.load(path), int(file.read())))
    taken = order(job)
    for position, pixels, label in loaded:
        yield taken[position][1], row.then(pixels), label


def records(job, _):
    loaded = [(number(path), numpy.load(path))
              for path in sorted(glob.glob(os.path.join(job, "epoch-0000", "*.npy")))]
    taken = order(job)
    for position, record in loaded:
        yield taken[position][1], record["image"], label_of(record["label"])


def batches(job, _):
    paths = sorted(glob.glob(os.path.join(job, "epoch-0000", "batch-*.npy")))
    images = [numpy.load(path) for path in paths if "labels" not in path]
    labels = [numpy.load(path) for path in paths if "labels" in path]
    taken = order(job)
    both = zip(numpy.concatenate(images), numpy.concatenate(labels))
    for position, (pixels, label) in enumerate(both):
        yield taken[position][1], pixels, label_of(label)


def label_of(label):
    """The number of a class, or a vector of float32."""
    return int(label) if label.dtype == numpy.int64 else [float(number) for number in label]


def shards(job):
    """webdataset: consecutive members with one stem are a sample."""
    for path in sorted(glob.glob(os.path.join(job, "epoch-0000", "*.tar"))):
        sample = {}
        with tarfile.open(path) as tar:
            for member in tar:
                stem, ending = os.path.basename(member.name).split(".", 1)
                if sample and sample["__key__"] != stem:
                    yield sample
                    sample = {}
                sample["__key__"] = stem
                sample[ending] = tar.extractfile(member).read()
        yield sample


def web_dataset(job, row):
    loaded = list(shards(job))
    taken = order(job)
    for sample in loaded:
        with Image.open(io.BytesIO(sample["ppm"])) as image:
            yield taken[number(sample["__key__"])][1], row.then(image), int(sample["cls"])


def captions(job, row):
    """open_clip: image and text with one stem; a sample without one of them is dropped."""
    loaded = [sample for sample in shards(job) if "ppm" in sample and "txt" in sample]
    taken = order(job)
    for sample in loaded:
        with Image.open(io.BytesIO(sample["ppm"])) as image:
            text = sample["txt"]
            yield (taken[number(sample["__key__"])][1], row.then(image),
                   (text, sample["json"]) if "json" in sample else text)


def caption_files(job, row):
    """An own Dataset: the caption is in a file beside the image."""
    paths = sorted(glob.glob(os.path.join(job, "epoch-0000", "*.ppm")))
    loaded = []
    for path in paths:
        with Image.open(path) as image, open(path[:-3] + "txt", "rb") as text, \
                open(path[:-3] + "json", "rb") as about:
            loaded.append((number(path), row.then(image), (text.read(), about.read())))
    taken = order(job)
    for position, pixels, label in loaded:
        yield taken[position][1], pixels, label


def by_names(job, row):
    """Pytorch-UNet, torchvision's references, VOC: images and masks, each under its own name."""
    root = os.path.join(job, "epoch-0000")
    for path in sorted(glob.glob(os.path.join(root, "images", "*.jpg"))):
        stem = os.path.splitext(os.path.basename(path))[0]
        for name in (f"images/{stem}.jpg", f"masks/{stem}.png"):
            with Image.open(os.path.join(root, name)) as image:
                yield name, row.then(image), None


def both(job, row):
    """A Dataset of pairs: an array and its mask, in two files or in one record. The mask is
    compared here, pixel by pixel, with that of the original with the same stem."""
    loaded = []
    for path in sorted(glob.glob(os.path.join(job, "epoch-0000", "*[0-9].npy"))):
        array = numpy.load(path)
        loaded.append((array["image"], array["mask"]) if array.dtype.names
                      else (array, numpy.load(f"{path[:-3]}mask.npy")))
    taken = order(job)
    for position, (image, mask) in enumerate(loaded):
        path = taken[position][1]
        stem = os.path.splitext(os.path.basename(path))[0]
        with Image.open(io.BytesIO(row.truth[f"masks/{stem}.png"])) as original:
            if not same(small_mask(original)[..., None], mask):
                image = None
        yield path, image, None


def videos(job, row):
    """A Dataset of clips, whose frames are compared one by one."""
    loaded = [(number(path), numpy.load(path))
              for path in sorted(glob.glob(os.path.join(job, "epoch-0000", "*.npy")))]
    taken = order(job)
    for position, frames in loaded:
        label, path = taken[position]
        clip = os.path.dirname(path)
        names = sorted((name for name in row.truth if os.path.dirname(name) == clip),
                       key=lambda name: int(os.path.basename(name)[:-4]))
        yield from ((name, frame, label) for name, frame in zip(names, frames, strict=True))


# --- what programs make of the originals ------------------------------------------------------


def rgb(image):
    return image.convert("RGB")


def evaluated(size, kind):
    """Resize, CenterCrop(224), ToTensor, Normalize, for an image or a prepared one."""
    resize = [transforms.Resize(size, kind)] if size else []
    transform = transforms.Compose([*resize, transforms.CenterCrop(224), transforms.ToTensor(),
                                    transforms.Normalize(*IMAGENET)])
    return lambda image: transform(rgb(image)).numpy()


BILINEAR, BICUBIC = transforms.InterpolationMode.BILINEAR, transforms.InterpolationMode.BICUBIC


def letterbox(image):
    ratio = 256 / max(image.size)
    image = rgb(image).resize([round(side * ratio) for side in image.size], 2)
    box = Image.new("RGB", (256, 256), (114, 114, 114))
    box.paste(image, ((256 - image.width) // 2, (256 - image.height) // 2))
    return numpy.asarray(box)


def deep(image):
    """Gray of 16 bits, bicubic, with one channel first, from 0 to 1."""
    pixels = numpy.asarray(image.resize((96, 80), 3)).clip(0, 65535).astype(numpy.float32)
    return pixels[None] / numpy.float32(65535)


def real(image):
    return numpy.asarray(image.resize((32, 32), 2))[..., None]


def small_mask(image):
    return numpy.asarray(image.resize((128, 96), 0))


def small_image(image):
    return numpy.asarray(rgb(image).resize((128, 96), 2))


def keys(**of_tensor):
    other = of_tensor.pop("other", {})
    return {**{f"tensor.{key}": value for key, value in of_tensor.items()}, **other}


MASK = {"tensor mask.from": "../masks/{stem}.png", "tensor mask.filter": "nearest",
        "tensor mask.channels": "keep"}
KEPT = {"channels": "keep", "format": "npy"}
ROWS = [
    Row("classification: imagenet/main.py", "classes, ppm, resize=256", "photos",
        keys(resize=256, other={"view.layout": "classes"}), image_folder,
        evaluated(256, BILINEAR), then=evaluated(None, BILINEAR)),
    Row("classification: timm, its own Dataset", "npy, bicubic, normalize", "photos",
        keys(resize=256, crop=224, filter="bicubic", format="npy", dtype="float32", axes="CHW",
             other={"augment.normalize": NORMALIZE}), arrays, evaluated(256, BICUBIC)),
    Row("classification: webdataset", "tar, ppm, resize=256", "photos",
        keys(resize=256, other={"view.layout": "tar", "view.shard": 5}), web_dataset,
        evaluated(256, BILINEAR), then=evaluated(None, BILINEAR)),
    Row("arrays: numpy.load of records", "record, resize=64x64", "photos",
        keys(resize="64x64", format="record"), records,
        lambda image: numpy.asarray(rgb(image).resize((64, 64), 2))),
    Row("arrays: numpy.load of batches", "batch, resize=64x64", "photos",
        keys(resize="64x64", other={"view.layout": "batch", "view.batch": 5}), batches,
        lambda image: numpy.asarray(rgb(image).resize((64, 64), 2))),
    Row("detection: letterbox of 256", "npy, resize=max:256, pad=square", "photos",
        keys(resize="max:256", pad="square", fill=114, format="npy"), arrays, letterbox),
    Row("segmentation: images and masks by names", "mirror, [tensor masks/*]", "street",
        keys(resize="128x96", other={"tensor masks/*.filter": "nearest",
                                     "tensor masks/*.channels": "keep",
                                     "view.layout": "mirror", "view.extension": "jpg"}),
        by_names, lambda image: small_mask(image) if image.mode == "P" else small_image(image),
        then=numpy.asarray, labelled=False),
    Row("medical: PNG of 16 bits", "npy, keep, bicubic, float32", "scans",
        keys(**KEPT, resize="96x80", filter="bicubic", dtype="float32", axes="CHW"),
        arrays, deep),
    Row("physics: TIFF of float32", "npy, keep, resize=32x32", "slices",
        keys(**KEPT, resize="32x32"), arrays, real),
    Row("captions: open_clip", "tar, beside = txt json", "captioned",
        keys(resize=224, filter="bicubic", crop=224,
             other={"view.layout": "tar", "view.shard": 5, "view.beside": "txt json"}),
        captions, evaluated(224, BICUBIC), then=evaluated(None, BICUBIC), label=caption_of),
    Row("captions: files beside images", "flat, beside = txt json", "captioned",
        keys(resize=224, filter="bicubic", crop=224, other={"view.beside": "txt json"}),
        caption_files, evaluated(224, BICUBIC), then=evaluated(None, BICUBIC),
        label=caption_of),
    Row("captions: one file for all, open_clip", "tar, text = caption", "captioned",
        keys(resize=224, filter="bicubic", crop=224,
             other={"view.layout": "tar", "view.shard": 5, "view.text": "caption"}),
        captions, evaluated(224, BICUBIC), then=evaluated(None, BICUBIC), label=text_of),
    Row("regression: numpy.load of records", "record, labels = columns: ...", "captioned",
        keys(resize="64x64", format="record",
             other={"view.labels": "columns: age metres"}), records,
        lambda image: numpy.asarray(rgb(image).resize((64, 64), 2)), label=numbers_of),
    Row("several labels: numpy.load of batches", "batch, labels = columns: ...", "captioned",
        keys(resize="64x64", other={"view.layout": "batch", "view.batch": 4,
                                    "view.labels": "columns: age metres"}), batches,
        lambda image: numpy.asarray(rgb(image).resize((64, 64), 2)), label=numbers_of),
    Row("video: clips of three frames", "npy, group = directory", "clips",
        keys(group="directory", frames=3, resize="64x48", filter="bicubic"), videos,
        lambda image: numpy.asarray(rgb(image).resize((64, 48), 3))),
    Row("segmentation: image and mask, one sample", "npy, [tensor mask]", "street",
        keys(resize="128x96", format="npy", other=MASK), both, small_image, only="images",
        labelled=False),
    Row("segmentation: a record with its mask", "record, [tensor mask]", "street",
        keys(resize="128x96", format="record", other=MASK), both, small_image, only="images",
        labelled=False),
]
