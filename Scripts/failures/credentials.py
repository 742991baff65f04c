"""Looks for the key of Giphy wherever it must not be.

norrisd runs at the log level trace with a key that occurs nowhere else. Giphy answers well, refuses, repeats the
request with the key in bodies and headers, redirects, and hangs. Then the key is searched in all that norrisd writes,
and in the requests that a redirect sends elsewhere.
"""

import base64
import json
import pathlib
import resource
import shutil
import ssl
import subprocess
import time
import urllib.parse

import harness
import upgrade
import upstreams
from harness import Row

KEY = "Zq7wK3vT9xB2nM5cR8yL1sD4fG6hJ0pA"
FORMS = [KEY, KEY.lower(), KEY[:12], base64.b64encode(KEY.encode()).decode().rstrip("=")[:-1]]
UNITS = pathlib.Path(__file__).resolve().parents[2] / "systemd"
READS = [("server.status", {}), ("server.info", {}), ("server.metrics", {}), ("gif.trending", {}), ("recent.list", {}),
         ("rpc.discover", {}), ("favorite.list", {}), ("post.list", {}), ("fact.random", {})]
COMMANDS = [["status"], ["doctor"], ["doctor", "--json"], ["config", "show"], ["recent"],
            ["call", "server.status"], ["status", "--json"]]


class Upstream:
    """Answers a search according to its query, and redirects to another host."""

    def __init__(self, elsewhere):
        self.elsewhere, self.queries = elsewhere, set()

    def answer(self, path, headers):
        query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(path).query)).get("q", "good")
        self.queries.add(query)
        echo = json.dumps({"message": f"Not allowed: {path}", "meta": {"status": 401, "msg": path}}).encode()
        kind = {"Content-Type": "application/json"}
        if query == "hangs":
            time.sleep(5)
        if query in ["elsewhere", "secret"]:
            target = f"{self.elsewhere}/stolen" + (f"?api_key={KEY}" if query == "secret" else "")
            return 302, {"Location": target}, b""
        if query == "loop":
            return 302, {"Location": path}, b""
        if query == "garbage":
            return 200, kind, b'{"data": [' + echo
        if query == "page":
            return 200, {"Content-Type": f"text/html; {KEY}"}, b"<html>" + echo
        if query.isdigit():
            return int(query), kind | {"X-Request": path, "WWW-Authenticate": KEY}, echo
        gifs = [upgrade.gif(query, number) for number in range(3)]
        return 200, kind, json.dumps({"data": gifs, "meta": {"status": 200, "msg": "OK", "response_id": "a"},
                                      "pagination": {"total_count": 3, "count": 3, "offset": 0}}).encode()


QUERIES = ["good", "400", "401", "403", "404", "429", "500", "503", "garbage", "page", "elsewhere", "secret", "loop",
           "hangs"]


def credentials(folder, options):
    "the key of Giphy in logs, files, replies, arguments, environments and requests to others"
    key, found, searched, stolen = folder / "key", [], 0, []
    key.write_text(KEY + "\n")
    key.chmod(0o600)

    def elsewhere(path, headers):
        stolen.append(f"{path} {headers}")
        return 404, {}, b"{}"

    def look(place, text):
        nonlocal searched
        searched += 1
        text = text if isinstance(text, bytes) else str(text).encode(errors="replace")
        found.extend(f"{place} has {form[:4]}…" for form in FORMS if form.encode() in text)

    # Redirects are followed from https to https only.
    certificates = upstreams.make_certificates(folder / "certificates")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "good.pem")
    with harness.upstream(elsewhere, context=context) as other:
        giphy = Upstream(f"https://127.0.0.1:{other}")
        with harness.upstream(giphy.answer, context=context) as port:
            setting = (f"gifs: {{base_url: 'https://127.0.0.1:{port}', api_key_file: '{key}', queries: [good]}}\n"
                       "facts: {enabled: false}\nhttp: {timeout: 1s}\n")
            for query in QUERIES:
                # A new daemon, because after a failure no search is sent for a minute.
                home = folder / f"home-{query}"
                under = ["sh", "-c", f'exec "$@" --log-level trace 2>>"{home}.log"', "sh"]
                with harness.daemon(home, setting, under=under,
                                    SSL_CERT_FILE=str(certificates / "trusted.pem")) as server:
                    ask(server, query, folder, look)
                for path in [home.with_name(f"{home.name}.log"), *home.rglob("*")]:
                    if path.is_file():
                        look(f"{path.name} after {query}", path.read_bytes())
    look("norrisd --print-config", subprocess.run(
        [harness.PROGRAMS / "norrisd", "--print-config", "--config", home / "config.yaml"], capture_output=True,
        timeout=30).stdout)
    sent = [text for text in stolen if KEY in text and "/stolen?api_key" not in text]
    for line in found:
        print(f"credentials: {line}", flush=True)
    limits = [unit.name for unit in UNITS.rglob("*.service") if "LimitCORE=0" not in unit.read_text()]
    return [
        Row("queries that Giphy received", f"{len(giphy.queries & set(QUERIES))} of {len(QUERIES)}", goal="all",
            met=giphy.queries >= set(QUERIES)),
        Row("places without the key", f"{searched - len(found)} of {searched}", goal="all", met=not found,
            note="; ".join(found[:5])),
        Row("requests to another host by a redirect, with the key", f"{len(sent)} of {len(stolen)}", goal="0",
            met=not sent and bool(stolen), note="; ".join(sent[:3])),
        Row("units that allow a core dump", str(len(limits)), goal="0", met=not limits, note=", ".join(limits)),
        core(folder, setting),
    ]


def ask(server, query, folder, look):
    """Sends a query to Giphy, and looks at all that the daemon and norrisctl say afterwards."""
    harness.wait_for(lambda: server.call("gif.search", query="good", offline=True)["items"], "GIFs")
    for method, parameters in [("gif.search", {"query": query}), ("gif.random", {"tag": query}), *READS]:
        look(f"the reply to {method} after {query}", server.reply(method, **parameters))
    for command in [*COMMANDS, ["gif", query]]:
        result = subprocess.run([harness.PROGRAMS / "norrisctl", "--socket", server.path, *command], timeout=30,
                                env={"HOME": str(folder)}, capture_output=True)
        look(f"norrisctl {' '.join(command)} after {query}", result.stdout + result.stderr)
    process = pathlib.Path(f"/proc/{server.process.pid}")
    look("the arguments", (process / "cmdline").read_bytes())
    look("the environment", (process / "environ").read_bytes())


def core(folder, setting):
    """A daemon that was started by hand, in a shell that allows core dumps, ends with SIGABRT."""
    home = folder / "dumped"
    home.mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        with harness.daemon(home, setting, under=["env", "-C", home]) as server:
            limits = pathlib.Path(f"/proc/{server.process.pid}/limits").read_text()
            server.process.send_signal(6)
            server.process.wait(20)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))
    dumps = [path for path in home.iterdir() if path.name.startswith("core")]
    allowed = next(line for line in limits.splitlines() if line.startswith("Max core")).split()[4]
    note = f"limit {allowed}; core_pattern {pathlib.Path('/proc/sys/kernel/core_pattern').read_text().strip()}"
    holds = any(KEY.encode() in path.read_bytes() for path in dumps)
    shutil.rmtree(home)
    # Without a goal: the administrator of that shell has asked for core dumps, which contain the whole memory.
    return Row("core dumps of a daemon started by hand", str(len(dumps)), note=f"{note}; with the key: {holds}")
