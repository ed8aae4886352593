/*
 * Names for the code of Java virtual machines that were recorded: asks each (java_attach.h), before
 * frames are symbolized, to list its code.
 */
#ifndef PROF_RECORD_JAVA_MAPS_H
#define PROF_RECORD_JAVA_MAPS_H

#include "record/listener.h"
#include "record/pipeline.h"

/*
 * Asks the machines among the processes whose compiled code the profile has frames of, while they
 * still run: at most 64, all at the same time, for at most 3 s. The listener learns which did not
 * list their code, and why.
 */
void java_maps_ask(const struct pipeline *pipeline, const struct listener *listener);

#endif
