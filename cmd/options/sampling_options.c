#include "cmd/options/sampling_options.h"

#include "base/alloc.h"
#include "base/descendants.h"
#include "base/known_user.h"
#include "base/nearest.h"
#include "base/text.h"
#include "perf/branch.h"
#include "perf/group_counts.h"
#include "probe/spec.h"
#include "profile/latency.h"
#include "profile/memory_events.h"
#include "record/targets.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Both ends of a stack are kept. */
enum { OTHER_EVENTS = 4 + MEMORY_EVENTS }; /* off-cpu, elapsed, critical-path, await */
enum { LEAST_DEPTH = 2, MOST_DEPTH = 1 << 20 };

static struct error *sampling_options_add_event(struct sampling_options *options, const char *spec,
						enum event_role role)
{
	struct role_list *roles = &options->roles;
	struct error *err = option_append(&options->events, spec);

	while (!err && roles->count < options->events.count) {
		bool is_last = roles->count + 1 == options->events.count;

		GROW(roles->items, roles->count, roles->room);
		roles->items[roles->count++] = is_last ? role : EVENT_ALONE;
	}
	return err;
}

/* Adds the modifiers of a group: "cycles" of "{cycles,instructions}:u" becomes
 * "cycles:u". */
static char *with_modifiers(const char *spec, const char *modifiers)
{
	bool has_colon = strchr(spec, '/') || strchr(spec, ':');

	return xasprintf("%s%s%s", spec, *modifiers && !has_colon ? ":" : "", modifiers);
}

/* Takes the modifiers after the braces, without S. *is_counted is set if S is
 * one of them. */
static struct error *take_group_modifiers(const char *text, char modifiers[16], bool *is_counted)
{
	size_t count = 0;

	*is_counted = false;
	if (*text && *text != ':')
		return error_new("\"%s\" after a group is not a modifier", text);
	for (text += *text == ':'; *text; text++) {
		*is_counted |= *text == 'S';
		if (*text != 'S' && count + 1 < 16)
			modifiers[count++] = *text;
	}
	modifiers[count] = '\0';
	return NULL;
}

/* The first event of "{cycles,instructions}:S" is the leader. */
static struct error *add_group(struct sampling_options *options, const char *group)
{
	const char *end = strrchr(group, '}'), *at = group + 1;
	char modifiers[16];
	bool is_counted = false;
	size_t members = 0;
	struct error *err = end ? take_group_modifiers(end + 1, modifiers, &is_counted)
				: error_new("the group \"%s\" lacks its second brace", group);

	for (; !err && at < end; at++) {
		size_t len = event_spec_len(at);
		CLEANUP(free_ptr) char *spec = NULL;
		CLEANUP(free_ptr) char *whole = NULL;

		if (at + len > end)
			len = (size_t)(end - at);
		spec = xstrndup(at, len);
		whole = with_modifiers(spec, modifiers);
		if (!len || members++ == GROUP_MEMBERS_MAX)
			err = error_new(len ? "the group \"%s\" has too many events"
					    : "\"%s\" contains an empty name",
					group);
		else
			err = sampling_options_add_event(options, whole,
							 members == 1 ? EVENT_LEADS
							 : is_counted ? EVENT_COUNTED
								      : EVENT_FOLLOWS);
		at += len;
	}
	return err || members ? err : error_new("the group \"%s\" is empty", group);
}

struct error *sampling_take_events(void *field, const char *argument)
{
	struct sampling_options *options = field;
	const char *at = argument;

	for (;;) {
		size_t len = probe_is_spec(at) ? probe_spec_len(at) : event_spec_len(at);
		CLEANUP(free_ptr) char *spec = xstrndup(at, len);
		struct error *err = !len ? error_new("\"%s\" contains an empty name", argument)
				    : *at == '{' ? add_group(options, spec)
						 : sampling_options_add_event(options, spec,
									      EVENT_ALONE);

		if (err || !at[len])
			return err;
		at += len + 1;
	}
}

