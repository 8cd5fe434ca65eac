/** What people did, in the words of the list below the charts. */
const WORDS: Readonly<Record<string, string>> = {
  "tenant.pause": "Tenant paused",
  "tenant.resume": "Tenant resumed",
  "tenant.limits": "Tenant limit changed",
  "tenant.weight": "Tenant weight changed",
  "destination.pause": "Destination paused",
  "destination.resume": "Destination resumed",
  "destination.limits": "Destination limit changed",
  "destination.disable": "Destination disabled",
  "destination.enable": "Destination enabled",
  "destination.open_gate": "Gate opened by hand",
  "destination.pin_adaptive": "Adaptive limit pinned",
  "destination.unpin_adaptive": "Adaptive limit unpinned",
  "region.stop_claims": "Claims stopped",
  "region.start_claims": "Claims started",
  "region.defaults": "Region defaults changed",
};

/** "Tenant paused". */
export function annotationWords(action: string): string {
  return WORDS[action] ?? action;
}
