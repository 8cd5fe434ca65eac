/** People and their grants as administrators handle them over HTTP. A service token gives and takes nothing. */
import "server-only";
import { givePersonGrant, listPeople, type People, takePersonGrant } from "#db/console/access/people.ts";
import { consoleDatabase, withAccounts } from "#db/console/console-database.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { highestRole } from "#domain/permissions.ts";
import type { Caller } from "../api/answer.ts";
import type { GrantBody } from "../api/shell-schemas.ts";

/** Those in whose scope the caller manages access. */
export function readPeople({ scope }: Caller): Promise<People> {
  return withAccounts(() => listPeople(consoleDatabase().pool, scope));
}

/** @throws SluiceError `forbidden` for what reaches further than the caller's own, `not_found`, `state_conflict` */
export async function giveGrant(
  caller: Caller,
  personId: string,
  { reason, tenants, days, ...grant }: GrantBody,
): Promise<{ id: string; expiresAt: string | null }> {
  const giver = { email: personOf(caller), scope: caller.scope };
  checkId("usr", personId);
  const tenantIds = tenants?.map((id) => fromPublicId("ten", id)) ?? null;
  const wanted = { ...grant, tenantIds, days: days ?? null };
  if (wanted.role === "viewer" && wanted.canReveal) {
    throw new SluiceError(
      "invalid_body",
      "A viewer never sees bodies: choose another role or leave bodies out.",
    );
  }
  return withAccounts(() =>
    givePersonGrant(consoleDatabase().pool, giver, personId, wanted, changeOf(caller, reason), Date.now()),
  );
}

/** @throws SluiceError `not_found`, `forbidden` for one's own */
export async function takeGrant(
  caller: Caller,
  { personId, grantId, reason }: { personId: string; grantId: string; reason: string },
): Promise<{ id: string }> {
  const giver = { email: personOf(caller), scope: caller.scope };
  checkId("usr", personId);
  checkId("grt", grantId);
  return withAccounts(() =>
    takePersonGrant(consoleDatabase().pool, giver, personId, grantId, changeOf(caller, reason)),
  );
}

/**
 * The address of the signed-in person.
 * @throws SluiceError `forbidden` for a service token
 */
export function personOf({ principal }: Caller): string {
  if (principal.email === null)
    throw new SluiceError("forbidden", "This is for people, not for service tokens.");
  return principal.email;
}

function checkId(prefix: "usr" | "grt", text: string): void {
  fromPublicId(prefix, text);
}

function changeOf({ principal, correlationId }: Caller, reason: string) {
  return { actor: principal.actor, role: highestRole(principal.grants), reason, correlationId };
}
