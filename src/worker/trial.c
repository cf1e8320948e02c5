/* SPDX-License-Identifier: MIT */
/* Making a trial's objects and threads, and ending them. */
#include "worker/trial.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/error.h"
#include "core/util.h"
#include "path/path.h"
#include "worker/cpus.h"
#include "worker/cufile_blame.h"
#include "worker/external.h"
#include "worker/modified.h"
#include "worker/refer.h"
#include "worker/trial_limits.h"
#include "worker/trial_memory.h"

static int no_memory(struct spur_error *e, const char *what)
{
    return error_errno(e, ENOMEM, "calloc", "%s", what);
}

/* ------------------------------------------------------------------------------------------------
 * Memory and path
 */

static const struct path_ops *ops_of(const char *name)
{
    const struct path_ops *const *ops = path_table;

    while (*ops && strcmp((*ops)->name, name))
        ops++;
    return *ops;
}

/* What is wrong whatever the library says of roads here. */
static int check_asked(const struct trial *t, struct spur_error *e)
{
    const struct path_ops *ops = ops_of(t->job->path);

    if (!ops)
        return 0; /* said by the opening */
    if (ops->needs_real_memory && t->memory_info.is_emulated && !t->memory_info.is_simulated)
        return error_usage(e, "memory", "use --memory cuda:N, or host memory (pinned)",
                           "path %s: its library cannot reach a GPU that is emulated", t->job->path);
    return ops->limits || ops->submit ? 0 : trial_limits_check_depth(t->job, 1, e);
}

static int open_path(struct trial *t, struct spur_error *e)
{
    struct spur_path_options options = {
        .size = sizeof(options),
        .settings = t->job->settings,
        .n_settings = t->job->n_settings,
        .n_queues = t->n_threads,
        .max_request_bytes = t->job->request_bytes,
    };
    int r = spur_path_open(t->job->path, &options, &t->path, e);

    if (!r || e->source == SPUR_SOURCE_CUFILE) { /* a library that is there; its driver may have refused */
        int asked = check_asked(t, e);

        if (asked < 0)
            return asked;
    }
    if (r < 0) {
        cufile_blame(t->job, e);
        refer_refusal(e, t->job->files[0]);
        return r;
    }
    t->moves_bytes = !t->path->ops->moves_no_bytes;
    return 0;
}

static int open_handle(struct trial *t, size_t file, struct spur_file **ret, struct spur_error *e)
{
    int r = spur_file_open(t->path, t->targets.items[file].filename, job_writes(t->job) ? SPUR_FILE_WRITE : 0, ret, e);

    if (!r)
        t->files[t->n_files++] = *ret;
    else
        refer_refusal(e, t->targets.items[file].filename);
    return r;
}

/* The first handle of each file, from which the limits come. */
static int open_files(struct trial *t, struct spur_error *e)
{
    struct spur_file *f;
    int r = 0;

    t->files = calloc(t->n_threads * t->targets.n + 1, sizeof(*t->files));
    if (!t->files)
        return no_memory(e, "file handles");
    for (size_t i = 0; i < t->targets.n && !r; i++)
        r = open_handle(t, i, &f, e);
    return r;
}

/* Whether the timed part or the pass takes thread @w to @file. */
static int thread_uses(const struct trial *t, unsigned thread, uint32_t file, bool *ret_uses, struct spur_error *e)
{
    const struct workload_ops *ops[2] = {t->workload, t->pass_workload};
    const struct workload_plan *plans[2] = {&t->plan, &t->pass_plan};

    *ret_uses = false;
    for (int i = 0; i < (t->reads_back ? 1 : 2); i++) {
        struct workload_thread *w = NULL;
        bool idle = false;
        int r = ops[i]->open(plans[i], thread, &w, &idle, e);

        if (r < 0)
            return r;
        if (!idle)
            *ret_uses |= ops[i]->uses(w, file);
        ops[i]->close(w);
    }
    return 0;
}