/* Sets the value of the last event so far. */
static struct error *set_of_last_event(const struct option_list *events, struct option_list *list,
				       const char *option, const char *value)
{
	struct error *err = NULL;

	if (!events->count)
		return error_hint(error_new("no event precedes it"),
				  "-e sched:sched_switch %s: it is of the tracepoint before it",
				  option);
	if (list->count == events->count) {
		free(list->items[list->count - 1]);
		list->items[list->count - 1] = xstrdup(value);
		return NULL;
	}
	while (!err && list->count + 1 < events->count)
		err = option_append(list, "");
	return err ? err : option_append(list, value);
}

struct error *sampling_take_filter(void *field, const char *argument)
{
	struct sampling_options *options = field;

	return set_of_last_event(&options->events, &options->filters, "--filter 'prev_state == 1'",
				 argument);
}

struct error *sampling_weigh_by(struct sampling_options *options, const char *field)
{
	return set_of_last_event(&options->events, &options->weights, "--weight field:bytes",
				 field);
}

struct error *sampling_take_calls(void *field, const char *argument)
{
	CLEANUP(free_ptr) char *spec = xasprintf("%s%s", LATENCY_EVENT, argument);

	return option_append(field, spec);
}

struct error *sampling_take_rate(void *field, const char *argument)
{
	uint64_t *frequency_hz = field;

	if (strcmp(argument, "max") != 0)
		return option_count(frequency_hz, argument);
	*frequency_hz = RECORD_FREQUENCY_MAX;
	return NULL;
}

static void sampling_options_add_id(void *to, unsigned number)
{
	struct id_list *list = to;

	GROW(list->items, list->count, list->room);
	list->items[list->count++] = (pid_t)number;
}

struct error *sampling_take_ids(void *field, const char *argument)
{
	if (strchr(argument, '-') || !option_ranges(argument, sampling_options_add_id, field))
		return error_new("\"%s\" is not a list of numbers such as 12,34", argument);
	return NULL;
}

struct error *sampling_take_user(void *field, const char *argument)
{
	const struct passwd *known = known_user_by_name(argument);
	char *end;
	unsigned long id = strtoul(argument, &end, 10);

	if (!known && (!isdigit((unsigned char)*argument) || *end || id >= UINT32_MAX))
		return error_new("unknown user \"%s\"", argument);
	*(struct user *)field = (struct user){.is_given = true,
					      .id = known ? known->pw_uid : (uid_t)id};
	return NULL;
}

static void add_cpu(void *to, unsigned number)
{
	struct cpu_list *list = to;

	GROW(list->items, list->count, list->room);
	list->items[list->count++] = number;
}

struct error *sampling_take_cpus(void *field, const char *argument)
{
	return option_ranges(argument, add_cpu, field)
		       ? NULL
		       : error_new("\"%s\" is not a list of CPUs such as 0,2-4", argument);
}

static struct error *take_dump_size(struct stacks *stacks, const char *argument)
{
	uint64_t bytes = 0;
	struct error *err = option_size(&bytes, argument);

	if (!err && !event_take_stack_bytes(bytes, &stacks->dump_bytes))
		err = error_hint(error_new("the kernel cannot copy a stack of this size"),
				 "use %d to %d bytes", STACK_BYTES_MIN, STACK_BYTES_MAX);
	return err ? error_wrap(err, "dwarf,%s", argument) : NULL;
}

struct error *sampling_take_call_graph(void *field, const char *argument)
{
	static const struct option_choice choices[] = {{"auto", CALL_GRAPH_AUTO},
						       {"dwarf", CALL_GRAPH_DWARF},
						       {"fp", CALL_GRAPH_FP},
						       {"lbr", CALL_GRAPH_LBR},
						       {"no", CALL_GRAPH_NO},
						       {"none", CALL_GRAPH_NO},
						       {0}};
	struct stacks *stacks = field;
	int kind = stacks->kind;
	struct error *err;

