"""Tests wrong and changing clocks: extreme years, a clock that is set back and forward, a suspended machine, the quota
of Giphy, and the expiry of posts and GIFs.

libfaketime replaces the clock of norrisd. norrisctl is linked statically and always has the real clock. Therefore most
tests end at the real time: the clock is first wrong, and then set to the time of the client."""

import collections
import concurrent.futures
import contextlib
import datetime
import email.utils
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.parse

import harness
from feeds import ITEM, RSS
from harness import PROGRAMS, Row, daemon, wait_for
from upgrade import gif

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1"
YEARS = ["1900-01-01 00:00:00", "1969-12-31 23:59:58", "2038-01-19 03:14:06", "2262-04-11 23:47:14",
         "9999-12-31 23:59:58", "10000-01-01 00:00:00", "99999-01-01 00:00:00"]
LAST = 253_402_300_790  # seconds; at 9999-12-31T23:59:59Z all fetches end
CENTURIES = 146_097 * 86_400  # seconds of 400 years, after which the calendar repeats
MINUTE, HOUR, DAY, DECADE = 60, 3_600, 86_400, 3_652 * 86_400
HISTORY = ["recent", "favorite"]  # commands that print times of searches and favorites
START = time.time()
STEPS = {"a minute": MINUTE, "an hour": HOUR, "a day": DAY, "ten years": DECADE}
SHORT = 5  # seconds, the shortest refresh interval of the tests
JITTER = 1.1  # the longest interval of a source, relative to its refresh
NOTICED = 60  # seconds after which the daemon reads the clock again, without any other reason
WATCHDOG = 2  # seconds
STOPPED = 5  # seconds of the simulated suspension
QUOTA = 10
# Times that the client must not print here, because no source has an interval of more than a day, and nothing that the
# user did is in the future.
IMPLAUSIBLE = re.compile(r"\b(?:in )?\d+ (?:years?|months?)\b|(?<![\w.:/-])-\d+ \w+")
IN_THE_FUTURE = re.compile(r"\bin -?\d+ (?:second|minute|hour|day|month|year)|(?<![\w.:/-])-\d+ \w+")


# The clock


def offset(moment):
    """Returns the seconds from now until a moment of any year."""
    year, rest = moment.split("-", 1)
    cycles, year = divmod(int(year), 400)
    then = datetime.datetime.fromisoformat(f"{year + 2000}-{rest}+00:00").timestamp()
    return round(then + (cycles - 5) * CENTURIES - time.time())


def faked(*variables):
    """Returns the arguments before norrisd on the command line that change its clock."""
    # Otherwise the library sets FAKETIME_SHARED, and Swift programs then lose their arguments.
    return ["env", f"LD_PRELOAD={FAKETIME}", "FAKETIME_SHARED=none none", *variables]


def logged(path, under):
    """Returns the arguments before norrisd on the command line, which also append its log to a file."""
    return ["sh", "-c", 'exec "$@" 2>>"$0"', path, *under]


class Clock:
    """A clock of a daemon that tests set. The monotonic clock stays the real one."""

    def __init__(self, path):
        self.path, self.offset = path, 0
        self.set(0)

    def set(self, seconds):
        """Sets the clock to the real time and so many seconds."""
        self.offset = seconds
        new = self.path.with_suffix(".new")
        new.write_text(f"{seconds:+d}\n")
        # The daemon reads the file at any moment.
        new.replace(self.path)

    def under(self):
        return faked(f"FAKETIME_TIMESTAMP_FILE={self.path}", "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1")

    def now(self):
        return time.time() + self.offset


# The upstream and the daemon


