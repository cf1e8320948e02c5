/* SPDX-License-Identifier: MIT */
#include "store/words.h"

#include <stddef.h>
#include <string.h>

const char *const unit_words[] = {"none", "bytes", "ns", "count", "percent", NULL};
const char *const state_words[] = {"planned", "not applicable", "refused", NULL};
const char *const region_words[] = {"same", "rotate", NULL};
const char *const status_words[] = {"ok", "failed", "refused", "interrupted", NULL};
const char *const event_words[] = {"started",  "stopped",  "decided",     "limit",
                                   "prepared", "finished", "interrupted", NULL};

const char *word_of(const char *const *words, unsigned index)
{
    for (unsigned i = 0; words[i]; i++)
        if (i == index)
            return words[i];
    return NULL;
}

int word_index(const char *const *words, const char *word)
{
    for (int i = 0; word && words[i]; i++)
        if (!strcmp(words[i], word))
            return i;
    return -1;
}
