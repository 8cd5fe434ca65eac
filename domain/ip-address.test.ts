/** Fault 32: what is public is a short list, and everything else, however it is written, is not. */
import { BlockList } from "node:net";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isSluiceError } from "./errors.ts";
import {
  type AddressKind,
  classifyAddress,
  isAllowListed,
  isPortListed,
  MAX_ALLOWED_RANGES,
  parseAllowList,
} from "./ip-address.ts";

/** First and last address of each range that IANA's special-purpose registries set aside, with our word for it. */
const SPECIAL: readonly (readonly [AddressKind, ...string[]])[] = [
  ["unspecified", "0.0.0.0", "0.255.255.255", "::"],
  ["loopback", "127.0.0.1", "127.255.255.254", "::1"],
  ["private", "10.0.0.0", "10.255.255.255", "172.16.0.1", "172.31.255.255", "192.168.0.1", "192.168.255.255"],
  ["carrier_nat", "100.64.0.1", "100.100.100.200", "100.127.255.255"],
  ["link_local", "169.254.0.1", "169.254.169.254", "fe80::1", "fe81::1", "febf::ffff", "fe80::1%eth0"],
  ["unique_local", "fc00::1", "fd00:ec2::254", "fdff::1"],
  ["multicast", "224.0.0.1", "239.255.255.255", "ff02::1"],
  ["broadcast", "255.255.255.255"],
  ["tunnel", "2002:a9fe:a9fe::", "2002:808:808::1", "2001:0:4136:e378::1", "64:ff9b:1::a9fe:a9fe"],
  ["tunnel", "::ffff:0:127.0.0.1"],
  ["cloud_service", "168.63.129.16", "::ffff:168.63.129.16"],
  ["reserved", "192.0.0.1", "192.0.0.192", "192.0.2.1", "198.51.100.1", "203.0.113.255", "192.88.99.1"],
  [
    "reserved",
    "198.18.0.1",
    "198.19.255.255",
    "240.0.0.1",
    "255.255.255.254",
    "192.31.196.1",
    "192.52.193.1",
  ],
  ["reserved", "192.175.48.1", "fec0::1", "100::1", "100:0:0:1::1", "2001:db8::1", "3fff::1", "5f00::1"],
  ["reserved", "2001:2::1", "2001:10::1", "2001:20::1", "2001:30::1", "2620:4f:8000::1", "2001:1ff::1"],
  // Nothing outside 2000::/3 has been given out; IPv4-compatible addresses lie there too.
  ["reserved", "::8.8.8.8", "::127.0.0.1", "4000::1", "1::1", "e000::1"],
];

const PUBLIC = [
  "1.1.1.1",
  "8.8.8.8",
  "93.184.216.34",
  "126.255.255.255",
  "128.0.0.1",
  "172.15.255.255",
  "172.32.0.1",
  "192.0.1.1",
  "223.255.255.255",
  "2606:4700::1111",
  "2a00:1450:4001::200e",
];

describe("classifyAddress", () => {
  it.each(SPECIAL)("fault 32: %s", (kind, ...addresses) => {
    for (const address of addresses) expect([address, classifyAddress(address)]).toEqual([address, kind]);
  });

  it("knows public addresses", () => {
    for (const address of PUBLIC) expect([address, classifyAddress(address)]).toEqual([address, "public"]);
  });

  it.each(["::ffff:", "64:ff9b::"])("fault 32: sees the address inside %s", (prefix) => {
    for (const [kind, ...addresses] of SPECIAL) {
      for (const address of addresses.filter((each) => !each.includes(":"))) {
        expect([address, classifyAddress(prefix + address)]).toEqual([address, kind]);
      }
    }
    expect(classifyAddress(`${prefix}8.8.8.8`)).toBe("public");
    expect(classifyAddress("::ffff:a9fe:a9fe")).toBe("link_local");
    expect(classifyAddress("64:ff9b::a9fe:a9fe")).toBe("link_local");
  });

  it.each([
    "",
    "127.1",
    "2130706433",
    "0177.0.0.1",
    "0x7f.0.0.1",
    "127.0.0.1.",
    " 127.0.0.1",
    "127.0.0.256",
    "[::1]",
    "::1::",
    "localhost",
    "①②⑦.⓪.⓪.①",
    "1.1.1.1/32",
  ])("does not guess at %j", (text) => expect(classifyAddress(text)).toBe("unreadable"));

  it("never calls an address public that lies in a range set aside", () => {
    const aside = new BlockList();
    for (const [network, bits] of [
      ["0.0.0.0", 8],
      ["10.0.0.0", 8],
      ["100.64.0.0", 10],
      ["127.0.0.0", 8],
      ["169.254.0.0", 16],
      ["172.16.0.0", 12],
      ["192.0.0.0", 24],
      ["192.0.2.0", 24],
      ["192.168.0.0", 16],
      ["198.18.0.0", 15],
      ["224.0.0.0", 3],
    ] as const) {
      aside.addSubnet(network, bits, "ipv4");
    }
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        if (aside.check(address, "ipv4")) expect(classifyAddress(address)).not.toBe("public");
      }),
      { numRuns: 2_000 },
    );
  });

  it("calls nothing public outside 2000::/3, and never throws", () => {
    fc.assert(
      fc.property(fc.oneof(fc.ipV6(), fc.string()), (text) => {
        const kind = classifyAddress(text);
        if (kind !== "public" || !text.includes(":")) return;
        const first = Number.parseInt(text.split(":", 1)[0] || "0", 16);
        const inside = /^(::ffff|0*64:ff9b|0*:)/i.test(text) || text.includes(".");
        expect(inside || (first >= 0x2000 && first <= 0x3fff)).toBe(true);
      }),
    );
  });
});

