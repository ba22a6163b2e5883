// The order of bytes, as LevelDB's port asks for it. Windows runs on little-endian processors only.
#pragma once

#define __LITTLE_ENDIAN 1234
#define __BYTE_ORDER __LITTLE_ENDIAN