class Sources:
    """An upstream with facts, GIFs and feeds, which records the times of requests by their path."""

    def __init__(self):
        self.times, self.posts, self.fails = collections.defaultdict(list), range(20), False

    def answer(self, target, _):
        url = urllib.parse.urlsplit(target)
        self.times[url.path].append(time.monotonic())
        if self.fails:
            return 503, {}, b""
        if url.path.startswith("/v1/gifs/"):
            query = urllib.parse.parse_qs(url.query).get("q", ["none"])[0]
            body = {"data": [gif(query, 0)], "pagination": {"total_count": 1, "count": 1, "offset": 0},
                    "meta": {"status": 200, "response_id": "a"}}
            return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()
        if url.path.startswith("/jokes/"):
            facts = [{"id": f"clock-{number}", "value": f"Chuck Norris is {number} seconds early.", "categories": []}
                     for number in range(20)]
            body = [] if url.path.endswith("categories") else {"total": len(facts), "result": facts}
            return 200, {"Content-Type": "application/json"}, json.dumps(body).encode()
        items = "".join(ITEM.replace("</item>", "<pubDate>{2}</pubDate></item>").format(number, "d", date(number))
                        for number in self.posts)
        return 200, {"Content-Type": "application/rss+xml"}, RSS.format(items).encode()

    def count(self, path, since=0):
        return sum(moment >= since for moment in list(self.times[path]))


def date(number):
    """Returns the date of a post. Each post is a day newer than the last one, and the newest are some days old."""
    return email.utils.formatdate(START - (28 - number) * DAY)


def configuration(port, refresh, key=None, keep="90d"):
    """Returns a configuration with a feed for each named interval; facts and GIFs only with a key for Giphy."""
    url = f"http://127.0.0.1:{port}"
    feeds = ", ".join(f"{name}: {{kind: feed, url: '{url}/{name}', refresh: {interval}, keep: {keep}}}"
                      for name, interval in refresh.items())
    others = f"facts: {{base_url: '{url}', queries: [chuck]}}\n" \
             f"gifs: {{base_url: '{url}', api_key_file: '{key}', hourly_quota: {QUOTA}, queries: [norris]}}\n"
    disabled = "facts: {enabled: false}\ngifs: {enabled: false}\n"
    return (others if key else disabled) + f"posts: {{sources: {{{feeds}}}}}\n"


@contextlib.contextmanager
def served(folder, refresh, clock=None, under=None, sources=None, **options):
    """Runs a daemon with an upstream and a clock; yields the daemon, the upstream and the file of the log."""
    folder.mkdir(exist_ok=True)
    key = folder / "key"
    key.write_text("0123456789")
    key.chmod(0o600)
    sources = sources or Sources()
    with harness.upstream(sources.answer) as port:
        text = configuration(port, refresh, key if options.pop("giphy", False) else None, options.pop("keep", "90d"))
        under = logged(folder / "log", clock.under() if clock else under)
        with daemon(folder, text, under=under, TZ="UTC", **options) as server:
            yield server, sources, folder / "log"


def state_of(server):
    return {source["name"]: source for source in server.call("server.status")["sources"]}


