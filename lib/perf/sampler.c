#include "perf/sampler.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/descendants.h"
#include "base/sched_attributes.h"
#include "perf/attr.h"
#include "perf/capture.h"
#include "perf/cpus.h"
#include "perf/descriptors.h"
#include "perf/field_reader.h"
#include "perf/group_counts.h"
#include "perf/late_threads.h"
#include "perf/layouts.h"
#include "perf/output_redirect.h"
#include "perf/process_tree.h"
#include "perf/ring_merge.h"
#include "perf/ring_set.h"
#include "perf/sample_losses.h"
#include "perf/sampling_plan.h"
#include "perf/stack_program.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	/* A ring that holds fewer stack copies loses samples while the reader
	 * waits for a CPU. Deep-stack capture is better then. */
	LEAST_COPIES = 8,
	/* Size of the rings for the kernel's stack copies, as a multiple of the
	 * sample rings, up to a maximum. */
	COPIES_SHARE = 2,
	COPIES_BYTES_MAX = 16 << 20,
	/* See is_for_copiers(). */
	PROGRAM_MISS = 10,
	PROGRAM_MISSES_MAX = 100,
	/* Upper bound of the time from taking the timestamp of a record to the
	 * end of its write, if the kernel is not interrupted in between. */
	SAMPLER_WRITTEN_NS = 5000,
};

/* Collection of stacks that are deeper than the kernel's copy (stack_program.h,
 * capture.h). */
struct deep_stacks {
	struct stack_program *program; /* NULL if only copiers copy stacks */
	/* Time of its last copy; initially the start time. */
	uint64_t used_ns;
	unsigned misses;	 /* rises with stacks that it did not copy */
	struct capture *capture; /* NULL until it is started */
	/* At least some samples wake copiers. Without a program, these are the
	 * samples of all descriptors that write to RINGS_CAPTURED. */
	bool captures;
	/* Whether all descriptors, or none, will write there when `redirect` is
	 * done. */
	bool will_capture;
	struct output_redirect *redirect; /* the current redirection, or NULL */
	bool is_redirect_cut;		  /* a pause has aborted it */
};

/* The kind and the state of sampling. */
struct sampling_state {
	bool starts_at_exec;
	bool has_commands_later; /* see target.commands_later */
	bool is_of_processes;	 /* the target is TARGET_PROCESSES */
	bool has_begun, is_paused, is_stopped;
	uint64_t complete_ns;	    /* see sampler_complete_ns() */
	unsigned side_band_percent; /* see sampler_side_band_percent() */
};

/* The events that the kernel has opened. */
struct opened_events {
	struct descriptors descriptors;
	/* Per event; may be NULL: see sampler_lacking_cpus(). */
	char **lacking_cpus;
	struct attr_features features;
	struct group_counts group_counts;
	/* Layouts of the sampling events. Side-band records have the same
	 * trailer. */
	struct layouts layouts;
	int epoll_fd;
};

struct sampler {
	unsigned *cpus;
	size_t cpu_count;
	struct ring_set rings;
	struct ring_merge merge;
	struct sampler_options options;
	struct sampling_plan plan;
	/* Set if more than this tree is sampled; NULL if only the target is. */
	struct process_tree *tree;
	struct opened_events opened;
	struct deep_stacks deep;
	struct sampling_state state;
	struct sample_losses losses;
	struct sampler_facts facts;
};

static unsigned ring_kinds(const struct sampler *s, bool captures)
{
	unsigned kinds = 1U << RINGS_SIDE_BAND;

	if (s->options.waits)
		kinds |= 1U << RINGS_SWITCHES;
	if (s->opened.descriptors.event_count)
		kinds |= 1U << RINGS_SAMPLES;
	if (captures)
		kinds |= 1U << RINGS_CAPTURED;
	return kinds;
}

static struct error *open_rings(struct sampler *s, bool captures)
{
	struct ring_set *rings = &s->rings;
	struct error *err;

	ring_set_init(rings, ring_kinds(s, captures), s->cpu_count);
	ring_merge_init(&s->merge, rings->items, ring_set_count(rings), &s->opened.layouts);
	err = ring_set_open(rings, s->cpus, s->options.ring_bytes, s->plan.bytes_per_second,
			    s->facts.is_polled);
	if (!err)
		err = ring_set_watch(rings, &s->opened.epoll_fd);
	if (err)
		return err;
	s->facts.ring_bytes = rings->ring_bytes;
	s->facts.ring_shrunk = rings->is_shrunk;
	if (s->options.waits)
		s->facts.switch_ring_bytes = ring_set_bytes(rings, RINGS_SWITCHES);
	if (s->plan.bytes_per_second)
		s->facts.holds_ms = (int)(rings->ring_bytes * 1000 / s->plan.bytes_per_second);
	return NULL;
}

