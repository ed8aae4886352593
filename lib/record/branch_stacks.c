#include "record/branch_stacks.h"

#include "perf/branch.h"
#include "profile/cpu_records.h"
#include "record/cgroup_labels.h"

#include <assert.h>
#include <string.h>

/* The maximum number of labels that a branch adds to those of its thread. */
enum { BRANCH_LABELS_MAX = 3 };

void branch_labels_deinit(struct branch_labels *labels)
{
	idmap_deinit(&labels->sets);
}

static const char *prediction(const struct branch *branch)
{
	if (branch->is_mispredicted)
		return BRANCH_MISPREDICTED;
	return branch->is_predicted ? BRANCH_PREDICTED : NULL;
}

static const char *transaction(const struct branch *branch)
{
	if (branch->is_abort)
		return "aborted";
	return branch->is_in_transaction ? "inside" : NULL;
}

static label_set_id branch_stacks_new_labels(struct profile *profile, label_set_id thread,
					     const struct branch *branch)
{
	const struct {
		const char *key, *text;
	} added[BRANCH_LABELS_MAX] = {
		{BRANCH_LABEL, prediction(branch)},
		{"branch_type", branch_type_name(branch->type)},
		{"transaction", transaction(branch)},
	};
	const struct profile_thread copy = *profile_thread_of(profile, thread);
	const struct profile_label_set *set = profile_get_label_set(profile, thread);
	struct strtab *strings = profile_strings(profile);
	struct profile_label all[CGROUP_LABELS_MAX + BRANCH_LABELS_MAX];
	uint32_t count = set->count;

	assert(count <= CGROUP_LABELS_MAX);
	if (count)
		memcpy(all, set->labels, count * sizeof(*all));
	for (size_t i = 0; i < BRANCH_LABELS_MAX; i++)
		if (added[i].text)
			all[count++] = (struct profile_label){
				.key = strtab_add(strings, added[i].key),
				.text = strtab_add(strings, added[i].text),
				.unit = strtab_add(strings, ""),
			};
	return profile_label_set(profile, &copy, all, count);
}

static label_set_id branch_stacks_labels_of(struct branch_labels *labels, struct profile *profile,
					    label_set_id thread, const struct branch *branch)
{
	uint32_t properties = (uint32_t)branch->is_mispredicted |
			      (uint32_t)branch->is_predicted << 1 |
			      (uint32_t)branch->is_in_transaction << 2 |
			      (uint32_t)branch->is_abort << 3 | branch->type << 4;
	uint32_t *set = idmap_put(&labels->sets, thread, properties);

	if (*set == IDMAP_NONE)
		*set = branch_stacks_new_labels(profile, thread, branch);
	return *set;
}

void branch_stacks_add(struct branch_labels *labels, struct sample_stacks *stacks,
		       struct profile *profile, const struct record *record, label_set_id thread)
{
	struct bytes left = record->sample.branches;
	event_id event = cpu_record_event(profile, CPU_BRANCHES);
	struct branch branch;

	while (bytes_left(&left) && branch_next(&left, &branch)) {
		label_set_id set;
		stack_id stack;

		/* The CPU, or the kernel for unprivileged users, omits an
		 * address. */
		if (!branch.from || !branch.to)
			continue;
		set = branch_stacks_labels_of(labels, profile, thread, &branch);
		stack = sample_stacks_add_branch(stacks, profile, record, branch.from, branch.to);
		profile_add(profile, set, stack, event, 1);
		if (branch.cycles)
			profile_add(profile, set, stack,
				    cpu_record_event(profile, CPU_BRANCH_CYCLES), branch.cycles);
	}
}
