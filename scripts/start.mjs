#!/usr/bin/env node
// @ts-check
/** `npm start`: installs what is missing, then runs `sluice up` on a Node that is new enough. Runs on Node 20. */
import path from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled, handOver, SetupError } from "./lib/install.mjs";

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..");
const startedAt = Date.now();

try {
  const { node } = await ensureInstalled(root, (line) => console.log(`[1/6] install    ${line} ...`));
  const installMs = Date.now() - startedAt;
  console.log(`[1/6] install    packages are there (${(installMs / 1_000).toFixed(1)} s)`);
  process.env.SLUICE_INSTALL_MS = String(installMs);
  handOver(node, "cli/sluice.ts", ["up", ...process.argv.slice(2)], root);
} catch (error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`sluice: ${error.message}`);
  process.exitCode = 1;
}