def seconds(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def printed(server, faults, when, allowed=False):
    """Runs norrisctl; records a crash and an implausible time, unless the clocks of client and daemon differ."""
    for words in [["status"], ["fact"], ["fact", "--today"], ["feed"], *([word] for word in HISTORY), ["doctor"]]:
        # script(1) makes a terminal, on which norrisctl prints relative times.
        client = " ".join([str(PROGRAMS / "norrisctl"), "--socket", str(server.path), *words])
        done = subprocess.run(["script", "-qec", client, "/dev/null"], capture_output=True, text=True, timeout=30,
                              stdin=subprocess.DEVNULL,
                              env={"HOME": str(server.path.parent), "PATH": os.environ["PATH"], "TERM": "dumb"})
        text = done.stdout + done.stderr
        if done.returncode not in (0, 1) or "Fatal" in text or not done.stdout.strip():
            faults.append(f"{when}: norrisctl {' '.join(words)} ended with {done.returncode}")
        elif not allowed and (found := (IN_THE_FUTURE if words[0] in HISTORY else IMPLAUSIBLE).search(text)):
            faults.append(f"{when}: norrisctl {' '.join(words)} printed {found.group()!r}")


def check_log(log, faults, when, ignored=None):
    """Records the lines of the log at level error or critical, and any line about a crash."""
    for line in log.read_text().splitlines():
        fields = line.split(maxsplit=2)
        if ignored and ignored in line:
            continue
        if len(fields) < 2 or fields[1] not in ("warning", "notice", "info"):
            faults.append(f"{when}: log: {line[:200]}")


def check_times(server, clock, faults, when):
    """Records an age or a time of a source that cannot be true."""
    for name, source in state_of(server).items():
        fresh, now = source["freshness"], clock.now()
        if not 0 <= fresh.get("age_seconds", 0) <= JITTER * DAY + 5:
            faults.append(f"{when}: {name} has an age of {fresh['age_seconds']} s")
        if fresh["error"]:
            faults.append(f"{when}: {name}: {fresh['error']}")
        for key, text in [("fetched_at", fresh.get("fetched_at")), ("next_run_at", source.get("next_run_at"))]:
            latest = 2 if key == "fetched_at" else 2 * JITTER * DAY
            if text and seconds(text) > now + latest:
                faults.append(f"{when}: {name}: {key} is {seconds(text) - now:.0f} s ahead")


# Extreme years


def asked(server):
    """Sends every request that depends on times, and returns the faults."""
    fact = server.call("fact.random")["items"][0]["id"]
    calls = [("server.status", {}), ("fact.today", {}), ("fact.today", {"date": "9999-12-31"}), ("post.list", {}),
             ("favorite.add", {"kind": "fact", "id": fact}), ("favorite.list", {}), ("server.metrics", {}),
             ("fact.search", {"query": "norris"}), ("recent.list", {})]
    replies = {method: server.reply(method, **parameters) for method, parameters in calls}
    faults = [f"{method}: {reply}" for method, reply in replies.items() if "result" not in reply]
    for source in replies["server.status"].get("result", {}).get("sources", []):
        if source["freshness"].get("age_seconds", 0) < 0:
            faults.append(f"{source['name']}: {source['freshness']}")
    return faults


def paced(sources, begin, faults, when, slow=False):
    """Records whether a source was fetched too often, or the source of a second too seldom. Schedules have whole
    seconds, so an interval of a second may last two, and a step of the clock adds two more."""
    elapsed = time.monotonic() - begin
    fetched = sources.count("/short", begin)
    if not (0 if slow else 1) <= fetched <= elapsed + 2:
        faults.append(f"{when}: {fetched} requests in {elapsed:.0f} s of a source of a second")
    if (fetched := sources.count("/hourly", begin)) > 1:
        faults.append(f"{when}: {fetched} requests in {elapsed:.0f} s of a source of an hour")


def starts(folder):
    """Starts norrisd at extreme times, and lets the next second pass."""
    faults, ended = [], []
    for number, year in enumerate(YEARS):
        try:
            # Before 1970 the library's waits end only if the monotonic clock is faked too, and that clock is then
            # negative. After 2262 a faked monotonic clock would exceed any real value.
            ahead = offset(year)
            under = faked(f"FAKETIME={ahead:+d}", f"FAKETIME_DONT_FAKE_MONOTONIC={int(ahead > 0)}")
            home = folder / str(number)
            with served(home, {"short": "1s", "hourly": "1h"}, under=under) as (server, sources, log):
                # From the year 9999 on all times are one, and nothing is due.
                over = int(year.split("-")[0]) > 9_998
                if not over:
                    wait_for(lambda: state_of(server)["hourly"]["items"], "the first fetch")
                begin = time.monotonic()
                end = begin + 4
                while time.monotonic() < end:
                    faults += [f"{year}: {fault}" for fault in asked(server)]
                    time.sleep(0.1)
                paced(sources, begin, faults, year, slow=over)
                printed(server, faults, year, allowed=True)
            ended.append(server.stop)
            if server.process.returncode:
                faults.append(f"{year}: ended with {server.process.returncode}")
            if server.stop > 3_000:
                faults.append(f"{year}: stopped after {server.stop:.0f} ms")
            # No kernel has a negative monotonic clock. With it the time limit of a stop has always passed.
            check_log(log, faults, year, ignored="CancellationError" if ahead < 0 else None)
        except Exception as error:
            faults.append(f"{year}: {type(error).__name__}: {error}")
        print(f"clocks: start at {year}", flush=True)
    return [goal("starts at extreme years", len(YEARS), faults),
            harness.value("stop at extreme years, longest", [max(ended, default=0)], "ms", at_most=3_000)]


def leaps(folder):
    """Sets the clock of a running daemon to extreme times and back to now."""
    faults, clock = [], Clock(folder / "clock")
    with served(folder / "norrisd", {"short": "1s", "hourly": "1h"}, clock) as (server, sources, log):
        # Before the first fetch the daemon reads the clock only once a minute.
        wait_for(lambda: state_of(server)["hourly"]["items"], "the first fetch")
        kept = set()
        for year in [*YEARS, *YEARS[::-1], None]:
            begin = time.monotonic()
            clock.set(offset(year) if year else 0)
            end = begin + 5
            while time.monotonic() < end:
                faults += [f"{year}: {fault}" for fault in asked(server)]
                time.sleep(0.1)
            # Before 1970 the library's waits do not end in time. No kernel accepts such a time.
            paced(sources, begin, faults, year or "now", slow=not 0 <= clock.now() < LAST)
            before, kept = kept, {item["id"] for item in server.pages("favorite.list", limit=100)}
            if before - kept:
                faults.append(f"{year}: {len(before - kept)} favorites lost")
            print(f"clocks: set to {year or 'now'}", flush=True)
        wait_for(lambda: sources.count("/short", end), "a fetch after the last step")
        check_times(server, clock, faults, "back at now")
    if server.process.returncode:
        faults.append(f"ended with {server.process.returncode}")
    check_log(log, faults, "set to extreme years")
    return [goal("clock set to extreme years and back", 2 * len(YEARS) + 1, faults)]


# Steps


def steps(folder):
    """Sets the clock of a running daemon forward and back, by a minute to ten years."""
    faults, late, bursts, clock = [], [], [], Clock(folder / "clock")
    refresh = {"short": f"{SHORT}s", "hourly": "1h", "daily": "24h"}
    with served(folder / "norrisd", refresh, clock, giphy=True) as (server, sources, log):
        wait_for(lambda: all(source["items"] for source in state_of(server).values()), "the first fetches")
        state = State(server)
        signs = {"forward": 1, "back from behind": -1}
        for sign, (name, step) in [(sign, step) for sign in signs.values() for step in STEPS.items()]:
            ways = ["forward", "back"] if sign > 0 else ["back", "forward"]
            for way, ahead in zip(ways, [sign * step, 0]):
                when = f"{way} by {name}" + (", to now" if ahead == 0 else "")
                begin = time.monotonic()
                clock.set(ahead)
                # Twice the interval, because a time that a schedule can set is not known to be wrong.
                deadline = begin + 2 * JITTER * SHORT + 2
                while not sources.count("/short", begin + 0.1) and time.monotonic() < deadline:
                    time.sleep(0.05)
                late.append(time.monotonic() - begin)
                if not sources.count("/short", begin + 0.1):
                    faults.append(f"{when}: no fetch in {late[-1]:.0f} s")
                # The fetches that are due begin together.
                time.sleep(2)
                elapsed = time.monotonic() - begin
                expected = {"/short": elapsed / (SHORT * 0.9) + 2, "/hourly": 1, "/daily": 1, "/v1/gifs/search": 1,
                            "/jokes/search": 2}
                found = {path: sources.count(path, begin) for path in expected}
                for path, most in expected.items():
                    # The time of the last fetches applies again at the end of a step to now.
                    due = way == "forward" and ahead > JITTER * DAY
                    if found[path] > most or (due and not found[path]):
                        bursts.append(f"{when}: {found[path]} requests of {path}")
                state.check(server, clock, faults, when)
                check_times(server, clock, faults, when)
                if ahead == 0:
                    printed(server, faults, when)
            print(f"clocks: {ways[0]} and {ways[1]} by {name}", flush=True)
        hourly(server, sources, clock, faults)
        state.check(server, clock, faults, "at the end")
    check_log(log, faults, "steps")
    return [harness.value("fetch of a source of 5 s after a step, longest", [max(late)], "s",
                          at_most=2 * JITTER * SHORT + 2),
            goal("requests after a step: one fetch of each source that is due", 4 * len(STEPS), bursts),
            goal("states, times, favorites and clients after a step", 4 * len(STEPS), faults)]


def hourly(server, sources, clock, faults):
    """Sets the clock back by ten years, and then forward by little more than two intervals of an hour."""
    begin = time.monotonic()
    clock.set(-DECADE)
    time.sleep(2 * SHORT)
    if sources.count("/hourly", begin):
        faults.append("back by ten years: an hourly source was fetched at once")
    begin = time.monotonic()
    clock.set(round(-DECADE + 2 * JITTER * HOUR))
    time.sleep(2 * JITTER * SHORT + 2)
    if (fetched := sources.count("/hourly", begin)) != 1:
        faults.append(f"two hours after a step back by ten years: {fetched} fetches of an hourly source")
    clock.set(0)


class State:
    """The favorites, searches and facts of days of a user, which no step of the clock may change."""

    def __init__(self, server):
        self.kept, self.days, self.queries = {}, {}, []
        for fact in server.call("fact.random", count=3)["items"]:
            self.keep(server, fact["id"])
        posts = [post["id"] for post in server.pages("post.list", source="short", limit=100)]
        self.read = set(posts[:5])
        server.call("post.mark_read", ids=sorted(self.read))

    def keep(self, server, fact):
        server.call("favorite.add", kind="fact", id=fact)
        self.kept |= {item["id"]: item["added_at"] for item in server.pages("favorite.list", limit=100)
                      if item["id"] == fact and fact not in self.kept}

    def check(self, server, clock, faults, when):
        listed = {item["id"]: item["added_at"] for item in server.pages("favorite.list", limit=100)}
        if listed != self.kept:
            faults.append(f"{when}: favorites {listed} in place of {self.kept}")
        self.keep(server, server.call("fact.random")["items"][0]["id"])
        query = f"kick {len(self.queries)}"
        server.call("fact.search", query=query)
        self.queries.append(query)
        recent = [item["query"] for item in server.call("recent.list")["items"]]
        if recent != self.queries[:-7:-1]:
            faults.append(f"{when}: recent searches {recent} in place of {self.queries[:-7:-1]}")
        read = {post["id"] for post in server.pages("post.list", source="short", limit=100) if post["read"]}
        if read != self.read:
            faults.append(f"{when}: read posts {sorted(read)} in place of {sorted(self.read)}")
        date = datetime.datetime.fromtimestamp(clock.now(), datetime.timezone.utc).date().isoformat()
        today = server.call("fact.today")["fact"]["id"]
        if today != server.call("fact.today", date=date)["fact"]["id"]:
            faults.append(f"{when}: fact.today is not the fact of {date}")
        if today != self.days.setdefault(date, today):
            faults.append(f"{when}: the fact of {date} changed")


# Suspension


def suspended(folder):
    """Stops the process, and continues it with a clock that is hours ahead."""
    faults, clock, beats = [], Clock(folder / "clock"), []
    refresh = {"hourly": "1h", "six": "6h", "daily": "24h"}
    with served(folder / "norrisd", refresh, clock, WATCHDOG_USEC=str(WATCHDOG * 1_000_000)) as running, \
            notified(running[0].path.parent / "notify", beats):
        server, sources, log = running
        wait_for(lambda: all(state_of(server)[name]["items"] for name in refresh), "the first fetches")
        time.sleep(WATCHDOG)
        with contextlib.ExitStack() as stack:
            connections = [stack.enter_context(server.connect()) for _ in range(4)]
            for connection in connections:
                harness.exchange(connection, harness.FACT_RANDOM, 1)
            half = stack.enter_context(server.connect())
            half.sendall(harness.FACT_RANDOM[:20].encode())
            os.kill(server.process.pid, signal.SIGSTOP)
            for connection in connections:
                connection.sendall(harness.FACT_RANDOM.encode() + b"\n")
            time.sleep(STOPPED)
            clock.set(8 * HOUR)
            begin = time.monotonic()
            os.kill(server.process.pid, signal.SIGCONT)
            for number, connection in enumerate(connections):
                connection.settimeout(5)
                if b'"result"' not in connection.makefile("rb").readline():
                    faults.append(f"connection {number}: no reply after the suspension")
            half.settimeout(5)
            half.sendall(harness.FACT_RANDOM[20:].encode() + b"\n")
            if b'"result"' not in half.makefile("rb").readline():
                faults.append("no reply to half a line from before the suspension")
        for name in ["hourly", "six"]:
            with contextlib.suppress(harness.Failure):
                wait_for(lambda: sources.count(f"/{name}", begin), name, timeout=NOTICED + 10)
        took = time.monotonic() - begin
        time.sleep(3)
        for name, expected in {"hourly": 1, "six": 1, "daily": 0}.items():
            if (fetched := sources.count(f"/{name}", begin)) != expected:
                faults.append(f"{name}: {fetched} fetches in place of {expected}")
        check_times(server, clock, faults, "after the suspension")
        if server.call("server.status")["state"] != "ok":
            faults.append(server.call("server.status")["message"])
        running_beats = [beat for beat in beats if beat > begin]
        gaps = [later - earlier for earlier, later in zip([begin, *running_beats], running_beats)]
    check_log(log, faults, "suspension")
    print("clocks: suspended", flush=True)
    return [harness.value("after a suspension, all sources that are due fetched", [took], "s", at_most=NOTICED + 5),
            harness.value(f"after a suspension, longest time between watchdog messages of {WATCHDOG} s", [max(gaps)],
                          "s", at_most=WATCHDOG * 0.75),
            goal("after a suspension: one fetch of each source, connections, state", 5 + len(refresh), faults)]


@contextlib.contextmanager
def notified(path, beats):
    """Receives the messages for the service manager, and records the times of those for its watchdog."""
    path.unlink(missing_ok=True)
    end = threading.Event()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notify:
        notify.bind(str(path))
        notify.settimeout(0.2)

        def receive():
            while not end.is_set():
                with contextlib.suppress(TimeoutError):
                    if b"WATCHDOG=1" in notify.recv(8192):
                        beats.append(time.monotonic())

        thread = threading.Thread(target=receive, daemon=True)
        thread.start()
        try:
            yield
        finally:
            end.set()
            thread.join(5)


# The quota


def exhaust(server, sources, word):
    """Searches for GIFs until the quota is used; returns the number of requests that the upstream received."""
    before = sources.count("/v1/gifs/search")
    for number in range(2 * QUOTA):
        server.reply("gif.search", query=f"{word} {number}")
    return sources.count("/v1/gifs/search") - before


def quota(folder):
    """Uses the quota of Giphy, and sets the clock back and forward."""
    faults, clock = [], Clock(folder / "clock")
    with served(folder / "norrisd", {}, clock, giphy=True) as (server, sources, log):
        wait_for(lambda: state_of(server)["gifs"]["items"], "the first GIFs")
        first = sources.count("/v1/gifs/search") + exhaust(server, sources, "first")
        usable = first  # One user may not use the whole quota.
        if not QUOTA / 2 <= first <= QUOTA:
            faults.append(f"{first} requests of a quota of {QUOTA}")

        def check(when, most, least=0):
            found = exhaust(server, sources, when)
            status = state_of(server)["gifs"]["quota"]
            if not least <= found <= most:
                faults.append(f"{when}: {found} requests, expected {least} to {most}")
            if status["used"] > QUOTA or not 0 <= seconds(status["resets_at"]) - clock.now() <= HOUR + 2:
                faults.append(f"{when}: {status}")

        for name, step in STEPS.items():
            clock.set(clock.offset - step)
            check(f"back by {name}", QUOTA - usable)
            print(f"clocks: quota after a step back by {name}", flush=True)
        clock.set(clock.offset + HOUR + 5)
        check("an hour later", QUOTA, usable - 1)
        clock.set(clock.offset + DECADE)
        check("forward by ten years", QUOTA, usable - 1)
        clock.set(clock.offset - DECADE)
        check("and back", QUOTA - usable)
        clock.set(clock.offset + HOUR // 2)
        check("half an hour later", QUOTA - usable)
        clock.set(clock.offset + HOUR // 2 + 5)
        check("an hour after the step back", QUOTA, usable - 1)
    check_log(log, faults, "quota")
    return [goal(f"quota of {QUOTA} an hour after steps: neither exceeded nor locked", len(STEPS) + 5, faults)]


# Expiry


def expiry(folder):
    """Lets posts leave a feed before, during and after a time in which the clock is ten years ahead."""
    clock, faults, sources = Clock(folder / "clock"), [], Sources()
    with served(folder / "norrisd", {"feed": "1s"}, clock, sources=sources, keep="1d") as (server, _, log):

        def stored():
            return {int(post["id"].split(":")[1]) for post in server.pages("post.list", source="feed", limit=100)}

        def settled():
            """Waits for two fetches, so that the first of them begins after the call."""
            before = sources.count("/feed")
            wait_for(lambda: sources.count("/feed") >= before + 3, "fetches")
            time.sleep(0.3)
            return stored()

        before = settled()
        if before != set(range(20)):
            faults.append(f"posts {sorted(before)} before the test")
        server.call("post.mark_read", ids=[f"feed:{number}" for number in range(20)])
        sources.posts = range(5, 20)  # 0 to 4 leave the feed; keep is a day.
        if settled() != before:
            faults.append("posts expired early")
        clock.set(DECADE)
        ahead = settled()
        sources.posts = range(10, 22)  # 5 to 9 leave the feed while the clock is ahead; 20 and 21 are new.
        settled()
        clock.set(0)
        back = settled()
        if not set(range(10, 22)) <= back:
            faults.append(f"posts of the feed were lost: {sorted(back)}")
        read = {post["id"] for post in server.pages("post.list", source="feed", limit=100) if post["read"]}
        if read != {f"feed:{number}" for number in back if number < 20}:
            faults.append(f"read marks changed: {sorted(read)}")
        clock.set(DAY + HOUR)
        late = settled()
        clock.set(DAY + HOUR + 1)
        if not set(range(10, 22)) <= late:
            faults.append(f"posts of the feed were lost a day later: {sorted(late)}")
    check_log(log, faults, "expiry")
    print("clocks: expiry of posts", flush=True)
    early = sorted(set(range(5)) - ahead)
    overdue = sorted(late & set(range(5, 10)))
    return [goal("posts of the feed and read marks after a clock ten years ahead", 20, faults),
            # Without a goal: a clock that is ahead looks like a machine that was off, after which such posts expire,
            # and a clock that is set back may be right again soon.
            Row("posts that had left the feed just before, expired", str(len(early)), note="of 5"),
            Row("posts that left the feed meanwhile, kept longer than posts.keep", str(len(overdue)), note="of 5")]


def late_clock(folder):
    """Starts with a clock of 1970, as machines without a battery do, and sets the clock to now after a fetch."""
    clock, faults, sources = Clock(folder / "clock"), [], Sources()
    clock.set(offset("1970-01-02 00:00:00"))
    with served(folder / "norrisd", {"feed": "1s"}, clock, sources=sources) as (server, _, log):
        wait_for(lambda: state_of(server)["feed"]["items"] == 20, "the first fetch")
        sources.posts = range(5, 20)
        clock.set(0)
        before = sources.count("/feed")
        wait_for(lambda: sources.count("/feed") >= before + 3, "fetches")
        time.sleep(0.3)
        lost = 20 - state_of(server)["feed"]["items"]
        sources.posts = range(5, 21)  # 20 is new, and dated after all others.
        wait_for(lambda: any(post["id"] == "feed:20" for post in server.pages("post.list", source="feed")), "a post")
        dates = [post["published_at"] for post in server.pages("post.list", source="feed")]
        disordered = sum(earlier > later for later, earlier in zip(dates, dates[1:]))
        check_times(server, clock, faults, "from 1970 to now")
        printed(server, faults, "from 1970 to now")
    check_log(log, faults, "1970")
    print("clocks: from 1970 to now", flush=True)
    return [goal("times after a start in 1970", 1, faults),
            # Without a goal, because the time of their last fetch is all that norrisd knows.
            Row("posts that left the feed as the clock went from 1970 to now, expired", str(lost), note="of 5"),
            Row("and posts that are not listed by their dates", str(disordered), goal="0", met=not disordered,
                note=f"of {len(dates)}: {', '.join(text[:10] for text in dates)}" if disordered else "")]


def old_gifs(folder):
    """Fetches GIFs with a clock ten years ahead. gifs.keep is a day."""
    clock, faults, sources = Clock(folder / "clock"), [], Sources()
    key = folder / "key"
    key.write_text("0123456789")
    key.chmod(0o600)
    with harness.upstream(sources.answer) as port:
        for ahead, expected in [(DECADE, True), (0, True), (DAY + HOUR, False)]:
            clock.set(ahead)
            # Each start removes what has expired.
            with daemon(folder / "norrisd", configuration(port, {}, key), TZ="UTC",
                        under=logged(folder / "log", clock.under())) as server:
                if ahead == DECADE:
                    # One trending GIF, and one GIF of the query.
                    wait_for(lambda: state_of(server)["gifs"]["items"] == 2, "the first GIFs")
                    sources.fails = True
                time.sleep(1)
                found = bool(server.call("gif.search", query="norris", offline=True)["items"])
                if found != expected:
                    faults.append(f"{ahead} s ahead: {'a' if found else 'no'} GIF")
    check_log(folder / "log", faults, "GIFs")
    print("clocks: expiry of GIFs", flush=True)
    return [goal("GIFs of a clock ten years ahead: kept, and removed after a day", 3, faults)]


def goal(name, count, faults):
    """Returns a row for a number of checks without faults."""
    for fault in faults:
        print(f"clocks: FAULT: {name}: {fault}", flush=True)
    return Row(name, f"{count} checks", goal="no fault", met=not faults, note="; ".join(dict.fromkeys(faults[:8])))


def clocks(folder, options):
    "extreme years, a clock that is set back and forward, suspension, quota and expiry"
    parts = [steps, suspended, starts, leaps, quota, expiry, late_clock, old_gifs]
    for part in parts:
        (folder / part.__name__).mkdir()
    # Almost all time is spent with waits.
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        running = {part: pool.submit(part, folder / part.__name__) for part in parts}
        rows = []
        for part in parts:
            try:
                rows += running[part].result(timeout=600)
            except Exception as error:
                rows.append(Row(part.__name__, "failed", met=False, note=f"{type(error).__name__}: {error}"))
    return rows
