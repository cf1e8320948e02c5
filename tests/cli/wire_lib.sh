# SPDX-License-Identifier: MIT
# A machine whose counters move in a known way; to be sourced after run_lib.sh.

# In memory, where there is one: ext4 writes out at once what is replaced by renaming.
wire_root=$(mktemp -d /dev/shm/spur-test.XXXXXX 2>/dev/null || mktemp -d "$work/root.XXXXXX")
trap 'rm -rf "$work" "$wire_root"' EXIT

# wire_machine simfs|nfs|rdma|nvfs IN_FLIGHT: $work/mount is on it, and spur sees it by SPUR_ROOT, until wire_machine_end.
wire_machine() {
    mkdir -p "$work/mount"
    mkfifo "$work/hold"
    python3 "$here/wire_machine.py" "$1" "$wire_root" "$work/mount" "$2" <"$work/hold" >"$work/machine" &
    machine=$!
    exec 9>"$work/hold"
    wait_until grep -q ready "$work/machine"
    export SPUR_ROOT="$wire_root"
}

wire_machine_end() {
    exec 9>&-
    wait "$machine"
    unset SPUR_ROOT
    rm -rf "$work/hold" "$work/machine"
    find "$wire_root" -mindepth 1 -delete
}
