#include "unwind/jvm_reader.h"

#include "base/alloc.h"
#include "base/cleanup.h"
#include "base/timed_call.h"
#include "proc/jit_map.h"
#include "proc/memory.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct jvm_reader {
	char *proc;
	struct timed_caller *caller;
	/*
	 * The last lookup, reused by the next. NULL if there is none or it was
	 * abandoned.
	 */
	struct jvm_reader_call *look_up;
};

/* A call on the other thread. It can outlive the reader. */
struct jvm_reader_call {
	struct timed_call call;
	struct vm_memory memory;
	pid_t pid;
	struct elf_file *libjvm; /* NULL if the call is a lookup */
	uint64_t bias;
	struct jvm_code code;
	struct jvm_look_up look_up;
	bool succeeded;
};

/* --- On the other thread -------------------------------------------------- */

static bool jvm_reader_read_process(const struct vm_memory *memory, uint64_t address, void *into,
				    size_t len)
{
	const struct jvm_reader_call *call =
		(const struct jvm_reader_call *)((const char *)memory -
						 offsetof(struct jvm_reader_call, memory));

	return memory_read(call->pid, address, into, len) == len;
}

static bool open_code(struct jvm_reader_call *call)
{
	struct jvm_code *code = &call->code;
	struct vm_symbols symbols;

	if (!vm_symbols_find(call->libjvm, &symbols) ||
	    !vm_layout_read(&call->memory, &symbols, call->bias, &code->layout) ||
	    !code_heaps_read(&call->memory, &code->layout, &code->heaps))
		return false;
	method_entries_read(&call->memory, &code->layout, &code->entries);
	return true;
}

static bool read_piece(const struct jvm_reader_call *call, uint64_t pc, struct jvm_piece *ret)
{
	uint64_t start = (pc >> JVM_PIECE_LOG2 << JVM_PIECE_LOG2) - JAVA_CODE_BEFORE;
	size_t before = pc - start;

	memset(ret, 0, sizeof(*ret));
	if (memory_read(call->pid, start, ret->bytes, sizeof(ret->bytes)) > before)
		return true;
	/* The heap may start between the two. */
	return memory_read(call->pid, pc, ret->bytes + before, sizeof(ret->bytes) - before) != 0;
}

/* Checks all blobs with one read. */
static void jvm_reader_check(struct jvm_reader_call *call)
{
	const struct vm_layout *layout = &call->code.layout;
	struct jvm_look_up *asked = &call->look_up;
	size_t len = code_header_bytes(layout);
	CLEANUP(free_ptr) unsigned char *headers = NULL;
	struct memory_part parts[JVM_CHECKS_MAX];

	memset(asked->is_valid, 0, sizeof(asked->is_valid));
	if (!asked->check_count || len > CODE_HEADER_BYTES_MAX)
		return;
	headers = xmalloc(asked->check_count * len);
	for (unsigned i = 0; i < asked->check_count; i++)
		parts[i] = (struct memory_part){asked->checks[i].block, headers + i * len, len,
						false};
	memory_read_parts(call->pid, parts, asked->check_count);
	for (unsigned i = 0; i < asked->check_count; i++) {
		const struct code_blob *blob = &asked->checks[i];
		const struct code_heap *heap = code_heaps_find(&call->code.heaps, blob->start);

		asked->is_valid[i] = parts[i].is_read && heap &&
				     code_blob_is_valid(layout, heap, blob,
							bytes_of(parts[i].into, len));
	}
}

static bool jvm_reader_look_up_pcs(struct jvm_reader_call *call)
{
	const struct vm_layout *layout = &call->code.layout;
	struct jvm_look_up *asked = &call->look_up;
	const struct code_heaps *heaps = &call->code.heaps;
	const struct code_heap *heap;

	if (!code_heaps_read(&call->memory, layout, &call->code.heaps))
		return false;
	for (unsigned i = 0; i < asked->pc_count; i++) {
		heap = code_heaps_find(heaps, asked->pcs[i]);
		if (heap && code_blob_find(&call->memory, layout, heap, asked->pcs[i],
					   &asked->blobs[asked->blob_count]))
			asked->blob_count++;
	}
	jvm_reader_check(call);
	asked->has_piece = asked->code_pc && read_piece(call, asked->code_pc, &asked->piece);
	return true;
}

static void jvm_reader_run(struct timed_call *timed)
{
	struct jvm_reader_call *call = (struct jvm_reader_call *)timed;

	call->succeeded = call->libjvm ? open_code(call) : jvm_reader_look_up_pcs(call);
}

static void jvm_reader_discard(struct timed_call *timed)
{
	struct jvm_reader_call *call = (struct jvm_reader_call *)timed;

	elf_file_free(call->libjvm);
	free(call);
}

/* --- On the caller's ------------------------------------------------------ */

struct jvm_reader *jvm_reader_new(const char *proc)
{
	struct jvm_reader *reader = xcalloc(1, sizeof(*reader));

	reader->proc = xstrdup(proc);
	reader->caller = timed_caller_new();
	return reader;
}

void jvm_reader_free(struct jvm_reader *reader)
{
	if (!reader)
		return;
	if (reader->look_up)
		jvm_reader_discard(&reader->look_up->call);
	timed_caller_free(reader->caller);
	free(reader->proc);
	free(reader);
}

/*
 * Identifies the user of the process to the timed calls, so that a user delays
 * only his own processes. For root and prof's user, identifies only the
 * process.
 */
static uint64_t jvm_reader_place_of(const struct jvm_reader *reader, pid_t pid)
{
	uid_t user = process_user(reader->proc, pid);

	return user == 0 || user == geteuid() ? UINT64_C(1) << 32 | (uint32_t)pid : user;
}

static struct jvm_reader_call *call_new(void)
{
	struct jvm_reader_call *call = xcalloc(1, sizeof(*call));

	call->call.run = jvm_reader_run;
	call->call.discard = jvm_reader_discard;
	call->memory.read = jvm_reader_read_process;
	return call;
}

bool jvm_reader_open(struct jvm_reader *reader, pid_t pid, const struct elf_file *libjvm,
		     uint64_t bias, struct jvm_code *ret)
{
	struct jvm_reader_call *call = call_new();
	bool succeeded;

	call->call.place = jvm_reader_place_of(reader, pid);
	call->pid = pid;
	call->code.place = call->call.place;
	call->libjvm = elf_file_share(libjvm);
	call->bias = bias;
	if (!timed_caller_run(reader->caller, &call->call))
		return false;
	succeeded = call->succeeded;
	*ret = call->code;
	jvm_reader_discard(&call->call);
	return succeeded;
}

struct jvm_look_up *jvm_reader_ask(struct jvm_reader *reader)
{
	struct jvm_look_up *look_up;

	if (!reader->look_up)
		reader->look_up = call_new();
	look_up = &reader->look_up->look_up;
	look_up->pc_count = look_up->check_count = look_up->blob_count = 0;
	look_up->code_pc = 0;
	return look_up;
}

bool jvm_reader_look_up(struct jvm_reader *reader, pid_t pid, struct jvm_code *code)
{
	struct jvm_reader_call *call = STEAL(reader->look_up);

	call->call.place = code->place;
	call->pid = pid;
	call->code = *code;
	if (!timed_caller_run(reader->caller, &call->call))
		return false;
	reader->look_up = call;
	if (call->succeeded)
		*code = call->code;
	return call->succeeded;
}
