/** Why work is held apart, in words. The codes are those of `sluice.queue_age`. */
export const HELD_WORDS: Readonly<Record<string, string>> = {
  region_draining: "claims stopped",
  tenant_paused: "tenant paused",
  destination_paused: "destination paused",
  destination_disabled: "destination disabled",
};
