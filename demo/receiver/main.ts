/**
 * The receiver as a process: `node demo/receiver/main.ts --port 4010`.
 * Must print one ready line, end with its parent, and listen on loopback only.
 */
import { parseArgs } from "node:util";
import { createReceiver } from "./server.ts";
import type { Receiver, ReceiverOptions } from "./types.ts";

const STOP_GRACE_MS = 2_000;
const MAX_PORT = 65_535;
const USAGE =
  "usage: main.ts [--port n] [--records n] [--keys n] [--keep-alive-ms n] [--keep-bodies] [--no-hash]";

function number(text: string | undefined, name: string, max: number): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,10}$/.test(text) || Number(text) > max) {
    throw new Error(`--${name} must be a whole number up to ${max}`);
  }
  return Number(text);
}

function readOptions(): ReceiverOptions {
  const { values } = parseArgs({
    options: {
      port: { type: "string" },
      records: { type: "string" },
      keys: { type: "string" },
      "keep-alive-ms": { type: "string" },
      "keep-bodies": { type: "boolean", default: false },
      "no-hash": { type: "boolean", default: false },
    },
  });
  const keyLimit = number(values.keys, "keys", 20_000_000);
  const keepAliveTimeoutMs = number(values["keep-alive-ms"], "keep-alive-ms", 3_600_000);
  const recordLimit = number(values.records, "records", 2_000_000);
  return {
    port: number(values.port, "port", MAX_PORT) ?? 0,
    ...(keyLimit === undefined ? {} : { keyLimit }),
    ...(keepAliveTimeoutMs === undefined ? {} : { keepAliveTimeoutMs }),
    recording: {
      keepBodies: values["keep-bodies"],
      hashBodies: !values["no-hash"],
      ...(recordLimit === undefined ? {} : { recordLimit }),
    },
  };
}

function stopWithParent(receiver: Receiver): void {
  let stopping = false;
  const stop = async () => {
    if (stopping) process.exit(1);
    stopping = true;
    await receiver.close(STOP_GRACE_MS);
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop());
  if (process.connected) {
    process.once("disconnect", () => {
      if (!stopping) void stop();
    });
  }
}

try {
  const receiver = await createReceiver(readOptions());
  stopWithParent(receiver);
  console.log(`receiver ready ${receiver.url}`);
} catch (error) {
  const { code, message } = error as NodeJS.ErrnoException;
  const words = code === "EADDRINUSE" ? "the port is in use by another program" : message;
  console.error(`receiver: ${words}${code?.startsWith("ERR_PARSE_ARGS") ? `\n${USAGE}` : ""}`);
  process.exit(1);
}
