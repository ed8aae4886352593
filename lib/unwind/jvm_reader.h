/*
 * Reads a Java virtual machine's memory on another thread (base/timed_call.h): what it asks for may
 * never come, if the process wants it so (userfaultfd, FUSE). Then a call costs a second, and
 * nothing more is read of the process or, unless that is root or prof's, of others of its user.
 */
#ifndef PROF_UNWIND_JVM_READER_H
#define PROF_UNWIND_JVM_READER_H

#include "unwind/java_rule.h"

#include <sys/types.h>

struct jvm_reader;

/* proc: usually "/proc". */
struct jvm_reader *jvm_reader_new(const char *proc);
void jvm_reader_free(struct jvm_reader *reader);

/* What is known of a machine's code cache. */
struct jvm_code {
	uint64_t place; /* of the calls that read it (timed_call.h) */
	struct vm_layout layout;
	struct code_heaps heaps;
	struct method_entries entries;
};

/*
 * libjvm: the file; bias: what the process adds to its vaddrs. False if it is no HotSpot, is not
 * ready yet, or may not be read.
 */
bool jvm_reader_open(struct jvm_reader *reader, pid_t pid, const struct elf_file *libjvm,
		     uint64_t bias, struct jvm_code *ret);

enum { JVM_PCS_MAX = 64, JVM_CHECKS_MAX = 512 };

/* A piece of code, with what rules need around each of its addresses. */
enum { JVM_PIECE_LOG2 = 11 };
struct jvm_piece {
	unsigned char bytes[JAVA_CODE_BEFORE + (1 << JVM_PIECE_LOG2) + JAVA_CODE_AFTER];
};

struct jvm_look_up {
	/* Asked for. */
	uint64_t pcs[JVM_PCS_MAX];
	unsigned pc_count;
	struct code_blob checks[JVM_CHECKS_MAX];
	unsigned check_count;
	uint64_t code_pc; /* in the piece of code to read; 0: none */
	/* Answers. */
	struct code_blob blobs[JVM_PCS_MAX]; /* which hold the pcs; each may be there repeatedly */
	unsigned blob_count;
	bool is_valid[JVM_CHECKS_MAX];
	bool has_piece;
	struct jvm_piece piece; /* zeros where nothing can be read */
};

/* An empty question. It has the answers when jvm_reader_look_up() is true, until the next one. */
struct jvm_look_up *jvm_reader_ask(struct jvm_reader *reader);
/* Also updates the heaps, which grow. False if the process has ended or cannot be read. */
bool jvm_reader_look_up(struct jvm_reader *reader, pid_t pid, struct jvm_code *code);

#endif
