#!/usr/bin/env python3
"""Checks that an upgrade of norrisd keeps everything, without a network.

Usage: Scripts/benchmarks/upgrade.py [--facts N] [--kills N] OLD NEW     (as root; folders with norrisd)

OLD fetches facts, GIFs and posts from an upstream on loopback, and reads fortune files. Users keep favorites, mark
posts as read, search, and ask for the facts of some days. Then the upstream goes away, and NEW runs on the same files:
what it answers, after its first start and after its second, must be what OLD answered. NEW is also killed with
SIGKILL before its first start has ended, each time on the files as OLD left them, and must then start and answer the
same. The upstream must then be asked with the validators that OLD received. At last OLD runs on the files of NEW: it
serves them, or exits with 78 and leaves them as they are.

Not compared: ages, shuffles (they may restart once), and facts of the starting collection, which is the program's.
Exits with 1 if anything differs.
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time
import urllib.parse

sys.dont_write_bytecode = True
import harness
import store

USERS = [60001, 60002]  # users with stored data; root sends all other requests
QUERIES = ["chuck norris", "roundhouse kick"]  # for GIFs
GIFS, POSTS, JOKES = 60, 120, 150
LAST_MODIFIED = "Wed, 18 Nov 2026 10:00:00 GMT"
TIMED_OUT = 60  # seconds, plus a second per 500 facts


# The upstream


def fact(number):
    return {"categories": [["dev"], ["food"], []][number % 3], "created_at": "2020-01-05 13:42:19.324003",
            "id": f"upgrade-{number}", "updated_at": "2020-01-05 13:42:19.324003",
            "url": f"https://api.chucknorris.io/jokes/upgrade-{number}",
            "value": f"Chuck Norris upgrades {number} machines – ohne Netz, “without” a restart."}


def gif(query, number):
    renditions = {
        name: {"url": f"https://media3.giphy.com/media/{number}/{name}.gif?cid=1&ep=v1&ct=g", "width": str(width),
               "height": "200", "size": "976265", "frames": "20", "mp4": f"https://media3.giphy.com/{number}.mp4?a=b"}
        for name, width in [("original", 480), ("fixed_width", 200)]
    }
    name = query.replace(" ", "")
    return {"type": "gif", "id": f"{name}{number}", "url": f"https://giphy.com/gifs/{name}{number}", "rating": "g",
            "title": f"{query} GIF {number} by Ada", "username": "Ada", "alt_text": "a kick", "is_sticker": number % 2,
            "import_datetime": "2020-09-22 01:31:35", "trending_datetime": "2022-01-10 04:00:11", "images": renditions}


def status(number):
    return {"id": str(1000 + number), "created_at": f"2026-10-{number % 28 + 1:02}T12:00:00.000Z",
            "visibility": "public", "uri": f"https://town.example/{number}",
            "url": f"https://town.example/@ada/{number}",
            "content": f"<p>Status {number} &amp; more</p>", "sensitive": False, "spoiler_text": "",
            "account": {"id": str(number % 3), "acct": f"ada{number % 3}", "display_name": f"Ada {number % 3} 🌱",
                        "url": "https://town.example/@ada", "avatar": "https://town.example/ada.png"},
            "favourites_count": number, "replies_count": 1, "reblogs_count": 0, "emojis": [], "mentions": [],
            "tags": [{"name": "upgrade", "url": "https://town.example/tags/upgrade"}],
            "media_attachments": [{"id": "7", "type": "image", "url": f"https://town.example/{number}.jpg",
                                   "meta": {"original": {"width": 1600, "height": 1200}}, "description": "soup"}]}


def entry(number):
    day = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(hours=7 * number)
    date = day.strftime("<pubDate>%a, %d %b %Y %H:%M:%S GMT</pubDate>") if number % 5 else ""
    return (f"<item><guid isPermaLink='false'>post {number}</guid><title>Post {number}</title>{date}"
            f"<author>a{number % 4}@example.org (Grace {number % 4})</author><category>tag{number % 7}</category>"
            f"<link>https://planet.example/{number}</link>"
            f"<description>&lt;p&gt;Text {number} {'chuck ' * (number % 50)}&lt;/p&gt;</description></item>")


class Upstream:
    """The upstream of all sources, which records requests with validators."""

    def __init__(self):
        self.validated = set()

    def answer(self, target, headers):
        path, _, query = target.partition("?")
        query = dict(urllib.parse.parse_qsl(query))
        if path.startswith("/limited"):
            return 429, {"Retry-After": "86400"}, b""
        tag = f'"{path.strip("/")}-1"'
        if headers.get("If-None-Match") == tag or headers.get("If-Modified-Since") == LAST_MODIFIED:
            self.validated.add(path)
            return 304, {"ETag": tag}, b""
        body = self.body(path, query)
        kind = "application/rss+xml" if isinstance(body, str) else "application/json"
        text = body if isinstance(body, str) else json.dumps(body)
        fields = {} if path.startswith("/v1/") else {"ETag": tag, "Last-Modified": LAST_MODIFIED}
        return (404 if body is None else 200), {"Content-Type": kind, **fields}, text.encode()

    def body(self, path, query):
        if path == "/jokes/search":
            facts = [fact(number) for number in range(JOKES)]
            return {"total": len(facts), "result": facts}
        if path == "/jokes/categories":
            return ["dev", "food"]
        if path in ["/v1/gifs/search", "/v1/gifs/trending"]:
            offset, limit = int(query.get("offset", 0)), int(query.get("limit", 25))
            data = [gif(query.get("q", "trending"), number) for number in range(GIFS)][offset:offset + limit]
            return {"data": data, "meta": {"status": 200, "msg": "OK"},
                    "pagination": {"total_count": GIFS, "count": len(data), "offset": offset}}
        if path.startswith("/town/"):
            return [status(number) for number in range(40)]
        if path == "/planet":
            return ('<?xml version="1.0"?><rss version="2.0"><channel><title>Planet</title>'
                    + "".join(map(entry, range(POSTS))) + "</channel></rss>")


def configuration(folder, port):
    url = f"http://127.0.0.1:{port}"
    return f"""
