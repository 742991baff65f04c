"""A deployment: many machines start at once behind an empty cache, then refresh everything without news, and then the
cache is restarted empty while they refresh."""

import shutil
import statistics
import time

import parts
from harness import Failure, Row

CONTENT_GOAL, REFRESH_GOAL = 120, 1024  # seconds, bytes


def refresh(servers, timeout=120):
    """Refreshes all sources on all machines, and waits until the runs have ended."""
    names = list(parts.sources(servers[0]))
    before = {server: parts.runs(server) for server in servers}
    for server in servers:
        for name in names:
            server.call("source.refresh", source=name)
    waiting = list(servers)
    end = time.monotonic() + timeout
    while waiting:
        if time.monotonic() > end:
            raise Failure(f"{len(waiting)} machines did not refresh")
        waiting = [server for server in waiting
                   if any(parts.runs(server)[name] <= before[server][name] for name in names)]
        time.sleep(0.1)


def each_once(upstream):
    """Returns a text that names the documents that were requested more than once."""
    repeated = {path: count for path, count in upstream.requests.items() if count > 1}
    return f"more than once: {repeated}" if repeated else ""


def cold(folder, options):
    """cold machines: requests at the upstream, seconds, bytes of a refresh without news, a cache restarted empty"""
    count = options.machines
    upstream = parts.Upstream(lifetime=3600)
    documents = len(parts.FACTS) + len(parts.FEEDS)
    with upstream.listening() as port, parts.Cache(folder / "nginx", port) as cache:
        begin = time.monotonic()
        with parts.machines(folder, count, parts.configuration(cache.url)) as servers:
            ready = time.monotonic() - begin
            parts.wait_for_content(servers)
            seconds = time.monotonic() - begin
            lines = cache.lines()
            total = sum(upstream.requests.values())
            name = f"{count} cold machines"
            rows = [
                Row(f"{name}: requests at the upstream", str(total), goal=f"= {documents}, each document once",
                    met=total == documents and not each_once(upstream), note=each_once(upstream)),
                Row(f"{name}: requests at the cache", f"{len(lines):,}"),
                Row(f"{name}: sent by the cache", f"{sum(line.sent for line in lines) / 1e6:,.0f} MB",
                    peer=f"{upstream.bytes / 1e6:.1f} MB"),
                Row(f"{name}: all are ready", f"{ready:.1f} s"),
                Row(f"{name}: all have everything", f"{seconds:.1f} s", goal=f"<= {CONTENT_GOAL} s",
                    met=seconds <= CONTENT_GOAL),
                Row(f"{name}: memory of a daemon",
                    f"{statistics.median(server.anonymous_memory() for server in servers) / 1e6:.1f} MB"),
            ]
            upstream.requests.clear()
            refresh(servers)
            lines = cache.lines()
            moved = sum(line.sent + line.received for line in lines)
            unchanged = sum(line.status == 304 for line in lines)
            largest = max(line.sent + line.received for line in lines)
            rows += [
                Row("refresh without news: bytes for a source and machine", f"{moved / len(lines):.0f} B",
                    goal=f"<= {REFRESH_GOAL} B", met=largest <= REFRESH_GOAL and unchanged == len(lines),
                    note=f"{len(lines)} requests, {unchanged} with status 304, the largest {largest} B, "
                         f"{moved / count:.0f} B for the {len(lines) / count:.0f} sources of a machine"),
                Row("refresh without news: requests at the upstream", str(sum(upstream.requests.values())), goal="= 0",
                    met=not upstream.requests),
            ]
            cache.stop()
            shutil.rmtree(cache.folder / "copies")
            cache.start()
            cache.lines()
            upstream.requests.clear()
            refresh(servers)
            total = sum(upstream.requests.values())
            lines = cache.lines()
            rows.append(Row("cache restarted empty, all refresh: requests at the upstream", str(total),
                            goal=f"<= {documents}", met=total <= documents and not each_once(upstream),
                            note=f"{len(lines)} requests at the cache, "
                                 f"{sum(line.status == 304 for line in lines)} with status 304. {each_once(upstream)}"))
    return rows
