/* Included before every source of the engine, by requirements/install.py. */

/* From version 2.38 on, glibc's headers turn `strtol` and its like into functions that older C libraries do not have. A
 * wheel compiled on Debian 13 would then refuse to load on Ubuntu 22.04 (the Jetson's) or Debian 12, for nothing: the
 * new functions only read binary numerals, too. The name of the switch changed in version 2.41.
 */
#if defined(__linux__)
#include <features.h>
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0
#endif

/* GCC 12's <amxtileintrin.h> says of `ldtilecfg` that it reads eight bytes (it reads 64) and of `tileloadd` that it reads
 * none. The optimiser then drops or delays the stores before them, and on a processor with AMX the first matrix product
 * ends in a general protection fault. These say what the instructions read. Elsewhere they do nothing.
 */
#if defined(__GNUC__) && !defined(__clang__) && defined(__AMX_TILE__)
#include <immintrin.h>

#undef _tile_loadd_internal
#undef _tile_stream_loadd_internal

#define _tile_loadconfig(config) __asm__ volatile("ldtilecfg\t%0" ::"m"(*(const char(*)[64])(config)))

#define _tile_loadd_internal(tile, base, stride)                                                                              \
    __asm__ volatile("tileloadd\t(%0,%1,1), %%tmm" #tile ::"r"((const void *)(base)), "r"((long)(stride)) : "memory")

#define _tile_stream_loadd_internal(tile, base, stride)                                                                       \
    __asm__ volatile("tileloaddt1\t(%0,%1,1), %%tmm" #tile ::"r"((const void *)(base)), "r"((long)(stride)) : "memory")
#endif
