/*
 * Where a libcupti may lie: one search for the recorded process and for cutline doctor, so that what
 * the one says is what the other does.
 *
 * In this order: next to the CUDA runtime of the process; among the Python packages that the process
 * uses, of VIRTUAL_ENV, of CONDA_PREFIX; CONDA_PREFIX itself, CUDA_HOME, CUDA_PATH, CUDA_ROOT; the
 * packages of the python on PATH; toolkits, the folders of the system and the packages of the
 * system and of the user; at last what the loader knows (ldconfig, LD_LIBRARY_PATH).
 */
#ifndef CUTLINE_SPOOL_CUPTI_PLACES_H
#define CUTLINE_SPOOL_CUPTI_PLACES_H

#include <stdbool.h>
#include <stdint.h>

/* What is known of the process; "" and 0 where nothing is. */
struct cupti_places {
    const char *runtime; /* path of its libcudart */
    const char *packages; /* a folder "site-packages" that it uses, with no slash behind */
    uint32_t driver; /* CUDA version of the driver, as cuDriverGetVersion: newer major versions are
                        left out */
};

/* True: the library of that path, or name, will do. */
typedef bool cupti_place_fn(void *arg, const char *path);

/* Offers what is there, the best first, until one will do. False: none did. */
bool cupti_places_search(const struct cupti_places *places, cupti_place_fn *offer, void *arg);

/* In words, for a message. */
extern const char cupti_places_text[];

#endif
