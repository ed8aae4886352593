// Counts words, with what C++ compilers inline: templates, lambdas, virtual calls, an unnamed
// namespace, extern "C". Compiled by test_inline_oracle.py.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace words
{
namespace
{
struct Hidden {
	int weight(const std::string &word) const
	{
		return word.empty() ? 0 : word[0] + int(word.size());
	}
};
static int hidden_total(const std::vector<std::string> &all)
{
	Hidden hidden;
	int total = 0;
	for (const auto &word : all)
		total += hidden.weight(word);
	return total;
}
} // namespace

template <typename Key, typename Value> class Counter
{
      public:
	void add(const Key &key, Value by = 1)
	{
		counts_[key] += by;
	}
	std::vector<std::pair<Key, Value>> sorted() const
	{
		std::vector<std::pair<Key, Value>> all(counts_.begin(), counts_.end());
		std::sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
			return a.second != b.second ? a.second > b.second : a.first < b.first;
		});
		return all;
	}

      private:
	std::map<Key, Value> counts_;
};

struct Shape {
	virtual ~Shape() = default;
	virtual double area() const = 0;
};
struct Square : Shape {
	explicit Square(double side) : side(side)
	{
	}
	double area() const override
	{
		return side * side;
	}
	double side;
};

std::vector<std::string> split(const std::string &text)
{
	static const std::regex word("[a-z]+");
	std::vector<std::string> all;
	for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at)
		all.push_back(at->str());
	if (all.empty())
		throw std::runtime_error("no words in " + text);
	return all;
}
} // namespace words

extern "C" int plain_c(int argc)
{
	return argc * 3;
}

int main(int argc, char **argv)
{
	words::Counter<std::string, int> counter;
	std::vector<std::unique_ptr<words::Shape>> shapes;
	std::function<int(int)> twice = [argc](int x) { return x * 2 + argc; };
	try {
		for (int i = 1; i < argc; i++) {
			auto all = words::split(argv[i]);
			for (const auto &word : all)
				counter.add(word, twice(int(word.size())));
			shapes.push_back(std::make_unique<words::Square>(words::hidden_total(all)));
		}
	} catch (const std::exception &error) {
		std::cerr << error.what() << "\n";
	}
	for (const auto &[word, count] : counter.sorted())
		std::cout << word << " " << count << "\n";
	for (const auto &shape : shapes)
		std::cout << shape->area() + plain_c(argc) << "\n";
	return 0;
}
