#include "perf/record.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

/* Fields at the end of a record that is not a sample, in this order. */
static const uint64_t trailer_types = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
				      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |
				      PERF_SAMPLE_IDENTIFIER;

/* Enumerators that older headers lack: PERF_FORMAT_LOST (Linux 6.0),
 * PERF_SAMPLE_BRANCH_COUNTERS (6.8) and PERF_SAMPLE_WEIGHT_STRUCT (5.12). */
static const uint64_t record_format_lost = 1U << 4;
static const uint64_t branch_counters = 1U << 19;
static const uint64_t weight_struct = 1U << 24;

/* perf defines the types from here on for its files. The kernel does not write
 * them, and they have no trailer. */
enum { FIRST_USER_TYPE = 64 };

/* PERF_RECORD_MISC_MMAP_BUILD_ID (Linux 5.12): a build-id replaces device and
 * inode. */
enum { MISC_BUILD_ID = 1 << 14 };

static void perf_record_take_ids(struct bytes *from, struct record *ret)
{
	ret->pid = (pid_t)bytes_u32(from);
	ret->tid = (pid_t)bytes_u32(from);
}

static uint32_t take_cpu(struct bytes *from)
{
	uint32_t cpu = bytes_u32(from);

	bytes_skip(from, sizeof(uint32_t)); /* reserved */
	return cpu;
}

/* PERF_CONTEXT_USER_DEFERRED (Linux 6.19), followed by a cookie. */
static const uint64_t context_user_deferred = (uint64_t)-640;

/* PERF_RECORD_CALLCHAIN_DEFERRED, Linux 6.19. */
enum { TYPE_CALLCHAIN_DEFERRED = 22 };

/* Removes the trailer from the end of the body. */
static bool take_trailer(const struct record_layout *layout, struct bytes *body, struct record *ret)
{
	uint64_t types = layout->bare ? 0 : layout->sample_type & trailer_types;
	size_t len = sizeof(uint64_t) * (size_t)__builtin_popcountll(types);
	struct bytes trailer;

	if (bytes_left(body) < len)
		return false;
	body->end -= len;
	trailer = bytes_of(body->end, len);
	if (types & PERF_SAMPLE_TID)
		perf_record_take_ids(&trailer, ret);
	if (types & PERF_SAMPLE_TIME)
		ret->time_ns = bytes_u64(&trailer);
	if (types & PERF_SAMPLE_ID)
		bytes_skip(&trailer, sizeof(uint64_t));
	if (types & PERF_SAMPLE_STREAM_ID)
		bytes_skip(&trailer, sizeof(uint64_t));
	if (types & PERF_SAMPLE_CPU)
		ret->cpu = take_cpu(&trailer);
	return true;
}

/* Returns the part of the chain for the addresses after a marker, or NULL if it
 * is neither the kernel's nor user space's. */
static struct bytes *chain_of_marker(uint64_t marker, struct record_sample *sample)
{
	switch (marker) {
	case PERF_CONTEXT_KERNEL:
		return &sample->kernel_chain;
	case PERF_CONTEXT_USER:
		return &sample->user_chain;
	default:
		return NULL;
	}
}

static void split_chain(struct bytes chain, struct record_sample *sample)
{
	struct bytes *part = sample->in_kernel ? &sample->kernel_chain : &sample->user_chain;

	while (bytes_left(&chain)) {
		const unsigned char *at = chain.at;
		uint64_t address = bytes_u64(&chain);

		if (address == context_user_deferred) {
			sample->is_chain_deferred = true;
			sample->chain_cookie = bytes_u64(&chain);
			part = NULL;
			continue;
		}
		if (address >= (uint64_t)PERF_CONTEXT_MAX) {
			part = chain_of_marker(address, sample);
			continue;
		}
		if (!part)
			continue;
		if (!part->at)
			*part = bytes_of(at, 0);
		/* The kernel does not split a part. If one were split, keep its
		 * first piece. */
		if (part->end == at)
			part->end = chain.at;
	}
}

