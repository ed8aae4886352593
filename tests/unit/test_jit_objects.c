#include "proc/jit_objects.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "proc/jit_image.h"
#include "proc/jit_list.h"
#include "proc/timed_memory.h"

#include "registered_object.h"
#include "unit_test.h"

#include <unistd.h>

static uint64_t clock_ns = NS_PER_SECOND;
uint64_t __wrap_clock_now_ns(void); /* NOLINT: the name that the linker wants */
uint64_t __wrap_clock_now_ns(void)  /* NOLINT */
{
	return clock_ns;
}

struct entry {
	struct entry *next, *previous;
	const void *object;
	uint64_t size;
};

struct descriptor {
	uint32_t version, action;
	struct entry *relevant, *first;
};

/* GDB's interface for JIT compilers. The tests read this process. */
extern struct descriptor __jit_debug_descriptor; /* NOLINT: GDB's name */
struct descriptor __jit_debug_descriptor = {.version = 1};

static unsigned char code[2][OBJECT_TEXT_BYTES];

struct fixture {
	struct timed_caller *caller;
	struct code_budget budget;
	struct jit_objects *objects;
};

static struct jit_objects *objects_new(struct fixture *fixture)
{
	struct jit_objects *objects = jit_objects_new(&(struct jit_objects_options){
		.caller = fixture->caller,
		.budget = &fixture->budget,
		.proc = "/proc",
		.pid = getpid(),
		.user = getuid(),
	});

	jit_objects_add_list(objects, (uintptr_t)&__jit_debug_descriptor);
	return objects;
}

static int set_up(void **state)
{
	struct fixture *fixture = xcalloc(1, sizeof(*fixture));

	__jit_debug_descriptor = (struct descriptor){.version = 1};
	fixture->caller = timed_memory_caller_new();
	fixture->objects = objects_new(fixture);
	*state = fixture;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *fixture = *state;

	jit_objects_free(fixture->objects);
	assert_int_equal(fixture->budget.used, 0);
	timed_caller_free(fixture->caller);
	free(fixture);
	return 0;
}

#define TEST_LIST(name) TEST_WITH(set_up, tear_down, name)

static void put(struct entry *entry, const void *object, uint64_t size)
{
	*entry = (struct entry){
		.next = __jit_debug_descriptor.first, .object = object, .size = size};
	__jit_debug_descriptor.first = __jit_debug_descriptor.relevant = entry;
}

/* Returns the object with a byte of code at this time, or NULL. */
static struct jit_object *object_at(struct jit_objects *objects, const unsigned char *at,
				    uint64_t time_ns)
{
	struct jit_object_place place;

	if (!jit_objects_locate(objects, (uintptr_t)at, time_ns, &place))
		return NULL;
	assert_true(place.start <= (uintptr_t)at && (uintptr_t)at < place.end);
	return place.object;
}

static struct jit_object *object_now(struct fixture *fixture, const unsigned char *at)
{
	clock_ns += NS_PER_SECOND;
	return object_at(fixture->objects, at, clock_ns);
}

TEST(a_file_says_where_its_list_is)
{
	CLEANUP(timed_caller_cleanup) struct timed_caller *caller = timed_memory_caller_new();
	uint64_t steps = 0;

	CLEANUP(elf_file_cleanup) struct elf_file *elf = NULL;
	struct registered_object none = registered_object(4096);

	assert_null(elf_file_from_memory(&none, sizeof(none), "none", &elf));
	assert_int_equal(jit_list_find(caller, 0, elf, &steps), 0);
	assert_true(steps > 0);
	elf_file_free(elf);
	none.symbols[1].st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
	none.symbols[1].st_value = 0x30;
	memcpy(none.strings + 1, "__jit_debug_descriptor", sizeof("__jit_debug_descriptor"));
	memcpy(none.strings + 24, ".symtab\0.strtab", sizeof(".symtab\0.strtab"));
	none.sections[OBJECT_SYMBOLS].sh_name = 24;
	none.sections[OBJECT_STRINGS].sh_name = 32;
	none.header.e_type = ET_DYN;
	assert_null(elf_file_from_memory(&none, sizeof(none), "one", &elf));
	assert_int_equal(jit_list_find(caller, 0, elf, &steps), 0x30);
}

TEST_LIST(an_object_is_found_with_the_bytes_in_memory)
{
	struct fixture *fixture = *state;
	struct registered_object object = registered_object((uintptr_t)code[0]);
	struct jit_object_place place;
	struct entry entry;
	unsigned char byte;
	uint64_t vaddr;

	code[0][5] = 0xcc;
	put(&entry, &object, sizeof(object));
	assert_non_null(object_now(fixture, code[0]));
	assert_true(jit_objects_locate(fixture->objects, (uintptr_t)&code[0][5], clock_ns, &place));
	assert_true(elf_file_offset_to_vaddr(place.object->elf, place.offset, &vaddr));
	assert_int_equal(vaddr, (uintptr_t)&code[0][5]);
	assert_true(elf_file_read(place.object->elf, vaddr, &byte, 1));
	assert_int_equal(byte, 0xcc);
	assert_null(object_now(fixture, code[1]));
	assert_null(object_now(fixture, code[0] + OBJECT_TEXT_BYTES));
}

