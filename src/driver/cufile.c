/* SPDX-License-Identifier: MIT */
/* Loading a libcufile. See cufile.h. */
#include "driver/cufile.h"
#include "driver/cufile_version.h"

#include "core/error.h"
#include "core/util.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define LIBRARY "libcufile.so.0"

static int missing_library(struct spur_error *e, const char *file)
{
    const char *why = dlerror(); /* begins with the file's name */
    int rc = error_foreign(e, SPUR_SOURCE_ERRNO, ENODEV, -ENODEV, "dlopen", "%s", why ? why : file);

    error_remedy(e, "install a cuFile library (CUDA toolkit's libcufile, Debian's libcufile0, or the Python package "
                    "nvidia-cufile) or name its file with library=FILE or SPUR_LIBCUFILE");
    return rc;
}

static int no_cufile(struct spur_error *e, const char *file, const char *symbol)
{
    int rc = error_foreign(e, SPUR_SOURCE_ERRNO, ENODEV, -ENODEV, "dlsym", "%s has no %s: it is no cuFile library",
                           file, symbol);

    error_remedy(e, "name a libcufile.so");
    return rc;
}

/* dlopen would wait for its writer. */
static bool is_fifo(const char *file)
{
    struct stat st;

    return strchr(file, '/') && stat(file, &st) == 0 && S_ISFIFO(st.st_mode);
}

static int refuse_fifo(struct spur_error *e, const char *file)
{
    int rc = error_spur(e, SPUR_CODE_REFUSED, "dlopen", "%s: is a FIFO, no cuFile library", file);

    error_remedy(e, "name a libcufile.so");
    return rc;
}

static int load_symbols(struct cufile *c, const char *file, struct spur_error *e)
{
    static const char *const needed[] = {"cuFileDriverOpen", "cuFileHandleRegister", "cuFileRead", "cuFileWrite"};

    for (unsigned i = 0; i < ARRAY_SIZE(needed); i++)
        if (!dlsym(c->library, needed[i]))
            return no_cufile(e, file, needed[i]);
#define X(type, name, arguments) c->name = (type(*) arguments)dlsym(c->library, #name);
    CUFILE_FUNCTIONS(X)
#undef X
    /* The vendor's header makes the plain name a macro for _v2 since 11.8. */
    c->close_symbol = "cuFileDriverClose_v2";
    c->cuFileDriverClose = (CUfileError_t(*)(void))dlsym(c->library, c->close_symbol);
    if (!c->cuFileDriverClose) {
        c->close_symbol = "cuFileDriverClose";
        c->cuFileDriverClose = (CUfileError_t(*)(void))dlsym(c->library, c->close_symbol);
    }
    if (!c->cuFileDriverClose)
        c->close_symbol = NULL;
    c->is_simulated = dlsym(c->library, "fake_cufile_is_simulated") != NULL;
    return 0;
}

/* The file that was mapped, which a search path or a symbolic link may hide. */
static char *file_of(void *library)
{
    struct link_map *map = NULL;

    if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !map || !map->l_name || !*map->l_name)
        return NULL;
    return realpath(map->l_name, NULL);
}

const char *cufile_asked(const char *library)
{
    const char *named = getenv("SPUR_LIBCUFILE");

    return library ? library : named && *named ? named : LIBRARY;
}

int cufile_open(const char *library, struct cufile **ret, struct spur_error *e)
{
    const char *file = cufile_asked(library);
    struct cufile *c = calloc(1, sizeof(*c));
    int rc;

    if (!c || !(c->asked_file = strdup(file))) {
        free(c);
        return error_errno(e, ENOMEM, "malloc", "%s", file);
    }
    if (is_fifo(file)) {
        rc = refuse_fifo(e, file);
    } else {
        c->library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
        rc = c->library ? load_symbols(c, file, e) : missing_library(e, file);
    }
    if (rc) {
        cufile_close(c);
        return rc;
    }
    c->real_file = file_of(c->library);
    cufile_version_find(c->cuFileGetVersion, c->real_file, &c->version);
    *ret = c;
    return 0;
}

void cufile_close(struct cufile *c)
{
    if (!c)
        return;
    free(c->asked_file);
    free(c->real_file);
    free(c);
}

bool cufile_has(const struct cufile *c, const char *symbol)
{
    return dlsym(c->library, symbol) != NULL;
}