static void bound_copy(struct sampler *s, struct perf_event_attr *attr)
{
	size_t most = s->rings.captured_bytes / LEAST_COPIES;

	if (!s->rings.is_shrunk || attr->sample_stack_user <= most)
		return;
	attr->sample_stack_user = (uint32_t)most;
	s->facts.copies_bytes = most;
}

static void prepare_attr(struct sampler *s, struct opened_event *opened, bool inherit, int cgroup)
{
	const struct event *event = &s->opened.descriptors.events[opened->event];
	struct perf_event_attr *attr = &opened->attr;

	attr_samples(attr, event, &s->opened.features);
	attr_choose_variant(attr, event, opened->variant);
	opened->may_be_less_precise = event->may_be_less_precise;
	bound_copy(s, attr);
	attr->inherit = inherit;
	attr->enable_on_exec = s->state.starts_at_exec;
	if (s->opened.descriptors.whole_cpus && s->state.is_of_processes)
		attr_exclude_idle(attr);
	opened->cgroup = cgroup;
}

/* cgroup: index of the sampled cgroup, if cgroups are sampled. */
static void add_opened(struct sampler *s, const struct target *target, bool inherit, size_t cgroup)
{
	struct descriptors *d = &s->opened.descriptors;
	const struct target_rule *rule = s->plan.samples_cgroups ? target->rule : NULL;

	for (unsigned i = 0; i < d->event_count; i++) {
		size_t variants = event_variant_count(&d->events[i]);

		if (rule && rule->has_cgroup_per_event && i != cgroup)
			continue;
		d->opened = xreallocarray(d->opened, d->opened_count + variants,
					  sizeof(*d->opened));
		for (size_t variant = 0; variant < variants; variant++) {
			struct opened_event *opened = &d->opened[d->opened_count++];

			*opened = (struct opened_event){.event = i, .variant = variant};
			prepare_attr(s, opened, inherit, rule ? rule->cgroups[cgroup] : -1);
		}
	}
}

/* Events of a cgroup are adjacent, because a group is within one cgroup. */
static void prepare_attrs(struct sampler *s, const struct target *target)
{
	struct descriptors *d = &s->opened.descriptors;
	bool inherit = target->inherit && !d->whole_cpus;
	size_t cgroups = s->plan.samples_cgroups ? target->rule->cgroup_count : 1;

	for (size_t i = 0; i < cgroups; i++)
		add_opened(s, target, inherit, i);
	attr_side_band(&d->side_attr, inherit);
	d->side_attr.mmap_data = s->options.data_mappings;
	attr_switches(&d->switch_attr, target->inherit && target->kind != TARGET_SYSTEM,
		      &s->opened.features);
	d->switch_attr.enable_on_exec = d->starts_at_exec;
}

/* Adds the ids of new descriptors. Known ids remain. */
static void note_ids(struct sampler *s)
{
	const struct descriptors *d = &s->opened.descriptors;

	for (uint32_t index = 0; index < d->opened_count; index++)
		for (size_t i = 0; i < d->opened[index].id_count; i++)
			layouts_add_id(&s->opened.layouts, d->opened[index].ids[i], index);
}

static void prepare_layouts(struct sampler *s)
{
	const struct descriptors *d = &s->opened.descriptors;

	/* Without samples all records have the trailer of the side band. */
	if (!d->opened_count) {
		struct record_layout layout = attr_layout(&d->side_attr);

		layouts_add(&s->opened.layouts, &layout);
	}
	for (uint32_t index = 0; index < d->opened_count; index++) {
		const struct opened_event *opened = &d->opened[index];
		struct record_layout layout = attr_layout(&opened->attr);
		bool has_id_place;

		layout.event = opened->event;
		layout.scale = d->events[opened->event].scale;
		layout.is_other_end =
			opened->variant < d->events[opened->event].variant_count &&
			d->events[opened->event].variants[opened->variant].is_other_end;
		has_id_place = layouts_add(&s->opened.layouts, &layout);
		assert(has_id_place);
		(void)has_id_place; /* unused if assertions are off */
	}
	note_ids(s);
}

