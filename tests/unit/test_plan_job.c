/* SPDX-License-Identifier: MIT */
/* Job files: read, written, read again, and torn. */
#include "plan_fixture.h"
#include "plan/parts.h"

#include <jansson.h>
#include <unistd.h>

static struct spur_error last_error;

/* What the sweep's own keys came to. */
struct own_keys {
    char text[1000];
    char baseline[100];
    bool unknown_fails;
};

static int own_key(void *context, const char *key, const char *value, const char *where, struct spur_error *e)
{
    struct own_keys *own = context;
    size_t n = strlen(own->text);

    if (own->unknown_fails)
        return -EINVAL;
    snprintf(own->text + n, sizeof(own->text) - n, "%s=%s;", key, value);
    if (!strcmp(key, "baseline"))
        snprintf(own->baseline, sizeof(own->baseline), "%s", value);
    return 0;
}

static int read_bytes(const void *text, size_t n, struct plan_spec *s, struct own_keys *own, struct spur_error *e)
{
    char name[] = "/tmp/test_plan_job.XXXXXX";
    int fd = mkstemp(name), r;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, n), (ssize_t)n);
    close(fd);
    memset(e, 0, sizeof(*e));
    r = plan_job_read(name, &keys, s, own_key, own, e);
    unlink(name);
    return r;
}

static int read_text(const char *text, struct plan_spec *s, struct own_keys *own)
{
    return read_bytes(text, strlen(text), s, own, &last_error);
}

static void read_well(const char *text, struct plan_spec *s, struct own_keys *own)
{
    memset(s, 0, sizeof(*s));
    memset(own, 0, sizeof(*own));
    if (read_text(text, s, own))
        fail_msg("%s", last_error.detail);
}

/* It is a usage error with @part in its detail. */
static void fails(const char *text, const char *part)
{
    struct plan_spec s = {0};
    struct own_keys own = {0};

    refuse_with(read_text(text, &s, &own), part);
    plan_spec_free(&s);
}

static const char full[] = "; a comparison\n"
                           "# of two paths\n"
                           "[sweep]\n"
                           "file = /m/a\n"
                           "file = \"/m/b,c\"\n"
                           "request = 4K..64K*4   ; three values\n"
                           "axis = threads=1,8\n"
                           "axis = nc=1,4\n"
                           "prepare = nc=mount -o nconnect={} /m\n"
                           "cpus = \"0-3,8\"\n"
                           "blocks = 7\n"
                           "baseline = odirect\n"
                           "unaligned = yes\n"
                           "\n"
                           "[arm odirect]\n"
                           "[arm big one]\n"
                           "path: fanout\n"
                           "piece=8M\n";

static void a_whole_file(void **state)
{
    struct plan_spec s;
    struct own_keys own;
    struct experiment x;

    read_well(full, &s, &own);
    assert_string_equal(own.text, "blocks=7;baseline=odirect;");
    assert_int_equal(s.n_items, 5);
    assert_string_equal(s.items[2].key, "request");
    assert_string_equal(s.items[2].value, "4K..64K*4");
    assert_non_null(strstr(s.items[2].where, ":6: request"));
    assert_int_equal(s.n_axes, 2);
    assert_int_equal(s.n_prepares, 1);
    assert_string_equal(s.prepares[0].value, "mount -o nconnect={} /m");
    assert_int_equal(s.n_arms, 2);
    assert_string_equal(s.arms[1].name, "big one");
    assert_non_null(strstr(s.arms[1].items[1].where, ":18: piece"));
    s.n_blocks = 7;
    assert_int_equal(plan_expand(&s, &keys, &x, &last_error), 0);
    assert_int_equal(x.n_cells, 12);
    assert_string_equal(x.axes[0].key, "nc");
    assert_string_equal(x.axes[1].key, "request");
    experiment_free(&x);
    plan_spec_free(&s);
}

