/** What a browser sees: the script that a page loads first, compressed, and the time until the overview can be used. */
import { readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";
import { type Browser, chromium } from "@playwright/test";
import { findBrowser } from "#scripts/lib/browser.ts";
import { median, round } from "../lib/stats.ts";
import { type ConsoleProcess, DIST_DIR, type Person, ROOT, signIn } from "./console-process.ts";
import type { Known } from "./sql.ts";

const BYTES_PER_KB = 1_000;
const USABLE_TIMEOUT_MS = 30_000;
const VIEWPORT = { width: 1_360, height: 900 };

export interface PageScript {
  readonly page: string;
  readonly kB: number;
}

/** Every kind of page, with ids that exist. */
function pagesOf(known: Known): [string, string][] {
  return [
    ["/", "/"],
    ["/tenants", "/tenants"],
    ["/tenants/[id]", `/tenants/${known.tenants[0]}?region=us`],
    ["/destinations", "/destinations?region=us"],
    ["/destinations/[id]", `/destinations/${known.destinations[0]}?region=us`],
    ["/deliveries", "/deliveries?region=us"],
    ["/deliveries/[id]", `/deliveries/${known.live[0]}`],
    ["/dead-letters", "/dead-letters?region=us"],
    ["/replays", "/replays?region=us"],
    ["/replays/new", "/replays/new?region=us"],
    ["/regions", "/regions"],
    ["/audit", "/audit?region=us"],
    ["/settings", "/settings"],
    ["/about", "/about"],
    ["/login", "/login"],
  ];
}

/** The scripts that the page's own HTML names, each compressed as the server does it. What is loaded later is not first. */
export async function weighPages(
  console: ConsoleProcess,
  person: Person,
  known: Known,
): Promise<PageScript[]> {
  const cookie = await signIn(console.url, person);
  const scripts: PageScript[] = [];
  for (const [page, address] of pagesOf(known)) {
    const headers: Record<string, string> = page === "/login" ? {} : { cookie };
    const response = await fetch(`${console.url}${address}`, { headers, redirect: "manual" });
    if (response.status !== 200) throw new Error(`${address} was answered with ${response.status}`);
    scripts.push({ page, kB: round(bytesOf(await response.text()) / BYTES_PER_KB, 1) });
  }
  return scripts;
}

function bytesOf(html: string): number {
  // Browsers that load modules leave out what is for older ones.
  const tags = [...html.matchAll(/<script\b[^>]*>/g)]
    .map(([tag]) => tag)
    .filter((tag) => !/\bnomodule\b/i.test(tag));
  const files = new Set(
    tags.flatMap((tag) => /\bsrc="\/_next\/([^"?]+)/.exec(tag)?.[1] ?? []).map(decodeURI),
  );
  if (files.size === 0) throw new Error("a page without a script");
  return [...files].reduce(
    (sum, file) => sum + gzipSync(readFileSync(path.join(ROOT, DIST_DIR, file))).length,
    0,
  );
}

/** From the request of the page until verdict and matrix are shown, in milliseconds; a new context for each opening. */
export async function timeOverview(
  console: ConsoleProcess,
  person: Person,
  openings: number,
): Promise<number[]> {
  const { executablePath, args } = findBrowser();
  const browser = await chromium.launch({ executablePath, args });
  try {
    const cookie = await signIn(console.url, person);
    const times: number[] = [];
    for (let opening = 0; opening < openings; opening++) times.push(await open(browser, console.url, cookie));
    return times;
  } finally {
    await browser.close();
  }
}

async function open(browser: Browser, url: string, cookie: string): Promise<number> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  try {
    await context.addCookies(
      cookie.split("; ").map((pair) => ({
        name: pair.slice(0, pair.indexOf("=")),
        value: pair.slice(pair.indexOf("=") + 1),
        url,
      })),
    );
    const page = await context.newPage();
    page.setDefaultTimeout(USABLE_TIMEOUT_MS);
    const begunAt = performance.now();
    await page.goto(url, { waitUntil: "commit" });
    const verdict = page.getByTestId("verdict-us");
    await Promise.all([
      verdict.waitFor(),
      page
        .getByRole("table", { name: /Tenants by region/ })
        .getByRole("row")
        .nth(1)
        .waitFor(),
    ]);
    const usableMs = performance.now() - begunAt;
    // Shown too, but nothing that one could use.
    if (/does not answer/.test((await verdict.textContent()) ?? ""))
      throw new Error("the overview had no numbers of us");
    return usableMs;
  } finally {
    await context.close();
  }
}

export function medianMs(times: readonly number[]): number {
  return round(median(times));
}
