/**
 * The batch of the replay drill, by the API as two people: the author drafts, inspects, annotates, plans and submits; the second
 * person approves, starts and continues. Every step is an ordinary command; there is no short cut in here.
 */
import type { RegionAnswer } from "#db/console/read-region.ts";
import type {
  ReplayDetail,
  ReplayItemPage,
  ReplayItemView,
  ReplayReport,
} from "#db/console/replay/replay-views.ts";
import type { Region } from "#domain/region.ts";
import { isEnded } from "#domain/replay.ts";
import type { ReplayVerb } from "#domain/replay-actions.ts";
import { ApiRefusal, type Person } from "./person.ts";
import { dataOf } from "./replay-scene.ts";
import { type Deadline, waitUntil } from "./steps.ts";

const PAGE_ROWS = 100;
const MAX_PAGES = 60;
/** Answers that a second look may change: somebody or the runner was faster, or a condition is red for a moment. */
const PASSING: readonly string[] = ["version_conflict", "state_conflict", "replay_red", "region_unavailable"];

export interface Batch {
  /** `rpl_...` */
  readonly id: string;
  readonly region: Region;
  readonly reason: string;
}

interface CommandAnswer {
  readonly version: number | null;
  readonly after: Readonly<Record<string, unknown>>;
}

const path = ({ id, region }: Batch, part = "") => `replays/${id}${part}?region=${region}`;

export async function readBatch(person: Person, batch: Batch): Promise<ReplayDetail> {
  return dataOf(await person.get<RegionAnswer<ReplayDetail>>(path(batch)));
}

/** One command with the version of this moment. */
async function command(
  person: Person,
  batch: Batch,
  verb: ReplayVerb,
  fields: object = {},
): Promise<CommandAnswer> {
  const { version } = await readBatch(person, batch);
  return person.send(path(batch, `/${verb}`), { version, body: { ...fields, reason: batch.reason } });
}

export async function draft(
  author: Person,
  region: Region,
  wanted: { readonly name: string; readonly ids: readonly string[]; readonly reason: string },
): Promise<Batch> {
  const { id } = await author.send<{ id: string }>(`replays?region=${region}`, {
    body: {
      name: wanted.name,
      selection: { ids: wanted.ids },
      limit: wanted.ids.length,
      reason: wanted.reason,
    },
  });
  return { id, region, reason: wanted.reason };
}

/** Opens every entry of the sample, as a page does, and says so. @returns how many */
export async function inspect(author: Person, batch: Batch): Promise<number> {
  const { sample } = await readBatch(author, batch);
  const deliveryIds = sample.map(({ id }) => id);
  for (const id of deliveryIds) await author.get(`deliveries/${id}`);
  await command(author, batch, "inspect", { deliveryIds });
  return deliveryIds.length;
}

/** @param causeGone what the drill has seen for itself */
export async function annotate(author: Person, batch: Batch, causeGone: string): Promise<void> {
  const yes = (text: string) => ({ yes: true, evidence: text });
  await command(author, batch, "annotate", {
    rootCause: "The receiver of the drill refused every body",
    checklist: {
      rootCause: yes("the drill's own receiver was told to refuse"),
      causeGone: yes(causeGone),
      dedup: yes("the demo's receiver keeps keys"),
      meaningful: yes("written minutes ago by this drill"),
      order: yes("the events stand alone"),
    },
  });
}

export async function plan(author: Person, batch: Batch): Promise<void> {
  await command(author, batch, "plan", {
    plan: { ratePerSecond: 10, concurrency: 10, attemptBudget: 1 },
  });
}

/** @returns the SHA-256 that is to be approved */
export async function submit(author: Person, batch: Batch): Promise<string> {
  return String((await command(author, batch, "submit")).after.sha256);
}

/** @returns the refusal's words, or null when the approval went through */
export async function tryApprove(person: Person, batch: Batch, sha256: string): Promise<string | null> {
  try {
    await command(person, batch, "approve", { sha256 });
    return null;
  } catch (error) {
    if (error instanceof ApiRefusal && error.status === 403) return error.message;
    throw error;
  }
}

/** Starts or continues as soon as the batch allows it: conditions may be unknown or a hold may last. */
export function when(
  person: Person,
  batch: Batch,
  verb: "start" | "continue",
  deadline: Deadline,
): Promise<"done" | "not needed"> {
  const before = verb === "start" ? "approved" : "canary_hold";
  return waitUntil(`${verb} to be allowed`, deadline, async (why) => {
    const detail = await readBatch(person, batch);
    requireGoing(detail);
    // A policy may let the batch go on by itself.
    if (detail.state === "running" || isEnded(detail.state)) return "not needed";
    if (detail.state !== before) return null;
    const { allowed, reason } = detail.actions[verb];
    why(reason ?? "");
    if (!allowed) return null;
    try {
      await command(person, batch, verb);
      return "done";
    } catch (error) {
      if (!(error instanceof ApiRefusal) || !PASSING.includes(error.code)) throw error;
      why(error.message);
      return null;
    }
  });
}

/** @throws Error with the cause when the batch has paused: a drill never resumes by itself */
function requireGoing({ state, cause }: ReplayDetail): void {
  if (state === "paused") throw new Error(`the batch paused: ${cause}`);
}

/** Waits for a state or the end. `seen` is called with every look. */
export function waitForState(
  person: Person,
  batch: Batch,
  wanted: "canary_hold" | "ended",
  deadline: Deadline,
  seen: () => Promise<void>,
): Promise<ReplayDetail> {
  return waitUntil(`the batch to be ${wanted}`, deadline, async (why) => {
    const detail = await readBatch(person, batch);
    await seen();
    requireGoing(detail);
    why(`it is ${detail.state}, ${detail.progress}`);
    const there =
      isEnded(detail.state) ||
      (wanted === "canary_hold" && (detail.state === "canary_hold" || detail.state === "running"));
    return there ? detail : null;
  });
}

export async function readItems(person: Person, batch: Batch): Promise<ReplayItemView[]> {
  const rows: ReplayItemView[] = [];
  let cursor: string | null = null;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const after: string = cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`;
    const answer: ReplayItemPage = dataOf<ReplayItemPage>(
      await person.get(`${path(batch, "/items")}&limit=${PAGE_ROWS}${after}`),
    );
    rows.push(...answer.rows);
    cursor = answer.next;
    if (cursor === null) break;
  }
  return rows;
}

export async function readReport(person: Person, batch: Batch): Promise<ReplayReport> {
  return dataOf<ReplayReport>(await person.get(path(batch, "/report")));
}

/** Ends a batch that a failed drill leaves behind: nothing more of it is sent. */
export async function endBatch(author: Person, batch: Batch): Promise<void> {
  const { state } = await readBatch(author, batch);
  if (isEnded(state) || state === "stopping") return;
  const waiting = state === "draft" || state === "in_review" || state === "approved";
  await command(author, batch, waiting ? "cancel" : "stop");
}