static void note_lacking_cpus(struct sampler *s)
{
	s->opened.lacking_cpus = xcalloc(s->opened.descriptors.event_count,
					 sizeof(*s->opened.lacking_cpus));
	for (unsigned i = 0; i < s->opened.descriptors.event_count; i++)
		s->opened.lacking_cpus[i] = descriptors_lacking_cpus(&s->opened.descriptors, i);
}

/* Copiers start again when they are needed. */
static void drop_stack_program(struct sampler *s)
{
	if (!s->deep.program)
		return;
	capture_free(STEAL(s->deep.capture));
	s->deep.captures = s->deep.will_capture = false;
	stack_program_free(STEAL(s->deep.program));
}

/* Appends the stack program to the filter, unless the kernel rejects it. */
static bool begin_filter(struct sampler *s)
{
	bool has_probes = s->plan.has_probes;

	if (s->deep.program &&
	    process_tree_begin_filter(s->tree, has_probes, stack_program_code(s->deep.program)))
		return true;
	drop_stack_program(s);
	return process_tree_begin_filter(s->tree, has_probes, NULL);
}

static bool sampler_filter_samples(struct sampler *s)
{
	const struct descriptors *d = &s->opened.descriptors;
	bool is_filtered = begin_filter(s);

	for (size_t i = 0; i < d->samples.count && is_filtered; i++)
		is_filtered = process_tree_filter_event(s->tree, d->samples.items[i],
							d->events[d->samples.events[i]].is_probe);
	return is_filtered;
}

/* Returns the smallest stack copy in a sample of the events. */
static size_t least_copy(const struct event *events, size_t event_count)
{
	size_t least = 0;

	for (size_t i = 0; i < event_count; i++) {
		size_t bytes = events[i].fields.stack_bytes;

		if (bytes && (!least || bytes < least))
			least = bytes;
	}
	return least;
}

/* Returns which samples wake copiers, or NULL if all in RINGS_CAPTURED do. */
static struct copier_wakes *wakes_of(const struct sampler *s)
{
	return s->deep.program ? stack_program_wakes(s->deep.program) : NULL;
}

/* Called when a process gets or loses an interpreter. */
static void sampler_note_script(void *context, pid_t pid, bool has_script)
{
	copier_wakes_put(wakes_of(context), pid, has_script);
}

static void load_stack_program(struct sampler *s, const struct event *events, size_t event_count)
{
	size_t ring_bytes = s->rings.ring_bytes * COPIES_SHARE;

	if (!s->options.copies_in_kernel || !ring_set_of(&s->rings, RINGS_CAPTURED) ||
	    s->rings.is_shrunk)
		return;
	s->deep.used_ns = clock_now_ns();
	s->deep.program = stack_program_new(s->cpus, s->cpu_count, least_copy(events, event_count),
					    ring_bytes < COPIES_BYTES_MAX ? ring_bytes
									  : COPIES_BYTES_MAX);
	if (s->deep.program && s->options.scripts)
		scripts_watch(s->options.scripts, sampler_note_script, s);
}

/* If samples are filtered, the program is a part of the filter. Returns false
 * if the program is not useful. */
static bool attach_stack_program(struct sampler *s, size_t first)
{
	const struct fd_list *samples = &s->opened.descriptors.samples;
	bool is_attached = true;

	if (!s->deep.program || s->facts.is_filtered)
		return true;
	for (size_t i = first; i < samples->count && is_attached; i++)
		is_attached = stack_program_attach(s->deep.program, samples->items[i]);
	return is_attached;
}

/* Returns whether options.switches takes effect. Sampling of whole CPUs misses
 * no process and does not need it. */
static bool gives_unsampled(const struct sampler *s, const struct target *target)
{
	return s->options.switches && target->kind == TARGET_COMMAND && target->inherit &&
	       !s->facts.is_tree;
}

static void count_descriptors(struct sampler *s)
{
	const struct descriptors *d = &s->opened.descriptors;

	s->facts.descriptors = d->side.count + d->samples.count + d->switches.count;
}

/* Must be called after the side band was opened, whose records announce later
 * children. */
static void sampler_add_children(struct process_tree *tree, const struct target *target)
{
	CLEANUP(free_ptr) pid_t *children = NULL;
	size_t count;

	descendants_list(target->ids, target->id_count, &children, &count);
	for (size_t i = 0; i < count; i++)
		process_tree_add_process(tree, children[i]);
}

