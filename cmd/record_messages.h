/*
 * What commands print of a recording: the listener prints what lib/record tells.
 */
#ifndef PROF_CMD_RECORD_MESSAGES_H
#define PROF_CMD_RECORD_MESSAGES_H

#include "cmd/recording.h"

#include <stdbool.h>

/* Problems are printed even by a quiet command: the result is incomplete. After progress
 * message_progress_end() is needed. */
struct listener record_messages(bool notices, bool progress);

/* For --verbose: descriptors and rings. The recording is open. */
void record_say_details(const struct recording *recording);
/* The line of progress: message_progress_end() is needed later. */
void record_show_progress(const struct recording *recording);
/* Why sampling has ended, unless the command has, and what was left out. */
void record_say_end(const struct recording *recording);

#endif
