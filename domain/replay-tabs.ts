/** The tabs of the list of replay batches, and which states stand in each. Pure, and small: browsers read it too. */
import type { ReplayState } from "./replay.ts";

export const REPLAY_TABS = ["needs_review", "running", "drafts", "finished"] as const;
export type ReplayTab = (typeof REPLAY_TABS)[number];

/** Every state is in exactly one tab. What was approved and has not ended is running, also before its start and in a pause. */
export const TAB_STATES: Readonly<Record<ReplayTab, readonly ReplayState[]>> = {
  needs_review: ["in_review"],
  running: ["approved", "canary", "canary_hold", "running", "paused", "stopping"],
  drafts: ["draft"],
  finished: ["completed", "stopped", "failed", "rejected", "expired", "cancelled"],
};
