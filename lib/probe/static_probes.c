#include "probe/static_probes.h"

/* The type of these notes. */
enum { NOTE_TYPE = 3 };

static void take_padded(struct bytes *from, uint32_t len, struct bytes *ret)
{
	uint64_t padding = -(uint64_t)len & 3;

	*ret = bytes_sub(from, len);
	/* The last note may lack padding. */
	bytes_skip(from, padding < bytes_left(from) ? padding : bytes_left(from));
}

static uint64_t static_probes_take_word(struct bytes *from, bool is_32)
{
	return is_32 ? bytes_u32(from) : bytes_u64(from);
}

static bool read_probe(struct bytes content, bool is_32, uint64_t base, struct static_probe *ret)
{
	uint64_t vaddr = static_probes_take_word(&content, is_32),
		 base_then = static_probes_take_word(&content, is_32);
	uint64_t semaphore = static_probes_take_word(&content, is_32);
	uint64_t moved = base && base_then ? base - base_then : 0;

	*ret = (struct static_probe){
		.vaddr = vaddr + moved,
		.semaphore_vaddr = semaphore ? semaphore + moved : 0,
		.provider = bytes_text(&content),
		.name = bytes_text(&content),
	};
	return bytes_ok(&content) && ret->name.at && vaddr;
}

bool static_probe_next(struct bytes *notes, bool is_32, uint64_t base, struct static_probe *ret)
{
	while (bytes_left(notes)) {
		uint32_t owner_bytes = bytes_u32(notes), content_bytes = bytes_u32(notes);
		uint32_t type = bytes_u32(notes);
		struct bytes owner, content, text;

		take_padded(notes, owner_bytes, &owner);
		take_padded(notes, content_bytes, &content);
		if (!bytes_ok(notes))
			return false;
		text = bytes_text(&owner);
		if (type == NOTE_TYPE && bytes_are(text, "stapsdt") &&
		    read_probe(content, is_32, base, ret))
			return true;
	}
	return false;
}
