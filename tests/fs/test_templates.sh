#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# [template NAME] of the daemon's ini: joaderctl add and run make jobs of it, with settings of their
# own, which outlast a restart. Mistakes in a template are reported when the daemon starts.
. "$(dirname "$0")/lib.sh"
dataset 2 4
config
cat >>"$T/joaderfs.ini" <<END
[template resnet]
job.dataset = images
tensor.resize = 40
tensor.crop = 32 ; as trained
view.layout = classes
view.path = %name/train
[template bare]
tensor.format = png
END
start

added() { # SAID ARGUMENT...
	local said=$1
	shift
	equal "joaderctl add $*" "$(ctl add "$@")" "$said"
}
key() { # JOB KEY
	sed -n "s/^$2 = //p" "$M/jobs/$1/job.ini"
}
added "added resnet" --template resnet
equal "crop of resnet" "$(key resnet crop)" 32x32
equal "bytes" "$(find "$M/data/resnet/train/" -name '*.ppm' -exec cat {} + | wc -c)" $((8 * (13 + 32 * 32 * 3)))
added "added a" --template resnet --name a --set tensor.crop=24
equal "crop of a" "$(key a crop)" 24x24
equal "resize of a" "$(key a resize)" 40
added "added b" --set tensor.crop=20 -t resnet -n b
equal "crop of b" "$(key b crop)" 20x20
added "resnet is there already" --template resnet
added "added bare" --template bare --set job.dataset=images
# shellcheck disable=SC2016
equal "what runs" "$(ctl run --template resnet --set view.path=x -- sh -c 'echo $JOADERFS_JOB; ls "$1"' - {} 2>/dev/null | xargs)" \
	"resnet-2 class0 class1"
equal "jobs" "$(names "$M/jobs" | xargs)" "a b bare resnet"
stop
start
equal "jobs after a restart" "$(names "$M/jobs" | xargs)" "a b bare resnet"
equal "crop of a after it" "$(key a crop)" 24x24

# A job that no known reader can read is added, with a warning.
ctl add --template bare --name odd --set job.dataset=images --set view.layout=classes \
	--set tensor.format=npy >"$T/said"
grep -qF "odd: no known reader of layout = classes reads .npy files" "$T/said" || fail "$(cat "$T/said")"
ctl rm odd >/dev/null

refuses() { # TEXT ARGUMENT...
	local text=$1
	shift
	! ctl add "$@" 2>"$T/err" || fail "it was added: $*"
	grep -qF -- "$text" "$T/err" || fail "it did not say '$text': $(cat "$T/err")"
}
refuses '--template: found "resnt", allowed: resnet, bare' --template resnt
refuses 'joaderfs.ini:[job]:dataset: found nothing' --template bare --name c
refuses 'joaderfs.ini:--set:[tensor]:crop: found "x"' --template resnet --set tensor.crop=x
refuses 'found a template and a file' --template resnet "$T/joaderfs.ini"
equal "jobs after that" "$(names "$M/jobs" | xargs)" "a b bare resnet"
stop

cp "$T/joaderfs.ini" "$T/good.ini"
mistake() { # TEXT LINE: of a template
	cp "$T/good.ini" "$T/joaderfs.ini"
	printf '[template bad]\n%s\n' "$2" >>"$T/joaderfs.ini"
	: >"$LOG"
	refused "$1"
}
line=$(($(wc -l <"$T/good.ini") + 2))
mistake "joaderfs.ini:$line:[tensor]:crop: found \"wide\", allowed: " "tensor.crop = wide"
mistake "joaderfs.ini:$line:[template bad]:tensor.cropp: found \"tensor.cropp\", allowed: SECTION.KEY, a key of a job's ini; did you mean \"tensor.crop\"?" "tensor.cropp = 3"
mistake "did you mean \"view.layout\"?" "layout = flat"
mistake "joaderfs.ini:$line:[view]:drop_last: " "view.drop_last = yes"
