// Byte order definitions, as LevelDB's port includes them. Windows runs on little-endian processors only.
#pragma once

#define __LITTLE_ENDIAN 1234
#define __BYTE_ORDER __LITTLE_ENDIAN
