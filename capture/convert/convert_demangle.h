/* Kernel names as people read them.
 *
 * The demangler is __cxa_demangle of the C++ runtime library (libstdc++.so.6 or libc++abi.so.1),
 * looked up at run time: it is kept up to date with the compilers and is there wherever CUDA is,
 * and cutline stays a C program that needs no C++ compiler to build. Where neither library is
 * found, names stay as they are. Its spelling is then changed to that of nsys ("(int)4", "char *",
 * "<unnamed>", "[lambda(int) (instance 1)]"), so that names compare; nsys writes T1, T2 for
 * parameters that depend on the template arguments, we write the types. */
#ifndef CUTLINE_CAPTURE_CONVERT_CONVERT_DEMANGLE_H
#define CUTLINE_CAPTURE_CONVERT_CONVERT_DEMANGLE_H

#include <stdbool.h>

#include "analysis/base/buf.h"

struct demangle {
    void *library; /* NULL: none found */
    char *(*run)(const char *, char *, size_t *, int *);
};

/* Finds the library. Returns false where there is none: names then stay as they are. */
bool demangle_open(struct demangle *demangle);
void demangle_close(struct demangle *demangle);

/* Sets full to the demangled name and brief to the bare function name, without namespaces, template
 * arguments and parameters; both to name itself where it is not a mangled C++ name. */
void demangle_name(const struct demangle *demangle, const char *name, struct buf *full,
                   struct buf *brief);

/* The spelling alone, of what __cxa_demangle returned. */
void demangle_spell(const char *text, struct buf *full);

#endif
