#include "unwind/arch.h"

const struct arch *arch_native(void)
{
#if defined(__x86_64__)
	return &arch_x86_64;
#elif defined(__aarch64__)
	return &arch_aarch64;
#else
#error "add an arch_<name>.c for this machine"
#endif
}

bool regs_from_perf(const struct arch *arch, uint64_t mask, struct bytes values, struct regs *ret)
{
	bool has_pc = false;

	*ret = (struct regs){0};
	for (; mask; mask &= mask - 1) {
		unsigned perf = (unsigned)__builtin_ctzll(mask);
		uint64_t value = bytes_u64(&values);
		uint8_t reg = perf < arch->perf_count ? arch->perf_to_dwarf[perf] : PERF_REG_NONE;

		if (reg == PERF_REG_PC) {
			ret->pc = value;
			has_pc = true;
		} else if (reg != PERF_REG_NONE) {
			regs_set(ret, reg, value);
		}
	}
	return bytes_ok(&values) && has_pc && regs_know(ret, arch->sp);
}
