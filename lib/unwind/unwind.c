#include "unwind/unwind.h"

#include "base/alloc.h"
#include "elf/debugfile.h"
#include "unwind/cfi.h"
#include "unwind/rules.h"
#include "unwind/step.h"
#include "unwind/walk.h"

#define DEBUG_DIR "/usr/lib/debug"

/* What a program begins with is written by hand and short. */
enum { ENTRY_BYTES_MAX = 64 };

/* What unwinding knows of a module; made when its first frame is met. */
struct unwind_module {
	struct cfi *cfi;
	struct image *debug; /* holds the CFI where the file itself has none; NULL: none */
};

struct unwinder {
	struct spaces *spaces;
	const struct arch *arch;
	struct rules *rules;
	struct unwind_module *modules; /* by module_id */
	uint32_t module_count;
	struct unwind_counts counts;
};

struct unwinder *unwinder_new(struct spaces *spaces, const struct arch *arch)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

	unwinder->spaces = spaces;
	unwinder->arch = arch;
	unwinder->rules = rules_new();
	return unwinder;
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	for (uint32_t i = 0; i < unwinder->module_count; i++) {
		cfi_free(unwinder->modules[i].cfi);
		image_free(unwinder->modules[i].debug);
	}
	free(unwinder->modules);
	rules_free(unwinder->rules);
	free(unwinder);
}

struct unwind_counts unwinder_counts(const struct unwinder *unwinder)
{
	return unwinder->counts;
}

static struct unwind_module *module_of(struct unwinder *unwinder, module_id id)
{
	uint32_t old_count = unwinder->module_count;

	if (id >= old_count) {
		unwinder->module_count = id + id / 2 + 16;
		unwinder->modules = xreallocarray(unwinder->modules, unwinder->module_count,
						  sizeof(*unwinder->modules));
		memset(unwinder->modules + old_count, 0,
		       (unwinder->module_count - old_count) * sizeof(*unwinder->modules));
	}
	return &unwinder->modules[id];
}

/* NULL: there is no file, or none yet; it may turn up with another mapping. */
static struct cfi *cfi_of(struct unwinder *unwinder, module_id id)
{
	struct unwind_module *module = module_of(unwinder, id);
	const struct module *mapped;

	if (module->cfi)
		return module->cfi;
	mapped = spaces_module(unwinder->spaces, id);
	/* A 32-bit process may show its vdso, which is not ours. */
	if (!mapped->image || image_changed(mapped->image) ||
	    image_is_32(mapped->image) != (unwinder->arch->word_bytes == 4))
		return NULL;
	if (!image_section(mapped->image, ".eh_frame").present &&
	    !image_section(mapped->image, ".debug_frame").present)
		module->debug = debugfile_find(mapped->image, mapped->path, DEBUG_DIR);
	return module->cfi = cfi_new(mapped->image, module->debug, unwinder->arch);
}

static bool full_rule(struct unwinder *unwinder, struct cfi *cfi, const struct location *at,
		      struct cfi_rule *ret)
{
	const struct image *image = spaces_module(unwinder->spaces, at->module)->image;
	uint64_t vaddr;

	return image_offset_to_vaddr(image, at->offset, &vaddr) && cfi_find(cfi, vaddr, ret);
}

static struct rule rule_at(struct unwinder *unwinder, struct cfi *cfi, const struct location *at)
{
	struct rule rule = {.kind = RULE_NONE};
	struct cfi_rule full;

	if (rules_get(unwinder->rules, at->module, at->offset, &rule)) {
		unwinder->counts.rules_hit++;
		return rule;
	}
	unwinder->counts.rules_missed++;
	if (full_rule(unwinder, cfi, at, &full))
		rule = rule_pack(unwinder->arch, &full);
	rules_put(unwinder->rules, at->module, at->offset, rule);
	return rule;
}

static uint64_t words(const struct arch *arch, int16_t count)
{
	return arch->word_bytes * (uint64_t)(int64_t)count;
}

