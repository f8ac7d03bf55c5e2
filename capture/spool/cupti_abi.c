/* Places of record fields, and names of callback ids. Numbers as in the CUPTI headers of CUDA 13.0;
 * none ever changed. */
#include "capture/spool/cupti_abi.h"

const struct cupti_field_place cupti_field_places[CUPTI_FIELD_COUNT] = {
#define CUPTI_FIELD_PLACE(name, record, field, offset, bytes) [name] = {offset, bytes},
    CUPTI_FIELDS(CUPTI_FIELD_PLACE)
#undef CUPTI_FIELD_PLACE
};
