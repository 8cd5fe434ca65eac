-- Reads of the console on a large region: 10,000 destinations, 200,000 live and 10,000,000 archived deliveries.

-- Age and lag as before, of all tenants or of the named ones only, and of these of one destination if it is named (it counts only
-- beside its tenant). Of the named the rows are read along the claim's own index, whatever the planner thinks of their number
-- (OFFSET 0); a condition on the result would read everybody's.
DROP FUNCTION sluice.queue_age(timestamptz);
CREATE FUNCTION sluice.queue_age(p_now timestamptz, p_tenants uuid[] DEFAULT NULL, p_destination uuid DEFAULT NULL)
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
                 count(*) FILTER (WHERE d.state <> 'leased' AND d.due_at <= p_now) AS due_count,
                 min(d.due_at) FILTER (WHERE d.state <> 'leased' AND d.due_at <= p_now) AS due_since,
                 count(*) FILTER (WHERE d.state = 'ready') AS ready,
                 count(*) FILTER (WHERE d.state = 'delayed') AS delayed,
                 count(*) FILTER (WHERE d.state = 'leased') AS in_flight,
                 count(*) FILTER (WHERE d.state <> 'leased' AND d.lane <> 'first' AND d.due_at <= p_now) AS retry_due_count,
                 min(d.due_at) FILTER (WHERE d.state <> 'leased' AND d.lane <> 'first' AND d.due_at <= p_now) AS retry_due_since
            FROM (
              SELECT w.tenant_id, w.destination_id, w.service_class, w.lane, w.state, w.first_due_at, w.due_at
                FROM sluice.delivery w WHERE p_tenants IS NULL
              UNION ALL
              -- Along the index of waiting rows, which begins with lane and class, and the small one of leases.
              SELECT w.tenant_id, w.destination_id, w.service_class, w.lane, w.state, w.first_due_at, w.due_at
                FROM (SELECT DISTINCT u.tenant_id FROM unnest(p_tenants) u(tenant_id)) k
               CROSS JOIN unnest(enum_range(NULL::sluice.lane)) l(lane) CROSS JOIN unnest(enum_range(NULL::sluice.service_class)) c(class)
               CROSS JOIN LATERAL (
                 SELECT r.* FROM sluice.delivery r
                  WHERE r.state <> 'leased' AND r.lane = l.lane AND r.service_class = c.class AND r.tenant_id = k.tenant_id
                    AND (p_destination IS NULL OR r.destination_id = p_destination) OFFSET 0) w
               WHERE p_tenants IS NOT NULL
              UNION ALL
              SELECT w.tenant_id, w.destination_id, w.service_class, w.lane, w.state, w.first_due_at, w.due_at
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

-- Waiting rows in the first lane that are not new: their lease was lost. There are next to none, and no row that goes its
-- ordinary way ever enters this index; without it a list of delayed rows walks past every ready one.
CREATE INDEX delivery_recovered ON sluice.delivery (service_class, due_at, id) WHERE state = 'delayed' AND lane = 'first';
