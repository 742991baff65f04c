"""What a fleet of machines does to its cache and to the upstreams, and what its users see when one of them fails."""

import collections
import json
import re
import shutil
import statistics
import subprocess
import time

from clocks import faked
from harness import Row, daemon, faultless, replied, wait_for
from machines import (FACTS, FEEDS, HERE, Cache, Documents, configuration, machines, refresh, seconds, stored,
                      wait_for_content)

CONTENT_GOAL, REFRESH_GOAL = 120, 1024  # seconds, bytes
HOUR = 3600


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


# What nginx has stored of an upstream that once sent something else than a document
DAMAGED = {
    "a truncated copy": lambda: (200, {"Content-Length": "100000", "Content-Type": "application/json"}, b'{"total"'),
    "an error page with status 200": lambda: replied("<!DOCTYPE html><html><body>502</body></html>", "text/html"),
    "a poisoned copy": lambda: replied({"total": 1, "result": [{"id": 1}]}, Cache_Control="max-age=3600"),
}


def caches(folder, options):
    """damaged copies in nginx, which a machine replaces by a request past the cache; a cache that is down"""
    rows = []
    with Documents() as upstream, Cache(folder / "nginx", upstream) as cache:
        with machines(folder, 5, configuration(cache.url)) as servers:
            wait_for_content(servers)
            before = [stored(server) for server in servers]

            def states():
                """Refreshes one machine, and then the others; returns the states and errors of their sources."""
                refresh(servers[:1])
                refresh(servers[1:])
                return {(each["freshness"]["state"], (each["freshness"]["error"] or {}).get("kind"))
                        for server in servers for each in server.sources().values()}

            for name, response in DAMAGED.items():
                cache.stop()
                shutil.rmtree(folder / "nginx/copies")
                cache.start()
                upstream.requests.clear()
                # The first request for each document gets the damaged response.
                upstream.fault = lambda path: response() if upstream.requests[path] == 1 else None
                found = states()
                requests, kept = max(upstream.requests.values()), [stored(server) for server in servers] == before
                rows.append(Row(name, str(found), peer=f"{requests} requests for a document",
                                goal="fresh, content stays", met=found == {("fresh", None)} and kept and requests == 2))
            upstream.fault = None
            upstream.requests.clear()
            cache.stop()
            found, kept = states(), [stored(server) for server in servers] == before
            rows.append(Row("cache down", str(found), peer=f"{sum(upstream.requests.values())} requests",
                            goal="content stays, upstream 0",
                            met=found == {("fresh", "offline")} and kept and not upstream.requests))
            cache.start()
            rows.append(Row("cache up again", str(found := states()), goal="no error", met=found == {("fresh", None)}))
    return rows


# Outages in simulated time: libfaketime multiplies the speed of the clocks of nginx and norrisd

