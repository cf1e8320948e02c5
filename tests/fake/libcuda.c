/* SPDX-License-Identifier: MIT */
/* Start, injected errors, devices, contexts, modules. See libcuda.h. */
#include "libcuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_RULES   16
#define MOST_SYMBOLS 64

const int spur_fake_cuda = 1;

struct fake fake = {.lock = PTHREAD_MUTEX_INITIALIZER, .progress = PTHREAD_COND_INITIALIZER};

static struct {
    pthread_once_t once;
    struct {
        char symbol[48];
        unsigned long at, seen;
        CUresult code;
    } rules[MOST_RULES];
    unsigned n_rules;
    struct {
        const char *symbol;
        unsigned long n;
    } calls[MOST_SYMBOLS];
    bool started;
} book = {.once = PTHREAD_ONCE_INIT};

static __thread CUcontext current;

void fake_lock(void)
{
    pthread_mutex_lock(&fake.lock);
}

void fake_unlock(void)
{
    pthread_mutex_unlock(&fake.lock);
}

void fake_violation(const char *what)
{
    fprintf(stderr, "fake libcuda: %s\n", what);
    if (fake.check)
        abort();
}

/* ------------------------------------------------------------------------------------------------
 * Settings, rules, counts
 */

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 0) : otherwise;
}

static void set_rules(const char *text)
{
    book.n_rules = 0;
    while (text && *text && book.n_rules < MOST_RULES) {
        char symbol[48];
        unsigned long at;
        int code;

        if (sscanf(text, "%47[^:]:%lu:%d", symbol, &at, &code) == 3) {
            memcpy(book.rules[book.n_rules].symbol, symbol, sizeof(symbol));
            book.rules[book.n_rules].at = at;
            book.rules[book.n_rules].seen = 0;
            book.rules[book.n_rules++].code = code;
        }
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
}

/* CUDA_VISIBLE_DEVICES, of numbers only. */
static void narrow(void)
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");
    int n = 0;

    for (int i = 0; i < FAKE_DEVICES; i++)
        fake.visible[i] = i;
    while (text && *text && n < FAKE_DEVICES) {
        int index = atoi(text);

        if (index >= fake.n_devices) /* CUDA sees what stands before the first wrong one */
            break;
        fake.visible[n++] = index;
        text = strchr(text, ',');
        text = text ? text + 1 : "";
    }
    if (text)
        fake.n_devices = n;
}

static void start(void)
{
    uint64_t n = number("FAKE_CUDA_DEVICES", 1);

    fake.delay_ns = number("FAKE_CUDA_DELAY_US", 50) * 1000;
    fake.copies_per_s = number("FAKE_CUDA_RATE_MIB", 0) << 20;
    fake.check = number("FAKE_CUDA_CHECK", 0) != 0;
    fake.n_devices = n < FAKE_DEVICES ? (int)n : FAKE_DEVICES;
    narrow();
    fake.total_bytes = number("FAKE_CUDA_BYTES", 8ull << 30);
    for (int i = 0; i < FAKE_DEVICES; i++)
        fake.contexts[i].device = i;
    set_rules(getenv("FAKE_CUDA_FAIL"));
}

void spur_fake_cuda_fail(const char *rules)
{
    pthread_once(&book.once, start);
    fake_lock();
    set_rules(rules);
    fake_unlock();
}

void spur_fake_cuda_delay(unsigned us)
{
    pthread_once(&book.once, start);
    fake_lock();
    fake.delay_ns = us * 1000ull;
    fake_unlock();
}

static unsigned long *counter(const char *symbol)
{
    unsigned i = 0;

    while (i < MOST_SYMBOLS - 1 && book.calls[i].symbol && strcmp(book.calls[i].symbol, symbol))
        i++;
    book.calls[i].symbol = symbol;
    return &book.calls[i].n;
}

unsigned long spur_fake_cuda_calls(const char *symbol)
{
    unsigned long n = 0;

    fake_lock();
    for (unsigned i = 0; i < MOST_SYMBOLS && book.calls[i].symbol; i++)
        if (!strcmp(book.calls[i].symbol, symbol))
            n = book.calls[i].n;
    fake_unlock();
    return n;
}

static CUresult enter(const char *symbol)
{
    CUresult code = CUDA_SUCCESS;

    ++*counter(symbol);
    for (unsigned i = 0; i < book.n_rules; i++)
        if (!strcmp(book.rules[i].symbol, symbol) && ++book.rules[i].seen == book.rules[i].at)
            code = book.rules[i].code;
    if (!code && !book.started && strcmp(symbol, "cuInit"))
        code = CUDA_ERROR_NOT_INITIALIZED;
    return code;
}