/* The rings that new descriptors write to. */
static struct ring *sample_rings(const struct sampler *s)
{
	return ring_set_of(&s->rings,
			   s->deep.captures && !s->deep.program ? RINGS_CAPTURED : RINGS_SAMPLES);
}

static struct error *sampler_open_target(struct sampler *s, const struct target *target)
{
	struct error *err = NULL;

	s->opened.descriptors.cpus = s->cpus;
	s->opened.descriptors.cpu_count = s->cpu_count;
	s->opened.descriptors.side_rings = ring_set_of(&s->rings, RINGS_SIDE_BAND);
	s->opened.descriptors.sample_rings = sample_rings(s);
	s->opened.descriptors.needs_switches = s->options.waits;
	/* Switches never use the capture rings, where each record wakes a
	 * copier. */
	if (s->options.waits)
		s->opened.descriptors.switch_rings = ring_set_of(&s->rings, RINGS_SWITCHES);
	else if (gives_unsampled(s, target))
		s->opened.descriptors.switch_rings = ring_set_of(&s->rings, RINGS_SAMPLES);
	prepare_attrs(s, target);
	err = descriptors_open(&s->opened.descriptors, target);
	if (!err)
		note_lacking_cpus(s);
	if (err)
		return err;
	if (s->tree && target->with_children)
		sampler_add_children(s->tree, target);
	if (s->facts.is_tree && s->plan.may_filter)
		s->facts.is_filtered = sampler_filter_samples(s);
	if (!attach_stack_program(s, 0))
		drop_stack_program(s);
	prepare_layouts(s);
	s->facts.kernel_excluded = s->opened.descriptors.kernel_excluded;
	s->facts.is_joint = s->opened.descriptors.is_joint;
	s->facts.denied_threads = s->opened.descriptors.denied_count;
	s->facts.cpus = (unsigned)s->cpu_count;
	count_descriptors(s);
	s->facts.has_switches = s->opened.descriptors.switches.count && gives_unsampled(s, target);
	return NULL;
}

static struct sampler *sampler_new(void)
{
	struct sampler *s = xcalloc(1, sizeof(*s));

	s->opened.epoll_fd = -1;
	return s;
}

/* Returns false if no copier could be started. */
static bool start_copiers(struct sampler *s)
{
	struct copier_wakes *wakes = wakes_of(s);
	struct ring *captured = ring_set_of(&s->rings, RINGS_CAPTURED);

	if (s->deep.capture || !captured)
		return s->deep.capture;
	s->deep.capture = capture_new(wakes ? ring_set_of(&s->rings, RINGS_SAMPLES) : captured,
				      wakes, s->cpus, s->cpu_count, &s->opened.layouts, &s->options,
				      s->tree, s->plan.has_scheduler_event);
	if (s->deep.capture)
		copier_wakes_allow(wakes, true);
	return s->deep.capture;
}

static void begin_tree(struct sampler *s, const struct target *target)
{
	s->tree = process_tree_new();
	if (target->kind == TARGET_COMMAND && !target->commands_later)
		process_tree_add_command(s->tree, target->ids[0], clock_now_ns());
	for (size_t i = 0; target->kind == TARGET_PROCESSES && i < target->id_count; i++)
		process_tree_add_process(s->tree, target->ids[i]);
	if (target->rule)
		process_tree_admit_names(s->tree, target->rule->names, target->rule->name_count);
}

static struct error *choose_way(struct sampler *s, const struct target *target)
{
	const struct descriptors *d = &s->opened.descriptors;
	const struct sampling_plan *plan = &s->plan;
	struct error *err = sampling_plan_choose(d->events, d->event_count, target, &s->options,
						 s->cpus[0], &s->plan);

	if (plan->is_tree || target->commands_later)
		begin_tree(s, target);
	s->facts.samples_per_second = plan->samples_per_second;
	s->facts.capture_poll_ms = plan->capture_poll_ms;
	s->facts.is_tree = plan->is_tree;
	s->facts.can_capture = plan->can_capture;
	s->facts.follows_rule = plan->follows_rule;
	s->facts.is_polled = plan->whole_cpus && plan->bytes_per_second;
	s->state.has_commands_later = target->commands_later;
	s->state.is_of_processes = target->kind == TARGET_PROCESSES;
	s->opened.descriptors.whole_cpus = plan->whole_cpus;
	s->opened.descriptors.starts_at_exec = target->kind == TARGET_COMMAND &&
					       !s->options.starts_late;
	s->state.starts_at_exec = s->opened.descriptors.starts_at_exec && !plan->is_tree;
	return err;
}

