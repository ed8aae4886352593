#include "record/session.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/idmap.h"
#include "profile/cpu_records.h"
#include "record/branch_stacks.h"
#include "record/deferred_chains.h"
#include "record/field_labels.h"
#include "record/interrupt_code.h"
#include "record/module_descriptions.h"
#include "record/sample_stacks.h"
#include "record/thread_lives.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A file can claim any number of threads. Beyond this number (100 MB), samples
 * belong to "[other threads]". */
enum { SAMPLED_THREADS_MAX = 256 << 10 };

/* Events of the profile, by index in the records. */
struct session_events {
	event_id *items;
	uint32_t count, room;
	struct idmap names;		   /* (name, unit) → number of events with this name */
	struct idmap occurrences;	   /* indices of the events that count occurrences */
	struct interrupt_code *interrupts; /* or NULL if they are unknown */
};

struct main_program {
	pid_t pid;	 /* process whose program is the main module */
	bool is_awaited; /* the next file that it maps is the main module */
	module_id module;
	char *path; /* the main module's path, if it is set directly; NULL for none */
};

/* The running threads and those that have ended. */
struct session_threads {
	struct thread_lives lives;
	unsigned fold_count; /* ended threads are folded when there are this many; 0 for never */
	void (*folded)(void *user);
	void *user;
};

/* Labels of samples other than the thread. */
struct session_labels {
	struct field_labels fields;
	struct branch_labels branches;
	struct cgroup_labels *cgroups; /* NULL if samples have no cgroup labels */
	struct idmap sets; /* (pid and tid) → label_set_id, until the thread changes */
};

/* Samples that wait for their user part. */
struct late_samples {
	struct deferred_chains *chains;
	bool is_unordered; /* timed samples were added out of order */
};

struct last_record {
	struct stack_extent extent;
	stack_id stack;
};

struct session {
	struct address_spaces *spaces;
	struct names *names;
	struct sample_stacks *stacks;
	struct script_runtimes *runtimes; /* NULL if no interpreter's frames are read */
	struct profile *profile;
	struct session_counts counts;
	uint64_t lossy_before; /* lossy processes of previous profiles */
	struct session_events events;
	struct session_labels labels;
	struct session_threads threads;
	struct main_program main;
	struct late_samples late;
	struct last_record last;
};

static void add_late_sample(void *user, const struct record *record, label_set_id labels);

struct session *session_new(struct address_spaces *spaces, struct names *names,
			    struct unwinder *unwinder, const struct arch *arch,
			    struct profile *profile)
{
	struct session *session = xcalloc(1, sizeof(*session));

	session->spaces = spaces;
	session->names = names;
	session->stacks = sample_stacks_new(spaces, unwinder, arch, &session->counts);
	session->profile = profile;
	session->main.module = UINT32_MAX;
	session->late.chains = deferred_chains_new(add_late_sample, session);
	return session;
}

void session_free(struct session *session)
{
	if (!session)
		return;
	free(session->events.items);
	idmap_deinit(&session->events.names);
	idmap_deinit(&session->events.occurrences);
	interrupt_code_free(session->events.interrupts);
	idmap_deinit(&session->labels.sets);
	field_labels_deinit(&session->labels.fields);
	branch_labels_deinit(&session->labels.branches);
	thread_lives_deinit(&session->threads.lives);
	free(session->main.path);
	sample_stacks_free(session->stacks);
	script_runtimes_free(session->runtimes);
	deferred_chains_free(session->late.chains);
	free(session);
}

const struct session_counts *session_counts(const struct session *session)
{
	return &session->counts;
}

struct stack_extent session_stack_extent(const struct session *session)
{
	return session->last.extent;
}

stack_id session_last_stack(const struct session *session)
{
	return session->last.stack;
}

struct profile *session_profile(const struct session *session)
{
	return session->profile;
}

bool session_data_frame(struct session *session, pid_t pid, uint64_t address, frame_id *ret)
{
	struct location location;

	if (!address_spaces_locate_data(session->spaces, pid, address, &location))
		return false;
	*ret = profile_frame(session->profile, location.module, location.offset, false);
	return true;
}

