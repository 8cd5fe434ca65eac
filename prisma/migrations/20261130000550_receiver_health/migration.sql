-- What outcomes say about a destination, apart from their deliveries: adaptive limit, breaker, auto-disable. The rules stand
-- in domain/adaptive-limit.ts and domain/breaker.ts; a test compares. Workers report only trouble, and successes of
-- destinations that have had some: an ordinary success never comes here.
--
-- What must never happen here: a decision from a process's own memory (the stored row decides, under its lock), a pinned
-- limit that moves, a 429 that counts towards a breaker or a disabling.

-- p_rows: a JSON array, at most 200, one object for each destination; times in milliseconds of the database's clock:
--   succeeded_ms: its last 2xx. failures, first_failure_ms: failures after that.
--   alive_ms: its last answer below 500. downs, first_down_ms, last_down_started_ms, down_why: requests without one after that.
--   timeout_started_ms: latest start of a request that timed out. drain_gained: more successes per second than before.
--   service_ms: mean duration of its successes.
--   round_since_ms, round_successes: since when work waited behind the adaptive limit without trouble, and successes since.
-- p_random: in [0, 1), for the jitter of a breaker's time.
CREATE FUNCTION sluice.note_health(p_rows json, p_random double precision)
RETURNS TABLE (destination_id uuid, breaker text, breaker_until timestamptz, breaker_changed boolean,
               adaptive_limit integer, adaptive_changed_at timestamptz, adaptive_moved boolean, to_disable boolean)
LANGUAGE plpgsql VOLATILE
SET enable_seqscan = off
AS $$
#variable_conflict use_column
DECLARE
  v_now timestamptz;
  v_control sluice.region_control;
  r record;
  s sluice.destination_state;
  old sluice.destination_state;
BEGIN
  IF json_array_length(p_rows) > 200 THEN
    RAISE EXCEPTION 'note_health: % rows are more than 200', json_array_length(p_rows) USING ERRCODE = 'invalid_parameter_value';
  END IF;
  SELECT * INTO STRICT v_control FROM sluice.region_control;
  -- Rows are locked in the order of their ids, as finish does.
  FOR r IN
    SELECT i.destination_id, i.failures, i.downs, i.down_why, coalesce(i.drain_gained, false) AS drain_gained, i.service_ms, i.round_successes,
           to_timestamp(i.succeeded_ms / 1000) AS succeeded_at, to_timestamp(i.first_failure_ms / 1000) AS first_failure_at,
           to_timestamp(i.alive_ms / 1000) AS alive_at, to_timestamp(i.first_down_ms / 1000) AS first_down_at,
           to_timestamp(i.last_down_started_ms / 1000) AS last_down_started_at,
           to_timestamp(i.timeout_started_ms / 1000) AS timeout_started_at, to_timestamp(i.round_since_ms / 1000) AS round_since,
           coalesce(x.concurrency_limit, v_control.default_destination_concurrency) AS cap, x.rate_per_second, x.disabled_at
      FROM json_to_recordset(p_rows) AS i(
        destination_id uuid, succeeded_ms double precision, failures integer, first_failure_ms double precision,
        alive_ms double precision, downs integer, first_down_ms double precision, last_down_started_ms double precision, down_why text,
        timeout_started_ms double precision, drain_gained boolean, service_ms double precision,
        round_since_ms double precision, round_successes integer)
      JOIN sluice.destination x ON x.id = i.destination_id
     ORDER BY i.destination_id
  LOOP
    INSERT INTO sluice.destination_state (destination_id, region) VALUES (r.destination_id, v_control.region) ON CONFLICT DO NOTHING;
    SELECT * INTO s FROM sluice.destination_state d WHERE d.destination_id = r.destination_id FOR UPDATE;
    v_now := clock_timestamp();
    old := s;

    -- Auto-disable: a success breaks the row of failures, unless it is older than the row.
    IF r.succeeded_at IS NOT NULL AND (s.failing_since IS NULL OR r.succeeded_at >= s.failing_since) THEN
      s.failures_since_success := 0;
      s.failing_since := NULL;
      s.last_success_at := greatest(s.last_success_at, r.succeeded_at);
    END IF;
    IF r.failures > 0 AND r.disabled_at IS NULL THEN
      s.failures_since_success := s.failures_since_success + r.failures;
      s.failing_since := coalesce(s.failing_since, r.first_failure_at);
    END IF;

    -- Breaker: an answer closes it, unless it is older than the row of requests without one.
    IF r.alive_at IS NOT NULL AND (s.down_since IS NULL OR r.alive_at >= s.down_since) THEN
      s.breaker := 'closed';
      s.breaker_until := NULL;
      s.breaker_opens := 0;
      s.down_in_row := 0;
      s.down_since := NULL;
    END IF;
    IF r.downs > 0 THEN
      s.down_in_row := s.down_in_row + r.downs;
      s.down_since := coalesce(s.down_since, r.first_down_at);
      IF (s.breaker = 'open' AND r.last_down_started_at >= s.breaker_until)
         OR (s.breaker = 'closed' AND s.down_in_row >= 20 AND v_now - s.down_since >= interval '30 seconds') THEN
        s.breaker_opened_at := CASE WHEN s.breaker = 'open' THEN s.breaker_opened_at ELSE v_now END;
        s.breaker := 'open';
        s.breaker_why := left(r.down_why, 100);
        s.breaker_opens := s.breaker_opens + 1;
        s.breaker_until := v_now + least(5000 * 2 ^ least(s.breaker_opens - 1, 20), 300000) * (0.8 + 0.4 * p_random) * interval '1 millisecond';
      END IF;
    END IF;

    -- Adaptive limit: a breaker that closes, timeouts without a gain, or a clean round.
    IF s.adaptive_pinned THEN
      NULL;
    ELSIF old.breaker = 'open' AND s.breaker = 'closed' THEN
      s.adaptive_safe_limit := coalesce(s.adaptive_safe_limit, greatest(1, least(r.cap, s.adaptive_limit) / 2));
      s.adaptive_limit := 1;
      s.adaptive_why := 'breaker';
      s.adaptive_lowered_at := v_now;
      s.adaptive_changed_at := v_now;
    ELSIF r.timeout_started_at IS NOT NULL AND NOT r.drain_gained AND r.timeout_started_at >= coalesce(s.adaptive_lowered_at, '-infinity') THEN
      s.adaptive_limit := greatest(1, least(
        least(r.cap, old.adaptive_limit) / 2,
        -- A limit that begins here begins below what the declared rate keeps in flight.
        CASE WHEN old.adaptive_limit IS NULL AND r.rate_per_second * r.service_ms IS NOT NULL
             THEN greatest(1, floor(r.rate_per_second * r.service_ms / 1000)) - 1 END))::integer;
      s.adaptive_safe_limit := least(s.adaptive_safe_limit, s.adaptive_limit);
      s.adaptive_why := 'timeout';
      s.adaptive_lowered_at := v_now;
      s.adaptive_changed_at := v_now;
    ELSIF r.round_successes >= s.adaptive_limit AND r.round_since >= coalesce(s.adaptive_changed_at, '-infinity')
          AND v_now - r.round_since >= interval '500 milliseconds' AND s.breaker = 'closed'
          AND NOT s.probing AND r.timeout_started_at IS NULL THEN
      s.adaptive_limit := CASE WHEN old.adaptive_limit < s.adaptive_safe_limit THEN least(old.adaptive_limit * 2, s.adaptive_safe_limit)
                               ELSE old.adaptive_limit + greatest(1, r.cap / 16) END;
      s.adaptive_safe_limit := greatest(s.adaptive_safe_limit, old.adaptive_limit);
      IF s.adaptive_limit >= r.cap THEN
        s.adaptive_limit := NULL;
      END IF;
      s.adaptive_changed_at := v_now;
    END IF;

    IF s IS DISTINCT FROM old THEN
      UPDATE sluice.destination_state d SET
        failures_since_success = s.failures_since_success, failing_since = s.failing_since, last_success_at = s.last_success_at,
        breaker = s.breaker, breaker_until = s.breaker_until, breaker_opened_at = s.breaker_opened_at, breaker_opens = s.breaker_opens,
        breaker_why = s.breaker_why, down_in_row = s.down_in_row, down_since = s.down_since,
        adaptive_limit = s.adaptive_limit, adaptive_safe_limit = s.adaptive_safe_limit, adaptive_why = s.adaptive_why,
        adaptive_changed_at = s.adaptive_changed_at, adaptive_lowered_at = s.adaptive_lowered_at, updated_at = v_now
       WHERE d.destination_id = r.destination_id;
    END IF;
    RETURN QUERY SELECT r.destination_id, s.breaker, s.breaker_until, s.breaker <> old.breaker OR s.breaker_opens > old.breaker_opens,
      s.adaptive_limit, s.adaptive_changed_at, s.adaptive_limit IS DISTINCT FROM old.adaptive_limit,
      r.disabled_at IS NULL AND s.failures_since_success >= 20 AND v_now - s.failing_since >= interval '24 hours';
  END LOOP;
