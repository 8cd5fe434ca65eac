-- Attempts are looked for by when they were recorded and when they began, in BRIN indexes. A range of pages without a summary is read
-- whole by every look, and only vacuum makes summaries: between two vacuums that can be a day's attempts, every few seconds.
--
-- Summarises the new ranges of the days that get rows now, and of the default partition. autosummarize is no way: its requests queue
-- up behind autovacuum's workers, and beyond 256 of them each is a line in the server's log.
-- Returns how many ranges it summarised; 0 also when another process is at it.
CREATE FUNCTION sluice.summarize_attempts() RETURNS integer
LANGUAGE plpgsql VOLATILE
-- Shorter than deadlock_timeout: whoever waits longer for a vacuum of the partition makes it give up.
SET lock_timeout = '200ms'
AS $$
DECLARE
  v_today constant text := to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYYMMDD');
  -- Behind midnight the day before still gets the attempts that began in it.
  v_before constant text := to_char((clock_timestamp() - interval '1 hour') AT TIME ZONE 'UTC', 'YYYYMMDD');
  v_index regclass;
  v_ranges integer := 0;
BEGIN
  -- (5301, 1) is the claim's, (5301, 2) the partitions'.
  IF NOT pg_try_advisory_xact_lock(5301, 3) THEN
    RETURN 0;
  END IF;
  FOR v_index IN
    SELECT i.indexrelid
      FROM pg_index i JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_am m ON m.oid = x.relam
     WHERE m.amname = 'brin' AND x.relkind = 'i'
       AND i.indrelid IN (to_regclass('sluice.attempt_' || v_today), to_regclass('sluice.attempt_' || v_before), to_regclass('sluice.attempt_default'))
     ORDER BY 1
  LOOP
    BEGIN
      v_ranges := v_ranges + brin_summarize_new_values(v_index);
    EXCEPTION WHEN lock_not_available THEN
      -- A vacuum is at it, which summarises by itself.
      CONTINUE;
    END;
  END LOOP;
  RETURN v_ranges;
END
$$;
