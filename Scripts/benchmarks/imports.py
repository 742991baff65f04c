"""Latencies while many facts are imported, beside the same load when nothing is."""

import contextlib
import http.server
import json
import signal
import subprocess
import threading

from harness import FACT_RANDOM, compared, compiled, daemon, load, load_command, running, value, wait_for

FACTS = 50_000
CONNECTIONS = 50


@contextlib.contextmanager
def upstream():
    """Serves the facts on loopback in the shape of api.chucknorris.io; yields its port."""
    facts = [
        {"categories": [], "created_at": "2020-01-05 13:42:19.324003", "id": f"bench-{number:017}",
         "icon_url": "https://api.chucknorris.io/img/avatar/chuck-norris.png",
         "updated_at": "2020-01-05 13:42:19.324003", "url": f"https://api.chucknorris.io/jokes/bench-{number:017}",
         "value": f"Chuck Norris has counted to infinity {number} times, and once more to be sure of it."}
        for number in range(FACTS)
    ]
    bodies = {"/jokes/search": json.dumps({"total": FACTS, "result": facts}).encode(), "/jokes/categories": b"[]"}

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = bodies[self.path.split("?")[0]]
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()


def imports(folder, options):
    "latency on 50 connections while 50,000 facts are imported, beside a quiet daemon (only if named)"
    program = compiled(folder, "load")
    home = folder / "norrisd"
    with upstream() as port, daemon(home) as server:
        def measure(seconds):
            return load(program, server.path, connections=CONNECTIONS, seconds=seconds)[1:]

        measure(1)
        latencies = {"quiet": measure(5)}
        (home / "config.yaml").write_text(
            f"facts: {{enabled: true, base_url: 'http://127.0.0.1:{port}'}}\n"
            "http: {max_body: 128MiB, timeout: 60s}\n")
        command = load_command(program, server.path, FACT_RANDOM, CONNECTIONS, seconds=1000)
        with running(command, stdout=subprocess.PIPE) as process:
            server.process.send_signal(signal.SIGHUP)
            wait_for(lambda: server.call("server.status")["sources"][0]["items"] >= FACTS, "the import", timeout=900)
            process.send_signal(signal.SIGTERM)
            latencies["import"] = [float(word) for word in process.communicate(timeout=30)[0].split()[1:]]
        latencies["after"] = measure(5)
    rows = []
    for name, (p50, p99) in latencies.items():
        rows.append(value(f"{name}, p50", [p50], "ms"))
        rows.append(compared(f"{name}, p99 / quiet", [p99], [latencies["quiet"][1]], "ms"))
    return rows
