-- The contract of the queue: claim, release, finish, gate, barrier. Whatever program follows it may work on these rows.
--
-- What must never happen here: a claim that reads a snapshot older than its lock; a result stored for a lease that no
-- longer stands; a plan that scans the table because it was cached when the table was empty (hence the SET clauses).

-- The ramp in which a destination's due rows leave after a resume of it or of its tenant; no row when there is none (any more).
--   line: rows due before it are limited. part: of the destination's cap and rate. tenant_part: of the tenant's cap (null: all).
CREATE FUNCTION sluice.resume_ramp(p_tenant uuid, p_destination uuid, p_now timestamptz)
RETURNS TABLE (line timestamptz, part numeric, tenant_part numeric)
LANGUAGE sql STABLE AS $$
  SELECT greatest(CASE WHEN w.tenant_part IS NOT NULL THEN w.tenant_at END, CASE WHEN w.own_part IS NOT NULL THEN w.own_at END),
         least(w.tenant_part, w.own_part), w.tenant_part
    FROM sluice.tenant t JOIN sluice.destination x ON x.id = p_destination AND x.tenant_id = t.id
   CROSS JOIN LATERAL (
     SELECT sluice.resumed_at(t.pause_until, t.resumed_at, p_now) AS tenant_at, sluice.resumed_at(x.pause_until, x.resumed_at, p_now) AS own_at) m
   CROSS JOIN LATERAL (
     SELECT m.tenant_at, m.own_at, sluice.resume_part(m.tenant_at, t.resume_share, p_now) AS tenant_part,
            sluice.resume_part(m.own_at, x.resume_share, p_now) AS own_part) w
   WHERE t.id = p_tenant AND (w.tenant_part IS NOT NULL OR w.own_part IS NOT NULL)
$$;

-- Returned by claim as ONE small row: while Postgres sends a result the transaction, and with it the lock, is still
-- open, so a client that stops reading must find its whole answer already in the socket. Bodies are read afterwards.
--   entry_start, entry_gap_ms, entry_burst: when the token of the entry's first row is there, how long after it each further one,
--     and the burst; null without a rate. A token may be taken up to 100 ms before it is there, so that the way to the socket costs the
--     rate nothing; the request must not start before it.
--   entry_watched: the destination has an adaptive limit, an open breaker or failures in a row: its successes must be reported.
CREATE FUNCTION sluice.claim(
  p_owner text, p_worker uuid, p_lease_ms integer, p_max_bytes bigint,
  p_lanes sluice.lane[], p_classes sluice.service_class[], p_tenants uuid[], p_destinations uuid[], p_wanted integer[])
RETURNS TABLE (claimed_at timestamptz, token uuid, until timestamptz, ids uuid[],
               entry_taken integer[], entry_blocker text[], entry_until timestamptz[],
               entry_start timestamptz[], entry_gap_ms double precision[], entry_burst integer[], entry_watched boolean[])
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
DECLARE
  v_now timestamptz;
  v_until timestamptz;
  v_token uuid := gen_random_uuid();
  v_ahead constant interval := '100 milliseconds';
  v_ramps boolean;
  v_control sluice.region_control;