bool session_module(struct session *session, pid_t pid, uint64_t pc, module_id *ret)
{
	struct location location;

	if (!address_spaces_locate(session->spaces, pid, clock_now_ns(), pc, &location))
		return false;
	*ret = location.module;
	return true;
}

module_id session_kernel(const struct session *session)
{
	return address_spaces_kernel(session->spaces);
}

uint64_t session_missed_files(const struct session *session)
{
	return address_spaces_missed_files(session->spaces);
}

/* The first event keeps its name. The second one becomes "cycles#2", or the
 * next free number. */
static event_id add_distinct_event(struct session *session, struct profile_event event)
{
	struct strtab *strings = profile_strings(session->profile);
	uint32_t *known = idmap_put(&session->events.names, event.name, event.unit);
	uint32_t number = *known == IDMAP_NONE ? 0 : *known;
	string_id name = event.name;
	event_id count, id;

	do {
		if (number++) {
			CLEANUP(free_ptr)
			char *numbered = xasprintf("%s#%" PRIu32, strtab_get(strings, name),
						   number);

			event.name = strtab_add(strings, numbered);
		}
		count = profile_event_count(session->profile);
		id = profile_add_event(session->profile, &event);
	} while (id < count);
	*known = number;
	return id;
}

void session_add_event(struct session *session, const struct profile_event *event)
{
	GROW(session->events.items, session->events.count, session->events.room);
	session->events.items[session->events.count++] = add_distinct_event(session, *event);
}

void session_count_occurrences(struct session *session, unsigned event)
{
	*idmap_put(&session->events.occurrences, event, 0) = 0;
}

void session_set_interrupt_code(struct session *session, struct interrupt_code *code)
{
	session->events.interrupts = code;
}

const event_id *session_events(const struct session *session)
{
	return session->events.items;
}

unsigned session_event_count(const struct session *session)
{
	return session->events.count;
}

void session_set_depth(struct session *session, unsigned frames)
{
	sample_stacks_set_depth(session->stacks, frames);
}

void session_set_fresh_maps(struct session *session, struct fresh_maps *fresh)
{
	sample_stacks_set_fresh_maps(session->stacks, fresh);
}

void session_set_scripts(struct session *session, struct scripts *scripts)
{
	session->runtimes = script_runtimes_new(session->spaces, scripts);
	sample_stacks_set_scripts(session->stacks, session->runtimes, scripts);
}

void session_tell_runtimes(const struct session *session, const struct listener *listener)
{
	if (session->runtimes)
		script_runtimes_tell(session->runtimes, listener);
}

void session_set_cgroup_labels(struct session *session, struct cgroup_labels *cgroups)
{
	session->labels.cgroups = cgroups;
}

void session_set_ceiling(struct session *session, uint32_t stacks)
{
	sample_stacks_set_ceiling(session->stacks, stacks);
}

void session_name_process(struct session *session, pid_t pid, const char *comm, const char *name)
{
	names_replace(session->names, pid, comm, name);
}

void session_set_main_process(struct session *session, pid_t pid)
{
	session->main.pid = pid;
	session->main.is_awaited = true;
}

void session_set_main_path(struct session *session, const char *path)
{
	free(session->main.path);
	session->main.path = xstrdup(path);
}

static uint64_t thread_key(pid_t pid, pid_t tid)
{
	return (uint64_t)(uint32_t)pid << 32 | (uint32_t)tid;
}

/* Drops the cached label set of a thread. */
static void thread_changed(struct session *session, pid_t pid, pid_t tid)
{
	idmap_remove(&session->labels.sets, thread_key(pid, tid), 0);
	branch_labels_deinit(&session->labels.branches);
}

static void threads_changed(struct session *session)
{
	idmap_deinit(&session->labels.sets);
	branch_labels_deinit(&session->labels.branches);
}

