#include "inside/decode.h"

#include <string.h>

enum { ABI_64 = 2 }; /* PERF_SAMPLE_REGS_ABI_64 */

static bool decode_take_stack(struct bytes *from, unsigned pc_bit, struct record_sample *ret)
{
	uint64_t mask = bytes_u64(from);
	uint64_t stack_bytes = bytes_u64(from);

	ret->regs = (struct record_regs){.abi = ABI_64, .mask = mask};
	ret->regs.values = bytes_sub(from, 8 * (uint64_t)__builtin_popcountll(mask));
	ret->stack = bytes_sub(from, stack_bytes);
	ret->dumped_bytes = stack_bytes;
	if (!bytes_ok(from) || !(mask >> pc_bit & 1))
		return false;
	ret->ip = record_register(&ret->regs, pc_bit);
	return true;
}

static bool decode_cpu(struct bytes body, unsigned pc_bit, struct record *ret)
{
	ret->type = RECORD_SAMPLE;
	ret->sample.period = bytes_u64(&body);
	return decode_take_stack(&body, pc_bit, &ret->sample);
}

static bool decode_alloc(const struct agent_ring_record *from, unsigned pc_bit, struct record *ret)
{
	struct bytes body = from->body;

	ret->type = RECORD_ALLOC;
	ret->allocation.address = bytes_u64(&body);
	ret->allocation.size_bytes = bytes_u64(&body);
	ret->allocation.period_bytes = bytes_u64(&body);
	ret->allocation.is_untracked = from->flags & INSIDE_ALLOC_UNTRACKED;
	ret->allocation.is_mapping = from->flags & INSIDE_ALLOC_MAPPING;
	return decode_take_stack(&body, pc_bit, &ret->sample);
}

static bool decode_free(struct bytes body, struct record *ret)
{
	ret->type = RECORD_FREE;
	ret->allocation.address = bytes_u64(&body);
	ret->allocation.size_bytes = bytes_u64(&body);
	return bytes_ok(&body);
}

bool inside_decode(const struct agent_ring_record *from, unsigned pc_bit, struct record *ret)
{
	*ret = (struct record){.pid = from->pid, .tid = from->tid, .time_ns = from->time_ns};
	switch (from->type) {
	case INSIDE_CPU:
		return decode_cpu(from->body, pc_bit, ret);
	case INSIDE_ALLOC:
		return decode_alloc(from, pc_bit, ret);
	case INSIDE_FREE:
		return decode_free(from->body, ret);
	default:
		return false;
	}
}

bool inside_decode_start(const struct agent_ring_record *from, struct inside_beginning *ret)
{
	struct bytes body = from->body;
	const char *name;

	*ret = (struct inside_beginning){.parent = (pid_t)bytes_u32(&body)};
	ret->is_exec = from->flags & INSIDE_START_EXEC;
	bytes_u32(&body);
	name = bytes_take(&body, sizeof(ret->name));
	if (!name || ret->parent < 0)
		return false;
	memcpy(ret->name, name, sizeof(ret->name) - 1);
	return true;
}

bool inside_decode_maps(const struct agent_ring_record *from, struct bytes *ret)
{
	struct bytes body = from->body;
	uint32_t text_bytes = bytes_u32(&body);

	bytes_u32(&body);
	*ret = bytes_sub(&body, text_bytes);
	return bytes_ok(&body);
}
