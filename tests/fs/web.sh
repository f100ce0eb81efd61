# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
# shellcheck shell=bash
#
# Servers on the loopback. Sourced after lib.sh.

# free_port: prints a port on which no process listens
free_port() {
	"$PYTHON" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# answers PORT: waits until a process listens on the port, ten seconds at most
answers() {
	local _
	for _ in $(seq 200); do
		if (: <"/dev/tcp/127.0.0.1/$1") 2>/dev/null; then return; fi
		sleep 0.05
	done
	fail "nobody answers at port $1"
}

# web_start DIRECTORY: starts nginx, which serves the directory at $WEB and logs each request in
# $T/nginx/access
web_start() {
	local program port
	program=$(PATH=$PATH:/usr/sbin type -P nginx) || skip "no nginx on this system"
	port=${WEB_PORT:-$(free_port)}
	mkdir -p "$T/nginx"
	cat >"$T/nginx/nginx.conf" <<-END
		pid $T/nginx/pid;
		error_log $T/nginx/error;
		daemon off;
		worker_processes 2;
		events { worker_connections 512; }
		http {
			log_format plain '\$status \$request_method \$uri \$http_range \$connection';
			access_log $T/nginx/access plain;
			default_type application/octet-stream;
			client_body_temp_path $T/nginx/body;
			proxy_temp_path $T/nginx/proxy;
			fastcgi_temp_path $T/nginx/fastcgi;
			uwsgi_temp_path $T/nginx/uwsgi;
			scgi_temp_path $T/nginx/scgi;
			server {
				listen 127.0.0.1:$port;
				root "$1";
			}
		}
	END
	[[ $EUID != 0 ]] || sed -i '1i user root;' "$T/nginx/nginx.conf"
	"$program" -p "$T/nginx" -c "$T/nginx/nginx.conf" 2>>"$T/nginx/error" &
	WEB_PID=$!
	WEB_PORT=$port
	WEB=http://127.0.0.1:$port
	answers "$port"
}

web_stop() {
	kill -TERM "$WEB_PID"
	wait "$WEB_PID" || true
}

# requests [PATTERN]: prints the number of logged requests
requests() {
	grep -cE "${1:-.}" "$T/nginx/access" || true
}

# manifest [LABELS]: writes a manifest of the dataset in $D into $D
manifest() {
	(
		cd "$D"
		echo "path,label,bytes"
		find . -mindepth 2 -type f -printf '%P\n' | LC_ALL=C sort | while read -r path; do
			echo "$path,${path%%/*},$(stat -c %s "$path")"
		done
	)
}

# no_warnings: checks the log. A slow answer of the server is no fault of the daemon.
no_warnings() {
	! grep 'warning:' "$LOG" | grep -v 'the storage does not answer' ||
		fail "warnings: $(cat "$LOG")"
}
