#include "shared.h"

#include <cstdio>

namespace outer {
namespace {

struct Scale {
	int factor;
	int of(int x) const { return shared::mixed(x) * factor; }
};

} // namespace

__attribute__((noinline)) int scaled(const std::vector<int> &values)
{
	Scale scale{static_cast<int>(values.size())};
	auto one = [&](int x) { return scale.of(x) + 1; };

	return shared::folded(values, one);
}

__attribute__((cold, noinline)) int rare(int n)
{
	return shared::mixed(n) + counted(n);
}

} // namespace outer

int main(int argc, char **argv)
{
	std::vector<int> values;

	for (int i = 0; i < 1000 * argc; i++)
		values.push_back(shared::mixed(i));
	std::sort(values.begin(), values.end(),
		  [](int a, int b) { return shared::mixed(a) < shared::mixed(b); });
	std::printf("%s %d\n", argv[0], outer::scaled(values) + outer::rare(argc));
}