	if (text_begins(argument, "dwarf,")) {
		stacks->kind = CALL_GRAPH_DWARF;
		return take_dump_size(stacks, argument + 6);
	}
	err = option_choice("call graph method", choices, argument, &kind);
	stacks->kind = (enum call_graph)kind;
	return err ? error_hint(err, "dwarf,SIZE also sets the bytes of stack per sample") : NULL;
}

/* Without a filter, all branches are recorded. */
struct error *sampling_take_branches(void *field, const char *argument)
{
	uint64_t *filter = field, more = branch_filter_any;
	struct error *err = argument ? branch_filter_parse(argument, &more) : NULL;

	if (!err)
		*filter = more;
	return err;
}

struct error *sampling_take_g(void *field, const char *argument)
{
	(void)argument;
	((struct stacks *)field)->kind = CALL_GRAPH_AUTO;
	return NULL;
}

/* A bare number counts pages, as with perf. */
struct error *sampling_take_depth(void *field, const char *argument)
{
	uint64_t frames = 0;
	struct error *err = option_count(&frames, argument);

	if (!err && (frames < LEAST_DEPTH || frames > MOST_DEPTH))
		err = error_hint(error_new("stacks of %s frames are not supported", argument),
				 "use %d to %d", LEAST_DEPTH, MOST_DEPTH);
	if (!err)
		*(uint64_t *)field = frames;
	return err;
}

struct error *sampling_take_ring(void *field, const char *argument)
{
	struct error *err = option_size(field, argument);

	if (!err && strspn(argument, "0123456789") == strlen(argument))
		*(uint64_t *)field *= (uint64_t)sysconf(_SC_PAGESIZE);
	return err;
}

struct error *sampling_take_via(void *field, const char *argument)
{
	static const struct option_choice choices[] = {{"auto", RECORD_VIA_AUTO},
						       {"perf", RECORD_VIA_PERF},
						       {"inside", RECORD_VIA_INSIDE},
						       {0}};
	enum record_via *via = field;
	int chosen = *via;
	struct error *err = option_choice("way", choices, argument, &chosen);

	*via = (enum record_via)chosen;
	return err;
}

void sampling_options_init(struct sampling_options *options)
{
	*options = (struct sampling_options){
		.stacks = {.kind = CALL_GRAPH_AUTO, .dump_bytes = RECORD_DUMP_BYTES},
		.depth = RECORD_DEPTH,
	};
}

void sampling_options_deinit(struct sampling_options *options)
{
	option_list_deinit(&options->events);
	option_list_deinit(&options->filters);
	option_list_deinit(&options->weights);
	free(options->roles.items);
	free(options->pids.items);
	free(options->tids.items);
	free(options->cpus.items);
	target_options_deinit(&options->target);
}

bool sampling_is_of_command(const struct sampling_options *options)
{
	return !options->pids.count && !options->tids.count && !options->user.is_given &&
	       !options->system_wide && !options->cpus.count && !target_is_chosen(&options->target);
}

bool sampling_is_of_nothing(const struct sampling_options *options)
{
	bool is_memory_alone = memory_is_recorded(&options->memory) && !options->events.count &&
			       !options->frequency_hz && !options->period && !options->waiting.wall;

	return options->waiting.off_cpu.is_given || is_memory_alone;
}

static void sampling_options_free_names(char ***names)
{
	for (char **name = *names; name && *name; name++)
		free(*name);
	free(*names);
}

void sampling_choose_events(struct sampling_options *options)
{
	if (options->memory.alloc.by_uprobe)
		error_free(option_append(&options->events, MEMORY_UPROBE));
	if (options->waiting.wall && !options->events.count)
		error_free(option_append(&options->events, WALL_EVENT));
}

/* Adds the names of events that are not sampled, which follow the sampled ones.
 * Without -e there is one sampled event. */
