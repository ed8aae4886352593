#include "record/java_maps.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "record/java_attach.h"

#define TIME_LIMIT_NS (3 * NS_PER_SECOND)

enum { MACHINES_MAX = 64 };

/* Returns by module whether the profile has frames of it. */
static bool *find_used(const struct pipeline *pipeline, uint32_t module_count)
{
	const struct profile *profile = pipeline->profile;
	bool *used = xcalloc(module_count, sizeof(*used));

	for (frame_id id = 0; id < profile_frame_count(profile); id++) {
		uint32_t module = profile_get_frame(profile, id).module;

		if (module < module_count)
			used[module] = true;
	}
	return used;
}

/* Returns NULL if the process is not a Java virtual machine. */
static struct elf_file *libjvm_of(struct address_spaces *spaces, pid_t pid, uint64_t now_ns)
{
	struct location at;

	if (!address_spaces_find_file(spaces, pid, now_ns, "libjvm.so", &at))
		return NULL;
	return address_spaces_module(spaces, at.module)->elf;
}

static unsigned start_all(const struct pipeline *pipeline, bool own_only,
			  struct java_attach *machines)
{
	struct address_spaces *spaces = pipeline->spaces;
	uint32_t module_count = address_spaces_module_count(spaces);
	CLEANUP(free_ptr) bool *used = find_used(pipeline, module_count);
	uint64_t now_ns = clock_now_ns();
	unsigned count = 0;

	for (module_id id = 0; id < module_count && count < MACHINES_MAX; id++) {
		const struct module *module = address_spaces_module(spaces, id);
		bool is_asked = used[id] && module->kind == MODULE_JIT;
		struct elf_file *libjvm = is_asked ? libjvm_of(spaces, module->pid, now_ns) : NULL;

		if (libjvm)
			machines[count++] = java_attach_start(module->pid, libjvm, own_only,
							      now_ns + TIME_LIMIT_NS);
	}
	return count;
}

/* Without --java, VMs that have ended or belong to others are expected. */
static bool is_expected(enum java_answer answer, enum java_choice choice)
{
	return answer == JAVA_ANSWERED ||
	       (choice == JAVA_OWN && (answer == JAVA_ENDED || answer == JAVA_UNTRUSTED));
}

void java_maps_ask(const struct pipeline *pipeline, enum java_choice choice,
		   const struct listener *listener)
{
	struct java_attach machines[MACHINES_MAX];
	unsigned count = choice == JAVA_NONE ? 0
					     : start_all(pipeline, choice == JAVA_OWN, machines);

	for (unsigned i = 0; i < count; i++) {
		enum java_answer answer = java_attach_wait(&machines[i]);

		if (!is_expected(answer, choice))
			listener_problem(
				listener,
				"--java: process %d %s; its compiled code may lack symbols",
				(int)machines[i].pid, java_answer_reason(answer));
	}
}
