"""What a fleet of machines does to its cache and to the upstreams, and what its users see when one of them fails."""

import json
import re
import shutil
import statistics
import subprocess
import time

from harness import Row, daemon, faultless, replied
from machines import FACTS, FEEDS, HERE, Cache, Documents, configuration, machines, refresh, stored, wait_for_content

CONTENT_GOAL, REFRESH_GOAL = 120, 1024  # seconds, bytes
REFRESHES, PERMITTED = 4, 6  # refreshes of each machine in an outage; requests a minute that the template permits


def cold(folder, options):
    """cold machines: requests at the upstream, seconds, bytes of a refresh without news, a cache restarted empty"""
    count, name = options.machines, f"{options.machines} cold machines"
    documents = len(FACTS) + len(FEEDS)
    with Documents(facts=9_000, items=40, lifetime=3600) as upstream, Cache(folder / "nginx", upstream) as cache:
        begin = time.monotonic()
        with machines(folder, count, configuration(cache.url)) as servers:
            ready = time.monotonic() - begin
            wait_for_content(servers)
            taken, lines = time.monotonic() - begin, cache.lines()
            total = sum(upstream.requests.values())
            rows = [
                Row(f"{name}: requests at the upstream", str(total), goal=f"= {documents}, each document once",
                    met=total == documents and not upstream.each_once(), note=upstream.each_once()),
                Row(f"{name}: requests at the cache", f"{len(lines):,}"),
                Row(f"{name}: sent by the cache", f"{sum(line.sent for line in lines) / 1e6:,.0f} MB",
                    peer=f"{upstream.bytes / 1e6:.1f} MB"),
                Row(f"{name}: all are ready", f"{ready:.1f} s"),
                Row(f"{name}: all have everything", f"{taken:.1f} s", goal=f"<= {CONTENT_GOAL} s",
                    met=taken <= CONTENT_GOAL),
                Row(f"{name}: memory of a daemon",
                    f"{statistics.median(server.memory() for server in servers) / 1e6:.1f} MB")]

            upstream.requests.clear()
            refresh(servers)
            lines = cache.lines()
            moved, unchanged = [line.sent + line.received for line in lines], sum(line.status == 304 for line in lines)
            rows += [
                Row("refresh without news: bytes for a source and machine", f"{statistics.mean(moved):.0f} B",
                    goal=f"<= {REFRESH_GOAL} B", met=max(moved) <= REFRESH_GOAL and unchanged == len(lines),
                    note=f"{len(lines)} requests, {unchanged} with status 304, the largest {max(moved)} B"),
                Row("refresh without news: requests at the upstream", str(sum(upstream.requests.values())), goal="= 0",
                    met=not upstream.requests)]

            cache.stop()
            shutil.rmtree(folder / "nginx/copies")
            upstream.requests.clear()
            cache.start()
            refresh(servers)
            total = sum(upstream.requests.values())
            rows.append(Row("cache restarted empty, all refresh: requests at the upstream", str(total),
                            goal=f"<= {documents}", met=total <= documents and not upstream.each_once(), note=upstream.each_once()))
    return rows


# The copies in nginx of an upstream that once sent something else than a document
DAMAGED = {
    "a truncated copy": lambda: (200, {"Content-Length": "100000", "Content-Type": "application/json"}, b'{"total"'),
    "an error page with status 200": lambda: replied("<!DOCTYPE html><html><body>502</body></html>", "text/html"),
    "a poisoned copy": lambda: replied({"total": 1, "result": [{"id": 1}]}, Cache_Control="max-age=3600"),
}


def states(servers):
    """Returns the states of all sources, each with the kind of its error."""
    return {(each["freshness"]["state"], (each["freshness"]["error"] or {}).get("kind"))
            for server in servers for each in server.sources().values()}


