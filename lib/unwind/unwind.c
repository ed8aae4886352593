#include "unwind/unwind.h"

#include "base/alloc.h"
#include "unwind/called_functions.h"
#include "unwind/cfi_cache.h"
#include "unwind/code_rule.h"
#include "unwind/fp_search.h"
#include "unwind/outer_walk.h"
#include "unwind/owners.h"
#include "unwind/rules.h"
#include "unwind/step.h"
#include "unwind/step_go.h"
#include "unwind/step_java.h"
#include "unwind/walk.h"

/* The code at a program's entry point is hand-written and short. */
enum { ENTRY_BYTES_MAX = 64 };

/* How much of a function is searched for jumps and frame pointers. */
enum { SEARCHED_BYTES_MAX = 8 << 10 };

/*
 * Limits for the CFI instructions of a walk and of one program. Real programs
 * have a few dozen, or thousands in the largest functions. Without limits, a
 * malicious file could make a walk take seconds.
 */
enum { STEPS_PER_WALK = 1 << 17, STEPS_PER_STACK_BYTE = 16, PROGRAM_STEPS_MAX = 1 << 16 };

struct unwinder {
	struct address_spaces *spaces;
	const struct arch *arch;
	bool is_live;
	struct rules *rules;
	struct cfi_cache *cfi;
	struct owners *owners;
	struct code_rule *code_rule;
	/* The function that code_rule contains; MODULE_NONE if there is none. */
	module_id analyzed_module;
	uint64_t analyzed_start;
	unsigned char code[CODE_RULE_BYTES_MAX]; /* code of one function */
	struct fp_search *fp_search;
	/* NULL for another architecture or a recorded file. */
	struct jvms *jvms;
	struct unwind_counts counts;
};

static bool step_any(void *unwinder, struct walk *walk);

struct unwinder *unwinder_new(struct address_spaces *spaces, const struct arch *arch, bool is_live)
{
	struct unwinder *unwinder = xcalloc(1, sizeof(*unwinder));

	unwinder->spaces = spaces;
	unwinder->arch = arch;
	unwinder->is_live = is_live;
	unwinder->rules = rules_new();
	unwinder->cfi = cfi_cache_new(spaces, arch, is_live);
	unwinder->owners = owners_new(unwinder->cfi);
	unwinder->code_rule = code_rule_new();
	unwinder->analyzed_module = MODULE_NONE;
	unwinder->fp_search = fp_search_new(unwinder->cfi, step_any, unwinder);
	if (is_live && arch == &arch_x86_64)
		unwinder->jvms = jvms_new(spaces, "/proc");
	return unwinder;
}

struct unwinder *unwinder_new_like(const struct unwinder *unwinder, const struct arch *arch)
{
	return unwinder_new(unwinder->spaces, arch, unwinder->is_live);
}

void unwinder_free(struct unwinder *unwinder)
{
	if (!unwinder)
		return;
	fp_search_free(unwinder->fp_search);
	owners_free(unwinder->owners);
	code_rule_free(unwinder->code_rule);
	jvms_free(unwinder->jvms);
	cfi_cache_free(unwinder->cfi);
	rules_free(unwinder->rules);
	free(unwinder);
}

struct unwind_counts unwinder_counts(const struct unwinder *unwinder)
{
	return unwinder->counts;
}

bool unwinder_function(const struct unwinder *unwinder, module_id module, uint64_t offset,
		       uint64_t *start, uint64_t *end)
{
	const struct module_cfi *cfi = cfi_cache_known(unwinder->cfi, module);
	const struct elf_file *elf = address_spaces_module(unwinder->spaces, module)->elf;
	uint64_t vaddr;

	return cfi && cfi->own && elf && elf_file_offset_to_vaddr(elf, offset, &vaddr) &&
	       cfi_function(cfi->own, vaddr, start, end);
}

static unsigned steps_allowed(const struct walk *walk)
{
	uint64_t walked = walk->regs.values[walk->arch->sp] - walk->stack_start;
	uint64_t allowed = STEPS_PER_WALK;

	if (walked <= walk->stack_bytes)
		allowed += walked * STEPS_PER_STACK_BYTE;
	if (walk->steps >= allowed)
		return 0;
	return allowed - walk->steps < PROGRAM_STEPS_MAX ? (unsigned)(allowed - walk->steps)
							 : PROGRAM_STEPS_MAX;
}

