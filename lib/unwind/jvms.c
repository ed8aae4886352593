#include "unwind/jvms.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "unwind/jvm_reader.h"

#include <stdlib.h>
#include <string.h>

/* Maximum reading time per second. */
#define READ_PER_SECOND_NS (200 * NS_PER_MS)
/* How long a blob is used before it is checked again. */
#define VALID_NS (250 * NS_PER_MS)
/*
 * A blob that was used within this time is likely to be used again, so it is
 * checked together with others.
 */
#define USED_NS (5 * NS_PER_SECOND)
/* Retry interval for a process that is not a JVM or cannot be read. */
#define RETRY_NS (1 * NS_PER_SECOND)

/* Memory limits. Large programs have fewer methods than BLOBS_MAX. */
enum { JVMS_MAX = 1024, BLOBS_MAX = 256 << 10, PIECES_MAX = 8 << 10 };

struct known_blob {
	struct code_blob blob;
	uint64_t read_ns, used_ns;
	uint32_t serial; /* distinguishes the blob from others at the same address */
};

/* A pc that no blob contained or that could not be read. */
struct missing_pc {
	uint64_t pc, asked_ns;
};

struct jvm {
	struct jvms *jvms;
	pid_t pid;
	uint64_t used_ns; /* time of the current sample */
	struct location libjvm;
	bool is_open; /* the following members are valid */
	bool has_ended;
	uint64_t retry_ns; /* no attempt before this time */
	struct jvm_code code;
	struct known_blob *blobs; /* by start, without overlaps */
	uint32_t count, room;
	struct idmap piece_ids; /* by address and the serial of the blob: index into pieces */
	struct jvm_piece **pieces;
	uint32_t piece_count, piece_room;
	struct missing_pc missing[64]; /* by their hash */
};

struct jvms {
	struct address_spaces *spaces;
	struct jvm_reader *reader;
	struct jvm **all;
	uint32_t count, room;
	struct jvm *last;
	uint32_t serials;
	size_t blob_count, piece_count; /* totals */
	uint64_t second_ns, read_ns;	/* the current second, and the reading time in it */
	struct jvm_look_up *look_up;	/* the last successful lookup */
};

struct jvms *jvms_new(struct address_spaces *spaces, const char *proc)
{
	struct jvms *jvms = xcalloc(1, sizeof(*jvms));

	jvms->spaces = spaces;
	jvms->reader = jvm_reader_new(proc);
	return jvms;
}

/* Forgets the code of a machine. */
static void jvms_clear(struct jvm *jvm)
{
	jvm->jvms->blob_count -= jvm->count;
	jvm->jvms->piece_count -= jvm->piece_count;
	for (uint32_t i = 0; i < jvm->piece_count; i++)
		free(jvm->pieces[i]);
	free(jvm->pieces);
	free(jvm->blobs);
	idmap_deinit(&jvm->piece_ids);
	*jvm = (struct jvm){.jvms = jvm->jvms, .pid = jvm->pid, .used_ns = jvm->used_ns};
}

static void jvm_free(struct jvm *jvm)
{
	jvms_clear(jvm);
	free(jvm);
}

void jvms_free(struct jvms *jvms)
{
	if (!jvms)
		return;
	for (uint32_t i = 0; i < jvms->count; i++)
		jvm_free(jvms->all[i]);
	free(jvms->all);
	jvm_reader_free(jvms->reader);
	free(jvms);
}

/* --- Bounds --------------------------------------------------------------- */

static bool jvms_may_read(struct jvms *jvms)
{
	uint64_t now_ns = clock_now_ns();

	if (now_ns - jvms->second_ns >= NS_PER_SECOND) {
		jvms->second_ns = now_ns;
		jvms->read_ns = 0;
	}
	return jvms->read_ns < READ_PER_SECOND_NS;
}

