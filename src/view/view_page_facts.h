/* view_page_facts.h - all fields, for people. */
#ifndef VIEW_PAGE_FACTS_H
#define VIEW_PAGE_FACTS_H

#include "view_fields.h"

/** Write all fields of a zone. */
void admission_page_facts_zone(request_rec *r, apr_pool_t *p,
                               const admission_view_t *view);

/** Write how many were rejected for which reason, if any were. */
void admission_page_facts_reasons(request_rec *r, const admission_view_t *view);

/** Write all fields of the server. */
void admission_page_facts_server(request_rec *r,
                                 const adm_server_stats_t *server);

/** Write what is wrong with the server as a whole, if anything is. */
void admission_page_facts_trouble(request_rec *r,
                                  const adm_server_stats_t *server);

#endif
