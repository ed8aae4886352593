#include "doctor/machine_findings.h"
#include "doctor/machine_fixes.h"
#include "doctor/module_advice.h"
#include "doctor/module_weights.h"
#include "doctor/packages.h"
#include "doctor/process_findings.h"

#include "base/alloc.h"

#include "unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A machine without limits. */
static const struct machine_facts good = {
	.around = {.paranoid = -1, .privileged = true},
	.is_root = true,
	.may_trace = true,
	.may_lock = true,
	.filters_pids = true,
	.cpus = 4,
	.mlock_kib = 516,
	.memlock_bytes = UINT64_MAX,
	.files = UINT64_MAX,
	.max_rate_hz = 100000,
	.cpu_percent = 25,
	.sees_kernel_symbols = true,
	.has_tracefs = true,
	.reads_tracefs = true,
	.inside_hz = 250,
	.ptrace_scope = SETTING_UNKNOWN,
	.debuginfod = "https://example.org",
	.has_libdebuginfod = true,
	.has_debug_files = true,
};

/* The facts for an unprivileged user. */
static struct machine_facts ordinary(void)
{
	struct machine_facts facts = good;

	facts.around = (struct circumstances){.paranoid = 2};
	facts.is_root = facts.may_trace = facts.may_lock = facts.filters_pids = false;
	facts.may = (struct permissions){.kernel = EACCES, .cpus = EACCES};
	facts.memlock_bytes = 8 << 20;
	facts.files = 1 << 20;
	return facts;
}

static const struct finding *finding_of(const struct findings *findings, const char *subject)
{
	for (size_t i = 0; i < findings->count; i++)
		if (!strcmp(findings->items[i].subject, subject))
			return &findings->items[i];
	fail_msg("no finding on %s", subject);
	return NULL;
}

static void assert_finding(const struct machine_facts *facts, const char *subject,
			   enum finding_state state, const char *command)
{
	CLEANUP(findings_deinit) struct findings findings;
	const struct finding *finding;

	machine_findings(facts, &findings);
	finding = finding_of(&findings, subject);
	assert_int_equal(finding->state, state);
	if (command)
		assert_string_equal(finding->command, command);
	else
		assert_null(finding->command);
	if (state != FINDING_OK)
		assert_non_null(finding->cost);
}

TEST(a_machine_that_limits_nothing_is_ok)
{
	CLEANUP(findings_deinit) struct findings findings;

	machine_findings(&good, &findings);
	for (size_t i = 0; i < findings.count; i++)
		assert_int_equal(findings.items[i].state, FINDING_OK);
}

TEST(the_paranoid_level_limits_what_is_sampled)
{
	struct machine_facts facts = ordinary();

	assert_finding(&facts, "sampling", FINDING_LIMITED,
		       "sudo sysctl kernel.perf_event_paranoid=1");
	facts.may.kernel = 0;
	assert_finding(&facts, "sampling", FINDING_LIMITED,
		       "sudo sysctl kernel.perf_event_paranoid=0");
	facts.may.cpus = 0;
	assert_finding(&facts, "sampling", FINDING_OK, NULL);
}

TEST(what_refuses_everything_comes_first_with_what_prof_record_says)
{
	struct machine_facts facts = ordinary();
	CLEANUP(findings_deinit) struct findings findings;

	facts.may = (struct permissions){EPERM, EPERM, EPERM};
	facts.around.seccomp = true;
	machine_findings(&facts, &findings);
	assert_string_equal(findings.items[0].subject, "sampling");
	assert_int_equal(findings.items[0].state, FINDING_LIMITED);
	assert_non_null(strstr(findings.items[0].cost, "250 Hz"));
	assert_non_null(strstr(findings.items[0].what, "seccomp"));
	assert_non_null(strstr(findings.items[0].command, "--cap-add PERFMON"));
}

