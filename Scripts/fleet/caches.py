"""Caches that lie, fail or are missing, in front of one machine with facts and a feed.

After a first good fetch, both sources are refreshed through a fault. The table has the kind of error of each source,
the state and the age of its content, the number of requests of the refresh, and whether the content is still there."""

import email.utils
import time

import cold
import harness
import parts
from harness import Row

HOUR = 3600
FEED = f"/feeds/{parts.HOST}/planet"
PAGE = b"<!DOCTYPE html><html><body><h1>502 Bad Gateway</h1></body></html>"


def dated(seconds):
    return email.utils.formatdate(time.time() + seconds, usegmt=True)


class LyingCache:
    """Sends what the upstream sends, with changes."""

    def __init__(self, upstream):
        self.upstream, self.change = upstream, None
        self.requests = []

    def answer(self, path, headers):
        self.requests.append((path, headers.get("Cache-Control", "")))
        path = path.removeprefix(f"/feeds/{parts.HOST}")
        if self.change:
            return self.change(lambda: self.upstream.answer(path, headers), headers)
        return self.upstream.answer(path, headers)


def with_fields(**fields):
    """Returns a change that adds fields to a response."""
    fields = {name.replace("_", "-"): text for name, text in fields.items()}

    def change(answer, _):
        status, headers, body = answer()
        return status, {**headers, **{name: text() if callable(text) else text for name, text in fields.items()}}, body

    return change


def damaged(response, past=True):
    """Returns a change that replaces each response, or only those that are not requested past the caches."""

    def change(answer, headers):
        return answer() if past and headers.get("Cache-Control") == "no-cache" else response(answer)

    return change


def cut(answer):
    status, headers, body = answer()
    return (200, {"Content-Length": "100000"}, body[:100]) if status != 304 else (200, {"Content-Length": "9"}, b"{")


def page(_):
    return 200, {"Content-Type": "text/html"}, PAGE


def poisoned(_):
    return 200, {"Content-Type": "application/json"}, b'{"total": 1, "result": [{"id": 1}]}'


def unstored(_):
    return 304, {}, b""


# The change, whether the content is renewed, the kind of error, the state, the age in seconds, and the requests of a
# source for the refresh.
FAULTS = {
    "Age of two days": (with_fields(Age="172800"), None, "stale", 2 * 86_400, 1),
    "Age that rises for ever": (with_fields(Age="99999999999999"), None, "stale", 365 * 86_400, 1),
    "Age beyond max-age": (with_fields(Age="120", Cache_Control="max-age=60"), None, "stale", 120, 1),
    "Age within max-age": (with_fields(Age="30", Cache_Control="max-age=60"), None, "fresh", 30, 1),
    "Age of -60": (with_fields(Age="-60"), None, "fresh", 0, 1),
    "Age that is no number": (with_fields(Age="soon"), None, "fresh", 0, 1),
    "Warning: 110": (with_fields(Warning='110 - "Response is Stale"'), None, "stale", 0, 1),
    "a Date of yesterday": (
        with_fields(Date=lambda: dated(-40 * HOUR), Cache_Control="max-age=60"), None, "stale", 40 * HOUR, 1),
    "X-Cache: STALE, Date two hours ago": (
        with_fields(X_Cache="STALE", Date=lambda: dated(-2 * HOUR), Cache_Control="max-age=600"), None, "stale",
        2 * HOUR, 1),
    "clocks apart: Date five hours ago": (with_fields(Date=lambda: dated(-5 * HOUR)), None, "fresh", 0, 1),
    "clocks apart: Date in five hours": (with_fields(Date=lambda: dated(5 * HOUR)), None, "fresh", 0, 1),
    "clocks apart: Date of 1970": (with_fields(Date="Thu, 01 Jan 1970 00:00:00 GMT"), None, "fresh", 0, 1),
    "truncated copy": (damaged(cut), None, "fresh", 0, 2),
    "truncated, past the cache as well": (damaged(cut, past=False), "offline", "fresh", 0, 2),
    "error page with status 200": (damaged(page), None, "fresh", 0, 2),
    "error page, past the cache as well": (damaged(page, past=False), "decode", "fresh", 0, 2),
    "poisoned copy": (damaged(poisoned), None, "fresh", 0, 2),
    "status 304 without a stored copy": (damaged(unstored), None, "fresh", 0, 2),
    "status 304 without a stored copy, past the cache as well": (
        damaged(unstored, past=False), "decode", "fresh", 0, 2),
    "status 500": (damaged(lambda _: (500, {}, b"no"), past=False), "http", "fresh", 0, 1),
    "status 407": (damaged(lambda _: (407, {"Proxy-Authenticate": "Basic"}, b""), past=False), "http", "fresh", 0, 1),
}
TOLERANCE = 5  # seconds of age


