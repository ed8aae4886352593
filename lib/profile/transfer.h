/*
 * Copies samples from one profile to another with everything they refer to. Equal things are
 * merged: files by path and build-id, frames by their place in a file, stacks by their frames.
 */
#ifndef PROF_PROFILE_TRANSFER_H
#define PROF_PROFILE_TRANSFER_H

#include "base/idmap.h"
#include "profile/stack_path.h"

struct transfer {
	const struct profile *from;
	struct profile *to;
	struct idmap *modules; /* of `to`, by what identifies a module; NULL: keep numbers */
	/* Ids of `to` by id of `from`, or UINT32_MAX. */
	uint32_t *module_ids, *frames, *stacks, *label_sets, *functions, *events;
	struct stack_path path;
};

/*
 * modules: the modules of `to`; zeroed for an empty profile, and kept by the caller for the next
 * transfer into the same profile. NULL: both profiles number modules alike, as those of one
 * recorder do. All three are borrowed; `from` must not change until transfer_deinit().
 */
void transfer_init(struct transfer *transfer, const struct profile *from, struct profile *to,
		   struct idmap *modules);
void transfer_deinit(struct transfer *transfer);

/*
 * The module of a profile that is the same as this one, whose strings are the profile's; it is
 * described if it is new. modules: as above.
 */
uint32_t transfer_merge_module(struct profile *to, struct idmap *modules,
			       const struct profile_module *module);
/* A further user of a module: of several users the rights are those that all have
 * (source_users.h). */
void transfer_share_module(struct profile *to, uint32_t module, uid_t user);

/* The event of `to`, created if needed. transfer_add() does this for its samples. */
event_id transfer_event(struct transfer *transfer, event_id id);
/* The same of a module, a function, a frame or a label set. A module without description is copied
 * each time. */
uint32_t transfer_module(struct transfer *transfer, uint32_t id);
function_id transfer_function(struct transfer *transfer, function_id id);
frame_id transfer_frame(struct transfer *transfer, frame_id id);
label_set_id transfer_label_set(struct transfer *transfer, label_set_id id);
/*
 * Adds samples and weight to the sample of `to` that corresponds to one of `from`. Returns its
 * index.
 */
uint32_t transfer_add(struct transfer *transfer, const struct profile_sample *sample,
		      uint64_t samples, uint64_t weight);

#endif