/* The indented lines of docs/job-files.md. */
static void the_manual_s_example(void **state)
{
    FILE *f = fopen(SPUR_JOB_DOC, "r");
    struct plan_spec s;
    struct own_keys own;
    struct experiment x;
    char line[300], text[3000] = "";

    assert_non_null(f);
    while (fgets(line, sizeof(line), f))
        if (!strncmp(line, "    ", 4))
            strcat(text, line + 4);
    fclose(f);
    read_well(text, &s, &own);
    assert_string_equal(own.text, "blocks=5;baseline=odirect;aa=yes;");
    s.n_blocks = 5;
    s.aa = true;
    if (plan_expand(&s, &keys, &x, &last_error) || plan_order(&x, &last_error))
        fail_msg("%s", last_error.detail);
    assert_int_equal(x.n_cells, 42);
    assert_int_equal(x.n_rows, 168 * 5);
    assert_string_equal(x.common.items[2].value, "/mnt/nfs/data/b,c");
    experiment_free(&x);
    plan_spec_free(&s);
}

static void forms_of_lines(void **state)
{
    struct plan_spec s;
    struct own_keys own;

    read_well(
        "\xef\xbb\xbf[sweep]\r\n  threads =\t8\t;eight\r\n\tdepth=2;3\r\nop = read#1\r\n[ arm  x ] ; y\r\n path=null",
        &s, &own);
    assert_int_equal(s.n_items, 3);
    assert_string_equal(s.items[0].value, "8");
    assert_string_equal(s.items[1].value, "2;3"); /* no blank before it: no comment */
    assert_string_equal(s.items[2].value, "read#1");
    assert_string_equal(s.arms[0].name, "x");
    assert_string_equal(s.arms[0].items[0].value, "null");
    plan_spec_free(&s);
    read_well("[sweep]\nfile = \"/a ;b\" ; c\nprepare = n=sh -c \"x ; y\"\nfile = a = b: [c]\nfile = a  # b\n", &s,
              &own);
    assert_string_equal(s.items[0].value, "\"/a ;b\"");
    assert_string_equal(s.prepares[0].value, "sh -c \"x ; y\"");
    assert_string_equal(s.items[1].value, "a = b: [c]");
    assert_string_equal(s.items[2].value, "a  # b");
    plan_spec_free(&s);
    read_well("", &s, &own);
    read_well("\n\n;\n", &s, &own);
    assert_int_equal(s.n_items + s.n_arms, 0);
}

/* inih's own buffers hold 200 bytes of a line, 50 of a section. */
static void nothing_is_cut(void **state)
{
    struct plan_spec s;
    struct own_keys own;
    char name[5000], text[6000];

    for (size_t n = 180; n < 4900; n = n < 420 ? n + 1 : n + 997) {
        for (size_t i = 0; i < n; i++)
            name[i] = "ab ;#[]=:c"[(i * i + i / 7) % 10];
        name[0] = '/';
        name[n - 1] = '\'';
        name[n] = 0;
        snprintf(text, sizeof(text), "[sweep]\nfile = \"%s\"\n%-64s=1\n[arm %064d]\nthreads=8\n", name, "x", 7);
        read_well(text, &s, &own);
        assert_int_equal(s.n_items, 1);
        assert_int_equal(strlen(s.items[0].value), n + 2);
        assert_memory_equal(s.items[0].value + 1, name, n);
        assert_string_equal(own.text, "x=1;");
        assert_int_equal(strlen(s.arms[0].name), 64);
        plan_spec_free(&s);
    }
}

/* Of any size from the least on: pieces stay inside the buffer, and together are the line. */
static void pieces_fit_their_buffer(void **state)
{
    static const char line[] = "file = 123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 "
                               "123456789 123456789 123456789 123456789 123456789 123456789 123456789 123456789 123";

    for (size_t size = 72; size < sizeof(line) + 5; size++) {
        struct plan_lines l = {0};
        char buffer[sizeof(line) + 10], *value = NULL;

        assert_int_equal(plan_lines_begin(&l, line, sizeof(line) - 1, NULL), 0);
        memset(buffer, '!', sizeof(buffer));
        while (plan_lines_piece(&l, buffer, size)) {
            size_t n = strlen(buffer);

            assert_true(n < size && buffer[n - 1] == '\n' && buffer[size] == '!');
            buffer[n - 1] = 0;
            assert_int_equal(plan_lines_append(&value, buffer + (value ? 1 : 0), NULL), 0);
        }
        assert_string_equal(value, line);
        free(value);
    }
}

