/*
 * prof convert: what was recorded before, by perf or into a profile, into any format that prof
 * writes.
 */
#include "base/alloc.h"
#include "cmd/command.h"
#include "cmd/delivery.h"
#include "cmd/message.h"
#include "cmd/summary.h"
#include "cmd/translate.h"
#include "perf/perfdata.h"
#include "proc/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS UINT64_C(1000000000)

enum {
	/* Signals and the progress line are looked after once in so many records. */
	RECORDS_AT_ONCE = 4096,
};

struct convert_options {
	struct delivery_options delivery;
	const char *symfs;
};

struct conversion {
	struct convert_options options;
	char **words; /* prof's own */
	int word_count;
	const char *input; /* "-": stdin */
	const char *input_name;
	int fd; /* of the input, until it is handed on */
	struct outputs outputs;
	struct signals signals;

	struct perfdata *perfdata;
	bool ours; /* recorded here, since this machine was booted */
	uint64_t end_unix_ns;
	struct spaces *spaces;
	struct names *names;
	struct unwinder *unwinder;
	struct profile *profile;
	struct session *session;
	bool has_main;
	uint64_t first_ns, last_ns; /* of the records that tell their time */
};

static const struct option_entry table[] = {
	DELIVERY_ENTRIES(struct convert_options, delivery),
	DELIVERY_ENTRY(0, "symfs", "DIR",
		       "the recorded files are below DIR, or in it, or known there by build-id",
		       option_string, offsetof(struct convert_options, symfs)),
	{0},
};

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

static struct error *open_input(struct conversion *conversion)
{
	bool is_stdin = !strcmp(conversion->input, "-");

	conversion->input_name = is_stdin ? "stdin" : conversion->input;
	conversion->fd = is_stdin ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
				  : open(conversion->input, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (conversion->fd < 0)
		return error_errno(errno, "open %s", conversion->input_name);
	return NULL;
}

static struct error *open_recording(struct conversion *conversion)
{
	struct error *err;

