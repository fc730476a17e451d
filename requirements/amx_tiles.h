/* Included before every source of the engine, by requirements/install.py.
 *
 * GCC 12's <amxtileintrin.h> says of `ldtilecfg` that it reads eight bytes (it reads 64) and of `tileloadd` that it reads
 * none. The optimiser then drops or delays the stores before them, and on a processor with AMX the first matrix product
 * ends in a general protection fault. These say what the instructions read. Elsewhere this file does nothing.
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
