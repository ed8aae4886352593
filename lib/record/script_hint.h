/* Guesses before a recording whether its target runs an interpreter. */
#ifndef PROF_RECORD_SCRIPT_HINT_H
#define PROF_RECORD_SCRIPT_HINT_H

#include "record/config.h"

/*
 * Whether the command is an interpreter or a script for one, or a process of
 * the target maps one. It is right to say no: then more samples of a busy
 * machine lack the functions of the script.
 */
bool script_is_expected(const struct record_config *config);

#endif
