/** The URL of a destination: faults 32 and 68, at save. The same function decides before each request. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  checkDestinationUrl,
  MAX_URL_CHARS,
  parseSendingRules,
  readDestinationUrl,
  refusedKind,
  STRICT_RULES,
} from "./destination-url.ts";
import { isSluiceError } from "./errors.ts";

const OPEN = parseSendingRules({ allow: "loopback", plainHttp: "true" });
const PLAIN = parseSendingRules({ plainHttp: "true" });

describe("a URL that can be used", () => {
  it.each([
    ["https://example.com", "https://example.com", "/", "example.com", 443],
    ["HTTPS://EXAMPLE.com:443/a?b=1&c=%20", "https://example.com", "/a?b=1&c=%20", "example.com", 443],
    ["https://example.com:8443/a/../b", "https://example.com:8443", "/b", "example.com", 8443],
    ["https://bücher.example/ü", "https://xn--bcher-kva.example", "/%C3%BC", "xn--bcher-kva.example", 443],
    ["https://93.184.216.34/", "https://93.184.216.34", "/", "93.184.216.34", 443],
    ["https://[2606:4700::1111]/x", "https://[2606:4700::1111]", "/x", "2606:4700::1111", 443],
  ])("%s", (text, origin, path, hostname, port) => {
    expect(checkDestinationUrl(text, STRICT_RULES)).toEqual({ origin, path, hostname, port });
  });

  it("may be plain http, or lie on this machine, where the rules say so", () => {
    expect(checkDestinationUrl("http://example.com/x", PLAIN).port).toBe(80);
    for (const text of ["http://127.0.0.1:4400/a", "http://localhost:4400/a", "http://[::1]:22/a"]) {
      expect(readDestinationUrl(text, OPEN).kind).toBe("ok");
    }
  });
});

describe("a URL that cannot be used", () => {
  it.each([
    ["", /cannot be read/],
    ["example.com/a", /cannot be read/],
    ["//example.com/a", /cannot be read/],
    ["https:example.com", /cannot be read/],
    ["https:/example.com", /cannot be read/],
    ["https:///example.com", /cannot be read/],
    ["https://", /cannot be read/],
    ["https://?x", /cannot be read/],
    ["https://exa mple.com/", /holds a space/],
    ["https://example.com/a b", /holds a space/],
    [" https://example.com/", /holds a space/],
    ["ht\ntps://example.com/", /control character/],
    ["https://example.com/\r\nx: y", /control character/],
    ["https://example.com\\@evil.example/", /backslash/],
    ["https://example.com:99999/", /cannot be read/],
    ["https://example.com:port/", /cannot be read/],
    ["https://a.b.c.d.256/", /cannot be read/],
    ["https://[::1/", /cannot be read/],
    ["https://[fe80::1%25eth0]/", /cannot be read/],
    ["https://.example.com/", /no usable host/],
    [`https://${"a".repeat(63)}.${"b".repeat(63)}.${"c".repeat(63)}.${"d".repeat(63)}/`, /no usable host/],
    ["ftp://example.com/", /scheme ftp:/],
    ["file:///etc/passwd", /scheme file:/],
    ["javascript:alert(1)", /scheme javascript:/],
    ["gopher://example.com:70/_x", /scheme gopher:/],
    ["http://example.com/", /scheme http: is not allowed here/],
    ["https://user:pw@example.com/", /credentials/],
    ["https://user@example.com/", /credentials/],
    ["https://@example.com/", /credentials/],
    ["https://example.com/#/hook", /fragment/],
    ["https://example.com/a#", /fragment/],
    ["https://example.com:0/", /port is 0/],
    ["https://example.com:25/", /port 25 is not allowed/],
    ["https://example.com:22/", /port 22 is not allowed/],
    ["https://example.com:6667/", /port 6667 is not allowed/],
    [`https://example.com/${"x".repeat(MAX_URL_CHARS)}`, /longer than/],
  ])("fault 68: %j", (text, reason) => {
    const reading = readDestinationUrl(text, STRICT_RULES);
    expect(reading).toMatchObject({ kind: "bad", detail: expect.stringMatching(reason) });
    expect(() => checkDestinationUrl(text, STRICT_RULES)).toThrow(reason);
  });

  it("shows neither credentials nor path in its reason", () => {
    for (const text of ["https://u:marker@example.com/marker", "https://127.0.0.1/marker", "marker:x"]) {
      try {
        checkDestinationUrl(text, STRICT_RULES);
        expect.unreachable();
      } catch (error) {
        expect(isSluiceError(error, "bad_destination_url")).toBe(true);
        if (!text.startsWith("marker")) expect(String(error)).not.toContain("marker");
      }
    }
  });
});

describe("an address that must not be reached", () => {
  it.each([
    ["https://127.0.0.1/", "127.0.0.1 (loopback)"],
    ["https://127.1/", "127.0.0.1 (loopback)"],
    ["https://2130706433/", "127.0.0.1 (loopback)"],
    ["https://0177.0.0.1/", "127.0.0.1 (loopback)"],
    ["https://0x7f.1/", "127.0.0.1 (loopback)"],
    ["https://0x7f000001/", "127.0.0.1 (loopback)"],
    ["https://%31%32%37.0.0.1/", "127.0.0.1 (loopback)"],
    ["https://①②⑦.⓪.⓪.①/", "127.0.0.1 (loopback)"],
    ["https://127。0。0。1/", "127.0.0.1 (loopback)"],
    ["https://127.0.0.1./", "127.0.0.1 (loopback)"],
    ["https://0.0.0.0/", "0.0.0.0 (unspecified)"],
    ["https://0/", "0.0.0.0 (unspecified)"],
    ["https://169.254.169.254/latest/meta-data/", "169.254.169.254 (link_local)"],
    ["https://10.0.0.1/", "10.0.0.1 (private)"],
    ["https://100.64.0.1/", "100.64.0.1 (carrier_nat)"],
    ["https://168.63.129.16/", "168.63.129.16 (cloud_service)"],
    ["https://[::]/", ":: (unspecified)"],
    ["https://[::1]/", "::1 (loopback)"],
    ["https://[::ffff:169.254.169.254]/", "::ffff:a9fe:a9fe (link_local)"],
    ["https://[64:ff9b::a9fe:a9fe]/", "64:ff9b::a9fe:a9fe (link_local)"],
    ["https://[2002:a9fe:a9fe::]/", "2002:a9fe:a9fe:: (tunnel)"],
    ["https://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/", /\(tunnel\)/],
    ["https://[fe81::1]/", "fe81::1 (link_local)"],
    ["https://[fd00:ec2::254]/", "fd00:ec2::254 (unique_local)"],
    ["https://localhost/", "localhost (loopback)"],
    ["https://LOCALHOST./", "localhost. (loopback)"],
    ["https://app.localhost/", "app.localhost (loopback)"],
    ["https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "localhost (loopback)"],
  ])("fault 32: %s", (text, address) => {
    const reading = readDestinationUrl(text, STRICT_RULES);
    expect(reading.kind).toBe("blocked");
    if (reading.kind === "blocked") expect(reading.address).toMatch(address);
    try {
      checkDestinationUrl(text, STRICT_RULES);
      expect.unreachable();
    } catch (error) {
      expect(isSluiceError(error, "bad_destination_url") && error.data).toEqual({ why: "blocked_address" });
    }
  });

  it("is not opened by an allow-list for something else", () => {
    for (const text of ["http://10.0.0.1/", "http://169.254.169.254/", "http://[fd00::1]/"]) {
      expect(readDestinationUrl(text, OPEN).kind).toBe("blocked");
    }
    const onePort = parseSendingRules({ allow: "127.0.0.0/8:4400", plainHttp: "true" });
    expect(readDestinationUrl("http://127.0.0.1:4400/", onePort).kind).toBe("ok");
    expect(readDestinationUrl("http://127.0.0.1:4401/", onePort).kind).toBe("blocked");
    expect(readDestinationUrl("http://localhost:4401/", onePort).kind).toBe("blocked");
  });

  it("keeps a port that an allow-list opens to the addresses of that list", () => {
    const ssh = parseSendingRules({ allow: "10.0.0.0/8:22", plainHttp: "true" });
    expect(refusedKind("10.0.0.1", 22, ssh)).toBeNull();
    expect(refusedKind("8.8.8.8", 22, ssh)).toBe("port");
    expect(refusedKind("8.8.8.8", 443, ssh)).toBeNull();
    // The text of a name says nothing of its address: the connection is what is refused.
    expect(readDestinationUrl("http://name.example:22/", ssh).kind).toBe("ok");
    expect(readDestinationUrl("http://8.8.8.8:22/", ssh).kind).toBe("blocked");
  });
});

describe("any text", () => {
  it("is read without an exception, and what passes is https to a host with a port", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.webUrl(),
          fc.string({ unit: "binary" }),
          fc.string().map((s) => `https://${s}`),
        ),
        (text) => {
          const reading = readDestinationUrl(text, STRICT_RULES);
          if (reading.kind !== "ok") return;
          expect(reading.url.origin).toMatch(/^https:\/\/[^/?#@\\\s]+$/);
          expect(reading.url.path).toMatch(/^\/[\x21-\x7e]*$/);
        },
      ),
      { numRuns: 2_000 },
    );
  });
});

describe("the rules", () => {
  it("are strict unless settings open them", () => {
    expect(parseSendingRules({})).toEqual(STRICT_RULES);
    expect(parseSendingRules({ allow: "", plainHttp: "" })).toEqual(STRICT_RULES);
    expect(parseSendingRules({ plainHttp: "true" }).plainHttp).toBe(true);
    expect(() => parseSendingRules({ plainHttp: "yes" })).toThrow(/neither true nor false/);
    expect(() => parseSendingRules({ allow: "0.0.0.0/0" })).toThrow(/prefix/);
  });
});
