/* SPDX-License-Identifier: MIT */
/* Requirements and their markers, chains of packages, environments and trees as they may lie on a disk. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/util.h"
#include "driver/cufile_versions.h"
#include "which/pyenv.h"

/* ------------------------------------------------------------------------------------------------
 * A folder to build in
 */

static char top[64];

static int enter_folder(void **state)
{
    strcpy(top, "/tmp/spur-which.XXXXXX");
    return mkdtemp(top) && chdir(top) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf %s", top);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* A file of that text, with the folders that it lies in. */
static void put_bytes(const char *name, const void *data, size_t n)
{
    char folder[PATH_MAX];
    FILE *f;

    snprintf(folder, sizeof(folder), "%s", name);
    for (char *p = folder; (p = strchr(p, '/')); *p++ = '/') {
        *p = '\0';
        mkdir(folder, 0700);
    }
    f = fopen(name, "we");
    assert_non_null(f);
    assert_int_equal(fwrite(data, 1, n, f), n);
    assert_int_equal(fclose(f), 0);
}

static void put(const char *name, const char *text)
{
    put_bytes(name, text, strlen(text));
}

#define SITE "venv/lib/python3.12/site-packages/"

/* A package in SITE: METADATA with these further lines. */
static void package(const char *name, const char *version, const char *lines)
{
    char file[PATH_MAX], text[8192];

    snprintf(file, sizeof(file), SITE "%s-%s.dist-info/METADATA", name, version);
    snprintf(text, sizeof(text), "Metadata-Version: 2.1\nName: %s\nVersion: %s\n%s\nRequires-Dist: of-the-text\n", name,
             version, lines);
    put(file, text);
}

static const struct dist *dist_named(const struct dists *d, const char *normal)
{
    for (size_t i = 0; i < d->n; i++)
        if (!strcmp(d->items[i].normal, normal))
            return &d->items[i];
    return NULL;
}

/* "torch 2.9.1 -> nvidia-cufile-cu12==1.13.1.3": one line a chain. */
static char *chains_of(const char *target)
{
    static char text[4096];
    struct tree t;
    struct dists d = {NULL};
    const json_t *chain, *step;
    json_t *list;
    size_t i, k, n = 0;

    assert_int_equal(tree_open(&t, top, NULL), 0);
    assert_int_equal(dists_read_site(&d, &t, "/" SITE), 0);
    assert_non_null(dist_named(&d, target));
    list = dists_chains(&d, dist_named(&d, target), "3.12", "x86_64");
    text[0] = '\0';
    json_array_foreach(list, i, chain)
    {
        json_array_foreach(chain, k, step) n += (size_t)snprintf(
            text + n, sizeof(text) - n, "%s%s%s%s", json_string_value(json_object_get(step, "name")),
            json_string_value(json_object_get(step, "as")), json_is_true(json_object_get(step, "pinned")) ? "!" : "",
            json_is_true(json_object_get(step, "satisfied")) ? " " : "? ");
        n += (size_t)snprintf(text + n, sizeof(text) - n, "\n");
    }
    json_decref(list);
    dists_free(&d);
    tree_close(&t);
    return text;
}

/* ------------------------------------------------------------------------------------------------
 * Requirements
 */

static void requirement_parts(void **state)
{
    struct requirement r;

    assert_true(requirement_parse("NVIDIA_cufile.CU12 (==1.13.1.3) ; platform_system == \"Linux\"", &r));
    assert_string_equal(r.name, "nvidia-cufile-cu12");
    assert_string_equal(r.spec, "==1.13.1.3");
    assert_string_equal(r.marker, "platform_system == \"Linux\"");
    assert_true(requirement_is_pinned(&r));
    assert_true(requirement_allows(&r, "1.13.1.3"));
    assert_false(requirement_allows(&r, "1.13.1.30"));
    assert_true(requirement_parse("cuda-toolkit[cublas, CuFile]==13.2.*", &r));
    assert_true(requirement_wants_extra(&r, "cufile"));
    assert_false(requirement_wants_extra(&r, "cu"));
    assert_true(requirement_allows(&r, "13.2.5"));
    assert_true(requirement_allows(&r, "13.2"));
    assert_false(requirement_allows(&r, "13.21"));
    assert_true(requirement_parse("numpy<3.0,>=2.0", &r));
    assert_false(requirement_is_pinned(&r));
    assert_true(requirement_parse("x[", &r));
    assert_false(requirement_parse("  ;", &r));
}

static bool holds(const char *marker, const char *extra)
{
    const struct marker_world w = {.python_version = "3.9", .machine = "x86_64", .extra = extra};
    struct requirement r;
    char text[700];

    snprintf(text, sizeof(text), "a; %s", marker);
    assert_true(requirement_parse(text, &r));
    return requirement_holds(&r, &w);
}

static void requirement_markers(void **state)
{
    assert_true(holds("platform_system == 'Linux' and platform_machine == \"x86_64\"", ""));
    assert_false(holds("sys_platform == 'win32'", ""));
    assert_false(holds("platform_machine != 'x86_64'", ""));
    assert_true(holds("python_version < '3.15'", ""));
    assert_true(holds("python_version >= '3.9'", ""));
    assert_false(holds("python_version < '3.9'", ""));
    assert_false(holds("python_version > \"3.10\"", "")); /* 3.9 is older than 3.10 */
    assert_false(holds("extra == 'test'", ""));
    assert_true(holds("extra == 'Cu_File'", "cu-file"));
    assert_true(holds("(sys_platform == 'linux' and platform_machine == 'aarch64' or sys_platform == 'linux' and "
                      "platform_machine == 'x86_64') and extra == 'cufile'",
                      "cufile"));
    assert_false(holds("(sys_platform == 'linux' or sys_platform == 'win32') and extra == 'cufile'", ""));
    assert_true(holds("'lin' in sys_platform", ""));
    assert_false(holds("sys_platform not in 'linux darwin'", ""));
    assert_true(holds("platform_release >= '5'", "")); /* not known here */
    assert_true(holds("what is this", ""));
    assert_true(holds("extra == 'x", ""));
    assert_true(holds("((((((((((((((((((((((((((((((((((((((((", ""));
}

/* ------------------------------------------------------------------------------------------------
 * Chains
 */

static void chain_pinned(void **state)
{
    package("nvidia-cufile-cu12", "1.13.1.3", "");
    package("torch", "2.9.1", "Requires-Dist: nvidia-cufile-cu12==1.13.1.3; platform_system == \"Linux\"\n");
    package("vllm", "0.11", "Requires-Dist: torch==2.9.1\r\nRequires-Dist: numpy\n");
    package("other", "1", "Requires-Dist: nvidia-cufile-cu12; sys_platform == 'win32'\n");
    assert_string_equal(chains_of("nvidia-cufile-cu12"), "vllm==2.9.1! torch==1.13.1.3! \n");
}

/* Through an extra, which somebody must ask for; a package that only has it as an option holds nothing. */
static void chain_extras(void **state)
{
    package("nvidia-cufile", "1.17.1.22", "");
    package("cuda-toolkit", "13.2.2",
            "Provides-Extra: cufile\nRequires-Dist: nvidia-cufile==1.17.1.22.*; (sys_platform == 'linux') and extra == "
            "'cufile'\n");
    package("torch", "2.15", "Requires-Dist: cuda-toolkit[cublas,cufile]==13.2.2; platform_system == \"Linux\"\n");
    package("jax", "1", "Requires-Dist: cuda-toolkit[cublas]\n");
    package("tested", "1", "Requires-Dist: torch; extra == 'test'\nRequires-Dist: nvidia-cufile; extra == 'test'\n");
    assert_string_equal(chains_of("nvidia-cufile"), "torch[cufile]==13.2.2! cuda-toolkit==1.17.1.22.*! \n");
}

static void chain_cycle(void **state)
{
    package("nvidia-cufile-cu12", "1.11.1.6", "Requires-Dist: a\n");
    package("a", "1", "Requires-Dist: b\nRequires-Dist: a\nRequires-Dist: nvidia-cufile-cu12==1.13.1.3\n");
    package("b", "1", "Requires-Dist: a\n");
    assert_string_equal(chains_of("nvidia-cufile-cu12"), "a==1.13.1.3!? \n"); /* and another version is installed */
}

static void chain_none(void **state)
{
    package("nvidia-cufile-cu12", "1.11.1.6", "");
    package("a", "1", "");
    assert_string_equal(chains_of("nvidia-cufile-cu12"), "");
}

/* ------------------------------------------------------------------------------------------------
 * Bad packages
 */

static void packages_bad(void **state)
{
    _cleanup_free_ char *huge = malloc(3 << 20);
    struct tree t;
    struct dists d = {NULL};

    package("good", "1", "");
    memset(huge, 'x', 3 << 20);
    memcpy(huge, "Name: huge\nVersion: 2\nSummary: ", 31);
    put_bytes(SITE "huge-2.dist-info/METADATA", huge, 3 << 20);
    put(SITE "odd-1.dist-info/METADATA", "Name: caf\xe9\xff\nVersion: 1\n");
    put(SITE "empty-1.dist-info/METADATA", "");
    put_bytes(SITE "nul-1.dist-info/METADATA", "Name: \0x\n", 9);
    mkdir(SITE "none-1.dist-info", 0700);
    put(SITE "file.dist-info", "no folder");
    assert_int_equal(symlink("loop-1.dist-info", SITE "loop-1.dist-info"), 0);
    assert_int_equal(tree_open(&t, top, NULL), 0);
    assert_int_equal(dists_read_site(&d, &t, "/" SITE), 0);
    assert_int_equal(d.n, 3);
    assert_int_equal(d.n_unreadable, 5);
    assert_string_equal(dist_named(&d, "huge")->version, "2");
    assert_non_null(dist_named(&d, "good"));
    dists_free(&d);
    tree_close(&t);
}

static void packages_owner(void **state)
{
    struct tree t;
    struct dists d = {NULL};

    package("torch", "2", "");
    put(SITE "torch-2.dist-info/RECORD", "torch/lib/libtorch_cuda.so,sha256=x,1\n\"a,b.so\",,\nxtorch/y.so,,\n");
    assert_int_equal(tree_open(&t, top, NULL), 0);
    assert_int_equal(dists_read_site(&d, &t,
                                     "/"
                                     "venv/lib/python3.12/site-packages"),
                     0);
    assert_non_null(dists_owner(&d, &t, "/" SITE "torch/lib/libtorch_cuda.so"));
    assert_non_null(dists_owner(&d, &t, "/" SITE "a,b.so"));
    assert_null(dists_owner(&d, &t, "/" SITE "torch/y.so")); /* the end of another name */
    assert_null(dists_owner(&d, &t, "/" SITE "torch/lib/libtorch"));
    assert_null(dists_owner(&d, &t, "/elsewhere/torch/lib/libtorch_cuda.so"));
    dists_free(&d);
    tree_close(&t);
}

/* ------------------------------------------------------------------------------------------------
 * Environments
 */

static struct pyenv *opened(const char *name, int want)
{
    static struct pyenv p;
    static struct tree t;
    const struct pyenv_world w = {.home = NULL};
    struct spur_error e = {0};

    assert_int_equal(tree_open(&t, top, NULL), 0);
    strcpy(t.cwd, "/");
    assert_int_equal(pyenv_open(&p, &t, name, &w, &e), want);
    assert_true(want == 0 || strlen(e.detail) > 0);
    tree_close(&t);
    return &p;
}

static void environment_venv(void **state)
{
    struct pyenv *p;

    package("torch", "2", "");
    put("base/bin/python3.12", "\177ELF");
    put("base/lib/python3.12/site-packages/system-1.dist-info/METADATA", "Name: system\nVersion: 1\n");
    put("venv/pyvenv.cfg", "home = /base/bin\ninclude-system-site-packages = false\nversion = 3.12.4\n");
    mkdir("venv/bin", 0700);
    assert_int_equal(symlink("/base/bin/python3.12", "venv/bin/python"), 0);
    put("extra/more-1.dist-info/METADATA", "Name: more\nVersion: 1\n");
    put(SITE "more.pth", "# words\nimport os; os.system('false')\n/extra\n../no-such-folder\n");
    p = opened("venv", 0);
    assert_true(p->is_venv);
    assert_string_equal(p->interpreter, "/base/bin/python3.12");
    assert_string_equal(p->version, "3.12");
    assert_string_equal(p->note, "");
    assert_non_null(dist_named(&p->dists, "torch"));
    assert_non_null(dist_named(&p->dists, "more"));
    assert_null(dist_named(&p->dists, "system"));
    pyenv_close(p);
    /* By its python, which is a link out of it. */
    p = opened("/venv/bin/python", 0);
    assert_true(p->is_venv);
    assert_string_equal(p->prefix, "/venv");
    pyenv_close(p);
    p = opened("/base/bin/python3.12", 0);
    assert_non_null(dist_named(&p->dists, "system"));
    assert_null(dist_named(&p->dists, "torch"));
    pyenv_close(p);
    put("venv/pyvenv.cfg", "home = /base/bin\ninclude-system-site-packages = true\n");
    p = opened("venv", 0);
    assert_non_null(dist_named(&p->dists, "system"));
    pyenv_close(p);
}

/* Conda's packages, and a lib folder that is everybody's. */
static void environment_conda(void **state)
{
    struct pyenv *p;
    struct tree t;
    json_t *chains;

    put("conda/bin/python3.11", "");
    put("conda/conda-meta/libcufile-1.9.1.3-0.json",
        "{\"name\": \"libcufile\", \"version\": \"1.9.1.3\", \"files\": [\"lib/libcufile.so.1.9.1\"]}");
    put("conda/conda-meta/pytorch-2.4-0.json",
        "{\"name\": \"pytorch\", \"version\": \"2.4\", \"depends\": [\"libcufile >=1.9,<2 h1\", 7]}");
    put("conda/conda-meta/bad.json", "{");
    put("conda/conda-meta/list.json", "[]");
    put("conda/lib/libcufile.so.1.9.1", "");
    p = opened("conda", 0);
    assert_true(p->is_conda);
    assert_int_equal(p->dists.n, 2);
    assert_int_equal(p->dists.n_unreadable, 2);
    assert_true(dist_is_cufile(dist_named(&p->dists, "libcufile")));
    chains = dists_chains(&p->dists, dist_named(&p->dists, "libcufile"), NULL, "x86_64");
    assert_int_equal(json_array_size(chains), 1);
    assert_string_equal(json_string_value(json_object_get(json_array_get(json_array_get(chains, 0), 0), "as")),
                        ">=1.9,<2");
    json_decref(chains);
    assert_int_equal(tree_open(&t, top, NULL), 0);
    assert_ptr_equal(dists_owner(&p->dists, &t, "/conda/lib/libcufile.so.1.9.1"), dist_named(&p->dists, "libcufile"));
    tree_close(&t);
    pyenv_close(p);
}

static void environment_bad(void **state)
{
    struct pyenv *p;

    package("torch", "2", "");
    put("venv/pyvenv.cfg", "home = /gone/bin\n");
    p = opened("venv", 0);
    assert_string_equal(p->interpreter, "");
    assert_non_null(strstr(p->note, "gone: /gone/bin"));
    assert_non_null(dist_named(&p->dists, "torch"));
    pyenv_close(p);
    put("venv/bin/ls", "");
    opened("venv/bin/ls", -EINVAL);
    opened("no-such", -ENOENT);
    assert_int_equal(symlink("b", "a"), 0);
    assert_int_equal(symlink("a", "b"), 0);
    opened("a", -ELOOP);
}

/* ------------------------------------------------------------------------------------------------
 * Trees
 */

static void tree_links(void **state)
{
    char real[PATH_MAX];
    struct tree t;

    put("root/usr/lib/x", "1");
    put("outside", "secret");
    assert_int_equal(symlink("usr/lib", "root/lib"), 0);
    assert_int_equal(symlink("/usr", "root/abs"), 0);
    assert_int_equal(symlink("../../../../outside", "root/usr/escape"), 0);
    assert_int_equal(symlink("/outside", "root/usr/escape2"), 0);
    assert_int_equal(tree_open(&t, "root/", NULL), 0);
    assert_int_equal(tree_resolve(&t, "/lib/./x", real), 0);
    assert_string_equal(real, "/usr/lib/x");
    assert_int_equal(tree_resolve(&t, "/abs/../../..//abs/lib/x", real), 0);
    assert_string_equal(real, "/usr/lib/x");
    assert_int_equal(tree_resolve(&t, "/usr/escape", real), -ENOENT);
    assert_int_equal(tree_resolve(&t, "/usr/escape2", real), -ENOENT);
    assert_int_equal(tree_open_file(&t, "/../outside", NULL), -ENOENT);
    assert_int_equal(tree_open_file(&t, "/usr/lib", NULL), -EISDIR);
    assert_int_equal(tree_resolve(&t, "/usr/lib/x/y", real), -ENOTDIR);
    assert_int_equal(tree_resolve(&t, "relative", real), -ENOENT);
    assert_int_equal(mkfifo("root/pipe", 0600), 0);
    assert_int_equal(tree_open_file(&t, "/pipe", NULL), -EINVAL);
    tree_close(&t);
}

/* ------------------------------------------------------------------------------------------------
 * Versions
 */

static struct cufile_version version(int minor, int patch)
{
    return (struct cufile_version){.major = 1, .minor = minor, .patch = patch, .build = -1};
}

static enum cufile_requests requests(int minor, int patch)
{
    struct cufile_version v = version(minor, patch);

    assert_non_null(cufile_known_find(&v));
    return cufile_known_find(&v)->requests;
}

static void versions_known(void **state)
{
    struct cufile_version v;

    for (int minor = 0; minor <= 17; minor++)
        assert_int_equal(requests(minor, 1), CUFILE_REQUESTS_ONE_PIECE);
    assert_int_equal(requests(15, -1), CUFILE_REQUESTS_ONE_PIECE);
    assert_int_equal(requests(18, 0), CUFILE_REQUESTS_SERIALISED);
    assert_int_equal(requests(18, 1), CUFILE_REQUESTS_PARALLEL);
    assert_int_equal(requests(20, 0), CUFILE_REQUESTS_PARALLEL);
    v = version(18, -1); /* which of two it is cannot be told */
    assert_null(cufile_known_find(&v));
    v = version(21, 0);
    assert_null(cufile_known_find(&v));
    assert_true(cufile_version_is_newer(&v));
    v = version(20, 0);
    assert_false(cufile_version_is_newer(&v));
    v = version(-1, -1);
    assert_null(cufile_known_find(&v));
    v = version(14, 1);
    assert_non_null(strstr(cufile_known_find(&v)->statistics, "no interface"));
    v = version(15, 1);
    assert_non_null(strstr(cufile_known_find(&v)->statistics, "GetStats"));
    assert_string_equal(cufile_cuda_release(&v), "13.0");
    v = version(12, 0); /* there was none */
    assert_null(cufile_cuda_release(&v));
}

static bool has_fault(int minor, int patch, const char *words)
{
    struct cufile_version v = version(minor, patch);
    const struct cufile_fault *f;

    for (size_t i = 0; (f = cufile_fault_find(&v, i)); i++)
        if (strstr(f->words, words))
            return true;
    return false;
}

static void versions_faults(void **state)
{
    assert_true(has_fault(16, 0, "WekaFS") && has_fault(17, 1, "WekaFS"));
    assert_false(has_fault(15, 1, "WekaFS") || has_fault(18, 0, "WekaFS"));
    assert_true(has_fault(16, 0, "not patched") && !has_fault(16, 1, "not patched"));
    assert_true(has_fault(16, -1, "not patched")); /* it may be that one */
    assert_true(has_fault(4, 0, "stream interface") && !has_fault(7, 0, "no stream interface"));
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requirement_parts),
        cmocka_unit_test(requirement_markers),
        IN_FOLDER(chain_pinned),
        IN_FOLDER(chain_extras),
        IN_FOLDER(chain_cycle),
        IN_FOLDER(chain_none),
        IN_FOLDER(packages_bad),
        IN_FOLDER(packages_owner),
        IN_FOLDER(environment_venv),
        IN_FOLDER(environment_conda),
        IN_FOLDER(environment_bad),
        IN_FOLDER(tree_links),
        cmocka_unit_test(versions_known),
        cmocka_unit_test(versions_faults),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
