/**
 * Seals all secrets of a region anew under the current key, with one audit row about it. It changes no secret and no
 * version; it runs beside workers and can be run again at any time.
 */
import { readCommand } from "#domain/commands.ts";
import { RekeySecrets } from "#domain/commands-secret.ts";
import { type RekeyResult, readSealingKeys, rekeySecrets } from "../../secrets-rekey.ts";
import type { SecretContext } from "./rotate-secret.ts";
import { runCommand } from "./run-command.ts";

/**
 * @param onChunk called after each chunk with the destinations sealed so far
 * @throws SluiceError those of readCommand and runCommand; what was sealed before an error stays sealed
 */
export async function rekeyRegion(
  context: SecretContext,
  input: RekeySecrets,
  onChunk?: (sealed: number) => void,
): Promise<RekeyResult> {
  const { reason, ticket } = readCommand(RekeySecrets, input);
  const before = await readSealingKeys(context.pool);
  const result = await rekeySecrets(context.pool, context.keyring, onChunk);
  if (result.sealed > 0) {
    await runCommand(
      context,
      { action: "region.rekey_secrets", targetKind: "region", targetId: context.region, reason, ticket },
      async () => ({
        tenantId: null,
        version: null,
        before: { keys: before.map(({ keyId }) => keyId).join(", ") },
        after: { key: result.keyId, sealed: result.sealed, unreadable: result.unreadable },
      }),
    );
  }
  return result;
}
