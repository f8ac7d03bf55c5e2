/*
 * A stand-in for libcupti, for tests: keeps the calling conventions of CUPTI, has the record sizes
 * of a chosen CUDA version, and delivers what a test program puts in, through the callbacks that a
 * client registered.
 *
 * The variable STANDIN_CUPTI chooses what it is like, "key=value" separated by commas:
 *   layout=13.0       record sizes: 11.4 11.6 12.1 12.6 13.0 13.4
 *   subscribe=39 register=35 enable=35 flush=1    results of these calls
 *   too_new=1         as CUPTI 13 it is newer than the driver: subscribing gives 15
 *   enable_kind=10    with enable=: only this kind fails
 *   per_thread=1      a buffer for each thread
 *   hang=1            a forced flush does not come back
 *   keep=1            FlushAll(0) gives nothing back
 *   hidden=1          the callbacks are not in the data of the library
 */
#ifndef CUTLINE_CAPTURE_TESTS_STANDIN_CUPTI_H
#define CUTLINE_CAPTURE_TESTS_STANDIN_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* The functions that a test program drives it by; looked up by name. */
struct standin {
    /* Size of a record of that kind in the chosen layout; 0 if it has none. */
    uint32_t (*record_bytes)(uint32_t kind);
    /* Launches: calls the callbacks of the call that it is, and puts a record into the caller's
     * buffer, asking for one where needed. 1 if the kind is on, else 0. */
    int (*put)(const void *record, size_t bytes);
    /* Puts it whether the kind is on or not. */
    void (*force)(const void *record, size_t bytes);
    /* Gives the caller's buffer back now, claiming VALID more bytes than there are records. */
    void (*give_back)(size_t more);
    /* Gives back a buffer that nobody asked for. */
    void (*give_foreign)(void);
    /* Asks for a buffer and gives it back empty. */
    void (*request_only)(void);
    /* As if CUPTI had dropped COUNT records. */
    void (*drop)(size_t count);
    /* Calls the subscriber's callback, if the callback id is enabled. */
    int (*fire)(int domain, uint32_t cbid, const void *data);
    /* Which API ids are switched off: 1 if CBID of the runtime is. */
    int (*is_filtered)(uint32_t cbid);
    /* Value of an attribute that was set, or 0; 100: whether events have times of the device. */
    size_t (*attribute)(int attribute);
    /* 1 if the callback is enabled. */
    int (*is_watched)(int domain, uint32_t cbid);
    /* How often FlushAll was called, and with the forced flag. */
    int (*flushes)(int forced);
};

#endif