TEST_LIST(an_object_is_read_once)
{
	struct fixture *fixture = *state;
	struct registered_object objects[2] = {registered_object((uintptr_t)code[0]),
					       registered_object((uintptr_t)code[1])};
	struct entry entries[2];

	put(&entries[0], &objects[0], sizeof(objects[0]));
	assert_non_null(object_now(fixture, code[0]));
	assert_null(object_now(fixture, code[1]));
	put(&entries[1], &objects[1], sizeof(objects[1]));
	assert_non_null(object_now(fixture, code[1]));
	for (unsigned i = 0; i < 10; i++)
		object_now(fixture, code[1] + OBJECT_TEXT_BYTES);
	assert_int_equal(jit_objects_count(fixture->objects), 2);
}

TEST_LIST(a_list_is_not_read_more_often_than_every_ten_milliseconds)
{
	struct fixture *fixture = *state;
	struct registered_object object = registered_object((uintptr_t)code[0]);
	struct entry entry;

	assert_null(object_now(fixture, code[0]));
	put(&entry, &object, sizeof(object));
	clock_ns += 10 * NS_PER_MS - 1;
	assert_null(object_at(fixture->objects, code[0], clock_ns));
	clock_ns++;
	assert_non_null(object_at(fixture->objects, code[0], clock_ns));
}

TEST_LIST(an_object_at_the_addresses_of_another_has_them_from_its_time_on)
{
	struct fixture *fixture = *state;
	struct registered_object object = registered_object((uintptr_t)code[0]);
	struct jit_object *first, *second;
	uint64_t first_ns;
	struct entry entry;

	put(&entry, &object, sizeof(object));
	first = object_now(fixture, code[0]);
	assert_non_null(first);
	first->module = 1;
	first_ns = clock_ns;
	/* Another object at the same address in memory, in the same entry. */
	object.symbols[1].st_size--;
	__jit_debug_descriptor.first = NULL;
	assert_int_equal(object_now(fixture, code[0])->module, 1);
	put(&entry, &object, sizeof(object));
	second = object_now(fixture, code[0]);
	assert_int_equal(second->module, UINT32_MAX);
	assert_int_equal(object_at(fixture->objects, code[0], first_ns)->module, 1);
	assert_int_equal(jit_objects_count(fixture->objects), 2);
}

TEST_LIST(lists_that_loop_or_lead_anywhere_have_the_objects_that_are_there)
{
	struct fixture *fixture = *state;
	struct registered_object object = registered_object((uintptr_t)code[0]);
	struct entry loop[2], wild[4];

	put(&wild[0], (void *)8, 100);
	wild[0].next = (struct entry *)(UINTPTR_MAX - 15); /* NOLINT */
	put(&wild[1], &object, UINT64_MAX);
	put(&wild[2], &wild, JIT_IMAGE_BYTES_MAX);
	put(&wild[3], &wild, 0);
	put(&loop[0], &object, sizeof(object));
	assert_non_null(object_now(fixture, code[0]));
	assert_int_equal(jit_objects_count(fixture->objects), 1);
	loop[0].next = &loop[1];
	put(&loop[1], &object, sizeof(object) - 1);
	loop[1].next = &loop[1];
	assert_null(object_now(fixture, code[1]));
	loop[1].next = &loop[0];
	assert_null(object_now(fixture, code[1]));
	assert_true(jit_objects_count(fixture->objects) <= 2);
}

TEST_LIST(a_descriptor_of_another_version_is_none)
{
	struct fixture *fixture = *state;
	struct registered_object object = registered_object((uintptr_t)code[0]);
	struct entry entry;

	put(&entry, &object, sizeof(object));
	__jit_debug_descriptor.version = 2;
	assert_null(object_now(fixture, code[0]));
	__jit_debug_descriptor.version = 1;
	assert_non_null(object_now(fixture, code[0]));
}

TEST_LIST(many_objects_are_read_by_and_by_and_those_of_others_meanwhile)
{
	enum { MANY = 4096, LARGE_BYTES = 16 << 10 };
	struct fixture *fixture = *state;
	CLEANUP(jit_objects_cleanup) struct jit_objects *others = objects_new(fixture);
	CLEANUP(free_ptr) struct entry *entries = xcalloc(MANY, sizeof(*entries));
	CLEANUP(free_ptr) unsigned char *large = xcalloc(1, LARGE_BYTES + MANY);
	struct registered_object object = registered_object((uintptr_t)code[0]);
	struct jit_object_place place;
	size_t count;

	memcpy(large, &object, sizeof(object));
	for (unsigned i = 0; i < MANY; i++)
		put(&entries[i], large, LARGE_BYTES + i);
	object_now(fixture, code[0]);
	count = jit_objects_count(fixture->objects);
	assert_true(count > 0 && count < MANY);
	jit_objects_locate(others, (uintptr_t)code[0], clock_ns, &place);
	assert_true(jit_objects_count(others) > 0);
	for (unsigned i = 0; i < 100; i++)
		object_now(fixture, code[0]);
	/* Their memory is bounded, too. */
	assert_true(jit_objects_count(fixture->objects) > count);
	assert_true(fixture->budget.used <= 1 << 20);
}
