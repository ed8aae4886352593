/*
 * The last seconds of a recorder: a ring of the profiles that its rotations have ended
 * (recorder_rotate()), each of an eighth of the time. What is older is freed, so memory is bounded
 * by the distinct stacks of that time.
 *
 * All of them, put together, are the profile of the last seconds. Their modules are numbered by the
 * recorder's address spaces, so a recorder that is renewed loses its history.
 */
#ifndef PROF_RECORD_HISTORY_H
#define PROF_RECORD_HISTORY_H

#include "record/recorder.h"

/* Descriptions and call frame information of this many modules take some 100 MB. */
enum { HISTORY_MODULES_MAX = 5000 };

struct history;

/* At least keep_ns of sampling are kept, and an eighth of it more at most. With more modules than
 * modules_max the recorder is renewed. Borrows it. */
struct history *history_new(struct recorder *recorder, uint64_t keep_ns, size_t modules_max);
void history_free(struct history *history);
DEFINE_CLEANUP(history, history_free)

/* clock_now_ns() at which history_step() has something to do. */
uint64_t history_next_ns(const struct history *history);
/* Rotates the recorder if its profile covers an eighth of the time. True: the history was lost,
 * because programs had mapped so many files that the recorder was renewed. */
bool history_step(struct history *history);

/* Rotates the recorder: the history now is complete up to the last record. */
void history_cut(struct history *history);
/* Forgets everything, the recorder's profile included. */
void history_forget(struct history *history);
/*
 * Adds the samples of the whole history to the recorder's profile, which a history_cut() has just
 * emptied. To be called at the end, or in a forked child.
 */
void history_gather(const struct history *history);

/* The time that the history covers. Zeroed: it is empty. */
struct recorder_window history_window(const struct history *history);
/* The sums of its profiles' counts. */
struct session_counts history_counts(const struct history *history);

#endif
