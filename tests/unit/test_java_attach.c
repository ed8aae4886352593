#include "record/java_attach.h"

#include "base/clock.h"
#include "elf/elf_file.h"
#include "lacking.h"
#include "unit_test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const uid_t nobody = 65534;

static enum java_answer ask_if(pid_t pid, struct elf_file *libjvm, bool own_only)
{
	struct java_attach attach = java_attach_start(pid, libjvm, own_only,
						      clock_now_ns() + 10 * NS_PER_SECOND);

	return java_attach_wait(&attach);
}

static enum java_answer ask(pid_t pid, struct elf_file *libjvm)
{
	return ask_if(pid, libjvm, false);
}

/* Opens this program, which is not a Java virtual machine. */
static struct elf_file *open_self(void)
{
	struct elf_file *elf = NULL;

	error_free(elf_file_open(open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "self", &elf));
	assert_non_null(elf);
	return elf;
}

/* Starts a process that SIGQUIT would end. */
static pid_t start_process(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGQUIT, SIG_DFL);
		while (true)
			pause();
	}
	return pid;
}

static int end_process(pid_t pid)
{
	int status;

	kill(pid, SIGTERM);
	waitpid(pid, &status, 0);
	return WTERMSIG(status);
}

TEST(a_process_without_hotspot_gets_no_signal)
{
	pid_t pid = start_process();
	struct elf_file *elf = open_self();

	assert_int_equal(ask(pid, elf), JAVA_NO_JVM);
	assert_int_equal(end_process(pid), SIGTERM);
	elf_file_free(elf);
}

TEST(a_process_that_has_ended_is_reported)
{
	pid_t pid = start_process();
	struct elf_file *elf = open_self();

	end_process(pid);
	assert_int_equal(ask(pid, elf), JAVA_ENDED);
	elf_file_free(elf);
}

TEST(a_process_of_another_user_is_left_alone)
{
	pid_t pid = start_process(), asking;
	struct elf_file *elf = open_self();
	int status;

	if (geteuid() != 0)
		RETURN_LACKING("root");
	asking = fork();
	if (asking == 0)
		_exit(setresgid(nobody, nobody, nobody) || setresuid(nobody, nobody, nobody)
			      ? 99
			      : (int)ask(pid, elf));
	waitpid(asking, &status, 0);
	assert_int_equal(WEXITSTATUS(status), JAVA_UNTRUSTED);
	assert_int_equal(end_process(pid), SIGTERM);
	elf_file_free(elf);
}

/* Only --java makes root ask those of other users; the caller of sudo is one's own. */
TEST(root_asks_by_itself_only_its_own_processes_and_those_of_the_caller_of_sudo)
{
	struct elf_file *elf = open_self();
	int ready[2];
	pid_t pid;
	char byte;

	if (geteuid() != 0)
		RETURN_LACKING("root");
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		bool is_other = setresgid(nobody, nobody, nobody) == 0 &&
				setresuid(nobody, nobody, nobody) == 0;

		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!is_other || write(ready[1], "", 1) != 1)
			_exit(99);
		while (true)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(ask_if(pid, elf, true), JAVA_UNTRUSTED);
	setenv("SUDO_UID", "65534", true);
	setenv("SUDO_GID", "65534", true);
	assert_int_equal(ask_if(pid, elf, true), JAVA_NO_JVM);
	unsetenv("SUDO_UID");
	unsetenv("SUDO_GID");
	assert_int_equal(ask_if(pid, elf, false), JAVA_NO_JVM);
	assert_int_equal(ask_if(getpid(), elf, true), JAVA_NO_JVM);
	assert_int_equal(end_process(pid), SIGTERM);
	close(ready[0]);
	elf_file_free(elf);
}

int main(void)
{
	/* An emulated process has no /proc of its own: it would be that of the
	 * emulator. */
	if (!has_seccomp())
		return lacking_all("a process that is not an emulator");
	return unit_tests_run();
}
