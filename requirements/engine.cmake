# How the engine, llama.cpp in llama-cpp-python, is compiled; read by CMake as its toolchain file (requirements/install.py).

# Chat templates of llama.cpp's own programs, its downloads and its reading of pictures: Lutrin uses none of it, and it is
# half of the work. A plain variable goes before the package's own cached one.
set(LLAMA_BUILD_COMMON OFF)
set(LLAVA_BUILD OFF)

# The header mends what a compiler or a C library does wrong, and says what that is.
set(CMAKE_C_FLAGS_INIT "-include \"${CMAKE_CURRENT_LIST_DIR}/engine.h\"")
set(CMAKE_CXX_FLAGS_INIT "${CMAKE_C_FLAGS_INIT}")
