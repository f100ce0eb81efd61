# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Dataset: a job's samples by index; and the code that makes a sample from a file."""

from __future__ import annotations

import os
import warnings
from typing import Any, Callable, Iterator

import numpy

from ._files import Parser, Place, map_file, read_file
from ._ranks import worker

OUTPUTS = ("numpy", "torch", "pil")


class Samples:
    """The base of Dataset and IterableDataset."""

    def __init__(self, path: str | os.PathLike[str], *, epoch: int | None = None,
                 output: str = "numpy", transform: Callable[[Any], Any] | None = None,
                 target_transform: Callable[[Any], Any] | None = None,
                 pin_memory: bool = False):
        if output not in OUTPUTS:
            raise ValueError(f'output: found "{output}", allowed: {", ".join(OUTPUTS)}')
        self._place = Place(path)
        self._parser = Parser(self._place.ini, self._place.pair)
        self._second = Parser(self._place.pair.ini) if self._place.pair else None
        self._numbers = {name: i for i, name in enumerate(self._place.classes)}
        self.epoch = epoch
        self.output = output
        self.transform = transform
        self.target_transform = target_transform
        self._pinned = pin_memory and _can_pin()

    @property
    def layout(self) -> str:
        """The job's layout: flat, classes, mirror, tar or batch."""
        return self._place.layout

    @property
    def classes(self) -> list[str]:
        """The names of the labels; classes[i] is the name of label i."""
        return list(self._numbers)

    @property
    def directory(self) -> str:
        """The directory of the epoch `epoch`; epoch None: of the running epoch."""
        return (self._place.directory if self.epoch is None else self._place.epoch(self.epoch))

    def _read(self, directory: str, name: bytes) -> tuple[Any, Any]:
        path = os.path.join(os.fsencode(directory), name)
        read = map_file if self.layout == "batch" and not self._pins() else read_file
        image, label = self._parser.parse(read(path, self._room), path)
        if self._place.pair and not isinstance(image, tuple):
            behind = os.path.splitext(path)[0] + self._place.pair.ending
            image = image, self._second.parse(read(behind, self._room), behind)[0]
        if label is None:
            label = self._label(directory, name)
        return self._finish(image, label)

    def _finish(self, image: Any, label: Any) -> tuple[Any, Any]:
        """Converts and transforms a sample. image: an array, or a tuple of two for pairs."""
        if isinstance(image, tuple):
            image = (self._converted(image[0], self._place.ini),
                     self._converted(image[1], self._place.pair.ini))
        else:
            image = self._converted(image, self._place.ini)
        if self.layout == "batch" and self.output == "torch":
            import torch
            label = torch.from_numpy(label)
        if self.transform:
            image = self.transform(image)
        if self.target_transform:
            label = self.target_transform(label)
        return image, label

    def _label(self, directory: str, name: bytes) -> Any:
        """Reads the label of a file, which may differ from epoch to epoch."""
        path = os.path.join(os.fsencode(directory), name)
        if self.layout == "batch":
            return numpy.load(path.removesuffix(b".npy") + b".labels.npy")
        if self.layout == "flat":
            with open(os.path.splitext(path)[0] + b".cls", "rb") as file:
                return int(file.read())
        return self._class_of(name)

    def _class_of(self, name: bytes) -> int:
        above = os.fsdecode(os.path.dirname(name))
        return self._numbers.get(above, self._numbers.get(above.split("/")[0], -1))

    def _converted(self, image: numpy.ndarray, ini: dict[str, str]) -> Any:
        if self.output == "numpy":
            return image
        if self.output == "pil":
            from PIL import Image
            if image.ndim == 4:  # frames
                return [self._converted(frame, ini) for frame in image]
            return Image.fromarray(image[..., 0] if image.shape[-1] == 1 else image)
        import torch
        if self._place.pair:  # the arrays of a record may be unaligned, which torch refuses
            image = numpy.require(image, requirements=("C", "A", "W"))
        tensor = torch.from_numpy(image)
        if ini.get("axes") == "CHW" and ini.get("format") != "ppm":
            return tensor
        return tensor.movedim(-1, -3) if tensor.shape[-1] == 3 else tensor

    def _pins(self) -> bool:
        """Tells whether this process pins memory. Workers have no CUDA, so they don't."""
        return self._pinned and worker() is None

    def _room(self, size: int) -> numpy.ndarray:
        if not self._pins():
            return numpy.empty(size, numpy.uint8)
        import torch
        return torch.empty(size, dtype=torch.uint8, pin_memory=True).numpy()


