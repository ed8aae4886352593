#include "cmd/recorded.h"

#include "base/alloc.h"
#include "cmd/message.h"
#include "cmd/summary.h"
#include "perf/perfdata.h"
#include "proc/kernel.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SECOND_NS UINT64_C(1000000000)

enum {
	/* Signals and the progress line are looked after once in so many records. */
	RECORDS_AT_ONCE = 4096,
};

struct recorded {
	const struct input_options *options;
	const char *debug_dir;
	struct perfdata *perfdata;
	bool ours; /* recorded here, since this machine was booted */
	uint64_t end_unix_ns;
	struct spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile; /* of the input */
	struct session *session;
	bool has_main;
	uint64_t first_ns, last_ns; /* of the records that tell their time */
};

static void recorded_deinit(struct recorded *recorded)
{
	session_free(recorded->session);
	unwinder_free(recorded->unwinder);
	names_free(recorded->names);
	spaces_free(recorded->spaces);
	perfdata_free(recorded->perfdata);
}

static const struct arch *arch_of(const struct perfdata_info *info)
{
	static const struct {
		const char *machine;
		const struct arch *arch;
	} known[] = {{"x86_64", &arch_x86_64}, {"aarch64", &arch_aarch64}};

	if (!info->machine)
		return arch_native();
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (!strcmp(info->machine, known[i].machine))
			return known[i].arch;
	return NULL;
}

