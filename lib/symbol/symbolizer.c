#include "symbol/symbolizer.h"
