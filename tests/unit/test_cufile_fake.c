/* SPDX-License-Identifier: MIT */
/* The fake libcufile itself: bytes, rules, codes, faults. What it does wrong would be believed of the real one. */
#include "test_cufile.h"

#define MIB   (1u << 20)
#define QUIET "CUFILE_LOGFILE_PATH=/dev/null"

/* ------------------------------------------------------------------------------------------------
 * Bytes
 */

static int device_body(struct cufile *c)
{
    static const struct {
        size_t bytes, file_offset, offset;
    } rows[] = {{MIB, 0, 0},       {3 * MIB + 4096, 4096, 8192}, {1, 5, 7},         {4097, 4095, 1}, {MIB + 1, 123, 77},
                {512, 1000000, 9}, {2 * MIB, MIB + 17, 4096},    {4096, 8192, 4096}};
    uint8_t *host = malloc(8 * MIB);
    struct spur_buffer *buffer;
    struct spur_memory *memory;
    struct spur_error e;
    CUfileHandle_t file;
    void *base;
    int fd = made_file(5 * MIB, O_RDONLY | O_DIRECT);

    want(!spur_memory_open("cuda:0", &memory, &e));
    want(!spur_buffer_alloc(memory, 8 * MIB, &buffer, &e));
    base = (void *)(uintptr_t)spur_buffer_address(buffer);
    want(!registered(c, fd, &file) && c->cuFileUseCount() == 1);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        memset(host, 0xee, 8 * MIB);
        want(!spur_buffer_write(buffer, 0, host, 8 * MIB, &e));
        want(c->cuFileRead(file, base, rows[i].bytes, (off_t)rows[i].file_offset, (off_t)rows[i].offset) ==
             (ssize_t)rows[i].bytes);
        want(!spur_buffer_read(buffer, 0, host, 8 * MIB, &e));
        want(is_right(host + rows[i].offset, rows[i].bytes, rows[i].file_offset));
        want(!rows[i].offset || host[rows[i].offset - 1] == 0xee);
        want(host[rows[i].offset + rows[i].bytes] == 0xee);
    }
    /* The end of the file: fewer, then none. */
    want(c->cuFileRead(file, base, MIB, 5 * MIB - 4096, 0) == 4096);
    want(c->cuFileRead(file, base, MIB, 5 * MIB - 100, 0) == 100);
    want(c->cuFileRead(file, base, MIB, 5 * MIB, 0) == 0);
    c->cuFileHandleDeregister(file);
    spur_buffer_free(buffer);
    spur_memory_close(memory);
    close(fd);
    free(host);
    return 0;
}

static void reads_arrive_in_device_memory(void **state)
{
    in_child("1.15.1.6", QUIET, device_body);
    in_child("1.18.0.66", QUIET, device_body);
    in_child("1.20.0.107", QUIET " FAKE_CUFILE_ROAD=nvfs FAKE_CUFILE_PIECE_KB=64", device_body);
}

static bool holds(int fd, size_t bytes, size_t file_offset, size_t shift)
{
    uint8_t *text = malloc(bytes);
    bool right = pread(fd, text, bytes, (off_t)file_offset) == (ssize_t)bytes && is_right(text, bytes, shift);

    free(text);
    return right;
}

static int write_body(struct cufile *c)
{
    int fd = made_file(4 * MIB, O_RDWR | O_DIRECT), plain;
    uint8_t *host = malloc(4 * MIB);
    CUfileHandle_t file;
    char path[64];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    plain = open(path, O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < 4 * MIB; i++)
        host[i] = byte_of(i + 999);
    want(!registered(c, fd, &file));
    want(c->cuFileWrite(file, host, 2 * MIB, MIB, 0) == 2 * MIB);
    want(holds(plain, 2 * MIB, MIB, 999));
    want(c->cuFileWrite(file, host, 1001, 33, 7) == 1001);
    want(holds(plain, 33, 0, 0) && holds(plain, 1001, 33, 999 + 7) && holds(plain, 4096, 1034, 1034));
    c->cuFileHandleDeregister(file);
    close(plain);
    close(fd);
    free(host);
    return 0;
}

