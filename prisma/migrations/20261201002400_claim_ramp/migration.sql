-- The claim again: a resume that is committed while a claim is on its way has its ramp from that claim on. Before, the claim had noted the
-- time and looked for ramps, then saw the tenant without its pause, and took old work at the whole cap, once. Replaces sluice.claim of
-- 20261130001600_engine; its signature and all else of it are the same.

-- A resume later than the claim's time begins its ramp at once.
CREATE OR REPLACE FUNCTION sluice.resume_part(p_resumed_at timestamptz, p_share numeric, p_now timestamptz) RETURNS numeric
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN p_now < p_resumed_at + interval '10 minutes' THEN
           nullif(least(1, coalesce(p_share, 0.2) * 2 ^ greatest(0, floor(extract(epoch FROM p_now - p_resumed_at) / 60))), 1) END
$$;

-- Returned by claim as ONE small row: while Postgres sends a result the transaction, and with it the lock, is still
-- open, so a client that stops reading must find its whole answer already in the socket. Bodies are read afterwards.
--   p_token: fresh for each call, drawn by the caller, so that a call whose answer was lost can be given back by it.
--   entry_start, entry_gap_ms, entry_burst: when the token of the entry's first row is there, how long after it each further one,
--     and the burst; null without a rate. A token may be taken up to 100 ms before it is there, so that the way to the socket costs the
--     rate nothing; the request must not start before it.
--   entry_watched: the destination has an adaptive limit, an open breaker or failures in a row: its successes must be reported.
CREATE OR REPLACE FUNCTION sluice.claim(
  p_owner text, p_worker uuid, p_lease_ms integer, p_max_bytes bigint,
  p_lanes sluice.lane[], p_classes sluice.service_class[], p_tenants uuid[], p_destinations uuid[], p_wanted integer[], p_token uuid)
RETURNS TABLE (claimed_at timestamptz, token uuid, until timestamptz, ids uuid[],
               entry_taken integer[], entry_blocker text[], entry_until timestamptz[],
               entry_start timestamptz[], entry_gap_ms double precision[], entry_burst integer[], entry_watched boolean[])
LANGUAGE plpgsql VOLATILE
SET lock_timeout = '1s' SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off SET enable_bitmapscan = off
AS $$
DECLARE
  v_now timestamptz;
  v_until timestamptz;
  v_token constant uuid := p_token;
  v_ahead interval;
  v_token_life interval;
  v_token_life_share double precision;
  v_control sluice.region_control;