static int deal_handle(struct trial *t, unsigned thread, uint32_t file, bool *taken, struct spur_error *e)
{
    bool shared = t->job->share & SHARE_HANDLE, uses;
    int r = thread_uses(t, thread, file, &uses, e);

    if (r < 0 || !uses)
        return r;
    if (!shared && taken[file])
        return open_handle(t, file, &t->threads[thread].files[file], e);
    t->threads[thread].files[file] = t->files[file];
    taken[file] = true;
    return 0;
}

/* A handle for each thread and file that it uses, or one a file (--share handle). */
static int deal_handles(struct trial *t, struct spur_error *e)
{
    _cleanup_free_ bool *taken = calloc(t->targets.n, sizeof(*taken));
    int r = 0;

    if (!taken)
        return no_memory(e, "file handles");
    for (unsigned i = 0; i < t->n_threads && !r; i++) {
        t->threads[i].files = calloc(t->targets.n, sizeof(struct spur_file *));
        if (!t->threads[i].files)
            return no_memory(e, "file handles");
        for (uint32_t f = 0; f < t->targets.n && !r; f++)
            r = deal_handle(t, i, f, taken, e);
    }
    return r;
}

/* ------------------------------------------------------------------------------------------------
 * Workload
 */

/* O_DIRECT cannot write the end of an odd-sized file, and half a block would tear it; reading it is fine. */
static uint64_t workload_bytes(const struct trial *t, uint64_t usable)
{
    uint32_t align = t->limits.length_align;

    if (!job_writes(t->job) || usable % align == 0)
        return usable;
    return round_down(usable, align > PATTERN_BLOCK ? align : PATTERN_BLOCK);
}

static int make_workload(struct trial *t, struct spur_error *e)
{
    const struct job *job = t->job;
    uint64_t usable = 0;

    t->workload_files = calloc(t->targets.n, sizeof(*t->workload_files));
    if (!t->workload_files)
        return no_memory(e, "workload");
    for (size_t i = 0; i < t->targets.n; i++) {
        uint64_t bytes = t->targets.items[i].usable_bytes;

        t->workload_files[i].begin = t->targets.items[i].begin_bytes;
        t->workload_files[i].bytes = workload_bytes(t, bytes);
        t->tail_skipped_bytes += bytes - t->workload_files[i].bytes;
        usable += t->workload_files[i].bytes;
    }
    t->plan = (struct workload_plan){
        .files = t->workload_files,
        .n_files = (unsigned)t->targets.n,
        .n_threads = t->n_threads,
        .request_bytes = job->request_bytes,
        .total_bytes = job->total_bytes,
        .seed = job->seed,
        .read_percent = job->mix_percent,
        .depth = job->depth,
        .unaligned = job->unaligned,
        .write = job->op == JOB_WRITE || job->op == JOB_RANDWRITE,
    };
    t->workload = workload_find(job->op == JOB_MIX                            ? "mix"
                                : job->op == JOB_READ || job->op == JOB_WRITE ? "sequential"
                                                                              : "random");
    t->pass_workload = &sequential_workload;
    t->pass_plan = t->plan;
    t->pass_plan.unaligned = false;
    t->pass_plan.total_bytes = job->op == JOB_READ && job->total_bytes ? job->total_bytes : usable;
    t->reads_back = job_writes(job);
    return 0;
}

static uint64_t realtime_us(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_REALTIME, &ts);
    return (uint64_t)ts.tv_sec * 1000000ull + (uint64_t)ts.tv_nsec / 1000;
}

/* Counts of writes by file and request-sized cell: mapped, so that untouched parts of a large file cost nothing. */
static int make_cells(struct trial *t, struct spur_error *e)
{
    if (!job_writes(t->job))
        return 0;
    t->generation_base = realtime_us();
    t->cells = calloc(t->targets.n, sizeof(*t->cells));
    if (!t->cells)
        return no_memory(e, "table of writes");
    for (size_t i = 0; i < t->targets.n; i++) {
        uint64_t n = t->workload_files[i].bytes / t->job->request_bytes + 1;
        void *p = mmap(NULL, n * sizeof(uint32_t), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                       -1, 0);

        if (p == MAP_FAILED)
            return error_errno(e, errno, "mmap", "table of writes");
        t->cells[i] = p;
    }
    return 0;
}