CUresult fake_enter(const char *symbol)
{
    CUresult code;

    pthread_once(&book.once, start);
    fake_lock();
    code = enter(symbol);
    fake_unlock();
    return code;
}

CUresult fake_enter_context(const char *symbol, CUcontext *ret)
{
    CUresult code = fake_enter(symbol);

    fake_lock();
    *ret = current && current->refs ? current : NULL;
    if (!code)
        code = *ret ? current->error : CUDA_ERROR_INVALID_CONTEXT;
    fake_unlock();
    return code;
}

/* ------------------------------------------------------------------------------------------------
 * What was not given back
 */

unsigned spur_fake_cuda_leaks(void)
{
    unsigned n;

    fake_lock();
    n = fake.n_events + fake.n_modules;
    for (const struct region *r = fake.regions; r; r = r->next)
        n++;
    for (CUstream s = fake.streams; s; s = s->next)
        n += !s->is_default;
    for (int i = 0; i < FAKE_DEVICES; i++)
        n += fake.contexts[i].refs;
    fake_unlock();
    return n;
}

static void list_leaks(void)
{
    fake_lock();
    for (const struct region *r = fake.regions; r; r = r->next)
        fprintf(stderr, "fake libcuda: never freed: %zu bytes of %s\n", r->bytes,
                r->is_host ? "registered host memory" : "device memory");
    for (CUstream s = fake.streams; s; s = s->next)
        if (!s->is_default)
            fprintf(stderr, "fake libcuda: never destroyed: a stream%s\n", s->head ? " with work in flight" : "");
    for (int i = 0; i < FAKE_DEVICES; i++)
        if (fake.contexts[i].refs)
            fprintf(stderr, "fake libcuda: never released: context of GPU %d\n", i);
    if (fake.n_events || fake.n_modules)
        fprintf(stderr, "fake libcuda: never destroyed: %u events, %u modules\n", fake.n_events, fake.n_modules);
    fake_unlock();
}

static __attribute__((destructor)) void at_exit(void)
{
    if (!fake.check || !spur_fake_cuda_leaks())
        return;
    list_leaks();
    abort();
}

/* ------------------------------------------------------------------------------------------------
 * Errors
 */

struct word {
    CUresult code;
    const char *name, *text;
};

