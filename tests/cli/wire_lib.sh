# SPDX-License-Identifier: MIT
# A machine whose counters move in a known way; to be sourced after run_lib.sh.

# wire_machine simfs|nfs IN_FLIGHT: $work/mount is on it, and spur sees it by SPUR_ROOT, until wire_machine_end.
wire_machine() {
    mkdir -p "$work/mount" "$work/root"
    mkfifo "$work/hold"
    python3 "$here/wire_machine.py" "$1" "$work/root" "$work/mount" "$2" <"$work/hold" >"$work/machine" &
    machine=$!
    exec 9>"$work/hold"
    wait_until grep -q ready "$work/machine"
    export SPUR_ROOT="$work/root"
}

wire_machine_end() {
    exec 9>&-
    wait "$machine"
    unset SPUR_ROOT
    rm -rf "$work/hold" "$work/root" "$work/machine"
}
