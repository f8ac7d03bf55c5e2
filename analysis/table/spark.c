/*
 * spark: see spark.h.
 *
 * Bin edges are low * (high / low)^(i / count) rounded up, so that a bin is found by binary search
 * over the same integers that the screen shows.
 */
#include "analysis/table/spark.h"

#include <math.h>
#include <string.h>

int spark_level(double value, double max)
{
    if (!(value > 0) || !(max > 0)) {
        return 0;
    }
    if (value >= max) {
        return SPARK_LEVELS;
    }
    int level = (int)ceil(value / max * SPARK_LEVELS);
    return level < 1 ? 1 : level;
}

const char *spark_glyph(int level, bool ascii)
{
    static const char *const blocks[SPARK_LEVELS + 1] = {
        " ",
        "\xe2\x96\x81",
        "\xe2\x96\x82",
        "\xe2\x96\x83",
        "\xe2\x96\x84",
        "\xe2\x96\x85",
        "\xe2\x96\x86",
        "\xe2\x96\x87",
        "\xe2\x96\x88",
    };
    static const char *const signs[SPARK_LEVELS + 1] = {
        " ", ".", ":", "-", "=", "+", "*", "#", "@",
    };
    int safe = level < 0 ? 0 : level;
    if (safe > SPARK_LEVELS) {
        safe = SPARK_LEVELS;
    }
    return ascii ? signs[safe] : blocks[safe];
}

void spark_line(struct buf *out, const double *values, size_t count, double max, bool ascii)
{
    double top = max;
    for (size_t i = 0; max <= 0 && i < count; i++) {
        top = values[i] > top ? values[i] : top;
    }
    for (size_t i = 0; i < count; i++) {
        buf_adds(out, spark_glyph(spark_level(values[i], top), ascii));
    }
}

void spark_bar(struct buf *out, double value, double max, int cols, bool ascii)
{
    /* U+2589..U+258F: seven eighths down to one eighth, from the left. */
    static const char *const parts[SPARK_LEVELS] = {
        "",
        "\xe2\x96\x8f",
        "\xe2\x96\x8e",
        "\xe2\x96\x8d",
        "\xe2\x96\x8c",
        "\xe2\x96\x8b",
        "\xe2\x96\x8a",
        "\xe2\x96\x89",
    };
    if (!(value > 0) || !(max > 0) || cols <= 0) {
        return;
    }
    double share = value >= max ? 1.0 : value / max;
    long eighths = lround(share * cols * SPARK_LEVELS);
    if (eighths < 1) {
        eighths = 1;
    }
    if (ascii) {
        buf_fill(out, '#', (size_t)((eighths + SPARK_LEVELS - 1) / SPARK_LEVELS));
        return;
    }
    for (long i = 0; i < eighths / SPARK_LEVELS; i++) {
        buf_adds(out, spark_glyph(SPARK_LEVELS, false));
    }
    buf_adds(out, parts[eighths % SPARK_LEVELS]);
}

static int64_t bin_value(int64_t value)
{
    return value < 1 ? 1 : value;
}

int64_t spark_bins_edge(const struct spark_bins *bins, int i)
{
    if (i <= 0 || bins->count == 0) {
        return bins->low;
    }
    if (i >= bins->count) {
        return bins->high + 1;
    }
    double ratio = (double)bins->high / (double)bins->low;
    double edge = ceil((double)bins->low * pow(ratio, (double)i / bins->count));
    if (edge >= (double)bins->high) {
        return bins->high;
    }
    return (int64_t)edge;
}

/* The last bin whose lower edge is not above the value: edges may coincide where the range is
 * narrow, and then only the last of them is used. */
static int bin_find(const int64_t *edges, int count, int64_t value)
{
    int low = 0;
    int high = count - 1;
    while (low < high) {
        int mid = low + (high - low + 1) / 2;
        if (edges[mid] <= value) {
            low = mid;
        } else {
            high = mid - 1;
        }
    }
    return low;
}

static void bin_edges(const struct spark_bins *bins, int64_t *edges)
{
    for (int i = 0; i < bins->count; i++) {
        edges[i] = spark_bins_edge(bins, i);
    }
}

int spark_bins_of(const struct spark_bins *bins, int64_t value)
{
    int64_t edges[SPARK_BINS_MAX] = {0};
    int64_t safe = bin_value(value);
    if (bins->count == 0 || safe < bins->low || safe > bins->high) {
        return -1;
    }
    bin_edges(bins, edges);
    return bin_find(edges, bins->count, safe);
}

void spark_bins_make(struct spark_bins *out, const int64_t *values, size_t count, int bins)
{
    int64_t edges[SPARK_BINS_MAX] = {0};
    memset(out, 0, sizeof *out);
    if (count == 0 || bins <= 0) {
        return;
    }
    out->low = bin_value(values[0]);
    out->high = out->low;
    for (size_t i = 1; i < count; i++) {
        int64_t value = bin_value(values[i]);
        out->low = value < out->low ? value : out->low;
        out->high = value > out->high ? value : out->high;
    }
    out->count = bins < SPARK_BINS_MAX ? bins : SPARK_BINS_MAX;
    if (out->high == out->low) {
        out->count = 1;
    }
    bin_edges(out, edges);
    for (size_t i = 0; i < count; i++) {
        out->bin[bin_find(edges, out->count, bin_value(values[i]))]++;
    }
    for (int i = 0; i < out->count; i++) {
        out->max = out->bin[i] > out->max ? out->bin[i] : out->max;
    }
}

void spark_bins_line(struct buf *out, const struct spark_bins *bins, bool ascii)
{
    for (int i = 0; i < bins->count; i++) {
        buf_adds(out, spark_glyph(spark_level(bins->bin[i], bins->max), ascii));
    }
}
