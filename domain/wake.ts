/**
 * The channel of hints: who has committed due work notifies it, each worker listens. It carries no data, and a lost
 * notification costs one probe, never a delivery.
 */
export const WAKE_CHANNEL = "sluice_wake";

/** What a hint says when a person has changed a control: limits and blockers that are remembered are old. */
export const CONTROLS_TOPIC = "controls";
