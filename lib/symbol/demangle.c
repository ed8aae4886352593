#include "symbol/demangle.h"
