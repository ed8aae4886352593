#include "proc/jitdump_format.h"

#define MAGIC UINT32_C(0x4a695444)
#define V8_PADDING UINT32_C(0xdeadbeef)

/* In the header's flags. */
enum { FLAG_OTHER_CLOCK = 1 };

bool jitdump_read_header(struct bytes from, struct jitdump_header *ret)
{
	uint32_t magic = bytes_u32(&from);
	uint32_t padding;

	bytes_skip(&from, 4); /* version */
	ret->size_bytes = bytes_u32(&from);
	ret->machine = bytes_u32(&from);
	padding = bytes_u32(&from);
	bytes_skip(&from, 4 + 8); /* process, time */
	ret->has_other_clock = bytes_u64(&from) & FLAG_OTHER_CLOCK;
	ret->is_v8 = padding == V8_PADDING;
	return bytes_ok(&from) && magic == MAGIC && ret->size_bytes >= JITDUMP_HEADER_BYTES;
}

bool jitdump_read_record(struct bytes from, struct jitdump_record *ret)
{
	ret->kind = bytes_u32(&from);
	ret->size_bytes = bytes_u32(&from);
	ret->time_ns = bytes_u64(&from);
	return bytes_ok(&from) && ret->size_bytes >= JITDUMP_RECORD_BYTES;
}

/* Load and move records start with the record header, process and thread. */
enum { BEFORE_ADDRESSES = JITDUMP_RECORD_BYTES + 8 };

bool jitdump_read_load(struct bytes from, struct jitdump_load *ret)
{
	const unsigned char *start = from.at;
	struct jitdump_record record;

	if (!jitdump_read_record(from, &record))
		return false;
	bytes_skip(&from, BEFORE_ADDRESSES + 8); /* includes an unused address in a file */
	ret->address = bytes_u64(&from);
	ret->size_bytes = bytes_u64(&from);
	bytes_skip(&from, 8); /* index */
	ret->name = bytes_text(&from);
	if (!bytes_ok(&from) || !ret->name.at)
		return false;
	ret->code_at = (uint64_t)(from.at - start);
	if (bytes_left(&ret->name) > JITDUMP_NAME_BYTES_MAX)
		ret->name.end = ret->name.at + JITDUMP_NAME_BYTES_MAX;
	return ret->size_bytes && ret->code_at <= record.size_bytes &&
	       ret->size_bytes <= record.size_bytes - ret->code_at &&
	       ret->address + ret->size_bytes > ret->address;
}

bool jitdump_read_move(struct bytes from, struct jitdump_move *ret)
{
	bytes_skip(&from, BEFORE_ADDRESSES + 8);
	ret->from = bytes_u64(&from);
	ret->to = bytes_u64(&from);
	ret->size_bytes = bytes_u64(&from);
	bytes_skip(&from, 8); /* index */
	return bytes_ok(&from) && ret->size_bytes && ret->to + ret->size_bytes > ret->to;
}

bool jitdump_is_named(struct bytes path)
{
	static const char before[] = "jit-", after[] = ".dump";
	const unsigned char *name = path.end;
	size_t digits = 0;

	while (name > path.at && name[-1] != '/')
		name--;
	path.at = name;
	if (!bytes_begin(path, before))
		return false;
	bytes_skip(&path, sizeof(before) - 1);
	while (bytes_left(&path) && *path.at >= '0' && *path.at <= '9') {
		path.at++;
		digits++;
	}
	return digits && bytes_are(path, after);
}