/* Sets *is_final if the labels are valid until the thread changes. */
static label_set_id session_new_labels(struct session *session, pid_t pid, pid_t tid,
				       bool *is_final)
{
	struct strtab *strings = profile_strings(session->profile);
	const struct profile_thread thread = {
		.pid = pid,
		.tid = tid,
		.process = strtab_add(strings, names_get(session->names, pid, pid)),
		.name = strtab_add(strings, names_get(session->names, pid, tid)),
	};
	struct profile_label labels[CGROUP_LABELS_MAX];
	uint32_t count = 0;

	*is_final = true;
	if (session->labels.cgroups)
		count = cgroup_labels_of(session->labels.cgroups, pid, strings, labels, is_final);
	return profile_label_set(session->profile, &thread, labels, count);
}

static label_set_id session_labels_of(struct session *session, pid_t pid, pid_t tid)
{
	static const char other[] = "[other threads]";
	label_set_id labels = idmap_get(&session->labels.sets, thread_key(pid, tid), 0);
	bool is_final = true;

	if (labels != IDMAP_NONE)
		return labels;
	if (profile_label_set_count(session->profile) >= SAMPLED_THREADS_MAX)
		labels = profile_thread_labels(session->profile, -1, -1, other, other);
	else
		labels = session_new_labels(session, pid, tid, &is_final);
	if (is_final)
		*idmap_put(&session->labels.sets, thread_key(pid, tid), 0) = labels;
	return labels;
}

/* Adds a sample for each other event of the group. */
static void session_add_counts(struct session *session, const struct record_sample *sample,
			       label_set_id labels, stack_id stack)
{
	for (unsigned i = 0; i < sample->count_count; i++) {
		const struct record_count *count = &sample->counts[i];

		if (count->event >= session->events.count)
			continue;
		session->counts.quality.samples++;
		profile_add(session->profile, labels, stack, session->events.items[count->event],
			    count->weight);
	}
}

static void add_weight(struct session *session, const struct record *record, label_set_id labels,
		       stack_id stack, uint64_t weight)
{
	unsigned event = record->sample.event;
	uint32_t counted;

	session->counts.quality.samples++;
	assert(event < session->events.count);
	counted = profile_add(session->profile, labels, stack, session->events.items[event],
			      weight);
	if (event == 0)
		profile_add_to_sample_order(session->profile, record->tid, counted);
	profile_add_timed_sample(session->profile,
				 &(struct profile_timed_sample){.time_ns = record->time_ns,
								.sample = counted,
								.cpu = record->cpu});
}

static void session_add_sample(struct session *session, const struct record *record,
			       label_set_id labels)
{
	session->last.stack = sample_stacks_add(session->stacks, session->profile, record,
						&session->last.extent);
	add_weight(session, record, labels, session->last.stack, record->sample.period);
	session_add_counts(session, &record->sample, labels, session->last.stack);
	if (record->sample.latency_cycles)
		profile_add(session->profile, labels, session->last.stack,
			    cpu_record_event(session->profile, CPU_MEMORY_LATENCY),
			    record->sample.latency_cycles);
}

stack_id session_take_stack(struct session *session, const struct record *record)
{
	struct stack_extent extent;

	return sample_stacks_add(session->stacks, session->profile, record, &extent);
}

void session_add_call(struct session *session, const struct record *end, label_set_id labels,
		      stack_id stack, uint64_t ns)
{
	add_weight(session, end, labels, stack, ns);
}

label_set_id session_labels(struct session *session, pid_t pid, pid_t tid)
{
	return session_labels_of(session, pid, tid);
}

stack_id session_find_stack(struct session *session, const struct record *record,
			    struct stack_extent *extent)
{
	struct session_counts counts = session->counts;
	stack_id stack = sample_stacks_add(session->stacks, session->profile, record, extent);

	session->counts = counts;
	return stack;
}

static void add_late_sample(void *user, const struct record *record, label_set_id labels)
{
	struct session *session = user;

	session->late.is_unordered = true;
	session_add_sample(session, record, labels);
}

/* Adds labels for the fields of a tracepoint and for the data source of a
 * memory access. */