static void writes_arrive_in_the_file(void **state)
{
    in_child("1.15.1.6", QUIET, write_body);
    in_child("1.20.0.107", QUIET, write_body);
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_ROAD=nvfs", write_body);
    in_child("1.20.0.107", QUIET " FAKE_CUFILE_ROAD=p2p FAKE_CUFILE_PIECE_KB=64", write_body);
}

/* ------------------------------------------------------------------------------------------------
 * What a direct road leaves alone
 */

/* "rchar" and "wchar" of /proc/self/io, together. */
static uint64_t system_call_bytes(void)
{
    unsigned long long n[2] = {0};
    FILE *f = fopen("/proc/self/io", "re");

    if (!f || fscanf(f, "rchar: %llu wchar: %llu", &n[0], &n[1]) != 2)
        abort();
    fclose(f);
    return n[0] + n[1];
}

/* Pages of @fd's first @bytes that are in the page cache. */
static size_t n_cached(int fd, size_t bytes)
{
    unsigned char in[4 * MIB / 4096];
    void *map = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
    size_t n = 0;

    if (map == MAP_FAILED || mincore(map, bytes, in))
        abort();
    munmap(map, bytes);
    for (size_t i = 0; i < bytes / 4096; i++)
        n += in[i] & 1;
    return n;
}

static bool is_past_cache(int fd)
{
    return fcntl(fd, F_GETFL) & O_DIRECT;
}

/* Neither system calls nor the page cache see it, whatever the caller's alignment, with a descriptor of either kind. */
static int direct_body(struct cufile *c)
{
    int fds[] = {made_file(4 * MIB, O_RDWR | O_DIRECT), made_file(4 * MIB, O_RDWR)};
    uint8_t *host = aligned_alloc(4096, 4 * MIB);
    CUfileHandle_t file;

    for (int i = 0; i < 2; i++) {
        uint64_t from;

        want(!registered(c, fds[i], &file));
        want(!fsync(fds[i]) && !posix_fadvise(fds[i], 0, 0, POSIX_FADV_DONTNEED));
        from = system_call_bytes();
        want(c->cuFileRead(file, host, 4 * MIB, 0, 0) == 4 * MIB && is_right(host, 4 * MIB, 0));
        want(c->cuFileRead(file, host, MIB, 999, 55) == MIB && is_right(host + 55, MIB, 999));
        want(!is_past_cache(fds[0]) || n_cached(fds[i], 4 * MIB) == 0);
        want(c->cuFileWrite(file, host, MIB, 2 * MIB, 0) == MIB);
        want(system_call_bytes() - from < MIB / 2); /* what read them was itself read */
        c->cuFileHandleDeregister(file);
        close(fds[i]);
    }
    free(host);
    return 0;
}

static void direct_roads_are_past_system_calls_and_cache(void **state)
{
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_ROAD=nvfs", direct_body);
    in_child("1.20.0.107", QUIET " FAKE_CUFILE_ROAD=p2p FAKE_CUFILE_PIECE_KB=128", direct_body);
    in_child("1.18.1.6", QUIET " FAKE_CUFILE_ROAD=user", direct_body);
}

