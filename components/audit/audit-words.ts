/** The words of the audit, and the difference that a row made. Pure. */
import type { Tone } from "#components/ui/status.tsx";
import type { AuditResult, AuditRow } from "#db/console/list-audit.ts";

export const RESULT_WORDS: Readonly<Record<AuditResult, { label: string; tone: Tone }>> = {
  ok: { label: "OK", tone: "ok" },
  denied: { label: "Denied", tone: "danger" },
  conflict: { label: "Conflict", tone: "warn" },
};

/** `tenant.pause` -> "tenant: pause". */
export function actionText(action: string): string {
  return action.replaceAll("_", " ").replace(".", ": ");
}

/** Where the target has a page of its own; null: it has none. */
export function targetHref({
  target,
  targetKind,
  region,
}: Pick<AuditRow, "target" | "targetKind" | "region">): string | null {
  if (target.startsWith("ten_")) return `/tenants/${target}?region=${region}`;
  if (target.startsWith("dst_")) return `/destinations/${target}?region=${region}`;
  if (target.startsWith("dlv_")) return `/deliveries/${target}`;
  if (target.startsWith("rpl_")) return `/replays/${target}?region=${region}`;
  if (target.startsWith("dlg_")) return `/dead-letters?region=${region}&view=groups&group=${target}`;
  return targetKind === "region" ? `/regions?region=${region}` : null;
}

/** "US, Nimbus Bank": where it happened. */
export function scopeText({ region, tenant }: Pick<AuditRow, "region" | "tenant">): string {
  return [region.toUpperCase(), ...(tenant === null ? [] : [tenant.name])].join(", ");
}

export interface Difference {
  readonly field: string;
  /** Null: the side does not have the field. */
  readonly before: string | null;
  readonly after: string | null;
  readonly changed: boolean;
}

/** Field by field, what changed first. */
export function differencesOf({ before, after }: Pick<AuditRow, "before" | "after">): Difference[] {
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const rows = fields.map((field) => {
    const one = textOf(before, field);
    const two = textOf(after, field);
    return { field, before: one, after: two, changed: one !== two };
  });
  return rows.sort((a, b) => Number(b.changed) - Number(a.changed));
}

/** True for a value that is a moment: a page writes it in its reader's zone. */
export function isInstant(value: string): boolean {
  return /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/.test(value);
}

function textOf(facts: AuditRow["before"], field: string): string | null {
  if (facts === null || !Object.hasOwn(facts, field)) return null;
  const value = facts[field];
  if (value === null || value === undefined) return "none";
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}
