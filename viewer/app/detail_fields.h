/*
 * detail_fields: the columns of a row of the file as a person reads them: times with units, sizes,
 * words for kinds; numbers that only lead to other tables are left out.
 */
#ifndef CUTLINE_APP_DETAIL_FIELDS_H
#define CUTLINE_APP_DETAIL_FIELDS_H

#include "viewer/app/detail.h"

/* Changes the fields of detail, which are as the file has them, in place. Needs detail->store. */
void detail_fields_shape(struct detail *detail);

#endif
