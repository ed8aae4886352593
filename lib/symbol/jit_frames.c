#include "symbol/jit_frames.h"

void jit_frames_settle(struct profile *profile, struct address_spaces *spaces, frame_id first,
		       frame_id end)
{
	const uint32_t module_count = address_spaces_module_count(spaces);

	address_spaces_read_jitdumps(spaces);
	for (frame_id id = first; id < end; id++) {
		struct profile_frame frame = profile_get_frame(profile, id);
		struct location at;

		if (frame.module < module_count && !frame.is_named &&
		    address_spaces_settle(spaces, frame.module,
					  frame.offset - frame.is_return_address, &at))
			profile_move_frame(profile, id, at.module,
					   at.offset + frame.is_return_address);
	}
}
