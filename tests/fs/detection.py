# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""detection.py make DIR: makes one set of images with boxes, in the forms of several trainers.
detection.py read SOURCE MOUNTED SIDE: opens files as yolov5's trainer, torchvision's CocoDetection
and VOCDetection do, in both trees, and compares the results: equal targets, and images whose
longer side is SIDE, with Pillow's pixels."""

import glob
import json
import os
import sys
import xml.etree.ElementTree

import numpy
from PIL import Image

ENDINGS = {"bmp", "dng", "jpeg", "jpg", "mpo", "png", "tif", "tiff", "webp", "pfm"}


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)


def make(top):
    rng = numpy.random.default_rng(5)
    known = {"images": [], "annotations": [], "categories": [{"id": 1, "name": "thing"}]}
    os.makedirs(f"{top}/images/train")
    os.makedirs(f"{top}/JPEGImages")
    for i in range(8):
        width, height = (90, 60) if i % 3 else (50, 80)
        noise = rng.integers(0, 256, (6, 8, 3), dtype=numpy.uint8)
        image = Image.fromarray(noise).resize((width, height), Image.Resampling.BILINEAR)
        image.save(f"{top}/images/train/{i:06d}.jpg")
        image.save(f"{top}/JPEGImages/{i:06d}.jpg")
        box = [int(x) for x in rng.integers(1, 20, 4)]
        if i != 3:  # an image without boxes has no file of boxes
            write(f"{top}/labels/train/{i:06d}.txt", "0 0.5 0.5 0.25 %f\n" % (i / 10))
        known["images"].append({"id": i, "file_name": f"{i:06d}.jpg"})
        known["annotations"].append({"id": i, "image_id": i, "bbox": box})
        write(f"{top}/Annotations/{i:06d}.xml",
              f"<annotation><filename>{i:06d}.jpg</filename><x>{box[0]}</x></annotation>")
    write(f"{top}/annotations/instances.json", json.dumps(known) + " " * 3000000)
    write(f"{top}/ImageSets/Main/train.txt", "".join(f"{i:06d}\n" for i in range(0, 8, 2)))
    write(f"{top}/empty.csv", "")
    write(f"{top}/.hidden", "not shown")


def yolo(top):
    files = glob.glob(f"{top}/images/train/**/*.*", recursive=True)
    for image in sorted(x for x in files if x.rsplit(".", 1)[-1].lower() in ENDINGS):
        before, after = image.rsplit("/images/", 1)
        label = f"{before}/labels/{after}".rsplit(".", 1)[0] + ".txt"
        boxes = None
        if os.path.isfile(label):
            with open(label) as file:
                boxes = [x.split() for x in file.read().strip().splitlines()]
        yield image, boxes


def coco(top):
    with open(f"{top}/annotations/instances.json") as file:
        known = json.load(file)
    for image in sorted(known["images"], key=lambda x: x["id"]):
        boxes = [x for x in known["annotations"] if x["image_id"] == image["id"]]
        yield os.path.join(top, "images/train", image["file_name"]), boxes


def voc(top):
    with open(os.path.join(top, "ImageSets", "Main", "train.txt")) as file:
        names = [x.strip() for x in file.readlines()]
    for name in names:
        tree = xml.etree.ElementTree.parse(f"{top}/Annotations/{name}.xml").getroot()
        yield os.path.join(top, "JPEGImages", name + ".jpg"), tree.find("x").text


def read(source, mounted, side):
    for program in yolo, coco, voc:
        expected, found = list(program(source)), list(program(mounted))
        assert len(expected) == len(found) > 3, program
        for (original, boxes), (shown, got) in zip(expected, found):
            assert boxes == got, (shown, boxes, got)
            assert shown[len(mounted):] == original[len(source):], shown
            image = Image.open(original).convert("RGB")
            size = tuple(round(x * side / max(image.size)) for x in image.size)
            resized = image.resize(size, Image.Resampling.BILINEAR)
            assert numpy.array_equal(Image.open(shown).convert("RGB"), resized), shown


if sys.argv[1] == "make":
    make(sys.argv[2])
else:
    read(sys.argv[2], sys.argv[3], int(sys.argv[4]))
