/* SPDX-License-Identifier: MIT */
/* Units at the edge: text to bytes, nanoseconds and counts, and back. Inside the program there are only those. */
#ifndef SPUR_CORE_UNITS_H
#define SPUR_CORE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "spur.h"

/*
 * Strict parsers: whole numbers only, nothing before or after them. 0, or -EINVAL with a usage error whose detail is
 * the reason ("4 KiB: ..."); the caller knows the option's name.
 */

/* 4096, 4K, 1M, 16MiB, 8G, 2T: K, M, G, T (also k, m, g, t; also KiB ...) are powers of 1024. */
int units_parse_bytes(const char *text, uint64_t *ret_bytes, struct spur_error *e);
/* 5ns, 500us, 250ms, 10s, 1m, 2h. A number without a unit is in seconds if @plain_seconds, else only 0 is taken. */
int units_parse_time(const char *text, bool plain_seconds, uint64_t *ret_ns, struct spur_error *e);
int units_parse_count(const char *text, uint64_t *ret_count, struct spur_error *e);
/* 70 or 70%. */
int units_parse_percent(const char *text, uint64_t *ret_percent, struct spur_error *e);

/* Buffers of UNITS_TEXT bytes hold every result. Each returns @ret_text. */
#define UNITS_TEXT 32

/* "16 MiB" where that is exact, else "1.46 GiB", "10000 bytes" under 1 MiB. */
char *units_format_bytes(uint64_t bytes, char *ret_text);
/* A mean, as figures are read: "64 KiB" where it is that to the byte, else "1009 KiB", "4.88 KiB", "700 bytes". */
char *units_format_mean_bytes(double bytes, char *ret_text);
/* As an option takes it: "16M", "1536K", "10000". */
char *units_format_size(uint64_t bytes, char *ret_text);
/* "1.95 GiB/s", "12.3 MiB/s". */
char *units_format_rate(double bytes_per_second, char *ret_text);
/* "812 ns", "12.3 us", "4.56 ms", "7.89 s", "2 m 5 s", "3 h 12 m". */
char *units_format_time(uint64_t ns, char *ret_text);
/* As an option takes it: "10s", "250ms", "0s". */
char *units_format_duration(uint64_t ns, char *ret_text);

#endif