struct error *sampler_open(const struct event *events, size_t event_count,
			   const struct target *target, const struct sampler_options *options,
			   struct sampler **ret)
{
	CLEANUP(sampler_cleanup) struct sampler *s = sampler_new();
	struct error *err = NULL;

	s->options = *options;
	s->opened.descriptors.events = events;
	s->opened.descriptors.event_count = event_count;
	err = cpus_choose(target->cpus, target->cpu_count, &s->cpus, &s->cpu_count);
	if (!err)
		err = choose_way(s, target);
	if (!err)
		err = attr_probe(&s->opened.features);
	/* The time of a CPU's event is not that of a thread. */
	s->opened.features.reads_times &= !s->plan.whole_cpus;
	if (!err)
		err = open_rings(s, s->plan.can_capture);
	if (err)
		return err;
	load_stack_program(s, events, event_count);
	s->deep.captures = s->deep.will_capture = options->captures_from_start &&
						  s->facts.samples_per_second &&
						  ring_set_of(&s->rings, RINGS_CAPTURED);
	err = sampler_open_target(s, target);
	if (err)
		return err;
	if (s->deep.captures) /* not before, because copiers read the layouts */
		start_copiers(s);
	*ret = STEAL(s);
	return NULL;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	if (s->options.scripts)
		scripts_watch(s->options.scripts, NULL, NULL);
	output_redirect_end(s->deep.redirect);
	capture_free(s->deep.capture);
	stack_program_free(s->deep.program);
	for (size_t i = 0; s->opened.lacking_cpus && i < s->opened.descriptors.event_count; i++)
		free(s->opened.lacking_cpus[i]);
	free(s->opened.lacking_cpus);
	descriptors_deinit(&s->opened.descriptors);
	ring_set_deinit(&s->rings);
	close_fd(&s->opened.epoll_fd);
	ring_merge_deinit(&s->merge);
	process_tree_free(s->tree);
	group_counts_deinit(&s->opened.group_counts);
	free(s->cpus);
	layouts_deinit(&s->opened.layouts);
	free(s);
}

const struct sampler_facts *sampler_facts(const struct sampler *s)
{
	return &s->facts;
}

const char *sampler_lacking_cpus(const struct sampler *s, unsigned event)
{
	return s->opened.lacking_cpus[event];
}

const struct opened_event *sampler_opened(const struct sampler *s, size_t *count)
{
	*count = s->opened.descriptors.opened_count;
	return s->opened.descriptors.opened;
}

struct error *sampler_enable(struct sampler *s)
{
	/* Short slices let the reader get a CPU before the rings are full. */
	sched_request_short_slices();
	s->state.has_begun = true;
	s->state.is_paused = false;
	return s->state.starts_at_exec ? NULL : descriptors_enable(&s->opened.descriptors);
}

void sampler_add_command(struct sampler *s, pid_t pid)
{
	assert(s->state.has_commands_later);
	process_tree_add_command(s->tree, pid, clock_now_ns());
	descriptors_count_command(&s->opened.descriptors, pid, !s->state.is_paused);
}

/* Returns false while the redirection's threads still read the list of
 * descriptors. */
static bool end_redirect(struct sampler *s)
{
	if (s->deep.redirect && !output_redirect_is_done(s->deep.redirect))
		return false;
	if (s->deep.redirect)
		s->deep.captures = s->deep.will_capture;
	output_redirect_end(STEAL(s->deep.redirect));
	return true;
}

bool sampler_add_process(struct sampler *s, pid_t pid)
{
	size_t count = s->opened.descriptors.samples.count;

	if (s->tree)
		process_tree_add_process(s->tree, pid);
	if (s->facts.follows_rule)
		return true;
	if (!end_redirect(s))
		return false;
	s->opened.descriptors.sample_rings = sample_rings(s);
	descriptors_add_process(&s->opened.descriptors, pid,
				s->state.has_begun && !s->state.is_paused);
	if (!attach_stack_program(s, count))
		drop_stack_program(s);
	note_ids(s);
	count_descriptors(s);
	s->facts.kernel_excluded = s->opened.descriptors.kernel_excluded;
	return true;
}

