/*
 * Finds the interpreters in the processes of a recording, so that copiers read
 * their frames (runtime/scripts.h).
 *
 * A process has an interpreter if it maps a file that contains one. That is
 * noticed when the file is mapped if its name is that of an interpreter, or when
 * a sample has a frame in it.
 */
#ifndef PROF_RECORD_SCRIPT_RUNTIMES_H
#define PROF_RECORD_SCRIPT_RUNTIMES_H

#include "perf/record.h"
#include "proc/address_spaces.h"
#include "record/listener.h"
#include "runtime/scripts.h"
#include "unwind/call_chain.h"

struct script_runtimes;

/* Both are borrowed. */
struct script_runtimes *script_runtimes_new(struct address_spaces *spaces, struct scripts *scripts);
void script_runtimes_free(struct script_runtimes *runtimes);

/* Call it for each record after it has changed the address spaces. */
void script_runtimes_feed(struct script_runtimes *runtimes, const struct record *record);
/* Call it for the chain of each sample: notices an interpreter that no record
 * has shown. */
void script_runtimes_see(struct script_runtimes *runtimes, const struct record *record,
			 const struct call_chain *chain);
/* Whether the frame is one of an interpreter's loop whose frames are read. */
bool script_runtimes_is_loop(const struct script_runtimes *runtimes, const struct frame *frame);
/*
 * Returns the start of the loop of the interpreter in whose file the frame is.
 * The loop itself is shown there: functions that are inlined in it work for the
 * script's function, and do not call it.
 */
struct frame script_runtimes_loop(const struct script_runtimes *runtimes,
				  const struct frame *frame);
/*
 * Notes that the function [start, end) is a part of the loop of the interpreter
 * in whose file the frame is. Returns false if there is none. The file may have
 * no symbol for the part.
 */
bool script_runtimes_learn(const struct script_runtimes *runtimes, const struct frame *frame,
			   uint64_t start, uint64_t end);
/* Reports interpreters whose frames are not read. */
void script_runtimes_tell(const struct script_runtimes *runtimes, const struct listener *listener);

#endif