/*
 * Looks up a rule within the remaining steps. *is_final: the result will always
 * be the same.
 */
static bool find_rule(const struct cfi *cfi, uint64_t vaddr, struct walk *walk,
		      struct cfi_rule *ret, bool *is_final)
{
	unsigned allowed = steps_allowed(walk), left = allowed;
	bool found = cfi_find(cfi, vaddr, &left, ret);

	walk->steps += allowed - left;
	*is_final = left || allowed == PROGRAM_STEPS_MAX;
	return found;
}

/* Analyzes a function, unless it was the last one. */
static bool analyze(struct unwinder *unwinder, module_id module, const struct elf_file *elf,
		    const struct function_range *function, unsigned *steps)
{
	uint64_t bytes = function->end - function->start;

	if (unwinder->analyzed_module == module && unwinder->analyzed_start == function->start)
		return true;
	unwinder->analyzed_module = MODULE_NONE;
	if (bytes > CODE_RULE_BYTES_MAX ||
	    !elf_file_read(elf, function->start, unwinder->code, bytes) ||
	    !code_rule_analyze(unwinder->code_rule, unwinder->code, bytes,
			       function->is_sized || function->is_inferred, steps))
		return false;
	unwinder->analyzed_module = module;
	unwinder->analyzed_start = function->start;
	return true;
}

/* Finds the function whose code is analyzed. */
static bool function_at(const struct module_cfi *cfi, uint64_t vaddr, struct function_range *ret)
{
	const struct elf_code *whole = cfi_start_function(cfi->own, vaddr);

	if (!whole)
		return cfi->functions && functions_find(cfi->functions, vaddr, ret);
	*ret = (struct function_range){.start = whole->start, .end = whole->end, .is_sized = true};
	return true;
}

/*
 * Derives a rule from the machine code of the function. This excludes Go code,
 * which switches stacks, and the code that a signal handler returns to, at the
 * address or after it (a return address is looked up by the call).
 */
static bool rule_by_code(struct unwinder *unwinder, const struct module_cfi *cfi, uint64_t vaddr,
			 const struct elf_file *elf, struct walk *walk, struct cfi_rule *ret,
			 bool *is_final)
{
	unsigned allowed = steps_allowed(walk), left = allowed;
	struct function_range function;
	bool found;

	if (cfi_go(cfi->own, vaddr) != GO_NONE || !allowed || !function_at(cfi, vaddr, &function) ||
	    is_signal_frame(walk))
		return false;
	found = analyze(unwinder, walk->at.module, elf, &function, &left) &&
		code_rule_find(unwinder->code_rule, vaddr - function.start, ret);
	ret->is_inferred = function.is_inferred;
	ret->start = vaddr;
	ret->end = vaddr + 1;
	walk->steps += allowed - left;
	*is_final = left || allowed == PROGRAM_STEPS_MAX;
	return found;
}

/*
 * Finds a rule in the file's own CFI, or else in that of its separate debug
 * file, or else from the code. The debug file is needed because every program
 * has some .eh_frame, at least that of its start files. It is not needed for
 * _init() and _fini(): new processes are often sampled there, and reading the
 * functions of a large stripped program takes 150 ms.
 */
static bool full_rule(struct unwinder *unwinder, const struct module_cfi *cfi,
		      const struct location *at, struct walk *walk, struct cfi_rule *ret,
		      bool *is_final)
{
	const struct elf_file *elf = address_spaces_module(unwinder->spaces, at->module)->elf;
	uint64_t vaddr;

	*is_final = true;
	if (!elf_file_offset_to_vaddr(elf, at->offset, &vaddr))
		return false;
	cfi_cache_touch(unwinder->cfi, at->module);
	if (find_rule(cfi->own, vaddr, walk, ret, is_final))
		return true;
	if (!*is_final)
		return false;
	*is_final = cfi_start_function(cfi->own, vaddr) || cfi->debug ||
		    cfi_cache_ask_debug_file(unwinder->cfi, at->module);
	if (cfi->debug && find_rule(cfi->debug, vaddr, walk, ret, is_final))
		return true;
	return *is_final && rule_by_code(unwinder, cfi, vaddr, elf, walk, ret, is_final);
}

static enum go_function go_at(const struct unwinder *unwinder, const struct module_cfi *cfi,
			      const struct location *at)
{
	const struct elf_file *elf = address_spaces_module(unwinder->spaces, at->module)->elf;
	uint64_t vaddr;

	return elf_file_offset_to_vaddr(elf, at->offset, &vaddr) ? cfi_go(cfi->own, vaddr)
								 : GO_NONE;
}