static void skip_words(struct bytes *body, uint64_t count, unsigned words)
{
	if (count > bytes_left(body) / sizeof(uint64_t) / words)
		bytes_fail(body);
	else
		bytes_skip(body, count * words * sizeof(uint64_t));
}

/* Takes the counts of the event itself, or of all events of its group. The
 * latter are kept if they have ids. */
static void perf_record_take_values(struct bytes *body, uint64_t format,
				    struct record_sample *sample)
{
	static const uint64_t times = PERF_FORMAT_TOTAL_TIME_ENABLED |
				      PERF_FORMAT_TOTAL_TIME_RUNNING;
	unsigned each = 1U + (unsigned)__builtin_popcountll(format &
							    (PERF_FORMAT_ID | record_format_lost));
	uint64_t count = format & PERF_FORMAT_GROUP ? bytes_u64(body) : 1;

	struct bytes values;

	if (!(format & PERF_FORMAT_GROUP) && format & PERF_FORMAT_TOTAL_TIME_ENABLED) {
		values = bytes_at(*body, sizeof(uint64_t));
		sample->running_ns = bytes_u64(&values);
	}
	skip_words(body, (uint64_t)__builtin_popcountll(format & times), 1);
	values = *body;
	skip_words(body, count, each);
	if (!(format & PERF_FORMAT_GROUP) || !(format & PERF_FORMAT_ID) || !bytes_ok(body))
		return;
	sample->group_value_bytes = each * (unsigned)sizeof(uint64_t);
	sample->group_values = bytes_of(values.at, (size_t)(body->at - values.at));
}

static void take_branches(struct bytes *body, uint64_t type, struct record_sample *sample)
{
	uint64_t count = bytes_u64(body);
	struct bytes branches;

	if (type & PERF_SAMPLE_BRANCH_HW_INDEX)
		bytes_skip(body, sizeof(uint64_t));
	branches = *body;
	skip_words(body, count, sizeof(struct perf_branch_entry) / sizeof(uint64_t));
	if (!bytes_ok(body))
		return;
	sample->branches = bytes_of(branches.at, (size_t)(body->at - branches.at));
	sample->are_branches_calls = type & PERF_SAMPLE_BRANCH_CALL_STACK;
	if (type & branch_counters)
		skip_words(body, count, 1);
}

static void take_chain(struct bytes *body, struct record_sample *sample)
{
	uint64_t count = bytes_u64(body);

	if (count > bytes_left(body) / sizeof(uint64_t))
		bytes_fail(body);
	else
		split_chain(bytes_sub(body, count * sizeof(uint64_t)), sample);
}

uint64_t record_register(const struct record_regs *regs, unsigned bit)
{
	uint64_t below = regs->mask & ((UINT64_C(1) << bit) - 1);
	struct bytes at = bytes_at(regs->values,
				   sizeof(uint64_t) * (unsigned)__builtin_popcountll(below));

	return regs->mask >> bit & 1 ? bytes_u64(&at) : 0;
}

static void take_regs(struct bytes *body, uint64_t mask, struct record_regs *regs)
{
	regs->abi = bytes_u64(body);
	regs->mask = mask;
	if (regs->abi != PERF_SAMPLE_REGS_ABI_NONE)
		regs->values = bytes_sub(body,
					 sizeof(uint64_t) * (unsigned)__builtin_popcountll(mask));
}

static void perf_record_take_stack(struct bytes *body, struct bytes *stack)
{
	uint64_t room = bytes_u64(body);
	struct bytes dump;

	if (room == 0)
		return;
	dump = bytes_sub(body, room);
	*stack = bytes_sub(&dump, bytes_u64(body));
	if (!bytes_ok(stack))
		bytes_fail(body);
}

/* The latency is the whole PERF_SAMPLE_WEIGHT, or the lower half of
 * PERF_SAMPLE_WEIGHT_STRUCT. */
static uint64_t take_latency(struct bytes *body, uint64_t types)
{
	uint64_t weight = bytes_u64(body);

	return types & weight_struct ? (uint32_t)weight : weight;
}

static bool perf_record_decode_sample(const struct record_layout *layout, struct bytes body,
				      struct record *ret)
{
	struct record_sample *sample = &ret->sample;
	uint64_t types = layout->sample_type;