static void the_command_line_goes_first(void **state)
{
    struct plan_spec s = {0};
    struct own_keys own = {0};

    assert_int_equal(
        fill_spec(&s, &last_error,
                  TEXTS("o request=1M", "o file=/x", "x depth=1,2", "p nc=tune {}", "a odirect:threads=3")),
        0);
    assert_int_equal(read_text("[sweep]\nrequest=4K..64K\nfile=/a\nfile=/b\naxis=depth=4,8\naxis=request=4K,8K\n"
                               "axis=nc=1,4\nprepare=nc=mount {}\nop=read\n[arm odirect]\nthreads=5\n[arm null]\n",
                               &s, &own),
                     0);
    assert_int_equal(s.n_items, 3);
    assert_string_equal(s.items[2].key, "op");
    assert_int_equal(s.n_axes, 2);
    assert_string_equal(s.axes[0].value, "1,2");
    assert_string_equal(s.axes[1].key, "nc");
    assert_int_equal(s.n_prepares, 1);
    assert_string_equal(s.prepares[0].value, "tune {}");
    assert_int_equal(s.n_arms, 2);
    assert_int_equal(s.arms[0].n_items, 1);
    assert_string_equal(s.arms[0].items[0].value, "3");
    plan_spec_free(&s);
    /* What is not taken must still be right. */
    memset(&s, 0, sizeof(s));
    assert_int_equal(fill_spec(&s, &last_error, TEXTS("a odirect")), 0);
    refuse_with(read_text("[arm odirect]\nthraeds=5\n", &s, &own), "'thraeds'");
    plan_spec_free(&s);
}

static void bad_files(void **state)
{
    char text[200];

    fails("threads = 8\n", ":1: keys stand in [sweep] or [arm NAME]");
    fails("[sweep]\nthreads\n", ":2: 'threads' is neither [SECTION] nor KEY = VALUE");
    fails("[sweep]\nthreads =\n", ":2: threads: its value is missing");
    fails("[sweep]\nthreads = ;8\n", ":2: threads: its value is missing");
    fails("[sweep]\n= 8\n", ":2: a key has 1 to 64 bytes");
    fails("[sweep]\nthreads = 8\n\nthreads = 9\n", ":4: threads: it is given already (");
    fails("[sweep]\nblocks = 8\nblocks = 9\n", ":3: blocks: it is given already (");
    fails("[arm x]\npath = null\npath = null\n", ":3: path: it is given already (");
    fails("[sweep]\nprepare = a=b\nprepare = a=c\n", ":3: prepare: axis 'a' has a command already");
    fails("[sweep]\naxis = threads\n", ":2: axis: 'threads' is not KEY=VALUES");
    fails("[sweep]\n[sweep]\n", ":2: there is a [sweep] already");
    fails("[sweeps]\n", ":1: sections are [sweep] and [arm NAME]");
    fails("[arm]\n", ":1: [arm ]: '': an arm's name has 1 to 64 bytes");
    fails("[]\n", ":1: sections are");
    fails("[armx]\n", ":1: sections are");
    fails("[sweep\n", ":1: a section's line ends with ]");
    fails("[\n", ":1: a section's line ends with ]");
    fails("[arm x]\n[arm y]\n[arm x]\n", ":3: [arm x]: there is an arm 'x' already (");
    fails("[arm a,b]\n", "no colon, comma");
    fails("[arm x]\nreqest = 4K\n", ":2: reqest: no option and no setting");
    assert_string_equal(last_error.remedy, "did you mean request?");
    fails("[arm x]\nblocks = 4\n", ":2: blocks: no option and no setting");
    fails("[arm x]\nseed = 4\n", "'seed' is of the whole comparison");
    fails("[sweep]\nfile = /a\x01\n", ":2: control byte 0x01");
    fails("[sweep]\nfile = \"/a ; b\n", ":2: a double quote is not closed");
    snprintf(text, sizeof(text), "[sweep]\n%065d = 1\n", 1);
    fails(text, ":2: a key has 1 to 64 bytes");
}