/* A direct road fails as the kernel does, with every piece accounted for. */
static int failing_body(struct cufile *c)
{
    int fd = made_file(4 * MIB, O_RDONLY | O_DIRECT);
    uint8_t *host = malloc(4 * MIB);
    CUfileHandle_t file;
    void *hole;

    want(!registered(c, fd, &file));
    hole = mmap(NULL, 4 * MIB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    want(c->cuFileRead(file, hole, 4 * MIB, 0, 0) == -1 && errno == EFAULT);
    want(c->cuFileRead(file, host, 4 * MIB, 0, 0) == 4 * MIB && is_right(host, 4 * MIB, 0));
    want(c->cuFileRead(file, host, 4 * MIB, 4 * MIB - 5000, 0) == 5000 && is_right(host, 5000, 4 * MIB - 5000));
    c->cuFileHandleDeregister(file);
    munmap(hole, 4 * MIB);
    close(fd);
    free(host);
    return 0;
}

static void pieces_that_fail_are_told(void **state)
{
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_ROAD=nvfs", failing_body);
    in_child("1.20.0.107", QUIET " FAKE_CUFILE_ROAD=nvfs", failing_body);
}

/* ------------------------------------------------------------------------------------------------
 * Codes
 */

static int codes_body(struct cufile *c)
{
    int fd = made_file(MIB, O_RDONLY), appending = made_file(4096, O_WRONLY | O_APPEND),
        only = made_file(4096, O_WRONLY);
    int folder = open("/tmp", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ends[2];
    uint8_t *host = malloc(MIB);
    CUfileHandle_t file, other;

    want(!pipe(ends));
    want(!registered(c, fd, &file));
    want(registered(c, fd, &other) == 5028);
    want(registered(c, appending, &other) == 5019);
    want(registered(c, folder, &other) == 5018 && registered(c, ends[0], &other) == 5018);
    want(registered(c, 9999, &other) == 5022);
    want(!c->cuFileBufRegister(host, 65536, 0).err);
    want(c->cuFileBufRegister(host, 65536, 0).err == 5023);
    want(c->cuFileBufDeregister(host + 1).err == 5024);
    errno = 0;
    want(c->cuFileRead(file, host, 4096, 0, 61441) == -1 && errno == 5017); /* by errno in compatibility mode */
    want(c->cuFileRead(file, host, 4096, -1, 0) == -1 && errno == 5022);
    want(c->cuFileRead(file, host, 4096, 0, -1) == -1 && errno == 5022);
    want(c->cuFileRead(host, host, 4096, 0, 0) == -1 && errno == 5027);
    want(c->cuFileWrite(file, host, 4096, 0, 0) == -1 && errno == 5019);
    want(!registered(c, only, &other));
    want(c->cuFileRead(other, host, 4096, 0, 0) == -1 && errno == 5019);
    want(c->cuFileSetParameterBool(CUFILE_PARAM_FORCE_COMPAT_MODE, true).err == 5026);
    want(!c->cuFileBufDeregister(host).err);
    c->cuFileHandleDeregister(file);
    c->cuFileHandleDeregister(other);
    close(fd), close(appending), close(only), close(folder), close(ends[0]), close(ends[1]);
    free(host);
    return 0;
}

static int direct_codes_body(struct cufile *c)
{
    int fd = made_file(MIB, O_RDONLY);
    uint8_t *host = malloc(MIB);
    CUfileHandle_t file;

    want(!registered(c, fd, &file));
    want(c->cuFileRead(file, host, 4096, -1, 0) == -5022); /* by result on a direct road */
    c->cuFileHandleDeregister(file);
    close(fd);
    free(host);
    return 0;
}

static void misuse_has_its_code(void **state)
{
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_CHECK=0", codes_body);
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_ROAD=nvfs", direct_codes_body);
}

static int device_range_body(struct cufile *c)
{
    int fd = made_file(MIB, O_RDONLY);
    struct spur_buffer *buffer;
    struct spur_memory *memory;
    struct spur_error e;
    CUfileHandle_t file;

    want(!spur_memory_open("cuda:0", &memory, &e));
    want(!spur_buffer_alloc(memory, 65536, &buffer, &e));
    want(!registered(c, fd, &file));
    want(c->cuFileRead(file, (void *)(uintptr_t)spur_buffer_address(buffer), MIB, 0, 0) == -1 && errno == 5014);
    c->cuFileHandleDeregister(file);
    spur_buffer_free(buffer);
    spur_memory_close(memory);
    close(fd);
    return 0;
}

static int host_forbidden_body(struct cufile *c)
{
    int fd = made_file(MIB, O_RDONLY | O_DIRECT);
    static uint8_t host[4096];
    CUfileHandle_t file;

    if (!(fcntl(fd, F_GETFL) & O_DIRECT)) { /* 1.4 takes no other file */
        want(registered(c, fd, &file) == 5020);
        close(fd);
        return 0;
    }
    want(!registered(c, fd, &file));
    want(c->cuFileRead(file, host, 4096, 0, 0) == -1 && errno == 5013);
    c->cuFileHandleDeregister(file);
    close(fd);
    return 0;
}

static int plain_file_body(struct cufile *c)
{
    int fd = made_file(4096, O_RDONLY);
    CUfileHandle_t file;

    want(registered(c, fd, &file) == 5020);
    close(fd);
    return 0;
}

static void memory_and_files_of_other_kinds(void **state)
{
    in_child("1.15.1.6", QUIET, device_range_body);
    in_child("1.4.0.31", QUIET, host_forbidden_body);
    in_child("1.4.0.31", QUIET, plain_file_body);
}

/* ------------------------------------------------------------------------------------------------
 * Roads that are not there
 */

static int no_driver_body(struct cufile *c)
{
    want(c->cuFileDriverOpen().err == 5001 && c->cuFileUseCount() == 0);
    return 0;
}

static int register_fails(struct cufile *c, int code)
{
    int fd = made_file(4096, O_RDONLY);
    CUfileHandle_t file;
    int got = registered(c, fd, &file);

    close(fd);
    want(got == code);
    return 0;
}

static int unsupported_body(struct cufile *c)
{
    return register_fails(c, 5008);
}

static int no_facts_body(struct cufile *c)
{
    return register_fails(c, 5027);
}

static int some_reads_fail_body(struct cufile *c)
{
    int fd = made_file(65536, O_RDONLY), n_failed = 0;
    static uint8_t host[4096];
    CUfileHandle_t file;

    want(!registered(c, fd, &file));
    for (int i = 0; i < 8; i++)
        n_failed += c->cuFileRead(file, host, 4096, 0, 0) == -5008;
    want(n_failed == 2);
    c->cuFileHandleDeregister(file);
    close(fd);
    return 0;
}

static void compatibility_can_be_forbidden(void **state)
{
    in_child("1.15.1.6", QUIET " CUFILE_ALLOW_COMPAT_MODE=false", no_driver_body);
    in_child("1.15.1.6", QUIET " CUFILE_ALLOW_COMPAT_MODE=false FAKE_CUFILE_ROAD=nvfs FAKE_CUFILE_FILES_SUPPORTED=0",
             unsupported_body);
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_UDEV=missing", no_facts_body);
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_UDEV=read SPUR_ROOT=/nonexistent", no_facts_body);
    in_child("1.15.1.6", QUIET " CUFILE_ALLOW_COMPAT_MODE=false FAKE_CUFILE_ROAD=nvfs=3,posix=1", some_reads_fail_body);
}

/* ------------------------------------------------------------------------------------------------
 * Configuration
 */

static int open_fails_body(struct cufile *c)
{
    want(c->cuFileDriverOpen().err == -22);
    return 0;
}

static uint64_t size_of(struct cufile *c, int number)
{
    size_t value = 12345;

    return c->cuFileGetParameterSizeT(number, &value).err ? UINT64_MAX : value;
}

static int precedence_body(struct cufile *c)
{
    bool force = false, parallel = true;
    char level[16];

    want(!c->cuFileSetParameterString(CUFILE_PARAM_LOGGING_LEVEL, "TRACE").err);
    want(!c->cuFileDriverOpen().err);
    want(size_of(c, 2) == 7 && size_of(c, 9) == 64);                                       /* from the file */
    want(!c->cuFileGetParameterBool(CUFILE_PARAM_FORCE_COMPAT_MODE, &force).err && force); /* environment over file */
    want(!c->cuFileGetParameterBool(4, &parallel).err && !parallel);
    want(!c->cuFileGetParameterString(CUFILE_PARAM_LOGGING_LEVEL, level, sizeof(level)).err);
    want(!strcmp(level, "TRACE")); /* call over environment over file */
    return 0;
}

static int staged_body(struct cufile *c)
{
    want(!c->cuFileSetParameterBool(CUFILE_PARAM_FORCE_COMPAT_MODE, false).err);
    want(c->cuFileSetParameterSizeT(2, 33).err == 5022); /* out of range for 1.15 */
    want(!c->cuFileSetParameterSizeT(2, 3).err);
    want(!c->cuFileDriverOpen().err);
    want(size_of(c, 2) == 3);
    return 0;
}

static int poll_body(struct cufile *c)
{
    bool early = c->version.number < 1170;
    struct cufile_properties p;

    want(c->cuFileDriverSetPollMode(true, 64).err == (early ? 5001 : 0));
    want(!c->cuFileDriverOpen().err);
    cufile_properties_read(c, &p);
    want(p.poll_threshold_kb == (early ? 4 : 64) &&
         !strcmp(p.control_words, early ? "allow_compat" : "poll allow_compat"));
    want(!c->cuFileDriverSetPollMode(true, 128).err);
    cufile_properties_read(c, &p);
    want(p.poll_threshold_kb == (early ? 128 : 64));
    return 0;
}

static int more_threads_body(struct cufile *c)
{
    size_t min, max;

    want(!c->cuFileGetParameterMinMaxValue(2, &min, &max).err && min == 0 && max == 128);
    want(!c->cuFileSetParameterSizeT(2, 33).err);
    return 0;
}

static void configuration_has_ranges_and_precedence(void **state)
{
    char json_file[64];
    static const char *const bad[] = {
        "{\"execution\": {\"max_io_threads\": 33}}",
        "{\"properties\": {\"max_direct_io_size_kb\": 100}}",
        "{\"properties\": {\"io_batchsize\": 0}}",
        "{\"profile\": {\"cufile_stats\": \"3\"}}",
        "{\"execution\": {\"parallel_io\": 2}}",
        "{\"execution\": {\"parallel_io\": true}",
        "[1, 2",
    };
    char settings[200];

    snprintf(json_file, sizeof(json_file), "/tmp/spur-test-%d.json", getpid());
    snprintf(settings, sizeof(settings),
             QUIET " CUFILE_ENV_PATH_JSON=%s CUFILE_FORCE_COMPAT_MODE=true CUFILE_LOGGING_LEVEL=INFO", json_file);
    for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        write_text(json_file, bad[i]);
        in_child("1.15.1.6", settings, open_fails_body);
    }
    write_text(json_file,
               "// a comment\n{ /* another */ \"logging\": {\"level\": \"ERROR\"}, \"unknown\": [1, {\"a\": null}],\n"
               "\"execution\": {\"max_io_threads\" : 7, \"parallel_io\": false, }, // trailing\n"
               "\"properties\": {\"io_batchsize\": 64, \"force_compat_mode\": false}}\n");
    in_child("1.15.1.6", settings, precedence_body);
    in_child("1.15.1.6", settings, staged_body);
    in_child("1.18.1.6", settings, more_threads_body);
    in_child("1.9.1.3", QUIET, poll_body);
    in_child("1.20.0.107", QUIET, poll_body);
    unlink(json_file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_arrive_in_device_memory),
        cmocka_unit_test(writes_arrive_in_the_file),
        cmocka_unit_test(direct_roads_are_past_system_calls_and_cache),
        cmocka_unit_test(pieces_that_fail_are_told),
        cmocka_unit_test(misuse_has_its_code),
        cmocka_unit_test(memory_and_files_of_other_kinds),
        cmocka_unit_test(compatibility_can_be_forbidden),
        cmocka_unit_test(configuration_has_ranges_and_precedence),
    };

    if (!getenv("SPUR_LIBCUDA") || !getenv("SPUR_FAKE_CUFILE")) {
        printf("skipped: SPUR_LIBCUDA and SPUR_FAKE_CUFILE must name the fakes\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
