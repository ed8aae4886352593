/*
 * C++: namespaces, templates, a lambda, a virtual call and an inlined member.
 *
 *	_start … main
 *	  spend
 *	    (anonymous namespace)::render()  50 %
 *	      geometry::Circle::area() const     virtual; geometry::Circle::squared inlined
 *	    void geometry::sum<int, long>(…)  30 %  a template
 *	    main::{lambda…}::operator()      20 %
 */
#include "work.h"

namespace geometry
{
struct Shape {
	virtual ~Shape() = default;
	virtual void area() const = 0;
};

struct Circle : Shape {
	NOINLINE void area() const override;
	__attribute__((always_inline)) void squared() const
	{
		spin();
	}
};

void Circle::area() const
{
	squared();
}

template <typename First, typename Second> NOINLINE void sum(First first, Second second)
{
	__asm__ volatile("" : : "r"(first), "r"(second));
	spin();
}
} // namespace geometry

namespace
{
NOINLINE void render()
{
	static const geometry::Circle circle;
	const geometry::Shape *shape = &circle;

	__asm__ volatile("" : "+r"(shape));
	shape->area();
	__asm__ volatile("");
}

NOINLINE void add()
{
	geometry::sum<int, long>(1, 2);
	__asm__ volatile("");
}
} // namespace

int main(int argc, char **argv)
{
	const part parts[] = {{render, 5}, {add, 3}, {[]() NOINLINE { spin(); }, 2}};

	spend(seconds_argument(argc, argv), parts, 3);
	return 0;
}
