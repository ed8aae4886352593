#include "record/intake.h"

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

struct intake {
	const struct record_config *config;
	struct sampler *sampler;      /* NULL: the library alone */
	struct inside_source *inside; /* NULL: no library */
	struct record_source main;    /* the sampler, or the library alone */
	struct record_source beside;  /* the library; not open without a sampler */
	struct record next_main, next_beside;
	bool has_main, has_beside; /* those above */
	struct pacing pacing;	   /* of the sampler */
	struct sampler_facts library_facts;
	uint32_t library_hz; /* of its CPU samples; 0: none */
	char *remarks;
};

/* Memory alone. */
static bool samples_no_event(const struct record_config *config)
{
	return config->samples_nothing && !config->records_waiting && config->alloc_period;
}

static void open_inside(struct intake *intake, uint32_t cpu_hz)
{
	const struct record_config *config = intake->config;

	intake->library_hz = cpu_hz;
	intake->inside = inside_source_new(&(struct inside_options){
		.file = config->inside_file,
		.cpu_hz = cpu_hz,
		.alloc_period = config->alloc_period,
		.maps_too = config->allocs_maps,
		.allocations_only = intake->sampler,
		.pc_bit = arch_native()->perf_pc,
		.pids = config->pids,
		.pid_count = config->pid_count,
	});
	if (intake->sampler)
		intake->beside = inside_record_source(intake->inside);
	else
		intake->main = inside_record_source(intake->inside);
	intake->library_facts = (struct sampler_facts){
		.kernel_excluded = true,
		.cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN),
	};
}

/* What the library can give in place of the sampler: CPU time of a command. */
static bool may_replace(const struct record_config *config, const struct sampling *sampling)
{
	return config->command && !config->commands_later && config->inherit && !config->cpus &&
	       !config->period && !config->writes_raw && !config->records_waiting &&
	       !config->records_awaits && !config->exclude_user && record_config_dumps(config) &&
	       !config->branch_filter && !config->reads_data_sources &&
	       sampling->event_count == 1 &&
	       (!config->event_count || sampling->events[0].kind == VALUE_CPU_TIME);
}

static void sample_by_library(struct intake *intake, struct sampling *sampling,
			      const struct listener *listener, const struct error *refusal)
{
	uint32_t highest_hz = inside_highest_cpu_hz();
	uint64_t asked_hz = intake->config->frequency_hz;
	uint32_t hz = asked_hz < highest_hz ? (uint32_t)asked_hz : highest_hz;

	sampling_of_library(sampling, hz);
	open_inside(intake, hz);
	listener_notice(listener,
			"%s%ssampling by a library in the program: CPU time at %" PRIu32
			" Hz%s, stacks of user space only",
			refusal ? error_text(refusal) : "", refusal ? "; " : "", hz,
			hz < asked_hz && hz == highest_hz ? " (its timers follow the kernel's tick)"
							  : "");
}

static bool is_refusal(const struct error *err)
{
	int number = error_number(err);

	return number == EACCES || number == EPERM || number == ENOSYS;
}

/* Where nobody may sample. */
static bool is_refused_altogether(void)
{
	struct permissions may;

	permissions_probe(0, &may);
	return may.user;
}

static void say_what_works(const struct record_config *config, const struct sampling *sampling,
			   const struct listener *listener)
{
	if (may_replace(config, sampling) && config->no_inside)
		listener_notice(listener,
				"a library in the program could sample in place of perf, but %s",
				config->no_inside);
	else if (is_refused_altogether())
		listener_notice(listener,
				"without perf events prof record COMMAND samples CPU time, and "
				"prof record --alloc COMMAND memory; --alloc -p PID works if prof "
				"inside COMMAND has started it");
}

static struct error *open_sampler(struct intake *intake, struct sampling *sampling,
				  const struct listener *listener)
{
	const struct record_config *config = intake->config;
	CLEANUP(error_cleanup)
	struct error *err = sampling_open(sampling, config, &intake->sampler);

	if (err && config->via == RECORD_VIA_AUTO && is_refusal(err)) {
		if (may_replace(config, sampling) && config->inside_file) {
			sample_by_library(intake, sampling, listener, err);
			return NULL;
		}
		say_what_works(config, sampling, listener);
	}
	if (err)
		return STEAL(err);
	intake->main = sampler_source(intake->sampler);
	sampling_notice(sampling, config, intake->sampler, listener);
	if (config->alloc_period)
		open_inside(intake, 0);
	return NULL;
}

static char *make_remarks(const struct intake *intake)
{
	return intake->library_hz
		       ? xasprintf("CPU time was sampled by a library in the program, at %" PRIu32
				   " Hz: stacks of user space only\n",
				   intake->library_hz)
		       : xstrdup("");
}

struct error *intake_open(const struct record_config *config, const struct listener *listener,
			  struct sampling *sampling, struct intake **ret)
{
	struct intake *intake = xcalloc(1, sizeof(*intake));
	struct error *err = NULL;

	intake->config = config;
	if (samples_no_event(config))
		open_inside(intake, 0);
	else if (config->via == RECORD_VIA_INSIDE)
		sample_by_library(intake, sampling, listener, NULL);
	else
		err = open_sampler(intake, sampling, listener);
	if (err) {
		intake_close(intake);
		return err;
	}
	intake->remarks = make_remarks(intake);
	*ret = intake;
	return NULL;
}

