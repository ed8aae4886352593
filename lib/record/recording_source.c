#include "record/recording_source.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "perf/permissions.h"
#include "record/pacing.h"
#include "unwind/arch.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct recording_source {
	const struct record_config *config;
	struct sampler *sampler;      /* NULL if all records come from the agent */
	struct inside_source *inside; /* NULL if the agent is not used */
	struct record_source main;    /* the sampler, or the agent without a sampler */
	struct record_source beside;  /* the agent if there is a sampler; else not open */
	struct record next_main, next_beside;
	bool has_main, has_beside; /* whether next_main and next_beside are valid */
	struct pacing pacing;	   /* of the sampler */
	struct sampler_facts library_facts;
	uint32_t library_hz; /* rate of the agent's CPU samples; 0 for none */
	char *remarks;
};

/* Whether only memory is recorded. */
static bool samples_no_event(const struct record_config *config)
{
	return config->events.samples_nothing && !config->waiting.is_recorded &&
	       config->memory.alloc_period;
}

static void open_inside(struct recording_source *source, uint32_t cpu_hz)
{
	const struct record_config *config = source->config;

	source->library_hz = cpu_hz;
	source->inside = inside_source_new(&(struct inside_options){
		.file = config->target.inside_file,
		.cpu_hz = cpu_hz,
		.alloc_period = config->memory.alloc_period,
		.maps_too = config->memory.allocs_maps,
		.allocations_only = source->sampler,
		.pc_bit = arch_native()->perf_pc,
		.pids = config->target.pids,
		.pid_count = config->target.pid_count,
	});
	if (source->sampler)
		source->beside = inside_record_source(source->inside);
	else
		source->main = inside_record_source(source->inside);
	source->library_facts = (struct sampler_facts){
		.kernel_excluded = true,
		.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
	};
}

/* Whether the agent can replace the sampler: only for CPU time of a command. */
static bool may_replace(const struct record_config *config, const struct sampling *sampling)
{
	return config->target.command && !config->target.commands_later && config->target.inherit &&
	       !config->target.cpus && !config->events.period && !config->output.writes_raw &&
	       !config->waiting.is_recorded && !config->waiting.records_awaits &&
	       !config->events.exclude_user && record_config_dumps(config) &&
	       !config->events.branch_filter && !config->events.reads_data_sources &&
	       sampling->event_count == 1 &&
	       (!config->events.count || sampling->events[0].kind == VALUE_CPU_TIME);
}

static void sample_by_library(struct recording_source *source, struct sampling *sampling,
			      const struct listener *listener, const struct error *refusal)
{
	uint32_t highest_hz = inside_highest_cpu_hz();
	uint64_t asked_hz = source->config->events.frequency_hz;
	uint32_t hz = asked_hz < highest_hz ? (uint32_t)asked_hz : highest_hz;

	sampling_of_library(sampling, hz);
	open_inside(source, hz);
	listener_notice(listener,
			"%s%sin-process sampling by a preloaded agent: CPU time at %" PRIu32
			" Hz%s, user stacks only",
			refusal ? error_text(refusal) : "", refusal ? "; " : "", hz,
			hz < asked_hz && hz == highest_hz ? " (its timers follow the kernel's tick)"
							  : "");
}

static bool is_refusal(const struct error *err)
{
	int number = error_number(err);

	return number == EACCES || number == EPERM || number == ENOSYS;
}

/* Whether perf events are refused even for a task of prof. */
static bool is_refused_altogether(void)
{
	struct permissions may;

	permissions_probe(0, &may);
	return may.user;
}

static void say_what_works(const struct record_config *config, const struct sampling *sampling,
			   const struct listener *listener)
{
	if (may_replace(config, sampling) && config->target.no_inside)
		listener_notice(listener, "in-process sampling could replace perf events, but %s",
				config->target.no_inside);
	else if (is_refused_altogether())
		listener_notice(listener,
				"without perf events, prof record COMMAND samples CPU time and "
				"prof record --alloc COMMAND samples memory; --alloc -p PID needs "
				"a process that was started with prof inside COMMAND");
}

static struct error *recording_source_open_sampler(struct recording_source *source,
						   struct sampling *sampling,
						   const struct listener *listener)
{
	const struct record_config *config = source->config;
	CLEANUP(error_cleanup)
	struct error *err = sampling_open(sampling, config, &source->sampler);

	if (err && config->events.via == RECORD_VIA_AUTO && is_refusal(err)) {
		if (may_replace(config, sampling) && config->target.inside_file) {
			sample_by_library(source, sampling, listener, err);
			return NULL;
		}
		say_what_works(config, sampling, listener);
	}
	if (err)
		return STEAL(err);
	source->main = sampler_source(source->sampler);
	sampling_notice(sampling, config, source->sampler, listener);
	if (config->memory.alloc_period)
		open_inside(source, 0);
	return NULL;
}

static char *make_remarks(const struct recording_source *source)
{
	return source->library_hz
		       ? xasprintf(
				 "CPU time was sampled in-process by a preloaded agent at %" PRIu32
				 " Hz: user stacks only\n",
				 source->library_hz)
		       : xstrdup("");
}

struct error *recording_source_open(const struct record_config *config,
				    const struct listener *listener, struct sampling *sampling,
				    struct recording_source **ret)
{
	struct recording_source *source = xcalloc(1, sizeof(*source));
	struct error *err = NULL;

