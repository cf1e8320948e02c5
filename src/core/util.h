/* SPDX-License-Identifier: MIT */
/* Small things that every part needs. */
#ifndef SPUR_CORE_UTIL_H
#define SPUR_CORE_UTIL_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static inline uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000ull + (uint64_t)ts.tv_nsec;
}

static inline uint64_t round_up(uint64_t value, uint64_t multiple)
{
    uint64_t rest = value % multiple;

    return rest ? value + (multiple - rest) : value;
}

static inline uint64_t round_down(uint64_t value, uint64_t multiple)
{
    return value - value % multiple;
}

/* In a loop that waits for another thread or device. */
static inline void pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

static inline void cleanup_free(void *p)
{
    free(*(void **)p);
}

static inline void cleanup_fd(const int *fd)
{
    if (*fd >= 0)
        close(*fd);
}

#define _cleanup_free_ __attribute__((cleanup(cleanup_free)))
#define _cleanup_fd_   __attribute__((cleanup(cleanup_fd)))

#endif
