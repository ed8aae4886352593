#include "perf/kernel_types.h"

#include "base/cleanup.h"
#include "base/read_all.h"

/* BTF files of some kernels have 10 MB. */
enum { KERNEL_TYPES_BYTES_MAX = 64 << 20 };

enum { MAGIC = 0xeb9f, HEADER_BYTES = 24 };

enum kernel_types_kind {
	KIND_STRUCT = 4,
	KINDS = 20,
};

/* Number of bytes after a type, in total and per element. */
static const struct {
	uint8_t own, each;
} kernel_types_kinds[KINDS] = {
	[1] = {.own = 4},    [3] = {.own = 12},	  [KIND_STRUCT] = {.each = 12},
	[5] = {.each = 12},  [6] = {.each = 8},	  [13] = {.each = 8},
	[14] = {.own = 4},   [15] = {.each = 12}, [17] = {.own = 4},
	[19] = {.each = 12},
};

static bool kernel_types_is_named(struct bytes strings, uint32_t offset, const char *name)
{
	struct bytes at = bytes_at(strings, offset);

	return bytes_are(bytes_text(&at), name);
}

/* has_sizes: the upper bits of an offset hold the size of a bit field. */
static bool kernel_types_find_member(struct bytes parts, struct bytes strings, bool has_sizes,
				     const char *member, uint32_t *ret)
{
	while (bytes_left(&parts)) {
		uint32_t name = bytes_u32(&parts), offset;

		bytes_skip(&parts, sizeof(uint32_t));
		offset = bytes_u32(&parts);
		if (!bytes_ok(&parts) || !kernel_types_is_named(strings, name, member))
			continue;
		*ret = (has_sizes ? offset & 0xffffff : offset) / 8;
		return true;
	}
	return false;
}

static bool kernel_types_search(struct bytes types, struct bytes strings, const char *structure,
				const char *member, uint32_t *ret)
{
	while (bytes_left(&types)) {
		uint32_t name = bytes_u32(&types), info = bytes_u32(&types);
		uint32_t kind = info >> 24 & 0x1f, parts = info & 0xffff;
		struct bytes content;

		bytes_skip(&types, sizeof(uint32_t));
		if (!bytes_ok(&types) || kind >= KINDS)
			return false;
		content = bytes_sub(&types,
				    kernel_types_kinds[kind].own +
					    (uint64_t)kernel_types_kinds[kind].each * parts);
		if (kind == KIND_STRUCT && kernel_types_is_named(strings, name, structure))
			return kernel_types_find_member(content, strings, info >> 31, member, ret);
	}
	return false;
}

bool kernel_types_member(struct bytes btf, const char *structure, const char *member, uint32_t *ret)
{
	struct bytes header = btf, types, strings;
	uint32_t header_bytes, types_at, types_bytes, strings_at, strings_bytes;

	if (bytes_u16(&header) != MAGIC)
		return false;
	bytes_skip(&header, sizeof(uint16_t)); /* version and flags */
	header_bytes = bytes_u32(&header);
	types_at = bytes_u32(&header);
	types_bytes = bytes_u32(&header);
	strings_at = bytes_u32(&header);
	strings_bytes = bytes_u32(&header);
	if (!bytes_ok(&header) || header_bytes < HEADER_BYTES)
		return false;
	types = bytes_at(btf, (uint64_t)header_bytes + types_at);
	strings = bytes_at(btf, (uint64_t)header_bytes + strings_at);
	types = bytes_sub(&types, types_bytes);
	strings = bytes_sub(&strings, strings_bytes);
	return bytes_ok(&types) && bytes_ok(&strings) &&
	       kernel_types_search(types, strings, structure, member, ret);
}

bool kernel_member_offset(const char *structure, const char *member, uint32_t *ret)
{
	CLEANUP(close_file) FILE *file = fopen("/sys/kernel/btf/vmlinux", "re");
	CLEANUP(free_ptr) char *bytes = NULL;
	size_t len = 0;

	return file && !read_all(file, KERNEL_TYPES_BYTES_MAX, &bytes, &len) &&
	       kernel_types_member(bytes_of(bytes, len), structure, member, ret);
}
