/*
 * The listener of commands: prints what lib/record tells.
 */
#ifndef PROF_CMD_RECORD_MESSAGES_H
#define PROF_CMD_RECORD_MESSAGES_H

#include "record/listener.h"

#include <stdbool.h>

/* Problems are printed even by a quiet command: the result is incomplete. After progress
 * message_progress_end() is needed. */
struct listener record_messages(bool notices, bool progress);

#endif
