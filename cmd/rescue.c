#include "cmd/rescue.h"

#include "base/alloc.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* It defines hundreds of common words as macros: nothing else is in this file. */
#include <curses.h>
#include <term.h>
#include <termios.h>

/* Not SIGBUS, which has a handler (signals.h). */
static const int fatal[] = {SIGABRT, SIGALRM, SIGFPE, SIGILL, SIGQUIT, SIGSEGV, SIGXCPU};

static struct termios noted;
static char farewell[128];

void rescue_note_terminal(void)
{
	tcgetattr(STDIN_FILENO, &noted);
}

static void restore_and_die(int number)
{
	ssize_t written = write(STDOUT_FILENO, farewell, strlen(farewell));

	(void)written;
	tcsetattr(STDIN_FILENO, TCSANOW, &noted);
	signal(number, SIG_DFL);
	raise(number); /* comes when the handler returns */
}

void rescue_arm(void)
{
	const struct sigaction action = {.sa_handler = restore_and_die};
	static const char *const words[] = {"sgr0", "rmkx", "cnorm", "rmcup"};

	farewell[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		const char *text = tigetstr(words[i]);

		if (text && text != (char *)-1 &&
		    strlen(farewell) + strlen(text) < sizeof(farewell))
			strcat(farewell, text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		sigaction(fatal[i], &action, NULL);
}

void rescue_disarm(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(fatal); i++)
		signal(fatal[i], SIG_DFL);
}
