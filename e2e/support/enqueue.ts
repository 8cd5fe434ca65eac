/** Deliveries for the browser tests, written as an application writes them: by the outbox in a Prisma transaction. */
import { randomUUID } from "node:crypto";
import { newSigningSecret, sealSecret } from "#db/secrets.ts";
import { fromPublicId, uuidV7 } from "#domain/ids.ts";
import type { Region } from "#domain/region.ts";
import { enqueueDelivery } from "#outbox/index.ts";
import { KEYRING } from "./secret-keys.ts";
import type { World } from "./world.ts";

export interface Customer {
  tenantId: string;
  slug: string;
  destinationId: string;
}

/** A tenant with one destination at a path of the receiver. */
export async function addCustomer(
  world: World,
  region: Region,
  name: string,
  path: string,
): Promise<Customer> {
  const { prisma } = world.regions[region];
  const random = (count: number) => crypto.getRandomValues(new Uint8Array(count));
  const tenantId = uuidV7(Date.now(), random);
  const destinationId = uuidV7(Date.now(), random);
  const slug = `${name.toLowerCase().replaceAll(" ", "-")}-${randomUUID().slice(0, 8)}`;
  await prisma.tenant.create({ data: { id: tenantId, region, slug, name } });
  await prisma.destination.create({
    data: {
      id: destinationId,
      region,
      tenantId,
      name: "Ledger",
      url: `${world.receiver.url}${path}`,
      secretCurrent: sealSecret(KEYRING, newSigningSecret()),
    },
  });
  return { tenantId, slug, destinationId };
}

/** One delivery of the customer; returns its public id and its UUID. */
export async function enqueue(
  world: World,
  region: Region,
  { tenantId, destinationId }: Customer,
  { key, body = '{"amount":1200}' }: { key: string; body?: string },
): Promise<{ id: string; uuid: string }> {
  const delivery = await world.regions[region].prisma.$transaction((tx) =>
    enqueueDelivery(tx, {
      region,
      tenantId,
      destinationId,
      eventType: "hold.released",
      idempotencyKey: key,
      body,
    }),
  );
  return { id: delivery.deliveryId, uuid: fromPublicId("dlv", delivery.deliveryId) };
}