/* Aborts the redirection, because each ioctl would have to wait for it. The
 * same applies when sampling ends. */
static void cut_redirect(struct sampler *s)
{
	if (!s->deep.redirect || output_redirect_is_done(s->deep.redirect))
		return;
	output_redirect_end(STEAL(s->deep.redirect));
	s->deep.is_redirect_cut = true;
}

void sampler_pause(struct sampler *s)
{
	assert(s->state.has_begun || !s->opened.descriptors.starts_at_exec);
	cut_redirect(s);
	if (s->state.has_begun)
		descriptors_pause(&s->opened.descriptors);
	else
		descriptors_enable_switches(&s->opened.descriptors);
	/* The exec is over and has enabled its events. */
	s->state.starts_at_exec = s->opened.descriptors.starts_at_exec = false;
	s->state.is_paused = true;
}

void sampler_disable(struct sampler *s)
{
	/* With thousands of descriptors, each ioctl would have to wait for the
	 * redirection. */
	output_redirect_end(STEAL(s->deep.redirect));
	descriptors_disable(&s->opened.descriptors);
	s->state.is_stopped = true;
}

int sampler_fd(const struct sampler *s)
{
	return s->opened.epoll_fd;
}

/* Wakes copiers only for samples that need one, also between such samples. */
static void capture_chosen(struct sampler *s, bool capture, bool is_fast)
{
	s->deep.captures = capture && start_copiers(s);
	copier_wakes_allow(wakes_of(s), s->deep.capture && !is_fast);
}

void sampler_capture_deep(struct sampler *s, bool wanted, bool is_fast)
{
	bool capture = wanted && !is_fast;

	if (s->deep.program) {
		capture_chosen(s, capture, is_fast);
		return;
	}
	if (s->deep.redirect && !output_redirect_is_done(s->deep.redirect))
		return;
	output_redirect_end(STEAL(s->deep.redirect));
	if (!s->deep.is_redirect_cut) {
		s->deep.captures = s->deep.will_capture;
		if (capture == s->deep.captures || !start_copiers(s))
			return;
	}
	s->deep.is_redirect_cut = false;
	s->deep.redirect = output_redirect_begin(
		&s->opened.descriptors.samples,
		ring_set_of(&s->rings, capture ? RINGS_CAPTURED : RINGS_SAMPLES));
	s->deep.will_capture = capture;
	s->deep.captures = true;
}

bool sampler_captures_deep(const struct sampler *s)
{
	return s->deep.captures;
}

/* Returns whether copiers would help with a deep stack: the program misses more
 * than a tenth of the deep stacks. */
static bool is_for_copiers(struct sampler *s, bool has_program_copied)
{
	if (!s->deep.program)
		return true;
	if (!has_program_copied)
		s->deep.misses += PROGRAM_MISS;
	else if (s->deep.misses)
		s->deep.misses--;
	if (s->deep.misses > PROGRAM_MISSES_MAX)
		s->deep.misses = PROGRAM_MISSES_MAX;
	return !has_program_copied && s->deep.misses > 2 * PROGRAM_MISS;
}

/* Returns whether only a copier can complete stacks like that of the sample. */
static bool needs_copier(struct sampler *s, const struct record *sample,
			 const struct stack_extent *extent, bool is_cut)
{
	return is_cut || extent->needs_go || extent->needs_script ||
	       ((extent->is_deep || extent->saved_sp_at) &&
		is_for_copiers(s, sample->sample.has_program_copied));
}

bool sampler_note_stack(struct sampler *s, const struct record *sample, struct stack_extent extent)
{
	struct stack_program *program = s->deep.program;
	uint64_t sp = record_register(&sample->sample.regs, s->options.sp_bit);
	bool is_cut, needs;

	if (s->options.copies_whole_stacks)
		extent.slots = NULL;
	is_cut = program && stack_program_note(program, sp, sample, extent);
	needs = needs_copier(s, sample, &extent, is_cut);
	if (needs)
		copier_wakes_put(wakes_of(s), sample->tid, true);
	if (s->deep.capture)
		capture_note_stack(s->deep.capture, sample->tid, extent);
	return needs;
}

int sampler_poll_ms(const struct sampler *s)
{
	if (s->deep.captures)
		return s->facts.capture_poll_ms;
	if (!s->deep.program || clock_now_ns() - s->deep.used_ns > NS_PER_SECOND)
		return 0;
	return s->plan.program_poll_ms;
}

