/** The headers of a command: the version that it is based on, and the key by which a repeat is known. */
import "server-only";
import { createHash } from "node:crypto";
import { SluiceError } from "#domain/errors.ts";

const VERSION = /^"([1-9]\d{0,8})"$/;
const POLICY_VERSION = /^"(0|[1-9]\d{0,8})"$/;
/** As the column and RFC 9110 allow: visible ASCII. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/** @throws SluiceError `precondition_required` when If-Match is missing or is not one version in quotes */
export function readVersion(request: Request): number {
  const match = VERSION.exec(request.headers.get("if-match")?.trim() ?? "");
  if (match !== null) return Number(match[1]);
  throw new SluiceError("precondition_required", 'Send If-Match: "<version>" with the version that you saw.');
}

/** Of a policy, whose built-in version is 0. @throws SluiceError `precondition_required` */
export function readPolicyVersion(request: Request): number {
  const match = POLICY_VERSION.exec(request.headers.get("if-match")?.trim() ?? "");
  if (match !== null) return Number(match[1]);
  throw new SluiceError(
    "precondition_required",
    'Send If-Match: "<version>" with the version that you saw, "0" for the built-in one.',
  );
}

/** Null when there is none. @throws SluiceError `bad_key` */
export function readKey(request: Request): string | null {
  const key = request.headers.get("idempotency-key");
  if (key === null) return null;
  if (KEY.test(key)) return key;
  throw new SluiceError("bad_key", "An Idempotency-Key is 1 to 255 visible ASCII characters.");
}

/** What makes two requests the same: method, path with its query, version and body, whatever the order of its fields. */
export function requestHash(request: Request, version: number | undefined, body: unknown): Uint8Array {
  const { pathname, searchParams } = new URL(request.url);
  const query = [...searchParams].toSorted(([one], [two]) => (one < two ? -1 : 1));
  const parts = [request.method, pathname, query, version ?? null, body];
  return createHash("sha256").update(canonical(parts)).digest();
}

/** JSON with the fields of every object in order. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const fields = Object.entries(value).toSorted(([one], [two]) => (one < two ? -1 : 1));
  return `{${fields.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(",")}}`;
}
