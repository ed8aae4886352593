#include "cmd/doctor/doctor_fix.h"

#include "base/alloc.h"
#include "base/forked_child.h"
#include "base/printable.h"
#include "cmd/command.h"
#include "cmd/ui/message.h"
#include "doctor/machine_fixes.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void print_fix(const struct finding *finding)
{
	CLEANUP(free_ptr) char *what = printable(finding->what);
	CLEANUP(free_ptr) char *cost = printable(finding->cost ? finding->cost : "");

	printf("# %s: %s%s%s\n%s\n", finding->subject, what, *cost ? "; costs: " : "", cost,
	       finding->fix);
	fflush(stdout);
}

/* In the child. sysctl and mount are not in the PATH of every root shell. */
static int run_shell(void *user)
{
	CLEANUP(free_ptr) char *line = xasprintf("PATH=$PATH:/usr/sbin:/sbin; %s", (char *)user);

	execl("/bin/sh", "sh", "-c", line, (char *)NULL);
	return EXIT_FAILURE;
}

/* The program that fails prints the reason. */
static bool run_fix(const struct finding *finding)
{
	struct forked_child_end end = {0};
	pid_t child;
	struct error *err = forked_child_start(FORKED_CHILD_ENDS_WITH_THREAD, run_shell,
					       finding->fix, &child);

	if (!err) {
		end = forked_child_wait(child);
		if (WIFEXITED(end.status) && WEXITSTATUS(end.status) == 0)
			return true;
		err = error_new("%s: this command failed", finding->fix);
	}
	message_error(err);
	return false;
}

static int run_fixes(const struct findings *fixes)
{
	int status = STATUS_OK;

	for (size_t i = 0; i < fixes->count; i++) {
		print_fix(&fixes->items[i]);
		if (!run_fix(&fixes->items[i]))
			status = STATUS_FAILED;
	}
	return status;
}

int doctor_fix(const struct machine_facts *facts, bool runs)
{
	CLEANUP(findings_deinit) struct findings fixes = {0};

	if (runs && geteuid() != 0)
		return message_failure(error_hint(error_new("only root can change these settings"),
						  "sudo prof doctor --fix --yes"));
	machine_fixes(facts, &fixes);
	if (!fixes.count)
		message("no setting of this machine needs to be changed");
	else if (runs)
		return run_fixes(&fixes);
	for (size_t i = 0; i < fixes.count; i++)
		print_fix(&fixes.items[i]);
	if (fixes.count)
		message("to run these lines: sudo prof doctor --fix --yes; sysctl and mount last "
			"until the machine is restarted");
	return STATUS_OK;
}
