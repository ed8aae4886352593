/* Steps from frames of Java code that HotSpot has generated. */
#ifndef PROF_UNWIND_STEP_JAVA_H
#define PROF_UNWIND_STEP_JAVA_H

#include "unwind/jvms.h"
#include "unwind/walk.h"

/* Moves the walk to the caller, or stops it with a reason. */
bool step_java(struct walk *walk, struct jvm *jvm);

#endif
