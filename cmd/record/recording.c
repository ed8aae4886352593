#include "cmd/record/recording.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "cmd/command.h"
#include "cmd/ui/message.h"
#include "inside/refusal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* How long a command may take to end before prof passes a signal on to it. */
enum { GRACE_MS = 1000 };

/* Ends prof by the signal that ended the command, as a shell does. Does not
 * leave a core file. */
__attribute__((noreturn)) static void die_by(int number)
{
	const struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	signals_die_by(number);
}

/* Keeps the first reason. */
static void recording_note_end(struct recording *recording, enum recording_end end)
{
	if (recording->end == RECORDING_RUNS)
		recording->end = end;
}

/*
 * Ctrl-C ends the command, whose end may be seen before prof gets its own
 * signal. The same is true for a signal to the whole process group. The first
 * signal soon after the end is therefore assumed to be that signal, and only
 * requests the end of the command.
 */
static bool has_ended_command(struct recording *recording, const struct received_signal *signal)
{
	uint64_t end_ns = recording->command_end_ns;

	recording->command_end_ns = 0;
	return end_ns && clock_now_ns() - end_ns < GRACE_MS * UINT64_C(1000000) &&
	       (signal->by_terminal || launch_was_killed_by(&recording->launch, signal->number));
}

static void recording_on_signal(void *user)
{
	struct recording *recording = user;
	struct received_signal signal;

	if (!signal_guard_next(recording->signals.guard, &signal))
		return;
	if (recording->is_finishing) {
		if (signal.number != SIGUSR2 && !has_ended_command(recording, &signal))
			atomic_store(&recording->cancel, true);
	} else if (signal.number != SIGUSR2) {
		recording->signal = signal;
		recording_note_end(recording, RECORDING_INTERRUPTED);
	} else if (recording->write_so_far) {
		recording->write_so_far(recording->user);
	}
}

static void on_command_end(void *user)
{
	struct recording *recording = user;

	/* If a signal and the command's end come at the same time, the signal
	 * is the reason. */
	recording_on_signal(user);
	if (recording->end == RECORDING_RUNS)
		recording->command_end_ns = clock_now_ns();
	recording_note_end(recording, RECORDING_COMMAND_ENDED);
}

struct error *recording_choose(struct recording *recording)
{
	if (recording->is_of_command) {
		recording->config.target.program = recording->command[0];
		recording->config.target.command_words = recording->command;
	}
	record_config_settle(&recording->config, &recording->listener);
	return recorder_new(&recording->config, &recording->listener, &recording->recorder);
}

static struct error *watch_signals(struct recording *recording)
{
	return loop_watch(recording->loop, signal_guard_fd(recording->signals.guard),
			  recording_on_signal, recording, &recording->signal_watch);
}

/* Reports allocations that the recording will not contain. */
static void recording_say_own_allocator(const struct listener *listener,
					const struct inside_program *program)
{
	CLEANUP(error_cleanup) struct error *lack = inside_find_own_allocator(program);

	if (lack)
		listener_notice(listener, "%s: %s", error_text(lack), error_hint_text(lack));
}

static bool requires_library(const struct record_config *config)
{
	return config->events.via == RECORD_VIA_INSIDE || config->memory.alloc_period;
}

static struct error *open_inside_file(struct recording *recording,
				      const struct inside_program *program)
{
	bool for_memory = recording->config.memory.alloc_period;
	CLEANUP(free_ptr) char *library = NULL;
	struct error *err = inside_check_program(program,
						 for_memory ? INSIDE_FOR_MEMORY : INSIDE_FOR_CPU);

	if (!err)
		err = inside_library_path(&library);
	if (!err)
		err = inside_file_make(&recording->inside);
	return err;
}

/* Without the agent or the shared memory, perf alone can sample. */
static struct error *make_inside_file(struct recording *recording)
{
	CLEANUP(inside_program_cleanup)
	struct inside_program *program = inside_program_of_command(recording->command);
	CLEANUP(error_cleanup) struct error *err = open_inside_file(recording, program);

	if (err && requires_library(&recording->config))
		return STEAL(err);
	if (err) {
		recording->no_inside = STEAL(err);
		recording->config.target.no_inside = error_text(recording->no_inside);
		return NULL;
	}
	inside_file_raise(&recording->inside);
	recording->config.target.inside_file = &recording->inside;
	if (recording->config.memory.alloc_period)
		recording_say_own_allocator(&recording->listener, program);
	return NULL;
}

