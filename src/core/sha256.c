/* SPDX-License-Identifier: MIT */
#include "core/sha256.h"

#include <errno.h>
#include <fcntl.h>
#include <mbedtls/sha256.h>
#include <stdio.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/util.h"

static int hash(int fd, mbedtls_sha256_context *c)
{
    static const size_t size = 1 << 20;
    _cleanup_free_ unsigned char *buffer = malloc(size);
    ssize_t n;

    if (!buffer)
        return -ENOMEM;
    while ((n = read(fd, buffer, size)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        mbedtls_sha256_update_ret(c, buffer, (size_t)n);
    }
    return 0;
}

int sha256_of_fd(int fd, char ret_hex[SHA256_TEXT])
{
    mbedtls_sha256_context c;
    unsigned char digest[32];
    int r;

    mbedtls_sha256_init(&c);
    mbedtls_sha256_starts_ret(&c, 0);
    r = hash(fd, &c);
    mbedtls_sha256_finish_ret(&c, digest);
    mbedtls_sha256_free(&c);
    for (size_t i = 0; !r && i < sizeof(digest); i++)
        sprintf(ret_hex + 2 * i, "%02x", digest[i]);
    return r;
}

int sha256_of_file(const char *filename, char ret_hex[SHA256_TEXT], struct spur_error *e)
{
    _cleanup_fd_ int fd = open(filename, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY); /* a FIFO would wait */
    struct stat st;
    int r;

    if (fd < 0)
        return error_errno(e, errno, "open", "%s", filename);
    if (fstat(fd, &st) < 0)
        return error_errno(e, errno, "fstat", "%s", filename);
    if (!S_ISREG(st.st_mode)) {
        r = error_spur(e, SPUR_CODE_REFUSED, "open", "%s: not a regular file", filename);
        error_remedy(e, "name a program's own file");
        return r;
    }
    r = sha256_of_fd(fd, ret_hex);
    return r < 0 ? error_errno(e, -r, "read", "%s", filename) : 0;
}
