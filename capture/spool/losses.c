/* Counting what is not in a spool. */
#include <time.h>

#include "capture/spool/clock.h"
#include "capture/spool/spool.h"

void spool_losses_add(struct spool_losses *losses, enum spool_loss reason, uint32_t kind,
                      uint64_t count)
{
    uint32_t key = (uint32_t)reason << 16 | (kind & 0xffffU);
    int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
    for (uint32_t i = 0; i < SPOOL_LOSS_SLOTS; i++) {
        struct spool_loss_slot *slot = &losses->slots[i];
        uint32_t seen = atomic_load_explicit(&slot->key, memory_order_relaxed);
        if (seen != key && (seen != 0 || (!atomic_compare_exchange_strong(&slot->key, &seen, key) &&
                                          seen != key))) {
            continue;
        }
        int64_t none = 0;
        if (atomic_load_explicit(&slot->first_mono_ns, memory_order_relaxed) == 0) {
            (void)atomic_compare_exchange_strong(&slot->first_mono_ns, &none, now_ns);
        }
        /* One locked instruction: a thread that drops events by the million pays for this. */
        atomic_store_explicit(&slot->last_mono_ns, now_ns, memory_order_relaxed);
        (void)atomic_fetch_add_explicit(&slot->count, count, memory_order_relaxed);
        return;
    }
}
