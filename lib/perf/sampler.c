#include "perf/sampler.h"

#include "base/alloc.h"
#include "perf/attr.h"
#include "perf/coverage.h"
#include "perf/cpus.h"
#include "perf/descriptors.h"
#include "perf/redirection.h"
#include "perf/ring.h"
#include "perf/scheduling.h"
#include "perf/standin.h"
#include "perf/stream.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum {
	/* By default a ring holds the samples of so long a time, within these bounds. */
	RING_MS = 100,
	LEAST_RING_BYTES = 2 << 20,
	MOST_RING_BYTES = 16 << 20,
	DEFAULT_RING_BYTES = 4 << 20, /* where nobody knows how many they will be */
	/* Not halved further: a few records with large dumps must fit. */
	SMALLEST_RING_BYTES = 128 << 10,
	/* The user is told of rings that are smaller than what was asked for, or than this. */
	SMALL_RING_BYTES = 512 << 10,
	/* The side band's share of it, and at least so much. */
	SIDE_BAND_SHARE = 8,
	SMALLEST_SIDE_BAND_BYTES = 32 << 10,
	/*
	 * The reader wakes this often: what it then reads is still in the cache, nearly the whole
	 * ring is left for what comes while it is waiting for a CPU, and a wake-up costs little
	 * beside so many bytes.
	 */
	WATERMARK_BYTES = 256 << 10,
	/* What a sample takes besides its stack, at most as a rule. */
	SAMPLE_BYTES = 1 << 10,
	/* Of attended samples the reader takes so many at a time, if that is within these. */
	ATTENDED_SAMPLES = 5,
	LEAST_ATTENDED_MS = 2,
	MOST_ATTENDED_MS = 20,
};

/* What the rings of a CPU are for; they lie in this order. */
enum ring_kind {
	RINGS_SIDE_BAND,
	RINGS_SAMPLES,
	RINGS_ATTENDED, /* samples, too: each wakes */
	RING_KINDS,
};

struct sampler {
	unsigned *cpus;
	size_t cpu_count;
	/* All of a kind, then all of the next: in a batch the heads of the samples are to be noted
	 * first, and on equal times the side band is to come first. */
	struct ring *rings;
	unsigned kinds; /* RING_KINDS, or one less */
	struct stream stream;
	struct standins *standins;	 /* NULL: none yet */
	bool attends;			 /* to some of the samples at least … */
	bool will_attend;		 /* … and so it will be when these are redirected */
	struct redirection *redirection; /* NULL: none was begun */
	bool is_of_scheduler;		 /* one of the events is */
	struct sampler_options options;
	uint64_t samples_a_second; /* 0: nobody knows */

	struct descriptors descriptors;
	struct attr_features features;
	struct record_layout layout;
	uint64_t *ids; /* layout's, owned here */
	unsigned *events;

	int epoll_fd;
	bool starts_at_exec;
	bool stopped;
	uint64_t lost; /* records that did not fit into the sample rings, as told so far */
	struct sampler_facts facts;
};

static unsigned ring_count(const struct sampler *s)
{
	return s->kinds * (unsigned)s->cpu_count;
}

static enum ring_kind kind_of(const struct sampler *s, unsigned ring)
{
	return (enum ring_kind)(ring / s->cpu_count);
}

static struct ring *rings_of(const struct sampler *s, enum ring_kind kind)
{
	return s->rings + kind * s->cpu_count;
}

static bool contains(const unsigned *cpus, size_t count, unsigned cpu)
{
	for (size_t i = 0; i < count; i++) {
		if (cpus[i] == cpu)
			return true;
	}
	return false;
}

/* The CPUs asked for, all of which must be there; or all that are. */
static struct error *choose_cpus(struct sampler *s, const struct target *target)
{
	CLEANUP(free_ptr) unsigned *online = NULL;
	size_t online_count = 0;
	struct error *err = cpus_online(&online, &online_count);

	if (err)
		return err;
	if (!target->cpus) {
		s->cpus = STEAL(online);
		s->cpu_count = online_count;
		return NULL;
	}
	assert(target->cpu_count > 0);
	s->cpus = xreallocarray(NULL, target->cpu_count, sizeof(*s->cpus));
	for (size_t i = 0; i < target->cpu_count; i++) {
		if (!contains(online, online_count, target->cpus[i]))
			return error_new("CPU %u is not online", target->cpus[i]);
		if (!contains(s->cpus, s->cpu_count, target->cpus[i]))
			s->cpus[s->cpu_count++] = target->cpus[i];
	}
	return NULL;
}

static size_t round_down_to_pages(size_t bytes)
{
	size_t rounded = ring_control_bytes();

	while (rounded <= bytes / 2)
		rounded *= 2;
	return rounded;
}

