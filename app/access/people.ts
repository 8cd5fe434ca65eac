/** People and their grants as administrators handle them over HTTP. A service token gives and takes nothing. */
import "server-only";
import {
  givePersonGrant,
  listPeople,
  type PeopleAnswer,
  type PersonWay,
  takePersonGrant,
} from "#db/console/access/people.ts";
import { addPerson, disablePerson, enablePerson } from "#db/console/access/person-accounts.ts";
import { consoleDatabase, withAccounts } from "#db/console/console-database.ts";
import { SluiceError } from "#domain/errors.ts";
import { fromPublicId } from "#domain/ids.ts";
import { highestRole, regionsOf } from "#domain/permissions.ts";
import type { Caller } from "../api/answer.ts";
import type { GrantBody, PersonBody } from "../api/shell-schemas.ts";
import { signIn } from "./auth.ts";
import { newPassword } from "./passwords.ts";

/** Those in whose scope the caller manages access. */
export function readPeople({ scope }: Caller): Promise<PeopleAnswer> {
  // Who administers no whole region adds nobody.
  const ways = regionsOf(scope).some((region) => scope[region] === null) ? openWays() : [];
  return withAccounts(async () => ({ ...(await listPeople(consoleDatabase().pool, scope)), ways }));
}

/**
 * Makes a person without any grant. An invitation is only the row that the identity provider's account of this address
 * joins: nothing is sent to anybody.
 * @returns `password` once, for the way `local`
 * @throws SluiceError `forbidden`, `account_exists`, `state_conflict` for a way in which nobody could sign in
 */
export async function invitePerson(
  caller: Caller,
  { email, name, way, reason }: PersonBody,
): Promise<{ id: string; email: string; password: string | null }> {
  const giver = personOf(caller);
  refuseClosedWay(way, email);
  const { password, passwordHash } =
    way === "local" ? await newPassword() : { password: null, passwordHash: null };
  const made = await withAccounts(() =>
    addPerson(consoleDatabase().pool, giver, { email, name, way, passwordHash }, changeOf(caller, reason)),
  );
  return { ...made, email, password };
}

/** @throws SluiceError `not_found`, `forbidden`, `state_conflict` */
export async function setPersonAble(
  caller: Caller,
  { personId, verb, reason }: { personId: string; verb: "disable" | "enable"; reason: string },
): Promise<{ id: string }> {
  const giver = personOf(caller);
  checkId("usr", personId);
  const set = verb === "disable" ? disablePerson : enablePerson;
  return withAccounts(() => set(consoleDatabase().pool, giver, personId, changeOf(caller, reason)));
}

/** The ways in which a new person could sign in here. */
function openWays(): PersonWay[] {
  const { oidc, localAccounts } = signIn().settings;
  return [...(oidc === null ? [] : (["invite"] as const)), ...(localAccounts ? (["local"] as const) : [])];
}

function refuseClosedWay(way: PersonWay, email: string): void {
  if (!openWays().includes(way)) {
    throw new SluiceError(
      "state_conflict",
      way === "invite"
        ? "There is no identity provider here: only local accounts can be added."
        : "Local accounts are off here: people sign in with the identity provider.",
    );
  }
  const domains = signIn().settings.oidc?.domains ?? [];
  if (way === "invite" && domains.length > 0 && !domains.includes(email.split("@").at(-1) ?? "")) {
    throw new SluiceError(
      "state_conflict",
      "The identity provider's people of this domain are not let in here.",
    );
  }
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