BEGIN
  IF p_lease_ms NOT BETWEEN 1000 AND 3600000 OR cardinality(p_lanes) > 256 THEN
    RAISE EXCEPTION 'claim: lease of % ms or % entries is out of bounds', p_lease_ms, cardinality(p_lanes) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  -- At a stricter level the statements below would share one snapshot, taken before the lock.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'claim: needs READ COMMITTED, not %', current_setting('transaction_isolation') USING ERRCODE = 'invalid_transaction_state';
  END IF;
  -- One claim at a time in the region. The statements below take their snapshots after the lock is ours, so they see
  -- every claim before this one. Two-integer form; migrations use the one-bigint form.
  PERFORM pg_advisory_xact_lock(5301, 1);
  v_now := clock_timestamp();
  v_until := v_now + p_lease_ms * interval '1 millisecond';
  SELECT * INTO STRICT v_control FROM sluice.region_control;
  -- Whether anything at all was resumed lately: only then leases are told apart by their due time.
  v_ramps := EXISTS (SELECT 1 FROM sluice.tenant t WHERE greatest(t.resumed_at, t.pause_until) BETWEEN v_now - interval '10 minutes' AND v_now)
          OR EXISTS (SELECT 1 FROM sluice.destination x WHERE greatest(x.resumed_at, x.pause_until) BETWEEN v_now - interval '10 minutes' AND v_now);

  RETURN QUERY
  WITH entry AS MATERIALIZED (
    SELECT * FROM unnest(p_lanes, p_classes, p_tenants, p_destinations, p_wanted)
      WITH ORDINALITY AS e(lane, service_class, tenant_id, destination_id, wanted, ord)
  ), lease AS MATERIALIZED (
    -- old: due before the resume of a ramp that still runs.
    SELECT d.tenant_id, d.destination_id, count(*)::integer AS n,
           count(*) FILTER (WHERE d.leased_by = p_worker AND d.lost_leases > 0)::integer AS suspects,
           count(*) FILTER (WHERE CASE WHEN v_ramps THEN d.due_at < (
             SELECT q.line FROM sluice.resume_ramp(d.tenant_id, d.destination_id, v_now) q) END)::integer AS old
      FROM sluice.delivery d WHERE d.state = 'leased' AND d.lease_until > v_now
     GROUP BY 1, 2
  ), by_tenant AS MATERIALIZED (SELECT l.tenant_id, sum(l.n)::integer AS n, sum(l.old)::integer AS old FROM lease l GROUP BY 1
  ), guarded AS MATERIALIZED (
    SELECT e.ord, e.lane, e.service_class, e.tenant_id, e.destination_id, e.wanted,
           CASE WHEN t.id IS NULL OR x.id IS NULL OR t.deleted_at IS NOT NULL OR x.deleted_at IS NOT NULL THEN 'deleted'
                WHEN v_control.draining THEN 'region_draining'
                WHEN v_control.claim_owner <> p_owner OR t.claim_owner <> p_owner THEN 'other_owner'
                WHEN t.paused_at IS NOT NULL AND t.pause_until > v_now THEN 'tenant_paused'
                WHEN x.paused_at IS NOT NULL AND x.pause_until > v_now THEN 'destination_paused'
                WHEN x.disabled_at IS NOT NULL THEN 'destination_disabled'
                WHEN s.hold_until > v_now OR p.due_at > v_now THEN 'gate'
                WHEN s.breaker = 'open' AND s.breaker_until > v_now THEN 'breaker' END AS blocker,
           greatest(s.hold_until, p.due_at) AS hold_until, s.breaker_until,
           t.pause_until AS tenant_pause_until, x.pause_until AS destination_pause_until,
           x.rate_per_second, x.rate_burst, r.rate_tat AS stored_tat, r.ramp_tat AS stored_ramp_tat,
           -- Never further ahead than a full burst can bring it: a raised rate counts at once, whatever was spent at the old one.
           greatest(v_now, least(coalesce(r.rate_tat, v_now), v_now + v_ahead + x.rate_burst / x.rate_per_second * interval '1 second')) AS tat,
           -- A gate that has opened lets one probe through until it has an outcome: the delivery that shut it, or one of its
           -- lane, so that siblings spend no attempt on finding out. A breaker whose time has come: one request at a time.
           CASE WHEN s.probing THEN CASE WHEN p.lane <> e.lane OR p.service_class <> e.service_class THEN 0 ELSE 1 END
                WHEN s.breaker = 'open' THEN 1
                ELSE least(cap.own, s.adaptive_limit) END
             - coalesce(l.n, 0) AS destination_room,
           coalesce(s.adaptive_limit < cap.own, false) AS adapted,
           coalesce(s.adaptive_limit IS NOT NULL OR s.breaker = 'open' OR s.failures_since_success > 0 OR s.down_in_row > 0, false) AS watched,
           cap.tenant - coalesce(b.n, 0) AS tenant_room,
           q.line AS ramp_line, q.part AS ramp_part,
           greatest(1, floor(least(cap.own, s.adaptive_limit) * q.part)) - coalesce(l.old, 0) AS old_room,
           greatest(1, floor(cap.tenant * coalesce(q.tenant_part, 1))) - coalesce(b.old, 0) AS tenant_old_room
      FROM entry e
      LEFT JOIN sluice.tenant t ON t.id = e.tenant_id
      LEFT JOIN sluice.destination x ON x.id = e.destination_id AND x.tenant_id = e.tenant_id
      LEFT JOIN sluice.destination_state s ON s.destination_id = e.destination_id
      LEFT JOIN sluice.destination_rate r ON r.destination_id = e.destination_id
      LEFT JOIN lease l ON l.destination_id = e.destination_id AND l.tenant_id = e.tenant_id
      LEFT JOIN by_tenant b ON b.tenant_id = e.tenant_id
     CROSS JOIN LATERAL (
       SELECT coalesce(x.concurrency_limit, v_control.default_destination_concurrency) AS own,
              coalesce(t.concurrency_limit, v_control.default_tenant_concurrency) AS tenant) cap
      LEFT JOIN LATERAL sluice.resume_ramp(e.tenant_id, e.destination_id, v_now) q ON v_ramps
      -- Not for long: a probe that is not claimed within two seconds of its due time (no slot for retries) leaves it to others.
      LEFT JOIN LATERAL (
        -- By id alone, as in finish: with the state in reach the planner walks an index of waiting rows instead.
        SELECT d.lane, d.service_class, d.due_at
          FROM (SELECT * FROM sluice.delivery d WHERE d.id = CASE WHEN s.probing THEN s.hold_delivery_id END OFFSET 0) d
         WHERE d.state <> 'leased' AND d.due_at BETWEEN v_now - interval '2 seconds' AND v_now + interval '1 second') p ON true
  ), rated AS (
    SELECT g.*,
           -- GCRA: n tokens fit while tat + n/rate <= now + burst/rate. A millionth of tolerance for the interval's rounding. Null: no rate.
           CASE WHEN g.rate_per_second IS NOT NULL THEN
             greatest(0, floor(g.rate_burst - extract(epoch FROM g.tat - v_now - v_ahead) * g.rate_per_second + 0.000001))::integer END AS tokens,
           -- A ramp's own tokens, at its part of rate and burst.
           g.rate_per_second * g.ramp_part AS ramp_rate, greatest(1, floor(g.rate_burst * g.ramp_part)) AS ramp_burst
      FROM guarded g
  ), ramped AS (
    SELECT r.*, greatest(v_now, least(coalesce(r.stored_ramp_tat, v_now), v_now + r.ramp_burst / r.ramp_rate * interval '1 second')) AS ramp_tat
      FROM rated r
  ), by_destination AS (
    -- Cumulative over the entries of the call: two entries of one destination share its room and its tokens.
    SELECT r.*, CASE WHEN r.blocker IS NOT NULL THEN 0 ELSE greatest(0, least(r.wanted,
             least(r.destination_room, r.tokens) - coalesce(sum(r.wanted) FILTER (WHERE r.blocker IS NULL AND r.destination_room > 0) OVER
               (PARTITION BY r.destination_id ORDER BY r.ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)))::integer END AS allowed,
           floor(r.ramp_burst - extract(epoch FROM r.ramp_tat - v_now) * r.ramp_rate + 0.000001) AS ramp_tokens
      FROM ramped r
  ), by_tenant_room AS (
    SELECT c.*, greatest(0, least(c.allowed, c.tenant_room - coalesce(sum(c.allowed) OVER
             (PARTITION BY c.tenant_id ORDER BY c.ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)))::integer AS k
      FROM by_destination c
  ), clipped AS MATERIALIZED (
    -- Of k, what may have been due before a resume. Cumulative too.
    SELECT c.*, CASE WHEN c.ramp_line IS NULL THEN c.k ELSE greatest(0, least(c.k,
             least(c.old_room, c.ramp_tokens) - coalesce(sum(c.k) OVER
               (PARTITION BY c.destination_id ORDER BY c.ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0),
             c.tenant_old_room - coalesce(sum(c.k) FILTER (WHERE c.ramp_line IS NOT NULL) OVER
               (PARTITION BY c.tenant_id ORDER BY c.ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0)))::integer END AS old_k
      FROM by_tenant_room c
  ), part AS MATERIALIZED (
    -- A lane's due rows, oldest first; behind a resume first those that became due after it, then the old ones.
    SELECT c.ord, 1 AS nr, c.lane, c.service_class, c.tenant_id, c.destination_id, c.k AS most, c.k, c.ramp_line IS NULL AS old,
           coalesce(c.ramp_line, '-infinity') AS low, v_now AS high FROM clipped c WHERE c.k > 0
    UNION ALL
    SELECT c.ord, 2, c.lane, c.service_class, c.tenant_id, c.destination_id, c.old_k, c.k, true,
           '-infinity', c.ramp_line - interval '1 microsecond' FROM clipped c WHERE c.ramp_line IS NOT NULL AND c.old_k > 0
  ), suspect AS MATERIALIZED (SELECT coalesce(sum(l.suspects), 0) = 0 AS free FROM lease l
  ), found AS MATERIALIZED (
    SELECT c.ord, c.nr, c.k, c.old, c.tenant_id, w.row_id, w.id, w.due_at, w.payload_bytes, w.lost_leases
      FROM part c
     CROSS JOIN LATERAL (
       SELECT d.ctid AS row_id, d.id, d.due_at, d.payload_bytes, d.lost_leases
         FROM sluice.delivery d
        WHERE d.state <> 'leased' AND d.lane = c.lane AND d.service_class = c.service_class
          AND d.tenant_id = c.tenant_id AND d.destination_id = c.destination_id AND d.due_at >= c.low AND d.due_at <= c.high
          AND (d.lost_leases = 0 OR (SELECT free FROM suspect))
          AND (d.replay_batch_id IS NULL OR EXISTS (
            SELECT 1 FROM sluice.replay_batch b WHERE b.id = d.replay_batch_id AND b.state IN ('canary', 'running')))
        ORDER BY d.due_at, d.id LIMIT c.most FOR UPDATE SKIP LOCKED) w
  ), picked AS MATERIALIZED (
    SELECT f.* FROM (SELECT f.*, row_number() OVER (PARTITION BY f.ord ORDER BY f.nr, f.due_at, f.id) AS nth_of_entry FROM found f) f
     WHERE f.nth_of_entry <= f.k
  ), chosen AS MATERIALIZED (
    -- A row with a lost lease goes out one at a time per process, so that a body that kills it takes no neighbour along.
    -- Whose row that is, chance decides for each claim anew: one tenant's slow endpoint must not stand before all others.
    SELECT r.ord, r.row_id, r.old FROM (
      SELECT p.*, sum(p.payload_bytes) OVER (ORDER BY p.ord, p.due_at, p.id) AS bytes,
             row_number() OVER (ORDER BY p.ord, p.due_at, p.id) AS nth,
             row_number() OVER (PARTITION BY p.lost_leases > 0
               ORDER BY CASE WHEN p.lost_leases > 0 THEN hashtext(p.tenant_id::text || v_token::text) END, p.ord, p.due_at, p.id) AS nth_of_kind
        FROM picked p) r
     WHERE (r.bytes <= p_max_bytes OR r.nth = 1) AND (r.lost_leases = 0 OR r.nth_of_kind = 1)
  ), leased AS (
    UPDATE sluice.delivery d
       SET state = 'leased', lease_token = v_token, lease_until = v_until, leased_at = v_now, leased_by = p_worker
      FROM chosen c WHERE d.ctid = c.row_id
    RETURNING d.id, c.ord, c.old
  ), taken AS MATERIALIZED (
    SELECT l.ord, count(*)::integer AS n, count(*) FILTER (WHERE l.old)::integer AS old_n FROM leased l GROUP BY 1
  ), seen AS MATERIALIZED (SELECT p.ord, count(*)::integer AS n FROM picked p GROUP BY 1
  ), counted AS MATERIALIZED (
    -- before: rows that this call has taken for the destination in earlier entries.
    SELECT c.*, coalesce(k.n, 0) AS n, coalesce(k.old_n, 0) AS old_n, coalesce(n.n, 0) AS found,
           coalesce(sum(k.n) OVER (PARTITION BY c.destination_id ORDER BY c.ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before,
           coalesce(sum(k.n) OVER (PARTITION BY c.destination_id), 0) AS all_n,
           coalesce(sum(k.old_n) OVER (PARTITION BY c.destination_id), 0) AS all_old_n
      FROM clipped c LEFT JOIN taken k ON k.ord = c.ord LEFT JOIN seen n ON n.ord = c.ord
  ), spent AS (
    INSERT INTO sluice.destination_rate (destination_id, region, rate_tat, ramp_tat)
    SELECT c.destination_id, v_control.region, min(c.tat) + min(c.all_n) / min(c.rate_per_second) * interval '1 second',
           min(c.ramp_tat) + min(c.all_old_n) / min(c.ramp_rate) * interval '1 second'
      FROM counted c
     WHERE c.rate_per_second IS NOT NULL
     GROUP BY 1
    -- The cut is stored also when nothing was taken: else it would move along with the clock and no token would ever come.
    HAVING min(c.all_n) > 0 OR bool_or(c.stored_tat > c.tat) OR bool_or(c.stored_ramp_tat > c.ramp_tat)
     ORDER BY 1
    -- Only claims write this table, and only one claim runs at a time.
    ON CONFLICT (destination_id) DO UPDATE SET rate_tat = EXCLUDED.rate_tat, ramp_tat = EXCLUDED.ramp_tat
    RETURNING 1
  ), judged AS (
    -- No blocker and fewer rows than wanted means that the lane ran dry.
    SELECT c.*,
           CASE WHEN c.blocker IS NOT NULL THEN c.blocker
                WHEN c.found > c.n THEN 'deferred'
                WHEN c.n < c.k THEN CASE WHEN c.old_k < c.k AND c.old_n = c.old_k AND c.ramp_line IS NOT NULL AND EXISTS (
                  -- What was leased just now still looks as if it waited.
                  SELECT 1 FROM sluice.delivery d
                   WHERE d.state <> 'leased' AND d.lane = c.lane AND d.service_class = c.service_class
                     AND d.tenant_id = c.tenant_id AND d.destination_id = c.destination_id AND d.due_at < c.ramp_line
                   ORDER BY d.due_at, d.id OFFSET c.old_n LIMIT 1) THEN 'resume_ramp' END
                WHEN c.k = c.wanted THEN NULL
                WHEN c.k < c.allowed THEN 'tenant_cap'
                WHEN c.tokens <= c.destination_room THEN 'rate'
                WHEN c.adapted THEN 'adaptive_limit'
                ELSE 'destination_cap' END AS why
      FROM counted c
  ), summary AS (
    SELECT j.ord, j.n, j.why, j.watched,
           CASE j.why
                WHEN 'gate' THEN j.hold_until
                WHEN 'breaker' THEN j.breaker_until
                WHEN 'tenant_paused' THEN j.tenant_pause_until
                WHEN 'destination_paused' THEN j.destination_pause_until
                -- When the next token is there, after what this call has spent of the destination's.
                WHEN 'rate' THEN j.tat + (j.all_n + 1 - j.rate_burst) / j.rate_per_second * interval '1 second'
                WHEN 'resume_ramp' THEN j.ramp_tat + (j.all_old_n + 1 - j.ramp_burst) / j.ramp_rate * interval '1 second' END AS ends_at,
           -- When the token of the entry's first row is there, and so on from there.
           CASE WHEN j.n > 0 THEN j.tat + (j.before + 1 - j.rate_burst) / j.rate_per_second * interval '1 second' END AS starts_at,
           1000 / j.rate_per_second AS gap_ms, j.rate_burst
      FROM judged j
  )
  SELECT v_now, v_token, v_until,
         (SELECT coalesce(array_agg(l.id ORDER BY l.ord, l.id), '{}') FROM leased l),
         coalesce(array_agg(y.n ORDER BY y.ord), '{}'), coalesce(array_agg(y.why ORDER BY y.ord), '{}'),
         coalesce(array_agg(y.ends_at ORDER BY y.ord), '{}'), coalesce(array_agg(y.starts_at ORDER BY y.ord), '{}'),
         coalesce(array_agg(y.gap_ms::double precision ORDER BY y.ord), '{}'), coalesce(array_agg(y.rate_burst ORDER BY y.ord), '{}'),
         coalesce(array_agg(y.watched ORDER BY y.ord), '{}')
    FROM summary y WHERE (SELECT count(*) FROM spent) >= 0;
END
$$;

-- After a control has committed: waits until no claim that predates it can still commit.
-- One statement, so that a caller that is stopped in the middle cannot hold the lock; it gives up after ten seconds.
CREATE FUNCTION sluice.barrier() RETURNS void
LANGUAGE sql SET lock_timeout = '10s' AS $$ SELECT pg_advisory_xact_lock(5301, 1) $$;

-- Says that nothing of these rows was sent: back to the state they came from. Returns how many were still ours.
CREATE FUNCTION sluice.release(p_ids uuid[], p_token uuid) RETURNS integer
LANGUAGE sql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
AS $$
  WITH back AS (
    UPDATE sluice.delivery d
       SET state = CASE WHEN d.attempts = 0 AND d.lane = 'first' THEN 'ready' ELSE 'delayed' END::sluice.delivery_state,
           lease_token = NULL, lease_until = NULL, leased_at = NULL, leased_by = NULL
     WHERE d.id = ANY (p_ids) AND d.lease_token = p_token
    RETURNING 1)
  SELECT count(*)::integer FROM back
$$;

-- Shuts a destination's gate at once, before the finish batch. A request that began before the last gate opened belongs
-- to that same gate (it was claimed before it was shut): it may move the opening later but does not count as one more.
--
-- The gate's columns mean: nothing is claimed before hold_until; from then on, while probing, one request at a time, until
-- one that began after hold_until has an answer that is no limit (finish sets probing = false, consecutive_gates = 0).
-- "Open gate now" is therefore: hold_until = clock_timestamp(), probing left as it is. The destination is asked with one
-- request, whichever is due (the delivery that shut the gate keeps its own due time). hold_until must not become null
-- while probing: nothing could then have begun after it, and the gate would let one at a time through for ever.
--
-- With the gate the adaptive limit falls to 1, so that what waits leaves one request at a time when the probe succeeds
-- (domain/adaptive-limit.ts), unless it is pinned or the request belongs to the gate before.
CREATE FUNCTION sluice.shut_gate(p_destination uuid, p_delivery uuid, p_delay_ms bigint, p_started_at timestamptz,
                                 p_why text, p_status smallint, p_retry_after text)
RETURNS TABLE (hold_until timestamptz, consecutive_gates integer)
LANGUAGE sql VOLATILE
SET enable_seqscan = off
AS $$
  INSERT INTO sluice.destination_state AS s
    (destination_id, region, hold_until, hold_set_at, hold_why, hold_status, hold_retry_after, hold_delivery_id, probing, consecutive_gates,
     adaptive_limit, adaptive_safe_limit, adaptive_why, adaptive_changed_at, adaptive_lowered_at)
  SELECT p_destination, rc.region, clock_timestamp() + p_delay_ms * interval '1 millisecond', clock_timestamp(), p_why, p_status,
         left(p_retry_after, 256), p_delivery, true, 1,
         1, greatest(1, least(x.limit_in_force, n.in_flight) / 2), 'rate_limited', clock_timestamp(), clock_timestamp()
    FROM sluice.region_control rc
   CROSS JOIN LATERAL (
     SELECT least(coalesce((SELECT x.concurrency_limit FROM sluice.destination x WHERE x.id = p_destination), rc.default_destination_concurrency),
                  (SELECT o.adaptive_limit FROM sluice.destination_state o WHERE o.destination_id = p_destination)) AS limit_in_force) x
   CROSS JOIN LATERAL (
     -- Not counted for a sibling, whose number is not used.
     SELECT CASE WHEN EXISTS (SELECT 1 FROM sluice.destination_state o WHERE o.destination_id = p_destination AND p_started_at < o.hold_until) THEN 1
            ELSE (SELECT count(*)::integer FROM sluice.delivery d
                   WHERE d.state = 'leased' AND d.lease_until > clock_timestamp() AND d.destination_id = p_destination) END AS in_flight) n
  ON CONFLICT (destination_id) DO UPDATE SET
    -- The later opening wins, together with what it was set by.
    (hold_until, hold_set_at, hold_why, hold_status, hold_retry_after, hold_delivery_id) = (
      SELECT g.* FROM (VALUES
        (s.hold_until, s.hold_set_at, s.hold_why, s.hold_status, s.hold_retry_after, s.hold_delivery_id),
        (EXCLUDED.hold_until, EXCLUDED.hold_set_at, EXCLUDED.hold_why, EXCLUDED.hold_status, EXCLUDED.hold_retry_after, EXCLUDED.hold_delivery_id)
      ) AS g(hold_until, set_at, why, status, retry_after, delivery_id) ORDER BY g.hold_until DESC NULLS LAST LIMIT 1),
    probing = true, updated_at = clock_timestamp(),
    consecutive_gates = s.consecutive_gates + CASE WHEN s.hold_until IS NULL OR p_started_at >= s.hold_until THEN 1 ELSE 0 END,
    (adaptive_limit, adaptive_safe_limit, adaptive_why, adaptive_changed_at, adaptive_lowered_at) = (
      SELECT a.* FROM (VALUES
        (false, s.adaptive_limit, s.adaptive_safe_limit, s.adaptive_why, s.adaptive_changed_at, s.adaptive_lowered_at),
        (true, EXCLUDED.adaptive_limit, EXCLUDED.adaptive_safe_limit, EXCLUDED.adaptive_why, EXCLUDED.adaptive_changed_at, EXCLUDED.adaptive_lowered_at)
      ) AS v(lowers, adaptive_limit, safe_limit, why, changed_at, lowered_at)
      CROSS JOIN LATERAL (SELECT v.adaptive_limit, v.safe_limit, v.why, v.changed_at, v.lowered_at) a
      WHERE v.lowers = (NOT s.adaptive_pinned AND (s.hold_until IS NULL OR p_started_at >= s.hold_until)
                        AND (s.adaptive_lowered_at IS NULL OR p_started_at >= s.adaptive_lowered_at)))
  RETURNING s.hold_until, s.consecutive_gates
$$;

-- Records outcomes. Everything it writes, and the ids it returns, come only from rows that its own DELETE or UPDATE
-- returned, fenced by (id, lease token): a row that another transaction changed while this waited is not returned.
-- p_rows: a JSON array, at most 500, of the columns below; response bytes in base64, delays in milliseconds.
CREATE FUNCTION sluice.finish(p_rows json)
RETURNS TABLE (id uuid, due_at timestamptz)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz := clock_timestamp();
BEGIN
  IF json_array_length(p_rows) > 500 THEN
    RAISE EXCEPTION 'finish: % rows are more than 500', json_array_length(p_rows) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  RETURN QUERY
  WITH input AS MATERIALIZED (
    SELECT * FROM json_to_recordset(p_rows) AS i(
      id uuid, lease_token uuid, attempt_id uuid, worker_id uuid, started_ms double precision, duration_ms integer,
      outcome text, decision text, reason text, status smallint, error_code text, error_detail text,
      sent boolean, failure boolean, rejection boolean, throttle boolean, opens_gate boolean,
      retry_after_raw text, retry_after_read text, retry_after_asked_ms bigint, retry_after_clamped text, fallback boolean,
      jitter_ms bigint, delay_ms bigint, content_type text, body text, body_bytes bigint, truncated boolean, fingerprint text)
  ), target AS MATERIALIZED (
    -- By id alone, behind OFFSET 0: right after ANALYZE the planner otherwise walks the lease index for every row.
    SELECT i.id AS target_id, i.lease_token AS target_token, i.attempt_id, i.worker_id, to_timestamp(i.started_ms / 1000) AS started_at,
           i.duration_ms, i.outcome, i.decision, i.reason, i.status, i.error_code, i.error_detail, i.sent, CASE WHEN i.sent THEN 1 ELSE 0 END AS tries,
           i.failure, i.rejection, i.throttle, i.opens_gate, i.retry_after_raw, i.retry_after_read, i.retry_after_asked_ms,
           i.retry_after_clamped, i.fallback, i.jitter_ms, i.delay_ms, i.content_type, i.body, i.body_bytes, i.truncated, i.fingerprint,
           d.row_id, d.lane AS old_lane, d.due_at AS old_due_at, d.attempts AS old_attempts
      FROM input i
     CROSS JOIN LATERAL (SELECT d.ctid AS row_id, d.lease_token, d.lane, d.due_at, d.attempts
                           FROM sluice.delivery d WHERE d.id = i.id OFFSET 0) d
     WHERE d.lease_token = i.lease_token
  ), gone AS (
    -- RETURNING carries the outcome along: joining it on again would compare every row with every other.
    DELETE FROM sluice.delivery d USING target t
     WHERE d.ctid = t.row_id AND d.lease_token = t.target_token AND t.decision IN ('delivered', 'dead')
    RETURNING d.*, t.*
  ), kept AS (
    UPDATE sluice.delivery d SET
      state = 'delayed', lane = CASE WHEN d.lane = 'first' THEN 'retry' ELSE d.lane END,
      due_at = v_now + t.delay_ms * interval '1 millisecond',
      attempts = d.attempts + t.tries,
      failures = d.failures + CASE WHEN t.failure THEN 1 ELSE 0 END,
      rejections = d.rejections + CASE WHEN t.rejection THEN 1 ELSE 0 END,
      throttles = d.throttles + CASE WHEN t.throttle THEN 1 ELSE 0 END,
      throttled_ms = d.throttled_ms + CASE WHEN t.throttle THEN t.delay_ms ELSE 0 END,
      lost_leases = 0, last_outcome = t.outcome, last_status = t.status,
      first_attempt_at = coalesce(d.first_attempt_at, t.started_at),
      first_failure_at = coalesce(d.first_failure_at, CASE WHEN t.failure OR t.rejection THEN v_now END),
      lease_token = NULL, lease_until = NULL, leased_at = NULL, leased_by = NULL
      FROM target t
     WHERE d.ctid = t.row_id AND d.lease_token = t.target_token AND t.decision = 'delayed'
    RETURNING d.*, t.*
  ), done AS MATERIALIZED (SELECT * FROM gone UNION ALL SELECT * FROM kept
  ), tried AS (
    INSERT INTO sluice.attempt
      (id, region, delivery_id, tenant_id, destination_id, service_class, lane, cycle, kind, number, worker_id, lease_token, replay_batch_id,
       due_at, started_at, duration_ms, outcome, decision, reason, status, error_code, error_detail, counted_failure,
       retry_after_raw, retry_after_read, retry_after_asked_ms, retry_after_clamped, fallback, jitter_ms, delay_ms, next_due_at,
       response_content_type, response_body, response_bytes, response_truncated)
    SELECT f.attempt_id, f.region, f.id, f.tenant_id, f.destination_id, f.service_class, f.old_lane, f.cycle,
           CASE WHEN f.sent THEN 'http' ELSE 'not_sent' END, f.old_attempts + f.tries, f.worker_id,
           f.target_token, f.replay_batch_id, f.old_due_at, f.started_at, f.duration_ms, f.outcome, f.decision, f.reason,
           f.status, f.error_code, f.error_detail, coalesce(f.failure, false), f.retry_after_raw, f.retry_after_read, f.retry_after_asked_ms,
           f.retry_after_clamped, f.fallback, f.jitter_ms, f.delay_ms, CASE WHEN f.decision = 'delayed' THEN f.due_at END,
           f.content_type, decode(f.body, 'base64'), f.body_bytes, f.truncated
      FROM done f
    RETURNING 1
  ), archived AS (
    INSERT INTO sluice.delivery_archive
      (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class, created_at,
       first_due_at, due_at, state, reason, attempts, failures, throttles, cycle, replay_batch_id, first_attempt_at, last_outcome, last_status)
    SELECT g.id, g.region, g.tenant_id, g.destination_id, g.payload_id, g.payload_bytes, g.event_type, g.idempotency_key, g.traceparent,
           g.service_class, g.created_at, g.first_due_at, g.due_at, 'delivered', NULL, g.attempts + g.tries, g.failures, g.throttles, g.cycle,
           g.replay_batch_id, coalesce(g.first_attempt_at, g.started_at), g.outcome, g.status
      FROM gone g WHERE g.decision = 'delivered'
    RETURNING 1
  ), died AS (
    INSERT INTO sluice.dead_letter
      (id, region, tenant_id, destination_id, payload_id, payload_bytes, event_type, idempotency_key, traceparent, service_class, created_at,
       first_due_at, due_at, reason, fingerprint, attempts, failures, rejections, throttles, throttled_ms, lost_leases, cycle, replay_batch_id,
       first_attempt_at, first_failure_at, last_failure_at, last_outcome, last_status, last_detail)
    SELECT g.id, g.region, g.tenant_id, g.destination_id, g.payload_id, g.payload_bytes, g.event_type, g.idempotency_key, g.traceparent,
           g.service_class, g.created_at, g.first_due_at, g.due_at, g.reason, g.fingerprint, g.attempts + g.tries,
           g.failures + CASE WHEN g.failure THEN 1 ELSE 0 END, g.rejections + CASE WHEN g.rejection THEN 1 ELSE 0 END,
           g.throttles + CASE WHEN g.throttle THEN 1 ELSE 0 END,
           g.throttled_ms + CASE WHEN g.throttle THEN coalesce(g.delay_ms, 0) ELSE 0 END,
           g.lost_leases, g.cycle, g.replay_batch_id, CASE WHEN g.sent THEN coalesce(g.first_attempt_at, g.started_at) ELSE g.first_attempt_at END,
           coalesce(g.first_failure_at, v_now), v_now, g.outcome, g.status, g.error_detail
      FROM gone g WHERE g.decision = 'dead'
    RETURNING fingerprint, region
  ), grouped AS (
    INSERT INTO sluice.dead_letter_group (fingerprint, region)
    SELECT DISTINCT d.fingerprint, d.region FROM died d ORDER BY 1
    ON CONFLICT (fingerprint) DO NOTHING
    RETURNING 1
  ), probed AS MATERIALIZED (
    SELECT f.destination_id, max(f.started_at) AS started_at FROM done f WHERE f.opens_gate GROUP BY 1
  ), shut AS MATERIALIZED (
    SELECT s.destination_id FROM sluice.destination_state s
     WHERE s.probing AND EXISTS (SELECT 1 FROM probed p WHERE p.destination_id = s.destination_id AND p.started_at >= s.hold_until)
       AND s.destination_id IN (SELECT p.destination_id FROM probed p)
     ORDER BY s.destination_id FOR UPDATE
  ), opened AS (
    UPDATE sluice.destination_state s SET probing = false, consecutive_gates = 0, updated_at = v_now
      FROM shut h WHERE s.destination_id = h.destination_id
    RETURNING 1
  )
  SELECT f.id, f.due_at FROM done f
   WHERE (SELECT count(*) FROM tried) + (SELECT count(*) FROM archived) + (SELECT count(*) FROM grouped) + (SELECT count(*) FROM opened) >= 0;
END
$$;