static void files_that_cannot_be_read(void **state)
{
    static char big[(1 << 20) + 2];
    struct plan_spec s = {0};
    struct own_keys own = {.unknown_fails = true};

    assert_int_equal(plan_job_read("/no/such/job.ini", &keys, &s, NULL, NULL, &last_error), -ENOENT);
    assert_non_null(strstr(last_error.detail, "/no/such/job.ini"));
    assert_int_equal(plan_job_read("/tmp", &keys, &s, NULL, NULL, &last_error), -EISDIR);
    memset(big, '\n', sizeof(big));
    assert_int_equal(read_bytes(big, sizeof(big), &s, &own, &last_error), -EFBIG);
    assert_int_equal(read_bytes("[sweep]\nop=\0read\n", 17, &s, &own, &last_error), -EINVAL);
    assert_non_null(strstr(last_error.detail, ":2: control byte 0x00"));
    /* The caller's own error is handed on. */
    assert_int_equal(read_text("[sweep]\nblocks = 5\n", &s, &own), -EINVAL);
    plan_spec_free(&s);
}

/* ------------------------------------------------------------------------------------------------
 * Written and read again
 */

static char *to_json(const struct experiment *x)
{
    json_t *json = experiment_to_json(x);
    char *text = json_dumps(json, JSON_SORT_KEYS);

    assert_non_null(text);
    json_decref(json);
    return text;
}

static char *written(const struct experiment *x)
{
    struct spur_error e;
    char *text;

    if (plan_job_write(x, &text, &e))
        fail_msg("%s", e.detail);
    return text;
}

/* The spec's own keys as a caller sets them from @own. */
static void set_own(struct plan_spec *s, const struct own_keys *own, const struct plan_spec *like)
{
    char expected[200];

    snprintf(expected, sizeof(expected), "seed=%llu;", (unsigned long long)like->seed);
    assert_non_null(strstr(own->text, expected));
    assert_true(!strstr(own->text, "aa=yes;") == !like->aa);
    assert_true(!strstr(own->text, "quick=yes;") == !like->quick);
    assert_true(!strstr(own->text, "until-decided=yes;") == !like->until_decided);
    assert_true(!strstr(own->text, "region=rotate;") == (like->region == REGION_SAME));
    assert_true(!strstr(own->text, "limit=2h;") == !like->limit_ns);
    snprintf(expected, sizeof(expected), "blocks=%u;", like->n_blocks);
    assert_true(!strstr(own->text, expected) == like->until_decided);
    s->aa = like->aa;
    s->quick = like->quick;
    s->until_decided = like->until_decided;
    s->region = like->region;
    s->limit_ns = like->limit_ns;
    s->n_blocks = like->n_blocks;
    s->seed = like->seed;
    s->memory = like->memory;
    s->command = like->command;
    s->baseline = own->baseline;
}

static void round_trip(const struct plan_spec *like, const char *const *texts)
{
    struct plan_spec s = *like;
    struct own_keys own;
    struct experiment x, y;
    char *text, *again, *a, *b;

    if (make_with(&s, &x, &last_error, texts) || plan_order(&x, &last_error))
        fail_msg("%s", last_error.detail);
    text = written(&x);
    read_well(text, &s, &own);
    set_own(&s, &own, like);
    if (plan_expand(&s, &keys, &y, &last_error) || plan_order(&y, &last_error))
        fail_msg("%s", last_error.detail);
    for (size_t i = 0; i < x.n_axes; i++)
        x.axes[i].n_left_out = 0; /* the job file has the values that --quick kept */
    a = to_json(&x);
    b = to_json(&y);
    assert_string_equal(a, b);
    again = written(&y);
    assert_string_equal(text, again);
    experiment_free(&x);
    experiment_free(&y);
    plan_spec_free(&s);
    free(text);
    free(again);
    free(a);
    free(b);
}

static void round_trips(void **state)
{
    struct plan_spec plain = {
        .n_blocks = 5, .seed = 9223372036854775807u, .memory = "cuda:0", .command = "spur compare"};
    struct plan_spec all = {.n_blocks = 20,
                            .seed = 1,
                            .memory = "emulated",
                            .command = "x",
                            .aa = true,
                            .until_decided = true,
                            .quick = true,
                            .region = REGION_ROTATE,
                            .limit_ns = 7200000000000u,
                            .baseline = "odd [name];#1"};
    char name[600] = "o file=\"/";

    round_trip(&plain, TEXTS("o path=odirect,fanout"));
    round_trip(&plain,
               TEXTS("o memory=auto", "o file=\"/a,b\"", "o file=\" /c d \"", "o file=\"/e\"\"f\"", "o file=/g#h;i",
                     "o file=\"/j ;k\"", "o cpus=\"0-3,8\"", "o seconds=10", "a odirect", "a fanout:piece=auto"));
    round_trip(&all,
               TEXTS("x threads=1..64", "o request=4K,1M", "x nc=1,8", "x mode=a,\"b,c\"", "p mode=\"set it\" {} 'x'",
                     "p nc=sh -c \"umount /m ; mount -o nconnect={} /m\"", "x piece=auto,4K..64K", "x file=/a,\"/b,c\"",
                     "a fanout", "a odd [name];#1:path=fanout,depth=4,cpus=\"1,2\"", "a buffered:depth=2"));
    memset(name + strlen(name), 'n', 500);
    strcat(name, "\"");
    round_trip(&plain, TEXTS(name, "a odirect", "a fanout"));
}

