/**
 * A name server on this machine that answers what a test tells it, question by question, and a resolver that asks it
 * over UDP. Only A and AAAA questions; a name that it does not know does not exist.
 */
import { createSocket } from "node:dgram";
import { promises as dns, type LookupAddress } from "node:dns";
import { once } from "node:events";
import { isIPv4, isIPv6 } from "node:net";
import type { Resolve } from "#worker/guarded-connect.ts";

const TYPE_A = 1;
const HEADER_BYTES = 12;
const NAME_ERROR = 3;
const SERVER_FAILURE = 2;

export interface DnsServer {
  /** Answers of a name, one list for each time it is asked for; the last one repeats. "fail" is a server failure. */
  answer(name: string, ...lists: (readonly string[] | "fail")[]): void;
  /** How often the name was asked for (a question for both families counts once). */
  asked(name: string): number;
  /** Asks this server. */
  readonly resolve: Resolve;
  close(): Promise<void>;
}

export async function createDnsServer(): Promise<DnsServer> {
  const names = new Map<string, { lists: (readonly string[] | "fail")[]; asked: number }>();
  const socket = createSocket("udp4");
  socket.on("message", (question, from) => {
    const { name, type, end } = readQuestion(question);
    const known = names.get(name);
    if (known !== undefined && type === TYPE_A) known.asked += 1;
    const list = known?.lists[Math.min(Math.max(known.asked - 1, 0), known.lists.length - 1)];
    socket.send(reply(question.subarray(0, end), type, list), from.port, from.address);
  });
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    answer: (name, ...lists) => names.set(name, { lists, asked: 0 }),
    asked: (name) => names.get(name)?.asked ?? 0,
    resolve: (hostname) => ask(resolver, hostname),
    close: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** IPv4 first, then IPv6, one after the other, so that both see the same answer of a changing name. */
async function ask(resolver: dns.Resolver, hostname: string): Promise<LookupAddress[]> {
  const four = await resolver.resolve4(hostname).catch(onlyNoData);
  const six = await resolver.resolve6(hostname).catch(onlyNoData);
  return [
    ...four.map((address) => ({ address, family: 4 as const })),
    ...six.map((address) => ({ address, family: 6 as const })),
  ];
}

function onlyNoData(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENODATA") return [];
  throw error;
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

function reply(question: Buffer, type: number, list: readonly string[] | "fail" | undefined): Buffer {
  const code = list === undefined ? NAME_ERROR : list === "fail" ? SERVER_FAILURE : 0;
  const addresses = Array.isArray(list) ? list.filter(type === TYPE_A ? isIPv4 : isIPv6) : [];
  const header = Buffer.from(question.subarray(0, HEADER_BYTES));
  // A response, recursion available, with as many answers as there are addresses and nothing else.
  header.writeUInt16BE(0x8180 | code, 2);
  header.writeUInt16BE(addresses.length, 6);
  header.writeUInt32BE(0, 8);
  const answers = addresses.map((address) => record(type, bytesOf(address)));
  return Buffer.concat([header, question.subarray(HEADER_BYTES), ...answers]);
}

function record(type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(12);
  // The name of the question, by pointer; class IN; a time to live of 0.
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function bytesOf(address: string): Buffer {
  if (isIPv4(address)) return Buffer.from(address.split(".").map(Number));
  const [left = "", right] = address.split("::");
  const parts = (text: string) => (text === "" ? [] : text.split(":"));
  const missing = 8 - parts(left).length - parts(right ?? "").length;
  const all =
    right === undefined ? parts(left) : [...parts(left), ...Array(missing).fill("0"), ...parts(right)];
  const bytes = Buffer.alloc(16);
  for (const [index, part] of all.entries()) bytes.writeUInt16BE(Number.parseInt(part, 16), index * 2);
  return bytes;
}