BEGIN
  IF p_token IS NULL THEN
    RAISE EXCEPTION 'claim: needs a fresh token' USING ERRCODE = 'invalid_parameter_value';
  END IF;
  IF p_lease_ms NOT BETWEEN 1000 AND 3600000 OR cardinality(p_lanes) > 256 THEN
    RAISE EXCEPTION 'claim: lease of % ms or % entries is out of bounds', p_lease_ms, cardinality(p_lanes) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  -- At a stricter level the statements below would share one snapshot, taken before the lock.
  IF current_setting('transaction_isolation') <> 'read committed' THEN
    RAISE EXCEPTION 'claim: needs READ COMMITTED, not %', current_setting('transaction_isolation') USING ERRCODE = 'invalid_transaction_state';
  END IF;
  PERFORM sluice.limit_transaction();
  -- One claim at a time in the region. The statements below take their snapshots after the lock is ours, so they see
  -- every claim before this one. Two-integer form; migrations use the one-bigint form.
  PERFORM pg_advisory_xact_lock(5301, 1);
  v_now := clock_timestamp();
  v_until := v_now + p_lease_ms * interval '1 millisecond';
  SELECT * INTO STRICT v_control FROM sluice.region_control;
  SELECT q.ahead, q.token_life, q.token_life_share INTO STRICT v_ahead, v_token_life, v_token_life_share FROM sluice.rate_constants() q;

  RETURN QUERY
  WITH lately AS MATERIALIZED (
    -- Whether anything at all was resumed lately: only then leases are told apart by their due time. Asked in this statement, since a
    -- resume may be committed after any earlier one; for the same reason it may be later than v_now. A pause that runs is none.
    SELECT EXISTS (SELECT 1 FROM sluice.tenant t
                    WHERE greatest(t.resumed_at, t.pause_until) >= v_now - interval '10 minutes' AND (t.pause_until IS NULL OR t.pause_until <= v_now))
        OR EXISTS (SELECT 1 FROM sluice.destination x
                    WHERE greatest(x.resumed_at, x.pause_until) >= v_now - interval '10 minutes' AND (x.pause_until IS NULL OR x.pause_until <= v_now)) AS resumed
  ), lease AS MATERIALIZED (
    -- old: due before the resume of a ramp that still runs.
    SELECT d.tenant_id, d.destination_id, count(*)::integer AS n,
           count(*) FILTER (WHERE d.leased_by = p_worker AND d.lost_leases > 0)::integer AS suspects,
           count(*) FILTER (WHERE CASE WHEN (SELECT r.resumed FROM lately r) THEN d.due_at < (
             SELECT q.line FROM sluice.resume_ramp(d.tenant_id, d.destination_id, v_now) q) END)::integer AS old
      FROM sluice.delivery d WHERE d.state = 'leased' AND d.lease_until > v_now
     GROUP BY 1, 2
  ), entry AS MATERIALIZED (
    -- Entries and leases sorted together, so that each entry learns how many leases its destination and its tenant have. A join of
    -- the two would be planned for a handful of each and then compare hundreds with hundreds, in every claim.
    SELECT w.* FROM (
      SELECT u.*, sum(u.n) OVER destination AS leases, sum(u.old) OVER destination AS old_leases,
             sum(u.n) OVER tenant AS tenant_leases, sum(u.old) OVER tenant AS tenant_old_leases, sum(u.suspects) OVER () AS all_suspects
        FROM (SELECT e.lane, e.service_class, e.tenant_id, e.destination_id, e.wanted, e.ord, 0 AS n, 0 AS suspects, 0 AS old
                FROM unnest(p_lanes, p_classes, p_tenants, p_destinations, p_wanted)
                  WITH ORDINALITY AS e(lane, service_class, tenant_id, destination_id, wanted, ord)
              UNION ALL
              SELECT NULL, NULL, l.tenant_id, l.destination_id, NULL, NULL, l.n, l.suspects, l.old FROM lease l) u
      WINDOW destination AS (PARTITION BY u.tenant_id, u.destination_id), tenant AS (PARTITION BY u.tenant_id)) w
     WHERE w.ord IS NOT NULL
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
           least(coalesce(r.rate_tat, v_now), v_now + v_ahead + x.rate_burst / x.rate_per_second * interval '1 second') AS own_tat,
           -- A token may be used late, for as long as it lives (worker/pacer.ts). Only its own process knows by how much, so for every
           -- other process the next token is there that much later.
           CASE WHEN r.rate_owner <> p_worker THEN greatest(v_token_life, v_token_life_share / x.rate_per_second * interval '1 second')
                ELSE interval '0' END AS handover,
           -- A gate that has opened lets one probe through until it has an outcome: the delivery that shut it, or one of its
           -- lane, so that siblings spend no attempt on finding out. A breaker whose time has come: one request at a time.
           CASE WHEN s.probing THEN CASE WHEN p.lane <> e.lane OR p.service_class <> e.service_class THEN 0 ELSE 1 END
                WHEN s.breaker = 'open' THEN 1
                ELSE least(cap.own, s.adaptive_limit) END
             - e.leases AS destination_room,
           coalesce(s.adaptive_limit < cap.own, false) AS adapted,
           coalesce(s.adaptive_limit IS NOT NULL OR s.breaker = 'open' OR s.failures_since_success > 0 OR s.down_in_row > 0, false) AS watched,
           cap.tenant - e.tenant_leases AS tenant_room, e.all_suspects,
           q.line AS ramp_line, q.part AS ramp_part,
           greatest(1, floor(least(cap.own, s.adaptive_limit) * q.part)) - e.old_leases AS old_room,
           greatest(1, floor(cap.tenant * coalesce(q.tenant_part, 1))) - e.tenant_old_leases AS tenant_old_room
      FROM entry e
      LEFT JOIN sluice.tenant t ON t.id = e.tenant_id
      LEFT JOIN sluice.destination x ON x.id = e.destination_id AND x.tenant_id = e.tenant_id
      LEFT JOIN sluice.destination_state s ON s.destination_id = e.destination_id
      LEFT JOIN sluice.destination_rate r ON r.destination_id = e.destination_id
     CROSS JOIN LATERAL (
       SELECT coalesce(x.concurrency_limit, v_control.default_destination_concurrency) AS own,
              coalesce(t.concurrency_limit, v_control.default_tenant_concurrency) AS tenant) cap
      -- Behind OFFSET 0 the condition is looked at once; as a condition of the join it would be, behind each entry's ramp.
      LEFT JOIN LATERAL (SELECT q.* FROM sluice.resume_ramp(e.tenant_id, e.destination_id, v_now) q WHERE (SELECT r.resumed FROM lately r) OFFSET 0) q ON true
      -- Not for long: a probe that is not claimed within two seconds of its due time (no slot for retries) leaves it to others.
      LEFT JOIN LATERAL (
        -- By id alone, as in finish: with the state in reach the planner walks an index of waiting rows instead.
        SELECT d.lane, d.service_class, d.due_at
          FROM (SELECT * FROM sluice.delivery d WHERE d.id = CASE WHEN s.probing THEN s.hold_delivery_id END OFFSET 0) d
         WHERE d.state <> 'leased' AND d.due_at BETWEEN v_now - interval '2 seconds' AND v_now + interval '1 second') p ON true
  ), handed AS (
    SELECT g.*, greatest(v_now, g.own_tat + g.handover) AS tat FROM guarded g
  ), rated AS (
    SELECT g.*,
           -- GCRA: n tokens fit while tat + n/rate <= now + burst/rate. A millionth of tolerance for the interval's rounding. Null: no rate.
           CASE WHEN g.rate_per_second IS NOT NULL THEN
             greatest(0, floor(g.rate_burst - extract(epoch FROM g.tat - v_now - v_ahead) * g.rate_per_second + 0.000001))::integer END AS tokens,
           -- A ramp's own tokens, at its part of rate and burst.
           g.rate_per_second * g.ramp_part AS ramp_rate, greatest(1, floor(g.rate_burst * g.ramp_part)) AS ramp_burst
      FROM handed g
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
    SELECT c.ord, 1 AS nr, c.lane, c.service_class, c.tenant_id, c.destination_id, c.all_suspects, c.k AS most, c.k, c.ramp_line IS NULL AS old,
           coalesce(c.ramp_line, '-infinity') AS low, v_now AS high FROM clipped c WHERE c.k > 0
    UNION ALL
    SELECT c.ord, 2, c.lane, c.service_class, c.tenant_id, c.destination_id, c.all_suspects, c.old_k, c.k, true,
           '-infinity', c.ramp_line - interval '1 microsecond' FROM clipped c WHERE c.ramp_line IS NOT NULL AND c.old_k > 0
  ), found AS MATERIALIZED (
    SELECT c.ord, c.nr, c.k, c.old, c.tenant_id, w.row_id, w.id, w.due_at, w.payload_bytes, w.lost_leases
      FROM part c
     CROSS JOIN LATERAL (
       SELECT d.ctid AS row_id, d.id, d.due_at, d.payload_bytes, d.lost_leases
         FROM sluice.delivery d
        WHERE d.state <> 'leased' AND d.lane = c.lane AND d.service_class = c.service_class
          AND d.tenant_id = c.tenant_id AND d.destination_id = c.destination_id AND d.due_at >= c.low AND d.due_at <= c.high
          AND (d.lost_leases = 0 OR c.all_suspects = 0)
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
  ), took AS MATERIALIZED (
    -- By the entry's place, as arrays: rows taken, old ones among them, rows found. No join, as above.
    SELECT array_agg(o.n ORDER BY o.ord) AS n, array_agg(o.old_n ORDER BY o.ord) AS old_n, array_agg(o.found ORDER BY o.ord) AS found
      FROM (SELECT r.ord, sum(r.n)::integer AS n, sum(r.old_n)::integer AS old_n, sum(r.found)::integer AS found
              FROM (SELECT e.ord, 0 AS n, 0 AS old_n, 0 AS found FROM entry e
                    UNION ALL SELECT l.ord, 1, l.old::integer, 0 FROM leased l
                    UNION ALL SELECT p.ord, 0, 0, 1 FROM picked p) r
             GROUP BY 1) o
  ), given AS (
    SELECT c.*, (SELECT k.n FROM took k)[c.ord::integer] AS n, (SELECT k.old_n FROM took k)[c.ord::integer] AS old_n, (SELECT k.found FROM took k)[c.ord::integer] AS found
      FROM clipped c
  ), counted AS MATERIALIZED (
    -- before: rows that this call has taken for the destination in earlier entries.
    SELECT g.*,
           coalesce(sum(g.n) OVER (PARTITION BY g.destination_id ORDER BY g.ord ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before,
           sum(g.n) OVER (PARTITION BY g.destination_id) AS all_n, sum(g.old_n) OVER (PARTITION BY g.destination_id) AS all_old_n
      FROM given g
  ), spent AS (
    INSERT INTO sluice.destination_rate (destination_id, region, rate_tat, rate_owner, ramp_tat)
    SELECT c.destination_id, v_control.region,
           CASE WHEN min(c.all_n) > 0 THEN min(c.tat) + min(c.all_n) / min(c.rate_per_second) * interval '1 second'
                ELSE greatest(v_now, min(c.own_tat)) END,
           CASE WHEN min(c.all_n) > 0 THEN p_worker END, min(c.ramp_tat) + min(c.all_old_n) / min(c.ramp_rate) * interval '1 second'
      FROM counted c
     WHERE c.rate_per_second IS NOT NULL
     GROUP BY 1
    -- The cut is stored also when nothing was taken: else it would move along with the clock and no token would ever come.
    HAVING min(c.all_n) > 0 OR bool_or(c.stored_tat > greatest(v_now, c.own_tat)) OR bool_or(c.stored_ramp_tat > c.ramp_tat)
     ORDER BY 1
    -- Only claims write this table, and only one claim runs at a time.
    ON CONFLICT (destination_id) DO UPDATE SET rate_tat = EXCLUDED.rate_tat, ramp_tat = EXCLUDED.ramp_tat,
      rate_owner = coalesce(EXCLUDED.rate_owner, destination_rate.rate_owner)
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
