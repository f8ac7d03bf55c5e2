/* brief_name: the bare name of a C++ function. */
#ifndef CUTLINE_BASE_BRIEF_NAME_H
#define CUTLINE_BASE_BRIEF_NAME_H

#include "analysis/base/buf.h"

/* Sets brief to the name of the function without namespaces, template arguments and parameters: "gemm" of
 * "void ns::gemm<float>(float*)". The text is demangled. */
void brief_name(const char *text, struct buf *brief);

#endif