static label_set_id labels_of_sample(struct session *session, const struct record *record)
{
	label_set_id labels = session_labels_of(session, record->pid, record->tid);
	bool is_other = false;

	if (record->sample.field_count || record->sample.data_source)
		labels = field_labels_add(&session->labels.fields, session->profile, labels,
					  &record->sample, &is_other);
	session->counts.other_values += is_other;
	return labels;
}

/*
 * Returns whether a sample of the idle task (process 0) is omitted. Clocks and
 * hardware counters continue while a CPU is idle. Their samples count only in
 * interrupts, which the call chain and the kernel's symbols show. Every sample
 * of an occurrence, such as that of a tracepoint, counts.
 */
static bool is_of_idle_loop(const struct session *session, const struct record_sample *sample)
{
	struct bytes chain = bytes_left(&sample->kernel_chain)
				     ? sample->kernel_chain
				     : bytes_of(&sample->ip, sizeof(sample->ip));

	return idmap_get(&session->events.occurrences, sample->event, 0) == IDMAP_NONE &&
	       !(session->events.interrupts &&
		 interrupt_code_is_in(session->events.interrupts, chain));
}

static void session_feed_sample(struct session *session, const struct record *record)
{
	label_set_id labels;

	if (record->pid == 0 && is_of_idle_loop(session, &record->sample)) {
		session->counts.quality.idle++;
		return;
	}
	labels = labels_of_sample(session, record);
	if (bytes_left(&record->sample.branches) && !record->sample.are_branches_calls)
		branch_stacks_add(&session->labels.branches, session->stacks, session->profile,
				  record, session_labels_of(session, record->pid, record->tid));
	if (sample_lacks_user_part(&record->sample))
		deferred_chains_add_sample(session->late.chains, record, labels);
	else
		session_add_sample(session, record, labels);
}

static void feed_deferred_chain(struct session *session, const struct record *record)
{
	session->counts.strays += !deferred_chains_add_chain(session->late.chains, record);
}

static void mark(struct session *session, const struct record *record,
		 enum profile_marker_kind kind, const char *text, uint64_t count)
{
	struct profile_marker marker = {
		.kind = kind,
		.time_ns = record->time_ns,
		.cpu = record->cpu,
		.pid = record->pid,
		.tid = record->tid,
		.text = strtab_add(profile_strings(session->profile), text),
		.count = count,
	};

	profile_add_marker(session->profile, &marker);
}

static void feed_mmap(struct session *session, const struct record *record)
{
	const struct record_mmap *mmap = &record->mmap;
	struct mapping mapping = {
		.start = mmap->start,
		.end = mmap->start + mmap->length_bytes,
		.offset = mmap->offset,
		.device_major = mmap->device_major,
		.device_minor = mmap->device_minor,
		.inode = mmap->inode,
		.generation = mmap->generation,
		.build_id.len = mmap->build_id_bytes,
		.is_claimed = mmap->is_claimed,
		.claimant = mmap->claimant,
		.path = mmap->path,
	};

	if (!mmap->executable)
		return;
	memcpy(mapping.build_id.bytes, mmap->build_id, mmap->build_id_bytes);
	if (record->pid == -1) {
		address_spaces_map_kernel(session->spaces, &mapping);
		return;
	}
	address_spaces_map(session->spaces, record->pid, record->time_ns, &mapping);
	/* The kernel maps the program before its interpreter and its
	 * libraries. */
	if (session->main.is_awaited && record->pid == session->main.pid) {
		struct location location;

		session->main.is_awaited = !address_spaces_locate(
			session->spaces, record->pid, record->time_ns, mmap->start, &location);
		session->main.module = location.module;
	}
}

void session_add_thread(struct session *session, pid_t pid, pid_t tid)
{
	thread_lives_add(&session->threads.lives, pid, tid);
}

void session_fold_ended(struct session *session, unsigned count)
{
	session->threads.fold_count = count;
	session->threads.lives.keeps_ended = count > 0;
}

