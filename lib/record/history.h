/*
 * The last seconds of a recording: a ring of profiles from recorder_rotate(),
 * each of an eighth of the time.
 *
 * Older profiles are freed, so memory is bounded by the distinct stacks of the
 * covered time. The sum of all profiles in the ring is the profile of the last
 * seconds. Module ids belong to the recorder's address spaces, so renewing the
 * recorder drops the history.
 */
#ifndef PROF_RECORD_HISTORY_H
#define PROF_RECORD_HISTORY_H

#include "record/recorder.h"

/* Descriptions and call frame information of this many modules take about 100
 * MB. */
enum { HISTORY_MODULES_MAX = 5000 };

struct history;

/* Keeps at least keep_ns of sampling, and at most an eighth more. Renews the
 * recorder when it has more than modules_max modules. Borrows the recorder. */
struct history *history_new(struct recorder *recorder, uint64_t keep_ns, size_t modules_max);
void history_free(struct history *history);
DEFINE_CLEANUP(history, history_free)

/* The time (clock_now_ns()) at which history_step() has something to do. */
uint64_t history_next_ns(const struct history *history);
/*
 * Rotates the recorder if its profile covers an eighth of the time. Returns
 * true if the history was dropped because the recorder was renewed: programs
 * had mapped too many files.
 */
bool history_step(struct history *history);

/* Rotates the recorder, so that the history is complete up to the last
 * record. */
void history_cut(struct history *history);
/* Drops everything, including the recorder's current profile. */
void history_forget(struct history *history);
/*
 * Adds the samples of the whole history to the recorder's profile, which must
 * be empty after history_cut(). Call it only at the end or in a forked child.
 */
void history_gather(const struct history *history);

/* The time that the history covers. Zeroed if the history is empty. */
struct recorder_window history_window(const struct history *history);
/* The sums of the counts of its profiles. */
struct session_counts history_counts(const struct history *history);

#endif