/* Drops all known code if there is too much. Code in use will be read again. */
static void jvms_bound_memory(struct jvms *jvms)
{
	if (jvms->blob_count <= BLOBS_MAX && jvms->piece_count <= PIECES_MAX)
		return;
	for (uint32_t i = 0; i < jvms->count; i++)
		jvms_clear(jvms->all[i]);
}

static void jvms_forget_oldest(struct jvms *jvms)
{
	uint32_t oldest = 0;

	for (uint32_t i = 1; i < jvms->count; i++)
		if (jvms->all[i]->used_ns < jvms->all[oldest]->used_ns)
			oldest = i;
	jvm_free(jvms->all[oldest]);
	jvms->all[oldest] = jvms->all[--jvms->count];
}

/* --- Machines ------------------------------------------------------------- */

static struct jvm *jvm_of(struct jvms *jvms, pid_t pid)
{
	struct jvm *jvm;

	for (uint32_t i = 0; i < jvms->count; i++)
		if (jvms->all[i]->pid == pid)
			return jvms->all[i];
	if (jvms->count == JVMS_MAX)
		jvms_forget_oldest(jvms);
	jvm = xcalloc(1, sizeof(*jvm));
	jvm->jvms = jvms;
	jvm->pid = pid;
	GROW(jvms->all, jvms->count, jvms->room);
	return jvms->all[jvms->count++] = jvm;
}

/* The process may have executed another program in the meantime. */
static bool is_still_mapped(const struct jvm *jvm, uint64_t time_ns)
{
	struct location now;

	return address_spaces_locate(jvm->jvms->spaces, jvm->pid, time_ns, jvm->libjvm.start,
				     &now) &&
	       now.module == jvm->libjvm.module && now.start == jvm->libjvm.start;
}

static void open_jvm(struct jvm *jvm, uint64_t time_ns)
{
	struct jvms *jvms = jvm->jvms;
	uint64_t now_ns = clock_now_ns(), vaddr;
	const struct elf_file *elf;

	if (now_ns < jvm->retry_ns || !jvms_may_read(jvms))
		return;
	jvm->retry_ns = now_ns + RETRY_NS;
	if (!address_spaces_find_file(jvms->spaces, jvm->pid, time_ns, "libjvm.so", &jvm->libjvm))
		return;
	elf = address_spaces_module(jvms->spaces, jvm->libjvm.module)->elf;
	if (!elf || !elf_file_offset_to_vaddr(elf, jvm->libjvm.offset, &vaddr))
		return;
	jvm->is_open = jvm_reader_open(jvms->reader, jvm->pid, elf, jvm->libjvm.start - vaddr,
				       &jvm->code);
	jvms->read_ns += clock_now_ns() - now_ns;
}

struct jvm *jvms_find(struct jvms *jvms, pid_t pid, uint64_t time_ns)
{
	struct jvm *jvm = jvms->last;

	if (!jvm || jvm->pid != pid)
		jvm = jvms->last = jvm_of(jvms, pid);
	jvm->used_ns = time_ns;
	if (jvm->is_open && !is_still_mapped(jvm, time_ns))
		jvms_clear(jvm);
	jvms_bound_memory(jvms);
	if (!jvm->is_open)
		open_jvm(jvm, time_ns);
	return jvm->is_open ? jvm : NULL;
}

/* --- Blobs ---------------------------------------------------------------- */

/* Returns the number of blobs that start at or below the pc. */
static uint32_t jvms_rank(const struct jvm *jvm, uint64_t pc)
{
	uint32_t from = 0, until = jvm->count;

	while (from < until) {
		uint32_t middle = from + (until - from) / 2;

		if (jvm->blobs[middle].blob.start <= pc)
			from = middle + 1;
		else
			until = middle;
	}
	return from;
}

static struct known_blob *find_blob(const struct jvm *jvm, uint64_t pc)
{
	uint32_t index = jvms_rank(jvm, pc);

	return index && pc < jvm->blobs[index - 1].blob.end ? &jvm->blobs[index - 1] : NULL;
}