static void fold_thread(void *user, struct profile_thread *thread)
{
	const struct thread_lives *lives = user;
	bool process_ended = thread_lives_process_ended(lives, thread->pid);

	if (!process_ended && !thread_lives_thread_ended(lives, thread->pid, thread->tid))
		return;
	thread->tid = -1;
	thread->name = thread->process;
	if (process_ended)
		thread->pid = -1;
}

static void fold_ended(struct session *session)
{
	if (!session->threads.fold_count ||
	    thread_lives_ended_count(&session->threads.lives) < session->threads.fold_count)
		return;
	deferred_chains_end_all(session->late.chains); /* label sets change */
	profile_map_threads(session->profile, fold_thread, &session->threads.lives);
	if (session->threads.folded)
		session->threads.folded(session->threads.user);
	threads_changed(session);
	thread_lives_forget_ended(&session->threads.lives);
}

void session_on_fold(struct session *session, void (*folded)(void *user), void *user)
{
	session->threads.folded = folded;
	session->threads.user = user;
}

void session_fold_thread(const struct session *session, struct profile_thread *thread)
{
	fold_thread((void *)(uintptr_t)&session->threads.lives, thread);
}

bool session_ends_with(const struct session *session, pid_t pid, pid_t tid)
{
	return thread_lives_ends_with(&session->threads.lives, pid, tid);
}

static void session_feed_fork(struct session *session, const struct record *record)
{
	names_fork(session->names, record->fork.parent_pid, record->fork.parent_tid, record->tid);
	thread_changed(session, record->pid, record->tid);
	thread_lives_reuse(&session->threads.lives, record->pid, record->tid);
	if (record->pid == record->fork.parent_pid) {
		session_add_thread(session, record->pid, record->tid);
	} else if (!record->fork.existing) {
		thread_lives_begin_process(&session->threads.lives, record->pid);
		mark(session, record, PROFILE_MARKER_FORK,
		     names_get(session->names, record->pid, record->pid), 0);
	}
}

static void session_end_process(struct session *session, const struct record *record)
{
	mark(session, record, PROFILE_MARKER_EXIT,
	     names_get(session->names, record->pid, record->pid), 0);
	names_exit(session->names, record->pid, record->time_ns);
	address_spaces_exit(session->spaces, record->pid, record->time_ns);
}

static void session_feed_exit(struct session *session, const struct record *record)
{
	deferred_chains_end_thread(session->late.chains, record->tid);
	thread_changed(session, record->pid, record->tid);
	/* The first thread's name is the name of the process. */
	if (record->tid != record->pid)
		names_exit(session->names, record->tid, record->time_ns);
	if (thread_lives_end(&session->threads.lives, record->pid, record->tid))
		session_end_process(session, record);
	fold_ended(session);
}

static void feed_comm(struct session *session, const struct record *record)
{
	if (record->comm.exec)
		deferred_chains_exec(session->late.chains, record->tid);
	session_add_thread(session, record->pid, record->tid);
	names_set(session->names, record->tid, record->comm.name);
	/* The first thread's name is the process name in the labels of all
	 * threads. After an exec the process has only one thread. */
	if (record->tid == record->pid && !record->comm.exec)
		threads_changed(session);
	else
		thread_changed(session, record->pid, record->tid);
	if (!record->comm.exec)
		return;
	mark(session, record, PROFILE_MARKER_EXEC, record->comm.name, 0);
	thread_lives_begin_process(&session->threads.lives, record->pid);
}

/*
 * Updates the address spaces for later samples. The end of a process is handled
 * elsewhere, and the next process with its pid starts with a fork.
 */
static void change_spaces(struct session *session, const struct record *record)
{
	if (record->type == RECORD_MMAP) {
		feed_mmap(session, record);
	} else if (record->type == RECORD_FORK && record->pid != record->fork.parent_pid &&
		   !record->fork.existing) {
		address_spaces_fork(session->spaces, record->fork.parent_pid, record->pid,
				    record->time_ns);
	} else if (record->type == RECORD_COMM && record->comm.exec) {
		address_spaces_exec(session->spaces, record->pid, record->time_ns);
		if (record->pid == session->main.pid)
			session->main.is_awaited = true;
	}
}

