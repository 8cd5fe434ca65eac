/** The bounds that forms show are those that the commands hold: a form must not promise what the API refuses. */
import { describe, expect, it } from "vitest";
import * as commands from "#domain/commands.ts";
import * as limits from "#domain/commands-limits.ts";
import * as pause from "#domain/commands-pause.ts";
import * as bounds from "./bounds.ts";

describe("the bounds of the forms", () => {
  it("are the commands' own", () => {
    const { refuseReason: _, ...shown } = bounds;
    expect(shown).toEqual({
      REASON_MIN_CHARS: commands.REASON_MIN_CHARS,
      REASON_MAX_CHARS: commands.REASON_MAX_CHARS,
      TICKET_MAX_CHARS: commands.TICKET_MAX_CHARS,
      MIN_PAUSE_MS: pause.MIN_PAUSE_MS,
      MAX_PAUSE_MS: pause.MAX_PAUSE_MS,
      DEFAULT_RESUME_SHARE: pause.DEFAULT_RESUME_SHARE,
      MAX_TENANT_CONCURRENCY: limits.MAX_TENANT_CONCURRENCY,
      MAX_DESTINATION_CONCURRENCY: limits.MAX_DESTINATION_CONCURRENCY,
      MIN_RATE_PER_SECOND: limits.MIN_RATE_PER_SECOND,
      MAX_RATE_PER_SECOND: limits.MAX_RATE_PER_SECOND,
      MAX_RATE_BURST: limits.MAX_RATE_BURST,
      MAX_WEIGHT: limits.MAX_WEIGHT,
    });
  });

  it.each(["", "short", `   ${"x".repeat(9)}   `, "x".repeat(10), "x".repeat(500), "x".repeat(501)])(
    "a reason of %j is refused by the form exactly when the command refuses it",
    (reason) => {
      expect(bounds.refuseReason(reason) === null).toBe(commands.Reason.safeParse(reason).success);
    },
  );
});
