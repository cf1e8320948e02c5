/* SPDX-License-Identifier: MIT */
/* The fake libcufile: injected faults, counters of nvidia-fs, log, batches, streams. */
#include "test_cufile.h"

#define MIB   (1u << 20)
#define QUIET "CUFILE_LOGFILE_PATH=/dev/null"

/* ------------------------------------------------------------------------------------------------
 * Injected faults
 */

static int faults_body(struct cufile *c)
{
    int fd = made_file(65536, O_RDONLY);
    static uint8_t host[65536];
    CUfileHandle_t file;

    want(registered(c, fd, &file) == 5030);
    want(!registered(c, fd, &file));
    want(c->cuFileRead(file, host, 65536, 0, 0) == 65536);
    want(c->cuFileRead(file, host, 65536, 0, 0) == -1 && errno == EIO);
    memset(host, 0, sizeof(host));
    want(c->cuFileRead(file, host, 65536, 0, 0) == 4096);
    want(is_right(host, 4096, 0) && host[5000] == 0);
    want(c->cuFileRead(file, host, 65536, 0, 0) == 65536);
    c->cuFileHandleDeregister(file);
    close(fd);
    return 0;
}

static int open_body(struct cufile *c)
{
    c->cuFileDriverOpen();
    return 0;
}

static int read_body(struct cufile *c)
{
    int fd = made_file(65536, O_RDONLY);
    static uint8_t host[4096];
    CUfileHandle_t file;

    want(!registered(c, fd, &file));
    alarm(2); /* for a hang */
    c->cuFileRead(file, host, 4096, 0, 0);
    c->cuFileHandleDeregister(file);
    close(fd);
    return 0;
}

static int null_batch_body(struct cufile *c)
{
    c->cuFileBatchIOSetUp(NULL, 4);
    return 0;
}

static void faults_strike_when_told(void **state)
{
    int status;

    in_child("1.15.1.6", QUIET " FAKE_CUFILE_FAIL=cuFileHandleRegister:1:5030,cuFileRead:2:5,cuFileRead:3:short=4096",
             faults_body);
    assert_true(has_crashed(child_status("1.15.1.6", "FAKE_CUFILE_FAIL=load:1:abort", open_body)));
    assert_true(has_crashed(child_status("1.15.1.6", QUIET " FAKE_CUFILE_FAIL=cuFileDriverOpen:1:abort", open_body)));
    assert_true(has_crashed(child_status("1.15.1.6", QUIET " FAKE_CUFILE_FAIL=cuFileRead:1:abort", read_body)));
    assert_true(has_crashed(child_status("1.15.1.6", QUIET " FAKE_CUFILE_FAIL=exit:1:abort", read_body)));
    assert_false(has_crashed(child_status("1.15.1.6", QUIET " FAKE_CUFILE_FAIL=cuFileRead:2:abort", read_body)));
    assert_true(has_crashed(child_status("1.15.1.6", QUIET, null_batch_body)));
    status = child_status("1.15.1.6", QUIET " FAKE_CUFILE_FAIL=cuFileRead:1:hang", read_body);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM);
}

/* ------------------------------------------------------------------------------------------------
 * nvidia-fs, log
 */

static int n_posix_body(struct cufile *c)
{
    int fd = made_file(65536, O_RDONLY);
    struct cufile_properties p;
    CUfileHandle_t file;

    want(!registered(c, fd, &file));
    cufile_properties_read(c, &p);
    want(p.nvfs_major == 2); /* the module is there; forced off all the same */
    c->cuFileHandleDeregister(file);
    close(fd);
    return 0;
}

static int four_reads_body(struct cufile *c)
{
    int fd = made_file(4 * MIB, O_RDWR);
    uint8_t *host = malloc(MIB);
    CUfileHandle_t file;

    want(!registered(c, fd, &file));
    for (int i = 0; i < 4; i++)
        want(c->cuFileRead(file, host, MIB, i * (off_t)MIB, 0) == MIB);
    want(c->cuFileWrite(file, host, 4096, 0, 0) == 4096);
    c->cuFileHandleDeregister(file);
    close(fd);
    free(host);
    return 0;
}

