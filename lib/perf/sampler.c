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
	/* A ring that holds fewer copies of stacks loses samples while the reader waits for a CPU;
	 * deep stacks are better captured. */
	LEAST_COPIES = 8,
	/* The rings of the kernel's copies beside those of samples, within a bound. */
	COPIES_SHARE = 2,
	COPIES_BYTES_MAX = 16 << 20,
	/* See is_for_copiers(). */
	PROGRAM_MISS = 10,
	PROGRAM_MISSES_MAX = 100,
	/* The kernel takes this time at most from taking the time of a record to its end, unless it
	 * is interrupted between them. */
	WRITTEN_NS = 5000,
};

struct sampler {
	unsigned *cpus;
	size_t cpu_count;
	struct ring_set rings;
	struct ring_merge merge;
	struct stack_program *program; /* NULL: copiers alone copy deep stacks */
	uint64_t program_used_ns;      /* when it has last copied one; at first the beginning */
	unsigned program_misses;       /* rises with deep stacks that it has not copied */
	struct capture *capture;       /* NULL: not started */
	bool captures;		       /* some descriptors at least write to RINGS_CAPTURED … */
	bool will_capture;	       /* … and all or none will when `redirect` is done */
	struct output_redirect *redirect; /* the last one; NULL: none is under way */
	bool is_redirect_cut;		  /* a pause has cut it off */
	struct sampling_plan plan;
	struct process_tree *tree; /* more is sampled than it; NULL: no more than the target */
	struct sampler_options options;
	unsigned side_band_percent; /* see sampler_side_band_percent() */

	struct descriptors descriptors;
	char **lacking_cpus; /* of each event, or NULL: see sampler_lacking_cpus() */
	struct attr_features features;
	struct group_counts group_counts;
	struct layouts layouts; /* of the sampling events; the side band ends as they do */

	int epoll_fd;
	bool starts_at_exec;
	bool has_commands_later; /* target.commands_later */
	bool is_of_processes;	 /* TARGET_PROCESSES */
	bool has_begun, is_paused, stopped;
	struct sample_losses losses;
	uint64_t complete_ns; /* sampler_complete_ns() */
	struct sampler_facts facts;
};

static unsigned ring_kinds(const struct sampler *s, bool captures)
{
	unsigned kinds = 1U << RINGS_SIDE_BAND;

	if (s->options.waits)
		kinds |= 1U << RINGS_SWITCHES;
	if (s->descriptors.event_count)
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
	ring_merge_init(&s->merge, rings->items, ring_set_count(rings), &s->layouts);
	err = ring_set_open(rings, s->cpus, s->options.ring_bytes, s->plan.bytes_per_second,
			    s->facts.is_polled);
	if (!err)
		err = ring_set_watch(rings, &s->epoll_fd);
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
	const struct event *event = &s->descriptors.events[opened->event];
	struct perf_event_attr *attr = &opened->attr;

	attr_samples(attr, event, &s->features);
	attr_choose_variant(attr, event, opened->variant);
	opened->may_be_less_precise = event->may_be_less_precise;
	bound_copy(s, attr);
	attr->inherit = inherit;
	attr->enable_on_exec = s->starts_at_exec;
	if (s->descriptors.whole_cpus && s->is_of_processes)
		attr_exclude_idle(attr);
	opened->cgroup = cgroup;
}

