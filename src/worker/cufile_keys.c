/* SPDX-License-Identifier: MIT */
#include "worker/cufile_keys.h"

#include <stdio.h>
#include <string.h>

#include "core/util.h"

#define P "properties."
#define E "execution."

/* The vendor's parameter reference, the files it ships, and names that libcufile 1.14 and 1.20 look for. */
static const struct cufile_key keys[] = {
    {"logging", KEY_SECTION},
    {"logging.dir", KEY_TEXT},
    {"logging.level", KEY_TEXT, .words = "NOTICE ERROR WARN INFO DEBUG TRACE"},
    {"logging.max_file_size_mb", KEY_NUMBER},
    {"profile", KEY_SECTION},
    {"profile.nvtx", KEY_BOOL},
    {"profile.cufile_stats", KEY_NUMBER, 0, 3},
    {"execution", KEY_SECTION},
    {E "max_io_queue_depth", KEY_NUMBER, 1, 256},
    {E "max_io_threads", KEY_NUMBER, 0, 32},
    {E "parallel_io", KEY_BOOL},
    {E "min_io_threshold_size_kb", KEY_NUMBER, 4},
    {E "max_request_parallelism", KEY_NUMBER, 0, 8},
    {"properties", KEY_SECTION},
    {P "max_direct_io_size_kb", KEY_NUMBER, 64, 16384, 64},
    {P "max_device_cache_size_kb", KEY_NUMBER, 0},
    {P "per_buffer_cache_size_kb", KEY_NUMBER, 64, 16384},
    {P "max_device_pinned_mem_size_kb", KEY_NUMBER, 0},
    {P "gpu_bounce_buffer_slab_config", KEY_SECTION},
    {P "gpu_bounce_buffer_slab_config.slab_size_kb", KEY_LIST},
    {P "gpu_bounce_buffer_slab_config.slab_count", KEY_LIST},
    {P "posix_pool_slab_size_kb", KEY_LIST},
    {P "posix_pool_slab_count", KEY_LIST},
    {P "use_poll_mode", KEY_BOOL},
    {P "poll_mode_max_size_kb", KEY_NUMBER, 0},
    {P "allow_compat_mode", KEY_BOOL},
    {P "use_compat_mode", KEY_BOOL},
    {P "force_compat_mode", KEY_BOOL},
    {P "use_pci_p2pdma", KEY_BOOL},
    {P "gds_rdma_write_support", KEY_BOOL},
    {P "io_batchsize", KEY_NUMBER, 1, 256},
    {P "max_batch_io_size", KEY_NUMBER, 1, 256},
    {P "max_batch_io_timeout_msecs", KEY_NUMBER, 1, 1000},
    {P "io_priority", KEY_TEXT, .words = "default low med high"},
    {P "force_odirect_mode", KEY_BOOL},
    {P "prefer_iouring", KEY_BOOL},
    {P "gds_fallback_io", KEY_BOOL},
    {P "allow_system_memory", KEY_BOOL},
    {P "vanilla_posix_io_mode", KEY_BOOL},
    {P "compat_odirect_unaligned_read_split", KEY_BOOL},
    {P "compat_odirect_unaligned_read_split_min_size_kb", KEY_NUMBER, 0},
    {P "rdma_dev_addr_list", KEY_LIST},
    {P "rdma_load_balancing_policy", KEY_TEXT},
    {P "rdma_dynamic_routing", KEY_BOOL},
    {P "rdma_dynamic_routing_order", KEY_LIST},
    {P "rdma_dc_key", KEY_ANY},
    {P "rdma_access_mask", KEY_ANY},
    {P "rdma_peer_type", KEY_ANY},
    {P "rdma_transport_type", KEY_ANY},
    {P "allow_rdma_token_reset", KEY_ANY}, /* from here on since 1.20 */
    {P "rdma_async_event_monitoring", KEY_ANY},
    {P "rdma_failback_delay_ms", KEY_ANY},
    {P "rdma_failback_enabled", KEY_ANY},
    {P "rdma_health_check_interval_ms", KEY_ANY},
    {P "rdma_io_retry_count", KEY_ANY},
    {P "rdma_io_retry_delay_ms", KEY_ANY},
    {P "rdma_max_backup_devices", KEY_ANY},
    {P "rdma_multipath_enabled", KEY_ANY},
    {P "rdma_service_level", KEY_ANY},
    {P "rdma_unhealthy_threshold", KEY_ANY},
    {"fs", KEY_SECTION},
    {"fs.generic", KEY_SECTION},
    {"fs.generic.posix_unaligned_writes", KEY_BOOL},
    {"fs.lustre", KEY_SECTION},
    {"fs.lustre.posix_gds_min_kb", KEY_NUMBER, 0},
    {"fs.lustre.rdma_dev_addr_list", KEY_LIST},
    {"fs.lustre.mount_table", KEY_ANY},
    {"fs.lustre.use_pci_p2pdma", KEY_BOOL},
    {"fs.beegfs", KEY_SECTION},
    {"fs.beegfs.posix_gds_min_kb", KEY_NUMBER, 0},
    {"fs.beegfs.rdma_dev_addr_list", KEY_LIST},
    {"fs.beegfs.mount_table", KEY_ANY},
    {"fs.beegfs.use_pci_p2pdma", KEY_BOOL},
    {"fs.scatefs", KEY_SECTION},
    {"fs.scatefs.posix_gds_min_kb", KEY_NUMBER, 0},
    {"fs.scatefs.rdma_dev_addr_list", KEY_LIST},
    {"fs.scatefs.mount_table", KEY_ANY},
    {"fs.scatefs.use_pci_p2pdma", KEY_BOOL},
    {"fs.nfs", KEY_SECTION},
    {"fs.nfs.rdma_dev_addr_list", KEY_LIST},
    {"fs.nfs.mount_table", KEY_ANY},
    {"fs.nfs.use_pci_p2pdma", KEY_BOOL},
    {"fs.gpfs", KEY_SECTION},
    {"fs.gpfs.gds_write_support", KEY_BOOL},
    {"fs.gpfs.gds_async_support", KEY_BOOL},
    {"fs.gpfs.rdma_dev_addr_list", KEY_LIST},
    {"fs.gpfs.mount_table", KEY_ANY},
    {"fs.gpfs.use_pci_p2pdma", KEY_BOOL},
    {"fs.panfs", KEY_SECTION},
    {"fs.panfs.rdma_dev_addr_list", KEY_LIST},
    {"fs.panfs.mount_table", KEY_ANY},
    {"fs.panfs.use_pci_p2pdma", KEY_BOOL},
    {"fs.weka", KEY_SECTION},
    {"fs.weka.rdma_write_support", KEY_BOOL},
    {"fs.weka.rdma_dev_addr_list", KEY_LIST},
    {"fs.weka.mount_table", KEY_ANY},
    {"fs.virtiofs", KEY_SECTION},
    {"fs.virtiofs.use_pci_p2pdma", KEY_BOOL},
    {"block", KEY_SECTION},
    {"block.nvme", KEY_SECTION},
    {"block.nvme.use_pci_p2pdma", KEY_BOOL},
    {"block.nvmeof", KEY_SECTION},
    {"block.nvmeof.use_pci_p2pdma", KEY_BOOL},
    {"block.raid", KEY_SECTION},
    {"block.raid.use_pci_p2pdma", KEY_BOOL},
    {"block.raid1", KEY_SECTION},
    {"block.raid1.use_pci_p2pdma", KEY_BOOL},
    {"block.raid10", KEY_SECTION},
    {"block.raid10.use_pci_p2pdma", KEY_BOOL},
    {"sparse", KEY_SECTION},
    {"sparse.min_p2pdma_threshold_kb", KEY_NUMBER, 0},
    {"sparse.p2p_compat_enable", KEY_BOOL},
    {"denylist", KEY_SECTION},
    {"denylist.drivers", KEY_LIST},
    {"denylist.devices", KEY_LIST},
    {"denylist.mounts", KEY_LIST},
    {"denylist.filesystems", KEY_LIST},
    {"denylist.fsids", KEY_LIST},
    {"miscellaneous", KEY_SECTION},
    {"miscellaneous.api_check_aggressive", KEY_BOOL},
    {"miscellaneous.skip_topology_detection", KEY_BOOL},
    {"miscellaneous.stream_memops_bypass", KEY_BOOL},
    {"miscellaneous.enable_static_routing", KEY_BOOL},
    {"miscellaneous.static_routing_filepath", KEY_TEXT},
    {"miscellaneous.enable_static_config", KEY_BOOL},
    {"miscellaneous.static_config_filepath", KEY_TEXT},
    {"miscellaneous.rcu_library_used", KEY_ANY},
    {"miscellaneous.rdma_token_reset_timeout_secs", KEY_ANY},
};

