/*
 * registered SECONDS plain|replaced|loop|wild|unregistered: runs functions that
 * it has compiled itself, and registers them with GDB's interface for JIT
 * compilers as LLVM does: as relocatable objects whose sections have addresses,
 * and whose relocations were applied only in memory. The functions use the
 * frame pointer for other purposes.
 *
 *	_start … main
 *	  run_first       50 %
 *	    first_outer
 *	      first_inner
 *	  run_second      50 %
 *	    second_outer
 *	      second_inner
 *
 * replaced: the second functions take the addresses of the first ones. loop:
 * the list of objects is circular. wild: the list has entries with random
 * addresses, and damaged objects.
 */
#define _GNU_SOURCE
#include "work.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

struct jit_entry {
	struct jit_entry *next, *previous;
	const void *object;
	uint64_t size;
};

struct jit_descriptor {
	uint32_t version, action;
	struct jit_entry *relevant, *first;
};

struct jit_descriptor __jit_debug_descriptor = {1, 0, NULL, NULL};

NOINLINE void __jit_debug_register_code(void)
{
	__asm__ volatile("" ::: "memory");
}

/* The inner function counts its argument down. The outer one has a frame of
 * `ROOM` bytes. */
enum { ROOM_AT_FIRST = 32, ROOM_THEN = 64, INNER_AT = 64, TEXT_BYTES = 128, CODE_BYTES = 4096 };

#if defined(__x86_64__)
enum { MACHINE = EM_X86_64 };
static const unsigned char inner_code[] = {0xff, 0xcf, 0x75, 0xfc, 0xc3};

static size_t make_outer(unsigned char *at, unsigned char room, bool relocated)
{
	const unsigned char code[] = {
		0x55,	    /* push %rbp */
		0x31, 0xed, /* xor %ebp,%ebp */
		0x48, 0x83,
		0xec, room, /* sub $room,%rsp */
		0xe8, relocated ? INNER_AT - 12 : 0,
		0,    0,
		0, /* call inner */
		0x48, 0x83,
		0xc4, room, /* add $room,%rsp */
		0x5d,	    /* pop %rbp */
		0xc3,
	};

	memcpy(at, code, sizeof(code));
	return sizeof(code);
}

static const unsigned char cie[] = {1,	  'z',	'R', 0,	   1, 0x78, 16,
				    1,	  0x1b, /* pc-relative, 4 bytes */
				    0x0c, 7,	8,   0x90, 1, 0,    0};

/* The rules of the outer function. The inner one has those of the CIE. */
static size_t make_rules(unsigned char *at, unsigned char room)
{
	const unsigned char rules[] = {
		0x41, 0x0e, 16,	       0x86, 2, /* after push */
		0x46, 0x0e, 16 + room,		/* after sub */
		0x49, 0x0e, 16,			/* after add */
		0x41, 0x0e, 8,			/* after pop */
	};

	memcpy(at, rules, sizeof(rules));
	return sizeof(rules);
}
#elif defined(__aarch64__)
enum { MACHINE = EM_AARCH64 };
static const uint32_t inner_code[] = {0x71000400, 0x54ffffe1, 0xd65f03c0};

static size_t make_outer(unsigned char *at, unsigned char room, bool relocated)
{
	const uint32_t words = (uint32_t)-room / 8 & 0x7f;
	const uint32_t code[] = {
		0xa9807bfd | words << 15, /* stp x29, x30, [sp, #-room]! */
		0xd280001d,		  /* mov x29, #0 */
		0x94000000 | (relocated ? (INNER_AT - 8) / 4u : 0), /* bl inner */
		0xa8c07bfd | room / 8u << 15,			    /* ldp x29, x30, [sp], #room */
		0xd65f03c0,
	};

	memcpy(at, code, sizeof(code));
	return sizeof(code);
}

static const unsigned char cie[] = {1, 'z', 'R', 0, 4, 0x78, 30, 1, 0x1b, 0x0c, 31, 0, 0, 0, 0, 0};

static size_t make_rules(unsigned char *at, unsigned char room)
{
	const unsigned char rules[] = {
		0x41, 0x0e, room, 0x80 | 29, room / 8,	0x80 | 30, room / 8 - 1, /* after stp */
		0x43, 0x0e, 0,	  0xc0 | 29, 0xc0 | 30,				 /* after ldp */
	};

	memcpy(at, rules, sizeof(rules));
	return sizeof(rules);
}
#endif