static void close_rings(struct sampler *s)
{
	for (unsigned i = 0; i < ring_count(s); i++)
		ring_close(&s->rings[i]);
}

/* 0 where an event happens as often as it does. */
static uint64_t samples_a_second(const struct event *events, size_t event_count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < event_count; i++) {
		if (!events[i].frequency_hz)
			return 0;
		sum += events[i].frequency_hz;
	}
	return sum;
}

/* Would a stand-in make it happen by taking a thread's place? */
static bool is_of_scheduler(const struct event *event)
{
	return event->type == PERF_TYPE_SOFTWARE &&
	       (event->config == PERF_COUNT_SW_CONTEXT_SWITCHES ||
		event->config == PERF_COUNT_SW_CPU_MIGRATIONS);
}

static void choose_kinds(struct sampler *s, const struct event *events, size_t event_count,
			 const struct target *target)
{
	uint64_t ms = MOST_ATTENDED_MS;
	bool attended = s->options.stack_bytes && s->options.read_memory;

	for (size_t i = 0; i < event_count; i++) {
		s->is_of_scheduler |= is_of_scheduler(&events[i]);
		/* Nobody knows of a tracepoint when it happens. */
		attended &= events[i].type != PERF_TYPE_TRACEPOINT;
	}
	/* There its own switches would wake a stand-in again. */
	attended &= !s->is_of_scheduler || target->kind != TARGET_SYSTEM;
	s->samples_a_second = samples_a_second(events, event_count);
	s->kinds = attended ? RING_KINDS : RINGS_ATTENDED;
	if (!s->samples_a_second)
		ms = LEAST_ATTENDED_MS;
	else if (s->samples_a_second * ms > ATTENDED_SAMPLES * UINT64_C(1000))
		ms = ATTENDED_SAMPLES * UINT64_C(1000) / s->samples_a_second;
	s->facts.attended_ms = ms < LEAST_ATTENDED_MS ? LEAST_ATTENDED_MS : (int)ms;
}

/* 0: nobody knows. */
static uint64_t bytes_a_second(const struct sampler *s)
{
	return s->samples_a_second * (s->options.stack_bytes + SAMPLE_BYTES);
}

static size_t default_ring_bytes(const struct sampler *s)
{
	uint64_t bytes = bytes_a_second(s) * RING_MS / 1000;

	if (!bytes)
		return DEFAULT_RING_BYTES;
	if (bytes > MOST_RING_BYTES)
		return MOST_RING_BYTES;
	return bytes < LEAST_RING_BYTES ? LEAST_RING_BYTES : bytes;
}

static uint32_t watermark(enum ring_kind kind, size_t ring_bytes)
{
	size_t many = ring_bytes / 4;

	/* Each record of the side band wakes the reader: files are to be opened while their process
	 * is alive. */
	if (kind != RINGS_SAMPLES)
		return 1;
	return (uint32_t)(many > WATERMARK_BYTES ? WATERMARK_BYTES : many);
}

static struct error *open_rings(struct sampler *s, size_t bytes)
{
	size_t side_bytes = bytes / SIDE_BAND_SHARE;

	if (side_bytes < SMALLEST_SIDE_BAND_BYTES)
		side_bytes = SMALLEST_SIDE_BAND_BYTES;
	for (unsigned i = 0; i < ring_count(s); i++) {
		enum ring_kind kind = kind_of(s, i);
		struct error *err = ring_open(s->cpus[i % s->cpu_count],
					      kind == RINGS_SIDE_BAND ? side_bytes : bytes,
					      watermark(kind, bytes), &s->rings[i]);

		if (err)
			return err;
	}
	s->facts.ring_bytes = bytes;
	return NULL;
}

static struct error *open_rings_that_fit(struct sampler *s)
{
	size_t wanted = s->options.ring_bytes;
	size_t bytes = round_down_to_pages(wanted ? wanted : default_ring_bytes(s));

	for (;; bytes /= 2) {
		struct error *err = open_rings(s, bytes);

		if (!err) {
			if (bytes_a_second(s))
				s->facts.holds_ms = (int)(bytes * 1000 / bytes_a_second(s));
			return NULL;
		}
		close_rings(s);
		if ((error_number(err) != EPERM && error_number(err) != ENOMEM) ||
		    bytes <= SMALLEST_RING_BYTES)
			return err;
		error_free(err);
		s->facts.ring_shrunk = wanted || bytes / 2 < SMALL_RING_BYTES;
	}
}

