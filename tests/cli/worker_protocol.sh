#!/bin/sh
# SPDX-License-Identifier: MIT
# The protocol as docs/worker-protocol.md has it, spoken by another program; a stop that comes with go is not lost.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
expect 0 python3 - "$SPUR" "$work/f" "$root/docs/worker-protocol.md" <<'END'
import json, os, re, socket, subprocess, sys

documented = set(re.findall(r"`([a-z_0-9]+)`", open(sys.argv[3]).read()))
base = dict(type="job", protocol=1, files=[sys.argv[2]], path="buffered", memory="pageable", op="read", mix=70,
            verify="sample", share="none", threads=2, depth=1, request=65536, seconds_ns=0, bytes=1 << 20, warmup_ns=0,
            interval_ns=10**9, verify_limit_ns=0, offset=0, range=0, seed=1, unaligned=False, overwrite=False, device_ok=False, cpus="", baseline_busy_cpus=None,
            settings=[["advice", "random"]])

def talk(job, answer):
    """All messages of one worker, by type; what follows ready is sent in one piece."""
    ours, theirs = socket.socketpair()
    def worker_end():
        os.dup2(theirs.fileno(), 3)
    p = subprocess.Popen([sys.argv[1], "worker", str(os.getpid())], preexec_fn=worker_end, pass_fds=[3])
    theirs.close()
    lines = ours.makefile("r", encoding="utf-8")
    heard = {}
    ours.sendall(json.dumps(job).encode() + b"\n")
    for line in lines:
        message = json.loads(line)
        undocumented = set(message) - documented
        assert not undocumented, undocumented
        heard.setdefault(message["type"], []).append(message)
        if message["type"] == "ready":
            ours.sendall(b"".join(json.dumps(m).encode() + b"\n" for m in answer))
    return p.wait(), heard

undocumented = set(base) - documented
assert not undocumented, undocumented
go, stop = {"type": "go", "at_ns": 0}, {"type": "stop"}

code, heard = talk(base, [go])
assert code == 0 and len(heard["ready"]) == len(heard["result"]) == 1 and "error" not in heard, heard
assert heard["ready"][0]["protocol"] == 1
r = heard["result"][0]["result"]
assert r["complete"] and r["bytes"] == 1 << 20 and "requested" not in r, r

code, heard = talk(dict(base, bytes=0, seconds_ns=60 * 10**9), [go, stop])
assert code == 0 and heard["result"][0]["result"]["complete"] is False, heard

code, heard = talk(dict(base, bytes=0, seconds_ns=60 * 10**9), [stop])
assert code == 0 and "result" not in heard, heard

code, heard = talk(dict(base, files=[sys.argv[2] + "%20none"]), [go])
assert code == 0 and " none: No such file" in heard["error"][0]["error"]["detail"] and "ready" not in heard, heard

check = dict(base, type="check", path="odirect", request=4096, settings=[])
job = dict(base, bytes=65536)
ours, theirs = socket.socketpair()
p = subprocess.Popen([sys.argv[1], "worker", str(os.getpid())], preexec_fn=lambda: os.dup2(theirs.fileno(), 3), pass_fds=[3])
theirs.close()
lines = ours.makefile("r", encoding="utf-8")
def ask(m):
    ours.sendall(json.dumps(m).encode() + b"\n")
    return json.loads(next(lines))
m = ask(check)
assert m["type"] == "checked" and m["effective"]["path"] == "odirect" and m["effective"]["buffers"] == 0, m
m = ask(dict(check, depth=2))
assert m["type"] == "error" and "--depth 2" in m["error"]["detail"], m
m = ask(dict(check, cpus="0"))
assert m["type"] == "checked", m
m = ask(dict(check, cpus="100-101"))
assert m["type"] == "error" and "--cpus" in m["error"]["detail"], m
m = ask(job)
assert m["type"] == "ready" and m["effective"]["buffers"] == 2, m
ours.sendall(json.dumps(go).encode() + b"\n")
m = json.loads([l for l in lines][-1])
assert m["type"] == "result" and m["result"]["bytes"] == 65536 and p.wait() == 0, m

code, heard = talk(dict(base, protocol=2), [go])
assert code == 2 and "protocol 1" in heard["error"][0]["error"]["detail"], heard
END