/* Only a command that is the target gets a new agent file. Another target may
 * have a file of its own. */
static bool may_load_library(const struct recording *recording)
{
	return recording->is_of_command && !recording->config.target.commands_later &&
	       (recording->config.events.via != RECORD_VIA_PERF ||
		recording->config.memory.alloc_period);
}

static struct error *start_command(struct recording *recording, enum launch_output output)
{
	struct error *err = launch_prepare(
		recording->command, &recording->signals, output,
		may_load_library(recording) && recording->inside.mapped ? &recording->inside : NULL,
		&recording->launch);

	if (err)
		return err;
	recording->has_command = true;
	signal_guard_pass_on_to(recording->signals.guard, recording->launch.pid);
	if (recording->is_of_command)
		recording->config.target.command = recording->launch.pid;
	return loop_watch(recording->loop, recording->launch.pidfd, on_command_end, recording,
			  &recording->command_watch);
}

/* Finds the file of the agent in a running process. */
static struct error *find_inside_file(struct recording *recording)
{
	const struct record_config *config = &recording->config;
	pid_t pid = config->target.pids[0];
	CLEANUP(inside_program_cleanup) struct inside_program *program = NULL;
	struct error *err;

	if (config->target.pid_count > 1)
		return error_new("--alloc records one process, and its children");
	err = inside_file_find(pid, &recording->inside);
	if (err && error_number(err) == ENOENT) {
		error_free(err);
		return inside_explain_process(pid);
	}
	if (err)
		return err;
	recording->config.target.inside_file = &recording->inside;
	program = inside_program_of_process(pid);
	recording_say_own_allocator(&recording->listener, program);
	return inside_file_claim(&recording->inside)
		       ? NULL
		       : error_new("another prof records the memory of PID %d", pid);
}

struct error *recording_prepare(struct recording *recording, enum launch_output output)
{
	/*
	 * This runs before there are threads. If threads share the descriptor
	 * table, the kernel waits for all CPUs (10 ms) when it grows the table
	 * for the file's high number.
	 */
	struct error *err = may_load_library(recording) ? make_inside_file(recording) : NULL;

	if (!err)
		err = signals_open(&recording->signals);
	if (!err)
		signal_guard_begin(recording->signals.guard, SIGNAL_PHASE_LISTENING);
	if (!err)
		err = loop_new(&recording->loop);
	if (!err)
		err = watch_signals(recording);
	if (!err && recording->config.memory.alloc_period && recording->config.target.pid_count)
		err = find_inside_file(recording);
	if (!err && *recording->command)
		err = start_command(recording, output);
	return err;
}

struct error *recording_open(struct recording *recording, int raw_fd)
{
	return recorder_open(recording->recorder, recording->loop, raw_fd);
}

struct error *recording_start(struct recording *recording)
{
	struct error *err = recorder_start(recording->recorder);

	recording->launch.loads_library = recording->is_of_command &&
					  recorder_needs_library(recording->recorder);
	if (!err && recording->has_command) {
		/* Other processes of the machine may have filled the rings. The
		 * records of the command's exec and forks need room. */
		recorder_drain(recording->recorder);
		err = launch_release(&recording->launch, recording->command[0]);
	}
	return err;
}

int recording_failure_status(const struct recording *recording)
{
	return recording->launch.refusal ? launch_refusal_status(recording->launch.refusal)
					 : STATUS_FAILED;
}

bool recording_run(struct recording *recording, uint64_t until_ns)
{
	enum recorder_end recorder;

	loop_run(recording->loop, until_ns);
	recorder = recorder_end(recording->recorder);
	if (recorder != RECORDER_RUNS)
		recording_note_end(recording, recorder == RECORDER_TARGET_ENDED
						      ? RECORDING_TARGET_ENDED
						      : RECORDING_OVER);
	return recording->end == RECORDING_RUNS;
}

void recording_end(struct recording *recording)
{
	recording_note_end(recording, RECORDING_OVER);
}

bool recording_is_called(const struct recording *recording)
{
	struct pollfd fds[] = {
		{.fd = signal_guard_fd(recording->signals.guard), .events = POLLIN},
		{.fd = recording->has_command ? recording->launch.pidfd : -1, .events = POLLIN},
	};

	return recorder_is_over(recording->recorder) || poll(fds, ARRAY_SIZE(fds), 0) > 0;
}