static size_t add_other_names(const struct sampling_options *options, char **names)
{
	size_t count = 0;

	if (waiting_is_recorded(&options->waiting))
		names[count++] = xstrdup(VALUE_OFF_CPU_EVENT);
	if (options->waiting.elapsed)
		names[count++] = xstrdup(VALUE_ELAPSED_EVENT);
	if (options->waiting.critical_path)
		names[count++] = xstrdup(VALUE_CRITICAL_PATH_EVENT);
	if (options->waiting.awaits)
		names[count++] = xstrdup(VALUE_AWAIT_EVENT);
	if (memory_is_recorded(&options->memory))
		for (enum memory_event i = 0; i < MEMORY_EVENTS; i++)
			names[count++] = xstrdup(memory_event_name(i));
	return count;
}

static char *sampling_options_event_name(const char *text)
{
	CLEANUP(probe_spec_deinit) struct probe_spec spec = {0};
	CLEANUP(error_cleanup) struct error *err = NULL;

	if (!probe_is_spec(text))
		return event_spec_name(text);
	err = probe_spec_parse(text, &spec);
	return xstrdup(err ? text : spec.name);
}

/* The second of two equal events is called "cycles#2". */

struct error *sampling_find_event(const struct sampling_options *options, size_t *ret)
{
	const struct option_list *events = &options->events;
	const char *name = options->shown_event, *near;
	size_t len = name ? strcspn(name, "#") : 0;
	unsigned long number = name && name[len] ? strtoul(name + len + 1, NULL, 10) : 1;
	CLEANUP(sampling_options_free_names)
	char **names = xcalloc(events->count + OTHER_EVENTS + 1, sizeof(*names));
	size_t sampled = events->count ? events->count : !sampling_is_of_nothing(options);
	size_t others = add_other_names(options, names + events->count);
	struct error *err;

	*ret = 0;
	if (!name)
		return NULL;
	for (size_t i = 0; i < events->count; i++) {
		names[i] = sampling_options_event_name(events->items[i]);
		if (strlen(names[i]) == len && !strncmp(names[i], name, len) && --number == 0) {
			*ret = i;
			return NULL;
		}
	}
	for (size_t i = 0; i < others; i++) {
		*ret = sampled + i;
		if (!strcmp(name, names[events->count + i]))
			return NULL;
	}
	near = nearest(name, (const char *const *)names);
	err = error_new("--show-event %s: -e does not have this event", name);
	return near ? error_hint(err, "did you mean %s?", near) : err;
}

/* Checks for options that cannot be combined with off-CPU time. */
static struct error *check_waiting(const struct sampling_options *options)
{
	const struct waiting_options *waiting = &options->waiting;
	bool is_alone = waiting->off_cpu.is_given;
	const struct {
		bool is_given;
		const char *name, *hint;
	} excluded[] = {
		{is_alone && options->events.count, "-e",
		 "--wall -e EVENT samples the event and records off-CPU time"},
		{is_alone && options->period, "-c",
		 "-F sets the rate at which waiting threads are polled"},
		{is_alone && options->stacks.kind == CALL_GRAPH_FP, "--call-graph fp",
		 "it is for samples, and --off-cpu takes no samples"},
		{is_alone && options->stacks.kind == CALL_GRAPH_LBR, "--call-graph lbr",
		 "it is for samples, and --off-cpu takes no samples"},
		{is_alone && options->branch_filter, "-b",
		 "branches are recorded with samples, and --off-cpu takes no samples"},
		{options->stacks.kind == CALL_GRAPH_NO, "--call-graph no",
		 "off-CPU time without stacks is of little use"},
		{waiting->elapsed && options->system_wide, "-a",
		 "--wall -a records all threads of the machine; --elapsed is for a command or for "
		 "processes"},
		{options->cpus.count, "-C", "a waiting thread does not run on a CPU"},
		{options->no_inherit, "-i", "-t TID[,TID] chooses single threads"},
		{options->all_kernel, "--all-kernel",
		 "the stacks of waiting threads are of user space"},
		{options->target.threads.count, "--filter-thread",
		 "prof report --label thread=NAME selects from the profile"},
	};
	struct error *err = waiting_options_check(waiting);

