/**
 * What kind of address an IP address is, and which ones may be connected to. Default deny: only addresses that the
 * public internet routes are public; whatever cannot be read, is set aside, or hides another address inside is not.
 * Nothing here may look a name up or trust a text that was not parsed.
 */
import ipaddr from "ipaddr.js";
import { SluiceError } from "./errors.ts";

export const ADDRESS_KINDS = [
  "public",
  "loopback",
  "private",
  "link_local",
  "carrier_nat",
  "unique_local",
  "unspecified",
  "multicast",
  "broadcast",
  "tunnel",
  "cloud_service",
  "reserved",
  "unreadable",
] as const;
export type AddressKind = (typeof ADDRESS_KINDS)[number];

/** Addresses that may be connected to although they are not public. */
export interface AllowedRange {
  readonly network: ipaddr.IPv4 | ipaddr.IPv6;
  readonly prefixBits: number;
  /** Null: every port. */
  readonly ports: { readonly from: number; readonly to: number } | null;
}

/** Most entries of an allow-list. */
export const MAX_ALLOWED_RANGES = 64;
/** A wider entry would open whole parts of the internet's special ranges by a slip of the pen. */
const MIN_PREFIX_BITS = { ipv4: 8, ipv6: 7 } as const;
const LOOPBACK_WORD = "loopback";
const LOOPBACK_RANGES = ["127.0.0.0/8", "::1/128"];
const ENTRY = /^([0-9a-fA-F:.]+?)(?:\/(\d{1,3})(?::(\d{1,5})(?:-(\d{1,5}))?)?)?$/;
const SHOWN_CHARS = 60;
/** The interface behind a link-local address. */
const ZONE = /%[0-9A-Za-z._-]{1,32}$/;

/** Words of ipaddr.js for the ranges that IANA sets aside. What is not named here is "reserved". */
const KIND_OF_RANGE: Readonly<Record<string, AddressKind>> = {
  unicast: "public",
  loopback: "loopback",
  private: "private",
  linkLocal: "link_local",
  carrierGradeNat: "carrier_nat",
  uniqueLocal: "unique_local",
  unspecified: "unspecified",
  multicast: "multicast",
  broadcast: "broadcast",
  "6to4": "tunnel",
  teredo: "tunnel",
  rfc6052: "tunnel",
  rfc6145: "tunnel",
};

/** The only part of IPv6 from which public addresses are given out. */
const GLOBAL_UNICAST: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("2000::"), 3];
/** The prefix under which a NAT64 gateway shows IPv4 addresses, RFC 6052. */
const NAT64: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse("64:ff9b::"), 96];
/** Look public, but a machine of that cloud finds its own platform there (Azure: DNS, DHCP, instance metadata agent). */
const CLOUD_SERVICES: ReadonlySet<string> = new Set(["168.63.129.16"]);

/** What kind of address a text is: four decimal numbers, or IPv6 without brackets. Other spellings are unreadable. */
export function classifyAddress(text: string): AddressKind {
  const address = parseAddress(text);
  return address === null ? "unreadable" : kindOf(address);
}

/** True when an entry of the allow-list covers this address and port. */
export function isAllowListed(allow: readonly AllowedRange[], text: string, port: number): boolean {
  if (allow.length === 0) return false;
  const address = parseAddress(text);
  return address !== null && allow.some((range) => covers(range, address, port));
}

/** True when some entry of the allow-list covers this port, at whatever address. */
export function isPortListed(allow: readonly AllowedRange[], port: number): boolean {
  return allow.some((range) => inPorts(range, port));
}

/**
 * Reads an allow-list: entries separated by commas or spaces, each `loopback`, an address, `network/bits`, or
 * `network/bits:port` or `:from-to`. Empty text is an empty list.
 * @throws SluiceError `bad_config`; the detail shows the entry, which is never secret
 */
