"""norris.vcl.template in a real Varnish, between real machines and an upstream that fails."""

import os
import subprocess
import time

import cold
import parts
from harness import Row, running, wait_for

MACHINES, LIFETIME = 20, 2  # seconds
PERMITTED = 6  # requests a minute for a document that the template lets through


def varnish(folder, _):
    """20 machines behind Varnish: cold, without news, and while the upstream fails"""
    upstream = parts.Upstream(facts=500, lifetime=LIFETIME)
    port = parts.free_port()
    with upstream.listening() as backend:
        variables = {"NORRIS_ORIGIN_FACTS_HOST": "127.0.0.1", "NORRIS_ORIGIN_FACTS_PORT": str(backend)}
        text = subprocess.run(
            ["envsubst", " ".join("$" + name for name in variables)],
            input=(parts.HERE / "norris.vcl.template").read_text(), env={**os.environ, **variables}, check=True,
            capture_output=True, text=True).stdout
        (folder / "norris.vcl").write_text(text)
        # The folder of the working files must be readable for Varnish's own user.
        folder.chmod(0o755)
        command = ["varnishd", "-F", "-n", folder / "varnish", "-f", folder / "norris.vcl",
                   "-a", f"127.0.0.1:{port}", "-s", "malloc,64M"]
        with running(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            wait_for(lambda: parts.listens(port), "Varnish")
            setting = parts.configuration(f"http://127.0.0.1:{port}", feeds={})
            with parts.machines(folder, MACHINES, setting) as servers:
                parts.wait_for_content(servers)
                total, repeated = sum(upstream.requests.values()), cold.each_once(upstream)
                rows = [Row(f"{MACHINES} cold machines: requests at the upstream", str(total),
                            goal=f"= {len(parts.FACTS)}", met=total == len(parts.FACTS) and not repeated,
                            note=repeated)]
                time.sleep(LIFETIME + 1)
                cold.refresh(servers)
                upstream.requests.clear()
                upstream.fault = 500
                begin = time.monotonic()
                for _ in range(3):
                    time.sleep(LIFETIME)
                    cold.refresh(servers)
                seconds = time.monotonic() - begin
                states = {each["freshness"]["state"] for server in servers for each in parts.sources(server).values()}
                errors = [each["freshness"]["error"] for server in servers for each in parts.sources(server).values()
                          if each["freshness"]["error"]]
                requests = max(upstream.requests.values(), default=0)
                rows.append(Row("upstream fails: what users see", f"{', '.join(states)}, {len(errors)} errors",
                                goal="stale, 0 errors", met=states == {"stale"} and not errors,
                                note=errors[0]["message"] if errors else ""))
                rows.append(Row("upstream fails: requests for a document", f"{requests} in {seconds:.0f} s",
                                peer=f"{3 * MACHINES} at Varnish", goal=f"<= {PERMITTED}", met=requests <= PERMITTED))
                upstream.fault = None
                time.sleep(LIFETIME)

                def is_fresh():
                    cold.refresh(servers[:1])
                    return all(each["freshness"]["state"] == "fresh"
                               for each in parts.sources(servers[0]).values())

                wait_for(is_fresh, "fresh content", timeout=90)
                rows.append(Row("upstream works: content is fresh again", f"{time.monotonic() - begin:.0f} s"))
    return rows