/* Most frames: sp, fp and the pc follow from each other. */
static bool step_by_rule(struct walk *walk, struct rule rule)
{
	const struct arch *arch = walk->arch;
	struct regs *regs = &walk->regs;
	unsigned base = rule.kind == RULE_SP ? arch->sp : arch->fp;
	uint64_t cfa = regs->values[base] + words(arch, rule.cfa_words);
	uint64_t fp = regs->values[arch->fp], ra = regs->values[arch->ra];
	uint64_t known = regs->known & (reg_bit(arch->sp) | reg_bit(arch->fp));
	uint64_t needed = reg_bit(base);

	if (rule.ra_words == RULE_SAME)
		needed |= reg_bit(arch->ra);
	else if (!walk_read_stack(walk, cfa + words(arch, rule.ra_words), STACK_REACH_BYTES, &ra))
		return false;
	if (rule.fp_words != RULE_SAME && !walk_is_popped(walk, cfa + words(arch, rule.fp_words))) {
		known |= reg_bit(arch->fp);
		if (!walk_read_stack(walk, cfa + words(arch, rule.fp_words), STACK_REACH_BYTES,
				     &fp))
			return false;
	}
	if ((regs->known & needed) != needed)
		return walk_stop(walk, UNWIND_LOST);
	if (!walk_enter(walk, cfa, ra, true))
		return false;
	regs->values[arch->fp] = fp;
	regs->known = known | reg_bit(arch->sp);
	return true;
}

/*
 * Go's runtime switches stacks in the midst of a function, which its CFI does not say: a frame
 * pointer that is not where the function has pushed it tells. With 0 in it a stack begins anew.
 */
static bool has_switched_stacks(const struct walk *walk, struct rule rule)
{
	const struct arch *arch = walk->arch;
	const struct regs *regs = &walk->regs;
	uint64_t cfa = regs->values[arch->sp] + words(arch, rule.cfa_words);

	if (!walk->is_return_address || !regs_know(regs, arch->fp))
		return false;
	if (rule.fp_words != RULE_SAME)
		return regs->values[arch->fp] != cfa + words(arch, rule.fp_words);
	return !arch->ra_in_register && rule.cfa_words == 1 && regs->values[arch->fp] == 0;
}

/* Where Go has switched stacks the frame pointer is right: 0 at the end, else of the other stack.
 */
static bool step_to_other_stack(struct walk *walk)
{
	uint64_t fp = walk->regs.values[walk->arch->fp];

	if (!regs_know(&walk->regs, walk->arch->fp) || fp % 8 != 0)
		return walk_stop(walk, UNWIND_LOST);
	if (fp == 0)
		return walk_stop(walk, UNWIND_ROOT);
	if (walk_has(walk, fp, 16))
		return step_by_frame_pointer(walk);
	walk_stop_unread(walk, fp, STACK_REACH_BYTES);
	return walk_stop(walk, UNWIND_TRUNCATED);
}

/*
 * The program's entry, where it has no CFI. Or nothing stands before the pc: whoever made the stack
 * put the first instruction of a function there, for the first one called to return to
 * (makecontext).
 */
static bool begins_stack(struct unwinder *unwinder, struct cfi *cfi, struct walk *walk)
{
	const struct image *image = spaces_module(unwinder->spaces, walk->at.module)->image;
	struct location at = walk->at;
	uint64_t entry = image_entry(image), vaddr;
	struct cfi_rule rule;

	if (entry && image_offset_to_vaddr(image, at.offset, &vaddr) &&
	    vaddr - entry < ENTRY_BYTES_MAX)
		return true;
	at.offset++;
	walk->was_not_called = walk->is_return_address && full_rule(unwinder, cfi, &at, &rule) &&
			       !is_after_call(walk);
	return walk->was_not_called;
}

/*
 * runtime.goexit, to whose second instruction the first function of a goroutine returns: nothing
 * has called it, nor has it pushed anything. Above it lies what the last user of the stack left.
 */
static bool begins_goroutine(const struct cfi *cfi, struct walk *walk, struct rule rule)
{
	int16_t untouched = walk->arch->ra_in_register ? 0 : 1;

	return (rule.kind == RULE_NONE || rule.cfa_words == untouched) && walk->is_return_address &&
	       cfi_is_go(cfi) && !is_after_call(walk);
}

static bool step_by_cfi(struct unwinder *unwinder, struct cfi *cfi, struct walk *walk)
{
	struct rule rule = {.kind = RULE_FULL};
	struct cfi_rule full;

	if (!walk->tracks_all)
		rule = rule_at(unwinder, cfi, &walk->at);
	/* A frame pointer led here, where that says nothing of the stack pointer. */
	if (rule.kind == RULE_SP && !regs_know(&walk->regs, walk->arch->sp))
		return step_by_frame_pointer(walk);
	switch ((enum rule_kind)rule.kind) {
	case RULE_SP:
		if (begins_goroutine(cfi, walk, rule))
			return walk_stop(walk, UNWIND_ROOT);
		if (cfi_is_go(cfi) && has_switched_stacks(walk, rule))
			return step_to_other_stack(walk);
		return step_by_rule(walk, rule);
	case RULE_FP:
		return step_by_rule(walk, rule);
	case RULE_ROOT:
		return walk_stop(walk, UNWIND_ROOT);
	case RULE_FULL:
		if (full_rule(unwinder, cfi, &walk->at, &full))
			return step_full(walk, &full);
		break;
	case RULE_NONE:
		if (!is_signal_frame(walk) && begins_stack(unwinder, cfi, walk))
			return walk_stop(walk, UNWIND_ROOT);
		break;
	}
	return step_guess(walk);
}

