#include "record/waiting_refusal.h"

#include "folder.h"
#include "unit_test.h"

#include <unistd.h>

TEST(the_cause_and_what_helps_are_told)
{
	static const struct {
		struct waiting_rights rights;
		const char *cause, *help;
	} cases[] = {
		{{.is_untrusted = true}, "another user", "as root"},
		{{.is_untrusted = true, .ptrace_scope = 1}, "another user", "as root"},
		{{.ptrace_scope = 1}, "ptrace_scope is 1", "start it with prof record"},
		{{.ptrace_scope = 1}, "ptrace_scope is 1", "ptrace_scope=0"},
		{{.ptrace_scope = 2}, "ptrace_scope is 2", "as root"},
		{{.ptrace_scope = 3}, "ptrace_scope is 3", "reboot"},
		{{.is_root = true, .ptrace_scope = 3}, "ptrace_scope is 3", "reboot"},
		{{.is_root = true, .is_untrusted = true}, "SYS_PTRACE", "--cap-add"},
		{{.is_root = true, .may_trace = true}, "security module", "log"},
		{{0}, "dumpable", "as root"},
		{{.is_sampled = true}, "at each context switch", "as root"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(free_ptr) char *text = waiting_refusal_in(12, &cases[i].rights);

		assert_non_null(strstr(text, "process 12 "));
		assert_non_null(strstr(text, cases[i].cause));
		assert_non_null(strstr(text, cases[i].help));
	}
}

static void write_text(const char *name, const char *text)
{
	write_file(name, text, strlen(text));
}

static void write_status(unsigned user)
{
	CLEANUP(free_ptr)
	char *text = xasprintf("Name:\tx\\nUid:\t1\t1\t1\t1\nUid:\t%u\t%u\t%u\t%u\n", user, user,
			       user, user);

	write_text("7/status", text);
}

static void assert_told(const char *cause)
{
	CLEANUP(free_ptr) char *text = waiting_refusal(folder, 7, false);

	assert_non_null(strstr(text, cause));
}

TEST_IN_FOLDER(the_rights_are_read_from_proc)
{
	bool is_root = geteuid() == 0;

	write_status(getuid() + 1);
	assert_told(is_root ? "SYS_PTRACE" : "another user");
	write_status(getuid());
	assert_told(is_root ? "SYS_PTRACE" : "dumpable");
	write_text("sys/kernel/yama/ptrace_scope", "1\n");
	assert_told(is_root ? "SYS_PTRACE" : "ptrace_scope is 1");
	write_text("self/status", "Name:\tprof\nCapPrm:\t0\nCapEff:\t0000000000080000\n");
	assert_told("security module");
	write_text("sys/kernel/yama/ptrace_scope", "3\n");
	assert_told("ptrace_scope is 3");
}

TEST_IN_FOLDER(a_process_that_has_ended_is_not_told_of)
{
	assert_null(waiting_refusal(folder, 8, false));
	write_text("9/status", "Name:\tdamaged\n");
	assert_null(waiting_refusal(folder, 9, false));
}
