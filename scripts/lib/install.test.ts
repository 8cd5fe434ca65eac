/** Promises of the parts of the install that can be told without a network. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

/** Plain JavaScript, because it runs before anything that could check or strip types. */
const INSTALL = new URL("./install.mjs", import.meta.url);
const { isOlder }: { isOlder(version: string, limit: string): boolean } = await import(INSTALL.href);

describe("isOlder", () => {
  it.each([
    ["20.9.0", "20.9.0", false],
    ["20.8.9", "20.9.0", true],
    ["22.19.0", "22.18.9", false],
    ["9.0.0", "10.0.0", true],
    ["24.0.0", "22.19.0", false],
  ])("%s before %s: %s", (version, limit, older) => expect(isOlder(version, limit)).toBe(older));
});

describe("npm start in a folder whose packages cannot be installed", () => {
  it("gives one line with npm's reason, exit code 1, and no mark that would skip the next try", () => {
    const root = mkdtempSync(path.join(tmpdir(), "sluice-install-"));
    const manifest = { name: "sluice", version: "0.1.0", dependencies: { nothing: "file:nowhere.tgz" } };
    const nothing = { version: "1.0.0", resolved: "file:nowhere.tgz" };
    const lock = {
      ...manifest,
      lockfileVersion: 3,
      packages: { "": manifest, "node_modules/nothing": nothing },
    };
    writeFileSync(path.join(root, "package.json"), JSON.stringify(manifest));
    writeFileSync(path.join(root, "package-lock.json"), JSON.stringify(lock));
    mkdirSync(path.join(root, "prisma"));
    const module = JSON.stringify(fileURLToPath(INSTALL));
    const script = `const { ensureInstalled } = await import(${module});
      try { await ensureInstalled(${JSON.stringify(root)}, () => {}); }
      catch (error) { console.error(error.name + ": " + error.message); process.exit(1); }`;
    for (let attempt = 1; attempt <= 2; attempt += 1) {
      const result = spawnSync(process.execPath, ["--input-type=module", "-e", script], { encoding: "utf8" });
      expect(result.status).toBe(1);
      expect(result.stderr.trim().split("\n")).toEqual([
        expect.stringMatching(/^SetupError: npm ci failed: \S.{10,}/),
      ]);
    }
    rmSync(root, { recursive: true });
  });
});