static struct rule rule_at(struct unwinder *unwinder, const struct module_cfi *cfi,
			   const struct location *at, struct walk *walk)
{
	struct rule rule = {.kind = RULE_NONE};
	struct cfi_rule full;
	bool is_final;

	if (rules_get(unwinder->rules, at->module, at->offset, &rule)) {
		unwinder->counts.rules_hit++;
		return rule;
	}
	unwinder->counts.rules_missed++;
	if (full_rule(unwinder, cfi, at, walk, &full, &is_final)) {
		rule = rule_pack(unwinder->arch, &full);
		rule.kind |= full.is_inferred ? RULE_INFERRED : 0;
	}
	rule.go = (uint8_t)go_at(unwinder, cfi, at);
	if (is_final)
		rules_put(unwinder->rules, at->module, at->offset, rule);
	return rule;
}

static uint64_t words(const struct arch *arch, int16_t count)
{
	return arch->word_bytes * (uint64_t)(int64_t)count;
}

#define ALWAYS_INLINE __attribute__((always_inline))

/*
 * Steps by the most frequent rules, in which sp, fp and pc follow from each
 * other. `notes`: the frames of the walk will be cached.
 */
static inline ALWAYS_INLINE bool step_by_rule(struct walk *walk, struct rule rule, bool notes)
{
	const struct arch *arch = walk->arch;
	struct regs *regs = &walk->regs;
	unsigned base = rule.kind == RULE_SP ? arch->sp : arch->fp;
	uint64_t cfa = regs->values[base] + words(arch, rule.cfa_words);
	uint64_t fp = regs->values[arch->fp], ra = regs->values[arch->ra];
	uint64_t known = regs->known & (reg_bit(arch->sp) | reg_bit(arch->fp));
	uint64_t needed = reg_bit(base);
	uint64_t ra_at = cfa + words(arch, rule.ra_words), fp_at = 0;

	if (rule.ra_words == RULE_SAME)
		needed |= reg_bit(arch->ra);
	else if (!walk_read_stack(walk, ra_at, STACK_REACH_BYTES, &ra))
		return false;
	if (rule.fp_words != RULE_SAME && !walk_is_popped(walk, cfa + words(arch, rule.fp_words))) {
		known |= reg_bit(arch->fp);
		fp_at = cfa + words(arch, rule.fp_words);
		if (!walk_read_stack(walk, fp_at, STACK_REACH_BYTES, &fp))
			return false;
	}
	if ((regs->known & needed) != needed)
		return walk_stop(walk, UNWIND_LOST);
	if (notes) {
		walk->ra_at = ra_at;
		walk->fp_at = fp_at;
		walk->ra = ra;
	}
	if (!walk_enter(walk, cfa, ra, true)) {
		walk->is_plain_step = walk->stop == UNWIND_ROOT && rule.ra_words != RULE_SAME;
		return false;
	}
	if (notes)
		walk->is_plain_step = rule.ra_words != RULE_SAME;
	regs->values[arch->fp] = fp;
	regs->known = known | reg_bit(arch->sp);
	return true;
}

/*
 * Returns true if the function has switched stacks. Go's runtime does this in
 * the middle of a function, and its CFI does not describe it. The evidence is a
 * frame pointer that is not where the function pushed it. A frame pointer of 0
 * starts a new stack.
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

/*
 * Returns true if the pc is at the entry of a program, whose code has no
 * caller.
 */
static bool is_at_entry(const struct unwinder *unwinder, const struct walk *walk)
{
	const struct elf_file *elf = address_spaces_module(unwinder->spaces, walk->at.module)->elf;
	uint64_t entry = elf ? elf_file_entry(elf) : 0, vaddr;

	return entry && elf_file_offset_to_vaddr(elf, walk->at.offset, &vaddr) &&
	       vaddr - entry < ENTRY_BYTES_MAX;
}

/*
 * Returns true if the stack starts here. This is the case at a program entry
 * without CFI, and at a pc without a call before it: the creator of the stack
 * has used the start of a function as the return address of the first function
 * (makecontext).
 */
