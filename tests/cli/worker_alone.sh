#!/bin/sh
# SPDX-License-Identifier: MIT
# The worker command is for spur run alone: it neither hangs nor reads files by itself.
. "$(dirname "$0")/lib.sh"

expect 2 timeout 10 "$SPUR" worker 1 3<&-
says err "started by spur run"
expect 2 timeout 10 "$SPUR" worker 1 3</dev/null
expect 2 "$SPUR" worker