double recording_seconds(const struct recording *recording)
{
	struct recorder_window window = recorder_window(recording->recorder);

	return (double)(window.end_ns - window.start_ns) / 1e9;
}

struct error *recording_fork(struct recording *recording)
{
	/* Only the parent may use the other loop. */
	struct error *err = loop_new(&recording->loop);

	recording->is_finishing = true;
	if (!err)
		err = signals_after_fork(&recording->signals);
	return err ? err : watch_signals(recording);
}

static void unwatch_command(struct recording *recording)
{
	loop_unwatch(recording->loop, STEAL(recording->command_watch));
}

void recording_deinit(struct recording *recording)
{
	recorder_free(recording->recorder);
	unwatch_command(recording);
	loop_free(recording->loop);
	if (recording->has_command)
		launch_deinit(&recording->launch);
	if (recording->inside.mapped)
		inside_file_close(&recording->inside);
	error_free(recording->no_inside);
	free(recording->title);
	signals_close(&recording->signals);
}

/* Returns true if prof has ended the recording of a command that may still run. */
static bool recording_is_cut_off(const struct recording *recording)
{
	return recording->end == RECORDING_TARGET_ENDED || recording->end == RECORDING_OVER;
}

void recording_stop_command(struct recording *recording)
{
	if (recording->has_command && recording_is_cut_off(recording)) {
		kill(recording->launch.pid, SIGTERM);
		/* a stopped command would never end */
		kill(recording->launch.pid, SIGCONT);
	}
	unwatch_command(recording);
	signal_guard_begin(recording->signals.guard, SIGNAL_PHASE_WORKING);
	recording->is_finishing = true;
}

/*
 * The terminal sends its signals to the command itself, except SIGHUP: only the
 * session leader gets it, which is prof in a window or an SSH session of its
 * own.
 */
static void recording_pass_on(const struct recording *recording,
			      const struct received_signal *signal)
{
	if (!signal->by_terminal || signal->number == SIGHUP)
		kill(recording->launch.pid, signal->number);
}

/*
 * A command may continue to run after a signal, to clean up or because it
 * caught the signal. Prof waits for it as a shell does; another signal ends the
 * wait. A signal by kill(2) may have been sent to the command, too (timeout(1)
 * signals the whole process group), or to prof alone. Prof cannot know, so it
 * passes the signal on only if the command has not ended after GRACE_MS, or if
 * another signal arrives.
 */
int recording_wait_command(struct recording *recording)
{
	struct signal_guard *guard = recording->signals.guard;
	struct pollfd fds[] = {{.fd = recording->launch.pidfd, .events = POLLIN},
			       {.fd = signal_guard_fd(guard), .events = POLLIN}};
	bool passes_on = recording->end == RECORDING_INTERRUPTED;
	struct received_signal signal;
	int timeout_ms = GRACE_MS, status;

	signal_guard_begin(guard, SIGNAL_PHASE_WAITING);
	while (!fds[0].revents) {
		int ready = poll(fds, ARRAY_SIZE(fds), timeout_ms);
		bool has_signal = !fds[0].revents && fds[1].revents &&
				  signal_guard_next(guard, &signal) && signal.number != SIGUSR2;

		if ((ready == 0 || has_signal) && passes_on) {
			recording_pass_on(recording, &recording->signal);
			passes_on = false;
		}
		if (has_signal) {
			recording_pass_on(recording, &signal);
			die_by(signal.number);
		}
		if (ready == 0) {
			timeout_ms = -1;
			if (!recording->quiet)
				message("waiting for %s to end; Ctrl-C stops waiting",
					recording->command[0]);
		}
	}
	signal_guard_pass_on_to(guard, 0);
	signal_guard_begin(guard, SIGNAL_PHASE_WORKING);
	status = launch_wait(&recording->launch);
	if (recording->command_ended)
		recording->command_ended(recording->user);
	return status;
}

int recording_end_command(struct recording *recording)
{
	int status = recording_wait_command(recording);

	if (recording_is_cut_off(recording))
		return STATUS_OK;
	if (WIFSIGNALED(status))
		die_by(WTERMSIG(status));
	return WEXITSTATUS(status);
}