	if (err || !waiting_is_recorded(waiting))
		return err;
	for (size_t i = 0; i < ARRAY_SIZE(excluded); i++)
		if (excluded[i].is_given)
			return error_hint(error_new("%s and %s exclude each other",
						    waiting_option_name(waiting), excluded[i].name),
					  "%s", excluded[i].hint);
	return NULL;
}

/* Checks for options that in-process sampling lacks: it uses CPU timers in the
 * processes of a command. */
static struct error *check_via(const struct sampling_options *options)
{
	const struct {
		bool is_given;
		const char *name, *hint;
	} excluded[] = {
		{!sampling_is_of_command(options), "another target than a command",
		 "a command that prof starts loads the library"},
		{waiting_is_recorded(&options->waiting), "--wall, --elapsed and --off-cpu",
		 "the library samples CPU time"},
		{options->events.count, "-e", "the library samples CPU time"},
		{options->period, "-c", "-F sets the rate"},
		{options->no_inherit, "-i", "the library is in every process of the command"},
		{options->branch_filter, "-b", "only perf events record branches"},
		{!call_graph_dumps(options->stacks.kind), "--call-graph fp, lbr and no",
		 "the library copies stacks"},
		{options->all_kernel, "--all-kernel", "the library is in user space"},
	};

	if (options->via != RECORD_VIA_INSIDE)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(excluded); i++)
		if (excluded[i].is_given)
			return error_hint(error_new("--via inside excludes %s", excluded[i].name),
					  "%s", excluded[i].hint);
	return NULL;
}

/* Checks for options that cannot be combined with memory. */
static struct error *check_memory(const struct sampling_options *options)
{
	const struct {
		bool is_given;
		const char *name, *hint;
	} excluded[] = {
		{options->tids.count, "-t", "-p PID records the memory of all threads"},
		{options->with_children, "--children",
		 "children that run with prof's library are recorded in any case"},
		{options->user.is_given, "-u", "prof inside COMMAND, then --alloc -p PID"},
		{target_is_chosen(&options->target), "-G, --container or --name",
		 "--alloc -p PID records one process"},
		{options->target.threads.count, "--filter-thread",
		 "prof report --label thread=NAME selects from the profile"},
		{options->system_wide, "-a", "--growth -a shows where memory grows everywhere"},
		{options->cpus.count, "-C", "memory belongs to processes, not to CPUs"},
		{options->no_inherit, "-i", "the library also records children"},
	};

	if (!memory_is_recorded(&options->memory))
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(excluded); i++)
		if (excluded[i].is_given)
			return error_hint(
				error_new("--alloc and %s exclude each other", excluded[i].name),
				"%s", excluded[i].hint);
	return NULL;
}

/* The time of calls can be chosen only with --calls. */
static struct error *check_calls(const struct sampling_options *options)
{
	for (size_t i = 0; i < options->events.count; i++)
		if (text_begins(options->events.items[i], LATENCY_EVENT))
			return NULL;
	return options->least_call_ns
		       ? error_hint(error_new("--slower needs --calls"),
				    "--calls FUNCTION --slower 10ms records slow calls alone")
		       : NULL;
}

struct error *sampling_options_check(const struct sampling_options *options)
{
	int targets = (options->pids.count > 0) + (options->tids.count > 0) +
		      options->user.is_given + options->system_wide +
		      target_is_chosen(&options->target);
	struct error *err = target_options_check(&options->target, options->events.count);

	if (err)
		return err;
	if (targets > 1)
		return error_new("-p, -t, -u, -a, -G, --container and --name exclude each other");
	if (options->with_children && !options->pids.count)
		return error_hint(error_new("--children needs -p PID"),
				  "the children of a command are sampled in any case; --name "
				  "NAME also samples children");
	if (options->all_user && options->all_kernel)
		return error_new("--all-user and --all-kernel exclude each other");
	if (options->stacks.kind == CALL_GRAPH_LBR && options->branch_filter)
		return error_hint(error_new("-b and --call-graph lbr exclude each other"),
				  "a CPU records either branches or calls");
	if (options->stacks.kind == CALL_GRAPH_LBR && options->all_kernel)
		return error_hint(error_new("--call-graph lbr and --all-kernel exclude each other"),
				  "the CPU records calls of user space");
	err = check_waiting(options);
	if (!err)
		err = check_via(options);
	if (!err)
		err = check_memory(options);
	if (!err)
		err = check_calls(options);
	return err ? err : sampling_find_event(options, &(size_t){0});
}

