/* SPDX-License-Identifier: MIT */
/* Reading the library's statistics: levels, layouts, differences, roads that add up. */
#include "test_cufile.h"

#define MIB (1u << 20)

/* Registered file and device memory, with statistics of @level. */
struct bench {
    CUfileHandle_t file;
    int fd;
    struct spur_memory *memory;
    struct spur_buffer *buffer;
    void *base;
};

static int bench_open(struct bench *b, struct cufile *c, int level)
{
    struct spur_error e;

    want(!spur_memory_open("cuda:0", &b->memory, &e));
    want(!spur_buffer_alloc(b->memory, 4 * MIB, &b->buffer, &e));
    b->base = (void *)(uintptr_t)spur_buffer_address(b->buffer);
    if (level >= 0)
        want(!cufile_stats_set_level(c, level, &e));
    want(!c->cuFileDriverOpen().err);
    if (level > 0)
        want(!cufile_stats_start(c, &e));
    b->fd = made_file(4 * MIB, O_RDWR | O_DIRECT);
    want(b->fd >= 0);
    want(!registered(c, b->fd, &b->file));
    return 0;
}

static void bench_close(struct bench *b, struct cufile *c)
{
    c->cuFileHandleDeregister(b->file);
    close(b->fd);
    c->cuFileDriverClose();
    spur_buffer_free(b->buffer);
    spur_memory_close(b->memory);
}

static int mixed_body(struct cufile *c)
{
    struct cufile_stats before, after, since;
    struct bench b;

    if (bench_open(&b, c, 3))
        return 1;
    cufile_stats_read(c, &before);
    want(before.known && before.has_roads && before.level == 3 && !*before.reason);
    want(!before.reads.n && before.handle_register.ok == 1);
    for (int i = 0; i < 8; i++)
        want(c->cuFileRead(b.file, b.base, MIB, i % 4 * (off_t)MIB, 0) == MIB);
    for (int i = 0; i < 4; i++)
        want(c->cuFileWrite(b.file, b.base, 8192, 0, 0) == 8192);
    want(c->cuFileRead(b.file, b.base, 1000, 3, 5) == 1000);
    want(c->cuFileRead(b.file, b.base, MIB, -4, 0) < 0);
    cufile_stats_read(c, &after);
    cufile_stats_since(&before, &after, &since);
    want(since.known && since.has_roads && since.n_gpus == 1);
    want(since.read.ok == 9 && since.read.err == 1 && since.read_bytes == 8 * MIB + 1000);
    want(since.write.ok == 4 && since.write_bytes == 4 * 8192);
    want(since.reads.bytes == 8 * MIB + 1000 && since.writes.bytes == 4 * 8192);
    want(since.reads.n_nvfs + since.reads.n_p2p + since.reads.n_posix == 9);
    want(since.writes.n_nvfs + since.writes.n_p2p + since.writes.n_posix == 4);
    /* 13 in rounds of posix, nvfs, nvfs, p2p; one failed before it was given a road */
    want(since.reads.n_p2p + since.writes.n_p2p == 3 && since.reads.n_posix + since.writes.n_posix == 4);
    want(since.reads.n_unaligned == 1);
    want(since.handle_register.ok == 0 && !since.readv.ok);
    bench_close(&b, c);
    return 0;
}

static void roads_add_up(void **state)
{
    const char *settings = "FAKE_CUFILE_ROAD=nvfs=2,p2p=1,posix=1 CUFILE_LOGFILE_PATH=/dev/null";

    in_child("1.15.1.6", settings, mixed_body);
    in_child("1.18.1.6", settings, mixed_body);
    in_child("1.20.0.107", settings, mixed_body);
}

static int vectored_body(struct cufile *c)
{
    struct cufile_stats s;
    CUfileIOVec_t iov[2];
    struct bench b;

    if (bench_open(&b, c, 3))
        return 1;
    iov[0] = (CUfileIOVec_t){b.base, 4096};
    iov[1] = (CUfileIOVec_t){(char *)b.base + 8192, 4096};
    want(c->cuFileReadv(b.file, iov, 2, 0, 0) == 8192);
    want(c->cuFileRead(b.file, b.base, 4096, 0, 0) == 4096);
    cufile_stats_read(c, &s);
    want(s.readv.ok == 1 && s.readv_bytes == 8192);
    want(s.read.ok == 1 && s.read_bytes == 4096 && s.reads.n_posix == 1);
    bench_close(&b, c);
    return 0;
}

