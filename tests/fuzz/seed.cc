// elf_seeds compiles this in many ways: namespaces, templates, inlined calls,
// several ranges, a cold part, and a call through a linkage table. It does not
// need a library.
namespace outer {
template <typename T> struct counter {
	T value;
	__attribute__((always_inline)) T add(T more) { return value += more; }
};

namespace {
__attribute__((noinline)) int hidden(int n)
{
	auto twice = [n](int x) { return x * 2 + n; };
	return twice(n) + twice(3);
}
} // namespace

__attribute__((noinline, cold)) void unlikely(volatile int *place)
{
	*place = 1;
}
} // namespace outer

extern "C" __attribute__((visibility("default"))) int exported(int n)
{
	outer::counter<long> counter = {n};
	volatile int place = 0;

	for (int i = 0; i < n; i++)
		counter.add(outer::hidden(i));
	if (__builtin_expect(n == 77, 0))
		outer::unlikely(&place);
	return (int)counter.value + place;
}

extern "C" __attribute__((noinline)) int through_table(int n)
{
	return exported(n) + 1;
}

extern "C" void _start()
{
	through_table(7);
	for (;;)
		;
}
