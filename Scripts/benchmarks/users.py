"""Measures the size of state.db after many user ids have stored as much as possible, except favorites."""

import json
import os
import statistics
import time

import harness

FIRST = 100_000  # the first user id
POSTS = 20_000
LIMIT = 80  # MiB of state.db: 64 for the ledger, and free pages of SQLite
ITEM = "<item><guid isPermaLink='false'>{0}</guid><title>Post {0}</title><description>Text {0}</description></item>"
LINE = 60_000  # bytes of ids in a request
PATIENCE = 60  # seconds


def feed(_path, _headers):
    items = "".join(map(ITEM.format, range(POSTS)))
    body = f'<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>{items}</channel></rss>'
    return 200, {"Content-Type": "application/rss+xml"}, body.encode()


def requests(ids):
    """Yields requests that store all kinds of user data: searches, read marks, shuffles, served items."""
    for letter in "abcdef":
        # If norrisd refuses the first query, the second query has the maximum length.
        for length in [65_000, 1_000]:
            yield "gif.search", {"query": letter * length, "offline": True}
    line = []
    for id in ids:
        line.append(id)
        if len(line) * (len(id) + 3) >= LINE:
            yield "post.mark_read", {"ids": line}
            line = []
    yield "post.mark_read", {"all": True}
    for length in range(64):
        yield "fact.random", {"max_length": 100 + length, "name": "N" * 64}
    yield "post.get", {"id": ids[0]}


def use(path, ids):
    """Sends all requests on one connection; returns the number of marked posts and the codes of errors."""
    marked, codes = 0, {}
    with harness.Daemon(None, path, 0).connect() as connection:
        replies = connection.makefile("rb")
        connection.settimeout(PATIENCE)
        for method, parameters in requests(ids):
            connection.sendall(harness.request(method, **parameters).encode() + b"\n")
            reply = json.loads(replies.readline())
            marked += reply.get("result", {}).get("marked", 0)
            if "error" in reply:
                code = reply["error"]["code"]
                codes[code] = codes.get(code, 0) + 1
    return marked, codes


def as_user(uid, function, *arguments):
    """Calls a function in a process of another user."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            os.setgroups([])
            os.setgid(uid)
            os.setuid(uid)
            os.write(write, json.dumps(function(*arguments)).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as input:
        text = input.read()
    os.waitpid(pid, 0)
    return json.loads(text) if text else None


def users(folder, options):
    """1,000 user ids store all they can: the size of state.db"""
    if os.geteuid() != 0:
        raise harness.Failure("root is needed to ask as other users")
    folder.chmod(0o711)
    with harness.upstream(feed) as port:
        setting = f"facts: {{enabled: false}}\nposts: {{sources: {{feed: {{kind: feed, url: 'http://127.0.0.1:{port}/'}}}}}}\n"
        with harness.daemon(folder / "home", setting) as server:
            (folder / "home").chmod(0o711)
            server.path.chmod(0o666)

            def stored():
                return next(source["items"] for source in server.call("server.status")["sources"]
                            if source["name"] == "feed")

            harness.wait_for(stored, "the posts", timeout=60)
            ids = [post["id"] for post in server.pages("post.list", limit=100)]
            if len(ids) != stored():
                raise harness.Failure(f"{len(ids)} posts of {stored()}")
            times, marked, codes, failed = [], 0, {}, 0
            state = folder / "home" / "state" / "state.db"

            def size():
                return sum(path.stat().st_size for path in state.parent.glob("state.db*"))

            for number in range(options.users):
                begin = time.monotonic()
                result = as_user(FIRST + number, use, server.path, ids)
                times.append(time.monotonic() - begin)
                if result is None:
                    failed += 1
                    continue
                marked += result[0]
                for code, count in result[1].items():
                    codes[code] = codes.get(code, 0) + count
                if number in [0, 9, 99, 499]:
                    print(f"users: {number + 1}: state.db {size() / (1 << 20):.1f} MiB", flush=True)
            errors = ", ".join(f"{count} × {code}" for code, count in sorted(codes.items()))
            note = (f"{len(ids):,} posts, {marked:,} marked; {statistics.median(times):.2f} s a user, at most "
                    f"{max(times):.2f} s; errors: {errors or 'none'}; {failed} users without a reply")
    # SQLite has written its log back into the file at the end.
    figure = state.stat().st_size / (1 << 20)
    return [harness.Row(f"users: state.db after {options.users} users", f"{figure:.1f} MiB", goal=f"<= {LIMIT} MiB",
                        met=figure <= LIMIT and not failed, note=note)]