facts: {{base_url: '{url}', fortunes: ['{folder}/facts']}}
gifs: {{base_url: '{url}', api_key_file: '{folder}/key', queries: [{', '.join(QUERIES)}]}}
posts:
  sources:
    planet: {{kind: feed, url: '{url}/planet'}}
    town: {{kind: mastodon, url: '{url}/town'}}
    limited: {{kind: feed, url: '{url}/limited'}}
"""


# Stored data and answers


def sources(server):
    return {source["name"]: source for source in server.call("server.status")["sources"]}


def fetched(server):
    error = sources(server)["limited"]["freshness"]["error"]
    return error and all("fetched_at" in source["freshness"] for name, source in sources(server).items()
                         if name != "limited") and server.call("gif.search", query=QUERIES[1], offline=True)["items"]


def use(server, days):
    """Stores favorites of each kind, read marks, searches, facts and the facts of the days."""
    for day in days:
        server.call("fact.today", date=day)
    for number, uid in enumerate(USERS):
        with harness.effective_user(uid):
            facts = server.call("fact.random", count=60)["items"]
            facts += server.call("fact.random", category="large")["items"]
            server.call("fact.random", max_length=80, count=20)
            for query in ["Chuck  Norris", f"kick {number}", store.COMMON]:
                server.call("fact.search", query=query)
            # More searches than are listed.
            for query in [*QUERIES, "nothing of the kind", "MACHINES", "ohne"]:
                server.call("gif.search", query=query, offline=True)
            posts = list(server.pages("post.list", limit=100))
            for kind, kept in [("fact", facts), ("post", posts[number:40]),
                               ("gif", server.call("gif.search", query=QUERIES[number], offline=True)["items"])]:
                for item in kept:
                    server.call("favorite.add", kind=kind, id=item["id"])
            server.call("favorite.remove", kind="fact", id=facts[0]["id"])
            server.call("post.mark_read", ids=[post["id"] for post in posts[number::3]])


# NEW gets the cursors that OLD returned for the second pages. Cursors of facts may become invalid with an upgrade,
# because they contain the numbers of stored facts, and a schema may renumber the facts.
LISTS = {
    "GIFs found": ("gif.search", {"query": QUERIES[0], "offline": True}),
    "posts": ("post.list", {}),
}


def answers(server, days, cursors):
    """Returns all compared answers by name."""
    result = {}

    def reply(method, **parameters):
        reply = server.reply(method, **parameters)
        content = reply.get("result", {"error": reply.get("error", {}).get("code")})
        return {name: item for name, item in content.items() if name not in ["freshness", "next", "total"]}

    def listed(method, **parameters):
        return list(server.pages(method, limit=50, **parameters))

    for uid in USERS:
        with harness.effective_user(uid):
            result[f"recent searches of {uid}"] = reply("recent.list")
            result[f"favorites of {uid}"] = listed("favorite.list")
            result[f"favorites of {uid}, second page"] = reply("favorite.list", cursor=cursors[uid], limit=5)
            result[f"read marks of {uid}"] = {post["id"]: post["read"] for post in listed("post.list")}
            result[f"unread posts of {uid}"] = [post["id"] for post in listed("post.list", unread=True)]
    for name, source in sources(server).items():
        freshness = source["freshness"]
        result[f"source {name}"] = {
            **{key: source.get(key) for key in ["kind", "enabled", "next_run_at", "consecutive_failures", "quota"]},
            "items": source["items"] if name != "facts" else None, "fetched_at": freshness.get("fetched_at"),
            "error": freshness["error"]}
    for day in days:
        result[f"fact of {day}"] = reply("fact.today", date=day)
    result["fact of today"] = reply("fact.today")
    for name, (method, parameters) in LISTS.items():
        result[f"cursor: {name}"] = reply(method, **parameters, cursor=cursors[name], limit=5)
    facts = {}
    for query in ["a", "e", "o"]:
        found = [fact for fact in listed("fact.search", query=query) if fact["source"] != "builtin"]
        result[f'facts with "{query}"'] = [fact["id"] for fact in found]
        facts |= {fact["id"]: fact for fact in found}
    result["facts"] = facts
    result["facts by id"] = {id: reply("fact.get", id=id) for id in facts}
    result["facts of a rare category"] = listed("fact.search", query=store.COMMON, category="rare")
    result["categories"] = [category["name"] for category in reply("fact.categories")["items"]]
    result["GIFs that trend"] = listed("gif.trending")
    gifs = {gif["id"] for gif in result["GIFs that trend"]}
    for query in QUERIES:
        result[f"GIFs of {query}"] = listed("gif.search", query=query, offline=True)
        gifs |= {gif["id"] for gif in result[f"GIFs of {query}"]}
    result["GIFs by id"] = {id: reply("gif.get", id=id) for id in sorted(gifs)}
    result["posts"] = listed("post.list")
    result["posts by id"] = {post["id"]: reply("post.get", id=post["id"]) for post in result["posts"]}
    result["authors"] = listed("author.list")
    result["read-only"] = [server.call("server.status")["database"]["read_only"]]
    result["facts at random"] = len(server.call("fact.random", count=50)["items"])
    return result


def differences(before, after):
    """Returns a line for each different answer."""
    lines = []
    for name, old in before.items():
        new = after.get(name)
        if old == new:
            continue
        if isinstance(old, dict) and isinstance(new, dict):
            keys = [key for key in {**old, **new} if old.get(key) != new.get(key)]
            old, new = ({key: side.get(key) for key in keys[:3]} for side in (old, new))
            name += f" ({len(keys)} differ)"
        elif isinstance(old, list) and isinstance(new, list):
            name += f" ({len(old)} before, {len(new)} after)"
            old, new = next(([pair] for pair in zip(old, new) if pair[0] != pair[1]), [(old[-1:], new[-1:])])[0]
        lines.append(f"{name}:\n    before: {str(old)[:400]}\n    after:  {str(new)[:400]}")
    return lines


# The check


class Check:
    def __init__(self, new, days, timeout):
        self.new, self.days, self.timeout, self.failed = new, days, timeout, 0

    def report(self, name, lines, note=""):
        self.failed += bool(lines)
        print(f"upgrade: {name}: {'DIFFERS' if lines else 'ok'}{note}", *lines, sep="\n  ", flush=True)

    def same(self, name, folder, setting, before, cursors):
        """Runs NEW in the folder; returns the seconds until it was ready."""
        try:
            with harness.daemon(folder, setting, timeout=self.timeout, programs=self.new) as server:
                server.path.chmod(0o666)
                # Without a wait, because NEW serves the stored facts before it reads any fortune file again.
                lines = differences(before, answers(server, self.days, cursors))
                note = f", READY after {server.start:.0f} ms"
            lines += store.faults_of(folder, folder.parent / "checked")
        except (harness.Failure, OSError) as failure:
            return self.report(name, [f"{type(failure).__name__}: {failure}"])
        self.report(name, lines, note)
        return server.start / 1000


def files(folder):
    return ", ".join(f"{path.parent.name}/{path.name} {path.stat().st_size / 1e6:.2f} MB" for kind in ["state", "cache"]
                     for path in sorted((folder / kind).rglob("*")) if path.is_file() and path.stat().st_size)


def copied(folder, copy):
    return shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("sock", "notify"))


def run(folder, options):
    old, new = (path if path.is_dir() else path.parent for path in [options.old, options.new])
    folder.chmod(0o711)
    home, upstream, timeout = folder / "old", Upstream(), TIMED_OUT + options.facts / 500
    home.mkdir()
    store.generate(folder / "facts", options.facts)
    (folder / "key").write_text("0123456789abcdef0123456789abcdef\n")
    today = datetime.date.today()
    days = [str(today + datetime.timedelta(days=number)) for number in [-30, -2, -1, 0, 1]]
    with harness.upstream(upstream.answer) as port:
        setting = configuration(folder, port)
        with harness.daemon(home, setting, programs=old, timeout=timeout) as server:
            server.path.chmod(0o666)
            harness.wait_for(lambda: fetched(server), "the first fetches", timeout=120)
            use(server, days)
            cursors = {name: server.call(method, **parameters, limit=5)["next"]
                       for name, (method, parameters) in LISTS.items()}
            for uid in USERS:
                with harness.effective_user(uid):
                    cursors[uid] = server.call("favorite.list", limit=5)["next"]
            # norrisd fetches further pages of GIFs on request.
            answers(server, days, cursors)
    # Without the upstream, as for NEW.
    with harness.daemon(home, setting, programs=old, timeout=timeout) as server:
        server.path.chmod(0o666)
        before = answers(server, days, cursors)
    print(f"upgrade: as OLD leaves it: {len(before['facts']):,} facts, {len(before['GIFs by id'])} GIFs, "
          f"{len(before['posts'])} posts; {files(home)}")
    check = Check(new, days, timeout)
    empty = [name for name, answer in before.items() if not answer or isinstance(answer, dict) and "error" in answer
             and not name.startswith("source ")]
    check.report("OLD answers everything that is compared", [f"nothing: {name}" for name in empty])
    kept = copied(home, folder / "new")
    start = check.same("the first start of NEW", kept, setting, before, cursors)
    if start is None:
        return 1
    print(f"upgrade: files: {files(kept)}")
    check.same("the second start of NEW", kept, setting, before, cursors)
    generator = random.Random()
    for number in range(options.kills):
        copy = copied(home, folder / "killed")
        seconds = generator.uniform(0, start)
        harness.killed_start(copy, setting, seconds, timeout=timeout, programs=new)
        check.same(f"after kill -9 {seconds * 1000:.0f} ms into the first start", copy, setting, before, cursors)
        shutil.rmtree(copy)
    with (harness.upstream(upstream.answer, port),
          harness.daemon(kept, setting, timeout=timeout, programs=new) as server):
        upstream.validated.clear()
        server.call("source.refresh")
        expected = {"/jokes/search", "/planet"}
        with contextlib.suppress(harness.Failure):
            harness.wait_for(lambda: expected <= upstream.validated, "conditional requests", timeout=30)
        check.report("the upstream is asked with the validators of OLD",
                     [f"not asked so: {path}" for path in sorted(expected - upstream.validated)])
    processes, databases = [], [kept / "state" / "state.db", kept / "cache" / "cache.db"]
    content = [path.read_bytes() for path in databases]
    try:
        with harness.daemon(kept, setting, timeout=timeout, programs=old, started=processes.append):
            check.report("OLD after NEW", [], ", serves the same files")
    except harness.Failure:
        lines = [f"{path.name} has changed" for path, old in zip(databases, content) if path.read_bytes() != old]
        if (status := processes[0].returncode) != 78:
            lines.append(f"exit status {status}")
        check.report("OLD after NEW", lines, ", refuses the files")
    return 1 if check.failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=pathlib.Path, metavar="OLD")
    parser.add_argument("new", type=pathlib.Path, metavar="NEW")
    parser.add_argument("--facts", type=int, default=3_000, metavar="N", help="facts in fortune files (default: 3,000)")
    parser.add_argument("--kills", type=int, default=20, metavar="N", help="kills at the first start (default: 20)")
    options = parser.parse_args()
    if os.geteuid() != 0:
        parser.error("root is needed to ask as other users")
    begin = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="norris-upgrade-") as folder:
        result = run(pathlib.Path(folder), options)
    print(f"upgrade: {'something differs' if result else 'all is as it was'}; {time.monotonic() - begin:.0f} s")
    return result


if __name__ == "__main__":
    sys.exit(main())
