#include "symbol/perfmap.h"
