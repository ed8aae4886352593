/*
 * The Java virtual machines (HotSpot) among the profiled processes. Returns
 * rules for frames of the code that they generate, from their code caches
 * (code_cache.h, java_rule.h).
 *
 * A machine is recognized when its generated code first occurs on a stack and
 * libjvm.so is mapped. Its memory is read on another thread (jvm_reader.h),
 * because the process can make a read block. Samples keep arriving during a
 * read, so the first unknown pc of a stack triggers one lookup for the whole
 * stack. Lookups take at most 200 ms of each second. A pc that is still unknown
 * then has no rule, and the next stack retries.
 *
 * The virtual machine frees and replaces code blobs. A blob that is used and
 * was last read more than 250 ms ago is compared with the process's memory
 * again. The same call checks the other recently used blobs, so that one call
 * is enough for a program in a steady state. When the process ends, the known
 * blobs remain valid.
 */
#ifndef PROF_UNWIND_JVMS_H
#define PROF_UNWIND_JVMS_H

#include "proc/address_spaces.h"
#include "unwind/java_rule.h"

struct jvms;
struct jvm;

/*
 * For live processes. `spaces` must outlive the result. proc: usually "/proc".
 */
struct jvms *jvms_new(struct address_spaces *spaces, const char *proc);
void jvms_free(struct jvms *jvms);

/*
 * Returns NULL if the process is not a HotSpot machine or cannot be read. The
 * result is valid until the next call.
 */
struct jvm *jvms_find(struct jvms *jvms, pid_t pid, uint64_t time_ns);

/* A pc on a stack to look up. */
struct jvm_pc {
	uint64_t pc; /* a return address is looked up at pc - 1 */
	bool is_return_address;
	/* Other return addresses on it may be looked up at the same time. */
	struct bytes stack;
};

/* Returns false if no blob contains the pc or it is not known now. */
bool jvm_rule(struct jvm *jvm, const struct jvm_pc *at, struct java_rule *ret);

#endif