static char *text_of(const char *root, const char *name)
{
    static char text[8192];
    char path[300];
    size_t n = 0;
    FILE *f;

    snprintf(path, sizeof(path), "%s%s", root, name);
    f = fopen(path, "r");
    if (f) {
        n = fread(text, 1, sizeof(text) - 1, f);
        fclose(f);
    }
    text[n] = '\0';
    return text;
}

static void put_enabled(const char *root, const char *value)
{
    char command[600];

    snprintf(command, sizeof(command),
             "mkdir -p %s/proc/driver/nvidia-fs %s/sys/module/nvidia_fs/parameters && "
             "echo %s > %s/sys/module/nvidia_fs/parameters/rw_stats_enabled",
             root, root, value, root);
    assert_int_equal(system(command), 0);
}

static void nvfs_counters_move_when_enabled(void **state)
{
    char root[] = "/tmp/spur-test-XXXXXX", settings[300];
    const char *stats = "/proc/driver/nvidia-fs/stats";

    assert_non_null(mkdtemp(root));
    snprintf(settings, sizeof(settings), QUIET " SPUR_ROOT=%s FAKE_CUFILE_ROAD=nvfs", root);
    put_enabled(root, "1");
    in_child("1.15.1.6", settings, four_reads_body);
    assert_non_null(strstr(text_of(root, stats), "IO stats: Enabled"));
    assert_non_null(strstr(text_of(root, stats), ": n=4 ok=4 err=0 readMiB=4 "));
    assert_non_null(strstr(text_of(root, stats), ": n=1 ok=1 err=0 writeMiB=0 "));
    in_child("1.15.1.6", settings, four_reads_body); /* another process adds */
    assert_non_null(strstr(text_of(root, stats), ": n=8 ok=8 err=0 readMiB=8 "));
    put_enabled(root, "0");
    in_child("1.15.1.6", settings, four_reads_body);
    assert_non_null(strstr(text_of(root, stats), "IO stats: Disabled"));
    assert_null(strstr(text_of(root, stats), "readMiB"));
    put_enabled(root, "1");
    snprintf(settings, sizeof(settings), QUIET " SPUR_ROOT=%s FAKE_CUFILE_ROAD=p2p", root);
    in_child("1.15.1.6", settings, four_reads_body);
    snprintf(settings, sizeof(settings), QUIET " SPUR_ROOT=%s FAKE_CUFILE_ROAD=nvfs CUFILE_FORCE_COMPAT_MODE=1", root);
    in_child("1.15.1.6", settings, n_posix_body);
    in_child("1.15.1.6", settings, four_reads_body);
    snprintf(settings, sizeof(settings), QUIET " SPUR_ROOT=%s FAKE_CUFILE_ROAD=nvfs=1,posix=1", root);
    in_child("1.15.1.6", settings, four_reads_body);
    assert_non_null(strstr(text_of(root, stats), ": n=10 ok=10 err=0 readMiB=10 "));
    snprintf(settings, sizeof(settings), "rm -r %s", root);
    assert_int_equal(system(settings), 0);
}

static void log_is_written_where_configured(void **state)
{
    char root[] = "/tmp/spur-test-XXXXXX", settings[300], json_file[64];

    assert_non_null(mkdtemp(root));
    snprintf(json_file, sizeof(json_file), "%s/cufile.json", root);
    snprintf(settings, sizeof(settings), "{\"logging\": {\"dir\": \"%s\", \"level\": \"TRACE\"}}", root);
    write_text(json_file, settings);
    snprintf(settings, sizeof(settings), "CUFILE_ENV_PATH_JSON=%s", json_file);
    in_child("1.15.1.6", settings, four_reads_body);
    assert_non_null(strstr(text_of(root, "/cufile.log"), "NOTICE  fake:0 simulated"));
    assert_non_null(strstr(text_of(root, "/cufile.log"), "running in compatible mode"));
    assert_non_null(strstr(text_of(root, "/cufile.log"), "cuFile IO mode: POSIX"));
    snprintf(settings, sizeof(settings), "%s/cufile.log", root);
    unlink(settings);
    snprintf(settings, sizeof(settings), "CUFILE_ENV_PATH_JSON=%s CUFILE_LOGGING_LEVEL=ERROR", json_file);
    in_child("1.15.1.6", settings, four_reads_body);
    assert_null(strstr(text_of(root, "/cufile.log"), "IO mode"));
    snprintf(settings, sizeof(settings), "rm -r %s", root);
    assert_int_equal(system(settings), 0);
}

