#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# The examples of joaderctl(1) work as printed, with the inis in config/: each command after "$ " is
# run, and must print the output on the page. The mount is ~/joader there.
. "$(dirname "$0")/lib.sh"
dataset 3 20
{
	config joaderfs.cache=1G
	sed -i 's/images/flowers/' "$T/joaderfs.ini"
	printf '[dataset %s]\npath = %s\n' flowers-val "$D" sketches "$D" street "$T/street" >>"$T/joaderfs.ini"
}
"$PYTHON" - "$T/street" <<'EOF'
import os
import sys

from PIL import Image

for name, mode, ending in ("images", "RGB", "jpg"), ("masks", "P", "png"):
    os.makedirs(os.path.join(sys.argv[1], name))
    for i in range(4):
        image = Image.linear_gradient("L").rotate(90 * i).resize((64, 48)).convert(mode)
        image.save(os.path.join(sys.argv[1], name, f"{i:04}.{ending}"))
EOF
start
cp "$ROOT"/config/*.ini "$T"
cd "$T" || exit
mkdir bin
ln -s "$BUILD/joaderctl" bin/joaderctl
ln -s "$M" joader
export PATH=$T/bin:$PATH HOME=$T JOADERFS_SOCKET=$T/socket LC_ALL=C

# The examples between .Bd and .Ed, except those that need root.
commands=() printed=()
while IFS= read -r line; do
	line=${line//\\e/\\}
	case $line in
	'$ '*) commands+=("${line#'$ '}") printed+=("") ;;
	'> '*) commands[-1]+=$'\n'${line#'> '} ;;
	*) printed[-1]+=$line$'\n' ;;
	esac
done < <(sed -n '/^\.Sh EXAMPLES/,/^\.Sh SEE/{/^\.Bd/,/^\.Ed/{/^\.[BE]d/d;p}}' "$ROOT/man/joaderctl.1.in" |
	sed '/^# /,/^\$ /{/^\$ /!d}')
((${#commands[@]} >= 5)) || fail "only ${#commands[@]} commands in the page"

ls() { command ls -C -w 80 "$@"; }
for i in "${!commands[@]}"; do
	eval "${commands[i]}" >out 2>&1 || fail "$ ${commands[i]}"$'\n'"failed: $(<out)"
	equal "$ ${commands[i]}"$'\n' "$(<out)" "${printed[i]%$'\n'}"
done
equal "jobs" "$(names "$M/jobs" | xargs)" \
	"fold0 fold0-val resnet18-lr0.1 resnet18-val resnet50-a resnet50-b resnet50-c"

# The two parts of the remaining fold have all samples, each once.
for name in fold0 fold0-val; do cat "$M/jobs/$name/current"/*/*.ppm >/dev/null; done
equal "samples of the fold" "$({ order fold0 && order fold0-val; } | cut -f5 | sort -u | wc -l)" 60
equal "twice" "$({ order fold0 && order fold0-val; } | cut -f5 | sort | uniq -d)" ""

# The examples in the comments of the inis.
joaderctl rm '*' >/dev/null
equal "left of jobs" "$(names "$T/state/jobs" | xargs)" ""
for ini in "$ROOT"/config/*.ini; do
	sed -n '/^#   joaderctl/,/^#*$/s/^# *//p' "$ini" >commands
	bash -e commands >out 2>&1 || fail "$ini: $(<commands)"$'\n'"$(<out)"
done
