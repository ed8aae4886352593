/*
 * Reads a Java virtual machine's memory on another thread (base/timed_call.h).
 *
 * A hostile process can make a read block forever (userfaultfd, FUSE). A call
 * then costs a second, and nothing more is read from that process. Unless its
 * user is root or prof's user, nothing more is read from other processes of
 * that user either.
 */
#ifndef PROF_UNWIND_JVM_READER_H
#define PROF_UNWIND_JVM_READER_H

#include "unwind/java_rule.h"

#include <sys/types.h>

struct jvm_reader;

/* proc: usually "/proc". */
struct jvm_reader *jvm_reader_new(const char *proc);
void jvm_reader_free(struct jvm_reader *reader);

/* The state of a machine's code cache. */
struct jvm_code {
	uint64_t place; /* key of the calls that read it (timed_call.h) */
	struct vm_layout layout;
	struct code_heaps heaps;
	struct method_entries entries;
};

/*
 * Opens the code cache of a process. `bias` is the difference between its
 * addresses and the vaddrs of the libjvm file. Returns false if the file is not
 * HotSpot's, the machine is not initialized yet, or its memory may not be read.
 */
bool jvm_reader_open(struct jvm_reader *reader, pid_t pid, const struct elf_file *libjvm,
		     uint64_t bias, struct jvm_code *ret);

enum { JVM_PCS_MAX = 64, JVM_CHECKS_MAX = 512 };

/* A block of code, with the bytes before and after it that rules need. */
enum { JVM_PIECE_LOG2 = 11 };
struct jvm_piece {
	unsigned char bytes[JAVA_CODE_BEFORE + (1 << JVM_PIECE_LOG2) + JAVA_CODE_AFTER];
};

struct jvm_look_up {
	/* The request. */
	uint64_t pcs[JVM_PCS_MAX];
	unsigned pc_count;
	struct code_blob checks[JVM_CHECKS_MAX];
	unsigned check_count;
	uint64_t code_pc; /* the code block that contains it is read; 0 for none */
	/* The answer. */
	/* Blobs that contain the pcs; may contain duplicates. */
	struct code_blob blobs[JVM_PCS_MAX];
	unsigned blob_count;
	bool is_valid[JVM_CHECKS_MAX];
	bool has_piece;
	struct jvm_piece piece; /* bytes that cannot be read are zero */
};

/*
 * Returns an empty request. After jvm_reader_look_up() has returned true it
 * holds the answer, until the next request.
 */
struct jvm_look_up *jvm_reader_ask(struct jvm_reader *reader);
/*
 * Performs the lookup and updates the heaps, which can grow. Returns false if
 * the process has ended or cannot be read.
 */
bool jvm_reader_look_up(struct jvm_reader *reader, pid_t pid, struct jvm_code *code);

#endif
