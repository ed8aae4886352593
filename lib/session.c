#include "session.h"

#include "base/alloc.h"
#include "base/idmap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Where more than the copy was not enough, so much more may be. */
enum { CUT_OFF_BYTES = 1 << 20 };

struct session {
	struct spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	const struct arch *arch;
	struct unwinder *compat; /* of arch->compat; NULL: not needed yet */
	struct profile *profile;
	struct session_counts counts;
	struct stack_extent extent; /* of the last record */

	struct idmap threads; /* (pid and tid) → thread_id, until a name changes */
	/* (pid, 0) → which of its threads live, see threads_of(); (pid, tid) → this one does, if it
	 * is not the first */
	struct idmap processes;
	pid_t main_pid;	   /* whose program is the main module … */
	bool main_awaited; /* … which is the first file it maps from now on */
	module_id main_module;
	char *main_path; /* or the module of this name; NULL: none */

	struct frame *frames; /* of one walk, leaf first */
	unsigned depth;	      /* room for so many */
};

struct session *session_new(struct spaces *spaces, struct names *names, struct unwinder *unwinder,
			    const struct arch *arch, struct profile *profile)
{
	struct session *session = xcalloc(1, sizeof(*session));

	session->spaces = spaces;
	session->names = names;
	session->unwinder = unwinder;
	session->arch = arch;
	session->profile = profile;
	session->main_module = UINT32_MAX;
	session_set_depth(session, UNWIND_DEPTH_MAX);
	return session;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	idmap_deinit(&session->threads);
	idmap_deinit(&session->processes);
	free(session->main_path);
	free(session->frames);
	unwinder_free(session->compat);
	free(session);
}

const struct session_counts *session_counts(const struct session *session)
{
	return &session->counts;
}

struct stack_extent session_stack_extent(const struct session *session)
{
	return session->extent;
}

void session_set_depth(struct session *session, unsigned frames)
{
	session->depth = frames;
	session->frames = xreallocarray(session->frames, frames, sizeof(*session->frames));
}

void session_set_main_process(struct session *session, pid_t pid)
{
	session->main_pid = pid;
	session->main_awaited = true;
}

void session_set_main_path(struct session *session, const char *path)
{
	free(session->main_path);
	session->main_path = xstrdup(path);
}

/* Names change seldom: then all threads are asked for theirs again. */
static void threads_changed(struct session *session)
{
	idmap_deinit(&session->threads);
}