void intake_close(struct intake *intake)
{
	if (!intake)
		return;
	record_source_close(&intake->main);
	record_source_close(&intake->beside);
	free(intake->remarks);
	free(intake);
}

struct sampler *intake_sampler(const struct intake *intake)
{
	return intake->sampler;
}

bool intake_needs_library(const struct intake *intake)
{
	return intake->inside;
}

const struct sampler_facts *intake_facts(const struct intake *intake)
{
	return intake->sampler ? sampler_facts(intake->sampler) : &intake->library_facts;
}

const char *intake_remarks(const struct intake *intake)
{
	return intake->remarks;
}

struct inside_source *intake_library(const struct intake *intake)
{
	return intake->inside;
}

struct inside_counts intake_inside(const struct intake *intake)
{
	return intake->inside ? inside_source_counts(intake->inside) : (struct inside_counts){0};
}

bool intake_counted(const struct intake *intake, unsigned event, uint64_t *ret)
{
	return intake->sampler && sampler_counted(intake->sampler, event, ret);
}

void intake_start(struct intake *intake)
{
	if (intake->sampler)
		pacing_begin(&intake->pacing, intake->sampler, intake->config->low_overhead);
}

struct error *intake_enable(struct intake *intake)
{
	struct error *err = record_source_enable(&intake->main);

	if (!err && intake->beside.source)
		err = record_source_enable(&intake->beside);
	return err;
}

void intake_pause(struct intake *intake)
{
	if (intake->sampler)
		sampler_pause(intake->sampler);
	if (intake->inside)
		inside_source_pause(intake->inside);
}

void intake_disable(struct intake *intake)
{
	record_source_disable(&intake->main);
	if (intake->beside.source)
		record_source_disable(&intake->beside);
}

void intake_add_command(struct intake *intake, pid_t pid)
{
	if (intake->sampler)
		sampler_add_command(intake->sampler, pid);
}

bool intake_add_process(struct intake *intake, pid_t pid)
{
	return intake->sampler && sampler_add_process(intake->sampler, pid);
}

void intake_end_switches(struct intake *intake)
{
	if (intake->sampler)
		sampler_end_switches(intake->sampler);
}

int intake_fd(const struct intake *intake)
{
	return record_source_fd(&intake->main);
}

void intake_batch(struct intake *intake)
{
	record_source_batch(&intake->main);
	if (!intake->beside.source)
		return;
	/* No further than what is known of processes and mappings. */
	inside_source_limit(intake->inside, sampler_complete_ns(intake->sampler));
	record_source_batch(&intake->beside);
}

bool intake_next(struct intake *intake, struct record *ret)
{
	if (!intake->beside.source)
		return record_source_next(&intake->main, ret);
	if (!intake->has_main)
		intake->has_main = record_source_next(&intake->main, &intake->next_main);
	if (!intake->has_beside)
		intake->has_beside = record_source_next(&intake->beside, &intake->next_beside);
	if (intake->has_beside &&
	    (!intake->has_main || intake->next_beside.time_ns < intake->next_main.time_ns)) {
		*ret = intake->next_beside;
		intake->has_beside = false;
		return true;
	}
	if (!intake->has_main)
		return false;
	*ret = intake->next_main;
	intake->has_main = false;
	return true;
}

bool intake_may_keep(const struct intake *intake)
{
	return !intake->inside;
}

void intake_keep(struct intake *intake)
{
	sampler_keep(intake->sampler);
}

void intake_end_keeping(struct intake *intake)
{
	sampler_end_keeping(intake->sampler);
}

uint64_t intake_complete_ns(const struct intake *intake)
{
	return intake->sampler ? sampler_complete_ns(intake->sampler)
			       : inside_source_complete_ns(intake->inside);
}

void intake_after_record(struct intake *intake, const struct record *record,
			 const struct session *session)
{
	if (intake->sampler && record->type != RECORD_ALLOC && record->type != RECORD_FREE)
		pacing_after_record(&intake->pacing, record, session);
}

void intake_after_batch(struct intake *intake, const struct session *session, uint64_t now_ns)
{
	if (intake->sampler)
		pacing_after_batch(&intake->pacing, session, now_ns);
}

void intake_skip(struct intake *intake, uint64_t paused_ns)
{
	if (intake->sampler)
		pacing_skip(&intake->pacing, paused_ns);
}

void intake_restart(struct intake *intake)
{
	if (intake->sampler)
		pacing_restart(&intake->pacing);
}

uint64_t intake_next_ns(const struct intake *intake, uint64_t now_ns)
{
	uint64_t sampler_ns = intake->sampler ? pacing_next_ns(&intake->pacing, now_ns)
					      : UINT64_MAX;
	uint64_t inside_ns = intake->inside ? inside_source_next_ns(intake->inside, now_ns)
					    : UINT64_MAX;

	return sampler_ns < inside_ns ? sampler_ns : inside_ns;
}

uint64_t intake_rests_until_ns(struct intake *intake, uint64_t now_ns)
{
	return intake->sampler ? pacing_rests_until_ns(&intake->pacing, now_ns) : 0;
}
