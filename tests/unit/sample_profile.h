/*
 * Makes profiles for tests of code that reads profiles.
 */
#ifndef PROF_TESTS_SAMPLE_PROFILE_H
#define PROF_TESTS_SAMPLE_PROFILE_H

#include "base/alloc.h"
#include "profile/profile.h"

#include <stdio.h>

static inline string_id text_of(struct profile *profile, const char *str)
{
	return strtab_add(profile_strings(profile), str);
}

static inline event_id add_event(struct profile *profile, const char *name, enum value_kind kind)
{
	return profile_add_event(profile, &(struct profile_event){
						  .name = text_of(profile, name),
						  .kind = kind,
						  .frequency_hz = 1000,
					  });
}

static inline function_id add_function(struct profile *profile, const char *name,
				       const char *system_name, const char *file,
				       uint32_t start_line)
{
	return profile_function(profile, &(struct profile_function){
						 .name = text_of(profile, name),
						 .system_name = text_of(profile, system_name),
						 .file = text_of(profile, file),
						 .start_line = start_line,
					 });
}

/* Adds a frame of module 0 with these functions, innermost first. The list ends
 * with NULL. */
static inline frame_id add_frame(struct profile *profile, const char *const *names)
{
	frame_id frame = profile_frame(profile, 0, profile_frame_count(profile) * 16 + 1, false);
	struct profile_line lines[8];
	unsigned count = 0;

	for (; names[count]; count++)
		lines[count] = (struct profile_line){
			.function = add_function(profile, names[count], names[count], "", 0)};
	profile_set_lines(profile, frame, lines, count);
	return frame;
}

/* Adds a stack of such frames, root first. The list ends with NULL. */
static inline stack_id add_stack(struct profile *profile, const char *const *names)
{
	stack_id stack = STACK_EMPTY;

	for (; *names; names++)
		stack = profile_push(profile, stack,
				     add_frame(profile, (const char *const[]){*names, NULL}));
	return stack;
}

#define STACK(profile, ...) add_stack(profile, (const char *const[]){__VA_ARGS__, NULL})

/* xorshift64, which gives the same numbers everywhere. */
static inline uint32_t next_random(uint64_t *seed, uint32_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return (uint32_t)(*seed >> 32) % below;
}

/*
 * Makes about a hundred stacks of a few functions that are recursive and
 * inlined into each other in many ways. Some names are prefixes of others.
 * There are several threads, one of them with labels, and two events.
 */
static inline struct profile *random_profile(uint64_t seed)
{
	static const char *const names[] = {"a", "a b", "a!", "a.b", "a<c>", "\xc3\xa9", "b", "ab"};
	struct profile *profile = profile_new();
	frame_id frames[32];
	stack_id stacks[400] = {STACK_EMPTY};
	struct profile_thread third = {.pid = 3, .tid = 3, .process = text_of(profile, "one two")};
	struct profile_label labels[] = {
		{.key = text_of(profile, "state"), .text = text_of(profile, "waiting")},
		{.key = text_of(profile, "bytes"), .number = 64, .unit = text_of(profile, "KiB")}};
	label_set_id threads[] = {profile_thread_labels(profile, 1, 1, "one", "one"),
				  profile_thread_labels(profile, 1, 2, "one", "second"),
				  profile_label_set(profile, &third, NULL, 0),
				  profile_label_set(profile, &third, labels, 1),
				  profile_label_set(profile, &third, labels, 2)};
	event_id events[] = {add_event(profile, "cpu-clock", VALUE_CPU_TIME),
			     add_event(profile, "page-faults", VALUE_COUNT)};

	profile_describe_module(profile, 0,
				&(struct profile_module){.path = text_of(profile, "/bin/random")});
	for (size_t i = 0; i < ARRAY_SIZE(frames); i++) {
		const char *lines[4] = {NULL};

		for (uint32_t line = 0, count = next_random(&seed, 4); line < count; line++)
			lines[line] = names[next_random(&seed, ARRAY_SIZE(names))];
		frames[i] = add_frame(profile, lines);
	}
	for (uint32_t i = 1; i < ARRAY_SIZE(stacks); i++)
		stacks[i] = profile_push(profile, stacks[next_random(&seed, i)],
					 frames[next_random(&seed, ARRAY_SIZE(frames))]);
	for (unsigned i = 0; i < 1000; i++)
		profile_add(profile, threads[next_random(&seed, ARRAY_SIZE(threads))],
			    stacks[1 + next_random(&seed, ARRAY_SIZE(stacks) - 1)],
			    events[next_random(&seed, 4) == 0], 1 + next_random(&seed, 1000));
	return profile;
}

enum { SHOP_KERNEL, SHOP_MAIN, SHOP_LIBRARY, SHOP_VDSO, SHOP_JIT, SHOP_UNKNOWN };