static void sampling_options_add_children(struct sampling_options *options)
{
	struct id_list *pids = &options->pids;
	CLEANUP(free_ptr) pid_t *children = NULL;
	size_t count;

	pids->count -= options->found_count; /* found by an earlier call */
	/* The parent must be a process, but -p also accepts a thread's number. */
	for (size_t i = 0; i < pids->count; i++) {
		pid_t process = process_of_thread(pids->items[i]);

		if (process)
			pids->items[i] = process;
	}
	descendants_list(pids->items, pids->count, &children, &count);
	for (size_t i = 0; i < count; i++)
		sampling_options_add_id(pids, (unsigned)children[i]);
	options->found_count = count;
}

static struct error *find_processes_of_user(struct sampling_options *options)
{
	struct id_list *pids = &options->pids;

	targets_of_user(options->user.id, &pids->items, &pids->count);
	options->found_count = pids->count;
	return pids->count
		       ? NULL
		       : error_new("no process of user %u is running", (unsigned)options->user.id);
}

struct error *sampling_find_targets(struct sampling_options *options, bool says_wait)
{
	struct id_list *pids = &options->pids;
	struct error *err = NULL;

	if (target_is_chosen(&options->target)) {
		err = target_options_find(&options->target, options->events.count, says_wait,
					  &pids->items, &pids->count);
		options->found_count = pids->count;
	} else if (options->user.is_given) {
		err = find_processes_of_user(options);
	} else if (options->with_children) {
		sampling_options_add_children(options);
	}
	return err;
}

void sampling_targets_apply(const struct sampling_options *options, struct record_config *config)
{
	config->target.pids = options->pids.items;
	config->target.pid_count = options->pids.count;
	config->target.found_count = options->found_count;
	config->target.with_children = options->with_children;
	config->target.tids = options->tids.items;
	config->target.tid_count = options->tids.count;
	config->target.cpus = options->cpus.items;
	config->target.cpu_count = options->cpus.count;
	config->target.inherit = !options->no_inherit;
	config->output.labels_cgroups = options->system_wide || options->cpus.count ||
					options->user.is_given ||
					target_is_chosen(&options->target);
	target_options_apply(&options->target, config);
}

void sampling_options_apply(const struct sampling_options *options, struct record_config *config)
{
	sampling_targets_apply(options, config);
	config->events.names = options->events.items;
	config->events.count = options->events.count;
	config->events.filters = options->filters.items;
	config->events.filter_count = options->filters.count;
	config->events.weights = options->weights.items;
	config->events.roles = options->roles.items;
	config->events.role_count = options->roles.count;
	config->events.weight_count = options->weights.count;
	config->events.frequency_hz = options->frequency_hz ? options->frequency_hz
							    : RECORD_FREQUENCY_HZ;
	config->events.period = options->period;
	config->events.least_call_ns = options->least_call_ns;
	config->events.exclude_user = options->all_kernel;
	config->events.exclude_kernel = options->all_user;
	config->stacks.call_graph = options->stacks.kind;
	config->events.branch_filter = options->branch_filter;
	config->events.reads_data_sources = options->data_sources;
	config->stacks.dump_bytes = options->stacks.dump_bytes;
	config->stacks.depth = (unsigned)options->depth;
	config->events.ring_bytes = options->ring_bytes;
	config->events.via = options->via;
	waiting_options_apply(&options->waiting, config);
	memory_options_apply(&options->memory, config);
	config->events.samples_nothing = sampling_is_of_nothing(options);
}