TEST(without_its_library_prof_records_neither_memory_nor_what_perf_is_refused)
{
	struct machine_facts facts = ordinary();

	facts.inside_hz = 0;
	assert_finding(&facts, "memory", FINDING_LIMITED,
		       "install prof with its library (meson install)");
	facts.may = (struct permissions){EPERM, EPERM, EPERM};
	facts.around.seccomp = true;
	assert_finding(&facts, "sampling", FINDING_MISSING,
		       "start the container with --cap-add PERFMON, or with --security-opt "
		       "seccomp=unconfined");
}

TEST(settings_that_cost_samples_have_the_command_that_raises_them)
{
	struct machine_facts facts = ordinary();

	facts.memlock_bytes = 64 << 10;
	facts.files = 4096;
	facts.max_rate_hz = 500;
	facts.ptrace_scope = 1;
	facts.reads_tracefs = facts.has_tracefs = false;
	assert_finding(&facts, "ring buffers", FINDING_LIMITED,
		       "sudo sysctl kernel.perf_event_mlock_kb=8192");
	assert_finding(&facts, "open files", FINDING_LIMITED,
		       "sudo prlimit --pid $$ --nofile=1048576");
	assert_finding(&facts, "sample rate", FINDING_LIMITED,
		       "sudo sysctl kernel.perf_event_max_sample_rate=100000");
	assert_finding(&facts, "waiting threads", FINDING_LIMITED,
		       "sudo sysctl kernel.yama.ptrace_scope=0");
	assert_finding(&facts, "tracepoints", FINDING_LIMITED,
		       "sudo mount -t tracefs nodev /sys/kernel/tracing");
}

TEST(hidden_kernel_symbols_matter_if_the_kernel_is_sampled)
{
	struct machine_facts facts = ordinary();

	facts.sees_kernel_symbols = false;
	facts.kptr_restrict = 1;
	assert_finding(&facts, "kernel symbols", FINDING_OK, NULL);
	facts.may.kernel = 0;
	assert_finding(&facts, "kernel symbols", FINDING_LIMITED,
		       "sudo sysctl kernel.kptr_restrict=0");
	/* Without /proc. */
	facts.kptr_restrict = SETTING_UNKNOWN;
	assert_finding(&facts, "kernel symbols", FINDING_LIMITED, NULL);
}

TEST(debug_information_needs_a_server_and_its_library)
{
	struct machine_facts facts = ordinary();

	facts.distribution = (struct distribution){.packaging = PACKAGING_DEBIAN,
						   .debuginfod = "https://example.org"};
	assert_finding(&facts, "debug information", FINDING_OK, NULL);
	facts.has_libdebuginfod = false;
	assert_finding(&facts, "debug information", FINDING_LIMITED,
		       "sudo apt install libdebuginfod1");
	facts.debuginfod[0] = '\0';
	assert_finding(&facts, "debug information", FINDING_LIMITED,
		       "export DEBUGINFOD_URLS=https://example.org");
}

static void assert_fixes(const struct machine_facts *facts, const char *expected)
{
	CLEANUP(findings_deinit) struct findings fixes;
	CLEANUP(free_ptr) char *all = xstrdup("");

	machine_fixes(facts, &fixes);
	for (size_t i = 0; i < fixes.count; i++) {
		CLEANUP(free_ptr) char *before = all;

		all = xasprintf("%s%s\n", before, fixes.items[i].fix);
	}
	assert_string_equal(all, expected);
}

