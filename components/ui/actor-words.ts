/** Who did something, as staff read it. The audit alone shows actors as they are stored. Pure. */

/** Stored for what the product did by its own rules, by whichever process. */
const PRODUCT = /^(?:system$|worker:)/;

/** `user:ann@example.com` is ann@example.com; a token or the command line stays named as such. */
export function actorWords(actor: string | null): string {
  if (actor === null) return "somebody";
  if (PRODUCT.test(actor)) return "the product";
  return actor.startsWith("user:") ? actor.slice("user:".length) : actor;
}
