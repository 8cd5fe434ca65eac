/**
 * What the desk tells its customer, built on one side and read on the other: three kinds of webhook. A body holds business
 * facts only, never the time or the number of a run, so that the same fact has the same bytes and the same key for ever.
 */
import { z } from "zod";
import type { ServiceClass } from "#domain/delivery.ts";
import { SluiceError } from "#domain/errors.ts";
import type { Region } from "#domain/region.ts";
import { type DeliveryInput, keyFromFacts } from "#outbox/index.ts";

export const FOLLOW_UP_DUE = "ticket.follow_up_due";
export const ENRICHMENT_WANTED = "ticket.enrichment_wanted";
export const INDEX_WANTED = "ticket.index_wanted";

/** A ticket as it stood when the fact came about. */
export interface TicketFacts {
  readonly id: string;
  readonly version: number;
  readonly subject: string;
}

/** Whom a webhook is for. */
export interface Addressee {
  readonly region: Region;
  readonly tenantId: string;
  readonly destinationId: string;
}

export type TicketMessage = DeliveryInput & {
  readonly destinationId: string;
  readonly destinationIds?: undefined;
};

/** Somebody promised to look again and the moment has come. @param followUpAt UTC with microseconds: part of the key */
export function followUpDue(to: Addressee, ticket: TicketFacts, followUpAt: string): TicketMessage {
  return message(to, FOLLOW_UP_DUE, "urgent", ticket, followUpAt, { followUpAt });
}

/** The ticket has changed: what is known about its customer is wanted beside it. */
export function enrichmentWanted(to: Addressee, ticket: TicketFacts): TicketMessage {
  return message(to, ENRICHMENT_WANTED, "routine", ticket, String(ticket.version), {});
}

/** The ticket's turn in a bulk batch. @param due when its turn is; nothing: at once */
export function indexWanted(
  to: Addressee,
  ticket: TicketFacts,
  generation: number,
  due: Pick<DeliveryInput, "dueAt">,
): TicketMessage {
  const version = `${generation}/${ticket.version}`;
  return { ...message(to, INDEX_WANTED, "routine", ticket, version, { generation }), ...due };
}

function message(
  { region, tenantId, destinationId }: Addressee,
  type: string,
  serviceClass: ServiceClass,
  ticket: TicketFacts,
  version: string,
  more: Readonly<Record<string, string | number>>,
): TicketMessage {
  return {
    region,
    tenantId,
    destinationId,
    eventType: type,
    serviceClass,
    idempotencyKey: keyFromFacts({ event: type, entityId: ticket.id, version }),
    body: JSON.stringify({
      type,
      ticket: { id: ticket.id, version: ticket.version, subject: ticket.subject },
      ...more,
    }),
  };
}

const ticketSchema = z.object({
  id: z.uuid(),
  version: z.int().positive(),
  subject: z.string().min(1).max(200),
});
/** Fields that are not named here are left alone: a sender may add some. */
const knownSchema = z.discriminatedUnion("type", [
  z.object({ type: z.literal(FOLLOW_UP_DUE), ticket: ticketSchema, followUpAt: z.string().max(40) }),
  z.object({ type: z.literal(ENRICHMENT_WANTED), ticket: ticketSchema }),
  z.object({ type: z.literal(INDEX_WANTED), ticket: ticketSchema, generation: z.int().positive() }),
]);
const anySchema = z.object({ type: z.string().min(1).max(128) });
const KNOWN: ReadonlySet<string> = new Set([FOLLOW_UP_DUE, ENRICHMENT_WANTED, INDEX_WANTED]);

export type KnownMessage = z.infer<typeof knownSchema>;

/**
 * Reads a body that has been authenticated.
 * @returns null for a type that this customer does not know: new ones must not fail at endpoints that are older
 * @throws SluiceError `bad_json` when it is not JSON in UTF-8, `invalid_body` when it is not one of our messages
 */
export function readMessage(body: Uint8Array): KnownMessage | null {
  const value = parseJson(body);
  const any = anySchema.safeParse(value);
  if (!any.success) throw new SluiceError("invalid_body", "The body has no type.");
  if (!KNOWN.has(any.data.type)) return null;
  const known = knownSchema.safeParse(value);
  if (known.success) return known.data;
  const fields = known.error.issues.map(({ path }) => path.join("."));
  throw new SluiceError("invalid_body", `These fields cannot be used: ${fields.join(", ")}.`);
}

function parseJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    // The parser's own words quote the body; they are not for an answer.
    throw new SluiceError("bad_json", "The body is not JSON in UTF-8.");
  }
}
