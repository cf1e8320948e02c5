/* SPDX-License-Identifier: MIT */
/* cufile.log, in the configured folder at the configured level. See libcufile.h. */
#include "libcufile.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static char log_path[1024];
static unsigned log_rank;

/* What is always written comes first. */
static unsigned rank_of(const char *level)
{
    static const char *const levels[] = {"NOTICE", "ERROR", "WARN", "INFO", "DEBUG", "TRACE"};
    unsigned i = 0;

    while (i < 5 && strcmp(levels[i], level))
        i++;
    return i;
}

void log_open(void)
{
    const char *named = getenv("CUFILE_LOGFILE_PATH"), *dir = config_log_dir();

    pthread_mutex_lock(&log_lock);
    log_rank = rank_of(config_log_level());
    if (named && *named)
        snprintf(log_path, sizeof(log_path), "%.1000s", named);
    else
        snprintf(log_path, sizeof(log_path), "%.1000s%scufile.log", dir, *dir ? "/" : "");
    pthread_mutex_unlock(&log_lock);
    log_line("NOTICE", "simulated: this is the fake libcufile of spur's test suite");
}

static void write_line(const char *level, const char *text)
{
    FILE *f = fopen(log_path, "ae");
    time_t now = time(NULL);
    char date[32];
    struct tm tm;

    if (!f)
        return;
    localtime_r(&now, &tm);
    strftime(date, sizeof(date), "%d-%m-%Y %H:%M:%S", &tm);
    fprintf(f, " %s:000 [pid=%d tid=%d] %s  fake:0 %s\n", date, (int)getpid(), (int)gettid(), level, text);
    fclose(f);
}

void log_line(const char *level, const char *format, ...)
{
    char text[512];
    va_list ap;

    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    pthread_mutex_lock(&log_lock);
    if (*log_path && rank_of(level) <= log_rank)
        write_line(level, text);
    pthread_mutex_unlock(&log_lock);
}
