/* SPDX-License-Identifier: MIT */
/* What the environment asks for. See libcufile.h. */
#include "libcufile.h"

#include <stdlib.h>
#include <string.h>

static struct {
    pthread_once_t once;
    struct profile profile;
} loaded = {.once = PTHREAD_ONCE_INIT};

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static const char *word(const char *name, const char *otherwise)
{
    const char *text = getenv(name);

    return text && *text ? text : otherwise;
}

static void bad(const char *name, const char *value)
{
    fprintf(stderr, "fake libcufile: %s=%s: no such value\n", name, value);
    abort();
}

static void set_version(struct profile *p)
{
    const char *text = word("FAKE_CUFILE_VERSION", fake_built_version);

    if (sscanf(text, "%d.%d.%d", &p->major, &p->minor, &p->patch) < 2)
        bad("FAKE_CUFILE_VERSION", text);
    p->version = 1000 * p->major + 10 * p->minor;
}

static void set_mechanism(struct profile *p)
{
    bool after = p->version > 1180 || (p->version == 1180 && p->patch > 0);
    const char *usual = after ? "parallel-pieces" : p->version == 1180 ? "serialised" : "serial-pieces";
    const char *text = word("FAKE_CUFILE_MECHANISM", usual);

    if (!strcmp(text, "serial-pieces"))
        p->mechanism = MECHANISM_SERIAL;
    else if (!strcmp(text, "serialised"))
        p->mechanism = MECHANISM_SERIALISED;
    else if (!strcmp(text, "parallel-pieces"))
        p->mechanism = MECHANISM_PARALLEL;
    else
        bad("FAKE_CUFILE_MECHANISM", text);
    p->slots = (unsigned)number("FAKE_CUFILE_SLOTS", 1);
    p->piece_bytes = number("FAKE_CUFILE_PIECE_KB", 1024) << 10;
    p->latency_ns = number("FAKE_CUFILE_LATENCY_US", 0) * 1000;
    p->bytes_per_s = number("FAKE_CUFILE_RATE_MIB", 0) << 20;
    if (!p->piece_bytes || !p->slots)
        bad("FAKE_CUFILE_PIECE_KB or FAKE_CUFILE_SLOTS", "0");
}

/* "nvfs", or with weights "nvfs=3,posix=1". */
static void set_road(struct profile *p)
{
    static const char *const names[] = {
        [ROAD_POSIX] = "posix", [ROAD_NVFS] = "nvfs", [ROAD_P2P] = "p2p", [ROAD_USER] = "user"};
    const char *text = word("FAKE_CUFILE_ROAD", "posix");
    char copy[128], *save = NULL;

    snprintf(copy, sizeof(copy), "%s", text);
    for (char *part = strtok_r(copy, ",", &save); part; part = strtok_r(NULL, ",", &save)) {
        char *weight = strchr(part, '=');
        unsigned road = 0;

        if (weight)
            *weight++ = '\0';
        while (road < N_ROADS && strcmp(part, names[road]))
            road++;
        if (road == N_ROADS)
            bad("FAKE_CUFILE_ROAD", text);
        p->weight[road] = weight ? (unsigned)strtoul(weight, NULL, 10) : 1;
    }
    if (!p->weight[ROAD_POSIX] && !p->weight[ROAD_NVFS] && !p->weight[ROAD_P2P] && !p->weight[ROAD_USER])
        bad("FAKE_CUFILE_ROAD", text);
}

static void set_udev(struct profile *p)
{
    const char *text = word("FAKE_CUFILE_UDEV", "ignored");

    if (!strcmp(text, "ignored"))
        p->udev = UDEV_IGNORED;
    else if (!strcmp(text, "read"))
        p->udev = UDEV_READ;
    else if (!strcmp(text, "missing"))
        p->udev = UDEV_MISSING;
    else
        bad("FAKE_CUFILE_UDEV", text);
}

static void load(void)
{
    struct profile *p = &loaded.profile;

    set_version(p);
    set_mechanism(p);
    set_road(p);
    set_udev(p);
    p->files_supported = number("FAKE_CUFILE_FILES_SUPPORTED", 1) != 0;
    p->batch_cached = number("FAKE_CUFILE_BATCH_CACHED", 1) != 0;
    p->properties_bytes = number("FAKE_CUFILE_PROPERTIES_BYTES", sizeof(CUfileDrvProps_t));
    p->stats_extra_bytes = number("FAKE_CUFILE_STATS_EXTRA", 0);
    p->is_strict = number("FAKE_CUFILE_CHECK", 0) != 0;
    if (p->properties_bytes > sizeof(CUfileDrvProps_t))
        bad("FAKE_CUFILE_PROPERTIES_BYTES", "more than the structure has");
    if (p->stats_extra_bytes > 4096)
        bad("FAKE_CUFILE_STATS_EXTRA", "more than 4096");
}

const struct profile *profile_get(void)
{
    pthread_once(&loaded.once, load);
    return &loaded.profile;
}

bool has_direct_road(void)
{
    const struct profile *p = profile_get();

    return p->weight[ROAD_NVFS] || p->weight[ROAD_P2P] || p->weight[ROAD_USER];
}

void fake_violation(const char *what)
{
    fprintf(stderr, "fake libcufile: %s\n", what);
    if (profile_get()->is_strict)
        abort();
}
