# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The joaderfs authors
"""Lets a prometheus of this test scrape the daemon, and checks that each query of the dashboard
has an answer."""
import json, os, re, signal, socket, subprocess, sys, time, urllib.error, urllib.parse, urllib.request

dashboard, port, directory, mount = sys.argv[1:]
os.mkdir(directory)
example = open(os.path.dirname(dashboard) + "/prometheus.yml").read()
with open(directory + "/prometheus.yml", "w") as config:
    assert "scrape_interval: 5s" in example and "127.0.0.1:9101" in example, example
    config.write(example.replace("scrape_interval: 5s", "scrape_interval: 500ms\n    scrape_timeout: 500ms")
                 .replace("127.0.0.1:9101", f"127.0.0.1:{port}"))
dashboard = json.load(open(dashboard))
with socket.socket() as free:
    free.bind(("127.0.0.1", 0))
    own = free.getsockname()[1]
log = open(directory + "/log", "w")
prometheus = subprocess.Popen(
    ["prometheus", f"--config.file={directory}/prometheus.yml",
     f"--storage.tsdb.path={directory}/data", f"--web.listen-address=127.0.0.1:{own}"],
    stdout=log, stderr=log)


def ask(path, **arguments):
    url = f"http://127.0.0.1:{own}/api/v1/{path}?" + urllib.parse.urlencode(arguments)
    try:
        with urllib.request.urlopen(url, timeout=30) as answer:
            return json.load(answer)["data"]
    except urllib.error.HTTPError as error:
        if error.code == 503:  # prometheus is not ready yet
            raise
        sys.exit(f"{arguments}: {error.read().decode()}")


def until(what, holds):
    for _ in range(600):
        assert prometheus.poll() is None, open(directory + "/log").read()
        try:
            if holds():
                return
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            pass
        time.sleep(0.1)
    sys.exit(f"never: {what}\n" + open(directory + "/log").read()[-3000:])


def read(job, epoch, positions):
    for position in positions:
        with open(f"{mount}/jobs/{job}/epoch-{epoch:04}/{position:08}.ppm", "rb") as file:
            file.read()


def fill_in(query):
    for name, value in (("$__rate_interval", "1m"), ("$instance", ".*"), ("$dataset", ".*"), ("$job", ".*")):
        query = query.replace(name, value)
    assert "$" not in query, query
    return query


def is_up():
    targets = ask("targets")["activeTargets"]
    error = targets[0]["lastError"] if targets else ""
    assert not error or "refused" in error or "deadline" in error, error
    return targets and targets[0]["health"] == "up"


try:
    until("a scrape", is_up)
    read("fast", 0, range(24))
    read("slow", 0, range(24))
    read("fast", 1, range(12))
    names = set(ask("label/__name__/values"))
    kinds = ask("metadata")
    for panel in dashboard["panels"]:
        assert panel["datasource"]["uid"] == "${datasource}", panel["title"]
        for target in panel["targets"]:
            query = fill_in(target["expr"])
            for name in re.findall(r"joaderfs_\w+", query):
                assert name in names, f"{panel['title']}: no metric {name}"
            asks = lambda: bool(ask("query", query=query)["result"])
            if target["expr"].startswith("joaderfs_job_epoch_left"):
                asks()  # some queries have no answer while no epoch runs
            else:
                until(f"{panel['title']}: an answer to {query}", asks)
            for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                for series in ask("query", query=query)["result"]:
                    assert label in series["metric"], f"{panel['title']}: {label} of {series['metric']}"
    for variable in dashboard["templating"]["list"]:
        if variable["type"] != "query":
            continue
        name, label = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["definition"]).groups()
        found = {series[label] for series in ask("series", **{"match[]": fill_in(name)})}
        assert found >= {"job": {"fast", "slow"}, "dataset": {"images"},
                         "instance": {f"127.0.0.1:{port}"}}[variable["name"]], (variable, found)
    units = [name for name, [kind] in kinds.items() if name.startswith("joaderfs_") and kind["unit"]]
    assert "joaderfs_open_latency_seconds" in units, units  # it was scraped as OpenMetrics
finally:
    prometheus.send_signal(signal.SIGTERM)
    prometheus.wait(60)
print("dashboard: every query is answered")