TEST(fixes_are_for_ordinary_users_also_if_root_asks)
{
	struct machine_facts facts = good;

	assert_fixes(&facts, "");
	facts.around.paranoid = 3;
	facts.kptr_restrict = 1;
	facts.mlock_kib = 16;
	facts.memlock_bytes = 64 << 10;
	facts.has_tracefs = false;
	facts.ptrace_scope = 1;
	assert_fixes(&facts, "sysctl kernel.perf_event_paranoid=1\n"
			     "sysctl kernel.kptr_restrict=0\n"
			     "sysctl kernel.perf_event_mlock_kb=8192\n"
			     "sysctl kernel.yama.ptrace_scope=0\n"
			     "mount -t tracefs nodev /sys/kernel/tracing\n");
	facts.around = (struct circumstances){.paranoid = 3};
	facts.may = (struct permissions){EACCES, EACCES, EACCES};
	facts.is_root = facts.may_trace = facts.may_lock = facts.sees_kernel_symbols = false;
	assert_fixes(&facts, "sysctl kernel.perf_event_paranoid=1\n"
			     "sysctl kernel.kptr_restrict=0\n"
			     "sysctl kernel.perf_event_mlock_kb=8192\n"
			     "sysctl kernel.yama.ptrace_scope=0\n"
			     "mount -t tracefs nodev /sys/kernel/tracing\n");
}

TEST(what_a_setting_does_not_change_has_no_fix)
{
	struct machine_facts facts = ordinary();

	facts.around = (struct circumstances){.paranoid = 1, .seccomp = true};
	facts.may = (struct permissions){EPERM, EPERM, EPERM};
	facts.inside_hz = 0;
	facts.in_container = true;
	assert_fixes(&facts, "");
}

TEST(the_fix_of_a_missing_server_keeps_that_of_a_user)
{
	struct machine_facts facts = good;

	facts.debuginfod[0] = '\0';
	facts.distribution.debuginfod = "https://example.org";
	assert_fixes(&facts, "echo 'export DEBUGINFOD_URLS="
			     "\"${DEBUGINFOD_URLS:-https://example.org}\"' "
			     ">/etc/profile.d/prof-debuginfod.sh\n");
	facts.has_debuginfod_profile = true;
	assert_fixes(&facts, "");
}

TEST(a_distribution_is_known_by_its_id_or_what_it_is_like)
{
	struct distribution distribution;
	char *command;

	distribution_parse("PRETTY_NAME=\"x\"\nID=debian\nVERSION_CODENAME=bookworm\n",
			   &distribution);
	assert_int_equal(distribution.packaging, PACKAGING_DEBIAN);
	assert_string_equal(distribution.debuginfod, "https://debuginfod.debian.net");
	command = distribution_archive(&distribution);
	assert_non_null(strstr(command, " bookworm-debug main"));
	free(command);
	distribution_parse("ID=linuxmint\nID_LIKE=\"ubuntu debian\"\nVERSION_CODENAME=wilma\n"
			   "UBUNTU_CODENAME=noble\n",
			   &distribution);
	assert_int_equal(distribution.packaging, PACKAGING_UBUNTU);
	assert_string_equal(distribution.codename, "noble");
	distribution_parse("ID=\"opensuse-leap\"\n", &distribution);
	assert_int_equal(distribution.packaging, PACKAGING_SUSE);
	distribution_parse("ID=archive\nVERSION_CODENAME='x;rm'", &distribution);
	assert_int_equal(distribution.packaging, PACKAGING_UNKNOWN);
	assert_string_equal(distribution.codename, "");
	assert_null(distribution_install(&distribution, "x"));
}

TEST(the_distribution_of_a_process_is_read_below_its_root)
{
	struct distribution here, its;

	distribution_here(&here);
	distribution_of_process(getpid(), getuid(), &its);
	assert_int_equal(its.packaging, here.packaging);
	assert_string_equal(its.codename, here.codename);
}

static void assert_package(enum packaging packaging, const char *text, const char *path,
			   const char *expected)
{
	char package[32];

	package_of_file(packaging, text, path, package, sizeof(package));
	assert_string_equal(package, expected);
}