	sample->event = layout->event;
	sample->is_other_end = layout->is_other_end;
	if (types & PERF_SAMPLE_IDENTIFIER)
		bytes_skip(&body, sizeof(uint64_t));
	if (types & PERF_SAMPLE_IP)
		sample->ip = bytes_u64(&body);
	if (types & PERF_SAMPLE_TID)
		perf_record_take_ids(&body, ret);
	if (types & PERF_SAMPLE_TIME)
		ret->time_ns = bytes_u64(&body);
	if (types & PERF_SAMPLE_ADDR)
		sample->data_address = bytes_u64(&body);
	if (types & PERF_SAMPLE_ID)
		bytes_skip(&body, sizeof(uint64_t));
	if (types & PERF_SAMPLE_STREAM_ID)
		bytes_skip(&body, sizeof(uint64_t));
	if (types & PERF_SAMPLE_CPU)
		ret->cpu = take_cpu(&body);
	sample->period = types & PERF_SAMPLE_PERIOD ? bytes_u64(&body) : layout->period;
	if (layout->scale)
		sample->period *= layout->scale;
	if (types & PERF_SAMPLE_READ)
		perf_record_take_values(&body, layout->read_format, sample);
	if (types & PERF_SAMPLE_CALLCHAIN)
		take_chain(&body, sample);
	if (types & PERF_SAMPLE_RAW)
		sample->raw_data = bytes_sub(&body, bytes_u32(&body));
	if (types & PERF_SAMPLE_BRANCH_STACK)
		take_branches(&body, layout->branch_type, sample);
	if (types & PERF_SAMPLE_REGS_USER)
		take_regs(&body, layout->regs_mask, &sample->regs);
	if (types & PERF_SAMPLE_STACK_USER)
		perf_record_take_stack(&body, &sample->stack);
	if (types & (PERF_SAMPLE_WEIGHT | weight_struct))
		sample->latency_cycles = take_latency(&body, types);
	if (types & PERF_SAMPLE_DATA_SRC)
		sample->data_source = bytes_u64(&body);
	sample->dumped_bytes = bytes_left(&sample->stack);
	return bytes_ok(&body);
}

static void take_device(struct bytes *body, struct record_mmap *map)
{
	map->device_major = bytes_u32(body);
	map->device_minor = bytes_u32(body);
	map->inode = bytes_u64(body);
	map->generation = bytes_u64(body);
}

static void take_build_id(struct bytes *body, struct record_mmap *map)
{
	unsigned len = bytes_u8(body);
	const void *id = NULL;

	bytes_skip(body, 3); /* reserved */
	id = bytes_take(body, RECORD_BUILD_ID_MAX);
	if (!id || len > RECORD_BUILD_ID_MAX) {
		bytes_fail(body);
		return;
	}
	memcpy(map->build_id, id, len);
	map->build_id_bytes = len;
}

static void decode_mmap(uint32_t type, uint16_t misc, bool has_build_id, struct bytes *body,
			struct record *ret)
{
	struct record_mmap *map = &ret->mmap;

	ret->type = RECORD_MMAP;
	perf_record_take_ids(body, ret);
	map->start = bytes_u64(body);
	map->length_bytes = bytes_u64(body);
	map->offset = bytes_u64(body);
	map->executable = !(misc & PERF_RECORD_MISC_MMAP_DATA);
	if (type == PERF_RECORD_MMAP2) {
		if (has_build_id)
			take_build_id(body, map);
		else
			take_device(body, map);
		map->executable = bytes_u32(body) & PROT_EXEC;
		bytes_skip(body, sizeof(uint32_t)); /* flags */
	}
	map->path = bytes_cstr(body);
}

static void decode_comm(uint16_t misc, struct bytes *body, struct record *ret)
{
	ret->type = RECORD_COMM;
	perf_record_take_ids(body, ret);
	ret->comm.exec = misc & PERF_RECORD_MISC_COMM_EXEC;
	ret->comm.name = bytes_cstr(body);
}

/* FORK and EXIT have the same body: pid, parent's pid, tid, parent's tid,
 * time. */
