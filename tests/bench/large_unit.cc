/*
 * A unit of the large program (large_program.py), LAYERS times the size of a
 * small one. It has nested templates; every fourth function stands alone, and
 * the others are inlined into it. unit_00000 becomes the unit's number. Needs
 * neither a library nor data.
 */
#ifndef LAYERS
#define LAYERS 10
#endif

#define ALONE __attribute__((noinline))

namespace unit_00000 {

/* The parameters of a layer of work. Every instance is a separate type. */
template <int Layer, typename Previous> struct settings {
	using previous_type = Previous;
	enum class direction : unsigned char { forward, backward, both };
	struct limits {
		unsigned least_count, greatest_count;
		direction preferred_direction;
	};
	limits allowed_limits;
	unsigned multiplier, increment;
	Previous *inherited_settings;

	constexpr unsigned mixed_with(unsigned value) const
	{
		return value * multiplier + increment;
	}
};

/* A ring of a fixed size that keeps the last elements. */
template <typename Element, int Capacity> class bounded_history {
      public:
	using element_type = Element;

	bounded_history() : next_position(0)
	{
		for (int i = 0; i < Capacity; i++)
			kept_elements[i] = Element(i);
	}

	Element exchange(Element newest)
	{
		Element oldest = kept_elements[next_position];
		kept_elements[next_position] = newest;
		next_position = (next_position + 1) % Capacity;
		return oldest;
	}

	template <typename Function> Element fold(Function combine) const
	{
		Element result = kept_elements[0];
		for (int i = 1; i < Capacity; i++)
			result = combine(result, kept_elements[i]);
		return result;
	}

      private:
	Element kept_elements[Capacity];
	int next_position;
};

template <int Layer> struct processor {
	using settings_type = settings<Layer, processor<Layer - 1>>;
	using history_type = bounded_history<unsigned, Layer % 7 + 2>;

	static inline unsigned rotate_value(unsigned value, int distance)
	{
		unsigned left = value << (distance & 31);
		unsigned right = value >> (-distance & 31);
		return left | right;
	}

	static inline unsigned apply_settings(const settings_type &chosen, unsigned value)
	{
		unsigned mixed = chosen.mixed_with(value);
		if (mixed > chosen.allowed_limits.greatest_count)
			mixed = rotate_value(mixed, Layer);
		return mixed;
	}

	static ALONE unsigned remember_values(history_type &history, unsigned first, int count)
	{
		unsigned result = first;
		for (int i = 0; i < count; i++)
			result += history.exchange(rotate_value(result, i));
		return history.fold([](unsigned a, unsigned b) { return a * 31 + b; }) + result;
	}

	static ALONE unsigned process_recursively(unsigned seed, unsigned repetitions)
	{
		history_type history;
		settings_type chosen = {{1, seed, {}}, seed | 1, Layer, nullptr};
		unsigned result = seed;

		for (unsigned i = 0; i < repetitions; i++)
			result ^= apply_settings(chosen, remember_values(history, result, 3 + Layer % 5));
		return result + processor<Layer - 1>::process_recursively(result, repetitions);
	}
};

template <> struct processor<0> {
	using settings_type = settings<0, void>;

	static ALONE unsigned process_recursively(unsigned seed, unsigned repetitions)
	{
		for (unsigned i = 0; i < repetitions; i++)
			seed = seed * 1103515245 + 12345;
		return seed;
	}
};

unsigned run_unit(unsigned repetitions)
{
	return processor<LAYERS>::process_recursively(repetitions, repetitions);
}

} // namespace unit_00000
