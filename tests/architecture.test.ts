/**
 * Holds the tree to its own rules (docs/architecture.md): who may import whom, where SQL and the environment stand,
 * a pure domain, short functions and files, documented error codes. Each rule is first shown a bad example.
 */
import { readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { ERRORS } from "#domain/errors.ts";
import { checkRooms } from "./architecture/rooms.ts";
import {
  checkEnvironment,
  checkLengths,
  checkPurity,
  checkSql,
  looksLikeSql,
  MOST_FILE_LINES,
  MOST_FUNCTION_LINES,
  MOST_ROUTE_LINES,
  missingCodes,
} from "./architecture/rules.ts";
import { type Finding, readTree, type SourceFile } from "./architecture/tree.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const tree = readTree(ROOT);

function shown(findings: Finding[]): string[] {
  return findings.map(({ path: file, line, message }) => `${file}:${line} ${message}`);
}

function one(filePath: string, text: string): SourceFile[] {
  return [{ path: filePath, text }];
}

function lines(count: number, text: string): string {
  return Array.from({ length: count }, () => text).join("\n");
}

describe("the import table", () => {
  it("holds for every file", () => {
    expect(shown(checkRooms(tree))).toEqual([]);
  });

  it.each([
    ["domain/x.ts", 'import { createPool } from "#db/pool.ts";'],
    ["domain/x.ts", 'import { readFileSync } from "node:fs";'],
    ["outbox/x.ts", 'import { createPool } from "#db/pool.ts";'],
    ["outbox/x.ts", 'import { PrismaClient } from "@prisma/client";'],
    ["db/x.ts", 'import { dispatch } from "#worker/dispatch.ts";'],
    ["worker/x.ts", 'import { readOverview } from "#db/console/read-overview.ts";'],
    ["worker/x.ts", 'import { page } from "#app/page.tsx";'],
    ["app/x.ts", 'import { dispatch } from "#worker/dispatch.ts";'],
    ["app/x.ts", 'import { claim } from "#db/queue/claim.ts";'],
    ["app/(console)/x.ts", 'import { holds } from "#demo/holds/sweep.ts";'],
    ["components/x.tsx", 'import { readOverview } from "#db/console/read-overview.ts";'],
    ["cli/x.ts", 'export { page } from "#app/page.tsx";'],
    ["demo/x.ts", 'const sql = await import("#db/queue/claim.ts");'],
    ["bench/x.ts", 'import { page } from "#app/page.tsx";'],
    ["tests/x.ts", 'import type { Page } from "#app/page.tsx";'],
    ["worker/x.test.ts", 'import { page } from "#app/page.tsx";'],
    ["worker/x.ts", 'import { createPool } from "../db/pool.ts";'],
    ["next.config.ts", 'import { createPool } from "./db/pool.ts";'],
    ["helpers/x.ts", "export {};"],
  ])("refuses, in %s: %s", (file, text) => {
    expect(checkRooms(one(file, text))).toHaveLength(1);
  });

  it.each([
    ["domain/x.ts", 'import { z } from "zod"; import { y } from "./y.ts";'],
    ["components/x.tsx", 'import type { Overview } from "#db/console/read-overview.ts";'],
    ["app/demo/page.tsx", 'import { holds } from "#demo/holds/sweep.ts";'],
    ["worker/x.ts", 'import { createPool } from "#db/pool.ts"; import { claim } from "#db/queue/claim.ts";'],
    ["worker/x.test.ts", 'import { createReceiver } from "#demo/receiver/server.ts";'],
    ["playwright.config.ts", 'import { findBrowser } from "./scripts/lib/browser.ts";'],
  ])("allows, in %s: %s", (file, text) => {
    expect(shown(checkRooms(one(file, text)))).toEqual([]);
  });
});

describe("SQL", () => {
  it("stands only where it lives", () => {
    expect(shown(checkSql(tree))).toEqual([]);
  });

  it("is found in strings and templates of other rooms", () => {
    const text = "const a = 'SELECT id FROM delivery'; const b = `UPDATE sluice.tenant SET x = $" + "{a}`;";
    expect(checkSql(one("worker/x.ts", text))).toHaveLength(2);
    expect(checkSql(one("demo/holds/sweep.ts", text))).toHaveLength(2);
    expect(checkSql(one("demo/holds/sql.ts", text))).toEqual([]);
    expect(checkSql(one("outbox/sql.ts", text))).toEqual([]);
    expect(checkSql(one("worker/sql.ts", text))).toHaveLength(2);
  });

  it.each([
    "with due as (select 1) select * from due",
    "\n  INSERT INTO x VALUES (1)",
    "LISTEN sluice_wake",
    "SELECT 1",
  ])("is recognised: %s", (text) => expect(looksLikeSql(text)).toBe(true));

  it.each([
    "Select a tenant from the list",
    "Update the limits",
    "With two regions as well",
    "Delete",
    "truncate text-faint",
  ])("is not a sentence: %s", (text) => expect(looksLikeSql(text)).toBe(false));
});

describe("the environment", () => {
  it("is read only by config files, scripts and tests", () => {
    expect(shown(checkEnvironment(tree))).toEqual([]);
  });

  it("is found in any other file", () => {
    const read = "export const url = process.env.DATABASE_URL;";
    expect(checkEnvironment(one("worker/x.ts", read))).toHaveLength(1);
    expect(checkEnvironment(one("worker/x.ts", 'import { env } from "node:process";'))).toHaveLength(1);
    expect(checkEnvironment(one("worker/config.ts", read))).toEqual([]);
    expect(checkEnvironment(one("next.config.ts", read))).toEqual([]);
    expect(checkEnvironment(one("scripts/x.ts", read))).toEqual([]);
  });
});

describe("domain", () => {
  it("is pure", () => {
    expect(shown(checkPurity(tree))).toEqual([]);
  });

  it.each([
    "export const now = () => Date.now();",
    "export const now = () => new Date();",
    "export const now = () => performance.now();",
    "export const chance = () => Math.random();",
    'import { randomUUID } from "node:crypto";',
    "export const id = () => crypto.randomUUID();",
    "export const load = () => fetch(url);",
    "setTimeout(work, 10);",
    "export const url = process.env.URL;",
  ])("may not say: %s", (text) => {
    expect(checkPurity(one("domain/x.ts", text))).not.toEqual([]);
    expect(checkPurity(one("worker/x.ts", text))).toEqual([]);
  });

  it("may read a date that it is given", () => {
    const text =
      "export const f = (nowMs: number, random: () => number) => new Date(nowMs).getTime() * random();";
    expect(checkPurity(one("domain/x.ts", text))).toEqual([]);
  });
});

describe("lengths", () => {
  it("stay within their limits", () => {
    expect(shown(checkLengths(tree))).toEqual([]);
  });

  it("are found when they do not", () => {
    const body = (count: number) => `function f() {\n${lines(count - 2, "  g();")}\n}`;
    expect(checkLengths(one("worker/x.ts", body(MOST_FUNCTION_LINES)))).toEqual([]);
    expect(checkLengths(one("worker/x.ts", body(MOST_FUNCTION_LINES + 1)))).toHaveLength(1);
    expect(checkLengths(one("worker/x.ts", lines(MOST_FILE_LINES, "g();")))).toEqual([]);
    expect(checkLengths(one("worker/x.ts", lines(MOST_FILE_LINES + 1, "g();")))).toHaveLength(1);
    expect(checkLengths(one("app/api/v1/x/route.ts", lines(MOST_ROUTE_LINES + 1, "g();")))).toHaveLength(1);
  });
});

describe("error codes", () => {
  it("are all documented in docs/errors.md", () => {
    const document = readFileSync(path.join(ROOT, "docs", "errors.md"), "utf8");
    expect(missingCodes(Object.keys(ERRORS), document)).toEqual([]);
  });

  it("are missed when they are not, also as part of another word", () => {
    expect(missingCodes(["bad_key", "bad_id"], "| `bad_key_size` | `bad_id` |")).toEqual(["bad_key"]);
  });
});