static void decode_task(enum record_type type, uint16_t misc, struct bytes *body,
			struct record *ret)
{
	pid_t parent_pid = 0, parent_tid = 0;
	uint64_t time_ns = 0;

	ret->type = type;
	ret->pid = (pid_t)bytes_u32(body);
	parent_pid = (pid_t)bytes_u32(body);
	ret->tid = (pid_t)bytes_u32(body);
	parent_tid = (pid_t)bytes_u32(body);
	time_ns = bytes_u64(body);
	if (ret->time_ns == 0)
		ret->time_ns = time_ns;
	if (type == RECORD_FORK) {
		ret->fork.parent_pid = parent_pid;
		ret->fork.parent_tid = parent_tid;
		ret->fork.existing = misc & PERF_RECORD_MISC_FORK_EXEC;
	}
}

static void decode_lost(uint32_t type, struct bytes *body, struct record *ret)
{
	ret->type = RECORD_LOST;
	if (type == PERF_RECORD_LOST)
		bytes_skip(body, sizeof(uint64_t)); /* id */
	ret->lost.count = bytes_u64(body);
}

/* SWITCH has no body, because the thread is in the trailer. */
static void decode_switch(uint32_t type, uint16_t misc, struct bytes *body, struct record *ret)
{
	ret->type = RECORD_SWITCH;
	ret->switched.is_out = misc & PERF_RECORD_MISC_SWITCH_OUT;
	ret->switched.is_preempted = ret->switched.is_out &&
				     misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
	if (type == PERF_RECORD_SWITCH_CPU_WIDE) {
		ret->switched.other_pid = (pid_t)bytes_u32(body);
		ret->switched.other_tid = (pid_t)bytes_u32(body);
	}
}

static void decode_cgroup(struct bytes *body, struct record *ret)
{
	ret->type = RECORD_CGROUP;
	ret->cgroup.id = bytes_u64(body);
	ret->cgroup.path = bytes_cstr(body);
}

static void decode_text_poke(struct bytes *body, struct record *ret)
{
	struct record_text_poke *poke = &ret->text_poke;
	uint16_t old_len, new_len;

	ret->type = RECORD_TEXT_POKE;
	poke->address = bytes_u64(body);
	old_len = bytes_u16(body);
	new_len = bytes_u16(body);
	poke->old_code = bytes_sub(body, old_len);
	poke->new_code = bytes_sub(body, new_len);
}

static void decode_ksymbol(struct bytes *body, struct record *ret)
{
	ret->type = RECORD_KSYMBOL;
	ret->ksymbol.address = bytes_u64(body);
	ret->ksymbol.length_bytes = bytes_u32(body);
	bytes_skip(body, sizeof(uint16_t)); /* the kind: BPF or out of line */
	ret->ksymbol.is_removed = bytes_u16(body) & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER;
	ret->ksymbol.name = bytes_cstr(body);
}

static void decode_bpf_event(struct bytes *body, struct record *ret)
{
	struct record_bpf_event *event = &ret->bpf_event;
	const void *tag;

	ret->type = RECORD_BPF_EVENT;
	event->is_unloaded = bytes_u16(body) == PERF_BPF_EVENT_PROG_UNLOAD;
	bytes_skip(body, sizeof(uint16_t)); /* flags */
	event->id = bytes_u32(body);
	tag = bytes_take(body, sizeof(event->tag));
	if (tag)
		memcpy(event->tag, tag, sizeof(event->tag));
}

/* The addresses are in user space, with or without a leading
 * PERF_CONTEXT_USER. */
static void decode_deferred_chain(struct bytes *body, struct record *ret)
{
	struct record_sample unused = {0};

	ret->type = RECORD_DEFERRED_CHAIN;
	ret->deferred_chain.cookie = bytes_u64(body);
	take_chain(body, &unused);
	ret->deferred_chain.chain = unused.user_chain;
}