static bool step(struct unwinder *unwinder, struct walk *walk)
{
	struct cfi *cfi = cfi_of(unwinder, walk->at.module);

	if (!cfi)
		return step_guess(walk);
	if (step_by_cfi(unwinder, cfi, walk))
		return true;
	return cfi_is_go(cfi) && walk->stop == UNWIND_LOST && step_to_other_stack(walk);
}

static struct frame frame_of(const struct walk *walk)
{
	return (struct frame){
		.module = walk->at.module,
		.offset = walk->at.offset + walk->is_return_address,
		.is_return_address = walk->is_return_address,
	};
}

/* Where frame n goes: once there is no more room, into the outer half, round and round. */
static struct frame *place_of(const struct call_chain *chain, uint64_t n)
{
	unsigned inner = chain->room / 2;

	return &chain->frames[n < chain->room ? n : inner + (n - inner) % (chain->room - inner)];
}

static void reverse(struct frame *frames, unsigned count)
{
	for (unsigned i = 0; i < count / 2; i++) {
		struct frame swapped = frames[i];

		frames[i] = frames[count - 1 - i];
		frames[count - 1 - i] = swapped;
	}
}

/* Brings the outer half back into its order. */
static void close_chain(struct call_chain *chain, uint64_t total)
{
	unsigned inner = chain->room / 2, outer = chain->room - inner, first;

	if (total <= chain->room) {
		chain->count = (unsigned)total;
		chain->left_out = 0;
		return;
	}
	first = (unsigned)((total - inner) % outer);
	reverse(chain->frames + inner, first);
	reverse(chain->frames + inner + first, outer - first);
	reverse(chain->frames + inner, outer);
	chain->count = chain->room;
	chain->left_out = total - chain->room;
	chain->gap = inner;
}

/*
 * A thread in a system call stands behind the instruction. Behind one that never returns (exit)
 * something else begins, so where the two differ in their rules, it is looked up as a call is.
 */
static void look_before_syscall(struct unwinder *unwinder, struct walk *walk)
{
	int holds_pc = walk->arch->syscall_pc;
	uint64_t pc = walk->regs.pc;
	struct location before = walk->at;
	unsigned char code[CODE_BYTES];
	struct rule rule, other;
	struct cfi *cfi;

	/* Most are told by this alone; looking at the code costs as much as some frames. */
	if (holds_pc >= 0 && walk->regs.values[holds_pc] != pc)
		return;
	cfi = cfi_of(unwinder, walk->at.module);
	before.offset--;
	if (!cfi || !walk_read_file(walk, &walk->at, pc, pc - sizeof(code), code, sizeof(code)) ||
	    !walk->arch->is_after_syscall(code, &walk->regs))
		return;
	rule = rule_at(unwinder, cfi, &walk->at);
	other = rule_at(unwinder, cfi, &before);
	if (other.kind == RULE_NONE || memcmp(&rule, &other, sizeof(rule)) == 0)
		return;
	walk->at = before;
	walk->is_return_address = true;
}

static enum unwind_stop walk_up(struct unwinder *unwinder, struct walk *walk,
				struct call_chain *chain)
{
	uint64_t total = 0;
	bool more;

	walk_fetch_ahead(walk);
	walk_locate(walk, walk->regs.pc, &walk->at);
	look_before_syscall(unwinder, walk);
	do {
		struct frame *frame = place_of(chain, total++);

		walk->was_not_called = false;
		*frame = frame_of(walk);
		more = step(unwinder, walk);
		/* There may be another function before its pc, or nothing at all. */
		if (walk->was_not_called)
			frame->is_return_address = false;
	} while (more);
	close_chain(chain, total);
	unwinder->counts.frames += total;
	return walk->stop;
}

static enum unwind_stop walk_all(struct unwinder *unwinder, struct walk *walk,
				 struct call_chain *chain)
{
	struct walk again = *walk;
	enum unwind_stop stop = walk_up(unwinder, walk, chain);

