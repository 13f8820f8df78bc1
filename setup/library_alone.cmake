# Included by CMake after each project() of the llama-cpp-python build. Its own CMakeLists forces
# LLAMA_BUILD_COMMON on in the cache; a normal variable of the same name goes before the cache's
# (policy CMP0126), so the 50 files of llama.cpp's command-line programs are not compiled.
set(LLAMA_BUILD_COMMON OFF)
