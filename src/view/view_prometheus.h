/* view_prometheus.h - output for programs: Prometheus. */
#ifndef VIEW_PROMETHEUS_H
#define VIEW_PROMETHEUS_H

#include "module/conf.h"

int admission_prometheus_write(request_rec *r, const admission_zone_t *only);

#endif
