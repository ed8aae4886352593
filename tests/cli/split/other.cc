#include "shared.h"

#include <string>

namespace {

struct Counter {
	std::string text;
	void add(int n) { text += static_cast<char>('a' + shared::mixed(n) % 26); }
	int length() const { return static_cast<int>(text.size()) + shared::mixed(1); }
};

} // namespace

int counted(int n)
{
	Counter counter;

	for (int i = 0; i < n; i++)
		counter.add(i);
	return counter.length();
}
