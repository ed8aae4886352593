#include "perf/record.h"
