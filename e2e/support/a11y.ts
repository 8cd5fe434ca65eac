/**
 * What the accessibility tests look at on a page as it stands: axe in both themes, its width on a small screen, its tables,
 * and what the focus looks like. Findings are soft, so that one run tells all of them. It must never change data.
 */
import { expect, type Locator, type Page } from "@playwright/test";
import axe from "axe-core";

/** WCAG 2.2 up to AA, and axe's best practices: target sizes are in the first only when asked for by tag. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];
export const WIDE = { width: 1280, height: 720 };
export const SMALLEST = { width: 320, height: 720 };
const HTML_CHARS = 200;
const TAB_LIMIT = 150;
const WIDTH_TIMEOUT_MS = 5_000;

/** What of the rules: all; those that a theme can break; those that markup and size can break. */
type Rules = "all" | "colours" | "structure";

const RUN_ONLY: Readonly<Record<Rules, axe.RunOptions>> = {
  all: { runOnly: { type: "tag", values: TAGS } },
  colours: { runOnly: { type: "rule", values: COLOUR_RULES } },
  structure: {
    runOnly: { type: "tag", values: TAGS },
    rules: Object.fromEntries(COLOUR_RULES.map((rule) => [rule, { enabled: false }])),
  },
};

/**
 * One line per element that breaks a rule.
 * @param within selector of the part that is looked at; without it the whole page, and what is asked of a page as a whole
 */
export async function axeFindings(
  page: Page,
  rules: Rules = "all",
  within: string | null = null,
): Promise<string[]> {
  // Brought into a page once, not with each look at it: reading half a megabyte of script costs more than many a look.
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe.source);
  const options: axe.RunOptions = { ...RUN_ONLY[rules], resultTypes: ["violations"] };
  const violations = await page.evaluate(
    async ([part, options]) => {
      const own = (window as unknown as { axe: typeof axe }).axe;
      return (await own.run(part === null ? document : { include: part }, options)).violations;
    },
    [within, options] as const,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ target, html, any }) =>
      [id, target.join(" "), html.slice(0, HTML_CHARS), any[0]?.message ?? ""].join(" | "),
    ),
  );
}

/**
 * All of axe in the light theme and, without a reload, its rules of colour in the dark one.
 * @param within as for axeFindings: for what opens on a page that has been looked at as it stood before
 */
export async function checkAxe(page: Page, what: string, within: string | null = null): Promise<void> {
  await inTheme(page, "light");
  expect.soft(await axeFindings(page, "all", within), `${what}, light`).toEqual([]);
  await inTheme(page, "dark");
  expect.soft(await axeFindings(page, "colours", within), `${what}, dark`).toEqual([]);
}

async function inTheme(page: Page, colorScheme: "light" | "dark"): Promise<void> {
  await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
  await expect(page.locator("html")).toHaveAttribute("data-theme", colorScheme);
}

/** As `checkAxe`, and at 320 px: no sideways scrolling of the page, every wide table in a labelled region. */
export async function checkView(page: Page, what: string, within: string | null = null): Promise<void> {
  await settled(page);
  await checkAxe(page, what, within);
  await checkSmall(page, what);
}

/** At 320 px only: for pages and states whose parts stand in axe's sight elsewhere. */
export async function checkSmall(page: Page, what: string): Promise<void> {
  await page.setViewportSize(SMALLEST);
  await checkWidth(page, what);
  await page.setViewportSize(WIDE);
}

/** A state of a page made of parts whose colours are checked elsewhere in both themes: axe once for the rest, and 320 px. */
export async function checkState(page: Page, what: string): Promise<void> {
  expect.soft(await axeFindings(page, "structure"), what).toEqual([]);
  await page.setViewportSize(SMALLEST);
  await checkWidth(page, what);
  await page.setViewportSize(WIDE);
}

/** At 320 px: the page is not wider than that, and what is wider can be reached and has a name. */
export async function checkWidth(page: Page, what: string): Promise<void> {
  await expect
    .configure({ soft: true })
    .poll(() => pageWidth(page), { message: `${what}, width`, timeout: WIDTH_TIMEOUT_MS })
    .toBeLessThanOrEqual(SMALLEST.width);
  expect.soft(await unlabelledScrollers(page), `${what}, tables at 320 px`).toEqual([]);
}

/** Opens a page and waits until it shows what it is for. */
export async function visit(page: Page, path: string, shows: Locator): Promise<void> {
  await page.goto(path);
  await expect(shows.first()).toBeVisible();
}

/** Until no stand-in is left in sight. */
export async function settled(page: Page): Promise<void> {
  await expect(page.locator(".animate-skeleton:visible")).toHaveCount(0);
}

/** How wide the page is in all, in CSS pixels. */
export function pageWidth(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth);
}

/** Tables wider than their place that a keyboard cannot scroll or a reader cannot name. */
function unlabelledScrollers(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll("table")].flatMap((table) => {
      let box: HTMLElement | null = table.parentElement;
      while (box !== null && !/auto|scroll/.test(getComputedStyle(box).overflowX)) box = box.parentElement;
      const name = table.caption?.textContent ?? table.outerHTML.slice(0, 80);
      if (table.offsetParent === null || table.offsetWidth <= (table.parentElement?.clientWidth ?? 0))
        return [];
      if (box === null) return [`${name}: nothing scrolls`];
      const named = box.hasAttribute("aria-label") || box.hasAttribute("aria-labelledby");
      return named && box.tabIndex === 0 ? [] : [`${name}: the region has no name or no focus`];
    }),
  );
}

/**
 * Presses Tab until the element has the focus, and looks at every stop on the way: the focus must be seen and must not lie
 * under something. Fails when the element is not reached.
 */
export async function tabTo(page: Page, element: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  await expect(element).toBeVisible();
  for (let presses = 0; presses < TAB_LIMIT; presses += 1) {
    await page.keyboard.press(key);
    expect.soft(await focusProblem(page)).toBeNull();
    if (await element.evaluate((own) => own === document.activeElement)) return;
  }
  throw new Error(`${TAB_LIMIT} presses of ${key} did not reach it: ${element}`);
}

/** What is wrong with the focus as it is drawn now, or null. */
function focusProblem(page: Page): Promise<string | null> {
  return page.evaluate(() => {
    const own = document.activeElement;
    if (!(own instanceof HTMLElement || own instanceof SVGElement) || own === document.body) return null;
    const name = `${own.outerHTML.slice(0, 160)}`;
    const drawn = (element: Element | null) => {
      if (element === null) return false;
      const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
      return (outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2) || boxShadow !== "none";
    };
    if (![own, own.parentElement, own.nextElementSibling].some(drawn)) return `not seen: ${name}`;
    const box = own.getBoundingClientRect();
    const hits = [0.1, 0.5, 0.9].flatMap((x) =>
      [0.1, 0.5, 0.9].map((y) =>
        document.elementFromPoint(box.left + box.width * x, box.top + box.height * y),
      ),
    );
    // A visually hidden field is its label's: the label is what is seen.
    const seen = own.closest("label") ?? own;
    return hits.some((hit) => hit !== null && (seen.contains(hit) || hit.contains(seen)))
      ? null
      : `under something: ${name}`;
  });
}

/** Animations and transitions that run at this moment. */
export function runningAnimations(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    document
      .getAnimations()
      .filter((animation) => animation.playState === "running")
      .map((animation) => {
        const target = (animation.effect as KeyframeEffect | null)?.target;
        return target?.outerHTML.slice(0, 120) ?? "unknown";
      }),
  );
}
