/**
 * The receiving endpoint as a process of its own: `node demo/support/inbox/main.ts [--port <port>] [--hold-answers]`.
 * Reads DATABASE_URL_US, DATABASE_URL_EU and SLUICE_SECRET_KEYS. Stops on SIGTERM, SIGINT, and when its parent is gone.
 */
import { setTimeout as delay } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openInbox } from "./open-inbox.ts";
import { serveInbox } from "./serve.ts";

/** A test kills the process long before. */
const HELD_MS = 600_000;

const { values } = parseArgs({
  options: {
    port: { type: "string", default: "0" },
    /** Apply, say so, and do not answer: for tests that kill a process between the commit and the acknowledgement. */
    "hold-answers": { type: "boolean", default: false },
  },
});
const hold = async () => {
  console.log("applied");
  await delay(HELD_MS);
};
const opened = openInbox(values["hold-answers"] ? { beforeAcknowledge: hold } : {});
const served = await serveInbox(opened.inbox, Number(values.port));
console.log(`inbox ready ${served.url}`);

let stopping = false;
const stop = () => {
  if (stopping) process.exit(1);
  stopping = true;
  void served
    .close()
    .then(() => opened.close())
    .finally(() => process.exit(0));
};
process.on("SIGTERM", stop);
process.on("SIGINT", stop);
if (process.connected) process.once("disconnect", stop);
