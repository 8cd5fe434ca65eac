/**
 * The demo's accounts: one for each role and one that sees only us. They are made once, when nobody has an account yet;
 * their passwords are printed then and kept in a file that only this user can read.
 */
import { randomUUID } from "node:crypto";
import { chmodSync, existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { addGrant, createAccount, hasNoAccounts } from "#db/console/access/grants.ts";
import { createPool } from "#db/pool.ts";
import type { Role } from "#domain/permissions.ts";
import { REGIONS, type Region } from "#domain/region.ts";
import { commandActor } from "../console-config.ts";
import { hashPassword, newPassword } from "../passwords.ts";

export interface DemoAccount {
  email: string;
  password: string;
  what: string;
}

export interface DemoSignIn {
  /** The accounts with their passwords, only when they were made just now. */
  made: readonly DemoAccount[];
  /** Where the passwords stand; null when the accounts are not this folder's. */
  file: string | null;
}

const ACCOUNTS: readonly { name: string; role: Role; regions: readonly Region[]; what: string }[] = [
  { name: "operator", role: "operator", regions: REGIONS, what: "may act on everything" },
  { name: "support", role: "support", regions: REGIONS, what: "may pause, retry, triage" },
  { name: "viewer", role: "viewer", regions: REGIONS, what: "only looks" },
  { name: "admin", role: "admin", regions: REGIONS, what: "also access and policies" },
  { name: "us-operator", role: "operator", regions: ["us"], what: "sees no eu row" },
];

/** Makes the accounts when there are none. Safe to call at every start. */
export async function ensureDemoAccounts(consoleUrl: string, dataDir: string): Promise<DemoSignIn> {
  const file = path.join(dataDir, "demo-accounts.txt");
  const pool = createPool({ connectionString: consoleUrl, max: 1, applicationName: "sluice-up" });
  try {
    if (!(await hasNoAccounts(pool))) return { made: [], file: existsSync(file) ? file : null };
    const made: DemoAccount[] = [];
    for (const { name, role, regions, what } of ACCOUNTS) {
      const account = { email: `${name}@sluice.demo`, password: newPassword(), what };
      const by = {
        actor: commandActor(),
        role: "admin",
        reason: "demo account made by the first start",
        correlationId: randomUUID(),
      } as const;
      const passwordHash = await hashPassword(account.password);
      await createAccount(pool, { email: account.email, name: `Demo ${name}`, passwordHash }, by);
      const canReveal = role === "operator" || role === "admin";
      await addGrant(pool, account.email, { role, regions, tenantIds: null, canReveal }, by);
      made.push(account);
    }
    writeFileSync(file, `${made.map(accountLine).join("\n")}\n`, { mode: 0o600 });
    // An older file keeps its mode when it is written anew.
    chmodSync(file, 0o600);
    return { made, file };
  } finally {
    await pool.end();
  }
}

/** "operator@sluice.demo  <password>  may act on everything" */
export function accountLine({ email, password, what }: DemoAccount): string {
  return `${email.padEnd(24)}${password}   ${what}`;
}