TEST(the_package_of_a_file_is_read_from_what_package_managers_print)
{
	static const char dpkg[] = "diversion by x from: /lib/libc.so.6\n"
				   "libc6:amd64, libc6:i386: /lib/libc.so.6\n"
				   "evil $(x): /lib/evil.so\n";

	assert_package(PACKAGING_DEBIAN, dpkg, "/lib/libc.so.6", "libc6");
	assert_package(PACKAGING_DEBIAN, dpkg, "/libc.so.6", "");
	assert_package(PACKAGING_DEBIAN, "$(x): /lib/evil.so\n", "/lib/evil.so", "");
	assert_package(PACKAGING_DEBIAN, "", "/lib/evil.so", "");
	assert_package(PACKAGING_FEDORA, "glibc\n", "/lib64/libc.so.6", "glibc");
	assert_package(PACKAGING_FEDORA, "file /x is not owned by any package\n", "/x", "");
	assert_package(PACKAGING_ALPINE, "/lib/libz.so is owned by zlib-1.3-r2\n", "/lib/libz.so",
		       "zlib");
	assert_package(PACKAGING_ALPINE, "ERROR: /x: Could not find owner package\n", "/x", "");
}

static const struct advice_context on_debian = {
	.distribution = {.packaging = PACKAGING_DEBIAN,
			 .debuginfod = "https://debuginfod.debian.net"},
};

static void assert_advice(struct listed_module module, enum finding_state state, const char *origin,
			  const char *command)
{
	module_advise(&module, &on_debian);
	assert_int_equal(module.state, state);
	assert_string_equal(module.origin, origin);
	if (command)
		assert_string_equal(module.command, command);
	else
		assert_null(module.command);
	free(module.missing);
	free(module.command);
}

static struct listed_module module_at(const char *path, uint32_t present)
{
	return (struct listed_module){
		.kind = PROFILE_MODULE_FILE,
		.path = (char *)(uintptr_t)path,
		.is_read = true,
		.sources.present = present,
	};
}

TEST(a_program_without_debug_information_is_to_be_built_with_it)
{
	struct listed_module rust = module_at("/home/u/x", NAMES_SYMTAB);

	assert_advice(module_at("/home/u/x", NAMES_SYMTAB), FINDING_LIMITED, "symbols",
		      "build it with -g");
	assert_advice(module_at("/home/u/x", NAMES_EXPORTED), FINDING_LIMITED, "exported symbols",
		      "build it with -g, and do not strip it");
	assert_advice(module_at("/home/u/x", 0), FINDING_MISSING, "nothing",
		      "build it with -g, and do not strip it");
	rust.sources.is_rust = true;
	assert_advice(rust, FINDING_LIMITED, "symbols",
		      "build it with [profile.release] debug = \"line-tables-only\" in Cargo.toml, "
		      "or with prof cargo");
	assert_advice(module_at("/home/u/x", NAMES_GO), FINDING_OK, "Go's table", NULL);
	assert_advice(module_at("/home/u/x", NAMES_SYMTAB | NAMES_DWARF), FINDING_OK, "DWARF",
		      NULL);
}

TEST(a_file_of_the_distribution_has_a_package_or_a_server)
{
	struct listed_module library = module_at("/usr/lib/libx.so", NAMES_EXPORTED);

	assert_advice(library, FINDING_LIMITED, "exported symbols",
		      "export DEBUGINFOD_URLS=https://debuginfod.debian.net");
	library.package = (char *)(uintptr_t) "libx1-dbgsym";
	assert_advice(library, FINDING_LIMITED, "exported symbols",
		      "sudo apt install libx1-dbgsym");
}

TEST(a_profile_that_was_recorded_without_a_server_is_to_be_recorded_again)
{
	struct advice_context context = on_debian;
	struct listed_module library = module_at("/usr/lib/libx.so", NAMES_EXPORTED);

	context.has_debuginfod = true;
	module_advise(&library, &context);
	assert_null(library.command);
	free(library.missing);
	library.is_kept = true;
	module_advise(&library, &context);
	assert_string_equal(library.command,
			    "record it again; the recording queries debuginfod servers");
	free(library.missing);
	free(library.command);
}