static uint64_t ns_of(struct timespec time)
{
	return (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
}

/* perf tells no time of day; a file was finished when the recording was. */
static uint64_t end_of_recording(int fd)
{
	struct timespec now;
	struct stat st;

	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		return ns_of(st.st_mtim);
	clock_gettime(CLOCK_REALTIME, &now);
	return ns_of(now);
}

static struct error *open_recording(struct recorded *recorded, int fd)
{
	struct error *err;

	recorded->end_unix_ns = end_of_recording(fd);
	err = perfdata_open(fd, &recorded->perfdata);
	if (!err && !arch_of(perfdata_info(recorded->perfdata)))
		err = error_new("it is of a machine that prof cannot unwind (%s)",
				perfdata_info(recorded->perfdata)->machine);
	return error_hint(err, "prof reads recordings of perf, pprof profiles and folded stacks");
}

static void prepare(struct recorded *recorded)
{
	const struct perfdata_info *info = perfdata_info(recorded->perfdata);
	struct kernel_mark kernel = {
		.host = info->host,
		.release = info->kernel_release,
		.build_id.len = info->kernel_build_id_bytes,
		.start = info->kernel_start,
		.end = info->kernel_end,
	};
	const char *home = getenv("HOME");
	CLEANUP(free_ptr) char *cache = home ? xasprintf("%s/.debug", home) : NULL;

	memcpy(kernel.build_id.bytes, info->kernel_build_id, info->kernel_build_id_bytes);
	recorded->ours = kernel_is_ours(&kernel, "");
	recorded->spaces = spaces_new_recorded(&(struct recorded_files){
		.symfs = recorded->options->symfs,
		.debug_dir = recorded->debug_dir,
		.cache_dir = cache,
		.same_kernel = recorded->ours,
	});
	recorded->names = names_new(NULL);
	recorded->unwinder = unwinder_new(recorded->spaces, arch_of(info));
	if (recorded->options->keeps_moments)
		profile_keep_moments(recorded->profile);
	recorded->session = session_new(recorded->spaces, recorded->names, recorded->unwinder,
					arch_of(info), recorded->profile);
}

/* Down a pipe an event may be told of late. */
static void add_events(struct recorded *recorded)
{
	struct strtab *strings = profile_strings(recorded->profile);
	unsigned count = perfdata_event_count(recorded->perfdata);

	for (unsigned i = profile_event_count(recorded->profile); i < count; i++) {
		const struct perfdata_event *event = perfdata_event(recorded->perfdata, i);
		struct profile_event description = {
			.name = strtab_add(strings, event->name),
			.counts_ns = event->counts_ns,
			.period = event->period,
			.frequency_hz = event->frequency_hz,
		};

		profile_add_event(recorded->profile, &description);
	}
}

/* The program that perf started is the first to execute anything. */
static void find_main(struct recorded *recorded, const struct record *record)
{
	if (recorded->has_main || record->type != RECORD_COMM || !record->comm.exec)
		return;
	recorded->has_main = true;
	session_set_main_process(recorded->session, record->pid);
}

static void note_time(struct recorded *recorded, uint64_t time_ns)
{
	if (!time_ns)
		return;
	if (!recorded->first_ns)
		recorded->first_ns = time_ns;
	if (time_ns / SECOND_NS > recorded->last_ns / SECOND_NS && time_ns > SECOND_NS)
		session_forget(recorded->session, time_ns - SECOND_NS);
	if (time_ns > recorded->last_ns)
		recorded->last_ns = time_ns;
}

static void show_progress(const struct recorded *recorded)
{
	if (recorded->options->shows_progress)
		message_progress("reading: %" PRIu64 " samples",
				 session_counts(recorded->session)->samples);
}

static bool is_stopped(const struct recorded *recorded)
{
	const struct signals *signals = recorded->options->signals;
	struct received_signal signal;

	return signals && signals_next(signals, &signal) && signal.number != SIGUSR2;
}

static void read_records(struct recorded *recorded)
{
	struct record record;
	uint64_t records = 0;

	while (perfdata_next(recorded->perfdata, &record)) {
		add_events(recorded);
		find_main(recorded, &record);
		note_time(recorded, record.time_ns);
		session_feed(recorded->session, &record);
		if (++records % RECORDS_AT_ONCE)
			continue;
		show_progress(recorded);
		if (is_stopped(recorded)) {
			message("stopped: this is what was read so far");
			break;
		}
	}
	add_events(recorded);
	message_progress_end();
}

/* These are told even to who wants to hear nothing but errors: the result is not all there was. */
static void say_problems(const struct recorded *recorded)
{
	const char *problem;

	for (unsigned i = 0; (problem = perfdata_problem(recorded->perfdata, i)); i++)
		message("%s", problem);
}

static void complete(const struct recorded *recorded, struct completeness *ret)
{
	const struct perfdata_info *info = perfdata_info(recorded->perfdata);
	const char *command = recorded->options->command;
	CLEANUP(free_ptr)
	char *kernel = xasprintf("Linux %s %s", info->kernel_release ? info->kernel_release : "",
				 info->machine ? info->machine : "");
	uint64_t duration_ns = recorded->last_ns - recorded->first_ns;

	profile_complete(
		&(struct completion){
			.session = recorded->session,
			.profile = recorded->profile,
			.spaces = recorded->spaces,
			.signals = recorded->options->signals,
			.debug_dir = recorded->debug_dir,
			.proc = recorded->ours ? "/proc" : NULL,
			.inlines = !recorded->options->no_inline,
			.shows_progress = recorded->options->shows_progress,
			.info = {.start_unix_ns = recorded->end_unix_ns - duration_ns,
				 .start_ns = recorded->first_ns,
				 .duration_ns = duration_ns,
				 .command = info->command ? info->command : command,
				 .host = info->host ? info->host : "",
				 .kernel = kernel},
		},
		ret);
}

struct error *recorded_read(int fd, const struct input_options *options, struct input *input)
{
	CLEANUP(recorded_deinit)
	struct recorded recorded = {
		.options = options,
		.debug_dir = options->debug_dir ? options->debug_dir : "/usr/lib/debug",
		.profile = input->profile,
	};
	struct error *err = open_recording(&recorded, fd);

	if (err)
		return err;
	prepare(&recorded);
	read_records(&recorded);
	say_problems(&recorded);
	input->is_recording = true;
	input->reading_cpu_ns = summary_cpu_ns();
	complete(&recorded, &input->completeness);
	return NULL;
}