class Dataset(Samples):
    """A job's samples by index, for a DataLoader that shuffles or has a sampler.

    path        a job's directory, an epoch of it, a link to it as data/resnet50/train, or a copy
    epoch       the number of an epoch; None: always the running epoch
    output      "numpy": arrays as they are in the files; "torch": tensors, with channels first;
                "pil": images of Pillow, for torchvision's transforms
    transform, target_transform   functions that are called with each image, and with each label
    pin_memory  reads into pinned memory if there is CUDA. It has no effect in the workers of a
                DataLoader: use DataLoader(pin_memory=True)

    With layout = batch an item is a batch. Its array is the mapped file, so its pixels are not
    copied. Workers of a DataLoader would copy them, and are not needed.

    If the job has a section [tensor mask], samples are pairs: the image is a tuple of both, and
    transform gets the tuple. The frames of group = directory are one array; with "pil" they are a
    list.

    >>> import joaderfs
    >>> data = joaderfs.Dataset("jobs/classes", output="pil")
    >>> len(data), data[3][0].size
    (24, (32, 32))
    >>> data.labels.tolist()[:10]
    [0, 0, 0, 0, 0, 0, 0, 0, 1, 1]
    >>> images, labels = joaderfs.Dataset("jobs/batch")[0]
    >>> images.shape, labels.shape
    ((8, 32, 32, 3), (8,))
    >>> (image, mask), label = joaderfs.Dataset("jobs/pairs")[0]
    >>> image.shape, mask.shape, mask.dtype
    ((24, 32, 3), (24, 32, 1), dtype('uint8'))
    >>> (images, masks), labels = joaderfs.Dataset("jobs/pairs-batch")[0]
    >>> images.shape, masks.shape
    ((4, 24, 32, 3), (4, 24, 32, 1))
    >>> [(image.size, mask.mode) for (image, mask), _ in joaderfs.IterableDataset("jobs/pairs-tar",
    ...                                                                           output="pil")][:2]
    [((32, 24), 'L'), ((32, 24), 'L')]
    """

    def __init__(self, path: str | os.PathLike[str], **how: Any):
        super().__init__(path, **how)
        if self.layout == "tar":
            raise ValueError("joaderfs.Dataset: found layout = tar, which is read in its order; "
                             "allowed: joaderfs.IterableDataset, or another layout")
        self.refresh()

    def refresh(self) -> None:
        """Lists the files again. Needed after `joaderctl dataset rescan`."""
        self._names = self._place.names()

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        return self._read(self.directory, self._names[index])

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return (self[i] for i in range(len(self)))

    @property
    def labels(self) -> numpy.ndarray:
        """The labels of all items, read without images. For jobs whose files keep their labels.

        >>> import joaderfs
        >>> joaderfs.Dataset("jobs/flat").labels
        Traceback (most recent call last):
        ValueError: labels: found labels = drawn, another one in each epoch; allowed: layout = classes or mirror, or labels = fixed
        """
        if self.layout in ("classes", "mirror"):
            return numpy.array([self._class_of(name) for name in self._names], numpy.int64)
        if self._place.job and self._place.ini.get("labels") != "fixed":
            raise ValueError("labels: found labels = drawn, another one in each epoch; allowed: "
                             "layout = classes or mirror, or labels = fixed")
        return numpy.array([self._label(self.directory, name) for name in self._names],
                           numpy.int64)


def _can_pin() -> bool:
    try:
        import torch
        if torch.cuda.is_available():
            return True
    except ImportError:
        pass
    warnings.warn("pin_memory: there is no torch with CUDA here, nothing is pinned", stacklevel=4)
    return False


def worker_init(number: int) -> None:
    """Seeds numpy and random differently in each worker and epoch. Keeps OpenCV from starting
    threads, because joaderfs has decoded the images. Use it as DataLoader(worker_init_fn=...).

    >>> import joaderfs
    >>> joaderfs.worker_init(0)
    """
    import random
    import sys
    torch = sys.modules.get("torch")
    seed = (torch.initial_seed() if torch else number) % 2 ** 32
    random.seed(seed)
    numpy.random.seed(seed)
    if "cv2" in sys.modules:
        sys.modules["cv2"].setNumThreads(0)
