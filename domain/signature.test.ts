import { createHmac, randomBytes } from "node:crypto";
import fc from "fast-check";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it, vi } from "vitest";
import { isSluiceError } from "./errors.ts";
import {
  prepareSecret,
  signPlain,
  signWebhook,
  type VerifyInput,
  verifyPlain,
  verifyWebhook,
} from "./signature.ts";

const NOW_SECONDS = 1_796_040_000;
const OLD = `whsec_${randomBytes(32).toString("base64")}`;
const NEW = `whsec_${randomBytes(24).toString("base64")}`;
const ID = "dlv_0199aa00000070008000000000000000";
const BODY = Buffer.from('{"n":12345678901234567890,"f":1.0,"t":"caf\u00e9"}');

function verify(change: Partial<VerifyInput> = {}) {
  const secrets = [prepareSecret(NEW), prepareSecret(OLD)];
  const signature = signWebhook({ id: ID, timestampSeconds: NOW_SECONDS, body: BODY, secrets });
  return verifyWebhook({
    id: ID,
    timestamp: String(NOW_SECONDS),
    signature,
    body: BODY,
    secrets,
    nowSeconds: NOW_SECONDS,
    ...change,
  });
}

describe("Standard Webhooks signature", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  it("is byte-equal to the reference library for any text body", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 24, maxLength: 64 }),
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.integer({ min: 0, max: 4_000_000_000 }),
        (secretBytes, text, timestampSeconds) => {
          const secret = `whsec_${Buffer.from(secretBytes).toString("base64")}`;
          const expected = new Webhook(secret).sign(ID, new Date(timestampSeconds * 1000), text);
          const secrets = [prepareSecret(secret)];
          expect(signWebhook({ id: ID, timestampSeconds, body: Buffer.from(text, "utf8"), secrets })).toBe(
            expected,
          );
        },
      ),
    );
  });

  it("RECV-3 signs with both live secrets, and either alone lets the reference library accept it", () => {
    const secrets = [prepareSecret(NEW), prepareSecret(OLD)];
    const timestampSeconds = NOW_SECONDS;
    // The library checks the timestamp against the real clock.
    vi.setSystemTime(NOW_SECONDS * 1000);
    const signature = signWebhook({ id: ID, timestampSeconds, body: BODY, secrets });
    expect(signature).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    const headers = {
      "webhook-id": ID,
      "webhook-timestamp": String(timestampSeconds),
      "webhook-signature": signature,
    };
    for (const secret of [OLD, NEW]) {
      expect(() => new Webhook(secret).verify(BODY.toString("utf8"), headers)).not.toThrow();
    }
    const stranger = `whsec_${randomBytes(32).toString("base64")}`;
    expect(() => new Webhook(stranger).verify(BODY.toString("utf8"), headers)).toThrow();
  });

  it("ID-4 a later attempt has another signature time, the same id and the same body", () => {
    const secrets = [prepareSecret(NEW)];
    const first = signWebhook({ id: ID, timestampSeconds: NOW_SECONDS, body: BODY, secrets });
    const later = signWebhook({ id: ID, timestampSeconds: NOW_SECONDS + 7200, body: BODY, secrets });
    expect(later).not.toBe(first);
    expect(
      verify({ signature: later, timestamp: String(NOW_SECONDS + 7200), nowSeconds: NOW_SECONDS + 7200 }).ok,
    ).toBe(true);
    expect(verify({ nowSeconds: NOW_SECONDS + 7200 })).toEqual({ ok: false, why: "too_old" });
  });

  it("RECV-3 accepts a signature of either live secret, among others, and no other", () => {
    expect(verify()).toEqual({ ok: true, timestampSeconds: NOW_SECONDS });
    expect(verify({ secrets: [prepareSecret(OLD)] }).ok).toBe(true);
    const good = signWebhook({
      id: ID,
      timestampSeconds: NOW_SECONDS,
      body: BODY,
      secrets: [prepareSecret(OLD)],
    });
    expect(verify({ signature: `v2,AAAA v1,AAAA ${good}` }).ok).toBe(true);
    expect(verify({ secrets: [prepareSecret(randomBytes(32).toString("base64"))] })).toEqual({
      ok: false,
      why: "no_match",
    });
  });

  it.each([
    ["another body", { body: Buffer.from("{}") }, "no_match"],
    ["another id", { id: "dlv_1" }, "no_match"],
    ["no id", { id: undefined }, "missing"],
    ["no signature", { signature: "" }, "missing"],
    ["no timestamp", { timestamp: null }, "missing"],
    ["a timestamp of words", { timestamp: "now" }, "bad_timestamp"],
    ["a signed timestamp", { timestamp: `+${NOW_SECONDS}` }, "bad_timestamp"],
    ["another timestamp", { timestamp: String(NOW_SECONDS + 1) }, "no_match"],
    ["a signature that is junk", { signature: "v1,%%% v1, v1 ,v1" }, "no_match"],
    ["a bare signature", { signature: "AAAA" }, "no_match"],
    ["a clock 301 s ahead", { nowSeconds: NOW_SECONDS + 301 }, "too_old"],
    ["a clock 301 s behind", { nowSeconds: NOW_SECONDS - 301 }, "too_new"],
    ["a short tolerance", { nowSeconds: NOW_SECONDS + 6, toleranceSeconds: 5 }, "too_old"],
  ] as const)("RECV-3 refuses %s", (_, change, why) => {
    expect(verify(change)).toEqual({ ok: false, why });
  });

  it("RECV-3 accepts nothing when no secret is configured", () => {
    expect(() => verify({ secrets: [] })).toThrowError(/bad_secret/);
    expect(() => signWebhook({ id: ID, timestampSeconds: 1, body: BODY, secrets: [] })).toThrowError(
      /bad_secret/,
    );
  });

  it.each([
    "",
    "whsec_",
    "whsec_%%%",
    "whsec_c2hvcnQ=",
    `whsec_${randomBytes(65).toString("base64")}`,
    `whsec_${randomBytes(32).toString("base64")}\n`,
  ])("ID-8 refuses the unusable secret %# without showing it", (secret) => {
    let caught: unknown;
    try {
      prepareSecret(secret);
    } catch (error) {
      caught = error;
    }
    expect(isSluiceError(caught, "bad_secret")).toBe(true);
    const shown = secret.replace("whsec_", "").trim();
    expect(shown !== "" && String(caught).includes(shown)).toBe(false);
  });

  it("takes a secret without prefix or padding as the same key", () => {
    const withPrefix = `whsec_${Buffer.alloc(32, 7).toString("base64")}`;
    const bare = withPrefix.slice("whsec_".length).replace("=", "");
    expect(prepareSecret(bare).export()).toEqual(prepareSecret(withPrefix).export());
  });
});