/* ------------------------------------------------------------------------------------------------
 * Batches and streams
 */

#define N 24

static int batch_body(struct cufile *c)
{
    int fd = made_file(N * 65536, O_RDONLY | O_DIRECT);
    uint8_t *host = calloc(N, 65536);
    CUfileIOParams_t p[N] = {{0}};
    CUfileIOEvents_t events[N];
    bool seen[N] = {false};
    CUfileBatchHandle_t batch;
    struct timespec none = {0, 0};
    unsigned n_done = 0;
    CUfileHandle_t file;

    want(!registered(c, fd, &file));
    for (unsigned i = 0; i < N; i++) {
        p[i] = (CUfileIOParams_t){.mode = CUFILE_BATCH, .fh = file, .opcode = CUFILE_READ};
        p[i].batch.devPtr_base = host;
        p[i].batch.devPtr_offset = p[i].batch.file_offset = i * 65536;
        p[i].batch.size = 65536;
        p[i].cookie = (void *)(uintptr_t)(i + 1);
    }
    want(c->cuFileBatchIOSetUp(&batch, 129).err == 5022);
    want(!c->cuFileBatchIOSetUp(&batch, N).err);
    want(!c->cuFileBatchIOSubmit(batch, N - 1, p, 0).err);
    want(c->cuFileBatchIOSubmit(batch, 2, p, 0).err == 5037);
    while (n_done < N - 1) {
        unsigned n = 5;

        want(!c->cuFileBatchIOGetStatus(batch, n_done < N - 5 ? 2 : 1, &n, events, NULL).err);
        for (unsigned i = 0; i < n; i++) {
            size_t which = (uintptr_t)events[i].cookie - 1;

            want(which < N && !seen[which] && events[i].status == CUFILE_BATCH_COMPLETE && events[i].ret == 65536);
            want(is_right(host + which * 65536, 65536, which * 65536));
            seen[which] = true;
        }
        n_done += n;
    }
    {
        unsigned n = 2;

        want(c->cuFileBatchIOGetStatus(batch, 3, &n, events, NULL).err == 5022);
        want(!c->cuFileBatchIOGetStatus(batch, 1, &n, events, &none).err && n == 0);
    }
    p[0].batch.size = 0;
    want(c->cuFileBatchIOSubmit(batch, 1, p, 0).err == 5040);
    c->cuFileBatchIODestroy(batch);
    c->cuFileHandleDeregister(file);
    close(fd);
    free(host);
    return 0;
}

static int failing_batch_body(struct cufile *c)
{
    int fd = made_file(65536, O_RDONLY);
    static uint8_t host[65536];
    CUfileIOParams_t p = {.mode = CUFILE_BATCH, .opcode = CUFILE_READ};
    CUfileIOEvents_t event;
    CUfileBatchHandle_t batch;
    CUfileHandle_t file;
    unsigned n = 1;

    want(!registered(c, fd, &file));
    p.fh = file;
    p.batch.devPtr_base = host;
    p.batch.size = 65536;
    want(!c->cuFileBatchIOSetUp(&batch, 1).err);
    want(!c->cuFileBatchIOSubmit(batch, 1, &p, 0).err);
    want(!c->cuFileBatchIOGetStatus(batch, 1, &n, &event, NULL).err && n == 1);
    want(event.status == CUFILE_BATCH_FAILED && (ssize_t)event.ret == -EIO);
    want(!c->cuFileBatchIOCancel(batch).err);
    c->cuFileBatchIODestroy(batch);
    c->cuFileHandleDeregister(file);
    close(fd);
    return 0;
}

