#include "unwind/unwind.h"