static bool begins_stack(struct unwinder *unwinder, const struct module_cfi *cfi, struct walk *walk)
{
	struct location at = walk->at;

	if (is_at_entry(unwinder, walk))
		return true;
	at.offset++;
	walk->was_not_called = walk->is_return_address &&
			       rule_at(unwinder, cfi, &at, walk).kind != RULE_NONE &&
			       !is_after_call(walk);
	return walk->was_not_called;
}

/* Converts a RULE_FRAME rule to one for the known registers. */
static struct rule by_frame(const struct walk *walk, struct rule rule)
{
	rule.kind = RULE_SP;
	if (regs_know(&walk->regs, walk->arch->fp)) {
		rule.kind = RULE_FP;
		rule.cfa_words = (int16_t)-rule.fp_words;
	}
	return rule;
}

/* Like by_frame(), for a rule that does not fit into the cache. */
static void go_by_frame(const struct walk *walk, struct cfi_rule *rule)
{
	uint8_t fp = (uint8_t)walk->arch->fp;

	if (rule->has_frame && regs_know(&walk->regs, fp))
		rule->row.cfa = (struct cfi_value){
			.how = CFI_REGISTER, .reg = fp, .offset = -rule->row.regs[fp].offset};
}

/*
 * Steps by one of the most frequent rules. Returns false for all other rules,
 * without any change.
 */
static inline ALWAYS_INLINE bool step_plainly(struct walk *walk, struct rule rule, bool notes,
					      bool *more)
{
	if (notes)
		walk->uses_fp = rule.kind == RULE_FP || rule.kind == RULE_FRAME || rule.go;
	if (rule.go == GO_EXIT) {
		*more = walk_stop(walk, UNWIND_ROOT);
		return true;
	}
	if (rule.go > GO_ORDINARY && go_switches(walk, rule.go))
		return false;
	switch ((enum rule_kind)rule.kind) {
	case RULE_SP:
		if (rule.go && has_switched_stacks(walk, rule))
			*more = step_to_other_stack(walk);
		else
			*more = step_by_rule(walk, rule, notes);
		return true;
	case RULE_FP:
		*more = step_by_rule(walk, rule, notes);
		return true;
	case RULE_FRAME:
		*more = step_by_rule(walk, by_frame(walk, rule), notes);
		return true;
	case RULE_ROOT:
		walk->is_plain_step = true;
		*more = walk_stop(walk, UNWIND_ROOT);
		return true;
	case RULE_FULL:
	case RULE_NONE:
		break;
	}
	return false;
}

/* Finds the function at the pc, and the distance of the pc from its start. */
static bool function_at_pc(const struct unwinder *unwinder, const struct module_cfi *cfi,
			   const struct walk *walk, struct function_range *ret, uint64_t *before)
{
	const struct elf_file *elf = address_spaces_module(unwinder->spaces, walk->at.module)->elf;
	uint64_t vaddr;

	if (!cfi->functions || !elf_file_offset_to_vaddr(elf, walk->at.offset, &vaddr) ||
	    !functions_find(cfi->functions, vaddr, ret))
		return false;
	*before = vaddr - ret->start;
	return true;
}

/*
 * Returns true if the function at vaddr may end with a tail call of the
 * function that starts at `start`. Only the first bytes of large functions are
 * read.
 */
static bool may_jump_on(struct unwinder *unwinder, const struct module_cfi *cfi,
			const struct elf_file *elf, uint64_t vaddr, uint64_t start)
{
	struct function_range called;
	uint64_t len;

	if (!functions_find(cfi->functions, vaddr, &called) || called.start != vaddr)
		return false;
	len = called.end - vaddr < SEARCHED_BYTES_MAX ? called.end - vaddr : SEARCHED_BYTES_MAX;
	return elf_file_read(elf, vaddr, unwinder->code, len) &&
	       called_functions_may_jump(unwinder->code, len, (int64_t)(start - vaddr));
}

/* Returns true if a call before the address leads to the function at the pc. */
static bool is_called_from(struct unwinder *unwinder, const struct module_cfi *cfi,
			   struct walk *walk, uint64_t return_address)
{
	const struct elf_file *elf = address_spaces_module(unwinder->spaces, walk->at.module)->elf;
	struct function_range function;
	uint64_t before, target, distance;

	if (!function_at_pc(unwinder, cfi, walk, &function, &before))
		return false;
	if (!called_function(walk, return_address, &target))
		return is_return_address(walk, return_address);
	distance = target - (walk_pc(walk) - before);
	return distance == 0 || may_jump_here(walk, target) ||
	       may_jump_on(unwinder, cfi, elf, function.start + distance, function.start);
}

