/*
 * The Java virtual machines (HotSpot) among the profiled processes: rules for the frames of the
 * code that they make at run time, from their code caches (code_cache.h, java_rule.h).
 *
 * A machine is recognized when its code is first seen on a stack: libjvm.so is mapped. Its memory
 * is read on another thread (jvm_reader.h), for the process can make a read hang. Since samples
 * come meanwhile, a stack is looked up whole at its first unknown pc, and all this takes at most
 * 200 ms of each second; what is not known then has no rule, and the next stack asks again.
 *
 * Code blobs are freed and replaced. Each that is used is compared with the process's memory again
 * when it was last read a quarter of a second ago; the others that were used lately are compared
 * with it, so that one call is enough for all of a steady program. When the process has ended what
 * is known stays.
 */
#ifndef PROF_UNWIND_JVMS_H
#define PROF_UNWIND_JVMS_H

#include "proc/address_spaces.h"
#include "unwind/java_rule.h"

struct jvms;
struct jvm;

/* For live processes. spaces must outlive it; proc: usually "/proc". */
struct jvms *jvms_new(struct address_spaces *spaces, const char *proc);
void jvms_free(struct jvms *jvms);

/* NULL if the process is not such a machine, or cannot be read. Valid until the next call. */
struct jvm *jvms_find(struct jvms *jvms, pid_t pid, uint64_t time_ns);

/* What is looked up: a pc on a stack. */
struct jvm_pc {
	uint64_t pc; /* a return address is looked up at pc - 1 */
	bool is_return_address;
	struct bytes stack; /* other return addresses may be looked up with it */
};

/* False if no blob holds the pc, or it is not known now. */
bool jvm_rule(struct jvm *jvm, const struct jvm_pc *at, struct java_rule *ret);

#endif
