"""Six simulated hours in which the upstream is down behind a working cache, and six in which the cache is down.

libfaketime multiplies the speed of the clocks of nginx and norrisd, which begin at one moment."""

import collections
import contextlib
import datetime
import time

import parts
from clocks import faked
from harness import Row, wait_for

SPEED, HOUR = 360, 3600  # simulated seconds a second, and simulated seconds; an hour takes 10 s
MACHINES = 20
REFRESH = {"facts": 2 * HOUR, **dict.fromkeys(parts.FEEDS, HOUR // 2)}
LIFETIME = HOUR // 4
TOLERANCE = 180  # simulated seconds; half a second on a busy machine
PERMITTED = 6  # requests a minute for a document that norris.conf.template lets through


class Clock:
    """The simulated time."""

    def __init__(self):
        self.begin = time.time()

    def now(self):
        return self.begin + (time.time() - self.begin) * SPEED

    def sleep(self, seconds):
        time.sleep(seconds / SPEED)

    def under(self):
        """Returns the arguments before a program that starts now."""
        # A program adds the time since its start, multiplied, to this one.
        return faked(f"FAKETIME={(time.time() - self.begin) * (SPEED - 1):+.3f} x{SPEED}")


def document(name):
    return parts.FACTS[0] if name == "facts" else f"/{name}"


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Observer:
    """Asks all machines as a user does, and compares freshness with what the upstream and the clock know."""

    def __init__(self, servers, upstream, clock):
        self.servers, self.upstream, self.clock = servers, upstream, clock
        self.asked, self.wrong, self.states, self.errors = 0, [], collections.Counter(), collections.Counter()
        self.slowest = 0

    def observe(self, hours):
        end = self.clock.now() + hours * HOUR
        while self.clock.now() < end:
            for server in self.servers:
                self.ask(server)
            time.sleep(0.2)

    def ask(self, server):
        begin = time.perf_counter()
        # A reply without a result is a failure of the experiment.
        if not server.call("fact.random")["items"] or not server.call("post.list")["items"]:
            self.wrong.append("no content")
        self.slowest = max(self.slowest, (time.perf_counter() - begin) * 1000)
        self.asked += 2
        for name, each in parts.sources(server).items():
            freshness = each["freshness"]
            self.states[freshness["state"]] += 1
            if freshness["error"]:
                self.errors[freshness["error"]["kind"]] += 1
            last = self.upstream.answered[document(name)]
            fetched, now = seconds(freshness["fetched_at"]), self.clock.now()
            if fetched > last + TOLERANCE:
                self.wrong.append(f"{name}: fetched {fetched - last:.0f} s after the upstream's last response")
            if abs(now - fetched - freshness["age_seconds"]) > TOLERANCE:
                self.wrong.append(f"{name}: {freshness['age_seconds']} s old, not {now - fetched:.0f}")
            if freshness["state"] == "fresh" and now - fetched > 1.5 * REFRESH[name] + TOLERANCE:
                self.wrong.append(f"{name}: fresh after {now - fetched:.0f} s")

    def row(self, name, goal, met=True):
        return Row(name, f"{self.asked:,} replies", peer=", ".join(f"{kind} {count}" for kind, count in
                                                                   [*self.states.items(), *self.errors.items()]),
                   goal=goal, met=met and not self.wrong, note=f"slowest {self.slowest:.1f} ms. " +
                   "; ".join(list(dict.fromkeys(self.wrong))[:4]))


def failing(upstream):
    """Yields the kinds of outage, each with a function that enters it."""
    def hangs(*_):
        time.sleep(0.3)
        return 500, {}, b""

    for name, fault in [("status 500", 500), ("no answer", hangs)]:
        upstream.fault = fault
        yield name
    upstream.fault = None


def outage(folder, _):
    """six simulated hours without the upstream, and six without the cache"""
    clock = Clock()
    upstream = parts.Upstream(facts=500, items=20, lifetime=LIFETIME, clock=clock.now)
    rows = []
    feeds = {name: f"{REFRESH[name]}s" for name in parts.FEEDS}
    with contextlib.ExitStack() as stack:
        listening = contextlib.ExitStack()
        stack.callback(listening.close)
        port = listening.enter_context(upstream.listening())
        cache = stack.enter_context(parts.Cache(folder / "nginx", port, under=clock.under))
        setting = parts.configuration(cache.url, facts=f"{REFRESH['facts']}s", feeds=feeds, timeout=600)
        servers = stack.enter_context(
            parts.machines(folder, MACHINES, setting, under=lambda _: clock.under()))
        parts.wait_for_content(servers)
        clock.sleep(2 * HOUR)

        observer = Observer(servers, upstream, clock)
        observer.observe(1)
        rows.append(observer.row("an hour with everything", "no error", met=not observer.errors))
        observer = Observer(servers, upstream, clock)
        upstream.requests.clear()
        for _ in failing(upstream):
            observer.observe(2)
        listening.close()
        observer.observe(2)
        requests = max(upstream.requests.values())
        rows += [
            observer.row("upstream down for 6 h: what users see", "no error", met=not observer.errors),
            Row("upstream down for 6 h: requests for a document", f"{requests / 240:.2f} a minute",
                goal=f"<= {PERMITTED} a minute", met=requests <= PERMITTED * 240,
                note=f"{sum(upstream.requests.values())} requests of all documents in the first 4 h"),
            Row("upstream down for 6 h: content at the end",
                ", ".join(sorted({each["freshness"]["state"] for server in servers
                                  for each in parts.sources(server).values()})), goal="= stale",
                met=all(each["freshness"]["state"] == "stale" for server in servers
                        for each in parts.sources(server).values())),
        ]
        listening.enter_context(upstream.listening(port))
        rows.append(recovery("upstream up again", servers, clock))

        cache.stop()
        upstream.requests.clear()
        observer = Observer(servers, upstream, clock)
        observer.observe(6)
        rows.append(observer.row("cache down for 6 h: what users see", "error offline, upstream 0",
                                 met=set(observer.errors) == {"offline"} and not upstream.requests))
        cache.start()
        rows.append(recovery("cache up again", servers, clock))
    return rows


def recovery(name, servers, clock):
    """Waits until all content is fresh and without an error."""
    begin = clock.now()
    wait_for(lambda: all(each["freshness"]["state"] == "fresh" and not each["freshness"]["error"]
                         for server in servers for each in parts.sources(server).values()), name, timeout=60)
    minutes = (clock.now() - begin) / 60
    # A failed run is tried again within an hour, and facts are refreshed every two hours.
    return Row(f"{name}: all is fresh", f"{minutes:.0f} min", goal="<= 180 min", met=minutes <= 180)
