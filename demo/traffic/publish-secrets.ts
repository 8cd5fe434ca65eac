/**
 * Tells the demo's receiver the signing secrets of its destinations, as a person would tell a customer, so that it can
 * check every signature. The receiver forgets them when it ends, so this comes again. Secrets are never logged.
 */

import type { PrismaClient } from "#db/prisma.ts";
import { parsePath } from "#demo/receiver/answers.ts";
import type { ReceiverClient } from "#demo/receiver/client.ts";

/** Opens a sealed secret. @throws SluiceError `bad_secret` */
export type OpenSecret = (sealed: Uint8Array) => string;

const MAX_DESTINATIONS = 200;

/**
 * @returns how many destinations of this receiver were told of
 * @throws what the database or the receiver throws
 */
export async function publishSecrets(
  prisma: PrismaClient,
  receiver: Pick<ReceiverClient, "setSecret" | "url">,
  open: OpenSecret,
): Promise<number> {
  const destinations = await prisma.destination.findMany({
    where: { deletedAt: null, url: { startsWith: `${receiver.url}/` } },
    select: { url: true, secretCurrent: true, secretPrevious: true, plainSignatureHeader: true },
    orderBy: { id: "asc" },
    take: MAX_DESTINATIONS,
  });
  for (const { url, secretCurrent, secretPrevious, plainSignatureHeader } of destinations) {
    const sealed = secretPrevious === null ? [secretCurrent] : [secretCurrent, secretPrevious];
    const header = plainSignatureHeader === null ? {} : { header: plainSignatureHeader };
    await receiver.setSecret(nameIn(url), { secrets: sealed.map(open), ...header });
  }
  return destinations.length;
}

function nameIn(url: string): string {
  const { pathname, search } = new URL(url);
  return parsePath(pathname + search).destination;
}