enum { TEXT = 1, FRAMES, SYMBOLS, STRINGS, SECTIONS };

enum { FRAMES_BYTES = 128 };

struct object {
	Elf64_Ehdr header;
	Elf64_Shdr sections[SECTIONS];
	Elf64_Sym symbols[3];
	unsigned char text[TEXT_BYTES], frames[FRAMES_BYTES];
	char strings[128];
};

/* The addresses of the sections. */
struct loaded {
	unsigned char text[TEXT_BYTES], frames[FRAMES_BYTES];
};

static const char *mode;

static bool is_mode(const char *name)
{
	return strcmp(mode, name) == 0;
}

static size_t make_text(unsigned char *at, unsigned char room, bool relocated)
{
	memcpy(at + INNER_AT, inner_code, sizeof(inner_code));
	return make_outer(at, room, relocated);
}

static unsigned char *put_u32(unsigned char *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

/* Adds the description of a function. frames is 0 before relocation. */
static unsigned char *put_fde(unsigned char *at, const unsigned char *section, uint64_t text,
			      uint64_t frames, uint32_t size, unsigned char room)
{
	unsigned char rules[32] = {0};
	size_t len = room ? make_rules(rules, room) : 0;

	len = (len + 1 + 3) / 4 * 4 - 1; /* whole words, including the byte before it */
	at = put_u32(at, (uint32_t)(4 + 4 + 4 + 1 + len));
	at = put_u32(at, (uint32_t)(at - section));
	at = put_u32(at, frames ? (uint32_t)(text - (frames + (uint64_t)(at - section))) : 0);
	at = put_u32(at, size);
	*at++ = 0;
	memcpy(at, rules, len);
	return at + len;
}

static void make_frames(unsigned char *section, uint64_t text, uint64_t frames, size_t outer_bytes,
			unsigned char room)
{
	unsigned char *at = section;

	at = put_u32(at, 4 + sizeof(cie));
	at = put_u32(at, 0);
	memcpy(at, cie, sizeof(cie));
	at += sizeof(cie);
	at = put_fde(at, section, text, frames, (uint32_t)outer_bytes, room);
	at = put_fde(at, section, text + INNER_AT, frames, sizeof(inner_code), 0);
	put_u32(at, 0);
}

static void make_symbols(struct object *object, const char *name, size_t outer_bytes)
{
	const unsigned char info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	size_t len = strlen(name) + strlen("_outer") + 1;
	char *outer = object->strings + 1, *inner = outer + len;

	strcat(strcpy(outer, name), "_outer");
	strcat(strcpy(inner, name), "_inner");
	object->symbols[1] = (Elf64_Sym){
		.st_name = 1, .st_info = info, .st_shndx = TEXT, .st_size = outer_bytes};
	object->symbols[2] = (Elf64_Sym){.st_name = (uint32_t)(1 + len),
					 .st_info = info,
					 .st_shndx = TEXT,
					 .st_value = INNER_AT,
					 .st_size = sizeof(inner_code)};
	strcpy(object->strings + 64, ".text");
	strcpy(object->strings + 72, ".eh_frame");
	strcpy(object->strings + 88, ".symtab");
	strcpy(object->strings + 96, ".strtab");
}

#define PLACE(member)                                                                              \
	.sh_offset = offsetof(struct object, member), .sh_size = sizeof(object->member)

static void make_headers(struct object *object, const struct loaded *loaded)
{
	object->header = (Elf64_Ehdr){
		.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB,
			    EV_CURRENT},
		.e_type = ET_REL,
		.e_machine = MACHINE,
		.e_version = EV_CURRENT,
		.e_shoff = offsetof(struct object, sections),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = SECTIONS,
		.e_shstrndx = STRINGS,
	};
	object->sections[TEXT] = (Elf64_Shdr){.sh_name = 64,
					      .sh_type = SHT_PROGBITS,
					      .sh_flags = SHF_ALLOC | SHF_EXECINSTR,
					      .sh_addr = (uint64_t)loaded->text,
					      PLACE(text)};
	object->sections[FRAMES] = (Elf64_Shdr){.sh_name = 72,
						.sh_type = SHT_PROGBITS,
						.sh_flags = SHF_ALLOC,
						.sh_addr = (uint64_t)loaded->frames,
						PLACE(frames)};
	object->sections[SYMBOLS] = (Elf64_Shdr){.sh_name = 88,
						 .sh_type = SHT_SYMTAB,
						 .sh_link = STRINGS,
						 .sh_entsize = sizeof(Elf64_Sym),
						 PLACE(symbols)};
	object->sections[STRINGS] =
		(Elf64_Shdr){.sh_name = 96, .sh_type = SHT_STRTAB, PLACE(strings)};
}