static void decode_other(const struct record_layout *layout, uint32_t type, uint16_t misc,
			 struct bytes *body, struct record *ret)
{
	switch (type) {
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		decode_mmap(type, misc, layout->build_ids && misc & MISC_BUILD_ID, body, ret);
		break;
	case PERF_RECORD_COMM:
		decode_comm(misc, body, ret);
		break;
	case PERF_RECORD_FORK:
		decode_task(RECORD_FORK, misc, body, ret);
		break;
	case PERF_RECORD_EXIT:
		decode_task(RECORD_EXIT, misc, body, ret);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		decode_lost(type, body, ret);
		break;
	case PERF_RECORD_THROTTLE:
		ret->type = RECORD_THROTTLE;
		break;
	case PERF_RECORD_SWITCH:
	case PERF_RECORD_SWITCH_CPU_WIDE:
		decode_switch(type, misc, body, ret);
		break;
	case PERF_RECORD_CGROUP:
		decode_cgroup(body, ret);
		break;
	case PERF_RECORD_TEXT_POKE:
		decode_text_poke(body, ret);
		break;
	case PERF_RECORD_KSYMBOL:
		decode_ksymbol(body, ret);
		break;
	case PERF_RECORD_BPF_EVENT:
		decode_bpf_event(body, ret);
		break;
	case TYPE_CALLCHAIN_DEFERRED:
		decode_deferred_chain(body, ret);
		break;
	default:
		break;
	}
}

bool record_decode(const struct record_layout *layout, struct bytes raw, struct record *ret)
{
	size_t total = bytes_left(&raw);
	uint32_t type;
	uint16_t misc, size;

	*ret = (struct record){.type = RECORD_OTHER, .raw = raw};
	type = bytes_u32(&raw);
	misc = bytes_u16(&raw);
	size = bytes_u16(&raw);
	if (!bytes_ok(&raw) || size != total)
		return false;
	if (type >= FIRST_USER_TYPE)
		return true;
	if (type == PERF_RECORD_SAMPLE) {
		ret->type = RECORD_SAMPLE;
		ret->sample.in_kernel = (misc & PERF_RECORD_MISC_CPUMODE_MASK) ==
					PERF_RECORD_MISC_KERNEL;
		return perf_record_decode_sample(layout, raw, ret);
	}
	if (!take_trailer(layout, &raw, ret))
		return false;
	decode_other(layout, type, misc, &raw, ret);
	return bytes_ok(&raw);
}

/*
 * Finds one field without decoding the record. In samples it follows the fields
 * in `before`; in the trailer of other records, `to_end` are the field and all
 * fields after it.
 */
static bool perf_record_find_field(const struct record_layout *layout, struct bytes raw,
				   uint64_t before, uint64_t to_end, uint64_t *ret)
{
	uint32_t type = bytes_u32(&raw);
	size_t ahead = sizeof(uint64_t) *
		       (size_t)__builtin_popcountll(layout->sample_type & before);
	size_t behind = sizeof(uint64_t) *
			(size_t)__builtin_popcountll(layout->sample_type & to_end);

	bytes_skip(&raw, sizeof(uint32_t)); /* misc, size */
	if (type == PERF_RECORD_SAMPLE)
		bytes_skip(&raw, ahead);
	else if (type < FIRST_USER_TYPE && !layout->bare && bytes_left(&raw) >= behind)
		raw.at = raw.end - behind;
	else
		return false;
	*ret = bytes_u64(&raw);
	return bytes_ok(&raw);
}

bool record_id(const struct record_layout *layout, struct bytes raw, uint64_t *ret)
{
	if (layout->sample_type & PERF_SAMPLE_IDENTIFIER)
		return perf_record_find_field(layout, raw, 0, PERF_SAMPLE_IDENTIFIER, ret);
	if (layout->sample_type & PERF_SAMPLE_ID)
		return perf_record_find_field(
			layout, raw,
			PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
			PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU, ret);
	return false;
}

bool record_time(const struct record_layout *layout, struct bytes raw, uint64_t *ret)
{
	return layout->sample_type & PERF_SAMPLE_TIME &&
	       perf_record_find_field(layout, raw,
				      PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID,
				      trailer_types & ~(uint64_t)PERF_SAMPLE_TID, ret);
}
