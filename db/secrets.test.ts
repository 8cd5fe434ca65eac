import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSluiceError } from "#domain/errors.ts";
import { prepareSecret } from "#domain/signature.ts";
import { createKeyring, newSigningSecret, openSecret, sealedKeyId, sealSecret } from "./secrets.ts";
import { newSecretKeys, parseSecretKeys, readKeyring } from "./secrets-config.ts";

const KEY_A = Buffer.alloc(32, 1).toString("base64");
const KEY_B = Buffer.alloc(32, 2).toString("base64");
const keyring = createKeyring({ keys: { a: KEY_A, b: KEY_B }, current: "a" });

function caught(work: () => unknown): unknown {
  try {
    return work();
  } catch (error) {
    return error;
  }
}

describe("sealed secrets", () => {
  it("open to exactly what was sealed, and never look the same twice", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1, maxLength: 200, unit: "binary" }), (secret) => {
        const sealed = sealSecret(keyring, secret);
        expect(openSecret(keyring, sealed)).toBe(secret);
        expect(sealSecret(keyring, secret).equals(sealed)).toBe(false);
      }),
    );
  });

  it("hold nothing of the secret in the clear", () => {
    const sealed = sealSecret(keyring, "whsec_MARKER");
    expect(sealed.includes("MARKER")).toBe(false);
  });

  it("refuse every single changed bit with a typed error that shows nothing", () => {
    const sealed = sealSecret(keyring, "whsec_MARKER");
    for (let bit = 0; bit < sealed.length * 8; bit++) {
      const changed = Buffer.from(sealed);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const error = caught(() => openSecret(keyring, changed));
      expect(isSluiceError(error, "bad_secret")).toBe(true);
      expect(String(error)).not.toContain("MARKER");
    }
  });

  it("refuse every cut and what was never sealed", () => {
    const sealed = sealSecret(keyring, "x");
    for (let bytes = 0; bytes < sealed.length; bytes++) {
      expect(
        isSluiceError(
          caught(() => openSecret(keyring, sealed.subarray(0, bytes))),
          "bad_secret",
        ),
      ).toBe(true);
    }
    expect(() => openSecret(keyring, Buffer.from("whsec_plain"))).toThrow(/bad_secret/);
  });

  it("say which key is missing, and refuse another key of the same id", () => {
    const sealed = sealSecret(keyring, "secret");
    const without = createKeyring({ keys: { b: KEY_B }, current: "b" });
    expect(caught(() => openSecret(without, sealed))).toMatchObject({
      data: { why: "unknown_key", keyId: "a" },
    });
    const wrong = createKeyring({ keys: { a: KEY_B }, current: "a" });
    expect(caught(() => openSecret(wrong, sealed))).toMatchObject({
      code: "bad_secret",
      data: { why: "unreadable" },
    });
  });

  it("stay readable after a key change, and new ones use the new key", () => {
    const old = sealSecret(keyring, "secret");
    const changed = createKeyring({
      keys: { c: Buffer.alloc(32, 3).toString("base64"), a: KEY_A },
      current: "c",
    });
    expect(openSecret(changed, old)).toBe("secret");
    expect([sealedKeyId(old), sealedKeyId(sealSecret(changed, "secret"))]).toEqual(["a", "c"]);
  });

  it("open from a view into a larger buffer, as Prisma and pg return them", () => {
    const sealed = sealSecret(keyring, "secret");
    const large = new Uint8Array(sealed.length + 20);
    large.set(sealed, 7);
    expect(openSecret(keyring, large.subarray(7, 7 + sealed.length))).toBe("secret");
  });

  it("refuse an empty and an oversized secret", () => {
    expect(() => sealSecret(keyring, "")).toThrow(/bad_secret/);
    expect(() => sealSecret(keyring, "x".repeat(4097))).toThrow(/bad_secret/);
  });
});

describe("keys", () => {
  it("SIG-7 are not shown when a keyring is printed or logged", () => {
    expect(
      inspect(keyring, { depth: 9, showHidden: true }) + JSON.stringify([...keyring.keys]),
    ).not.toContain(KEY_A.slice(0, 8));
  });

  it("must be 32 bytes of base64 under a proper id, and the message never shows the value", () => {
    const bad = {
      a: Buffer.alloc(31, 9).toString("base64"),
      "": KEY_A,
      "a b": KEY_A,
      c: "not base64!",
      d: "",
    };
    for (const [id, text] of Object.entries(bad)) {
      const error = caught(() => createKeyring({ keys: { [id]: text }, current: id }));
      expect(isSluiceError(error, "bad_config")).toBe(true);
      if (text !== "") expect(String(error)).not.toContain(text);
    }
    expect(() => createKeyring({ keys: { a: KEY_A }, current: "b" })).toThrow(/bad_config/);
    expect(() => createKeyring({ keys: {}, current: "a" })).toThrow(/bad_config/);
  });

  it("come from SLUICE_SECRET_KEYS, the first one is current", () => {
    const read = readKeyring({ SLUICE_SECRET_KEYS: `new:${KEY_B}, old:${KEY_A}\n` });
    expect(read.current).toBe("new");
    expect([...read.keys.keys()]).toEqual(["new", "old"]);
    expect(() => readKeyring({})).toThrow(/SLUICE_SECRET_KEYS is not set/);
    expect(() => parseSecretKeys(`a:${KEY_A},a:${KEY_B}`)).toThrow(/twice/);
    expect(() => parseSecretKeys(KEY_A)).toThrow(/bad_config/);
  });

  it("or from a file, as secret mounts give them", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "sluice-keys-"));
    try {
      const file = path.join(folder, "keys");
      writeFileSync(file, `${newSecretKeys()}\n`, { mode: 0o600 });
      expect(readKeyring({ SLUICE_SECRET_KEYS_FILE: file }).keys.size).toBe(1);
      expect(() => readKeyring({ SLUICE_SECRET_KEYS_FILE: path.join(folder, "none") })).toThrow(/ENOENT/);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it("newSecretKeys makes a value that can be read, another one each time", () => {
    const [one, two] = [newSecretKeys(), newSecretKeys()];
    expect(one).not.toBe(two);
    expect(parseSecretKeys(`${one},${two}`).keys.size).toBe(2);
  });
});

describe("signing secrets", () => {
  it("are whsec_ and base64 of 32 unguessable bytes, fit to sign with", () => {
    const secret = newSigningSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(prepareSecret(secret).symmetricKeySize).toBe(32);
    expect(newSigningSecret()).not.toBe(secret);
    expect(newSigningSecret((n) => new Uint8Array(n))).toBe(`whsec_${Buffer.alloc(32).toString("base64")}`);
  });
});
