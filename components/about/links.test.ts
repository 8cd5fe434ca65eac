/** The about page links to nothing that does not exist. */
import { existsSync } from "node:fs";
import { expect, test } from "vitest";
import { ABOUT_LINKS, CANDIDATES } from "./links.ts";

test("a door for programs is linked exactly when it exists", () => {
  for (const { href } of CANDIDATES) {
    const linked = ABOUT_LINKS.some((link) => link.href === href);
    expect(linked, href).toBe(existsSync(`app${href}/route.ts`));
  }
});