END
$$;

-- Disables a destination by the rules of the product and writes the audit row in the same statement; held work stays. Once:
-- returns false when it is disabled already, or when p_automatic and its row of failures is not (any more) long enough.
CREATE FUNCTION sluice.disable_destination(
  p_destination uuid, p_reason text, p_automatic boolean, p_actor text, p_audit_id uuid, p_public_id text, p_correlation text)
RETURNS boolean
LANGUAGE sql VOLATILE AS $$
  WITH off AS (
    UPDATE sluice.destination x
       SET disabled_at = clock_timestamp(), disabled_reason = p_reason, disabled_by = p_actor, version = x.version + 1
     WHERE x.id = p_destination AND x.disabled_at IS NULL AND x.deleted_at IS NULL
       AND (NOT p_automatic OR EXISTS (
         SELECT 1 FROM sluice.destination_state s WHERE s.destination_id = x.id AND s.failures_since_success >= 20
            AND s.failing_since <= clock_timestamp() - interval '24 hours'))
    RETURNING x.id, x.region, x.tenant_id, x.disabled_at, x.version
  ), evidence AS (
    SELECT s.failures_since_success, s.failing_since, s.last_success_at FROM sluice.destination_state s WHERE s.destination_id = p_destination
  ), audited AS (
    INSERT INTO sluice.operator_action
      (id, region, actor, actor_role, action, target_kind, target_id, tenant_id, reason, before, after, result, correlation_id)
    SELECT p_audit_id, o.region, p_actor, 'system', 'destination.disable', 'destination', p_public_id, o.tenant_id, p_reason,
           json_build_object('disabled', false, 'version', o.version - 1, 'failures', e.failures_since_success,
                             'failingSince', e.failing_since, 'lastSuccess', e.last_success_at),
           json_build_object('disabled', true, 'version', o.version, 'disabledReason', p_reason), 'done', p_correlation
      FROM off o LEFT JOIN evidence e ON true
    RETURNING 1
  ), cleared AS (
    -- After enabling, the row of failures begins anew.
    UPDATE sluice.destination_state s SET failures_since_success = 0, failing_since = NULL, updated_at = clock_timestamp()
      FROM off o WHERE s.destination_id = o.id
    RETURNING 1
  )
  SELECT (SELECT count(*) FROM audited) > 0 AND (SELECT count(*) FROM cleared) >= 0
$$;