/* The widest range where the version is unknown. */
static void widen(struct cufile_key *k, int library)
{
    if (!strcmp(k->name, E "max_io_threads") && (!library || library >= 1017))
        k->max = 128;
    if (strcmp(k->name, P "io_batchsize") || (library && library < 1018))
        return;
    k->min = -1; /* no limit */
    k->max = 0;
}

bool cufile_key_find(const char *name, int library, struct cufile_key *ret)
{
    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        if (strcmp(keys[i].name, name))
            continue;
        *ret = keys[i];
        widen(ret, library);
        return true;
    }
    return false;
}

static const char *last_word(const char *dotted)
{
    const char *dot = strrchr(dotted, '.');

    return dot ? dot + 1 : dotted;
}

/* Edit distance, cut off: names are short. */
static unsigned distance(const char *a, const char *b)
{
    unsigned row[64], n = (unsigned)strlen(b);

    if (n >= ARRAY_SIZE(row))
        return 1000;
    for (unsigned i = 0; i <= n; i++)
        row[i] = i;
    for (unsigned k = 1; *a; a++, k++) {
        unsigned diagonal = row[0];

        row[0] = k;
        for (unsigned i = 1; i <= n; i++) {
            unsigned change = diagonal + (*a != b[i - 1]);

            diagonal = row[i];
            row[i] = row[i] + 1 < change ? row[i] + 1 : change;
            row[i] = row[i - 1] + 1 < row[i] ? row[i - 1] + 1 : row[i];
        }
    }
    return row[n];
}

