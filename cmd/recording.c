#include "cmd/recording.h"

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

/* Ends prof by the signal that ended the command, as a shell does; leaves no core file. */
__attribute__((noreturn)) static void die_by(int number)
{
	const struct rlimit no_core = {0, 0};

	setrlimit(RLIMIT_CORE, &no_core);
	signals_die_by(number);
}

/* The first reason stays. */
static void end(struct recording *recording, enum recording_end end)
{
	if (recording->end == RECORDING_RUNS)
		recording->end = end;
}

/*
 * Ctrl-C ends the command, whose end may be seen before prof gets its own signal; so may a signal
 * to the whole process group. The first signal soon after the end is taken for that one: it asks
 * for no more than the end of the command.
 */
static bool has_ended_command(struct recording *recording, const struct received_signal *signal)
{
	uint64_t end_ns = recording->command_end_ns;

	recording->command_end_ns = 0;
	return end_ns && clock_now_ns() - end_ns < GRACE_MS * UINT64_C(1000000) &&
	       (signal->by_terminal || launch_was_killed_by(&recording->launch, signal->number));
}

static void on_signal(void *user)
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
		end(recording, RECORDING_INTERRUPTED);
	} else if (recording->write_so_far) {
		recording->write_so_far(recording->user);
	}
}

static void on_command_end(void *user)
{
	struct recording *recording = user;

	/* Of a signal and the command's end at the same time, the signal is the reason. */
	on_signal(user);
	if (recording->end == RECORDING_RUNS)
		recording->command_end_ns = clock_now_ns();
	end(recording, RECORDING_COMMAND_ENDED);
}

struct error *recording_choose(struct recording *recording)
{
	if (recording->is_of_command) {
		recording->config.program = recording->command[0];
		recording->config.command_words = recording->command;
	}
	record_config_settle(&recording->config, &recording->listener);
	return recorder_new(&recording->config, &recording->listener, &recording->recorder);
}

static struct error *watch_signals(struct recording *recording)
{
	return loop_watch(recording->loop, signal_guard_fd(recording->signals.guard), on_signal,
			  recording, &recording->signal_watch);
}

/* Allocations that the recording will lack. */
static void say_own_allocator(const struct listener *listener, const struct inside_program *program)
{
	CLEANUP(error_cleanup) struct error *lack = inside_find_own_allocator(program);

	if (lack)
		listener_notice(listener, "%s: %s", error_text(lack), error_hint_text(lack));
}

static bool requires_library(const struct record_config *config)
{
	return config->via == RECORD_VIA_INSIDE || config->alloc_period;
}

static struct error *open_inside_file(struct recording *recording,
				      const struct inside_program *program)
{
	bool for_memory = recording->config.alloc_period;
	CLEANUP(free_ptr) char *library = NULL;
	struct error *err = inside_check_program(program,
						 for_memory ? INSIDE_FOR_MEMORY : INSIDE_FOR_CPU);

	if (!err)
		err = inside_library_path(&library);
	if (!err)
		err = inside_file_make(&recording->inside);
	return err;
}

/* Without the library, or the memory that is shared with it, perf alone can sample. */
static struct error *make_inside_file(struct recording *recording)
{
	CLEANUP(inside_program_cleanup)
	struct inside_program *program = inside_program_of_command(recording->command);
	CLEANUP(error_cleanup) struct error *err = open_inside_file(recording, program);

	if (err && requires_library(&recording->config))
		return STEAL(err);
	if (err) {
		recording->no_inside = STEAL(err);
		recording->config.no_inside = error_text(recording->no_inside);
		return NULL;
	}
	inside_file_raise(&recording->inside);
	recording->config.inside_file = &recording->inside;
	if (recording->config.alloc_period)
		say_own_allocator(&recording->listener, program);
	return NULL;
}