export function parseAllowList(text: string): AllowedRange[] {
  const entries = text
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .flatMap((entry) => (entry === LOOPBACK_WORD ? LOOPBACK_RANGES : [entry]));
  if (entries.length > MAX_ALLOWED_RANGES) {
    throw new SluiceError("bad_config", `an allow-list has at most ${MAX_ALLOWED_RANGES} entries`);
  }
  return entries.map(parseEntry);
}

function parseEntry(entry: string): AllowedRange {
  const [, base = "", bits, from, to] = ENTRY.exec(entry) ?? [];
  const network = parsePlain(base);
  if (network === null) throw badEntry(entry, "is not an address or network/bits[:port[-port]]");
  const full = network.kind() === "ipv4" ? 32 : 128;
  const prefixBits = bits === undefined ? full : Number(bits);
  if (prefixBits > full || prefixBits < MIN_PREFIX_BITS[network.kind()]) {
    throw badEntry(
      entry,
      `needs a prefix of ${MIN_PREFIX_BITS[network.kind()]} to ${full} bits after the slash`,
    );
  }
  if (hasHostBits(network, prefixBits)) throw badEntry(entry, "has bits set behind its prefix");
  if (from === undefined) return { network, prefixBits, ports: null };
  const ports = { from: Number(from), to: Number(to ?? from) };
  if (ports.from < 1 || ports.to > 65_535 || ports.from > ports.to)
    throw badEntry(entry, "names no range of ports");
  return { network, prefixBits, ports };
}

function badEntry(entry: string, why: string): SluiceError {
  return new SluiceError("bad_config", `"${entry.slice(0, SHOWN_CHARS)}" ${why}`);
}

function hasHostBits(network: ipaddr.IPv4 | ipaddr.IPv6, prefixBits: number): boolean {
  return network
    .toByteArray()
    .some((byte, index) => (byte & (0xff >> Math.min(8, Math.max(0, prefixBits - index * 8)))) !== 0);
}

/** The address that a connection would really go to: a mapped one and one behind NAT64 is the IPv4 address inside. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const address = parsePlain(text);
  if (address === null || address.kind() === "ipv4") return address;
  const six = address as ipaddr.IPv6;
  if (six.isIPv4MappedAddress()) return six.toIPv4Address();
  return six.match(NAT64) ? new ipaddr.IPv4(six.toByteArray().slice(12)) : six;
}

function parsePlain(text: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  // URL writes IPv6 in one form; ipaddr.js alone would take ::8.8.8.8 for the IPv4 address.
  const host = `http://[${text.replace(ZONE, "")}]/`;
  if (!text.includes(":") || !URL.canParse(host)) return null;
  const canonical = new URL(host).hostname.slice(1, -1);
  return ipaddr.IPv6.isValid(canonical) ? ipaddr.IPv6.parse(canonical) : null;
}

function kindOf(address: ipaddr.IPv4 | ipaddr.IPv6): AddressKind {
  const kind = KIND_OF_RANGE[address.range()] ?? "reserved";
  if (kind !== "public") return kind;
  if (address.kind() === "ipv4") return CLOUD_SERVICES.has(address.toString()) ? "cloud_service" : "public";
  return (address as ipaddr.IPv6).match(GLOBAL_UNICAST) ? "public" : "reserved";
}

function covers(range: AllowedRange, address: ipaddr.IPv4 | ipaddr.IPv6, port: number): boolean {
  if (!inPorts(range, port)) return false;
  if (address.kind() === "ipv4" && range.network.kind() === "ipv4") {
    return (address as ipaddr.IPv4).match(range.network as ipaddr.IPv4, range.prefixBits);
  }
  if (address.kind() === "ipv6" && range.network.kind() === "ipv6") {
    return (address as ipaddr.IPv6).match(range.network as ipaddr.IPv6, range.prefixBits);
  }
  return false;
}

function inPorts({ ports }: AllowedRange, port: number): boolean {
  return ports === null || (port >= ports.from && port <= ports.to);
}
