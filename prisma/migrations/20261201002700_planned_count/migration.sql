-- Age and lag as before: the same numbers, with the rows that wait for later counted along an index. Sampling every five seconds
-- read each live row, and a million planned for next week cost a tenth of a core for nothing.

-- What waits outside of the first lane, by lane, class, tenant and destination: how many, how many of them are due, and since when.
-- All of it stands in the index of waiting rows, in the order of the groups. The planner holds that index for dearer than it is (its
-- pages are in memory, and rows that wait for long are visible to all); where they are not, it still reads the rows in their order.
CREATE FUNCTION sluice.waiting_retries(p_now timestamptz)
RETURNS TABLE (tenant_id uuid, destination_id uuid, service_class sluice.service_class, lane sluice.lane, due_at timestamptz, n integer, due integer)
LANGUAGE sql STABLE
SET random_page_cost = 1.1 SET max_parallel_workers_per_gather = 0
AS $$
  SELECT w.tenant_id, w.destination_id, w.service_class, w.lane, min(w.due_at), count(*)::integer, (count(*) FILTER (WHERE w.due_at <= p_now))::integer
    FROM sluice.delivery w WHERE w.state <> 'leased' AND w.lane = ANY ('{retry,replay}')
   GROUP BY w.lane, w.service_class, w.tenant_id, w.destination_id
$$;

CREATE OR REPLACE FUNCTION sluice.queue_age(p_now timestamptz, p_tenants uuid[] DEFAULT NULL, p_destination uuid DEFAULT NULL)
RETURNS TABLE (
  tenant_id uuid, destination_id uuid, service_class sluice.service_class, held_why text, gate_until timestamptz,
  first_due_at timestamptz, due_count bigint, due_since timestamptz, held_count bigint, held_since timestamptz,
  gated_count bigint, ready bigint, delayed bigint, in_flight bigint, retry_due_count bigint, retry_due_since timestamptz)