TEST(missing_dwo_files_are_packed_where_the_program_was_built)
{
	struct listed_module module = module_at("/x", NAMES_SYMTAB | NAMES_DWARF);

	module.sources.split_units = 3;
	assert_advice(module, FINDING_OK, "DWARF", NULL);
	module.sources.missing_units = 2;
	assert_advice(module, FINDING_LIMITED, "DWARF",
		      "dwp -e /x -o /x.dwp where it was built, or build it without -gsplit-dwarf");
}

TEST(code_of_a_jit_has_the_option_of_its_runtime)
{
	struct listed_module module = {
		.kind = PROFILE_MODULE_JIT,
		.path = (char *)(uintptr_t) "[jit]",
		.runtime = RUNTIME_NODE,
	};

	assert_advice(module, FINDING_MISSING, "nothing", "start it with node --perf-basic-prof");
	module.sources.present = NAMES_LISTED;
	assert_advice(module, FINDING_OK, "perf-PID.map", NULL);
}

TEST(what_lacks_nothing_in_the_samples_needs_nothing)
{
	struct listed_module module = module_at("/x", NAMES_EXPORTED);

	module.samples = 5;
	assert_advice(module, FINDING_OK, "exported symbols", NULL);
	module.lineless = 5;
	assert_advice(module, FINDING_LIMITED, "exported symbols",
		      "build it with -g, and do not strip it");
}

static void describe(struct profile *profile, uint32_t module, const char *path)
{
	profile_describe_module(profile, module,
				&(struct profile_module){
					.kind = PROFILE_MODULE_FILE,
					.path = strtab_add(profile_strings(profile), path),
				});
}

static frame_id frame_with_line(struct profile *profile, uint32_t module, uint32_t line)
{
	string_id name = strtab_add(profile_strings(profile), "f");
	function_id function = profile_function(
		profile, &(struct profile_function){.name = name, .system_name = name});
	frame_id frame = profile_frame(profile, module, 0x1000 + line, false);

	profile_set_lines(profile, frame,
			  &(struct profile_line){.function = function, .line = line}, 1);
	return frame;
}

/* Modules 0 and 1 are mappings of one file. */
TEST(a_sample_counts_once_for_a_module_however_many_frames_it_has)
{
	CLEANUP(profile_cleanup) struct profile *profile = profile_new();
	CLEANUP(module_list_deinit) struct module_list list;
	CLEANUP(free_ptr) uint32_t *rows = NULL;
	label_set_id labels = profile_thread_labels(profile, 1, 1, "p", "p");
	event_id event = profile_add_event(profile, &(struct profile_event){0});
	stack_id stack = STACK_EMPTY;

	describe(profile, 0, "/x");
	describe(profile, 1, "/x");
	describe(profile, 2, "/y");
	stack = profile_push(profile, stack, frame_with_line(profile, 0, 0));
	stack = profile_push(profile, stack, profile_frame(profile, 0, 1, false));
	stack = profile_push(profile, stack, profile_frame(profile, 1, 2, false));
	profile_add_samples(profile, labels, stack, event, 3, 3);
	stack = profile_push(profile, stack, frame_with_line(profile, 2, 7));
	profile_add_samples(profile, labels, stack, event, 4, 4);
	rows = module_weights(profile, &list);
	assert_int_equal(list.samples, 7);
	assert_int_equal(list.unnamed, 7);
	assert_int_equal(list.count, 2);
	assert_int_equal(rows[0], rows[1]);
	assert_int_equal(list.items[rows[0]].samples, 7);
	assert_int_equal(list.items[rows[0]].unnamed, 7);
	assert_int_equal(list.items[rows[0]].lineless, 7);
	assert_int_equal(list.items[rows[0]].placeless, 0);
	assert_int_equal(list.items[rows[2]].samples, 4);
	assert_int_equal(list.items[rows[2]].unnamed, 0);
}
