#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# layout = mirror: the tree of the dataset under its own names, in every epoch; each file is the
# decoded source file of that name. `where` leaves out files, and directories that become empty.
. "$(dirname "$0")/lib.sh"
dataset 3 4
mkdir -p "$D/class1/deep/er"
cp "$D/class0/0001.jpg" "$D/class1/deep/er/x.jpg"
cp "$D/class0/0002.jpg" "$D/class1/deep/x.jpeg"
job a tensor.crop=32 view.layout=mirror job.epochs=2
job same view.layout=mirror view.extension=jpg tensor.format=bmp
job encoded view.layout=mirror tensor.format=source
job few tensor.crop=32 view.layout=mirror "job.where=path like '%x.jpg' or path = 'class2/0003.jpg'"
start

files() {
	(cd "$1" && find . -type f | sort)
}
equal "names" "$(files "$(epoch a)")" "$(files "$D" | sed 's/$/.ppm/')"
equal "names with the ending of the source" "$(files "$(epoch same)")" \
	"$(files "$D" | sed 's/jpeg$/jpeg.jpg/')"
equal "names of the files themselves" "$(files "$(epoch encoded)")" "$(files "$D")"
equal "those selected" "$(cd "$(epoch few)" && find . | sort | xargs)" \
	". ./class1 ./class1/deep ./class1/deep/er ./class1/deep/er/x.jpg.ppm ./class2 ./class2/0003.jpg.ppm"
equal "links" "$(stat -c %h "$(epoch few)" "$(epoch a)/class1" "$(epoch a)/class0" | xargs)" "4 3 2"
equal "decodes by find and stat" "$(counter decodes)" 0

diff -r "$(epoch encoded)" "$D" || fail "source: not the same tree"
"$PYTHON" - "$D" "$(epoch same)" "$(epoch a)" <<'PY'
import os, sys
from PIL import Image, ImageChops
source, same, epoch = sys.argv[1:]
n = 0
for top, _, names in os.walk(source):
    for name in names:
        path = os.path.join(top, name)
        relative = os.path.relpath(path, source)
        image = Image.open(path).convert("RGB")
        copy = os.path.join(same, relative + ("" if name.endswith(".jpg") else ".jpg"))
        shown = Image.open(copy)
        assert shown.size == image.size, relative
        assert ImageChops.difference(shown, image).getbbox() is None, relative
        assert os.stat(copy).st_size == len(open(copy, "rb").read()), relative
        left, upper = round((image.width - 32) / 2), round((image.height - 32) / 2)
        cut = image.crop((left, upper, left + 32, upper + 32))
        for e in "0000", "0001":
            shown = Image.open(os.path.join(epoch.replace("0000", e), relative + ".ppm"))
            assert ImageChops.difference(shown, cut).getbbox() is None, relative
        n += 1
assert n == 14, n
PY
nothing_held

# A name with the largest possible number of bytes: cp copies the file, with the extension.
cp "$D/class0/0003.jpg" "$D/class2/$(printf 'x%.0s' {1..251}).jpg"
stop
job long tensor.crop=32 view.layout=mirror "job.where=length(path) > 200"
start
cp -r "$(epoch long)" "$T/copy" || fail "cp -r"
equal "copies" "$(find "$T/copy" -name 'xxx*~????????????????.ppm' -size +0 | wc -l)" 1