void sampler_end_switches(struct sampler *s)
{
	descriptors_end_switches(&s->opened.descriptors);
}

bool sampler_counted(const struct sampler *s, unsigned event, uint64_t *ret)
{
	return descriptors_counted(&s->opened.descriptors, event, ret);
}

static unsigned side_band_percent(const struct sampler *s)
{
	const struct ring *rings = ring_set_of(&s->rings, RINGS_SIDE_BAND);
	unsigned most = 0;

	for (size_t i = 0; i < s->cpu_count; i++)
		if (ring_percent(&rings[i]) > most)
			most = ring_percent(&rings[i]);
	return most;
}

/* Returns the age of samples that no copier will complete any more. Their ring
 * must have room for the samples until then. Waits must be read before they
 * end. */
static uint64_t settled_ns(const struct sampler *s)
{
	uint64_t poll_ns = (uint64_t)s->facts.capture_poll_ms * NS_PER_MS;

	if (s->options.waits || poll_ns < CAPTURE_SETTLED_NS)
		return CAPTURE_SETTLED_NS;
	return poll_ns < CAPTURE_SETTLED_MAX_NS ? poll_ns : CAPTURE_SETTLED_MAX_NS;
}

void sampler_batch(struct sampler *s)
{
	uint64_t now_ns = clock_now_ns();
	/* No stacks are copied in a pause or after the end of sampling. If the
	 * rings of samples or switches hold the side band, a sample that was
	 * read from one ring can need a mapping that is still unread in
	 * another. */
	bool settles = ((s->deep.captures && !s->state.is_paused) || s->facts.is_joint) &&
		       !s->state.is_stopped;

	/* A thread that migrates is switched in on the new CPU after it was
	 * switched out on the old one. The heads of the two rings may be read
	 * in between. */
	bool keeps_order = settles ||
			   ((s->options.waits || s->options.keeps_order) && !s->state.is_stopped);

	s->state.complete_ns = now_ns - (settles ? settled_ns(s) : SAMPLER_WRITTEN_NS);
	ring_merge_batch(&s->merge, keeps_order ? s->state.complete_ns : UINT64_MAX);
	s->state.side_band_percent = side_band_percent(s);
}

unsigned sampler_side_band_percent(const struct sampler *s)
{
	return s->state.side_band_percent;
}

uint64_t sampler_complete_ns(const struct sampler *s)
{
	return s->state.complete_ns;
}

static bool take_unreported_losses(struct sampler *s, struct record *ret)
{
	const struct descriptors *d = &s->opened.descriptors;

	if (!s->state.is_stopped || !s->opened.features.lost)
		return false;
	return sample_losses_take_rest(&s->losses, LOST_SAMPLES, descriptors_lost(&d->samples),
				       ret) ||
	       (s->options.waits && sample_losses_take_rest(&s->losses, LOST_SWITCHES,
							    descriptors_lost(&d->switches), ret));
}

static void note_loss(struct sampler *s, enum ring_kind kind, struct record *lost)
{
	if (kind == RINGS_SWITCHES)
		lost->lost.what = LOST_SWITCHES;
	else if (kind == RINGS_SIDE_BAND)
		lost->lost.what = LOST_CHANGES;
	sample_losses_report(&s->losses, lost);
}

static bool is_of_tree(struct sampler *s, const struct record *record)
{
	bool is_taken = process_tree_takes(s->tree, record);

	if (record->type == RECORD_SAMPLE)
		sample_losses_note_sample(&s->losses, is_taken);
	return is_taken;
}

/* For a command, only switches of its processes matter. With whole CPUs, those
 * of the idle task do, too. */
static bool is_switch_of_interest(struct sampler *s, const struct record *record)
{
	return record->tid > 0 && (!s->state.is_of_processes || !s->tree || is_of_tree(s, record));
}

static bool sampler_is_of_interest(struct sampler *s, const struct ring_head *front)
{
	struct late_threads *late_threads = &s->opened.descriptors.late_threads;
	uint64_t id = 0;

	if (front->record.type == RECORD_OTHER)
		return false;
	if (front->record.type == RECORD_SWITCH && s->opened.descriptors.whole_cpus &&
	    !s->state.has_commands_later && ring_set_kind(&s->rings, front->ring) == RINGS_SWITCHES)
		return is_switch_of_interest(s, &front->record);
	if (s->tree)
		return is_of_tree(s, &front->record);
	if (late_threads->late_count == 0 || !record_id(s->opened.layouts.items, front->raw, &id))
		return true;
	return late_threads_counts(late_threads, &front->record, id);
}

