#include "unwind/cfi.h"
