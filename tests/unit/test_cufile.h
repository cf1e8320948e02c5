/* SPDX-License-Identifier: MIT */
/*
 * Shared by the tests of cuFile. A cuFile library fixes its configuration at first use, so each case runs in a child
 * that loads a fake of its own (SPUR_FAKE_CUFILE names their folder).
 */
#ifndef TEST_CUFILE_H
#define TEST_CUFILE_H

#include "cuda_fixture.h"

#include "driver/cufile_layout.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* For children: says the line, so that a failure can be found. */
#define want(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                            \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

typedef int (*body_t)(struct cufile *c);

static inline const char *fake_file(const char *version, char *to, size_t size)
{
    snprintf(to, size, "%s/libcufile.so.%s", getenv("SPUR_FAKE_CUFILE"), version);
    return to;
}

/* "NAME=VALUE NAME=VALUE". */
static inline void set_environment(const char *settings)
{
    char copy[1024], *save = NULL;

    snprintf(copy, sizeof(copy), "%s", settings ? settings : "");
    for (char *s = strtok_r(copy, " ", &save); s; s = strtok_r(NULL, " ", &save)) {
        char *value = strchr(s, '=');

        *value++ = '\0';
        setenv(s, value, 1);
    }
}

static inline int child_main(const char *version, const char *settings, body_t body)
{
    struct spur_error e;
    struct cufile *c;
    char file[4096];
    int rc;

    set_environment(settings);
    rc = cufile_open(fake_file(version, file, sizeof(file)), &c, &e);
    if (rc) {
        fprintf(stderr, "%s: %s\n", e.operation, e.detail);
        return 2;
    }
    rc = body(c);
    cufile_close(c);
    return rc;
}

/* How a child ended that loaded the fake of @version under @settings and ran @body. */
static inline int child_status(const char *version, const char *settings, body_t body)
{
    pid_t child;
    int status;

    fflush(NULL);
    child = fork();
    assert_true(child >= 0);
    if (!child) {
        signal(SIGSEGV, SIG_DFL); /* cmocka's handler would go on with the next test */
        exit(child_main(version, settings, body));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static inline void in_child(const char *version, const char *settings, body_t body)
{
    int status = child_status(version, settings, body);

    if (!WIFEXITED(status) || WEXITSTATUS(status))
        fail_msg("child with %s %s ended with status %#x", version, settings ? settings : "", status);
}

/* Ended by abort, a bad address, or (sanitizers) an exit code of their own. */
static inline bool has_crashed(int status)
{
    return WIFSIGNALED(status) || WEXITSTATUS(status) > 2;
}

/* ------------------------------------------------------------------------------------------------ */

static inline uint8_t byte_of(size_t at)
{
    return (uint8_t)(pattern_mix(at / 8 + 1) >> (at % 8 * 8));
}

/* A file of @bytes, byte_of each place, opened with @flags and removed; O_DIRECT where the file system has it. */
static inline int made_file(size_t bytes, int flags)
{
    char name[] = "/tmp/spur-test-XXXXXX", path[64];
    int fd = mkstemp(name), again;
    uint8_t *text = malloc(bytes + 1);

    for (size_t i = 0; i < bytes; i++)
        text[i] = byte_of(i);
    if (write(fd, text, bytes) != (ssize_t)bytes)
        abort();
    free(text);
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    again = open(path, flags | O_CLOEXEC);
    if (again < 0 && flags & O_DIRECT)
        again = open(path, (flags & ~O_DIRECT) | O_CLOEXEC);
    close(fd);
    unlink(name);
    return again;
}

static inline int registered(struct cufile *c, int fd, CUfileHandle_t *ret)
{
    CUfileDescr_t descr = {.type = CUFILE_HANDLE_OPAQUE_FD};

    descr.handle.fd = fd;
    return c->cuFileHandleRegister(ret, &descr).err;
}

static inline bool is_right(const uint8_t *at, size_t bytes, size_t file_offset)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != byte_of(file_offset + i))
            return false;
    return true;
}

static inline void write_text(const char *file, const char *text)
{
    FILE *f = fopen(file, "w");

    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

#endif
