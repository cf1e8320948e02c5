# SPDX-License-Identifier: MIT
# wire_machine.py simfs|nfs|rdma|nvfs ROOT MOUNT IN_FLIGHT: a root for SPUR_ROOT in which MOUNT's counters move as those of storage
# that answers requests of 1 MiB in 570 us, 8.1 of them at a time; IN_FLIGHT is what it says of the moment.
# rdma and nvfs: only an RDMA port, or nvidia-fs, that counts the bytes of such storage.
# WIRE_SLOW: so many times fewer of them.
# It says "ready" once they are there, and ends with its standard input.
import os, select, sys, time

kind, root, mount, now_in_flight = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
SERVICE_NS, IN_FLIGHT, MIB = 570000, 8.1 / int(os.environ.get("WIRE_SLOW", "1")), 1 << 20
device = os.stat(mount).st_dev
fs, source = ("fuse.simfs", "simfs") if kind == "simfs" else ("nfs4", "server:/export")

def put(path, text):
    path = root + path
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "w") as f:
        f.write(text)
    os.rename(path + ".new", path)

def step():
    ns = time.monotonic_ns() - began
    n = int(ns * IN_FLIGHT / SERVICE_NS)
    if kind == "simfs":
        put(mount + "/.spur/stats", "simfs 1\ntime_ns %d\nreads %d\nread_bytes %d\nwrites 0\nwrite_bytes 0\nerrors 0\n"
            "short_answers 0\nin_flight %d\nservice_ns %d\nbusy_ns %d\ncpu_ns %d\nlatency_ns %d\nrpc_bytes %d\n" %
            (ns, n, n * MIB, now_in_flight, n * SERVICE_NS, n * SERVICE_NS, ns // 5, SERVICE_NS, MIB))
        return
    if kind == "rdma": # in words of 4 bytes
        port = "/sys/class/infiniband/mlx5_0/ports/1/"
        put(port + "counters/port_rcv_data", "%d\n" % (n * MIB // 4))
        put(port + "counters/port_xmit_data", "%d\n" % (n * 64))
        put(port + "rate", "400 Gb/sec (4X NDR)\n")
        return
    if kind == "nvfs":
        put("/proc/driver/nvidia-fs/stats", "GDS Version: 1.15.1.6\nNVFS statistics(ver: 4.0)\nIO stats: %s, peer IO "
            "stats: Disabled\nReads\t\t\t\t: n=%d ok=%d err=0 readMiB=%d io_state_err=0\n" %
            ("Enabled" if now_in_flight else "Disabled", n, n, n))
        return
    ms = n * SERVICE_NS // 1000000
    put("/proc/self/mountstats", "device %s mounted on %s with fstype %s statvers=1.1\n\topts:\trw,vers=4.2,rsize=1048576,"
        "wsize=1048576,proto=tcp\n\tbytes:\t0 0 0 0 %d 0 0 0\n\txprt:\ttcp 1 0 1 0 0 %d %d 0 0 0 64 0 0\n\tper-op statistics\n"
        "\t        READ: %d %d 0 0 0 0 %d %d 0\n\t       WRITE: 0 0 0 0 0 0 0 0 0\n\t      COMMIT: 0 0 0 0 0 0 0 0 0\n" %
        (source, mount, fs, n * MIB, n + now_in_flight, n, n, n + 7, ms, ms))

if kind in ("simfs", "nfs"):
    put("/proc/self/mountinfo", "22 1 %d:%d / %s rw - %s %s rw\n" %
        (os.major(device), os.minor(device), mount, fs, source))
try:
    os.nice(-15) # the load must not keep it from its counters
except PermissionError:
    pass
began = time.monotonic_ns()
step()
print("ready", flush=True)
while not select.select([sys.stdin], [], [], 0.003)[0]:
    step()
