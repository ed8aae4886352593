#include "cmd/ui/terminal_restore.h"

#include "base/alloc.h"
#include "base/signals.h"

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Nothing else is in this file, because term.h defines hundreds of common words
 * as macros. */
#include <curses.h>
#include <term.h>
#include <termios.h>

/* The size of the stack for the handler after a stack overflow. */
enum { STACK_BYTES = 64 << 10 };

/* How long a terminal may take to accept the last output. */
enum { ROOM_MS = 200 };

static struct termios noted;
static char farewell[128];
static unsigned char stack[STACK_BYTES];
static volatile sig_atomic_t is_armed;
static struct sigaction before[NSIG];

/* Returns true if the signal ends a process that has no handler for it. */
static bool is_fatal(int number)
{
	static const int others[] = {SIGKILL, SIGSTOP, SIGCHLD, SIGCONT, SIGTSTP,
				     SIGTTIN, SIGTTOU, SIGURG,	SIGWINCH};

	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		if (number == others[i])
			return false;
	return true;
}

void terminal_restore_save(void)
{
	tcgetattr(STDIN_FILENO, &noted);
	for (int number = 1; number < NSIG; number++)
		if (sigaction(number, NULL, &before[number]) < 0)
			before[number].sa_handler = SIG_IGN; /* reserved by the C library */
}

static bool takes_output(int timeout_ms)
{
	struct pollfd fd = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&fd, 1, timeout_ms) > 0 && fd.revents & POLLOUT;
}

/*
 * Makes room in a terminal that takes no output. The thread that writes to it
 * holds a lock and must finish. Clearing IXON ends the effect of Ctrl-S, and a
 * change of the settings wakes writers.
 */
static void terminal_restore_make_room(void)
{
	struct termios settings = noted;

	settings.c_iflag &= ~(tcflag_t)IXON;
	tcflush(STDOUT_FILENO, TCOFLUSH);
	tcsetattr(STDIN_FILENO, TCSANOW, &settings);
}

static void terminal_restore_all(void)
{
	ssize_t written = 0;

	if (!is_armed)
		return;
	is_armed = false;
	if (!takes_output(0))
		terminal_restore_make_room();
	if (takes_output(ROOM_MS))
		written = write(STDOUT_FILENO, farewell, strlen(farewell));
	(void)written;
	tcsetattr(STDIN_FILENO, TCSANOW, &noted);
}

static void restore_and_die(int number)
{
	terminal_restore_all();
	signals_die_by(number);
}

/* The handler in signals.h replaces pages of a file that was truncated, or
 * gives up. */
static void on_bus_error(int number, siginfo_t *info, void *context)
{
	struct sigaction now;

	before[number].sa_sigaction(number, info, context);
	sigaction(number, NULL, &now);
	if (now.sa_handler == SIG_DFL)
		restore_and_die(number);
}

static void catch (int number)
{
	struct sigaction action = {.sa_flags = SA_ONSTACK};

	sigfillset(&action.sa_mask);
	if (before[number].sa_flags & SA_SIGINFO) {
		action.sa_sigaction = on_bus_error;
		action.sa_flags |= SA_SIGINFO;
	} else {
		action.sa_handler = restore_and_die;
	}
	sigaction(number, &action, NULL);
}

static bool is_caught(int number)
{
	return is_fatal(number) &&
	       (before[number].sa_flags & SA_SIGINFO || before[number].sa_handler == SIG_DFL);
}

void terminal_restore_arm(void)
{
	static const char *const words[] = {"sgr0", "rmkx", "cnorm", "rmcup"};
	const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof(stack)};

	farewell[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *text = tigetstr(words[i]);

		if (text && text != (char *)-1 &&
		    strlen(farewell) + strlen(text) < sizeof(farewell))
			strcat(farewell, text);
	}
	is_armed = true;
	sigaltstack(&alternate, NULL);
	at_quick_exit(terminal_restore_all);
	for (int number = 1; number < NSIG; number++)
		if (is_caught(number))
			catch (number);
}

void terminal_restore_disarm(void)
{
	is_armed = false;
	for (int number = 1; number < NSIG; number++)
		if (is_caught(number))
			sigaction(number, &before[number], NULL);
}