/* ------------------------------------------------------------------------------------------------
 * Buffers
 */

static int add_buffer(struct trial *t, unsigned thread, uint64_t bytes, struct spur_buffer **ret, struct spur_error *e)
{
    int r = spur_buffer_alloc(trial_memory_of(t, thread), bytes, ret, e);

    if (r < 0)
        return r;
    t->buffers[t->n_buffers++] = *ret;
    r = spur_buffer_attach(t->path, *ret, e);
    if (r < 0) {
        spur_buffer_free(*ret);
        t->n_buffers--;
    }
    return r;
}

static uint64_t available_bytes(void)
{
    char line[100];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/meminfo", "re");

    while (f && !kib && fgets(line, sizeof(line), f))
        sscanf(line, "MemAvailable: %llu kB", &kib);
    if (f)
        fclose(f);
    return kib ? kib * 1024 : UINT64_MAX;
}

/* Pages are touched as they are allocated: what does not fit would bring the kernel's killer, and not only upon us. */
static int check_room(const struct trial *t, uint64_t thread_bytes, struct spur_error *e)
{
    uint64_t most = available_bytes();

    if (t->memory_info.is_device && !t->memory_info.is_emulated)
        return 0;
    if (thread_bytes <= most / t->n_threads)
        return 0;
    error_errno(e, ENOMEM, "alloc", "buffers of %llu bytes for each of %u threads, with %llu bytes of memory available",
                (unsigned long long)thread_bytes, t->n_threads, (unsigned long long)most);
    error_remedy(e, "use fewer --threads, less --depth or a smaller --request");
    return -ENOMEM;
}

/* A buffer a thread, or one registration of which each thread has its own slice (--share buffer). */
static int make_buffers(struct trial *t, struct spur_error *e)
{
    uint64_t thread_bytes;
    int r = 0;

    t->write_shift = t->job->op == JOB_MIX ? round_up(t->job->request_bytes, 4096) : 0;
    t->slot_bytes = round_up(t->job->request_bytes, 4096) + t->write_shift;
    thread_bytes = t->slot_bytes * t->job->depth;
    r = check_room(t, thread_bytes, e);
    if (r < 0)
        return r;
    t->buffers = calloc(t->n_threads, sizeof(*t->buffers));
    if (!t->buffers)
        return no_memory(e, "buffers");
    for (unsigned i = 0; i < t->n_threads && !r; i++) {
        struct trial_thread *w = &t->threads[i];

        if (!(t->job->share & SHARE_BUFFER)) {
            r = add_buffer(t, i, thread_bytes, &w->buffer, e);
        } else {
            r = i ? 0 : add_buffer(t, i, thread_bytes * t->n_threads, &w->buffer, e);
            w->buffer = t->threads[0].buffer;
            w->buffer_base = i * thread_bytes;
        }
    }
    return r;
}

/* ------------------------------------------------------------------------------------------------ */

static int allocate(struct trial *t, const struct job *job, struct spur_error *e)
{
    *t = (struct trial){.job = job, .wake_fd = -1};
    pthread_mutex_init(&t->lock, NULL);
    pthread_cond_init(&t->changed, NULL);
    t->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->wake_fd < 0)
        return error_errno(e, errno, "eventfd", "starting threads");
    if (posix_memalign((void **)&t->threads, 128, job->threads * sizeof(*t->threads)))
        return no_memory(e, "threads");
    memset(t->threads, 0, job->threads * sizeof(*t->threads));
    t->n_threads = job->threads;
    return 0;
}

/* To a list: before anything starts a thread. To what is near the GPU: as soon as it is known which GPU. */
static int bind_cpus(struct trial *t, bool near, struct spur_error *e)
{
    char list[128];
    struct probe probe;
    int r;

    if (!t->job->cpus[0] || near != !strcmp(t->job->cpus, "near"))
        return 0;
    if (!near)
        return cpus_bind(t->job->cpus, e);
    if (!t->memory_info.pci_address[0])
        return error_usage(e, "cpus", "name the CPUs, or a GPU with --memory",
                           "--cpus near: memory %s is not that of a GPU with a PCI address", t->memory_info.name);
    probe_init(&probe);
    r = cpus_near(&probe, t->memory_info.pci_address, list, sizeof(list), e);
    return r < 0 ? r : cpus_bind(list, e);
}

