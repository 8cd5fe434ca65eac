/** Whatever is held on purpose is said on every page, the gravest first, and is said again while it lasts. */
import { describe, expect, test } from "vitest";
import type {
  ActiveControl,
  ActiveControls,
  ActiveControlsAnswer,
} from "#db/console/list-active-controls.ts";
import { coarseAge, bannerLines as linesIn, REMINDER_MS } from "./banner-lines.ts";

const AS_OF = "2026-03-09T12:00:00.000Z";
const AS_OF_MS = Date.parse(AS_OF);
const bannerLines = (controls: ActiveControlsAnswer) => linesIn(controls, "utc");
const NOTHING: ActiveControls = {
  claimsStopped: null,
  controls: [],
  pausedTenants: 0,
  pausedDestinations: 0,
  disabledDestinations: 0,
  nextEnd: null,
  replays: [],
  replaysRunning: 0,
  replaysPaused: 0,
  replaysAutoPaused: 0,
  breakGlass: [],
  awaitingMe: 0,
};

function at(minutes: number): string {
  return new Date(AS_OF_MS + minutes * 60_000).toISOString();
}

function control(part: Partial<ActiveControl>): ActiveControl {
  return {
    kind: "tenant_paused",
    id: "ten_1",
    name: "Northwind Pay",
    tenantId: "ten_1",
    tenantSlug: "northwind-pay",
    by: "user:ann",
    reason: "asked for",
    since: at(-10),
    until: at(50),
    ...part,
  };
}

function answer(us: Partial<ActiveControls>, eu?: Partial<ActiveControls>): ActiveControlsAnswer {
  return {
    regions: [
      { region: "us", status: "ok", asOf: AS_OF, data: { ...NOTHING, ...us } },
      eu === undefined
        ? { region: "eu", status: "unavailable", detail: "no answer" }
        : { region: "eu", status: "ok", asOf: AS_OF, data: { ...NOTHING, ...eu } },
    ],
  };
}

function stopped(minutesAgo: number): Partial<ActiveControls> {
  return { claimsStopped: { by: "user:ann", reason: "switching version", since: at(-minutesAgo) } };
}

test("nothing held says nothing; a region that does not answer is unknown, not empty", () => {
  expect(bannerLines(answer({}, {}))).toEqual([]);
  expect(bannerLines(answer({})).map(({ key, text }) => [key, text.includes("unknown")])).toEqual([
    ["unknown-eu", true],
  ]);
});

test("stopped claims come first, whatever is newer; the others newest first", () => {
  const lines = bannerLines(
    answer(
      { controls: [control({ since: at(-1) })], pausedTenants: 1 },
      {
        ...stopped(5),
        controls: [
          control({ kind: "destination_disabled", id: "dst_1", name: "Ledger", since: at(0), until: null }),
        ],
        disabledDestinations: 1,
      },
    ),
  );
  expect(lines.map(({ key }) => key)).toEqual(["claims-eu", "destinations-eu", "tenants-us"]);
  expect(lines[1]).toMatchObject({
    text: "EU: 1 destination disabled: Ledger of northwind-pay.",
    link: { href: "/destinations/dst_1?region=eu" },
  });
});

describe("stopped claims", () => {
  test("are told with who, why and how long", () => {
    expect(bannerLines(answer(stopped(5), {}))[0]?.text).toBe(
      "US: claims are stopped, for 5 m. Nothing new is sent. By ann: switching version",
    );
  });

  test("are read aloud again every 15 minutes, as still stopped", () => {
    const [early, before, after] = [1, 14, 32].map((minutes) => bannerLines(answer(stopped(minutes), {}))[0]);
    expect(early?.step).toBe(before?.step);
    expect(after?.step).not.toBe(before?.step);
    expect(after?.text).toContain("claims are still stopped, for 32 m.");
    expect(REMINDER_MS).toBe(900_000);
  });

  test("say neither who nor why to a reader who does not see the region as a whole", () => {
    const lines = bannerLines(answer({ claimsStopped: { by: null, reason: null, since: at(-5) } }, {}));
    expect(lines[0]?.text).toBe("US: claims are stopped, for 5 m. Nothing new is sent.");
  });
});

describe("pauses", () => {
  test("are counted and named, with the next end", () => {
    const controls = ["A", "B", "C"].map((name, index) =>
      control({ id: `ten_${name}`, name, until: at(50 + index) }),
    );
    const [line] = bannerLines(answer({ controls, pausedTenants: 5 }, {}));
    expect(line).toMatchObject({
      tone: "held",
      text: "US: 5 tenants paused: A, B, C and 2 more. The next one ends in 50 m.",
      link: { href: "/tenants?region=us" },
    });
  });

  test("are pointed out when four fifths are over, and read aloud then", () => {
    const [early, late] = [at(50), at(2)].map(
      (until) => bannerLines(answer({ controls: [control({ until })], pausedTenants: 1 }, {}))[0],
    );
    expect([early?.tone, late?.tone]).toEqual(["held", "warn"]);
    expect(late?.text).toContain("Ends in 2 m, and then it is sent again.");
    expect(late?.step).not.toBe(early?.step);
  });
});

test("seconds matter only in the first minute", () => {
  expect([coarseAge(42_000), coarseAge(32 * 60_000 + 5_000), coarseAge(125 * 60_000)]).toEqual([
    "42 s",
    "32 m",
    "2 h 5 m",
  ]);
});

describe("replays", () => {
  const batch = {
    id: "rpl_1",
    name: "INC-4812",
    region: "us",
    state: "running",
    pausedBy: null,
    cause: null,
    since: at(-3),
    items: 120,
    delivered: 40,
  } as const;

  test("that run are told, and one that is alone is linked", () => {
    const [line] = bannerLines(answer({ replays: [batch], replaysRunning: 1 }, {}));
    expect(line).toMatchObject({
      tone: "held",
      text: "US: 1 replay running: INC-4812.",
      link: { href: "/replays/rpl_1?region=us" },
    });
  });

  test("that paused by themselves are named with their cause, before those that only run", () => {
    const paused = {
      ...batch,
      id: "rpl_2",
      name: "INC-7",
      state: "paused",
      pausedBy: "auto",
      cause: "429 share 14 % > 10 % at 2026-03-09T11:58:00.000Z, 31 of 500 released",
    } as const;
    const [line] = bannerLines(
      answer({ replays: [batch, paused], replaysRunning: 1, replaysPaused: 1, replaysAutoPaused: 1 }, {}),
    );
    expect(line).toMatchObject({
      tone: "warn",
      text: "US: 1 replay running, 1 replay paused, 1 of them by itself: INC-7. 429 share 14 % > 10 % at 09 Mar 11:58:00 UTC, 31 of 500 released",
      link: { href: "/replays?region=us&tab=running" },
    });
  });

  test("beyond the third are counted, not left out", () => {
    const replays = [1, 2, 3, 4, 5].map((n) => ({ ...batch, id: `rpl_${n}`, name: `INC-${n}` }));
    const [line] = bannerLines(answer({ replays, replaysRunning: 5 }, {}));
    expect(line?.text).toBe("US: 5 replays running: INC-1, INC-2, INC-3 and 2 more.");
  });

  test("without a second person are told for as long as the server tells them", () => {
    const breakGlass = [
      {
        id: "rpl_3",
        name: "INC-9",
        by: "user:ann",
        reason: "nobody is awake",
        at: at(-60),
        until: at(1_380),
      },
    ];
    expect(bannerLines(answer({ breakGlass }, {}))[0]).toMatchObject({
      tone: "warn",
      text: "US: ann started the replay INC-9 without a second person. nobody is awake",
    });
  });
});
