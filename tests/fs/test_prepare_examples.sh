#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The examples of joaderfs-prepare(7) prepare sounds, texts, arrays, images, volumes and slices:
# jobs read the same result as the function gives in the reader's own process, and it fits the
# sample. So does a program in C with the header.
. "$(dirname "$0")/lib.sh"
HELPER=$ROOT/tools/prepare/joaderfs_prepare.py EXAMPLES=$ROOT/tools/prepare/examples
chmod 755 "$T"
kinds=(spectrogram tokens arrays pixels nifti)
if "$PYTHON" -c "import pydicom" 2>/dev/null; then
	kinds+=(dicom)
else
	echo "without DICOM: no python3-pydicom on this system"
fi

cat >"$T/check.py" <<'END'
import gzip, importlib.util, io, os, struct, sys, wave, numpy
what, kind, data, examples, view = (sys.argv + [None] * 5)[1:6]

def sine(frequency):
    out = io.BytesIO()
    with wave.open(out, "wb") as file:
        file.setnchannels(2), file.setsampwidth(2), file.setframerate(16000)
        sound = numpy.sin(numpy.arange(8000) * 2 * numpy.pi * frequency / 16000)
        file.writeframes(numpy.repeat((sound * 9999).astype("<i2"), 2).tobytes())
    return out.getvalue()

def saved(save, *args, **named):
    out = io.BytesIO()
    save(out, *args, **named)
    return out.getvalue()

def volume(i):
    head = bytearray(352)
    struct.pack_into("<i", head, 0, 348)
    struct.pack_into("<8h", head, 40, 3, 6, 5, 4, 1, 1, 1, 1)
    struct.pack_into("<h", head, 70, 4)
    struct.pack_into("<3f", head, 108, 352, 2, -i)
    head[344:348] = b"n+1\0"
    return bytes(head) + (numpy.arange(120, dtype="<i2") + i).tobytes()

def photo(i):
    from PIL import Image
    pixels = numpy.random.default_rng(i).integers(0, 255, (40 + i, 90, 3), numpy.uint8)
    return saved(lambda out: Image.fromarray(pixels).save(out, "png"))

def slice_(i):
    import pydicom
    from pydicom.dataset import FileDataset, FileMetaDataset
    meta = FileMetaDataset()
    meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    meta.MediaStorageSOPClassUID = pydicom.uid.CTImageStorage
    meta.MediaStorageSOPInstanceUID = "1.2.3.%d" % i
    file = FileDataset(None, {}, file_meta=meta, preamble=b"\0" * 128)
    file.is_little_endian, file.is_implicit_VR = True, False
    file.Rows = file.Columns = 64
    file.SamplesPerPixel, file.PhotometricInterpretation = 1, "MONOCHROME2"
    file.BitsAllocated = file.BitsStored = 16
    file.HighBit, file.PixelRepresentation = 15, 0
    file.RescaleSlope, file.RescaleIntercept = "2", "-1024"
    file.PixelData = (numpy.arange(4096, dtype="<u2") + i).tobytes()
    return saved(lambda out: pydicom.dcmwrite(out, file, write_like_original=False))

def table(i):
    return numpy.arange(24.0).reshape(4, 6) + i