describe("an allow-list", () => {
  it("covers its networks and ports and nothing else", () => {
    const allow = parseAllowList("127.0.0.0/8, 10.1.0.0/16:8080 192.168.1.5\nfd00::/8:8000-8100,::1/128");
    expect(allow).toHaveLength(5);
    for (const [address, port, expected] of [
      ["127.0.0.1", 1, true],
      ["127.255.0.1", 65_535, true],
      ["128.0.0.1", 80, false],
      ["10.1.2.3", 8080, true],
      ["10.1.2.3", 8081, false],
      ["10.2.0.1", 8080, false],
      ["192.168.1.5", 443, true],
      ["192.168.1.6", 443, false],
      ["fd12::1", 8050, true],
      ["fd12::1", 8101, false],
      ["::1", 443, true],
      ["::ffff:127.0.0.1", 443, true],
      ["64:ff9b::10.1.0.9", 8080, true],
      ["2002:7f00:1::", 443, false],
      ["nonsense", 443, false],
    ] as const) {
      expect([address, port, isAllowListed(allow, address, port)]).toEqual([address, port, expected]);
    }
    expect([isPortListed(allow, 22), isPortListed(parseAllowList("10.0.0.0/8:22"), 23)]).toEqual([
      true,
      false,
    ]);
  });

  it("has a word for this machine", () => {
    const allow = parseAllowList("loopback");
    expect(["127.0.0.1", "127.9.9.9", "::1"].every((each) => isAllowListed(allow, each, 4_400))).toBe(true);
    expect(["10.0.0.1", "::2", "169.254.169.254"].some((each) => isAllowListed(allow, each, 4_400))).toBe(
      false,
    );
  });

  it("is empty when nothing is said", () => {
    expect(parseAllowList(" ,\n")).toEqual([]);
    expect(isAllowListed([], "127.0.0.1", 80)).toBe(false);
  });

  it.each([
    ["everything", /is not an address/],
    ["example.com/8", /is not an address/],
    ["0.0.0.0/0", /prefix of 8 to 32/],
    ["::/0", /prefix of 7 to 128/],
    ["10.0.0.0/33", /prefix of 8 to 32/],
    ["10.0.0.1/8", /bits set behind/],
    ["fd00::1/8", /bits set behind/],
    ["10.0.0.0/8:0", /no range of ports/],
    ["10.0.0.0/8:70000", /no range of ports/],
    ["10.0.0.0/8:90-80", /no range of ports/],
    ["10.0.0.0/8:x", /is not an address/],
    ["0177.0.0.1", /is not an address/],
    ["127.1/8", /is not an address/],
    [Array.from({ length: MAX_ALLOWED_RANGES + 1 }, () => "10.0.0.0/8").join(","), /at most/],
  ])("refuses %j rather than read it loosely", (text, reason) => {
    try {
      parseAllowList(text);
      expect.unreachable();
    } catch (error) {
      expect(isSluiceError(error, "bad_config")).toBe(true);
      expect(String(error)).toMatch(reason);
    }
  });
});
