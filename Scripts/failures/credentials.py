"""Looks for the key of Giphy wherever it must not be.

norrisd runs at the log level trace with a key that occurs nowhere else. Giphy answers well, refuses, repeats the
request with the key in bodies and headers, redirects, and hangs. Then the key is searched in all that norrisd writes,
and in the requests that a redirect sends elsewhere.
"""

import base64
import pathlib
import ssl
import subprocess
import time
import urllib.parse

from harness import SCRIPTS, Row, Upstream, content, daemon, faultless, program, replied, wait_for
from upstreams import make_certificates

KEY = "Zq7wK3vT9xB2nM5cR8yL1sD4fG6hJ0pA"
FORMS = [KEY, KEY.lower(), KEY[:12], base64.b64encode(KEY.encode()).decode().rstrip("=")[:-1]]
READS = ["server.status", "server.info", "server.metrics", "gif.trending", "recent.list", "rpc.discover",
         "favorite.list", "post.list", "fact.random"]
COMMANDS = [["status"], ["doctor"], ["doctor", "--json"], ["recent"], ["status", "--json"]]
QUERIES = ["good", "400", "401", "403", "404", "429", "500", "503", "garbage", "page", "elsewhere", "secret", "loop",
           "hangs"]


def answer(elsewhere, asked):
    """Returns the answers of Giphy, by the query, which is added to `asked`."""
    def giphy(target, _):
        query = urllib.parse.parse_qs(urllib.parse.urlsplit(target).query).get("q", ["good"])[0]
        asked.add(query)
        echo = {"message": f"Not allowed: {target}", "meta": {"status": 401, "msg": target}}
        if query.isdigit():
            return replied(echo, status=int(query), X_Request=target, WWW_Authenticate=KEY)
        match query:
            case "hangs":
                time.sleep(5)
            case "elsewhere":
                return replied("", status=302, Location=f"{elsewhere}/stolen")
            case "secret":
                return replied("", status=302, Location=f"{elsewhere}/stolen?api_key={KEY}")
            case "loop":
                return replied("", status=302, Location=target)
            case "garbage":
                return replied(f'{{"data": [{target}', "application/json")
            case "page":
                return replied(f"<html>{target}", f"text/html; {KEY}")
        return content(target)

    return giphy


def credentials(folder, options):
    """the key of Giphy in logs, files, replies, arguments, environments and requests to others"""
    key, found, searched, stolen, asked = folder / "key", [], 0, [], set()
    key.write_text(KEY + "\n")
    key.chmod(0o600)

    def elsewhere(target, fields):
        stolen.append(f"{target} {fields}")
        return replied({}, status=404)

    def look(place, text):
        nonlocal searched
        searched += 1
        text = text if isinstance(text, bytes) else str(text).encode(errors="replace")
        found.extend(f"{place} has {form[:4]}…" for form in FORMS if form.encode() in text)

    def printed(name, *arguments):
        command = [program(name), *arguments]
        result = subprocess.run(command, timeout=30, env={"HOME": str(folder)}, capture_output=True)
        look(" ".join(map(str, [name, *arguments])), result.stdout + result.stderr)

    # Redirects are followed from https to https only.
    certificates = make_certificates(folder / "certificates")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificates / "good.pem")
    with Upstream(elsewhere, context) as other, Upstream(answer(other.url, asked), context) as giphy:
        setting = {"facts": {"enabled": False}, "http": {"timeout": "1s"},
                   "gifs": {"base_url": giphy.url, "api_key_file": str(key), "queries": ["good"]}}
        for query in QUERIES:
            # A new daemon, because after a failure no search is sent for a minute.
            home = folder / query
            with daemon(home, setting, level="trace", SSL_CERT_FILE=str(certificates / "trusted.pem")) as server:
                wait_for(lambda: server.call("gif.search", query="good", offline=True)["items"], "GIFs")
                for method, parameters in [("gif.search", {"query": query}), ("gif.random", {"tag": query}),
                                           *((method, {}) for method in READS)]:
                    look(f"the reply to {method} after {query}", server.reply(method, **parameters))
                for command in [*COMMANDS, ["gif", query]]:
                    printed("norrisctl", "--socket", server.path, *command)
                for name in ["cmdline", "environ"]:
                    look(name, pathlib.Path(f"/proc/{server.process.pid}/{name}").read_bytes())
            for path in filter(pathlib.Path.is_file, home.rglob("*")):
                look(f"{path.name} after {query}", path.read_bytes())
    printed("norrisd", "--print-config", "--config", home / "config.yaml")
    sent = [text for text in stolen if KEY in text and "/stolen?api_key" not in text]
    units = [unit.name for unit in (SCRIPTS.parent / "systemd").rglob("*.service")
             if "LimitCORE=0" not in unit.read_text()]
    return [
        Row("queries that Giphy received", f"{len(asked & set(QUERIES))} of {len(QUERIES)}", goal="all",
            met=asked >= set(QUERIES)),
        faultless("places without the key", f"{searched - len(found)} of {searched}", found),
        Row("requests to another host by a redirect, with the key", f"{len(sent)} of {len(stolen)}", goal="0",
            met=not sent and bool(stolen), note="; ".join(sent[:3])),
        Row("units that allow a core dump", str(len(units)), goal="0", met=not units, note=", ".join(units)),
    ]