	if (!walk->lacks_register || stop == UNWIND_ROOT)
		return stop;
	again.tracks_all = true;
	stop = walk_up(unwinder, &again, chain);
	*walk = again;
	return stop;
}

enum unwind_stop unwinder_walk(struct unwinder *unwinder, pid_t pid, uint64_t time_ns,
			       const struct regs *regs, struct bytes stack,
			       struct call_chain *chain)
{
	unsigned sp = unwinder->arch->sp;
	const struct walk fresh = {
		.spaces = unwinder->spaces,
		.arch = unwinder->arch,
		.pid = pid,
		.time_ns = time_ns,
		.stack_start = regs->values[sp],
		.stack_bytes = bytes_left(&stack),
		.stack = stack.at,
		.regs = *regs,
		.may_search = true,
	};
	struct walk walk = fresh;
	enum unwind_stop stop = walk_all(unwinder, &walk, chain);
	uint64_t needed_bytes = walk.needed_bytes;

	if (stop != UNWIND_ROOT && walk.has_searched) {
		walk = fresh;
		walk.may_search = false;
		stop = walk_all(unwinder, &walk, chain);
	}
	if (stop == UNWIND_ROOT)
		needed_bytes = walk_has(&walk, walk.regs.values[sp], 0)
				       ? walk.regs.values[sp] - walk.stack_start
				       : 0;
	chain->needed_bytes = needed_bytes;
	return stop;
}

/*
 * Does a frame pointer of its own lead on from this frame, and to its caller? In Go from all that
 * have called, be there CFI (cfi.h) or not.
 */
static bool keeps_frame_pointer(const struct cfi *cfi, const struct walk *walk, struct rule rule)
{
	if (cfi_is_go(cfi))
		return walk->is_return_address && (rule.kind == RULE_NONE || rule.fp_words == -2);
	return rule.kind == RULE_FP && rule.fp_words == -2;
}

/* To the frame of that address; false: a frame pointer was none. */
static bool jump(struct walk *walk, uint64_t pc)
{
	if (!walk_locate(walk, pc - 1, &walk->at))
		return false;
	walk->regs.pc = pc;
	walk->is_return_address = true;
	return true;
}

/* Takes one of the addresses after the other until one is the root's. */
static bool jump_to_root(struct unwinder *unwinder, struct walk *walk, struct bytes addresses,
			 struct call_chain *chain, unsigned *count)
{
	for (;;) {
		struct cfi *cfi = cfi_of(unwinder, walk->at.module);
		struct rule rule;

		if (!cfi)
			return false;
		rule = rule_at(unwinder, cfi, &walk->at);
		if (rule.kind == RULE_ROOT || begins_goroutine(cfi, walk, rule))
			return true;
		if (!keeps_frame_pointer(cfi, walk, rule) || !bytes_left(&addresses) ||
		    *count == chain->room || !jump(walk, bytes_u64(&addresses)))
			return false;
		chain->frames[(*count)++] = frame_of(walk);
	}
}

/*
 * Where the chain's last frame stands among the addresses, what is behind it. There can be fewer of
 * them than frames, as some functions keep no frame pointer, not more.
 */
static bool find_last(struct walk *walk, const struct call_chain *chain, struct bytes *addresses)
{
	const struct frame *last = &chain->frames[chain->count - 1];
	size_t count = bytes_left(addresses) / sizeof(uint64_t);

	for (size_t i = count < chain->count ? count : chain->count; i-- > 0;) {
		struct bytes from = bytes_at(*addresses, i * sizeof(uint64_t));
		uint64_t pc = bytes_u64(&from);

		if (!walk_locate(walk, pc - last->is_return_address, &walk->at) ||
		    walk->at.module != last->module ||
		    walk->at.offset + last->is_return_address != last->offset)
			continue;
		walk->regs.pc = pc;
		walk->is_return_address = last->is_return_address;
		*addresses = from;
		return true;
	}
	return false;
}

bool unwinder_join(struct unwinder *unwinder, pid_t pid, uint64_t time_ns, struct bytes addresses,
		   struct call_chain *chain)
{
	struct walk walk = {
		.spaces = unwinder->spaces,
		.arch = unwinder->arch,
		.pid = pid,
		.time_ns = time_ns,
	};
	unsigned count = chain->count;

	if (chain->left_out || !find_last(&walk, chain, &addresses) ||
	    !jump_to_root(unwinder, &walk, addresses, chain, &count))
		return false;
	chain->count = count;
	return true;
}