describe("plain signature", () => {
  const secret = prepareSecret(OLD);

  it("is the timestamp, a dot and the hex HMAC of timestamp, dot and body", () => {
    const key = Buffer.from(OLD.slice("whsec_".length), "base64");
    const expected = createHmac("sha256", key)
      .update(Buffer.concat([Buffer.from(`${NOW_SECONDS}.`), BODY]))
      .digest("hex");
    expect(signPlain({ timestampSeconds: NOW_SECONDS + 0.9, body: BODY, secret })).toBe(
      `${NOW_SECONDS}.${expected}`,
    );
  });

  it("RECV-3 verifies its own form within the tolerance and refuses the rest", () => {
    const header = signPlain({ timestampSeconds: NOW_SECONDS, body: BODY, secret });
    const base = { header, body: BODY, secrets: [prepareSecret(NEW), secret], nowSeconds: NOW_SECONDS };
    expect(verifyPlain(base)).toEqual({ ok: true, timestampSeconds: NOW_SECONDS });
    expect(verifyPlain({ ...base, body: Buffer.from("x") })).toEqual({ ok: false, why: "no_match" });
    expect(verifyPlain({ ...base, nowSeconds: NOW_SECONDS + 301 })).toEqual({ ok: false, why: "too_old" });
    expect(verifyPlain({ ...base, header: "" })).toEqual({ ok: false, why: "missing" });
    expect(verifyPlain({ ...base, header: String(NOW_SECONDS) })).toEqual({ ok: false, why: "no_match" });
    expect(verifyPlain({ ...base, header: header.slice(0, -2) })).toEqual({ ok: false, why: "no_match" });
  });
});