/* Another target may have a file that was found; a command that only limits the time has none. */
static bool may_load_library(const struct recording *recording)
{
	return recording->is_of_command && !recording->config.commands_later &&
	       (recording->config.via != RECORD_VIA_PERF || recording->config.alloc_period);
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
		recording->config.command = recording->launch.pid;
	return loop_watch(recording->loop, recording->launch.pidfd, on_command_end, recording,
			  &recording->command_watch);
}

/* The library is in a process that runs. */
static struct error *find_inside_file(struct recording *recording)
{
	const struct record_config *config = &recording->config;
	pid_t pid = config->pids[0];
	CLEANUP(inside_program_cleanup) struct inside_program *program = NULL;
	struct error *err;

	if (config->pid_count > 1)
		return error_new("--alloc records one process, and its children");
	err = inside_file_find(pid, &recording->inside);
	if (err && error_number(err) == ENOENT) {
		error_free(err);
		return inside_explain_process(pid);
	}
	if (err)
		return err;
	recording->config.inside_file = &recording->inside;
	program = inside_program_of_process(pid);
	say_own_allocator(&recording->listener, program);
	return inside_file_claim(&recording->inside)
		       ? NULL
		       : error_new("another prof records the memory of PID %d", pid);
}

struct error *recording_prepare(struct recording *recording, enum launch_output output)
{
	/* Before there is a thread: where threads share descriptors, the kernel waits for all CPUs,
	 * 10 ms, when it makes room for the file's high number. */
	struct error *err = may_load_library(recording) ? make_inside_file(recording) : NULL;

	if (!err)
		err = signals_open(&recording->signals);
	if (!err)
		signal_guard_begin(recording->signals.guard, SIGNAL_PHASE_LISTENING);
	if (!err)
		err = loop_new(&recording->loop);
	if (!err)
		err = watch_signals(recording);
	if (!err && recording->config.alloc_period && recording->config.pid_count)
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
	if (!err && recording->has_command)
		err = launch_release(&recording->launch, recording->command[0]);
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
		end(recording,
		    recorder == RECORDER_TARGET_ENDED ? RECORDING_TARGET_ENDED : RECORDING_OVER);
	return recording->end == RECORDING_RUNS;
}

void recording_end(struct recording *recording)
{
	end(recording, RECORDING_OVER);
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
	signals_close(&recording->signals);
}

/* Whether prof has ended the recording of a command that may still run. */
static bool is_cut_off(const struct recording *recording)
{
	return recording->end == RECORDING_TARGET_ENDED || recording->end == RECORDING_OVER;
}

void recording_stop_command(struct recording *recording)
{
	if (recording->has_command && is_cut_off(recording)) {
		kill(recording->launch.pid, SIGTERM);
		kill(recording->launch.pid, SIGCONT); /* one that is stopped would never end */
	}
	unwatch_command(recording);
	signal_guard_begin(recording->signals.guard, SIGNAL_PHASE_WORKING);
	recording->is_finishing = true;
}

/*
 * The terminal sends its signals to the command itself. Of a hangup it informs only the leader of
 * the session, which prof is in a window or an SSH session of its own.
 */
static void pass_on(const struct recording *recording, const struct received_signal *signal)
{
	if (!signal->by_terminal || signal->number == SIGHUP)
		kill(recording->launch.pid, signal->number);
}

/*
 * After a signal the command may run on, to clean up or because it caught the signal. Prof waits
 * for it as a shell does; another signal ends the wait. A signal by kill(2) may have been sent to
 * the command, too (timeout(1) signals the whole process group), or to prof alone. Prof cannot
 * know, so it passes the signal on only if the command has not ended after GRACE_MS, or if another
 * signal comes.
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
			pass_on(recording, &recording->signal);
			passes_on = false;
		}
		if (has_signal) {
			pass_on(recording, &signal);
			die_by(signal.number);
		}
		if (ready == 0) {
			timeout_ms = -1;
			if (!recording->quiet)
				message("waiting for %s to end; Ctrl-C leaves it alone",
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

	if (is_cut_off(recording))
		return STATUS_OK;
	if (WIFSIGNALED(status))
		die_by(WTERMSIG(status));
	return WEXITSTATUS(status);
}
