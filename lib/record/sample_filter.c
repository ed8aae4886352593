#include "record/sample_filter.h"

#include "base/alloc.h"
#include "base/globs.h"

#include <stdlib.h>
#include <unistd.h>

static void sample_filter_add_own(struct sample_filter *filter, pid_t pid)
{
	GROW(filter->own, filter->own_count, filter->own_room);
	filter->own[filter->own_count++] = pid;
}

void sample_filter_init(struct sample_filter *filter, char *const *threads, size_t thread_count,
			bool keeps_own)
{
	*filter = (struct sample_filter){
		.threads = threads, .thread_count = thread_count, .keeps_own = keeps_own};
	if (!keeps_own)
		sample_filter_add_own(filter, getpid());
}

void sample_filter_deinit(struct sample_filter *filter)
{
	free(filter->own);
	*filter = (struct sample_filter){0};
}

/* Returns NULL if the process is not one of prof's. */
static pid_t *find_own(const struct sample_filter *filter, pid_t pid)
{
	for (size_t i = 0; i < filter->own_count; i++)
		if (filter->own[i] == pid)
			return &filter->own[i];
	return NULL;
}

static void forget_own(struct sample_filter *filter, pid_t pid)
{
	pid_t *own = find_own(filter, pid);

	if (own && pid != getpid())
		*own = filter->own[--filter->own_count];
}

static bool takes_sample(struct sample_filter *filter, struct names *names,
			 const struct record *record)
{
	if (find_own(filter, record->pid)) {
		filter->counts.own++;
		return false;
	}
	if (filter->thread_count && !globs_match(filter->threads, filter->thread_count,
						 names_get(names, record->pid, record->tid))) {
		filter->counts.threads++;
		return false;
	}
	return true;
}

bool sample_filter_takes(struct sample_filter *filter, struct names *names,
			 const struct record *record)
{
	if (record->type == RECORD_SAMPLE)
		return takes_sample(filter, names, record);
	if (record->type == RECORD_FORK && record->pid != record->fork.parent_pid) {
		forget_own(filter, record->pid);
		if (find_own(filter, record->fork.parent_pid))
			sample_filter_add_own(filter, record->pid);
	} else if (record->type == RECORD_COMM && record->comm.exec) {
		forget_own(filter, record->pid);
	}
	return true;
}
