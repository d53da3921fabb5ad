/* view_page_facts.h - numbers of a zone and of the server, grouped and folded. */
#ifndef VIEW_PAGE_FACTS_H
#define VIEW_PAGE_FACTS_H

#include "view_fields.h"

/** Write the numbers of a zone that are not 0, a fold for each group. */
void admission_page_facts_zone(request_rec *r, apr_pool_t *p,
                               const admission_facts_t *facts);

/** Write the number of rejected requests by reason, if there are any. */
void admission_page_facts_reasons(request_rec *r,
                                  const admission_facts_t *facts);

/** Write the numbers of the server that are not 0. */
void admission_page_facts_server(request_rec *r,
                                 const admission_facts_t *facts);

/** Write a warning for each fault of the whole server. */
void admission_page_facts_trouble(request_rec *r,
                                  const adm_server_stats_t *server);

#endif