SPEED = 360  # simulated seconds a second; an hour takes 10 s
OUTAGE_MACHINES = 20
REFRESH = {"facts": 2 * HOUR, **dict.fromkeys(FEEDS, HOUR // 2)}
TIME_TOLERANCE = 360  # simulated seconds; the second that a program may need to start on a busy machine
PERMITTED = 6  # requests a minute for a document that norris.conf.template lets through


class Clock:
    """The simulated time of all programs."""

    def __init__(self):
        self.begin = time.time()

    def now(self):
        return self.begin + (time.time() - self.begin) * SPEED

    def under(self):
        """Returns the arguments before a program that starts now."""
        # A program adds the time since its start, multiplied, to this one.
        return faked(f"FAKETIME={(time.time() - self.begin) * (SPEED - 1):+.3f} x{SPEED}")


class Observer:
    """Asks all machines as a user does, and compares freshness with what the upstream and the clock know."""

    def __init__(self, servers, upstream, clock):
        self.servers, self.upstream, self.clock = servers, upstream, clock
        self.asked, self.wrong, self.seen, self.slowest = 0, [], collections.Counter(), 0

    def observe(self, hours):
        end = self.clock.now() + hours * HOUR
        while self.clock.now() < end:
            for server in self.servers:
                self.ask(server)
            time.sleep(0.2)
        return self

    def ask(self, server):
        begin = time.perf_counter()
        # A reply without a result is a failure of the experiment.
        if not server.call("fact.random")["items"] or not server.call("post.list")["items"]:
            self.wrong.append("no content")
        self.slowest = max(self.slowest, (time.perf_counter() - begin) * 1000)
        self.asked += 2
        for name, each in server.sources().items():
            freshness = each["freshness"]
            self.seen[freshness["state"]] += 1
            self.seen["error " + freshness["error"]["kind"] if freshness["error"] else "no error"] += 1
            last = self.upstream.answered[FACTS[0] if name == "facts" else f"/{name}"]
            fetched, now = seconds(freshness["fetched_at"]), self.clock.now()
            if fetched > last + TIME_TOLERANCE or abs(now - fetched - freshness["age_seconds"]) > TIME_TOLERANCE:
                self.wrong.append(f"{name}: fetched {now - fetched:.0f} s ago, {freshness['age_seconds']} s old, and "
                                  f"the upstream answered {now - last:.0f} s ago")
            if freshness["state"] == "fresh" and now - fetched > 1.5 * REFRESH[name] + TIME_TOLERANCE:
                self.wrong.append(f"{name}: fresh after {now - fetched:.0f} s")

    def row(self, name, goal, errors=()):
        """Returns the row of what users saw; each error must be one of these, and there are some if one is given."""
        found = {each for each in self.seen if each.startswith("error")}
        met = not self.wrong and found <= set(errors) and bool(found) == bool(errors)
        seen = ", ".join(f"{count} {what}" for what, count in self.seen.items())
        return Row(name, f"{self.asked:,} replies", peer=f"slowest {self.slowest:.1f} ms", goal=goal, met=met,
                   note="; ".join([seen, *list(dict.fromkeys(self.wrong))[:4]]))


def recovery(name, servers, clock):
    """Waits until all content is fresh and without an error. A failed run is tried again within an hour, and facts are
    refreshed every two hours."""
    begin = clock.now()
    wait_for(lambda: all(each["freshness"]["state"] == "fresh" and not each["freshness"]["error"]
                         for server in servers for each in server.sources().values()), name, timeout=60)
    minutes = (clock.now() - begin) / 60
    return Row(f"{name}: all is fresh", f"{minutes:.0f} min", goal="<= 180 min", met=minutes <= 180)


def outage(folder, options):
    """six simulated hours without the upstream, and six without the cache"""
    clock = Clock()
    with Documents(lifetime=HOUR // 4, clock=clock.now) as upstream, \
            Cache(folder / "nginx", upstream, under=clock.under) as cache:
        setting = configuration(cache.url, facts=f"{REFRESH['facts']}s", timeout=600,
                                feeds={name: f"{REFRESH[name]}s" for name in FEEDS})
        with machines(folder, OUTAGE_MACHINES, setting, under=clock.under) as servers:
            wait_for_content(servers)
            time.sleep(2 * HOUR / SPEED)
            observer = Observer(servers, upstream, clock).observe(1)
            rows = [observer.row("an hour with everything", "no error")]

            upstream.requests.clear()
            observer = Observer(servers, upstream, clock)
            upstream.fault = lambda path: replied("", status=500)
            observer.observe(2)
            upstream.fault = lambda path: time.sleep(0.3) or replied("", status=500)
            observer.observe(2)
            upstream.stop()
            observer.observe(2)
            requests = max(upstream.requests.values())
            states = {each["freshness"]["state"] for server in servers for each in server.sources().values()}
            rows += [observer.row("upstream down for 6 h: what users see", "no error"),
                     Row("upstream down for 6 h: requests for a document", f"{requests / 240:.2f} a minute",
                         goal=f"<= {PERMITTED} a minute", met=requests <= PERMITTED * 240),
                     Row("upstream down for 6 h: content at the end", ", ".join(states), goal="= stale",
                         met=states == {"stale"})]
            upstream.fault = None
            upstream.start()
            rows.append(recovery("upstream up again", servers, clock))

            cache.stop()
            upstream.requests.clear()
            observer = Observer(servers, upstream, clock).observe(6)
            # A time limit of ten simulated minutes is short on a busy machine.
            rows.append(observer.row("cache down for 6 h: what users see", "error offline",
                                     ["error offline", "error timeout"]))
            rows.append(Row("cache down for 6 h: requests at the upstream", str(sum(upstream.requests.values())),
                            goal="= 0", met=not upstream.requests))
            cache.start()
            rows.append(recovery("cache up again", servers, clock))
    return rows


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