static int cancel_body(struct cufile *c)
{
    int fd = made_file(65536, O_RDONLY), n_cancelled = 0, n_complete = 0;
    static uint8_t host[64 * 1024];
    CUfileIOParams_t p[64] = {{0}};
    CUfileIOEvents_t events[64];
    CUfileBatchHandle_t batch;
    CUfileHandle_t file;
    unsigned n = 64;

    want(!registered(c, fd, &file));
    for (unsigned i = 0; i < 64; i++) {
        p[i] = (CUfileIOParams_t){.mode = CUFILE_BATCH, .fh = file, .opcode = CUFILE_READ};
        p[i].batch.devPtr_base = host;
        p[i].batch.devPtr_offset = p[i].batch.file_offset = i * 1024;
        p[i].batch.size = 1024;
    }
    want(!c->cuFileBatchIOSetUp(&batch, 64).err);
    want(!c->cuFileBatchIOSubmit(batch, 64, p, 0).err);
    want(!c->cuFileBatchIOCancel(batch).err);
    want(!c->cuFileBatchIOGetStatus(batch, 64, &n, events, NULL).err && n == 64);
    for (unsigned i = 0; i < 64; i++) {
        n_cancelled += events[i].status == CUFILE_BATCH_CANCELED;
        n_complete += events[i].status == CUFILE_BATCH_COMPLETE;
    }
    want(n_cancelled + n_complete == 64 && n_cancelled >= 64 - 16);
    c->cuFileBatchIODestroy(batch);
    c->cuFileHandleDeregister(file);
    close(fd);
    return 0;
}

static void batches_complete_each_entry_once(void **state)
{
    in_child("1.15.1.6", QUIET, batch_body);
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_ROAD=nvfs FAKE_CUFILE_LATENCY_US=300", batch_body);
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_FAIL=batch-read:1:5", failing_batch_body);
    in_child("1.15.1.6", QUIET " FAKE_CUFILE_FAIL=batch-read:0:delay=100000", cancel_body);
}

static int stream_body(struct cufile *c)
{
    int fd = made_file(MIB, O_RDONLY);
    const struct cuda_api *api;
    struct spur_buffer *buffer;
    struct spur_memory *memory;
    size_t bytes = 65536;
    off_t file_offset = 4096, offset = 100;
    ssize_t done = -77;
    uint8_t *host = malloc(MIB);
    struct spur_error e;
    CUfileHandle_t file;
    CUstream stream;

    want(!spur_memory_open("cuda:0", &memory, &e));
    want(!spur_buffer_alloc(memory, MIB, &buffer, &e));
    want(!cuda_ready(&api, &e) && !api->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    want(!registered(c, fd, &file));
    want(c->cuFileStreamRegister(stream, 16).err == 5022);
    want(!c->cuFileStreamRegister(stream, 15).err);
    want(!c->cuFileReadAsync(file, (void *)(uintptr_t)spur_buffer_address(buffer), &bytes, &file_offset, &offset, &done,
                             stream)
              .err);
    want(!api->cuStreamSynchronize(stream));
    want(done == 65536);
    want(!spur_buffer_read(buffer, 0, host, MIB, &e));
    want(is_right(host + 100, 65536, 4096));
    want(!c->cuFileStreamDeregister(stream).err);
    c->cuFileHandleDeregister(file);
    api->cuStreamDestroy(stream);
    spur_buffer_free(buffer);
    spur_memory_close(memory);
    close(fd);
    free(host);
    return 0;
}

static int no_stream_body(struct cufile *c)
{
    size_t bytes = 4096;
    ssize_t done;
    off_t at = 0;

    want(!c->cuFileSetParameterSizeT(2, 0).err);
    want(c->cuFileReadAsync(NULL, &bytes, &bytes, &at, &at, &done, NULL).err == 5038);
    return 0;
}

static void streams_carry_requests(void **state)
{
    in_child("1.15.1.6", QUIET, stream_body);
    in_child("1.20.0.107", QUIET " FAKE_CUFILE_ROAD=nvfs", stream_body);
    in_child("1.15.1.6", QUIET, no_stream_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults_strike_when_told),         cmocka_unit_test(nvfs_counters_move_when_enabled),
        cmocka_unit_test(log_is_written_where_configured), cmocka_unit_test(batches_complete_each_entry_once),
        cmocka_unit_test(streams_carry_requests),
    };

    if (!getenv("SPUR_LIBCUDA") || !getenv("SPUR_FAKE_CUFILE")) {
        printf("skipped: SPUR_LIBCUDA and SPUR_FAKE_CUFILE must name the fakes\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
