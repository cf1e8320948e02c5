#!/bin/sh
# SPDX-License-Identifier: MIT
# What the options alone cannot know: values that these files, this path or this machine cannot take. Exit 2.
. "$(dirname "$0")/run_lib.sh"

prepared f 1M
refused 2 "fanout" --file "$work/f" --path odirect --depth 2
refused 2 "at most 1 request of a thread" --file "$work/f" --path buffered --depth 2
refused 2 "at most 1 request of a thread" --file "$work/f" --path mmap --depth 2
refused 2 "cannot read at byte offsets" --file "$work/f" --path odirect --op randread --request 4K --unaligned
refused 2 "4096" --file "$work/f" --op write --path buffered --request 5000
refused 2 "4096" --file "$work/f" --op randwrite --path buffered --request 4K --unaligned
refused 2 "4096" --file "$work/f" --op write --path buffered --request 4K --range 10000
bytes() {
    words=$1
    shift
    expect 2 timeout 20 "$SPUR" run --file "$work/f" --request 4K "$@"
    one_line
    says err "$words"
}
bytes "4096" --op write --path buffered --bytes 10000
bytes "more than the" --path buffered --bytes 2M
bytes "intervals" --path buffered --seconds 1h --interval 1ms