/*
 * The events of a CPU continue to count while its copier works, which would
 * attribute the copier's time to the sampled threads. It is subtracted from the
 * weight.
 */
static void complete_by_copier(struct sampler *s, size_t cpu, struct record *sample)
{
	uint64_t cost_ns = capture_cost_ns(s->deep.capture, cpu);

	capture_complete(s->deep.capture, cpu, sample);
	if (cost_ns > s->plan.interval_ns / 2)
		cost_ns = s->plan.interval_ns / 2;
	if (cost_ns)
		sample->sample.period -= sample->sample.period * cost_ns / s->plan.interval_ns;
}

static bool complete_by_program(struct sampler *s, size_t cpu, struct record *sample)
{
	uint64_t sp = record_register(&sample->sample.regs, s->options.sp_bit);
	bool is_copied = s->deep.program && bytes_left(&sample->sample.stack) &&
			 stack_program_complete(s->deep.program, cpu, sp, sample);

	if (is_copied)
		s->deep.used_ns = sample->time_ns;
	return is_copied;
}

/* Returns whether the sample has woken a copier. */
static bool has_woken_copier(const struct sampler *s, enum ring_kind kind,
			     const struct record *sample)
{
	const struct copier_wakes *wakes = wakes_of(s);

	return s->deep.capture &&
	       (wakes ? copier_wakes_have(wakes, sample) : kind == RINGS_CAPTURED);
}

static void sampler_complete(struct sampler *s, enum ring_kind kind, size_t cpu,
			     struct record *sample)
{
	sample->sample.has_program_copied = complete_by_program(s, cpu, sample);
	if (has_woken_copier(s, kind, sample) &&
	    (!sample->sample.has_program_copied || capture_is_needed(s->deep.capture, sample)))
		complete_by_copier(s, cpu, sample);
}

static void sampler_read_fields(struct sampler *s, struct record *record)
{
	struct record_sample *sample = &record->sample;
	const struct event *event = &s->opened.descriptors.events[sample->event];

	if (event->reader)
		field_reader_read(event->reader, sample);
	if (event->weight_argument.register_bit)
		sample->period *= call_argument_value(event->weight_argument, &sample->regs);
	if (sample->group_value_bytes)
		group_counts_read(&s->opened.group_counts, &s->opened.layouts,
				  s->opened.descriptors.whole_cpus ? 0 : record->tid, sample);
}

bool sampler_next(struct sampler *s, struct record *ret)
{
	const struct ring_head *front = NULL;
	enum ring_kind kind;

	do {
		front = ring_merge_next(&s->merge);
		if (!front)
			return take_unreported_losses(s, ret);
	} while (!sampler_is_of_interest(s, front));
	*ret = front->record;
	if (ret->type == RECORD_SAMPLE)
		sampler_read_fields(s, ret);
	kind = ring_set_kind(&s->rings, front->ring);
	if (ret->type == RECORD_LOST)
		note_loss(s, kind, ret);
	if (ret->type == RECORD_EXIT)
		copier_wakes_put(wakes_of(s), ret->tid, false);
	if (ret->type == RECORD_SAMPLE)
		sampler_complete(s, kind, front->ring % s->cpu_count, ret);
	return true;
}

static struct error *source_enable(void *source)
{
	sched_raise_priority();
	return sampler_enable(source);
}

static void source_disable(void *source)
{
	sampler_disable(source);
	sched_restore_priority();
}

static int source_fd(const void *source)
{
	return sampler_fd(source);
}

static void source_batch(void *source)
{
	sampler_batch(source);
}

static bool sampler_source_next(void *source, struct record *ret)
{
	return sampler_next(source, ret);
}

static void sampler_source_close(void *source)
{
	sampler_free(source);
}

struct record_source sampler_source(struct sampler *sampler)
{
	static const struct record_source_ops ops = {
		.enable = source_enable,
		.disable = source_disable,
		.fd = source_fd,
		.batch = source_batch,
		.next = sampler_source_next,
		.close = sampler_source_close,
	};

	return (struct record_source){.ops = &ops, .source = sampler};
}