static struct error *watch_rings(struct sampler *s)
{
	s->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll_fd < 0)
		return error_errno(errno, "watch the rings");
	for (unsigned i = 0; i < RINGS_ATTENDED * s->cpu_count; i++) {
		struct epoll_event interest = {.events = EPOLLIN};

		if (epoll_ctl(s->epoll_fd, EPOLL_CTL_ADD, s->rings[i].fd, &interest) < 0)
			return error_errno(errno, "watch the rings");
	}
	return NULL;
}

/* The period of all events, where they have one and the same; else 0. */
static uint64_t common_period(const struct descriptors *d)
{
	for (size_t i = 1; i < d->event_count; i++)
		if (d->events[i].period != d->events[0].period)
			return 0;
	return d->events[0].period;
}

/*
 * The kernel takes a sample of every single software event when it is to tell the period of samples
 * that come by a period (perf_swevent_event() in kernel/events/core.c). Nobody needs to be told it.
 */
static void leave_out_period(struct sampler *s)
{
	s->layout.period = common_period(&s->descriptors);
	for (size_t i = 0; s->layout.period && i < s->descriptors.event_count; i++)
		s->descriptors.sample_attrs[i].sample_type &= ~(uint64_t)PERF_SAMPLE_PERIOD;
}

static void prepare_attrs(struct sampler *s, const struct target *target)
{
	const struct sampler_options *options = &s->options;
	struct descriptors *d = &s->descriptors;
	bool inherit = target->inherit && target->kind != TARGET_SYSTEM;

	d->sample_attrs = xcalloc(d->event_count, sizeof(*d->sample_attrs));
	for (size_t i = 0; i < d->event_count; i++) {
		attr_samples(&d->sample_attrs[i], &d->events[i], options, &s->features);
		d->sample_attrs[i].inherit = inherit;
		d->sample_attrs[i].enable_on_exec = s->starts_at_exec;
	}
	attr_side_band(&d->side_attr, &s->features, inherit);
	d->side_attr.mmap_data = options->data_mappings;
	leave_out_period(s);
}

static int compare_ids(const void *a, const void *b)
{
	const struct event_id *left = a, *right = b;

	return (left->id > right->id) - (left->id < right->id);
}

static void prepare_layout(struct sampler *s)
{
	struct descriptors *d = &s->descriptors;

	if (d->id_count)
		qsort(d->ids, d->id_count, sizeof(*d->ids), compare_ids);
	s->ids = xcalloc(d->id_count, sizeof(*s->ids));
	s->events = xcalloc(d->id_count, sizeof(*s->events));
	for (size_t i = 0; i < d->id_count; i++) {
		s->ids[i] = d->ids[i].id;
		s->events[i] = d->ids[i].event;
	}
	s->layout = (struct record_layout){
		.sample_type = d->sample_attrs[0].sample_type,
		.period = s->layout.period,
		.regs_mask = d->sample_attrs[0].sample_regs_user,
		.build_ids = s->features.build_id,
		.ids = s->ids,
		.events = s->events,
		.id_count = d->id_count,
	};
}

static struct error *open_target(struct sampler *s, const struct target *target)
{
	struct error *err = NULL;

	s->descriptors.cpus = s->cpus;
	s->descriptors.cpu_count = s->cpu_count;
	s->descriptors.side_rings = rings_of(s, RINGS_SIDE_BAND);
	s->descriptors.sample_rings = rings_of(s, s->attends ? RINGS_ATTENDED : RINGS_SAMPLES);
	prepare_attrs(s, target);
	err = descriptors_open(&s->descriptors, target);
	s->descriptors.events = NULL;
	if (err)
		return err;
	prepare_layout(s);
	s->facts.kernel_excluded = s->descriptors.kernel_excluded;
	s->facts.cpus = (unsigned)s->cpu_count;
	s->facts.descriptors = s->descriptors.side.count + s->descriptors.samples.count;
	return NULL;
}

static struct sampler *sampler_new(void)
{
	struct sampler *s = xcalloc(1, sizeof(*s));

	s->epoll_fd = -1;
	return s;
}

static void prepare_rings(struct sampler *s)
{
	s->rings = xcalloc(ring_count(s), sizeof(*s->rings));
	for (unsigned i = 0; i < ring_count(s); i++)
		s->rings[i].fd = -1;
	stream_init(&s->stream, s->rings, ring_count(s), &s->layout);
}

/* False: nobody can attend to samples. */
static bool have_standins(struct sampler *s)
{
	if (!s->standins && s->kinds == RING_KINDS)
		s->standins = standins_new(rings_of(s, RINGS_ATTENDED), s->cpus, s->cpu_count,
					   &s->layout, &s->options, s->is_of_scheduler);
	return s->standins;
}

struct error *sampler_open(const struct event *events, size_t event_count,
			   const struct target *target, const struct sampler_options *options,
			   struct sampler **ret)
{
	CLEANUP(sampler_cleanup) struct sampler *s = sampler_new();
	struct error *err = NULL;

