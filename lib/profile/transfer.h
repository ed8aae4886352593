/*
 * Copies samples from one profile to another with everything that they refer
 * to. Equal things are merged: files by path and build-id, frames by their
 * location in a file, stacks by their frames.
 */
#ifndef PROF_PROFILE_TRANSFER_H
#define PROF_PROFILE_TRANSFER_H

#include "base/idmap.h"
#include "profile/stack_path.h"

struct transfer {
	const struct profile *from;
	struct profile *to;
	/*
	 * Modules of `to`, keyed by what identifies them; NULL to keep the
	 * numbers.
	 */
	struct idmap *modules;
	/* Ids in `to` by id in `from`, or UINT32_MAX. */
	uint32_t *module_ids, *frames, *stacks, *label_sets, *functions, *events;
	struct stack_path path;
};

/*
 * modules: the modules of `to`. It is zeroed for an empty profile, and the
 * caller keeps it for the next transfer into the same profile. NULL means both
 * profiles use the same module numbers, because one recorder wrote them. All
 * three arguments are borrowed; `from` must not change until transfer_deinit().
 */
void transfer_init(struct transfer *transfer, const struct profile *from, struct profile *to,
		   struct idmap *modules);
void transfer_deinit(struct transfer *transfer);

/*
 * Returns the module of a profile that equals this one, whose strings belong to
 * the profile. Describes it if it is new. modules: as in transfer_init().
 */
uint32_t transfer_merge_module(struct profile *to, struct idmap *modules,
			       const struct profile_module *module);
/*
 * Adds a user to a module, whose files are then opened with the permissions
 * that all its users have (source_users.h).
 */
void transfer_share_module(struct profile *to, uint32_t module, uid_t user);

/*
 * Returns the corresponding event of `to`, which is created if needed.
 * transfer_add() does this for its samples.
 */
event_id transfer_event(struct transfer *transfer, event_id id);
/*
 * Return the corresponding module, function, frame or label set. A module
 * without description is copied each time.
 */
uint32_t transfer_module(struct transfer *transfer, uint32_t id);
function_id transfer_function(struct transfer *transfer, function_id id);
frame_id transfer_frame(struct transfer *transfer, frame_id id);
label_set_id transfer_label_set(struct transfer *transfer, label_set_id id);
/*
 * Adds samples and weight to the sample of `to` that corresponds to one of
 * `from`. Returns its index.
 */
uint32_t transfer_add(struct transfer *transfer, const struct profile_sample *sample,
		      uint64_t samples, uint64_t weight);

#endif