static inline void describe_shop_modules(struct profile *profile)
{
	/* A program as lld lays it out: two executable segments that are apart
	 * in memory. */
	static const struct profile_segment program[] = {
		{.offset = 0x1340, .vaddr = 0x202340, .size_bytes = 0x800},
		{.offset = 0x1b40, .vaddr = 0x203b40, .size_bytes = 0x100},
	};
	static const struct profile_segment library[] = {
		{.offset = 0x1000, .vaddr = 0x1000, .size_bytes = 0x2000},
	};
	static const struct profile_segment vdso[] = {
		{.offset = 0, .vaddr = 0, .size_bytes = 0x1000}};
	const struct profile_module modules[] = {
		[SHOP_KERNEL] = {.kind = PROFILE_MODULE_KERNEL,
				 .path = text_of(profile, "[kernel.kallsyms]")},
		[SHOP_MAIN] = {.kind = PROFILE_MODULE_FILE,
			       .path = text_of(profile, "/usr/bin/shop"),
			       .build_id = text_of(profile, "00c0ffee"),
			       .segments = program,
			       .segment_count = ARRAY_SIZE(program),
			       .is_main = true},
		[SHOP_LIBRARY] = {.kind = PROFILE_MODULE_FILE,
				  .path = text_of(profile, "/usr/lib/libfoo.so.1"),
				  .segments = library,
				  .segment_count = ARRAY_SIZE(library)},
		[SHOP_VDSO] = {.kind = PROFILE_MODULE_VDSO,
			       .path = text_of(profile, "[vdso]"),
			       .segments = vdso,
			       .segment_count = ARRAY_SIZE(vdso)},
		[SHOP_JIT] = {.kind = PROFILE_MODULE_JIT, .path = text_of(profile, "[jit]")},
		[SHOP_UNKNOWN] = {.kind = PROFILE_MODULE_UNKNOWN,
				  .path = text_of(profile, "[unknown]")},
	};

	for (uint32_t i = 0; i < ARRAY_SIZE(modules); i++)
		profile_describe_module(profile, i, &modules[i]);
}

/* A profile with one item of everything that a profile can contain, for the
 * golden files. */
static inline struct profile *shop_profile(void)
{
	struct profile *profile = profile_new();
	event_id clock = add_event(profile, "cpu-clock", VALUE_CPU_TIME);
	label_set_id first = profile_thread_labels(profile, 100, 100, "shop", "shop");
	label_set_id worker = profile_thread_labels(profile, 100, 101, "shop", "worker 1");
	label_set_id other = profile_thread_labels(profile, 200, 200, "a shop; closed", "");
	function_id start = add_function(profile, "_start", "_start", "", 0);
	function_id main = add_function(profile, "main", "main", "src/main.c", 10);
	function_id serve = add_function(profile, "shop::serve<u32>", "_RINvC4shop5servemE",
					 "src/serve.rs", 20);
	function_id next = add_function(profile, "core::iter::next", "_RNvNtC4core4iter4next",
					"core/iter.rs", 300);
	function_id count = add_function(profile, "shop::{closure#0}", "_RNCC4shop0",
					 "src/serve.rs", 25);
	function_id enter = add_function(profile, "do_syscall_64", "do_syscall_64", "", 0);
	function_id tick = add_function(profile, "LazyCompile:~tick shop.js:12",
					"LazyCompile:~tick shop.js:12", "", 0);
	function_id gettime = add_function(profile, "clock_gettime", "__vdso_clock_gettime", "", 0);
	frame_id frames[] = {
		/* after a call at the end */
		profile_frame(profile, SHOP_MAIN, 0x1b40, true),
		profile_frame(profile, SHOP_MAIN, 0x1b60, true),
		profile_frame(profile, SHOP_MAIN, 0x1400, true),
		profile_frame(profile, SHOP_MAIN, 0x1400, false),
		profile_frame(profile, SHOP_KERNEL, 0xffffffff81001234, false),
		profile_frame(profile, SHOP_JIT, 0x7f0000001000, true),
		profile_frame(profile, SHOP_VDSO, 0x800, false),
		profile_frame(profile, SHOP_LIBRARY, 0x1a2b, false),
		profile_frame(profile, SHOP_LIBRARY, 0x5001, true), /* in no segment */
		profile_frame(profile, SHOP_UNKNOWN, 0x10, false),
	};
	const struct profile_line inlined[] = {{.function = next, .line = 310},
					       {.function = count, .line = 27},
					       {.function = serve, .line = 22}};
	stack_id stack, served, truncated;

	describe_shop_modules(profile);
	profile_set_lines(profile, frames[0], &(struct profile_line){.function = start}, 1);
	profile_set_lines(profile, frames[1], &(struct profile_line){.function = main, .line = 12},
			  1);
	profile_set_lines(profile, frames[2], inlined, 3);
	profile_set_lines(profile, frames[3], inlined, 3);
	profile_set_lines(profile, frames[4], &(struct profile_line){.function = enter}, 1);
	profile_set_lines(profile, frames[5], &(struct profile_line){.function = tick}, 1);
	profile_set_lines(profile, frames[6], &(struct profile_line){.function = gettime}, 1);

	stack = profile_push(profile, STACK_EMPTY, frames[0]);
	stack = profile_push(profile, stack, frames[1]);
	profile_add(profile, first, stack, clock, 1000000);
	served = profile_push(profile, stack, frames[2]);
	profile_add(profile, first, profile_push(profile, served, frames[4]), clock, 1000000);
	profile_add(profile, worker, profile_push(profile, served, frames[4]), clock, 2000000);
	profile_add(profile, worker, profile_push(profile, stack, frames[3]), clock, 500000);
	served = profile_push(profile, served, frames[5]);
	profile_add(profile, first, profile_push(profile, served, frames[6]), clock, 1000000);
	truncated = profile_push(profile, STACK_EMPTY,
				 profile_synthetic_frame(profile, "[truncated]"));
	truncated = profile_push(profile, truncated, frames[8]);
	for (unsigned i = 0; i < 3; i++)
		profile_add(profile, other, profile_push(profile, truncated, frames[7]), clock,
			    1000000);
	profile_add(profile, other, profile_push(profile, STACK_EMPTY, frames[9]), clock, 1000000);
	profile_set_info(profile, &(struct profile_info){
					  .start_unix_ns = 1700000000000000000,
					  .duration_ns = 9000000,
					  .title = "shop",
					  .command = "prof record -- shop",
					  .host = "example",
					  .kernel = "6.18.0",
					  .quality = {.is_known = true, .samples = 9},
				  });
	return profile;
}

#endif