MAKE = {  # by example: ending, bytes of the i-th sample, and facts about its array
    "spectrogram": (lambda i: ".wav", lambda i: sine(1000 + 500 * i),
        lambda i, a: a.shape == (1, 128, 80) and
        (a[0, :, :60].argmax(axis=0) == 16 + 8 * i).all()),
    "tokens": (lambda i: ".txt", lambda i: ("The dog runs, " + "and " * i + "Zebra!").encode(),
        lambda i, a: list(a[:4 + i]) == [18, 8, 14] + [4] * i + [1] and not a[4 + i:].any()),
    "arrays": (lambda i: (".npy", ".npz")[i % 2],
        lambda i: saved(numpy.savez, data=table(i)) if i % 2 else saved(numpy.save, table(i)),
        lambda i, a: (a == table(i)).all()),
    "pixels": (lambda i: ".png", photo, lambda i, a: a.shape == (64, 64, 3)),
    "nifti": (lambda i: (".nii", ".gz")[i % 2],
        lambda i: gzip.compress(volume(i)) if i % 2 else volume(i),
        lambda i, a: (a.ravel() == 2 * numpy.arange(120) + i).all()),
    "dicom": (lambda i: ".dcm", slice_,
        lambda i, a: (a.ravel() == 2 * (numpy.arange(4096) + i) - 1024).all()),
}
ending, make, known = MAKE[kind]
if what == "make":
    os.makedirs(data + "/class")
    for i in range(6):
        open("%s/class/%d%s" % (data, i, ending(i)), "wb").write(make(i))
else:
    spec = importlib.util.spec_from_file_location(kind, "%s/%s.py" % (examples, kind))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    for i in range(6):
        name = "class/%d%s" % (i, ending(i))
        path = "%s/%s" % (view, name)
        array = numpy.load(path if name.endswith(".npy") else path + ".npy")
        own = module.prepare(open("%s/%s" % (data, name), "rb").read(), name)
        assert array.dtype == own.dtype and array.shape == own.shape, (kind, array.dtype)
        assert (array == own).all(), (kind, i)
        assert known(i, array), (kind, i, array)
END

shape_of() { # as the example says it in its text
	sed -nE 's/.*shape = ([0-9 ]+), dtype = ([a-z0-9]+).*/shape = \1\ndtype = \2/p' \
		"$EXAMPLES/$1.py"
}
{
	printf '[joaderfs]\ncache = 64M\nstate = %s\njobs = jobs.d\nsocket = %s\n' \
		"$T/state" "$T/socket"
	for kind in "${kinds[@]}"; do
		"$PYTHON" "$T/check.py" make "$kind" "$T/data/$kind"
		printf '[dataset %s]\npath = %s\nextensions = *\n' "$kind" "$T/data/$kind"
		printf '[preparation %s]\ncommand = %s %s %s\nprocesses = 1\n' "$kind" "$PYTHON" \
			"$HELPER" "$EXAMPLES/$kind.py"
		shape_of "$kind"
		job "$kind" "job.dataset=$kind" "tensor.prepare=$kind" view.layout=mirror
	done
} >"$T/joaderfs.ini"

# a program with the header counts the bytes of a sample
cat >"$T/count.c" <<'END'
#include "joaderfs_prepare.h"

int main(void)
{
	struct joaderfs_sample sample = {0};
	joaderfs_ready();
	while (joaderfs_next(&sample)) {
		int64_t size = (int64_t)sample.size;
		if (strcmp(sample.name, "class/3.txt") == 0)
			joaderfs_error(&sample, "not the fourth one");
		else
			joaderfs_array(&sample, "<i8", "1,", &size, sizeof(size));
	}
	return 0;
}
END
gcc -Wall -Wextra -Werror -I"$ROOT/tools/prepare" -o "$T/count" "$T/count.c"
printf '[preparation count]\ncommand = %s\nshape = 1\ndtype = int64\n' "$T/count" \
	>>"$T/joaderfs.ini"
job count job.dataset=tokens tensor.prepare=count view.layout=mirror
start

for kind in "${kinds[@]}"; do
	"$PYTHON" "$T/check.py" check "$kind" "$T/data/$kind" "$EXAMPLES" "$(epoch "$kind")" ||
		fail "$kind"
done
for i in 0 1 2 4 5; do
	equal "bytes of $i.txt" "$(tail -c 8 "$(epoch count)/class/$i.txt.npy" | od -An -td8 | xargs)" \
		"$(stat -c %s "$T/data/tokens/class/$i.txt")"
done
! cat "$(epoch count)/class/3.txt.npy" 2>/dev/null || fail "an error in C is none"
grep -q "preparation count: not the fourth one" "$LOG" || fail "no word of it"