/* All that can be refused, without buffers. */
static int make_openings(struct trial *t, struct spur_error *e)
{
    int r = target_list_make(t->job, &t->targets, e);

    modified_look(&t->targets);
    if (!r)
        r = bind_cpus(t, false, e);
    if (!r)
        r = trial_memory_open(t, e);
    if (!r)
        r = bind_cpus(t, true, e);
    if (!r)
        r = open_path(t, e);
    if (!r)
        r = open_files(t, e);
    if (r < 0)
        return r;
    trial_limits_take(t);
    t->synchronous = t->limits.max_depth == 1;
    r = trial_limits_check(t, e);
    if (!r)
        r = make_workload(t, e);
    return r || !t->path->ops->is_external ? r : external_open(t, e);
}

static int make_objects(struct trial *t, struct spur_error *e)
{
    int r = make_openings(t, e);

    if (!r && t->external) /* makes its own buffers and threads */
        return external_greet(t->external, e);
    if (r)
        return r;
    r = deal_handles(t, e);
    if (!r)
        r = make_cells(t, e);
    if (!r)
        r = make_buffers(t, e);
    return r;
}

/* None of the threads was started. */
static void forget_threads(struct trial *t)
{
    unsigned n = t->n_threads;

    t->n_threads = 0;
    for (unsigned i = 0; t->threads && i < n; i++)
        free(t->threads[i].files);
}

int trial_make(const struct job *job, struct trial *ret_trial, struct spur_error *e)
{
    struct trial *t = ret_trial;
    int r = allocate(t, job, e);

    if (!r)
        r = make_objects(t, e);
    if (!r && t->external)
        return 0;
    if (!r)
        return trial_start_threads(t, e);
    forget_threads(t);
    return r;
}

/* What no thread could begin with. */
static int check_workload(const struct trial *t, struct spur_error *e)
{
    struct workload_thread *w = NULL;
    bool idle;
    int r = t->external ? 0 : t->workload->open(&t->plan, 0, &w, &idle, e);

    if (!r && w)
        t->workload->close(w);
    return r;
}

int trial_open(const struct job *job, struct trial *ret_trial, struct spur_error *e)
{
    int r = allocate(ret_trial, job, e);

    if (!r)
        r = make_openings(ret_trial, e);
    if (!r)
        r = check_workload(ret_trial, e);
    if (r < 0)
        forget_threads(ret_trial);
    return r;
}

void trial_close(struct trial *t)
{
    forget_threads(t);
    trial_free(t);
}

void trial_free(struct trial *t)
{
    if (t->external)
        forget_threads(t);
    external_free(t->external);
    trial_start(t, NULL, PHASE_END);
    for (unsigned i = 0; i < t->n_threads; i++) {
        pthread_join(t->threads[i].thread, NULL);
        trial_thread_free(&t->threads[i]);
    }
    for (size_t i = t->n_buffers; i-- > 0;) { /* deregistered before it is freed */
        spur_buffer_detach(t->path, t->buffers[i]);
        spur_buffer_free(t->buffers[i]);
    }
    for (size_t i = t->n_files; i-- > 0;)
        spur_file_close(t->files[i]);
    spur_path_close(t->path);
    trial_memory_close(t);
    for (size_t i = 0; t->cells && i < t->targets.n; i++)
        if (t->cells[i])
            munmap(t->cells[i], (t->workload_files[i].bytes / t->job->request_bytes + 1) * sizeof(uint32_t));
    free(t->cells);
    free(t->workload_files);
    free(t->buffers);
    free(t->files);
    target_list_free(&t->targets);
    free(t->threads);
    if (t->wake_fd >= 0)
        close(t->wake_fd);
}
