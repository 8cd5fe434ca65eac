/**
 * What the browser journeys of replays share: a customer whose destination has refused everything and takes it now, and a batch
 * that has come as far as its approval by the API, where a journey is about what comes afterwards.
 */
import { type APIRequestContext, expect } from "@playwright/test";
import type { ReplayDetail } from "#db/console/replay/replay-views.ts";
import { toPublicId } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import type { ReplayVerb } from "#domain/replay-actions.ts";
import type { ReplayPlanInput } from "#domain/replay-plan.ts";
import { enqueueDeliveries } from "#outbox/index.ts";
import { readDeadOf } from "#tests/support/replay-rows/sql.ts";
import { addCustomer, type Customer } from "./enqueue.ts";
import type { World } from "./world.ts";

const LONG_MS = 60_000;
export const REASON = "A browser test replays what was refused";

const YES = { yes: true, evidence: "a browser test made it so" };
export const ALL_YES = { rootCause: YES, causeGone: YES, dedup: YES, meaningful: YES, order: YES };

export interface Refused {
  readonly customer: Customer;
  /** Under which the receiver counts it. */
  readonly receiverName: string;
  /** Public ids of its dead letters, oldest first. */
  readonly ids: readonly string[];
}

/** A customer with so many dead letters, whose destination has been repaired since. */
export async function refusedCustomer(
  world: World,
  region: Region,
  name: string,
  count: number,
): Promise<Refused> {
  const receiverName = `${name.toLowerCase().replaceAll(" ", "-")}-${Date.now()}`;
  const path = `/reject/422/${receiverName}?message=no+such+account`;
  const customer = await addCustomer(world, region, name, path);
  const { pool, prisma } = world.regions[region];
  await prisma.$transaction((tx) =>
    enqueueDeliveries(
      tx,
      Array.from({ length: count }, (_, at) => ({
        region,
        tenantId: customer.tenantId,
        destinationId: customer.destinationId,
        eventType: "hold.released",
        idempotencyKey: `${receiverName}-${at}`,
        body: JSON.stringify({ at }),
      })),
    ),
  );
  const dead = async () =>
    (await readDeadOf(pool, customer.destinationId)).map((id) => toPublicId("dlv", id));
  await expect.poll(async () => (await dead()).length, { timeout: LONG_MS }).toBe(count);
  await world.receiver.client.script(receiverName, ["ok"]);
  return { customer, receiverName, ids: await dead() };
}

export interface ApiBatch {
  /** `rpl_...` */
  readonly id: string;
  readonly region: Region;
}

export async function readReplay(client: APIRequestContext, { id, region }: ApiBatch): Promise<ReplayDetail> {
  const answer = await client.get(`/api/v1/replays/${id}?region=${region}`);
  expect(answer.status(), await answer.text()).toBe(200);
  return ((await answer.json()) as { data: ReplayDetail }).data;
}

/** A command with the version of this moment. */
export async function commandReplay(
  client: APIRequestContext,
  batch: ApiBatch,
  verb: ReplayVerb,
  fields: object = {},
): Promise<Awaited<ReturnType<APIRequestContext["post"]>>> {
  const { version } = await readReplay(client, batch);
  return client.post(`/api/v1/replays/${batch.id}/${verb}?region=${batch.region}`, {
    data: { ...fields, reason: REASON },
    headers: { "if-match": `"${version}"` },
  });
}

/** Drafted, looked at, answered, planned and submitted by the author, approved by the second person. */
export async function approvedBatch(
  { author, reviewer }: { author: APIRequestContext; reviewer: APIRequestContext },
  region: Region,
  wanted: { readonly name: string; readonly ids: readonly string[]; readonly plan: ReplayPlanInput },
): Promise<ApiBatch> {
  const drafted = await author.post(`/api/v1/replays?region=${region}`, {
    data: { name: wanted.name, selection: { ids: wanted.ids }, reason: REASON },
  });
  expect(drafted.status(), await drafted.text()).toBe(201);
  const batch = { id: ((await drafted.json()) as { id: string }).id, region };
  const done = async (client: APIRequestContext, verb: ReplayVerb, fields: object = {}) => {
    const answer = await commandReplay(client, batch, verb, fields);
    expect(answer.status(), `${verb}: ${await answer.text()}`).toBe(200);
    return (await answer.json()) as { after: Readonly<Record<string, unknown>> };
  };
  const { sample } = await readReplay(author, batch);
  await done(author, "inspect", { deliveryIds: sample.map(({ id }) => id) });
  await done(author, "annotate", { rootCause: "Their account table was empty", checklist: ALL_YES });
  await done(author, "plan", { plan: wanted.plan });
  const { after } = await done(author, "submit");
  await done(reviewer, "approve", { sha256: after.sha256 });
  return batch;
}
