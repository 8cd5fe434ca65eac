/** The bounds of one call of the outbox. They are checked before anything is sent to the database. */

/** Deliveries of one call: inputs times their destinations. */
export const MAX_BATCH_DELIVERIES = 500;
/** Bytes of all bodies of one call, so that one statement never carries more than Postgres and the wire like. */
export const MAX_BATCH_BODY_BYTES = 16 * 1024 * 1024;
/** Largest body unless the caller configures another bound. */
export const DEFAULT_MAX_BODY_BYTES = 256 * 1024;
/** Nobody can configure more: the table refuses it. */
export const HARD_MAX_BODY_BYTES = 1024 * 1024;
/** How far ahead a delivery may be planned: keys are kept this long. */
export const MAX_DELAY_MS = 90 * 24 * 60 * 60 * 1000;
export const MAX_CONTENT_TYPE_CHARS = 255;
export const MAX_EVENT_TYPE_CHARS = 128;