static const struct word words[] = {
    {CUDA_SUCCESS, "CUDA_SUCCESS", "no error"},
    {CUDA_ERROR_INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_NOT_INITIALIZED, "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {CUDA_ERROR_STUB_LIBRARY, "CUDA_ERROR_STUB_LIBRARY", "CUDA driver is a stub library"},
    {CUDA_ERROR_NO_DEVICE, "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {CUDA_ERROR_INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {CUDA_ERROR_INVALID_CONTEXT, "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {CUDA_ERROR_INVALID_PTX, "CUDA_ERROR_INVALID_PTX", "a PTX JIT compilation failed"},
    {CUDA_ERROR_JIT_COMPILER_NOT_FOUND, "CUDA_ERROR_JIT_COMPILER_NOT_FOUND", "PTX JIT compiler library not found"},
    {CUDA_ERROR_INVALID_HANDLE, "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {CUDA_ERROR_NOT_FOUND, "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {CUDA_ERROR_NOT_READY, "CUDA_ERROR_NOT_READY", "device not ready"},
    {CUDA_ERROR_ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS", "an illegal memory access was encountered"},
    {CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED, "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED, "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {CUDA_ERROR_UNKNOWN, "CUDA_ERROR_UNKNOWN", "unknown error"},
};

static const struct word *word_of(CUresult code)
{
    for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (words[i].code == code)
            return &words[i];
    return NULL;
}

CUresult cuGetErrorName(CUresult code, const char **text)
{
    const struct word *w = word_of(code);

    *text = w ? w->name : NULL;
    return w ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char **text)
{
    const struct word *w = word_of(code);

    *text = w ? w->text : NULL;
    return w ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ------------------------------------------------------------------------------------------------
 * Devices
 */

CUresult cuInit(unsigned flags)
{
    CUresult code = fake_enter("cuInit");

    if (code || flags)
        return code ? code : CUDA_ERROR_INVALID_VALUE;
    if (!fake.n_devices)
        return CUDA_ERROR_NO_DEVICE;
    fake_lock();
    book.started = true;
    fake_unlock();
    return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version)
{
    CUresult code = fake_enter("cuDriverGetVersion");

    if (!code)
        *version = 12080;
    return code;
}

CUresult cuDeviceGetCount(int *count)
{
    CUresult code = fake_enter("cuDeviceGetCount");

    if (!code)
        *count = fake.n_devices;
    return code;
}

static CUresult enter_device(const char *symbol, int device)
{
    CUresult code = fake_enter(symbol);

    if (code)
        return code;
    return device >= 0 && device < fake.n_devices ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult cuDeviceGet(CUdevice *device, int index)
{
    CUresult code = enter_device("cuDeviceGet", index);

    if (!code)
        *device = index;
    return code;
}

CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    CUresult code = enter_device("cuDeviceGetName", device);

    if (!code)
        snprintf(name, (size_t)size, "fake GPU");
    return code;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device)
{
    CUresult code = enter_device("cuDeviceGetUuid_v2", device);

    for (unsigned i = 0; i < 16 && !code; i++)
        uuid->bytes[i] = (unsigned char)(0xfa * (i == 0) + 0x11 * i + (i == 15) * (unsigned)fake.visible[device]);
    return code;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    CUresult code = enter_device("cuDeviceTotalMem_v2", device);

    if (!code)
        *bytes = fake.total_bytes;
    return code;
}

CUresult cuDeviceGetPCIBusId(char *id, int size, CUdevice device)
{
    CUresult code = enter_device("cuDeviceGetPCIBusId", device);

    if (!code)
        snprintf(id, (size_t)size, "0000:%02X:00.0", 0xda + (unsigned)device);
    return code;
}

CUresult cuDeviceGetAttribute(int *value, int attribute, CUdevice device)
{
    CUresult code = enter_device("cuDeviceGetAttribute", device);

    if (code)
        return code;
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = 9;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = 0;
        return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 4;
        return CUDA_SUCCESS;
    default:
        return CUDA_ERROR_INVALID_VALUE;
    }
}

/* ------------------------------------------------------------------------------------------------
 * Contexts
 */

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    CUresult code = enter_device("cuDevicePrimaryCtxRetain", device);
    CUcontext c;

    if (code)
        return code;
    c = &fake.contexts[device];
    fake_lock();
    if (!c->refs++) {
        c->error = CUDA_SUCCESS;
        c->default_stream = stream_new(c, true);
    }
    fake_unlock();
    *context = c;
    return CUDA_SUCCESS;
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device)
{
    CUresult code = enter_device("cuDevicePrimaryCtxRelease_v2", device);
    CUcontext c;

    if (code)
        return code;
    c = &fake.contexts[device];
    fake_lock();
    if (!c->refs)
        code = CUDA_ERROR_INVALID_CONTEXT;
    else if (!--c->refs)
        stream_end(c->default_stream);
    fake_unlock();
    return code;
}

CUresult cuCtxSetCurrent(CUcontext context)
{
    CUresult code = fake_enter("cuCtxSetCurrent");

    if (code)
        return code;
    fake_lock();
    if (context && !context->refs)
        code = CUDA_ERROR_INVALID_CONTEXT;
    fake_unlock();
    if (!code)
        current = context;
    return code;
}

/* ------------------------------------------------------------------------------------------------
 * Modules
 */

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned n_options, int *options, void **values)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuModuleLoadDataEx", &context);
    CUmodule m;

    if (code == CUDA_ERROR_INVALID_PTX && n_options && options[0] == CU_JIT_ERROR_LOG_BUFFER)
        snprintf(values[0], 32, "ptxas fatal: injected\nmore");
    if (code)
        return code;
    if (!strstr(image, "\n.version ") || !(m = calloc(1, sizeof(*m))))
        return CUDA_ERROR_INVALID_PTX;
    for (unsigned i = 0; i < KERNEL_COUNT; i++)
        m->functions[i].kernel = (enum kernel)i;
    m->image = image;
    fake_lock();
    fake.n_modules++;
    fake_unlock();
    *module = m;
    return CUDA_SUCCESS;
}

CUresult cuModuleUnload(CUmodule module)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuModuleUnload", &context);

    if (code)
        return code;
    fake_lock();
    fake.n_modules--;
    fake_unlock();
    free(module);
    return CUDA_SUCCESS;
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
    CUcontext context;
    CUresult code = fake_enter_context("cuModuleGetFunction", &context);
    enum kernel kernel = kernel_named(name);
    char entry[80];

    if (code)
        return code;
    snprintf(entry, sizeof(entry), ".entry %s(", name);
    if (kernel == KERNEL_COUNT || !strstr(module->image, entry))
        return CUDA_ERROR_NOT_FOUND;
    *function = &module->functions[kernel];
    return CUDA_SUCCESS;
}