static void feed_lost(struct session *session, const struct record *record)
{
	uint64_t *const counts[] = {
		[LOST_SAMPLES] = &session->counts.quality.lost,
		[LOST_ALLOCATIONS] = &session->counts.lost_allocations,
		[LOST_CHANGES] = &session->counts.quality.lost_changes,
		[LOST_SWITCHES] = &session->counts.lost_switches,
	};

	*counts[record->lost.what] += record->lost.count;
	if (record->lost.what == LOST_SAMPLES || record->lost.what == LOST_ALLOCATIONS)
		mark(session, record, PROFILE_MARKER_LOST, "", record->lost.count);
}

void session_feed(struct session *session, const struct record *record)
{
	session->last.extent = (struct stack_extent){.end = 0};
	session->last.stack = STACK_EMPTY;
	if (session->labels.cgroups)
		cgroup_labels_feed(session->labels.cgroups, record);
	change_spaces(session, record);
	if (session->runtimes)
		script_runtimes_feed(session->runtimes, record);
	switch (record->type) {
	case RECORD_SAMPLE:
		session_feed_sample(session, record);
		break;
	case RECORD_COMM:
		feed_comm(session, record);
		break;
	case RECORD_FORK:
		session_feed_fork(session, record);
		break;
	case RECORD_EXIT:
		session_feed_exit(session, record);
		break;
	case RECORD_LOST:
		feed_lost(session, record);
		break;
	case RECORD_THROTTLE:
		session->counts.quality.throttled++;
		mark(session, record, PROFILE_MARKER_THROTTLED, "", 0);
		break;
	case RECORD_DEFERRED_CHAIN:
		feed_deferred_chain(session, record);
		break;
	case RECORD_KSYMBOL:
		if (!record->ksymbol.is_removed)
			address_spaces_name_kernel_code(session->spaces, record->ksymbol.address,
							record->ksymbol.length_bytes,
							record->ksymbol.name);
		break;
	case RECORD_MMAP:
	case RECORD_OTHER:
	case RECORD_SWITCH:
	case RECORD_CGROUP:
	case RECORD_TEXT_POKE:
	case RECORD_BPF_EVENT:
	case RECORD_ALLOC:
	case RECORD_FREE:
		break;
	}
}

void session_forget(struct session *session, uint64_t before_ns)
{
	address_spaces_forget(session->spaces, before_ns);
	names_forget(session->names, before_ns);
}

void session_end(struct session *session)
{
	deferred_chains_end_all(session->late.chains);
	session->counts.lossy_processes = address_spaces_lossy_processes(session->spaces) -
					  session->lossy_before;
}

void session_finish(struct session *session)
{
	describe_modules(session->profile, session->spaces, session->main.module,
			 session->main.path);
	if (session->late.is_unordered)
		profile_sort_timed_samples(session->profile);
	session->late.is_unordered = false;
}

static event_id copy_event(const struct profile *from, event_id id, struct profile *to)
{
	struct profile_event event = *profile_get_event(from, id);
	struct strtab *strings = profile_strings(to);

	event.name = strtab_add(strings, profile_string(from, event.name));
	event.unit = strtab_add(strings, profile_string(from, event.unit));
	return profile_add_event(to, &event);
}

void session_change_profile(struct session *session, struct profile *profile)
{
	session_end(session);
	session_finish(session);
	for (uint32_t i = 0; i < session->events.count; i++)
		session->events.items[i] = copy_event(session->profile, session->events.items[i],
						      profile);
	profile_follow(profile, session->profile);
	session->profile = profile;
	session->counts = (struct session_counts){0};
	session->lossy_before = address_spaces_lossy_processes(session->spaces);
	/* These refer to strings, label sets and threads of the previous
	 * profile. */
	idmap_deinit(&session->events.names);
	field_labels_deinit(&session->labels.fields);
	threads_changed(session);
	thread_lives_forget_ended(&session->threads.lives);
}
