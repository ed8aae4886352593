/*
 * Gets symbols for the code of recorded Java virtual machines: asks each VM to
 * list its code (java_attach.h) before frames are symbolized.
 */
#ifndef PROF_RECORD_JAVA_MAPS_H
#define PROF_RECORD_JAVA_MAPS_H

#include "record/listener.h"
#include "record/pipeline.h"

/* Which VMs are asked. */
enum java_choice {
	JAVA_OWN, /* those of prof's user and of the caller of sudo(8) */
	JAVA_ALL, /* root also asks those of all users */
	JAVA_NONE,
};

/*
 * Asks the running VMs among the processes whose JIT code has frames in the
 * profile. Asks at most 64 VMs, in parallel, for at most 3 s. Reports to the
 * listener (NULL for none) which VMs did not list their code, and why. With JAVA_OWN, VMs that
 * have ended or belong to other users are not reported.
 */
void java_maps_ask(const struct pipeline *pipeline, enum java_choice choice,
		   const struct listener *listener);

#endif