	conversion->end_unix_ns = end_of_recording(conversion->fd);
	err = perfdata_open(steal_fd(&conversion->fd), &conversion->perfdata);
	if (!err && !arch_of(perfdata_info(conversion->perfdata)))
		err = error_new("it is of a machine that prof cannot unwind (%s)",
				perfdata_info(conversion->perfdata)->machine);
	err = error_hint(err, "prof convert reads recordings of perf, pprof profiles and folded "
			      "stacks");
	return error_wrap(err, "read %s", conversion->input_name);
}

static void prepare(struct conversion *conversion)
{
	const struct perfdata_info *info = perfdata_info(conversion->perfdata);
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
	conversion->ours = kernel_is_ours(&kernel, "");
	conversion->spaces = spaces_new_recorded(&(struct recorded_files){
		.symfs = conversion->options.symfs,
		.debug_dir = conversion->options.delivery.debug_dir,
		.cache_dir = cache,
		.same_kernel = conversion->ours,
	});
	conversion->names = names_new(NULL);
	conversion->unwinder = unwinder_new(conversion->spaces, arch_of(info));
	conversion->profile = profile_new();
	if (outputs_want_moments(&conversion->outputs))
		profile_keep_moments(conversion->profile);
	conversion->session = session_new(conversion->spaces, conversion->names,
					  conversion->unwinder, arch_of(info), conversion->profile);
}

/* Down a pipe an event may be told of late. */
static void add_events(struct conversion *conversion)
{
	struct strtab *strings = profile_strings(conversion->profile);
	unsigned count = perfdata_event_count(conversion->perfdata);

	for (unsigned i = profile_event_count(conversion->profile); i < count; i++) {
		const struct perfdata_event *event = perfdata_event(conversion->perfdata, i);
		struct profile_event description = {
			.name = strtab_add(strings, event->name),
			.counts_ns = event->counts_ns,
			.period = event->period,
			.frequency_hz = event->frequency_hz,
		};

		profile_add_event(conversion->profile, &description);
	}
}

/* The program that perf started is the first to execute anything. */
static void find_main(struct conversion *conversion, const struct record *record)
{
	if (conversion->has_main || record->type != RECORD_COMM || !record->comm.exec)
		return;
	conversion->has_main = true;
	session_set_main_process(conversion->session, record->pid);
}

static void note_time(struct conversion *conversion, uint64_t time_ns)
{
	if (!time_ns)
		return;
	if (!conversion->first_ns)
		conversion->first_ns = time_ns;
	if (time_ns / SECOND_NS > conversion->last_ns / SECOND_NS && time_ns > SECOND_NS)
		session_forget(conversion->session, time_ns - SECOND_NS);
	if (time_ns > conversion->last_ns)
		conversion->last_ns = time_ns;
}

static void show_progress(const struct conversion *conversion)
{
	if (!conversion->options.delivery.quiet)
		message_progress("reading: %" PRIu64 " samples",
				 session_counts(conversion->session)->samples);
}

/* A signal cuts it short: what was read by then is written. */
static void read_records(struct conversion *conversion)
{
	struct received_signal signal;
	struct record record;
	uint64_t records = 0;

	while (perfdata_next(conversion->perfdata, &record)) {
		add_events(conversion);
		find_main(conversion, &record);
		note_time(conversion, record.time_ns);
		session_feed(conversion->session, &record);
		if (++records % RECORDS_AT_ONCE)
			continue;
		show_progress(conversion);
		if (signals_next(&conversion->signals, &signal) && signal.number != SIGUSR2) {
			message("stopped: what was read so far is written");
			break;
		}
	}
	add_events(conversion);
	if (!conversion->options.delivery.quiet)
		message_progress_end();
}

/* These are told even to who wants to hear nothing but errors: the result is not all there was. */
static void say_problems(const struct conversion *conversion)
{
	const char *problem;

	for (unsigned i = 0; (problem = perfdata_problem(conversion->perfdata, i)); i++)
		message("%s", problem);
}

static int finish(struct conversion *conversion)
{
	const struct perfdata_info *info = perfdata_info(conversion->perfdata);
	CLEANUP(free_ptr)
	char *command = delivery_command(conversion->words, conversion->word_count);
	CLEANUP(free_ptr)
	char *kernel = xasprintf("Linux %s %s", info->kernel_release ? info->kernel_release : "",
				 info->machine ? info->machine : "");
	uint64_t duration_ns = conversion->last_ns - conversion->first_ns;

	return deliver(&(struct delivery){
		.options = &conversion->options.delivery,
		.signals = &conversion->signals,
		.outputs = &conversion->outputs,
		.session = conversion->session,
		.profile = conversion->profile,
		.spaces = conversion->spaces,
		.proc = conversion->ours ? "/proc" : NULL,
		.info = {.start_unix_ns = conversion->end_unix_ns - duration_ns,
			 .start_ns = conversion->first_ns,
			 .duration_ns = duration_ns,
			 .command = info->command ? info->command : command,
			 .host = info->host ? info->host : "",
			 .kernel = kernel},
		.reading = true,
		.sampling_cpu_ns = summary_cpu_ns(),
	});
}

static int convert_recording(struct conversion *conversion)
{
	struct error *err = signals_open(&conversion->signals);

	if (!err)
		err = open_recording(conversion);
	if (err)
		return message_failure(err, STATUS_FAILED);
	prepare(conversion);
	read_records(conversion);
	say_problems(conversion);
	return finish(conversion);
}

static int convert(struct conversion *conversion)
{
	int status = outputs_open(&conversion->outputs, &conversion->options.delivery);
	const struct format *format;
	struct error *err;

	if (status != STATUS_OK)
		return status;
	err = open_input(conversion);
	if (err)
		return message_failure(err, STATUS_FAILED);
	format = translate_format(conversion->fd);
	if (!format)
		return convert_recording(conversion);
	return translate(steal_fd(&conversion->fd), conversion->input_name, format,
			 &conversion->outputs, &conversion->options.delivery);
}

static void conversion_deinit(struct conversion *conversion)
{
	session_free(conversion->session);
	profile_free(conversion->profile);
	unwinder_free(conversion->unwinder);
	names_free(conversion->names);
	spaces_free(conversion->spaces);
	perfdata_free(conversion->perfdata);
	outputs_close(&conversion->outputs);
	delivery_options_deinit(&conversion->options.delivery);
	signals_close(&conversion->signals);
	close_fd(&conversion->fd);
}

static int print_help(void)
{
	printf("Usage: prof convert FILE [-o OUTPUT] [options]\n\n"
	       "Unwinds, names and writes what perf record has recorded, or writes a profile "
	       "(pprof, folded\nstacks) in another format: FILE, or - for stdin.\n\n");
	options_help(table, stdout);
	delivery_help();
	return STATUS_OK;
}

/* Options may stand in front of the file and behind it. */
static struct error *parse(struct conversion *conversion, int argc, char **argv, bool *help)
{
	int rest = 0;

	for (; argc > 0; argc -= rest, argv += rest) {
		struct error *err = options_parse(table, argc, argv, &conversion->options, &rest,
						  help);

		if (err || *help || rest >= argc)
			return err;
		if (conversion->input)
			return error_new("more than one file: %s and %s", conversion->input,
					 argv[rest]);
		conversion->input = argv[rest];
	}
	return NULL;
}

static int convert_run(int argc, char **argv)
{
	CLEANUP(conversion_deinit)
	struct conversion conversion = {
		.words = argv, .word_count = argc, .signals.fd = -1, .fd = -1};
	bool help = false;
	struct error *err;

	delivery_options_init(&conversion.options.delivery);
	err = parse(&conversion, argc, argv, &help);
	if (!err && help)
		return print_help();
	if (!err && !conversion.input)
		err = error_new("no file to convert");
	if (err)
		return message_failure(error_hint(err, "prof convert --help says more"),
				       STATUS_USAGE);
	return convert(&conversion);
}

const struct command command_convert = {
	.name = "convert",
	.summary = "turn a recording of perf, or a profile, into a profile",
	.run = convert_run,
};
