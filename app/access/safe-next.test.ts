/** A link to the sign-in must not lead to another site. */
import { expect, it } from "vitest";
import { safeNext } from "./safe-next.ts";

it.each([
  ["/deliveries?region=us&q=a%2Fb#x", "/deliveries?region=us&q=a%2Fb#x"],
  ["/deliveries/dlv_1", "/deliveries/dlv_1"],
  [null, "/"],
  ["", "/"],
  ["deliveries", "/"],
  ["https://evil.example", "/"],
  ["//evil.example/x", "/"],
  ["/\\evil.example", "/"],
  ["/\t/evil.example", "/"],
  ["/..//evil.example", "/"],
  ["javascript:alert(1)", "/"],
  ["/login?next=/x", "/"],
  ["/api/auth/sign-out", "/"],
  [`/${"a".repeat(3_000)}`, "/"],
])("%s leads to %s", (next, expected) => expect(safeNext(next)).toBe(expected));