/* ------------------------------------------------------------------------------------------------
 * Values
 */

static const char *const kind_words[] = {"true or false", "a number", "a text", "a list", "a section", ""};

static bool has_kind(const json_t *v, enum key_kind kind)
{
    switch (kind) {
    case KEY_BOOL:
        return json_is_boolean(v);
    case KEY_NUMBER:
        return json_is_integer(v);
    case KEY_TEXT:
        return json_is_string(v);
    case KEY_LIST:
        return json_is_array(v);
    case KEY_SECTION:
        return json_is_object(v);
    default:
        return true;
    }
}

static bool has_word(const char *words, const char *word)
{
    const char *at = word && *word ? strcasestr(words, word) : NULL;

    return at && (at == words || at[-1] == ' ') && (!at[strlen(word)] || at[strlen(word)] == ' ');
}

bool cufile_key_wrong(const struct cufile_key *key, const json_t *value, char *ret, size_t size, bool *ret_fatal)
{
    json_int_t n = json_integer_value(value);

    *ret_fatal = true;
    if (!has_kind(value, key->kind)) {
        snprintf(ret, size, "is not %s", kind_words[key->kind]);
    } else if (key->kind == KEY_NUMBER && (n < key->min || (key->max && n > key->max))) {
        snprintf(ret, size, key->max ? "is %lld, allowed are %ld to %ld" : "is %lld, allowed is %ld and more",
                 (long long)n, key->min, key->max);
    } else if (key->kind == KEY_NUMBER && key->multiple && n % key->multiple) {
        snprintf(ret, size, "is %lld, and must be a multiple of %ld", (long long)n, key->multiple);
    } else if (key->words && !has_word(key->words, json_string_value(value))) {
        *ret_fatal = false;
        snprintf(ret, size, "is none of: %s", key->words);
    } else {
        return false;
    }
    return true;
}

const char *cufile_key_near(const char *name)
{
    const char *word = last_word(name), *best = NULL;
    unsigned least = strlen(word) > 8 ? 4 : 3;

    for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
        unsigned far = keys[i].kind == KEY_SECTION ? 1000 : distance(word, last_word(keys[i].name));

        if (far >= least)
            continue;
        least = far;
        best = keys[i].name;
    }
    return best;
}

/* ------------------------------------------------------------------------------------------------ */

#define MOST_DEPTH 16

struct walk {
    char name[512]; /* dotted, of the object that is open */
    size_t ends[MOST_DEPTH];
    unsigned depth, line;
    char key[128]; /* the last string */
    unsigned key_line;
};

static const char *skip_comment(const char *at, struct walk *w)
{
    const char *end = at[1] == '/' ? strchr(at, '\n') : strstr(at + 2, "*/");

    if (!end)
        return at + strlen(at);
    end += at[1] == '/' ? 0 : 2;
    for (const char *c = at; c < end; c++)
        w->line += *c == '\n';
    return end;
}

/* From the opening quote to behind the closing one; the text goes into w->key. */
static const char *take_string(const char *at, struct walk *w)
{
    size_t n = 0;

    w->key_line = w->line;
    for (at++; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1])
            at++;
        w->line += *at == '\n';
        if (n + 1 < sizeof(w->key))
            w->key[n++] = *at;
    }
    w->key[n] = 0;
    return *at ? at + 1 : at;
}

static void enter(struct walk *w)
{
    size_t n = strlen(w->name);

    if (w->depth < MOST_DEPTH)
        w->ends[w->depth] = n;
    w->depth++;
    if (w->depth > 1 && w->key[0])
        snprintf(w->name + n, sizeof(w->name) - n, "%s%s", n ? "." : "", w->key);
    w->key[0] = 0;
}

static void leave(struct walk *w)
{
    if (!w->depth)
        return;
    w->depth--;
    if (w->depth < MOST_DEPTH)
        w->name[w->ends[w->depth]] = 0;
}

void cufile_keys_walk(const char *text, cufile_key_visit visit, void *context)
{
    struct walk w = {.line = 1};
    char dotted[700];

    for (const char *at = text; *at;) {
        if (*at == '/' && (at[1] == '/' || at[1] == '*')) {
            at = skip_comment(at, &w);
            continue;
        }
        if (*at == '"') {
            at = take_string(at, &w);
            continue;
        }
        if (*at == ':') {
            snprintf(dotted, sizeof(dotted), "%s%s%s", w.name, w.name[0] ? "." : "", w.key);
            visit(context, dotted, w.key_line);
        }
        w.line += *at == '\n';
        if (*at == '{')
            enter(&w);
        if (*at == '}')
            leave(&w);
        at++;
    }
}
