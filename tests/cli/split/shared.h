// Inline functions of two files, with namespaces, a template and a lambda.
#include <algorithm>
#include <vector>

namespace shared
{

inline int mixed(int x)
{
	volatile int y = x;

	if (y < -1000000)
		throw y;
	return y * 7919 % 1009;
}

template <class Function> int folded(const std::vector<int> &values, Function function)
{
	int sum = 0;

	for (int value : values)
		sum += function(mixed(value));
	return sum;
}

} // namespace shared

int counted(int n);
