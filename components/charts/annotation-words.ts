/** What people did, in the words that stand at a line of a chart and in the list below it. */
const WORDS: Readonly<Record<string, { short: string; long: string }>> = {
  "tenant.pause": { short: "pause", long: "Tenant paused" },
  "tenant.resume": { short: "resume", long: "Tenant resumed" },
  "tenant.limits": { short: "limit", long: "Tenant limit changed" },
  "tenant.weight": { short: "weight", long: "Tenant weight changed" },
  "destination.pause": { short: "pause", long: "Destination paused" },
  "destination.resume": { short: "resume", long: "Destination resumed" },
  "destination.limits": { short: "limit", long: "Destination limit changed" },
  "destination.disable": { short: "disable", long: "Destination disabled" },
  "destination.enable": { short: "enable", long: "Destination enabled" },
  "destination.open_gate": { short: "gate", long: "Gate opened by hand" },
  "destination.pin_adaptive": { short: "pin", long: "Adaptive limit pinned" },
  "destination.unpin_adaptive": { short: "unpin", long: "Adaptive limit unpinned" },
  "region.stop_claims": { short: "claims off", long: "Claims stopped" },
  "region.start_claims": { short: "claims on", long: "Claims started" },
  "region.defaults": { short: "defaults", long: "Region defaults changed" },
};

/** One or two words for a line. */
export function annotationLabel(action: string): string {
  return WORDS[action]?.short ?? action;
}

/** "Tenant paused". */
export function annotationWords(action: string): string {
  return WORDS[action]?.long ?? action;
}
