"""contrib/fleet/three-machines: continuously recorded machines that push to one OpenTelemetry Collector."""

import os
import re
import signal
import subprocess
import time

import pytest

from conftest import SOURCE
from lacking import tool
from profiles import Pprof
from time_limit import TIME_LIMIT_S

MACHINES = ["web1", "web2", "web3"]

pytestmark = pytest.mark.interop


@pytest.fixture
def namespaces(root):
    """Skips the test if network namespaces cannot be created and joined."""
    tool("ip")
    name = f"prof-try-{os.getpid()}"
    made = subprocess.run(f"ip netns add {name} && ip -n {name} link add bridge0 type bridge && ip -n {name} link add eth0 type veth "
                          "peer name eth1", shell=True, capture_output=True, text=True, check=False)
    subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)
    if made.returncode:
        pytest.skip(f"no network namespaces here: {made.stderr.strip()}")


@pytest.fixture
def fleet(namespaces, prof, tmp_path):
    """The running script, and its directory."""
    folder = tmp_path / "fleet"
    with subprocess.Popen([SOURCE / "contrib" / "fleet" / "three-machines", prof.binary, tool("otelcol"), folder],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        yield process, folder
        process.terminate()


def machines_in(log):
    return set(re.findall(r"host\.name: Str\((.*)\)", log.read_text(encoding="utf-8", errors="replace"))) if log.exists() else set()


def test_a_collector_tells_three_machines_apart(fleet):
    process, folder = fleet
    deadline = time.monotonic() + TIME_LIMIT_S
    while machines_in(folder / "collector.log") < set(MACHINES):
        assert process.poll() is None, process.stdout.read()
        assert time.monotonic() < deadline
        time.sleep(0.1)
    process.send_signal(signal.SIGTERM)
    output, _ = process.communicate(timeout=TIME_LIMIT_S)
    assert process.returncode == 0, output
    assert machines_in(folder / "collector.log") == set(MACHINES) and "prof: " not in output
    for name in MACHINES:
        segments = {path.name for path in (folder / name).glob("*Z.pb.gz")}
        pushed = {line.split()[1] for line in (folder / name / ".pushed").read_text(encoding="ascii").splitlines()}
        assert segments == pushed
        assert f"host: {name}" in Pprof.read(folder / name / max(segments)).comments()
    assert str(process.pid) not in subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