static thread_id thread_of(struct session *session, pid_t pid, pid_t tid)
{
	uint32_t *thread = idmap_put(&session->threads,
				     (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid, 0);

	if (*thread == IDMAP_NONE)
		*thread = profile_thread(session->profile, pid, tid,
					 names_get(session->names, pid, pid),
					 names_get(session->names, pid, tid));
	return *thread;
}

static stack_id push_user(struct session *session, stack_id stack, const struct frame *frame)
{
	return profile_push(session->profile, stack,
			    profile_frame(session->profile, frame->module, frame->offset,
					  frame->is_return_address));
}

static stack_id push_user_pc(struct session *session, const struct record *record, stack_id stack,
			     uint64_t pc, bool is_return_address)
{
	struct location location;

	spaces_locate(session->spaces, record->pid, record->time_ns, pc - is_return_address,
		      &location);
	return push_user(session, stack,
			 &(struct frame){.module = location.module,
					 .offset = location.offset + is_return_address,
					 .is_return_address = is_return_address});
}

enum { ABI_NONE = 0, ABI_32 = 1 }; /* PERF_SAMPLE_REGS_ABI_* */

/* NULL: the registers are not there, or of a machine that we do not unwind. */
static const struct arch *arch_of(const struct session *session, const struct record_sample *sample)
{
	if (sample->regs.abi == ABI_NONE)
		return NULL;
	return sample->regs.abi == ABI_32 ? session->arch->compat : session->arch;
}

static struct unwinder *unwinder_of(struct session *session, const struct arch *arch)
{
	if (arch == session->arch)
		return session->unwinder;
	if (!session->compat)
		session->compat = unwinder_new(session->spaces, arch);
	return session->compat;
}

/* True when it leads to the root. */
static bool unwind(struct session *session, const struct record *record, const struct regs *regs,
		   struct call_chain *chain)
{
	const struct record_sample *sample = &record->sample;
	const struct arch *arch = arch_of(session, sample);
	struct unwinder *unwinder = unwinder_of(session, arch);
	bool complete = unwinder_walk(unwinder, record->pid, record->time_ns, regs, sample->stack,
				      chain) == UNWIND_ROOT;
	bool deep = chain->needed_bytes > sample->dumped_bytes;
	uint64_t sp = regs->values[arch->sp];

	if (!complete &&
	    unwinder_join(unwinder, record->pid, record->time_ns, sample->user_chain, chain)) {
		session->counts.joined++;
		return true;
	}
	session->extent = (struct stack_extent){.is_whole = complete, .is_deep = deep};
	session->counts.deep += deep;
	session->counts.completed += complete && deep;
	if (complete && chain->needed_bytes)
		session->extent.end = sp + chain->needed_bytes;
	else if (bytes_left(&sample->stack) > sample->dumped_bytes)
		session->extent.end = sp + chain->needed_bytes + CUT_OFF_BYTES;
	return complete;
}

static stack_id push_note(struct session *session, stack_id stack, const char *text)
{
	return profile_push(session->profile, stack, profile_note(session->profile, text));
}

/* The user part by its registers and the copied stack. */
static stack_id push_unwound(struct session *session, const struct record *record,
			     const struct regs *regs, stack_id stack)
{
	struct call_chain chain = {.frames = session->frames, .room = session->depth};

	session->counts.user_stacks++;
	if (!unwind(session, record, regs, &chain)) {
		session->counts.truncated++;
		stack = push_note(session, stack, "[truncated]");
	}
	for (unsigned i = chain.count; i-- > 0;) {
		stack = push_user(session, stack, &chain.frames[i]);
		if (chain.left_out && i == chain.gap) {
			char text[40];

			snprintf(text, sizeof(text), "[%" PRIu64 " frames]", chain.left_out);
			stack = push_note(session, stack, text);
		}
	}
	return stack;
}

static uint64_t chain_at(const struct bytes *chain, size_t index)
{
	struct bytes at = bytes_at(*chain, index * sizeof(uint64_t));

	return bytes_u64(&at);
}

/*
 * Code that keeps no frame pointers leads the kernel astray: what it found behind the first address
 * that is no code is not believed.
 */
static size_t believable(struct session *session, const struct record *record, size_t count)
{
	struct location location;

	for (size_t i = 1; i < count; i++)
		if (!spaces_locate(session->spaces, record->pid, record->time_ns,
				   chain_at(&record->sample.user_chain, i) - 1, &location))
			return i;
	return count;
}

/* The user part as the kernel found it by frame pointers: leaf first, return addresses behind it.
 */
static stack_id push_user_chain(struct session *session, const struct record *record,
				stack_id stack)
{
	const struct bytes *chain = &record->sample.user_chain;
	size_t all = bytes_left(chain) / sizeof(uint64_t);
	size_t count = believable(session, record, all);

	/* A return address of 0 is the root. */
	if (count < all && chain_at(chain, count) != 0) {
		session->counts.truncated++;
		stack = profile_push(session->profile, stack,
				     profile_note(session->profile, "[truncated]"));
	}
	for (size_t i = count; i-- > 0;)
		stack = push_user_pc(session, record, stack, chain_at(chain, i), i > 0);
	return stack;
}

static stack_id push_kernel(struct session *session, const struct record_sample *sample,
			    stack_id stack)
{
	module_id kernel = spaces_kernel(session->spaces);
	size_t count = bytes_left(&sample->kernel_chain) / sizeof(uint64_t);

	if (!count)
		return profile_push(session->profile, stack,
				    profile_frame(session->profile, kernel, sample->ip, false));
	for (size_t i = count; i-- > 0;)
		stack = profile_push(session->profile, stack,
				     profile_frame(session->profile, kernel,
						   chain_at(&sample->kernel_chain, i), i > 0));
	return stack;
}

/*
 * Until an exec enters the new program, the registers are still those of the old one, whose memory
 * is gone: nothing is mapped where they point.
 */
static bool is_in_exec(struct session *session, const struct record *record, uint64_t pc)
{
	struct location location;

	return record->sample.in_kernel &&
	       !spaces_locate(session->spaces, record->pid, record->time_ns, pc, &location);
}

static stack_id push_user_part(struct session *session, const struct record *record, stack_id stack)
{
	const struct record_sample *sample = &record->sample;
	const struct arch *arch = arch_of(session, sample);
	struct regs regs;

	session->counts.compat += sample->regs.abi == ABI_32;
	if (bytes_left(&sample->user_chain) && !bytes_left(&sample->stack))
		return is_in_exec(session, record, chain_at(&sample->user_chain, 0))
			       ? stack
			       : push_user_chain(session, record, stack);
	if (arch && regs_from_perf(arch, sample->regs.mask, sample->regs.values, &regs) &&
	    !is_in_exec(session, record, regs.pc))
		return push_unwound(session, record, &regs, stack);
	return sample->in_kernel ? stack : push_user_pc(session, record, stack, sample->ip, false);
}

static void feed_sample(struct session *session, const struct record *record)
{
	const struct record_sample *sample = &record->sample;
	stack_id stack = STACK_EMPTY;
	uint32_t cell;

	/* The idle task of a CPU: nobody's time. */
	if (record->pid == 0)
		return;
	stack = push_user_part(session, record, stack);
	if (sample->in_kernel || bytes_left(&sample->kernel_chain))
		stack = push_kernel(session, sample, stack);
	session->counts.samples++;
	cell = profile_add(session->profile, thread_of(session, record->pid, record->tid), stack,
			   sample->event, sample->period);
	profile_add_moment(session->profile, &(struct profile_moment){.time_ns = record->time_ns,
								      .cell = cell,
								      .cpu = record->cpu});
}

static void mark(struct session *session, const struct record *record,
		 enum profile_marker_kind kind, const char *text, uint64_t count)
{
	struct profile_marker marker = {
		.kind = kind,
		.time_ns = record->time_ns,
		.cpu = record->cpu,
		.pid = record->pid,
		.tid = record->tid,
		.text = strtab_add(profile_strings(session->profile), text),
		.count = count,
	};

	profile_add_marker(session->profile, &marker);
}

static void feed_mmap(struct session *session, const struct record *record)
{
	const struct record_mmap *mmap = &record->mmap;
	struct mapping mapping = {
		.start = mmap->start,
		.end = mmap->start + mmap->length_bytes,
		.offset = mmap->offset,
		.device_major = mmap->device_major,
		.device_minor = mmap->device_minor,
		.inode = mmap->inode,
		.build_id.len = mmap->build_id_bytes,
		.path = mmap->path,
	};

	if (!mmap->executable)
		return;
	memcpy(mapping.build_id.bytes, mmap->build_id, mmap->build_id_bytes);
	spaces_map(session->spaces, record->pid, record->time_ns, &mapping);
	/* The kernel maps the program before its interpreter and its libraries. */
	if (session->main_awaited && record->pid == session->main_pid) {
		struct location location;

		session->main_awaited = !spaces_locate(session->spaces, record->pid,
						       record->time_ns, mmap->start, &location);
		session->main_module = location.module;
	}
}

/* A process: whether its first thread has ended, and so many others that we have heard of. */
enum { FIRST_ENDED = 1, ONE_OTHER = 2 };

static uint32_t *threads_of(struct session *session, pid_t pid)
{
	uint32_t *threads = idmap_put(&session->processes, (uint64_t)pid, 0);

	if (*threads == IDMAP_NONE)
		*threads = 0;
	return threads;
}

void session_add_thread(struct session *session, pid_t pid, pid_t tid)
{
	uint32_t *lives;

	if (tid == pid)
		return;
	lives = idmap_put(&session->processes, (uint64_t)pid, (uint32_t)tid);
	if (*lives != IDMAP_NONE)
		return;
	*lives = 1;
	*threads_of(session, pid) += ONE_OTHER;
}

static void remove_thread(struct session *session, pid_t pid, pid_t tid)
{
	if (idmap_get(&session->processes, (uint64_t)pid, (uint32_t)tid) == IDMAP_NONE)
		return;
	idmap_remove(&session->processes, (uint64_t)pid, (uint32_t)tid);
	*threads_of(session, pid) -= ONE_OTHER;
}

static void feed_fork(struct session *session, const struct record *record)
{
	names_fork(session->names, record->fork.parent_tid, record->tid);
	threads_changed(session);
	if (record->pid == record->fork.parent_pid) {
		session_add_thread(session, record->pid, record->tid);
	} else if (!record->fork.existing) {
		idmap_remove(&session->processes, (uint64_t)record->pid, 0);
		spaces_fork(session->spaces, record->fork.parent_pid, record->pid, record->time_ns);
		mark(session, record, PROFILE_MARKER_FORK,
		     names_get(session->names, record->pid, record->pid), 0);
	}
}

static bool ends_process(struct session *session, const struct record *record)
{
	/* They end in any order, also where exit_group(2) ends all. */
	if (record->tid == record->pid)
		*threads_of(session, record->pid) |= FIRST_ENDED;
	else
		remove_thread(session, record->pid, record->tid);
	return *threads_of(session, record->pid) == FIRST_ENDED;
}

static void feed_exit(struct session *session, const struct record *record)
{
	/* The first one's name is the process's. */
	if (record->tid != record->pid)
		names_exit(session->names, record->tid, record->time_ns);
	if (!ends_process(session, record))
		return;
	mark(session, record, PROFILE_MARKER_EXIT,
	     names_get(session->names, record->pid, record->pid), 0);
	idmap_remove(&session->processes, (uint64_t)record->pid, 0);
	names_exit(session->names, record->pid, record->time_ns);
	spaces_exit(session->spaces, record->pid, record->time_ns);
}

static void feed_comm(struct session *session, const struct record *record)
{
	session_add_thread(session, record->pid, record->tid);
	names_set(session->names, record->tid, record->comm.name);
	threads_changed(session);
	if (!record->comm.exec)
		return;
	mark(session, record, PROFILE_MARKER_EXEC, record->comm.name, 0);
	idmap_remove(&session->processes, (uint64_t)record->pid, 0);
	spaces_exec(session->spaces, record->pid, record->time_ns);
	if (record->pid == session->main_pid)
		session->main_awaited = true;
}

void session_feed(struct session *session, const struct record *record)
{
	session->extent = (struct stack_extent){.end = 0};
	switch (record->type) {
	case RECORD_SAMPLE:
		feed_sample(session, record);
		break;
	case RECORD_MMAP:
		feed_mmap(session, record);
		break;
	case RECORD_COMM:
		feed_comm(session, record);
		break;
	case RECORD_FORK:
		feed_fork(session, record);
		break;
	case RECORD_EXIT:
		feed_exit(session, record);
		break;
	case RECORD_LOST:
		session->counts.lost += record->lost.count;
		mark(session, record, PROFILE_MARKER_LOST, "", record->lost.count);
		break;
	case RECORD_THROTTLE:
		session->counts.throttled++;
		mark(session, record, PROFILE_MARKER_THROTTLED, "", 0);
		break;
	case RECORD_OTHER:
		break;
	}
}

void session_forget(struct session *session, uint64_t before_ns)
{
	spaces_forget(session->spaces, before_ns);
	names_forget(session->names, before_ns);
}

static enum profile_module_kind kind_of(enum module_kind kind)
{
	switch (kind) {
	case MODULE_FILE:
		return PROFILE_MODULE_FILE;
	case MODULE_KERNEL:
		return PROFILE_MODULE_KERNEL;
	case MODULE_VDSO:
		return PROFILE_MODULE_VDSO;
	case MODULE_JIT:
		return PROFILE_MODULE_JIT;
	case MODULE_UNKNOWN:
		break;
	}
	return PROFILE_MODULE_UNKNOWN;
}

static string_id build_id_text(struct strtab *strings, const struct build_id *id)
{
	char hex[BUILD_ID_HEX_BYTES];

	build_id_hex(id, hex);
	return strtab_add(strings, hex);
}

static bool is_main(const struct session *session, module_id id)
{
	return id == session->main_module ||
	       (session->main_path &&
		!strcmp(session->main_path, spaces_module(session->spaces, id)->path));
}

static void describe_module(struct session *session, module_id id)
{
	const struct module *module = spaces_module(session->spaces, id);
	struct strtab *strings = profile_strings(session->profile);
	CLEANUP(free_ptr) struct profile_segment *segments = NULL;
	struct profile_module description = {
		.kind = kind_of(module->kind),
		.path = strtab_add(strings, module->path),
		.pid = module->pid,
		.is_main = is_main(session, id),
	};
	const struct image_segment *all;
	unsigned count;

	if (module->image) {
		description.build_id = build_id_text(strings, image_build_id(module->image));
		all = image_segments(module->image, &count);
		segments = xcalloc(count, sizeof(*segments));
		for (unsigned i = 0; i < count; i++)
			if (all[i].executable)
				segments[description.segment_count++] = (struct profile_segment){
					all[i].offset, all[i].vaddr, all[i].file_bytes};
		description.segments = segments;
	}
	profile_describe_module(session->profile, id, &description);
}

static bool is_described(const struct session *session, module_id id)
{
	const struct profile_module *description = profile_get_module(session->profile, id);

	return description->path &&
	       (description->segment_count || !spaces_module(session->spaces, id)->image);
}

void session_finish(struct session *session)
{
	uint32_t count = spaces_module_count(session->spaces);
	CLEANUP(free_ptr) bool *used = xcalloc(count, sizeof(*used));

	for (frame_id i = 0; i < profile_frame_count(session->profile); i++) {
		uint32_t module = profile_get_frame(session->profile, i).module;

		if (module < count)
			used[module] = true;
	}
	for (module_id id = 0; id < count; id++)
		/* The program that was asked about, even when it only waited for others. */
		if ((used[id] || is_main(session, id)) && !is_described(session, id))
			describe_module(session, id);
}
