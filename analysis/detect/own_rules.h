/*
 * own_rules: the rules of `cutline analyze` that are ours: idle_gaps, launch_density, small_copies,
 * hidden_transfers, low_utilisation, graph_opaque. report_list has them beside NVIDIA's.
 */
#ifndef CUTLINE_DETECT_OWN_RULES_H
#define CUTLINE_DETECT_OWN_RULES_H

#include "analysis/report/report.h"

extern const struct report RULE_IDLE_GAPS;
extern const struct report RULE_LAUNCH_DENSITY;
extern const struct report RULE_SMALL_COPIES;
extern const struct report RULE_HIDDEN_TRANSFERS;
extern const struct report RULE_LOW_UTILISATION;
extern const struct report RULE_GRAPH_OPAQUE;

#endif
