// A header of Windows under the name by which Snappy includes it, for file systems that tell capitals from small letters.
#pragma once

#include <basetsd.h>
