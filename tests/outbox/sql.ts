/** What the outbox's tests read beside Prisma's models. */

/** One row: keys, payloads, deliveries. */
export const COUNT_WRITTEN = `
SELECT (SELECT count(*) FROM sluice.delivery_key)::integer AS keys,
       (SELECT count(*) FROM sluice.payload)::integer AS payloads,
       (SELECT count(*) FROM sluice.delivery)::integer AS deliveries`;

/** $1: id of a payload. */
export const READ_BODY = "SELECT body FROM sluice.payload WHERE id = $1";
