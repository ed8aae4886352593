/*
 * Prints the messages about a recording: those of lib/record through a
 * listener, and those of the commands.
 */
#ifndef PROF_CMD_RECORD_RECORD_MESSAGES_H
#define PROF_CMD_RECORD_RECORD_MESSAGES_H

#include "cmd/record/recording.h"

#include <stdbool.h>

/* Problems are printed even by a quiet command, because the result is
 * incomplete. After progress, call message_progress_end(). */
struct listener record_messages(bool notices, bool progress);

/* Prints descriptors and rings, for --verbose. The recording must be open. */
void record_say_details(const struct recording *recording);
/* Prints the line of progress. Call message_progress_end() later. */
void record_show_progress(const struct recording *recording);
/* Prints why sampling has ended, unless the command has ended, and what was
 * omitted. */
void record_say_end(const struct recording *recording);
/* Prints what a recording by libprof-inside.so lacks. Call it after the end of
 * sampling. */
void record_say_inside(const struct recording *recording);

#endif