static struct jit_entry *add_entry(const void *object, uint64_t size)
{
	struct jit_descriptor *list = &__jit_debug_descriptor;
	struct jit_entry *entry = calloc(1, sizeof(*entry));

	*entry = (struct jit_entry){.next = list->first, .object = object, .size = size};
	if (list->first)
		list->first->previous = entry;
	list->first = list->relevant = entry;
	list->action = 1;
	__jit_debug_register_code();
	return entry;
}

static void remove_entry(struct jit_entry *entry)
{
	__jit_debug_descriptor.relevant = entry;
	__jit_debug_descriptor.first = entry->next;
	__jit_debug_descriptor.action = 2;
	__jit_debug_register_code();
	free((void *)entry->object);
	free(entry);
}

static struct jit_entry *compile(const char *name, unsigned char room, struct loaded *loaded)
{
	struct object *object = calloc(1, sizeof(*object));
	size_t outer_bytes = make_text(object->text, room, false);

	make_frames(object->frames, 0, 0, outer_bytes, room);
	make_symbols(object, name, outer_bytes);
	make_headers(object, loaded);
	mprotect(loaded, CODE_BYTES, PROT_READ | PROT_WRITE);
	make_text(loaded->text, room, true);
	make_frames(loaded->frames, (uint64_t)loaded->text, (uint64_t)loaded->frames, outer_bytes,
		    room);
	mprotect(loaded, CODE_BYTES, PROT_READ | PROT_EXEC);
	__builtin___clear_cache((char *)loaded, (char *)(loaded + 1));
	return is_mode("unregistered") ? NULL : add_entry(object, sizeof(*object));
}

/* Registers entries without an object, and invalid objects. */
static void register_nonsense(const struct loaded *loaded)
{
	static struct object endless, everywhere, nothing;
	struct jit_entry *last = add_entry((void *)8, 64);

	last->next = (void *)-4096L;
	add_entry(&endless, UINT64_C(1) << 50);
	add_entry(NULL, 0);
	add_entry(&nothing, sizeof(nothing));
	make_headers(&endless, loaded);
	endless.header.e_shnum = 0xfffe;
	add_entry(&endless, sizeof(endless));
	make_headers(&everywhere, loaded);
	everywhere.sections[TEXT].sh_addr = 4096;
	everywhere.sections[TEXT].sh_size = UINT64_MAX - 4096;
	everywhere.sections[FRAMES].sh_offset = UINT64_MAX - 1;
	add_entry(&everywhere, sizeof(everywhere));
}

static inline __attribute__((always_inline)) void run(const struct loaded *loaded, double seconds)
{
	void (*outer)(unsigned) = (void (*)(unsigned))loaded->text;
	double end = thread_cpu_seconds() + seconds;

	while (thread_cpu_seconds() < end) {
		outer(SPINS * 4);
		__asm__ volatile("" ::: "memory");
	}
}

static NOINLINE void run_first(const struct loaded *loaded, double seconds)
{
	run(loaded, seconds);
}

static NOINLINE void run_second(const struct loaded *loaded, double seconds)
{
	run(loaded, seconds);
	__asm__ volatile("nop"); /* otherwise it would be merged with run_first() */
}

int main(int argc, char **argv)
{
	double seconds = seconds_argument(argc, argv);
	unsigned char *memory = mmap(NULL, 2 * CODE_BYTES, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct loaded *first = (struct loaded *)memory, *second = first;
	struct jit_entry *entry;

	mode = argc > 2 ? argv[2] : "plain";
	if (!is_mode("replaced"))
		second = (struct loaded *)(memory + CODE_BYTES);
	if (is_mode("wild"))
		register_nonsense(first);
	entry = compile("first", ROOM_AT_FIRST, first);
	if (is_mode("loop"))
		entry->next = entry;
	run_first(first, seconds * 0.5);
	if (is_mode("replaced"))
		remove_entry(entry);
	compile("second", ROOM_THEN, second);
	run_second(second, seconds * 0.5);
	return 0;
}
