/*
 * Looks at waiting threads, on a thread of its own, the looker, so that a look that hangs holds up
 * nobody.
 *
 * A looker that sleeps in a look for more than 100 ms is left behind and replaced, up to 16 times
 * in all; its process is not looked at again, nor any other of its user unless that is root or
 * prof's (base/hung_processes.h). On a busy machine it may wait for a CPU as long as it takes.
 * It asks for short time slices: beside six busy programs on two CPUs 99 of 100 looks are then over
 * after 0.1 ms, else 1.6 ms.
 * Looks come back in the order in which they were asked for. The copy of a large stack is freed
 * when the next look is taken; the caller bounds how many of these it asks for.
 */
#ifndef PROF_WAITING_LOOKERS_H
#define PROF_WAITING_LOOKERS_H

#include "base/cleanup.h"
#include "waiting/look.h"

struct lookers;

/* NULL: the system lacks the resources. */
struct lookers *lookers_new(void);
void lookers_free(struct lookers *lookers);
DEFINE_CLEANUP(lookers, lookers_free)

enum { LOOKERS_ROOM = 256 };

/* Asks for a look. False: LOOKERS_ROOM are under way or wait to be taken. */
bool lookers_ask(struct lookers *lookers, const struct look_request *request);
/*
 * The next one that is finished, or was given up; NULL: none yet. Borrowed until the next call.
 * This call also gives up looks that hang, so it must be made now and then.
 */
const struct look *lookers_take(struct lookers *lookers);

#endif