static void remove_blobs(struct jvm *jvm, uint32_t from, uint32_t until)
{
	if (from == until)
		return;
	memmove(jvm->blobs + from, jvm->blobs + until, (jvm->count - until) * sizeof(*jvm->blobs));
	jvm->jvms->blob_count -= until - from;
	jvm->count -= until - from;
}

/* Adds a blob and removes the known blobs that it overlaps. */
static void add_blob(struct jvm *jvm, const struct code_blob *blob, uint64_t now_ns)
{
	uint32_t index = jvms_rank(jvm, blob->start), until = index;

	if (index && jvm->blobs[index - 1].blob.end > blob->start)
		index--;
	while (until < jvm->count && jvm->blobs[until].blob.start < blob->end)
		until++;
	remove_blobs(jvm, index, until);
	GROW(jvm->blobs, jvm->count, jvm->room);
	memmove(jvm->blobs + index + 1, jvm->blobs + index,
		(jvm->count - index) * sizeof(*jvm->blobs));
	jvm->blobs[index] = (struct known_blob){.blob = *blob,
						.read_ns = now_ns,
						.used_ns = now_ns,
						.serial = ++jvm->jvms->serials};
	jvm->count++;
	jvm->jvms->blob_count++;
}

/* --- Reading -------------------------------------------------------------- */

static struct missing_pc *missing_at(struct jvm *jvm, uint64_t pc)
{
	return &jvm->missing[pc * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}

static void want(const struct jvm *jvm, struct jvm_look_up *ask, uint64_t pc)
{
	if (ask->pc_count == JVM_PCS_MAX || !code_heaps_find(&jvm->code.heaps, pc) ||
	    find_blob(jvm, pc))
		return;
	for (unsigned i = 0; i < ask->pc_count; i++)
		if (ask->pcs[i] == pc)
			return;
	ask->pcs[ask->pc_count++] = pc;
}

/*
 * Adds the other return addresses of the stack, and words that look like return
 * addresses.
 */
static void want_stack(const struct jvm *jvm, struct jvm_look_up *ask, struct bytes stack)
{
	while (bytes_left(&stack) >= sizeof(uint64_t))
		want(jvm, ask, bytes_u64(&stack) - 1);
}

/* Adds the blobs to check, starting with the pc's blob. */
static void want_checks(const struct jvm *jvm, struct jvm_look_up *ask, uint64_t pc)
{
	uint32_t first = jvms_rank(jvm, pc);

	if (first)
		first--;
	for (uint32_t i = 0; i < jvm->count && ask->check_count < JVM_CHECKS_MAX; i++) {
		const struct known_blob *known = &jvm->blobs[(first + i) % jvm->count];

		if (known->read_ns + VALID_NS / 2 < jvm->used_ns &&
		    known->used_ns + USED_NS >= jvm->used_ns)
			ask->checks[ask->check_count++] = known->blob;
	}
}

static void jvms_take(struct jvm *jvm, const struct jvm_look_up *answer, uint64_t now_ns)
{
	for (unsigned i = 0; i < answer->check_count; i++) {
		uint32_t index = jvms_rank(jvm, answer->checks[i].start) - 1;

		if (!answer->is_valid[i]) {
			remove_blobs(jvm, index, index + 1);
			continue;
		}
		jvm->blobs[index].read_ns = now_ns;
	}
	for (unsigned i = 0; i < answer->blob_count; i++)
		add_blob(jvm, &answer->blobs[i], now_ns);
}

/*
 * Looks up a pc together with other pcs and blobs. The answer is in
 * jvms->look_up. Returns false if this is not possible now.
 */
static bool jvms_look_up(struct jvm *jvm, const struct jvm_pc *at, uint64_t pc)
{
	struct jvms *jvms = jvm->jvms;
	struct jvm_look_up *ask;
	uint64_t now_ns = clock_now_ns();

	if (jvm->has_ended || !jvms_may_read(jvms))
		return false;
	ask = jvms->look_up = jvm_reader_ask(jvms->reader);
	ask->code_pc = at->pc;
	want(jvm, ask, pc);
	want_stack(jvm, ask, at->stack);
	want_checks(jvm, ask, pc);
	jvm->has_ended = !jvm_reader_look_up(jvms->reader, jvm->pid, &jvm->code);
	if (!jvm->has_ended)
		jvms_take(jvm, ask, now_ns);
	jvms->read_ns += clock_now_ns() - now_ns;
	return !jvm->has_ended;
}

static uint32_t *piece_of(struct jvm *jvm, const struct known_blob *known, uint64_t pc)
{
	return idmap_put(&jvm->piece_ids, pc >> JVM_PIECE_LOG2, known->serial);
}

/* Keeps the code that the last lookup has read at the pc. */
static void keep_piece(struct jvm *jvm, const struct known_blob *known, uint64_t pc)
{
	uint32_t *id = piece_of(jvm, known, pc);
	struct jvm_piece *kept;

	if (!jvm->jvms->look_up->has_piece || *id != IDMAP_NONE)
		return;
	kept = xmalloc(sizeof(*kept));
	*kept = jvm->jvms->look_up->piece;
	*id = jvm->piece_count;
	GROW(jvm->pieces, jvm->piece_count, jvm->piece_room);
	jvm->pieces[jvm->piece_count++] = kept;
	jvm->jvms->piece_count++;
}

static struct known_blob *blob_at(struct jvm *jvm, const struct jvm_pc *at, uint64_t pc)
{
	struct known_blob *known = find_blob(jvm, pc);
	struct missing_pc *missing = missing_at(jvm, pc);