static void vectors_are_counted_apart(void **state)
{
    in_child("1.20.0.107", "CUFILE_LOGFILE_PATH=/dev/null", vectored_body);
}

/* ------------------------------------------------------------------------------------------------ */

static int batch_body(struct cufile *c)
{
    CUfileIOEvents_t events[4];
    CUfileIOParams_t p[4] = {{0}};
    CUfileBatchHandle_t batch;
    struct cufile_stats s;
    unsigned n = 4;
    struct bench b;

    if (bench_open(&b, c, 3))
        return 1;
    for (unsigned i = 0; i < 4; i++) {
        p[i] = (CUfileIOParams_t){.mode = CUFILE_BATCH, .fh = b.file, .opcode = CUFILE_READ};
        p[i].batch.devPtr_base = b.base;
        p[i].batch.devPtr_offset = p[i].batch.file_offset = i * 65536;
        p[i].batch.size = 65536;
    }
    want(!c->cuFileBatchIOSetUp(&batch, 4).err);
    want(!c->cuFileBatchIOSubmit(batch, 4, p, 0).err);
    want(!c->cuFileBatchIOGetStatus(batch, 4, &n, events, NULL).err && n == 4);
    c->cuFileBatchIODestroy(batch);
    cufile_stats_read(c, &s);
    want(s.batch.setup.ok == 1 && s.batch.submit.ok == 1 && s.batch.complete.ok == 4);
    want(s.batch.nvfs_submit.ok == 2 && s.batch.aio_submit.ok == 2 && s.batch.total_submit.ok == 4);
    want(s.batch.processed.ok == 2 && s.batch.posix_processed.ok == 2);
    want(s.batch.read_bytes == 4 * 65536 && s.read.ok == 0);
    want(s.batch.destroy.ok == 1);
    bench_close(&b, c);
    return 0;
}

static void batches_are_counted_by_road(void **state)
{
    in_child("1.18.0.66", "FAKE_CUFILE_ROAD=nvfs=1,posix=1 CUFILE_LOGFILE_PATH=/dev/null", batch_body);
}

/* ------------------------------------------------------------------------------------------------ */

static int low_body(struct cufile *c)
{
    struct cufile_stats s;
    struct bench b;

    if (bench_open(&b, c, 1))
        return 1;
    want(c->cuFileRead(b.file, b.base, 4096, 0, 0) == 4096);
    cufile_stats_read(c, &s);
    want(s.known && s.level == 1 && !s.has_roads);
    want(strstr(s.reason, "cuFileGetStatsL3: INVALID_VALUE (5022)"));
    want(s.read.ok == 1 && s.read_bytes == 4096);
    want(s.reads.n == 0);
    bench_close(&b, c);
    return 0;
}

static int off_body(struct cufile *c)
{
    struct cufile_stats s, since;
    struct bench b;

    if (bench_open(&b, c, 0))
        return 1;
    cufile_stats_read(c, &s);
    want(!s.known && strstr(s.reason, "level is lower"));
    cufile_stats_since(&s, &s, &since);
    want(!since.known && !strcmp(since.reason, s.reason));
    bench_close(&b, c);
    return 0;
}

static int none_body(struct cufile *c)
{
    struct cufile_stats s;
    struct spur_error e;

    want(cufile_stats_set_level(c, 3, &e) == -ENOTSUP && strstr(e.detail, "1.15"));
    want(cufile_stats_start(c, &e) == -ENOTSUP);
    cufile_stats_read(c, &s);
    want(!s.known && strstr(s.reason, "no cuFileGetStatsL3"));
    return 0;
}

static void less_than_level_3_says_so(void **state)
{
    in_child("1.15.1.6", "CUFILE_LOGFILE_PATH=/dev/null", low_body);
    in_child("1.20.0.107", "CUFILE_LOGFILE_PATH=/dev/null", low_body);
    in_child("1.15.1.6", "CUFILE_LOGFILE_PATH=/dev/null", off_body);
    in_child("1.9.1.3", NULL, none_body);
    in_child("1.4.0.31", NULL, none_body);
}

static int foreign_layout_body(struct cufile *c)
{
    struct cufile_stats s;
    struct bench b;

    if (bench_open(&b, c, 3))
        return 1;
    want(c->cuFileRead(b.file, b.base, 4096, 0, 0) == 4096);
    cufile_stats_read(c, &s);
    want(s.known && !s.has_roads && s.read.ok == 1 && strstr(s.reason, "a layout that spur does not know"));
    bench_close(&b, c);
    return 0;
}