/*
 * Steps by a rule of a function with an uncertain start. The rule must lead to
 * a call of the function or to a root. Otherwise returns false, without any
 * change.
 */
static bool step_inferred(struct unwinder *unwinder, const struct module_cfi *cfi,
			  struct walk *walk, struct rule rule, bool *more)
{
	struct walk caller = *walk;

	rule.kind &= (uint8_t)~RULE_INFERRED;
	if (!step_plainly(&caller, rule, false, more) ||
	    (*more && !is_called_from(unwinder, cfi, walk, caller.regs.pc)))
		return false;
	/* Unused memory is 0, too, so this is not a proof of the root. */
	if (!*more && caller.ends_at_zero && walk->has_guessed)
		return false;
	*walk = caller;
	return true;
}

/*
 * Returns true if the function that starts `len` bytes before the pc has not
 * set up a frame pointer, as far as known. The frame pointer is then that of
 * its caller, or none, and would skip the caller. Code that runs in the frame
 * of another function (V8's bytecode handlers) has symbols.
 */
static bool lacks_fp(struct unwinder *unwinder, const struct elf_file *elf,
		     const struct function_range *function, size_t len)
{
	size_t start;

	if (!unwinder->arch->may_set_fp || !function->is_inferred || len > SEARCHED_BYTES_MAX ||
	    !elf_file_read(elf, function->start, unwinder->code, len))
		return false;
	start = called_functions_last(unwinder->code, len);
	return !unwinder->arch->may_set_fp(unwinder->code + start, len - start);
}

/* Stores the properties of the function at the pc that guesses need. */
static void know_function(struct unwinder *unwinder, const struct module_cfi *cfi,
			  struct walk *walk)
{
	const struct elf_file *elf = address_spaces_module(unwinder->spaces, walk->at.module)->elf;
	struct function_range function;
	uint64_t before;

	if (!function_at_pc(unwinder, cfi, walk, &function, &before))
		return;
	walk->function = walk_pc(walk) - before;
	walk->lacks_fp = lacks_fp(unwinder, elf, &function, before);
}

/*
 * Steps by a cached rule, if it is one of the most frequent ones. Returns false
 * if there is none. Nearly all frames take this path. It does not need the CFI.
 */
static inline ALWAYS_INLINE bool step_by_cached(struct unwinder *unwinder, struct walk *walk,
						bool notes, bool *more)
{
	struct rule rule;

	if (walk->tracks_all ||
	    !rules_get(unwinder->rules, walk->at.module, walk->at.offset, &rule) ||
	    (rule.kind == RULE_SP && !regs_know(&walk->regs, walk->arch->sp)))
		return false;
	walk->is_go = rule.go;
	if (!step_plainly(walk, rule, notes, more))
		return false;
	unwinder->counts.rules_hit++;
	return true;
}

__attribute__((noinline)) static bool
step_by_cfi(struct unwinder *unwinder, const struct module_cfi *cfi, struct walk *walk, bool notes)
{
	struct rule rule = {.kind = RULE_FULL};
	struct cfi_rule full;
	bool is_final, more;

	if (!walk->tracks_all)
		rule = rule_at(unwinder, cfi, &walk->at, walk);
	else
		rule.go = (uint8_t)go_at(unwinder, cfi, &walk->at);
	walk->is_go = rule.go;
	/*
	 * The walk came here by a frame pointer, which does not determine the
	 * stack pointer.
	 */
	if (rule.kind == RULE_SP && !regs_know(&walk->regs, walk->arch->sp))
		return step_by_frame_pointer(walk);
	if (step_plainly(walk, rule, notes, &more))
		return more;
	if (rule.go > GO_ORDINARY && go_switches(walk, rule.go))
		return step_go(walk, rule.go);
	if (rule.kind & RULE_INFERRED) {
		if (step_inferred(unwinder, cfi, walk, rule, &more))
			return more;
		rule.kind = RULE_NONE;
	}
	if (rule.kind == RULE_FULL && full_rule(unwinder, cfi, &walk->at, walk, &full, &is_final)) {
		go_by_frame(walk, &full);
		return step_full(walk, &full) || owners_step(unwinder->owners, walk);
	}
	if (rule.kind == RULE_NONE && !is_signal_frame(walk) && begins_stack(unwinder, cfi, walk))
		return walk_stop(walk, UNWIND_ROOT);
	know_function(unwinder, cfi, walk);
	return step_guess(walk, unwinder->owners);
}