	s->starts_at_exec = target->kind == TARGET_COMMAND && !options->starts_late;
	s->options = *options;
	choose_kinds(s, events, event_count, target);
	s->descriptors.events = events;
	s->descriptors.event_count = event_count;
	err = choose_cpus(s, target);
	if (!err)
		err = attr_probe(&s->features);
	if (err)
		return err;
	prepare_rings(s);
	err = open_rings_that_fit(s);
	if (!err)
		err = watch_rings(s);
	if (!err) {
		s->attends = s->will_attend = options->attends && s->samples_a_second &&
					      have_standins(s);
		err = open_target(s, target);
	}
	if (!err)
		*ret = STEAL(s);
	return err;
}

void sampler_free(struct sampler *s)
{
	if (!s)
		return;
	redirection_end(s->redirection);
	standins_free(s->standins);
	descriptors_deinit(&s->descriptors);
	if (s->rings)
		close_rings(s);
	close_fd(&s->epoll_fd);
	stream_deinit(&s->stream);
	free(s->rings);
	free(s->cpus);
	free(s->ids);
	free(s->events);
	free(s);
}

const struct sampler_facts *sampler_facts(const struct sampler *s)
{
	return &s->facts;
}

struct bytes sampler_attr(const struct sampler *s, unsigned event)
{
	return bytes_of(&s->descriptors.sample_attrs[event], sizeof(struct perf_event_attr));
}

const struct record_layout *sampler_layout(const struct sampler *s)
{
	return &s->layout;
}

struct error *sampler_enable(struct sampler *s)
{
	/* Before the rings are full. */
	scheduling_ask_for_short_slices();
	return s->starts_at_exec ? NULL : descriptors_enable(&s->descriptors);
}

void sampler_disable(struct sampler *s)
{
	descriptors_disable(&s->descriptors);
	s->stopped = true;
}

int sampler_fd(const struct sampler *s)
{
	return s->epoll_fd;
}

void sampler_attend(struct sampler *s, bool attend)
{
	if (s->redirection && !redirection_is_done(s->redirection))
		return;
	redirection_end(STEAL(s->redirection));
	s->attends = s->will_attend;
	if (attend == s->attends || !have_standins(s))
		return;
	s->redirection = redirection_begin(&s->descriptors.samples,
					   rings_of(s, attend ? RINGS_ATTENDED : RINGS_SAMPLES));
	s->will_attend = attend;
	s->attends = true;
}

bool sampler_attends(const struct sampler *s)
{
	return s->attends;
}

void sampler_expect_stack(struct sampler *s, pid_t tid, struct stack_extent extent)
{
	if (s->standins)
		standins_expect(s->standins, tid, extent);
}

void sampler_batch(struct sampler *s)
{
	uint64_t now_ns = sampler_now_ns();

	/* At the end no thread is left that could be copied. */
	stream_batch(&s->stream,
		     s->attends && !s->stopped ? now_ns - STANDIN_SETTLED_NS : UINT64_MAX);
}

/*
 * The kernel tells of losses in front of the next record that fits: after the end of sampling none
 * follows, so the rest is asked for, where the kernel counts it.
 */
static bool take_untold_losses(struct sampler *s, struct record *ret)
{
	uint64_t lost = 0;

	if (!s->stopped || !s->features.lost)
		return false;
	lost = descriptors_lost(&s->descriptors);
	if (lost <= s->lost)
		return false;
	*ret = (struct record){
		.type = RECORD_LOST,
		.time_ns = sampler_now_ns(),
		.lost.count = lost - s->lost,
	};
	s->lost = lost;
	return true;
}

static bool is_of_interest(struct sampler *s, const struct front *front)
{
	struct coverage *coverage = &s->descriptors.coverage;
	uint64_t id = 0;

	if (front->record.type == RECORD_OTHER)
		return false;
	if (coverage->late_count == 0 || !record_id(&s->layout, front->raw, &id))
		return true;
	return coverage_counts(coverage, &front->record, id);
}

bool sampler_next(struct sampler *s, struct record *ret)
{
	const struct front *front = NULL;

	do {
		front = stream_next(&s->stream);
		if (!front)
			return take_untold_losses(s, ret);
		if (front->record.type == RECORD_LOST && kind_of(s, front->ring) != RINGS_SIDE_BAND)
			s->lost += front->record.lost.count;
	} while (!is_of_interest(s, front));
	*ret = front->record;
	if (ret->type == RECORD_SAMPLE && kind_of(s, front->ring) == RINGS_ATTENDED && s->standins)
		standins_complete(s->standins, front->ring % s->cpu_count, ret);
	return true;
}

uint64_t sampler_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}
