/* A stand-in for the CUDA driver, for tests: what matters is that cuInit loads the library that
 * CUDA_INJECTION64_PATH names. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* NOLINTBEGIN(readability-identifier-naming): names of the driver */
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuCtxGetCurrent(void **context);
int cuDeviceGetCount(int *count);
/* NOLINTEND(readability-identifier-naming) */

static int context_object;

int cuInit(unsigned flags)
{
    static int done;
    int (*initialize)(void) = NULL;
    const char *path = getenv("CUDA_INJECTION64_PATH");
    (void)flags;
    if (done != 0 || path == NULL) {
        return 0;
    }
    done = 1;
    void *library = dlopen(path, RTLD_NOW);
    void *symbol = library == NULL ? NULL : dlsym(library, "InitializeInjection");
    memcpy(&initialize, &symbol, sizeof(initialize));
    if (initialize != NULL) {
        (void)initialize();
    }
    return 0;
}

int cuDriverGetVersion(int *version)
{
    const char *text = getenv("STANDIN_DRIVER");
    *version = text == NULL ? 13000 : (int)strtol(text, NULL, 10);
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 2;
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    *context = &context_object;
    return 0;
}
