# adm.gdb - read the segment: gdb -p PID -x tools/adm.gdb
#
# adm-zones, adm-tickets and adm-children list what is in use.

# httpd stops its children by this signal, and by SIGTERM.
handle SIGHUP nostop noprint pass
# Tests stop children by this one.
handle SIGSTOP nostop noprint pass

define adm-zones
  set $s = 'process.c'::segment
  set $i = 0
  while $i < $s->header->zones_used
    set $z = &$s->zone_recs[$i]
    printf "zone %d: limit %d active %d queued %d orphans %d first %d\n", \
      $i + 1, $z->limits[0] - 1, $z->active, $z->queued, $z->orphans, $z->head_idx
    set $i = $i + 1
  end
end
define adm-tickets
  set $s = 'process.c'::segment
  set $i = 0
  while $i < $s->header->chunks_used * 64
    set $t = &$s->ticket_recs[$i]
    if $t->state
      printf "ticket %d: zone %d state %d child %d arrival %d program %d\n", \
        $i + 1, $s->chunk_recs[$i / 64].zone_idx, $t->state, \
        $t->child_idx, $t->arrival, $t->program & 0xffffffff
    end
    set $i = $i + 1
  end
end
define adm-children
  set $s = 'process.c'::segment
  set $i = 0
  while $i < $s->header->children_used
    set $c = &$s->child_recs[$i]
    printf "child %d: pid %d state %d workers %d blocked %d parked %d\n", \
      $i + 1, $c->life >> 32, $c->life & 255, $c->workers_held, \
      $c->blocked, $c->parked
    set $i = $i + 1
  end
end