/* cgroup: the index of the one that is sampled, if cgroups are. */
static void add_opened(struct sampler *s, const struct target *target, bool inherit, size_t cgroup)
{
	struct descriptors *d = &s->descriptors;
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

/* Events of one cgroup come together: groups are of one. */
static void prepare_attrs(struct sampler *s, const struct target *target)
{
	struct descriptors *d = &s->descriptors;
	bool inherit = target->inherit && !d->whole_cpus;
	size_t cgroups = s->plan.samples_cgroups ? target->rule->cgroup_count : 1;

	for (size_t i = 0; i < cgroups; i++)
		add_opened(s, target, inherit, i);
	attr_side_band(&d->side_attr, inherit);
	d->side_attr.mmap_data = s->options.data_mappings;
	attr_switches(&d->switch_attr, target->inherit && target->kind != TARGET_SYSTEM,
		      &s->features);
	d->switch_attr.enable_on_exec = d->starts_at_exec;
}

/* Notes the ids of new descriptors; those that are known stay. */
static void note_ids(struct sampler *s)
{
	const struct descriptors *d = &s->descriptors;

	for (uint32_t index = 0; index < d->opened_count; index++)
		for (size_t i = 0; i < d->opened[index].id_count; i++)
			layouts_add_id(&s->layouts, d->opened[index].ids[i], index);
}

static void prepare_layouts(struct sampler *s)
{
	const struct descriptors *d = &s->descriptors;

	/* Without samples all records end as the side band. */
	if (!d->opened_count) {
		struct record_layout layout = attr_layout(&d->side_attr);

		layouts_add(&s->layouts, &layout);
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
		has_id_place = layouts_add(&s->layouts, &layout);
		assert(has_id_place);
		(void)has_id_place; /* without assertions nothing else reads it */
	}
	note_ids(s);
}

static void note_lacking_cpus(struct sampler *s)
{
	s->lacking_cpus = xcalloc(s->descriptors.event_count, sizeof(*s->lacking_cpus));
	for (unsigned i = 0; i < s->descriptors.event_count; i++)
		s->lacking_cpus[i] = descriptors_lacking_cpus(&s->descriptors, i);
}

static void drop_stack_program(struct sampler *s)
{
	stack_program_free(STEAL(s->program));
}

/* The stack program is the end of the filter, unless the kernel refuses it. */
static bool begin_filter(struct sampler *s)
{
	bool has_probes = s->plan.has_probes;

	if (s->program &&
	    process_tree_begin_filter(s->tree, has_probes, stack_program_code(s->program)))
		return true;
	drop_stack_program(s);
	return process_tree_begin_filter(s->tree, has_probes, NULL);
}

static bool filter_samples(struct sampler *s)
{
	const struct descriptors *d = &s->descriptors;
	bool is_filtered = begin_filter(s);

	for (size_t i = 0; i < d->samples.count && is_filtered; i++)
		is_filtered = process_tree_filter_event(s->tree, d->samples.items[i],
							d->events[d->samples.events[i]].is_probe);
	return is_filtered;
}

/* The smallest copy of a stack that a sample has. */
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

static void load_stack_program(struct sampler *s, const struct event *events, size_t event_count)
{
	size_t ring_bytes = s->rings.ring_bytes * COPIES_SHARE;

	if (!s->options.copies_in_kernel || !ring_set_of(&s->rings, RINGS_CAPTURED) ||
	    s->rings.is_shrunk)
		return;
	s->program_used_ns = clock_now_ns();
	s->program = stack_program_new(s->cpus, s->cpu_count, least_copy(events, event_count),
				       ring_bytes < COPIES_BYTES_MAX ? ring_bytes
								     : COPIES_BYTES_MAX);
}

/* Where samples are filtered it is part of the filter. False: it is not of use then. */
static bool attach_stack_program(struct sampler *s, size_t first)
{
	const struct fd_list *samples = &s->descriptors.samples;
	bool is_attached = true;

	if (!s->program || s->facts.is_filtered)
		return true;
	for (size_t i = first; i < samples->count && is_attached; i++)
		is_attached = stack_program_attach(s->program, samples->items[i]);
	return is_attached;
}

/* Whether options.switches can be granted: whole CPUs miss nothing. */
static bool gives_balance(const struct sampler *s, const struct target *target)
{
	return s->options.switches && target->kind == TARGET_COMMAND && target->inherit &&
	       !s->facts.is_tree;
}

static void count_descriptors(struct sampler *s)
{
	const struct descriptors *d = &s->descriptors;

	s->facts.descriptors = d->side.count + d->samples.count + d->switches.count;
}

/* To be called when the side band is open: its records tell of later children. */
static void add_children(struct process_tree *tree, const struct target *target)
{
	CLEANUP(free_ptr) pid_t *children = NULL;
	size_t count;

	descendants_list(target->ids, target->id_count, &children, &count);
	for (size_t i = 0; i < count; i++)
		process_tree_add_process(tree, children[i]);
}

static struct error *open_target(struct sampler *s, const struct target *target)
{
	struct error *err = NULL;

	s->descriptors.cpus = s->cpus;
	s->descriptors.cpu_count = s->cpu_count;
	s->descriptors.side_rings = ring_set_of(&s->rings, RINGS_SIDE_BAND);
	s->descriptors.sample_rings = ring_set_of(&s->rings,
						  s->captures ? RINGS_CAPTURED : RINGS_SAMPLES);
	s->descriptors.needs_switches = s->options.waits;
	/* Never to those of capture, where each record wakes a copier. */
	if (s->options.waits)
		s->descriptors.switch_rings = ring_set_of(&s->rings, RINGS_SWITCHES);
	else if (gives_balance(s, target))
		s->descriptors.switch_rings = ring_set_of(&s->rings, RINGS_SAMPLES);
	prepare_attrs(s, target);
	err = descriptors_open(&s->descriptors, target);
	if (!err)
		note_lacking_cpus(s);
	if (err)
		return err;
	if (s->tree && target->with_children)
		add_children(s->tree, target);
	if (s->facts.is_tree && s->plan.may_filter)
		s->facts.is_filtered = filter_samples(s);
	if (!attach_stack_program(s, 0))
		drop_stack_program(s);
	prepare_layouts(s);
	s->facts.kernel_excluded = s->descriptors.kernel_excluded;
	s->facts.is_joint = s->descriptors.is_joint;
	s->facts.denied_threads = s->descriptors.denied_count;
	s->facts.cpus = (unsigned)s->cpu_count;
	count_descriptors(s);
	s->facts.has_switches = s->descriptors.switches.count && gives_balance(s, target);
	return NULL;
}

static struct sampler *sampler_new(void)
{
	struct sampler *s = xcalloc(1, sizeof(*s));

	s->epoll_fd = -1;
	return s;
}

/* False: there are no copiers. */
static bool start_copiers(struct sampler *s)
{
	if (!s->capture && ring_set_of(&s->rings, RINGS_CAPTURED))
		s->capture = capture_new(ring_set_of(&s->rings, RINGS_CAPTURED), s->cpus,
					 s->cpu_count, &s->layouts, &s->options, s->tree,
					 s->plan.has_scheduler_event);
	return s->capture;
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
	const struct descriptors *d = &s->descriptors;
	const struct sampling_plan *plan = &s->plan;
	struct error *err = sampling_plan_choose(d->events, d->event_count, target, &s->options,
						 s->cpus[0], &s->plan);

	if (plan->is_tree || target->commands_later)
		begin_tree(s, target);
	s->facts.samples_per_second = plan->samples_per_second;
	s->facts.capture_poll_ms = plan->capture_poll_ms;
	s->facts.is_tree = plan->is_tree;
	s->facts.follows_rule = plan->follows_rule;
	s->facts.is_polled = plan->whole_cpus && plan->bytes_per_second;
	s->has_commands_later = target->commands_later;
	s->is_of_processes = target->kind == TARGET_PROCESSES;
	s->descriptors.whole_cpus = plan->whole_cpus;
	s->descriptors.starts_at_exec = target->kind == TARGET_COMMAND && !s->options.starts_late;
	s->starts_at_exec = s->descriptors.starts_at_exec && !plan->is_tree;
	return err;
}

struct error *sampler_open(const struct event *events, size_t event_count,
			   const struct target *target, const struct sampler_options *options,
			   struct sampler **ret)
{
	CLEANUP(sampler_cleanup) struct sampler *s = sampler_new();
	struct error *err = NULL;

	s->options = *options;
	s->descriptors.events = events;
	s->descriptors.event_count = event_count;
	err = cpus_choose(target->cpus, target->cpu_count, &s->cpus, &s->cpu_count);
	if (!err)
		err = choose_way(s, target);
	if (!err)
		err = attr_probe(&s->features);
	if (!err)
		err = open_rings(s, s->plan.can_capture);
	if (err)
		return err;
	load_stack_program(s, events, event_count);
	s->captures = s->will_capture = options->captures_from_start &&
					s->facts.samples_per_second &&
					ring_set_of(&s->rings, RINGS_CAPTURED);
	err = open_target(s, target);
	if (err)
		return err;
	if (s->captures) /* not before: copiers read the layouts */
		start_copiers(s);
	*ret = STEAL(s);
	return NULL;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	output_redirect_end(s->redirect);
	capture_free(s->capture);
	stack_program_free(s->program);
	for (size_t i = 0; s->lacking_cpus && i < s->descriptors.event_count; i++)
		free(s->lacking_cpus[i]);
	free(s->lacking_cpus);
	descriptors_deinit(&s->descriptors);
	ring_set_deinit(&s->rings);
	close_fd(&s->epoll_fd);
	ring_merge_deinit(&s->merge);
	process_tree_free(s->tree);
	group_counts_deinit(&s->group_counts);
	free(s->cpus);
	layouts_deinit(&s->layouts);
	free(s);
}

const struct sampler_facts *sampler_facts(const struct sampler *s)
{
	return &s->facts;
}

const char *sampler_lacking_cpus(const struct sampler *s, unsigned event)
{
	return s->lacking_cpus[event];
}

const struct opened_event *sampler_opened(const struct sampler *s, size_t *count)
{
	*count = s->descriptors.opened_count;
	return s->descriptors.opened;
}

struct error *sampler_enable(struct sampler *s)
{
	/* So that the reader gets a CPU before the rings are full. */
	sched_request_short_slices();
	s->has_begun = true;
	s->is_paused = false;
	return s->starts_at_exec ? NULL : descriptors_enable(&s->descriptors);
}

void sampler_add_command(struct sampler *s, pid_t pid)
{
	assert(s->has_commands_later);
	process_tree_add_command(s->tree, pid, clock_now_ns());
	descriptors_count_command(&s->descriptors, pid, !s->is_paused);
}

/* False: threads read the list of descriptors. */
static bool end_redirect(struct sampler *s)
{
	if (s->redirect && !output_redirect_is_done(s->redirect))
		return false;
	if (s->redirect)
		s->captures = s->will_capture;
	output_redirect_end(STEAL(s->redirect));
	return true;
}

bool sampler_add_process(struct sampler *s, pid_t pid)
{
	size_t count = s->descriptors.samples.count;

	if (s->tree)
		process_tree_add_process(s->tree, pid);
	if (s->facts.follows_rule)
		return true;
	if (!end_redirect(s))
		return false;
	s->descriptors.sample_rings = ring_set_of(&s->rings,
						  s->captures ? RINGS_CAPTURED : RINGS_SAMPLES);
	descriptors_add_process(&s->descriptors, pid, s->has_begun && !s->is_paused);
	if (!attach_stack_program(s, count))
		drop_stack_program(s);
	note_ids(s);
	count_descriptors(s);
	s->facts.kernel_excluded = s->descriptors.kernel_excluded;
	return true;
}

/* Each descriptor would wait for the redirection of another, as when sampling ends. */
static void cut_redirect(struct sampler *s)
{
	if (!s->redirect || output_redirect_is_done(s->redirect))
		return;
	output_redirect_end(STEAL(s->redirect));
	s->is_redirect_cut = true;
}

void sampler_pause(struct sampler *s)
{
	assert(s->has_begun || !s->descriptors.starts_at_exec);
	cut_redirect(s);
	if (s->has_begun)
		descriptors_pause(&s->descriptors);
	else
		descriptors_enable_switches(&s->descriptors);
	/* The exec is over, and has enabled what it was to enable. */
	s->starts_at_exec = s->descriptors.starts_at_exec = false;
	s->is_paused = true;
}

void sampler_disable(struct sampler *s)
{
	/* With thousands of descriptors each would wait for the redirection of another. */
	output_redirect_end(STEAL(s->redirect));
	descriptors_disable(&s->descriptors);
	s->stopped = true;
}

int sampler_fd(const struct sampler *s)
{
	return s->epoll_fd;
}

void sampler_capture_deep(struct sampler *s, bool capture)
{
	if (s->redirect && !output_redirect_is_done(s->redirect))
		return;
	output_redirect_end(STEAL(s->redirect));
	if (!s->is_redirect_cut) {
		s->captures = s->will_capture;
		if (capture == s->captures || !start_copiers(s))
			return;
	}
	s->is_redirect_cut = false;
	s->redirect = output_redirect_begin(
		&s->descriptors.samples,
		ring_set_of(&s->rings, capture ? RINGS_CAPTURED : RINGS_SAMPLES));
	s->will_capture = capture;
	s->captures = true;
}

bool sampler_captures_deep(const struct sampler *s)
{
	return s->captures;
}

/* Of a deep stack: whether copiers are of use, where the program misses more than a tenth. */
static bool is_for_copiers(struct sampler *s, bool has_program_copied)
{
	if (!s->program)
		return true;
	if (!has_program_copied)
		s->program_misses += PROGRAM_MISS;
	else if (s->program_misses)
		s->program_misses--;
	if (s->program_misses > PROGRAM_MISSES_MAX)
		s->program_misses = PROGRAM_MISSES_MAX;
	return !has_program_copied && s->program_misses > 2 * PROGRAM_MISS;
}

bool sampler_note_stack(struct sampler *s, const struct record *sample, struct stack_extent extent)
{
	if (s->options.copies_whole_stacks)
		extent.slots = NULL;
	if (s->program)
		stack_program_note(s->program, sample, extent);
	if (s->capture)
		capture_note_stack(s->capture, sample->tid, extent);
	return extent.needs_go || ((extent.is_deep || extent.saved_sp_at) &&
				   is_for_copiers(s, sample->sample.has_program_copied));
}

int sampler_poll_ms(const struct sampler *s)
{
	if (s->captures)
		return s->facts.capture_poll_ms;
	if (!s->program || clock_now_ns() - s->program_used_ns > NS_PER_SECOND)
		return 0;
	return s->plan.program_poll_ms;
}

void sampler_end_switches(struct sampler *s)
{
	descriptors_end_switches(&s->descriptors);
}

bool sampler_counted(const struct sampler *s, unsigned event, uint64_t *ret)
{
	return descriptors_counted(&s->descriptors, event, ret);
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

void sampler_batch(struct sampler *s)
{
	uint64_t now_ns = clock_now_ns();
	/* After the end of sampling, or in a pause, nothing more is copied. If the rings of samples
	 * or switches hold the side band, a mapping in one can be older than a sample in another
	 * that was looked at later. */
	bool settles = ((s->captures && !s->is_paused) || s->facts.is_joint) && !s->stopped;

	/* A thread that goes to another CPU is switched in there after it was switched out here,
	 * also where the heads of two rings were noted between them. */
	bool keeps_order = settles || ((s->options.waits || s->options.keeps_order) && !s->stopped);

	s->complete_ns = now_ns - (settles ? CAPTURE_SETTLED_NS : WRITTEN_NS);
	ring_merge_batch(&s->merge, keeps_order ? s->complete_ns : UINT64_MAX);
	s->side_band_percent = side_band_percent(s);
}

unsigned sampler_side_band_percent(const struct sampler *s)
{
	return s->side_band_percent;
}

uint64_t sampler_complete_ns(const struct sampler *s)
{
	return s->complete_ns;
}

static bool take_unreported_losses(struct sampler *s, struct record *ret)
{
	const struct descriptors *d = &s->descriptors;

	if (!s->stopped || !s->features.lost)
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

/* Those of a command are of its processes alone, those of whole CPUs of the idle task, too. */
static bool is_switch_of_interest(struct sampler *s, const struct record *record)
{
	return record->tid > 0 && (!s->is_of_processes || !s->tree || is_of_tree(s, record));
}

static bool is_of_interest(struct sampler *s, const struct ring_head *front)
{
	struct late_threads *late_threads = &s->descriptors.late_threads;
	uint64_t id = 0;

	if (front->record.type == RECORD_OTHER)
		return false;
	if (front->record.type == RECORD_SWITCH && s->descriptors.whole_cpus &&
	    !s->has_commands_later && ring_set_kind(&s->rings, front->ring) == RINGS_SWITCHES)
		return is_switch_of_interest(s, &front->record);
	if (s->tree)
		return is_of_tree(s, &front->record);
	if (late_threads->late_count == 0 || !record_id(s->layouts.items, front->raw, &id))
		return true;
	return late_threads_counts(late_threads, &front->record, id);
}

/*
 * The events of a CPU go on while its copier works, so that samples would show the copier's time as
 * that of the threads it works for: it is subtracted from what they weigh.
 */
static void complete_by_copier(struct sampler *s, size_t cpu, struct record *sample)
{
	uint64_t cost_ns = capture_cost_ns(s->capture, cpu);

	capture_complete(s->capture, cpu, sample);
	if (cost_ns > s->plan.interval_ns / 2)
		cost_ns = s->plan.interval_ns / 2;
	if (cost_ns)
		sample->sample.period -= sample->sample.period * cost_ns / s->plan.interval_ns;
}

static bool complete_by_program(struct sampler *s, size_t cpu, struct record *sample)
{
	uint64_t sp = record_register(&sample->sample.regs, s->options.sp_bit);
	bool is_copied = s->program && bytes_left(&sample->sample.stack) &&
			 stack_program_complete(s->program, cpu, sp, sample);

	if (is_copied)
		s->program_used_ns = sample->time_ns;
	return is_copied;
}

static void complete(struct sampler *s, enum ring_kind kind, size_t cpu, struct record *sample)
{
	sample->sample.has_program_copied = complete_by_program(s, cpu, sample);
	if (kind == RINGS_CAPTURED && s->capture &&
	    (!sample->sample.has_program_copied || capture_is_needed(s->capture, sample->tid)))
		complete_by_copier(s, cpu, sample);
}

static void read_fields(struct sampler *s, struct record *record)
{
	struct record_sample *sample = &record->sample;
	const struct event *event = &s->descriptors.events[sample->event];

	if (event->reader)
		field_reader_read(event->reader, sample);
	if (event->weight_argument.register_bit)
		sample->period *= call_argument_value(event->weight_argument, &sample->regs);
	if (sample->group_value_bytes)
		group_counts_read(&s->group_counts, &s->layouts,
				  s->descriptors.whole_cpus ? 0 : record->tid, sample);
}

bool sampler_next(struct sampler *s, struct record *ret)
{
	const struct ring_head *front = NULL;
	enum ring_kind kind;

	do {
		front = ring_merge_next(&s->merge);
		if (!front)
			return take_unreported_losses(s, ret);
	} while (!is_of_interest(s, front));
	*ret = front->record;
	if (ret->type == RECORD_SAMPLE)
		read_fields(s, ret);
	kind = ring_set_kind(&s->rings, front->ring);
	if (ret->type == RECORD_LOST)
		note_loss(s, kind, ret);
	if (ret->type == RECORD_SAMPLE)
		complete(s, kind, front->ring % s->cpu_count, ret);
	return true;
}

void sampler_keep(struct sampler *s)
{
	ring_merge_keep(&s->merge);
}

void sampler_end_keeping(struct sampler *s)
{
	ring_merge_end_keeping(&s->merge);
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

static bool source_next(void *source, struct record *ret)
{
	return sampler_next(source, ret);
}

static void source_close(void *source)
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
		.next = source_next,
		.close = source_close,
	};

	return (struct record_source){.ops = &ops, .source = sampler};
}