def refreshed(server):
    cold.refresh([server], timeout=30)
    return {name: each["freshness"] for name, each in parts.sources(server).items()}


def stored(server):
    return [server.call("fact.search", query="machines")["total"],
            [post["id"] for post in server.call("post.list")["items"]]]


def tried(folder, name, fault):
    """Returns the differences from what is expected of a fault, and a text with the results."""
    change, error, state, age, requests = fault
    upstream = parts.Upstream(facts=300, items=20)
    upstream.has_validators = "304" not in name
    cache = LyingCache(upstream)
    front = parts.Upstream()
    front.answer = cache.answer
    wrong = []
    folder.mkdir()
    with front.listening() as port:
        setting = parts.configuration(f"http://127.0.0.1:{port}", feeds={"planet": "30m"}, timeout=5)
        with harness.daemon(folder / "home", setting) as server:
            parts.wait_for_content([server])
            before = stored(server)
            cache.requests.clear()
            cache.change = change
            after = refreshed(server)
            if stored(server) != before:
                wrong.append("the content changed")
            texts = []
            for source, path in [("facts", parts.FACTS[0]), ("planet", FEED)]:
                freshness = after[source]
                kind = (freshness["error"] or {}).get("kind")
                sent = [header for each, header in cache.requests if each == path]
                found = (kind, freshness["state"], freshness["age_seconds"], len(sent))
                texts.append(f"{kind or 'none'}, {found[1]}, {found[2]:,} s, {found[3]}")
                # A failed run is tried again after one to four seconds, and that retry may be under way.
                expected = ["", "no-cache"][:requests] * (len(sent) if error else 1)
                if (found[:2] != (error, state) or abs(found[2] - age) > TOLERANCE
                        or len(sent) < requests or sent != expected[:max(len(sent), requests)]):
                    wrong.append(f"{source} {found}, not {(error, state, age, requests)}")
                if kind and not freshness["error"]["message"]:
                    wrong.append("no message")
    return wrong, texts


def caches(folder, _):
    """caches that lie: wrong ages and clocks, damaged and poisoned copies, status 407"""
    rows = []
    for number, (name, fault) in enumerate(FAULTS.items()):
        wrong, texts = tried(folder / str(number), name, fault)
        rows.append(Row(name, texts[0], peer=texts[1], met=not wrong, note="; ".join(wrong)))
    return rows + missing(folder)


def missing(folder):
    """A cache that is down, and a proxy that asks for a password."""
    upstream = parts.Upstream(facts=300, items=20)
    rows = []
    with upstream.listening() as port, parts.Cache(folder / "nginx", port) as cache:
        setting = parts.configuration(cache.url, feeds={"planet": "30m"}, timeout=5)
        with parts.machines(folder, 5, setting) as servers:
            parts.wait_for_content(servers)
            before = [stored(server) for server in servers]
            upstream.requests.clear()
            cache.stop()
            for server in servers:
                after = refreshed(server)
                kinds = {(each["error"] or {}).get("kind") for each in after.values()}
                states = {each["state"] for each in after.values()}
            kept = [stored(server) for server in servers] == before
            met = kinds == {"offline"} and states == {"fresh"} and kept and not upstream.requests
            rows.append(Row("cache down", f"{', '.join(map(str, kinds))}, {', '.join(states)}",
                            peer=f"{sum(upstream.requests.values())} requests", goal="content stays, upstream 0",
                            met=met, note=after["facts"]["error"]["message"] if after["facts"]["error"] else ""))
            cache.start()
            recovered = all(not each["error"] for server in servers for each in refreshed(server).values())
            rows.append(Row("cache up again", "recovered" if recovered else "failed", met=recovered))
    return rows
