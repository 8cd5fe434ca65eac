#!/usr/bin/env node
// @ts-check
/** `npm test`: installs what is missing, then runs every check on a Node that is new enough. Runs on Node 20. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled, handOver, SetupError } from "./lib/install.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");

try {
  const { node } = await ensureInstalled(root, (line) => console.log(`install: ${line}`));
  handOver(node, "scripts/test-all.ts", process.argv.slice(2), root);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`npm test: ${error.message}`);
  console.log("0 passed, 1 failed");
  process.exitCode = 1;
}
