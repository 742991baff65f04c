"""Machines that a real Prometheus scrapes through the textfile collector of real node_exporters, by the rules and the
dashboard of the folder prometheus."""

import contextlib
import json
import os
import re
import subprocess
import time
import urllib.parse
import urllib.request

import parts
from harness import PROGRAMS, Row, running, wait_for

FOLDER = parts.HERE / "prometheus"
UNIT = parts.HERE.parent / "integrations" / "node-exporter" / "norrisd-metrics.service"
MACHINES, SECONDS = 3, 30  # seconds of scraping
INSTANT = {"$__rate_interval": "15s", "$instance": ".*"}


def collector():
    """Returns the command of norrisd-metrics.service as systemd parses it (systemd.service(5), "Command lines")."""
    text = UNIT.read_text().replace("\\\n", " ")
    script = re.search(r"^ExecStart=/bin/sh -ec '(.*)'$", text, re.MULTILINE).group(1)
    return ["sh", "-ec", script.replace("$$", "$")]


def collect(server, folder):
    variables = {**os.environ, "PATH": f"{PROGRAMS}:{os.environ['PATH']}", "NORRISD_SOCKET": str(server.path)}
    subprocess.run(collector(), cwd=folder, env=variables, check=True, stderr=subprocess.DEVNULL)


def query(port, expression):
    text = urllib.parse.urlencode({"query": expression})
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/api/v1/query?{text}", timeout=10) as reply:
        return json.load(reply)["data"]["result"]


def answers(port):
    with contextlib.suppress(OSError):
        return urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=5).status == 200


@contextlib.contextmanager
def exporters(folder, servers):
    """Runs a node_exporter for each machine, and yields their folders and ports."""
    with contextlib.ExitStack() as stack:
        result = []
        for number in range(len(servers)):
            place, port = folder / f"textfiles-{number}", parts.free_port()
            place.mkdir()
            stack.enter_context(running(
                ["prometheus-node-exporter", "--collector.disable-defaults", "--collector.textfile",
                 f"--collector.textfile.directory={place}", f"--web.listen-address=127.0.0.1:{port}"],
                stderr=subprocess.DEVNULL))
            result.append((place, port))
        for _, port in result:
            wait_for(lambda: answers(port), "node_exporter")
        yield result


@contextlib.contextmanager
def prometheus(folder, ports):
    """Runs Prometheus with the rules, and yields its port."""
    port = parts.free_port()
    targets = ", ".join(f"'127.0.0.1:{each}'" for each in ports)
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        f"rule_files: ['{FOLDER}/norrisd.rules.yml']\n"
        f"scrape_configs: [{{job_name: node, static_configs: [{{targets: [{targets}]}}]}}]\n")
    with running(["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
                  f"--web.listen-address=127.0.0.1:{port}"], stderr=subprocess.DEVNULL):
        wait_for(lambda: answers(port), "Prometheus")
        yield port


def panels():
    for panel in json.loads((FOLDER / "norrisd-dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for name, text in INSTANT.items():
                expression = expression.replace(name, text)
            yield panel["title"], expression


def checked(*arguments):
    output = subprocess.run(["promtool", *arguments], capture_output=True, text=True)
    return output.returncode == 0, (output.stdout + output.stderr).strip().splitlines()[-1:]


def monitoring(folder, _):
    """the rules and the dashboard in a real Prometheus, which scrapes three machines"""
    rows = []
    for name, arguments in {"promtool check rules": ["check", "rules", str(FOLDER / "norrisd.rules.yml")],
                            "promtool test rules": ["test", "rules", str(FOLDER / "norrisd.test.yml")]}.items():
        works, said = checked(*arguments)
        rows.append(Row(name, "ok" if works else "failed", met=works, note="" if works else " ".join(said)))
    upstream = parts.Upstream(facts=100, items=10)
    # One feed fails, and copies of another one are old.
    upstream.lifetime_of = lambda path: None
    normal = upstream.answer

    def answer(path, headers):
        if path.endswith("/town"):
            return 500, {}, b""
        status, fields, body = normal(path.removeprefix(f"/feeds/{parts.HOST}"), headers)
        return status, {**fields, **({"Age": "999999"} if path.endswith("/news") else {})}, body

    upstream.answer = answer
    with contextlib.ExitStack() as stack:
        port = stack.enter_context(upstream.listening())
        servers = stack.enter_context(parts.machines(
            folder, MACHINES, parts.configuration(f"http://127.0.0.1:{port}")))
        textfiles = stack.enter_context(exporters(folder, servers))
        server = stack.enter_context(prometheus(folder, [port for _, port in textfiles]))
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            for machine, (place, _) in zip(servers, textfiles, strict=True):
                machine.call("fact.random")
                machine.reply("fact.get", id="none")
                collect(machine, place)
            time.sleep(0.3)
        for title, expression in panels():
            values = query(server, expression)
            rows.append(Row(f"dashboard: {title}", f"{len(values)} series", met=bool(values),
                            note="" if values else f"no value: {expression}"))
        expected = {"norrisd:machines:count": MACHINES, "norrisd:machines_up:sum": MACHINES,
                    'norrisd:machines_failing:count{source="town"}': MACHINES,
                    'norrisd:machines_stale:count{source="news"}': MACHINES}
        for expression, value in expected.items():
            found = [float(each["value"][1]) for each in query(server, expression)]
            rows.append(Row(expression, str(found), goal=f"= {value}", met=found == [value]))
        pending = {each["metric"]["alertname"] for each in query(server, 'ALERTS{alertstate="pending"}')}
        wanted = {"NorrisdFleetFailing", "NorrisdFleetStale"}
        rows.append(Row("alerts that wait", ", ".join(sorted(pending)), met=pending == wanted))
    return rows