/*
 * Steps in code without a file (of a Java virtual machine or another JIT
 * compiler), or of a file whose CFI is not loaded yet.
 */
static bool step_without_cfi(struct unwinder *unwinder, struct walk *walk)
{
	struct jvm *jvm = NULL;

	if (unwinder->jvms &&
	    address_spaces_module(unwinder->spaces, walk->at.module)->kind == MODULE_JIT)
		jvm = jvms_find(unwinder->jvms, walk->pid, walk->time_ns);
	if (is_at_entry(unwinder, walk))
		return walk_stop(walk, UNWIND_ROOT);
	return jvm ? step_java(walk, jvm) : step_guess(walk, unwinder->owners);
}

/*
 * Inlined into all callers for speed. The compiler would inline it only into a
 * single caller.
 */
static inline ALWAYS_INLINE bool unwind_step(struct unwinder *unwinder, struct walk *walk,
					     bool notes)
{
	const struct module_cfi *cfi;
	bool more;

	walk->is_go = walk->lacks_fp = false;
	walk->function = 0;
	if (!step_by_cached(unwinder, walk, notes, &more)) {
		cfi = cfi_cache_get(unwinder->cfi, walk->at.module);
		if (!cfi)
			return step_without_cfi(unwinder, walk);
		more = step_by_cfi(unwinder, cfi, walk, notes);
	}
	return more || (walk->stop == UNWIND_LOST && walk->is_go && step_to_other_stack(walk));
}

static struct frame unwind_frame_of(const struct walk *walk)
{
	return (struct frame){
		.module = walk->at.module,
		.offset = walk->at.offset + walk->is_return_address,
		.is_return_address = walk->is_return_address,
		.sp = walk->regs.values[walk->arch->sp],
	};
}

/*
 * Returns the place of frame n. When the chain is full, its outer half becomes
 * a ring buffer.
 */
static struct frame *unwind_place_of(const struct call_chain *chain, uint64_t n)
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

/* Restores the order of the ring buffer in the outer half. */
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

static bool unwind_is_after_syscall(const struct walk *walk)
{
	int holds_pc = walk->arch->syscall_pc;
	uint64_t pc = walk->regs.pc;
	unsigned char code[CODE_BYTES];

	/*
	 * This excludes most cases. Reading the code costs as much as several
	 * frames.
	 */
	if (holds_pc >= 0 && walk->regs.values[holds_pc] != pc)
		return false;
	return walk_read_file(walk, &walk->at, pc, pc - sizeof(code), code, sizeof(code)) &&
	       walk->arch->is_after_syscall(code, &walk->regs);
}

/*
 * Handles the pc of a thread in a system call, which is after the instruction.
 * After a call that never returns (exit), another function may start there. If
 * the rules of the two addresses differ, the address before pc is looked up, as
 * for a call.
 */
static void look_before_syscall(struct walk *walk, struct rule rule, struct rule before)
{
	if (before.kind == RULE_NONE || memcmp(&rule, &before, sizeof(rule)) == 0)
		return;
	walk->at.offset--;
	walk->is_return_address = true;
}

static void look_before_any_syscall(struct unwinder *unwinder, struct walk *walk)
{
	const struct module_cfi *cfi = cfi_cache_get(unwinder->cfi, walk->at.module);
	struct location before = walk->at;

	if (!cfi)
		return;
	before.offset--;
	look_before_syscall(walk, rule_at(unwinder, cfi, &walk->at, walk),
			    rule_at(unwinder, cfi, &before, walk));
}

/* Like unwind_step(), for the frame pointer search (fp_search.h). */
__attribute__((noinline)) static bool step_any(void *unwinder, struct walk *walk)
{
	return unwind_step(unwinder, walk, true);
}

/*
 * Handles a failed step: searches the frame pointer of the frame and steps by
 * it.
 */
__attribute__((noinline)) static bool step_by_searched(struct unwinder *unwinder, struct walk *walk)
{
	return walk->is_bare && walk->stop != UNWIND_ROOT &&
	       !regs_know(&walk->regs, walk->arch->fp) &&
	       fp_search_find(unwinder->fp_search, walk) && step_any(unwinder, walk);
}