	if (known) {
		known->used_ns = jvm->used_ns;
		if (known->read_ns + VALID_NS >= jvm->used_ns)
			return known;
	} else if (missing->pc == pc && missing->asked_ns + VALID_NS >= jvm->used_ns) {
		return NULL;
	}
	if (!jvms_look_up(jvm, at, pc))
		return known;
	known = find_blob(jvm, pc);
	if (!known)
		*missing = (struct missing_pc){.pc = pc, .asked_ns = jvm->used_ns};
	else if (java_rule_needs_code(&known->blob, at->is_return_address))
		keep_piece(jvm, known, at->pc);
	return known;
}

/* --- Rules ---------------------------------------------------------------- */

/* Returns the code at a pc of the blob. */
static bool jvms_code_at(struct jvm *jvm, const struct jvm_pc *at, struct known_blob *known,
			 struct java_code *ret)
{
	uint64_t in_piece = at->pc & ((1 << JVM_PIECE_LOG2) - 1);
	uint32_t serial = known->serial;
	uint32_t id = idmap_get(&jvm->piece_ids, at->pc >> JVM_PIECE_LOG2, serial);

	if (id == IDMAP_NONE) {
		if (!jvms_look_up(jvm, at, at->pc) || !jvm->jvms->look_up->has_piece)
			return false;
		/* The blob may have been replaced. */
		known = find_blob(jvm, at->pc - at->is_return_address);
		if (!known || known->serial != serial)
			return false;
		keep_piece(jvm, known, at->pc);
		id = jvm->piece_count - 1;
	}
	memcpy(ret, jvm->pieces[id]->bytes + in_piece, sizeof(*ret));
	return true;
}

bool jvm_rule(struct jvm *jvm, const struct jvm_pc *at, struct java_rule *ret)
{
	struct known_blob *known = blob_at(jvm, at, at->pc - at->is_return_address);
	struct java_code code;
	struct code_blob blob;

	if (!known)
		return false;
	blob = known->blob;
	if (!java_rule_needs_code(&blob, at->is_return_address))
		*ret = java_rule_at(&blob, &jvm->code.entries, at->pc, at->is_return_address, NULL);
	else if (jvms_code_at(jvm, at, known, &code))
		*ret = java_rule_at(&blob, &jvm->code.entries, at->pc, at->is_return_address,
				    &code);
	else
		return false;
	return true;
}
