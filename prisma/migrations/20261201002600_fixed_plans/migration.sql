-- One plan for the claim and the finish, whoever calls them. The claim takes arrays; Postgres takes an array of unknown length to be ten
-- long, prefers what it knows, and planned the whole statement anew in every call: five of the six milliseconds of a claim of one
-- row. The switches that these functions have already leave one way through the rows, whatever is asked. Workers say the same for their
-- sessions (db/queue/session.ts); a pooler may drop that, and another program that works on these rows does not know of it.
-- Whoever replaces one of the functions has to name this with its other switches: a replacement forgets what was set here.
ALTER FUNCTION sluice.claim(text, uuid, integer, bigint, sluice.lane[], sluice.service_class[], uuid[], uuid[], integer[], uuid)
  SET plan_cache_mode = force_generic_plan;
ALTER FUNCTION sluice.finish(json) SET plan_cache_mode = force_generic_plan;
