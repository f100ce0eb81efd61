#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# bash, zsh and fish complete commands, options, keys and their choices, and names that the daemon
# knows.
# beside: it waits for shells
. "$(dirname "$0")/lib.sh"
dataset 2 4
job resnet tensor.crop=32
job vit tensor.crop=32
start
export JOADERFS_SOCKET=$T/socket PATH=$BUILD:$PATH HOME=$T
files=$T/completions
mkdir "$files"
for program in joaderctl joaderfs joader-sim; do
	for shell in bash zsh fish; do
		"$ROOT/tools/package/completions" "$BUILD" "$program" "$shell" >"$files/$program.$shell"
	done
done
touch "$T/some.ini"
cd "$T" || exit

# Each of these functions prints the offers of a shell for the last word, one on each line.
in_bash() { # WORD...
	# shellcheck disable=SC2016 # for the inner bash
	bash -c '. "$1"; shift
		# as readline has it: = is a word
		for word; do
			while [[ $word == ?*=* ]]; do
				COMP_WORDS+=("${word%%=*}" =)
				word=${word#*=}
				[[ $word ]] || continue 2
			done
			COMP_WORDS+=("$word")
		done
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
		"_${1//-/_}"; printf "%s\n" "${COMPREPLY[@]}"' - "$files/$1.bash" "$@"
}
in_fish() {
	# shellcheck disable=SC2016 # for fish
	fish --no-config -c 'source $argv[1]; complete -C "$argv[2]"' "$files/$1.fish" "$*" | cut -f1
}
# zsh completes only in its own terminal, so the offers are printed there.
in_zsh() {
	zsh -f "$FS/complete.zsh" "$files/$1.zsh" "$*"
}

# offers SHELL WORD... -- OFFERED...: checks the offers; words that begin with - need not be listed
offers() {
	local shell=$1 line=() word
	shift
	while [[ $1 != --- ]]; do
		line+=("$1")
		shift
	done
	shift
	"in_$shell" "${line[@]}" >"$T/offered" 2>"$T/complaints" || true
	[[ ! -s $T/complaints ]] || fail "$shell on '${line[*]}': $(cat "$T/complaints")"
	for word; do
		grep -qxF -e "$word" "$T/offered" ||
			fail "$shell on '${line[*]}' does not offer '$word': $(xargs <"$T/offered")"
	done
}
not_offered() {
	! grep -qxF -e "$1" "$T/offered" || fail "it offers $1, too"
}

shells=(bash)
for shell in zsh fish; do
	if command -v "$shell" >/dev/null; then shells+=("$shell"); else echo "no $shell here"; fi
done
mapfile -t commands < <("$BUILD/joaderctl" --help | sed -nE 's/^  ([a-z]+).*/\1/p')
((${#commands[@]} > 15)) || fail "few commands: ${commands[*]}"
for shell in "${shells[@]}"; do
	offers "$shell" joaderctl '' --- "${commands[@]}"
	offers "$shell" joaderctl -- --- --socket --help --version
	offers "$shell" joaderctl add -- --- --import --name --set --help
	not_offered --keep
	offers "$shell" joaderctl run -- --- --keep --name
	offers "$shell" joaderctl -s x export -- --- --help
	not_offered --import
	offers "$shell" joaderctl rm '' --- resnet vit
	offers "$shell" joaderctl status v --- vit
	offers "$shell" joaderctl datasets '' --- images
	offers "$shell" joaderctl dataset '' --- ls add rm rescan
	offers "$shell" joaderctl add some --- some.ini
	offers "$shell" joaderfs some --- some.ini
	offers "$shell" joaderfs -- --- --try --fault --no-supervisor
	not_offered --engine
	offers "$shell" joader-sim -- --- --svg --order --cache
done
offers bash joaderctl add --set tensor.f --- tensor.format=
offers bash joaderctl add --set tensor.format= --- ppm bmp png npy raw source
offers bash joaderctl add --set view.layout=c --- classes
offers bash joaderctl add --set view.layout=classes so --- some.ini
offers bash joaderctl mount -o '' --- allow_other
offers bash joaderctl run some.ini -- ec --- echo
[[ ${shells[*]} != *fish* ]] || offers fish joaderctl add --set view.layout= --- view.layout=classes view.layout=flat
[[ ${shells[*]} != *zsh* ]] || offers zsh joaderctl add --set tensor.f --- tensor.format