/* Completes the chain with the cached outer frames. */
static void unwind_take_known(struct walk *walk, struct call_chain *chain, uint64_t *total)
{
	const struct outer_walk *outer = chain->outer;

	for (unsigned i = outer->taken; i-- > 0;)
		*unwind_place_of(chain, (*total)++) = outer->used->items[i].frame;
	walk->regs.values[walk->arch->sp] = outer->used->items[0].sp;
	walk_stop(walk, UNWIND_ROOT);
}

/* Performs one step of a walk whose outer frames are cached. */
static bool step_kept(struct unwinder *unwinder, struct walk *walk, struct call_chain *chain,
		      struct frame *frame)
{
	bool more;

	outer_walk_enter(chain->outer, walk);
	walk->is_plain_step = walk->uses_fp = false;
	walk->ra_at = walk->fp_at = 0;
	more = step_any(unwinder, walk);
	outer_walk_leave(chain->outer, walk, frame);
	return more;
}

static enum unwind_stop walk_up(struct unwinder *unwinder, struct walk *walk,
				struct call_chain *chain)
{
	bool keeps = chain->outer, more;
	uint64_t total = 0;

	walk_fetch_ahead(walk);
	if (!walk_locate(walk, walk->regs.pc, &walk->at))
		walk->unmapped_pc = walk->regs.pc;
	if (unwind_is_after_syscall(walk))
		look_before_any_syscall(unwinder, walk);
	if (keeps)
		outer_walk_begin(chain->outer, walk);
	do {
		struct frame *frame;

		if (keeps && outer_walk_meets(chain->outer, walk)) {
			unwind_take_known(walk, chain, &total);
			break;
		}
		frame = unwind_place_of(chain, total++);
		walk->was_not_called = false;
		*frame = unwind_frame_of(walk);
		more = (keeps ? step_kept(unwinder, walk, chain, frame)
			      : unwind_step(unwinder, walk, false)) ||
		       step_by_searched(unwinder, walk);
		/*
		 * The pc was not a return address, so the instruction before it
		 * can belong to another function or not exist.
		 */
		if (walk->was_not_called)
			frame->is_return_address = false;
	} while (more);
	if (keeps && walk->stop == UNWIND_ROOT)
		outer_walk_end(chain->outer, walk);
	close_chain(chain, total);
	unwinder->counts.frames += total;
	return walk->stop;
}

/* Walks from `start`. The state at the end is in *walk. */
static enum unwind_stop walk_all(struct unwinder *unwinder, const struct walk *start,
				 struct call_chain *chain, struct walk *walk)
{
	enum unwind_stop stop;

	*walk = *start;
	stop = walk_up(unwinder, walk, chain);
	if (!walk->lacks_register || stop == UNWIND_ROOT)
		return stop;
	*walk = *start;
	walk->tracks_all = true;
	return walk_up(unwinder, walk, chain);
}

static void note_needed(const struct walk *walk, enum unwind_stop stop, struct call_chain *chain)
{
	uint64_t sp = walk->regs.values[walk->arch->sp], needed_bytes = walk->needed_bytes;
	bool is_known = chain->outer && chain->outer->taken;

	if (stop == UNWIND_ROOT)
		needed_bytes = is_known || walk_has(walk, sp, 0) ? sp - walk->stack_start : 0;
	chain->saved_sp_at = walk->saved_sp_at;
	chain->unmapped_pc = walk->unmapped_pc;
	chain->needed_bytes = walk->changed_stack ? 0 : needed_bytes;
	chain->interrupted_end = walk->changed_stack && needed_bytes
					 ? walk->stack_start + needed_bytes
					 : walk->other_end;
	chain->needs_go = walk->go.needs_sched;
	chain->g_at = walk->go.g_at;
}

static struct walk walk_begin(const struct unwinder *unwinder, pid_t pid, uint64_t time_ns,
			      const struct regs *regs, const struct stack_copies *stacks)
{
	return (struct walk){
		.spaces = unwinder->spaces,
		.arch = unwinder->arch,
		.pid = pid,
		.time_ns = time_ns,
		.stack_start = regs->values[unwinder->arch->sp],
		.own_start = regs->values[unwinder->arch->sp],
		.stack_bytes = bytes_left(&stacks->own),
		.stack = stacks->own.at,
		.copies = stacks,
		.regs = *regs,
		.pc_mask = unwinder->arch->pc_mask,
		.may_search = true,
		.is_bare = !regs_know(regs, unwinder->arch->fp),
	};
}