LANGUAGE sql STABLE AS $$
  SELECT g.tenant_id, g.destination_id, g.service_class, w.held_why, w.gate_until,
         CASE WHEN w.held_why IS NULL THEN g.first_due_at END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL THEN g.due_count ELSE 0 END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL AND g.due_count > 0 THEN greatest(g.due_since, s.hold_until) END,
         CASE WHEN w.held_why IS NOT NULL THEN g.due_count ELSE 0 END,
         CASE WHEN w.held_why IS NOT NULL THEN g.due_since END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NOT NULL THEN g.due_count ELSE 0 END,
         g.ready, g.delayed, g.in_flight,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL THEN g.retry_due_count ELSE 0 END,
         CASE WHEN w.held_why IS NULL AND w.gate_until IS NULL AND g.retry_due_count > 0 THEN greatest(g.retry_due_since, s.hold_until) END
    FROM (SELECT d.tenant_id, d.destination_id, d.service_class,
                 min(d.first_due_at) FILTER (WHERE d.lane = 'first' AND d.first_due_at <= p_now) AS first_due_at,
                 sum(d.due) AS due_count,
                 min(d.due_at) FILTER (WHERE d.due > 0) AS due_since,
                 coalesce(sum(d.n) FILTER (WHERE d.state = 'ready'), 0) AS ready,
                 coalesce(sum(d.n) FILTER (WHERE d.state = 'delayed'), 0) AS delayed,
                 coalesce(sum(d.n) FILTER (WHERE d.state = 'leased'), 0) AS in_flight,
                 coalesce(sum(d.due) FILTER (WHERE d.lane <> 'first'), 0) AS retry_due_count,
                 min(d.due_at) FILTER (WHERE d.lane <> 'first' AND d.due > 0) AS retry_due_since
            FROM (
              -- Of everybody. Outside of the first lane all that waits is delayed.
              SELECT w.tenant_id, w.destination_id, w.service_class, w.lane, 'delayed'::sluice.delivery_state AS state,
                     NULL::timestamptz AS first_due_at, w.due_at, w.n, w.due
                FROM sluice.waiting_retries(p_now) w WHERE p_tenants IS NULL
              UNION ALL
              SELECT w.tenant_id, w.destination_id, w.service_class, w.lane, w.state, w.first_due_at, w.due_at, 1, (w.due_at <= p_now)::integer
                FROM sluice.delivery w WHERE p_tenants IS NULL AND w.state <> 'leased' AND w.lane = 'first'
              UNION ALL
              SELECT w.tenant_id, w.destination_id, w.service_class, w.lane, w.state, w.first_due_at, w.due_at, 1, 0
                FROM sluice.delivery w WHERE p_tenants IS NULL AND w.state = 'leased'
              UNION ALL
              -- Of the named ones, along the index of waiting rows, which begins with lane and class, and the small one of leases.
              SELECT w.tenant_id, w.destination_id, w.service_class, w.lane, w.state, w.first_due_at, w.due_at, 1, (w.due_at <= p_now)::integer
                FROM (SELECT DISTINCT u.tenant_id FROM unnest(p_tenants) u(tenant_id)) k
               CROSS JOIN unnest(enum_range(NULL::sluice.service_class)) c(class)
               CROSS JOIN LATERAL (
                 SELECT r.* FROM sluice.delivery r
                  WHERE r.state <> 'leased' AND r.lane = 'first' AND r.service_class = c.class AND r.tenant_id = k.tenant_id
                    AND (p_destination IS NULL OR r.destination_id = p_destination) OFFSET 0) w
               WHERE p_tenants IS NOT NULL
              UNION ALL
              SELECT k.tenant_id, w.destination_id, c.class, l.lane, 'delayed', NULL, w.due_at, w.n, w.due
                FROM (SELECT DISTINCT u.tenant_id FROM unnest(p_tenants) u(tenant_id)) k
               CROSS JOIN (VALUES ('retry'::sluice.lane), ('replay')) l(lane) CROSS JOIN unnest(enum_range(NULL::sluice.service_class)) c(class)
               CROSS JOIN LATERAL (
                 SELECT r.destination_id, min(r.due_at) AS due_at, count(*)::integer AS n, (count(*) FILTER (WHERE r.due_at <= p_now))::integer AS due
                   FROM sluice.delivery r
                  WHERE r.state <> 'leased' AND r.lane = l.lane AND r.service_class = c.class AND r.tenant_id = k.tenant_id
                    AND (p_destination IS NULL OR r.destination_id = p_destination)
                  GROUP BY r.destination_id OFFSET 0) w
               WHERE p_tenants IS NOT NULL
              UNION ALL
              SELECT w.tenant_id, w.destination_id, w.service_class, w.lane, w.state, w.first_due_at, w.due_at, 1, 0
                FROM sluice.delivery w WHERE p_tenants IS NOT NULL AND w.state = 'leased' AND w.tenant_id = ANY (p_tenants)
                 AND (p_destination IS NULL OR w.destination_id = p_destination)) d
           GROUP BY 1, 2, 3) g
   CROSS JOIN sluice.region_control rc
    LEFT JOIN sluice.tenant t ON t.id = g.tenant_id
    LEFT JOIN sluice.destination x ON x.id = g.destination_id
    -- An open breaker is a gate like any other: nothing goes before its time.
    LEFT JOIN LATERAL (
      SELECT greatest(s.hold_until, CASE WHEN s.breaker = 'open' THEN s.breaker_until END) AS hold_until
        FROM sluice.destination_state s WHERE s.destination_id = g.destination_id) s ON true
   CROSS JOIN LATERAL (SELECT
     CASE WHEN rc.draining THEN 'region_draining'
          WHEN t.paused_at IS NOT NULL AND t.pause_until > p_now THEN 'tenant_paused'
          WHEN x.paused_at IS NOT NULL AND x.pause_until > p_now THEN 'destination_paused'
          WHEN x.disabled_at IS NOT NULL OR x.deleted_at IS NOT NULL OR t.deleted_at IS NOT NULL THEN 'destination_disabled' END AS held_why,
     CASE WHEN s.hold_until > p_now THEN s.hold_until END AS gate_until) w
$$;