def caches(folder, options):
    """damaged copies in nginx, which a machine replaces by a request past the cache; a cache that is down"""
    rows = []
    with Documents() as upstream, Cache(folder / "nginx", upstream) as cache:
        with machines(folder, 5, configuration(cache.url)) as servers:
            wait_for_content(servers)
            before = [stored(server) for server in servers]

            def refreshed():
                """Refreshes one machine, and then the others; returns the states and errors of their sources."""
                refresh(servers[:1])
                refresh(servers[1:])
                return states(servers)

            for name, response in DAMAGED.items():
                cache.stop()
                shutil.rmtree(folder / "nginx/copies")
                cache.start()
                upstream.requests.clear()
                # The first request for each document gets the damaged response.
                upstream.fault = lambda path: response() if upstream.requests[path] == 1 else None
                found = refreshed()
                requests, kept = max(upstream.requests.values()), [stored(server) for server in servers] == before
                rows.append(Row(name, str(found), peer=f"{requests} requests for a document",
                                goal="fresh, content stays", met=found == {("fresh", None)} and kept and requests == 2))
            upstream.fault = None
            upstream.requests.clear()
            cache.stop()
            found, kept = refreshed(), [stored(server) for server in servers] == before
            rows.append(Row("cache down", str(found), peer=f"{sum(upstream.requests.values())} requests",
                            goal="content stays, upstream 0",
                            met=found == {("fresh", "offline")} and kept and not upstream.requests))
            cache.start()
            rows.append(Row("cache up again", str(found := refreshed()), goal="no error", met=found == {("fresh", None)}))
    return rows


def outage(folder, options):
    """an upstream that fails when all copies in nginx have expired"""
    with Documents(lifetime=1) as upstream, Cache(folder / "nginx", upstream) as cache, \
            machines(folder, 5, configuration(cache.url)) as servers:
        wait_for_content(servers)
        before = [stored(server) for server in servers]
        time.sleep(1.5)
        upstream.requests.clear()
        upstream.fault = lambda path: replied("", status=500)
        begin = time.monotonic()
        for _ in range(REFRESHES):
            refresh(servers)
        permitted = 2 + PERMITTED * (time.monotonic() - begin) / 60
        requests, found = max(upstream.requests.values()), states(servers)
        kept = [stored(server) for server in servers] == before
    return [Row(f"upstream down, {REFRESHES * len(servers)} refreshes of each source", str(found),
                goal="no error, content stays", met=kept and {error for _, error in found} == {None}),
            Row("upstream down: requests for a document", str(requests), goal=f"<= {permitted:.0f}",
                met=requests <= permitted)]


def monitoring(folder, options):
    """the rules and the dashboard: promtool, and whether norrisd and the exporter's unit write each metric they name"""
    prometheus, rows = HERE / "prometheus", []
    for arguments in [["check", "rules", prometheus / "norrisd.rules.yml"],
                      ["test", "rules", prometheus / "norrisd.test.yml"]]:
        result = subprocess.run(["promtool", *arguments], capture_output=True, text=True)
        rows.append(faultless(f"promtool {arguments[0]} {arguments[1]}", "ok",
                              [] if result.returncode == 0 else (result.stdout + result.stderr).splitlines()))
    with daemon(folder / "home") as server:
        written = server.call("server.metrics")["text"]
    written += (HERE.parent / "integrations/node-exporter/norrisd-metrics.service").read_text()
    rules = (prometheus / "norrisd.rules.yml").read_text()
    recorded = set(re.findall(r"record: (\S+)", rules))
    panels = json.loads((prometheus / "norrisd-dashboard.json").read_text())["panels"]
    for title, text in [("rules", re.sub(r"record: .*|alert: .*", "", rules)),
                        *((f"dashboard: {panel['title']}", " ".join(each["expr"] for each in panel["targets"]))
                          for panel in panels)]:
        named = set(re.findall(r"\bnorrisd_\w+(?!\w*:)", re.sub(r"norrisd:\S*?\b(?=[ ({)]|$)", "", text)))
        unknown = [name for name in named if name not in written]
        unknown += [name for name in re.findall(r"norrisd:\w+:\w+", text) if name not in recorded]
        rows.append(faultless(title, f"{len(named)} metrics", unknown))
    return rows