static void unknown_layouts_are_not_read(void **state)
{
    in_child("1.20.0.107", "FAKE_CUFILE_STATS_EXTRA=64 CUFILE_LOGFILE_PATH=/dev/null", foreign_layout_body);
    in_child("1.15.1.6", "FAKE_CUFILE_STATS_EXTRA=8 CUFILE_LOGFILE_PATH=/dev/null", foreign_layout_body);
    /* 1.19's structure from a library that says that it is older. */
    in_child("1.20.0.107", "FAKE_CUFILE_STATS_EXTRA=112 FAKE_CUFILE_VERSION=1.18.1 CUFILE_LOGFILE_PATH=/dev/null",
             foreign_layout_body);
}

static int sizes_body(struct cufile *c)
{
    static unsigned char room[CUFILE_STATS_ROOM];
    size_t more = c->version.number >= CUFILE_VECTORED_VERSION ? 112 : 0;
    const size_t sizes[] = {512 + more, 1024 + more, 5000 + more};
    CUfileError_t (*const get[])(void *) = {c->cuFileGetStatsL1, c->cuFileGetStatsL2, c->cuFileGetStatsL3};
    struct bench b;

    if (bench_open(&b, c, 3))
        return 1;
    for (unsigned level = 0; level < 3; level++) {
        memset(room, 0x77, sizeof(room));
        want(!get[level](room).err);
        want(room[sizes[level] - 1] == 0);
        for (size_t i = sizes[level]; i < sizeof(room); i++)
            want(room[i] == 0x77);
    }
    bench_close(&b, c);
    return 0;
}

static void fakes_keep_to_their_sizes(void **state)
{
    in_child("1.15.1.6", "CUFILE_LOGFILE_PATH=/dev/null", sizes_body);
    in_child("1.20.0.107", "CUFILE_LOGFILE_PATH=/dev/null", sizes_body);
}

/* ------------------------------------------------------------------------------------------------ */

static int reset_body(struct cufile *c)
{
    struct cufile_stats before, after, since;
    struct bench b;

    if (bench_open(&b, c, 3))
        return 1;
    want(c->cuFileRead(b.file, b.base, 4096, 0, 0) == 4096);
    cufile_stats_read(c, &before);
    want(!c->cuFileStatsReset().err);
    cufile_stats_read(c, &after);
    cufile_stats_since(&before, &after, &since);
    want(!since.known && strstr(since.reason, "went backwards") && !since.read.ok);
    want(!c->cuFileStatsStop().err);
    want(c->cuFileRead(b.file, b.base, 4096, 0, 0) == 4096);
    cufile_stats_read(c, &before);
    cufile_stats_since(&after, &before, &since);
    want(since.known && since.read.ok == 0);
    bench_close(&b, c);
    return 0;
}

static void resets_are_noticed(void **state)
{
    in_child("1.15.1.6", "CUFILE_LOGFILE_PATH=/dev/null", reset_body);
}

static int registered_body(struct cufile *c)
{
    struct cufile_stats s, freed, since;
    struct bench b;

    if (bench_open(&b, c, 3))
        return 1;
    want(!c->cuFileBufRegister(b.base, 4 * MIB, 0).err);
    want(c->cuFileBufRegister(b.base, 4 * MIB, 0).err == 5023);
    cufile_stats_read(c, &s);
    want(s.buffer_register.ok == 1 && s.buffer_register.err == 1);
    want(s.n_registered == 1 && s.registered_bytes == 4 * MIB);
    want(!c->cuFileBufDeregister(b.base).err);
    cufile_stats_read(c, &freed);
    cufile_stats_since(&s, &freed, &since);
    want(since.known && since.registered_bytes == 0 && since.n_registered == 0);
    bench_close(&b, c);
    return 0;
}

static void registrations_are_counted(void **state)
{
    in_child("1.15.1.6", "CUFILE_LOGFILE_PATH=/dev/null", registered_body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roads_add_up),
        cmocka_unit_test(vectors_are_counted_apart),
        cmocka_unit_test(batches_are_counted_by_road),
        cmocka_unit_test(less_than_level_3_says_so),
        cmocka_unit_test(unknown_layouts_are_not_read),
        cmocka_unit_test(fakes_keep_to_their_sizes),
        cmocka_unit_test(resets_are_noticed),
        cmocka_unit_test(registrations_are_counted),
    };

    if (!getenv("SPUR_LIBCUDA") || !getenv("SPUR_FAKE_CUFILE")) {
        printf("skipped: SPUR_LIBCUDA and SPUR_FAKE_CUFILE must name the fakes\n");
        return 77;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