	source->config = config;
	if (samples_no_event(config))
		open_inside(source, 0);
	else if (config->events.via == RECORD_VIA_INSIDE)
		sample_by_library(source, sampling, listener, NULL);
	else
		err = recording_source_open_sampler(source, sampling, listener);
	if (err) {
		recording_source_close(source);
		return err;
	}
	source->remarks = make_remarks(source);
	*ret = source;
	return NULL;
}

void recording_source_close(struct recording_source *source)
{
	if (!source)
		return;
	record_source_close(&source->main);
	record_source_close(&source->beside);
	free(source->remarks);
	free(source);
}

struct sampler *recording_source_sampler(const struct recording_source *source)
{
	return source->sampler;
}

bool recording_source_needs_library(const struct recording_source *source)
{
	return source->inside;
}

const struct sampler_facts *recording_source_facts(const struct recording_source *source)
{
	return source->sampler ? sampler_facts(source->sampler) : &source->library_facts;
}

const char *recording_source_remarks(const struct recording_source *source)
{
	return source->remarks;
}

struct inside_source *recording_source_library(const struct recording_source *source)
{
	return source->inside;
}

struct inside_counts recording_source_inside(const struct recording_source *source)
{
	return source->inside ? inside_source_counts(source->inside) : (struct inside_counts){0};
}

bool recording_source_counted(const struct recording_source *source, unsigned event, uint64_t *ret)
{
	return source->sampler && sampler_counted(source->sampler, event, ret);
}

void recording_source_start(struct recording_source *source)
{
	if (source->sampler)
		pacing_begin(&source->pacing, source->sampler, source->config->stacks.low_overhead);
}

struct error *recording_source_enable(struct recording_source *source)
{
	struct error *err = record_source_enable(&source->main);

	if (!err && source->beside.source)
		err = record_source_enable(&source->beside);
	return err;
}

void recording_source_pause(struct recording_source *source)
{
	if (source->sampler)
		sampler_pause(source->sampler);
	if (source->inside)
		inside_source_pause(source->inside);
}

void recording_source_disable(struct recording_source *source)
{
	record_source_disable(&source->main);
	if (source->beside.source)
		record_source_disable(&source->beside);
}

void recording_source_add_command(struct recording_source *source, pid_t pid)
{
	if (source->sampler)
		sampler_add_command(source->sampler, pid);
}

bool recording_source_add_process(struct recording_source *source, pid_t pid)
{
	return source->sampler && sampler_add_process(source->sampler, pid);
}

void recording_source_end_switches(struct recording_source *source)
{
	if (source->sampler)
		sampler_end_switches(source->sampler);
}

int recording_source_fd(const struct recording_source *source)
{
	return record_source_fd(&source->main);
}

void recording_source_batch(struct recording_source *source)
{
	record_source_batch(&source->main);
	if (!source->beside.source)
		return;
	/* The agent's records must not be newer than the known processes and
	 * mappings. */
	inside_source_limit(source->inside, sampler_complete_ns(source->sampler));
	record_source_batch(&source->beside);
}

bool recording_source_next(struct recording_source *source, struct record *ret)
{
	if (!source->beside.source)
		return record_source_next(&source->main, ret);
	if (!source->has_main)
		source->has_main = record_source_next(&source->main, &source->next_main);
	if (!source->has_beside)
		source->has_beside = record_source_next(&source->beside, &source->next_beside);
	if (source->has_beside &&
	    (!source->has_main || source->next_beside.time_ns < source->next_main.time_ns)) {
		*ret = source->next_beside;
		source->has_beside = false;
		return true;
	}
	if (!source->has_main)
		return false;
	*ret = source->next_main;
	source->has_main = false;
	return true;
}

uint64_t recording_source_complete_ns(const struct recording_source *source)
{
	return source->sampler ? sampler_complete_ns(source->sampler)
			       : inside_source_complete_ns(source->inside);
}

void recording_source_after_record(struct recording_source *source, const struct record *record,
				   const struct session *session)
{
	if (source->sampler && record->type != RECORD_ALLOC && record->type != RECORD_FREE)
		pacing_after_record(&source->pacing, record, session);
}

void recording_source_after_batch(struct recording_source *source, const struct session *session,
				  uint64_t now_ns)
{
	if (source->sampler)
		pacing_after_batch(&source->pacing, session, now_ns);
}

void recording_source_skip(struct recording_source *source, uint64_t paused_ns)
{
	if (source->sampler)
		pacing_skip(&source->pacing, paused_ns);
}

void recording_source_restart(struct recording_source *source)
{
	if (source->sampler)
		pacing_restart(&source->pacing);
}

uint64_t recording_source_next_ns(const struct recording_source *source, uint64_t now_ns)
{
	uint64_t sampler_ns = source->sampler ? pacing_next_ns(&source->pacing, now_ns)
					      : UINT64_MAX;
	uint64_t inside_ns = source->inside ? inside_source_next_ns(source->inside, now_ns)
					    : UINT64_MAX;

	return sampler_ns < inside_ns ? sampler_ns : inside_ns;
}

uint64_t recording_source_throttled_until_ns(struct recording_source *source, uint64_t now_ns)
{
	return source->sampler ? pacing_throttled_until_ns(&source->pacing, now_ns) : 0;
}