enum unwind_stop unwinder_walk(struct unwinder *unwinder, pid_t pid, uint64_t time_ns,
			       const struct regs *regs, const struct stack_copies *stacks,
			       struct call_chain *chain)
{
	struct walk start = walk_begin(unwinder, pid, time_ns, regs, stacks), walk;
	enum unwind_stop stop = walk_all(unwinder, &start, chain, &walk);

	if (walk.omitted_owner && (stop != UNWIND_ROOT || walk.ends_at_zero)) {
		start.must_seek_owner = true;
		stop = walk_all(unwinder, &start, chain, &walk);
		start.must_seek_owner = false;
	}
	if (stop != UNWIND_ROOT && walk.has_searched) {
		start.may_search = false;
		stop = walk_all(unwinder, &start, chain, &walk);
	}
	note_needed(&walk, stop, chain);
	return stop;
}

/*
 * Returns true if a frame pointer chain continues from this function to its
 * caller. In Go it always does, with or without CFI (cfi.h).
 */
static bool keeps_frame_pointer(const struct walk *walk, struct rule rule)
{
	if (rule.go)
		return walk->is_return_address && (rule.kind == RULE_NONE || rule.fp_words == -2);
	return rule.kind == RULE_FP && rule.fp_words == -2;
}

/*
 * Moves to the frame of a return address. An address outside of all mappings
 * has no CFI.
 */
static void jump(struct walk *walk, uint64_t pc)
{
	walk_locate(walk, pc - 1, &walk->at);
	walk->regs.pc = pc;
	walk->is_return_address = true;
}

/* Appends addresses as frames until one is a root. */
static bool jump_to_root(struct unwinder *unwinder, struct walk *walk, struct bytes addresses,
			 struct call_chain *chain, unsigned *count)
{
	for (;;) {
		const struct module_cfi *cfi = cfi_cache_get(unwinder->cfi, walk->at.module);
		struct rule rule;

		if (!cfi)
			return false;
		rule = rule_at(unwinder, cfi, &walk->at, walk);
		if (rule.kind == RULE_ROOT || rule.go == GO_EXIT)
			return true;
		if (!keeps_frame_pointer(walk, rule) || !bytes_left(&addresses) ||
		    *count == chain->room)
			return false;
		jump(walk, bytes_u64(&addresses));
		chain->frames[(*count)++] = unwind_frame_of(walk);
	}
}

/*
 * Finds the chain's last frame among the addresses, and advances *addresses
 * past it. There can be fewer addresses than frames, because some functions
 * keep no frame pointer, but not more.
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

/*
 * Continues a walk that ended where Go has called C. It steps to the goroutine
 * if the C code has not changed the frame pointer. The first address is that of
 * the sample, the second follows the call.
 */
static bool follow_call_of_c(struct unwinder *unwinder, struct walk *walk,
			     const struct call_chain *chain, struct bytes *addresses)
{
	const struct frame *last = &chain->frames[chain->count - 1];
	const struct module_cfi *cfi = cfi_cache_get(unwinder->cfi, last->module);
	const struct location at = {.module = last->module, .offset = last->offset - 1};
	uint64_t target;

	if (!cfi || !last->is_return_address || go_at(unwinder, cfi, &at) != GO_CALLS_C)
		return false;
	bytes_u64(addresses);
	jump(walk, bytes_u64(addresses));
	if (walk->at.module != last->module || !called_function(walk, walk->regs.pc, &target) ||
	    !walk_locate(walk, target, &walk->at) || go_at(unwinder, cfi, &walk->at) != GO_CALLS_C)
		return false;
	jump(walk, walk->regs.pc);
	return true;
}

bool unwinder_splice(struct unwinder *unwinder, pid_t pid, uint64_t time_ns, struct bytes addresses,
		     struct call_chain *chain)
{
	struct walk walk = {
		.spaces = unwinder->spaces,
		.arch = unwinder->arch,
		.pid = pid,
		.time_ns = time_ns,
	};
	struct bytes after_call = addresses;
	unsigned count = chain->count;

	if (chain->left_out || count == chain->room)
		return false;
	if (follow_call_of_c(unwinder, &walk, chain, &after_call))
		chain->frames[count++] = unwind_frame_of(&walk);
	else if (find_last(&walk, chain, &addresses))
		after_call = addresses;
	else
		return false;
	if (!jump_to_root(unwinder, &walk, after_call, chain, &count))
		return false;
	chain->count = count;
	return true;
}
