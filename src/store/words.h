/* SPDX-License-Identifier: MIT */
/* Words of the enums as they stand in the plan document and in the tables. */
#ifndef SPUR_STORE_WORDS_H
#define SPUR_STORE_WORDS_H

extern const char *const unit_words[];   /* enum experiment_unit */
extern const char *const state_words[];  /* enum experiment_state */
extern const char *const region_words[]; /* enum experiment_region */
extern const char *const status_words[]; /* enum trial_status */
extern const char *const event_words[];  /* enum store_event_kind */

/* NULL: @index is past the end. */
const char *word_of(const char *const *words, unsigned index);
/* -1: no such word, or NULL. */
int word_index(const char *const *words, const char *word);

#endif
