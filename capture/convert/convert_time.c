/* The time line of a capture: where it begins and ends, and how the clocks of the session are brought
 * to it. */
#include <string.h>
#include <unistd.h>

#include "capture/convert/convert_internal.h"
#include "capture/spool/clock.h"

#define CLOCKS_APART_NS (INT64_C(86400) * 1000000000) /* of two machines, at most */

enum {
    FOREIGN_NS = 1000000000, /* how far outside the session a time may lie */
    CUPTI_BEHIND_S = 60 /* how far behind all else that is known, where nobody wrote the end down */
};

int convert_time_begin(struct convert *c, struct err *err)
{
    if (c->control) {
        c->zero_mono_ns = c->control->created_mono_ns;
        c->zero_real_ns = c->control->created_real_ns;
        if (clock_map_add(&c->real, c->zero_real_ns, c->zero_mono_ns) < 0 ||
            (c->control->created_tsc &&
             clock_map_add(&c->tsc, (int64_t)c->control->created_tsc, c->zero_mono_ns) < 0)) {
            return err_nomem(err, "clocks");
        }
    } else if (c->procs_n > 0) {
        c->zero_mono_ns = c->procs[0].created_mono_ns;
    }
    return 0;
}

/* Whether the clocks that run now are those of the session: the same machine, not started again
 * since, which would have moved CLOCK_MONOTONIC against CLOCK_REALTIME. */
static bool same_boot(const struct convert *c, const struct clock_anchor *now)
{
    const int64_t most = 10 * (int64_t)FOREIGN_NS;
    char host[sizeof c->procs->host] = "";
    if (!c->control || c->procs_n == 0 || gethostname(host, sizeof host - 1) != 0 ||
        strcmp(host, c->procs[0].host) != 0) {
        return false;
    }
    int64_t moved =
        clock_off(now->real_ns - now->mono_ns, clock_off(c->zero_real_ns, c->zero_mono_ns));
    return moved < most && moved > -most && now->mono_ns > c->zero_mono_ns;
}

/* The last moment that the launcher and the processes wrote down. */
static int64_t last_moment(const struct convert *c)
{
    int64_t last = c->zero_mono_ns;
    for (size_t i = 0; i < c->procs_n; i++) {
        const struct convert_proc *proc = &c->procs[i];
        last = proc->sealed_mono_ns > last ? proc->sealed_mono_ns : last;
        last = proc->created_mono_ns > last ? proc->created_mono_ns : last;
    }
    for (size_t i = 0; i < c->real.n; i++) {
        last = c->real.pairs[i].to > last ? c->real.pairs[i].to : last;
    }
    return last;
}

/* What lies behind it is no time of the session: nothing is recorded later than now, by the clock
 * of this machine, which may be another one than recorded it. */
static int64_t limit_ns(const struct convert *c, const struct clock_anchor *now, bool same)
{
    if (same) {
        return clock_off(now->mono_ns, c->zero_mono_ns);
    }
    int64_t since = clock_off(now->real_ns, c->zero_real_ns);
    return c->zero_real_ns > 0 && since > 0 && since < INT64_MAX - CLOCKS_APART_NS
               ? since + CLOCKS_APART_NS
               : INT64_MAX;
}

/* The last event of all processes, where that is later than what was written down: of those that
 * were killed, and of a killed launcher, nobody did. Of CUPTI's events, convert_time_reach. */
static int64_t last_event_ns(struct convert *c, int64_t limit)
{
    int64_t last = 0;
    for (size_t i = 0; i < c->procs_n; i++) {
        struct convert_proc *proc = &c->procs[i];
        const int64_t times[] = {
            proc->last_event > 0 ? convert_time_nvtx(c, proc, proc->last_event) : 0,
            proc->last_loss_mono_ns > 0 ? clock_off(proc->last_loss_mono_ns, c->zero_mono_ns) : 0,
        };
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) {
            last = times[k] > last && times[k] <= limit ? times[k] : last;
        }
    }
    return last;
}

int64_t convert_time_nvtx(struct convert *c, const struct convert_proc *proc, uint64_t time)
{
    int64_t mono =
        proc->clock == SPOOL_CLOCK_TSC ? clock_map_at(&c->tsc, (int64_t)time) : (int64_t)time;
    return clock_off(mono, c->zero_mono_ns);
}

void convert_time_reach(struct convert *c, int64_t end_ns)
{
    if (!c->opts->live && end_ns > c->end_ns) {
        c->end_ns = end_ns;
    }
}

/* The first and the last time of the session. */
static void find_ends(struct convert *c, const struct clock_anchor *now, bool same)
{
    int64_t last_mono = last_moment(c);
    int64_t slack = (c->opts->live ? 1 : CUPTI_BEHIND_S) * (int64_t)FOREIGN_NS;
    c->end_ns = c->opts->live ? clock_off(now->mono_ns, c->zero_mono_ns)
                              : clock_off(last_mono, c->zero_mono_ns);
    c->end_ns = c->end_ns < 0 ? 0 : c->end_ns;
    if (!c->opts->live) {
        convert_time_reach(c, last_event_ns(c, limit_ns(c, now, same)));
    }
    c->low_ns = -(int64_t)FOREIGN_NS;
    c->high_ns = c->end_ns > INT64_MAX - slack ? INT64_MAX : c->end_ns + slack;
}

static int lose_steps(struct convert *c, struct err *err)
{
    static const char why[] = "CLOCK_REALTIME was set";
    if (c->real.steps == 0 || c->procs_n == 0) {
        return 0;
    }
    int64_t first = clock_off(c->real.first_step_to, c->zero_mono_ns);
    if (convert_lose(c, 0, CONVERT_FAULT("clock", why, (uint64_t)c->real.steps, first), err) < 0) {
        return -1;
    }
    convert_harmless(c, 0, "clock", why, true);
    return 0;
}

int convert_time_end(struct convert *c, struct err *err)
{
    struct clock_anchor now;
    clock_anchor_take(&now);
    bool same = c->opts->live || same_boot(c, &now);
    if (same && (clock_map_add(&c->real, now.real_ns, now.mono_ns) < 0 ||
                 (now.tsc && clock_map_add(&c->tsc, (int64_t)now.tsc, now.mono_ns) < 0))) {
        return err_nomem(err, "clocks");
    }
    clock_map_ready(&c->real, CLOCK_MAP_WALL);
    clock_map_ready(&c->tsc, CLOCK_MAP_TICKS);
    for (size_t i = 0; i < c->procs_n; i++) {
        clock_map_ready(&c->procs[i].cupti, CLOCK_MAP_NS);
    }
    if (!c->control && c->real.n > 0) {
        c->zero_real_ns = c->real.pairs[0].from;
    }
    find_ends(c, &now, same);
    return lose_steps(c, err);
}