static void memory_is_written_resolved(void **state)
{
    struct experiment x;
    char *text;

    make(&x, "o memory=auto", "a odirect", "a fanout");
    free(x.memory);
    x.memory = strdup("cuda:1");
    text = written(&x);
    assert_non_null(strstr(text, "\nmemory = cuda:1\n"));
    assert_null(strstr(text, "auto"));
    free(text);
    experiment_free(&x);
}

static void what_cannot_be_written(void **state)
{
    char *text = NULL;
    struct experiment x;

    make(&x, "o file=/a\nb", "a odirect", "a fanout");
    assert_int_equal(plan_job_write(&x, &text, &last_error), -EINVAL);
    assert_non_null(strstr(last_error.detail, "control byte"));
    experiment_free(&x);
    make(&x, "x n=1,2", "p n=a ;b", "a odirect", "a fanout");
    assert_int_equal(plan_job_write(&x, &text, &last_error), -EINVAL);
    assert_non_null(strstr(last_error.detail, "begins a comment"));
    experiment_free(&x);
    assert_null(text);
}

/* ------------------------------------------------------------------------------------------------
 * Torn files
 */

static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return *seed >> 33;
}

/* Changes, cuts out or doubles a few bytes. */
static size_t tear(char *text, size_t n, uint64_t *seed)
{
    static const char odd[] = "=,\"'\n[];#:.*\\ {}\t\0\xff-9K";

    for (uint64_t i = draw(seed) % 6 + 1; i && n > 20; i--) {
        size_t at = draw(seed) % (n - 16), more = draw(seed) % 16;

        switch (draw(seed) % 4) {
        case 0:
            text[at] = odd[draw(seed) % sizeof(odd)];
            break;
        case 1:
            text[at] = (char)draw(seed);
            break;
        case 2:
            memmove(text + at, text + at + more, n - at - more);
            n -= more;
            break;
        default:
            memmove(text + at + more, text + at, n - at);
            n += more;
        }
    }
    return n;
}

static void torn_files(void **state)
{
    unsigned n_read = 0, n_made = 0;
    uint64_t seed = 1;

    for (int i = 0; i < 2000; i++) {
        struct plan_spec s = {.n_blocks = 2};
        struct own_keys own = {0};
        struct experiment x;
        char text[sizeof(full) + 200], *again = NULL;
        size_t n = sizeof(full) - 1;
        int r;

        memcpy(text, full, n);
        n = tear(text, n, &seed);
        r = read_bytes(text, n, &s, &own, &last_error);
        n_read += !r;
        if (!r)
            r = plan_expand(&s, &keys, &x, &last_error);
        assert_true(r == 0 || (r == -EINVAL && last_error.detail[0]));
        if (!r) {
            n_made++;
            if (!plan_job_write(&x, &again, NULL))
                free(again);
            experiment_free(&x);
        }
        plan_spec_free(&s);
    }
    assert_true(n_read > 200 && n_made > 100 && n_made < 1900); /* it reached all of it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_file),
        cmocka_unit_test(the_manual_s_example),
        cmocka_unit_test(forms_of_lines),
        cmocka_unit_test(nothing_is_cut),
        cmocka_unit_test(pieces_fit_their_buffer),
        cmocka_unit_test(the_command_line_goes_first),
        cmocka_unit_test(bad_files),
        cmocka_unit_test(files_that_cannot_be_read),
        cmocka_unit_test(round_trips),
        cmocka_unit_test(memory_is_written_resolved),
        cmocka_unit_test(what_cannot_be_written),
        cmocka_unit_test(torn_files),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
