/* SPDX-License-Identifier: MIT */
/*
 * Injected faults: FAKE_CUFILE_FAIL="symbol:k:what,...". The k-th call of a symbol (0: every call) does `what`: a
 * number is the code that it returns; hang, abort; delay=MICROSECONDS; short=BYTES (of a transfer). "load" and "exit"
 * are symbols too.
 */
#include "libcufile.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_RULES   16
#define MOST_SYMBOLS 64

enum what { WHAT_CODE, WHAT_HANG, WHAT_ABORT, WHAT_DELAY, WHAT_SHORT };

struct rule {
    char symbol[48];
    unsigned long at, seen;
    enum what what;
    long number;
};

static struct {
    pthread_once_t once;
    pthread_mutex_t lock;
    struct rule rules[MOST_RULES];
    unsigned n_rules;
    struct {
        const char *symbol;
        uint64_t n;
    } calls[MOST_SYMBOLS];
} book = {.once = PTHREAD_ONCE_INIT, .lock = PTHREAD_MUTEX_INITIALIZER};

static void parse_what(struct rule *r, const char *text)
{
    const char *equals = strchr(text, '=');

    r->number = strtol(equals ? equals + 1 : text, NULL, 0);
    if (!strncmp(text, "hang", 4))
        r->what = WHAT_HANG;
    else if (!strncmp(text, "abort", 5))
        r->what = WHAT_ABORT;
    else if (!strncmp(text, "delay=", 6))
        r->what = WHAT_DELAY;
    else if (!strncmp(text, "short=", 6))
        r->what = WHAT_SHORT;
    else
        r->what = WHAT_CODE;
}

static void set_rules(const char *text)
{
    book.n_rules = 0;
    while (text && *text && book.n_rules < MOST_RULES) {
        struct rule *r = &book.rules[book.n_rules];
        char what[32];

        memset(r, 0, sizeof(*r));
        if (sscanf(text, "%47[^:]:%lu:%31[^,]", r->symbol, &r->at, what) != 3) {
            fprintf(stderr, "fake libcufile: FAKE_CUFILE_FAIL: %s\n", text);
            abort();
        }
        parse_what(r, what);
        book.n_rules++;
        text = strchr(text, ',');
        text = text ? text + 1 : NULL;
    }
}

static void start(void)
{
    set_rules(getenv("FAKE_CUFILE_FAIL"));
}

void fake_cufile_fail(const char *rules)
{
    pthread_once(&book.once, start);
    pthread_mutex_lock(&book.lock);
    set_rules(rules);
    pthread_mutex_unlock(&book.lock);
}

static void count(const char *symbol)
{
    unsigned i = 0;

    while (i < MOST_SYMBOLS - 1 && book.calls[i].symbol && strcmp(book.calls[i].symbol, symbol))
        i++;
    book.calls[i].symbol = symbol;
    book.calls[i].n++;
}

uint64_t fake_cufile_calls(const char *symbol)
{
    uint64_t n = 0;

    pthread_mutex_lock(&book.lock);
    for (unsigned i = 0; i < MOST_SYMBOLS && book.calls[i].symbol; i++)
        if (!strcmp(book.calls[i].symbol, symbol))
            n = book.calls[i].n;
    pthread_mutex_unlock(&book.lock);
    return n;
}

static void apply(const struct rule *r, struct fault *f)
{
    switch (r->what) {
    case WHAT_CODE:
        f->is_set = true;
        f->code = (int)r->number;
        break;
    case WHAT_HANG:
        for (;;)
            pause();
    case WHAT_ABORT:
        abort();
    case WHAT_DELAY:
        usleep((useconds_t)r->number);
        break;
    case WHAT_SHORT:
        f->short_bytes = (size_t)r->number;
        break;
    }
}

/* Copies the rules that fit, so that they are applied outside the lock. */
static unsigned match(const char *symbol, struct rule to[MOST_RULES])
{
    unsigned n = 0;

    pthread_mutex_lock(&book.lock);
    count(symbol);
    for (unsigned i = 0; i < book.n_rules; i++) {
        struct rule *r = &book.rules[i];

        if (!strcmp(r->symbol, symbol) && (++r->seen == r->at || !r->at))
            to[n++] = *r;
    }
    pthread_mutex_unlock(&book.lock);
    return n;
}

struct fault fault_enter(const char *symbol)
{
    struct fault f = {.short_bytes = SIZE_MAX};
    struct rule rules[MOST_RULES];
    unsigned n;

    pthread_once(&book.once, start);
    n = match(symbol, rules);
    for (unsigned i = 0; i < n; i++)
        apply(&rules[i], &f);
    return f;
}

int fault_code(const char *symbol)
{
    struct fault f = fault_enter(symbol);

    return f.is_set ? f.code : 0;
}

__attribute__((constructor)) static void at_load(void)
{
    fault_enter("load");
}

__attribute__((destructor)) static void at_exit(void)
{
    fault_enter("exit");
}
