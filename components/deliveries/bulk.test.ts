/** Rule 3: each ticked delivery ends as done, skipped with its reason, or failed, and none is lost on the way. */
import { describe, expect, it } from "vitest";
import { ProblemError, UnreachableError } from "#components/queries/fetch-json.ts";
import { MAX_NAMED_DELIVERIES } from "#domain/delivery-filter.ts";
import { PERMISSIONS, ROLES } from "#domain/permissions.ts";
import {
  BULK_ACTIONS,
  BULK_ROLES,
  type BulkResult,
  type BulkVerb,
  bulkButton,
  bulkRefusal,
  leftOut,
  resultOfError,
  runBulk,
  sumWords,
} from "./bulk.ts";

const refusal = (code: string, status = 409) =>
  new ProblemError({
    title: "Not now",
    detail: "the delivery is in flight",
    status,
    code,
    correlationId: "c",
  });
const row = (state: "ready" | "leased" | "delayed" | "dead" | "delivered" | "cancelled", lane = "retry") =>
  ({ id: "dlv_1", state, lane }) as Parameters<typeof leftOut>[1];

describe("which rows are asked for", () => {
  it.each<[BulkVerb, ReturnType<typeof row>["state"], boolean]>([
    ["retry-now", "delayed", true],
    ["retry-now", "ready", false],
    ["retry-now", "leased", false],
    ["retry-now", "dead", false],
    ["retry-now", "delivered", false],
    ["cancel", "ready", true],
    ["cancel", "delayed", true],
    ["cancel", "leased", false],
    ["cancel", "dead", false],
    ["cancel", "cancelled", false],
  ])("%s of a %s one: %s", (verb, state, asked) => {
    const why = leftOut(verb, row(state));
    if (asked) expect(why).toBeNull();
    else expect(why).toMatch(/^[A-Z].*\.$/);
  });

  it("leaves deliveries of a batch to the batch", () => {
    expect(leftOut("cancel", row("delayed", "replay"))).toContain("stop the batch");
  });

  it("is shut without the role, beyond the limit and when nothing would be asked for", () => {
    const all = ["retry_now", "cancel"];
    expect(bulkRefusal("cancel", [row("ready")], all)).toBeNull();
    expect(bulkRefusal("cancel", [row("ready")], ["retry_now"])).toBe("Needs the role operator or admin");
    expect(bulkRefusal("cancel", [row("delivered")], all)).toBe("None of them waits");
    const many = Array.from({ length: MAX_NAMED_DELIVERIES + 1 }, () => row("delayed"));
    expect(bulkRefusal("retry-now", many, all)).toBe("At most 50 at once");
  });

  it("names the roles that the table of permissions names", () => {
    for (const verb of ["retry-now", "cancel"] as const) {
      expect(ROLES.filter((role) => PERMISSIONS[BULK_ACTIONS[verb]][role].allowed)).toEqual(BULK_ROLES[verb]);
    }
  });
});

describe("what becomes of a row", () => {
  it("another state is skipped with the words of the command; a refusal or no answer has failed", () => {
    expect(resultOfError("a", refusal("state_conflict"))).toEqual({
      id: "a",
      outcome: "skipped",
      why: "The delivery is in flight",
    });
    expect(resultOfError("a", refusal("not_found", 404)).outcome).toBe("skipped");
    expect(resultOfError("a", refusal("forbidden", 403)).outcome).toBe("failed");
    expect(resultOfError("a", new UnreachableError("gone")).why).toContain("may have been done");
  });

  const run = async (
    send: (id: string) => Promise<{ applied: boolean }>,
    stopAfter = Number.POSITIVE_INFINITY,
  ) => {
    const results: BulkResult[] = [];
    await runBulk({
      ids: ["a", "b", "c", "d"],
      send,
      isStopped: () => results.length >= stopAfter,
      onResult: (result) => results.push(result),
    });
    return results;
  };

  it("goes on after one that was refused, in order, and counts them all", async () => {
    const results = await run(async (id) => {
      if (id === "b") throw refusal("state_conflict");
      if (id === "c") throw new UnreachableError("gone");
      return { applied: id !== "d" };
    });
    expect(results.map(({ id, outcome }) => `${id} ${outcome}`)).toEqual([
      "a done",
      "b skipped",
      "c failed",
      "d done",
    ]);
    expect(results[3]?.why).toContain("could not be had yet");
    expect(sumWords(results)).toBe("2 done, 1 skipped, 1 failed");
  });

  it("sends nothing more after a stop or the end of the session, and says so of each", async () => {
    const sent: string[] = [];
    const stopped = await run(async (id) => {
      sent.push(id);
      return { applied: true };
    }, 1);
    expect(sent).toEqual(["a"]);
    expect(stopped.slice(1).map(({ outcome, why }) => [outcome, why])).toEqual(
      Array.from({ length: 3 }, () => ["skipped", "Not sent: stopped before its turn."]),
    );
    const signedOut = await run(async () => {
      throw refusal("unauthenticated", 401);
    });
    expect(signedOut.map(({ outcome }) => outcome)).toEqual(["failed", "failed", "failed", "failed"]);
    expect(signedOut[1]?.why).toBe("Not sent: your session has ended.");
  });
});

it("the number on the button is the number that is asked for", () => {
  expect([bulkButton("retry-now", 9), bulkButton("cancel", 1), bulkButton("cancel", 12)]).toEqual([
    "Retry 9 now",
    "Cancel 1 delivery",
    "Cancel 12 deliveries",
  ]);
});
