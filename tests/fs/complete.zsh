# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
#
# complete.zsh FILE LINE: what zsh with the completion FILE offers at the end of LINE, a word
# a line. zsh completes in a terminal only: a second zsh has one (zpty), and writes into a file
# what it would show.

zmodload zsh/zpty
here=$(mktemp -d)
cat >$here/setup <<END
autoload -Uz compinit
compinit -C -d \$HOME/.zcompdump
source ${1:q} >/dev/null 2>&1
compdef _${1:t:r} ${1:t:r}
LISTMAX=10000
finish() {
	zle complete-word
	: >$here/done
}
zle -N finish
bindkey '^I' finish
compadd() {
	local -a matches
	# calls that only ask which words match
	if [[ \${@[1,(i)(-|--)]} != *-(O|A|D)\ * ]]; then
		builtin compadd -O matches "\$@"
		print -rl -- \$matches >>$here/offered
	fi
	builtin compadd "\$@"
}
END
touch $here/offered
zpty z zsh -f -i
zpty -w z "stty -echo; source $here/setup; print be''gun"
zpty -r -m z line '*begun*'
zpty -w -n z "$2"$'\t'
until [[ -e $here/done ]]; do
	sleep 0.02
done
zpty -d z
sort -u $here/offered
rm -r $here
