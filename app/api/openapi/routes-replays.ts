/**
 * Every route of replay batches. One folder serves all verbs; here each verb stands by itself, with its own body, because
 * that is what a caller sends. Who may comes from the table that the route runs by.
 */
import type { z } from "zod";
import {
  AnnotateReplay,
  ApproveReplay,
  BreakGlass,
  DraftReplay,
  InspectReplay,
  PlanReplay,
  PreviewReplay,
  RemoveReplayItems,
  ReplayCommand,
  SetReplayPolicy,
  SetReplayRate,
} from "#domain/commands-replay.ts";
import type { ErrorCode } from "#domain/errors.ts";
import { commandQuery } from "../command-schemas.ts";
import { POLICY_COMMANDS } from "../policies.ts";
import { REPLAY_COMMANDS, type ReplayVerb } from "../replay-commands.ts";
import {
  replayItemsExportQuery,
  replayItemsQuery,
  replayQuery,
  replayReportExportQuery,
  replaySummaryQuery,
  replaysQuery,
} from "../replay-schemas.ts";
import { changes, commands, creates, file, type Operation, read } from "./operation.ts";

const V1 = "/api/v1";
const OF_LIST = ["not_found", "bad_id", "bad_cursor"] as const;
const OF_ROW = ["not_found", "bad_id"] as const;

const words = (path: string, id: string, summary: string) => ({ path: `${V1}/${path}`, id, summary });

const READS: readonly Operation[] = [
  read(
    words("replays", "listReplays", "One page of a region's replay batches"),
    replaysQuery,
    "ReplayPageAnswer",
    OF_LIST,
  ),
  read(
    words(
      "replays/summary",
      "readReplaySummary",
      "How many batches stand in each tab, and wait for the caller",
    ),
    replaySummaryQuery,
    "ReplaySummaryAnswer",
    ["not_found"],
  ),
  read(
    words(
      "replays/policy",
      "readReplayPolicy",
      "Limits and thresholds of replays in force, with their history",
    ),
    replayQuery,
    "ReplayPolicyAnswer",
    ["not_found"],
  ),
  read(
    words("replays/{id}", "readReplay", "One batch with its conditions, lanes, events and samples"),
    replayQuery,
    "ReplayAnswer",
    OF_ROW,
  ),
  read(
    words("replays/{id}/items", "listReplayItems", "One page of a batch's entries"),
    replayItemsQuery,
    "ReplayItemPageAnswer",
    OF_LIST,
  ),
  file(
    words("replays/{id}/items/export", "exportReplayItems", "The entries of a batch as a file"),
    replayItemsExportQuery,
  ),
  read(
    words("replays/{id}/series", "readReplaySeries", "The curves of a batch beside the region's ages"),
    replayQuery,
    "ReplaySeriesAnswer",
    OF_ROW,
  ),
  read(
    words("replays/{id}/report", "readReplayReport", "What came of a batch"),
    replayQuery,
    "ReplayReportAnswer",
    OF_ROW,
  ),
  {
    ...file(
      words("replays/{id}/report/export", "exportReplayReport", "What came of a batch as a file"),
      replayReportExportQuery,
    ),
    note: "`format=json` is the answer of the report itself, as a file.",
    files: { "text/csv": null, "application/json": "ReplayReportAnswer" },
  },
];

/** A verb of a batch; its operation is named as its path: `replayRequestChanges`. */
function verb(
  name: ReplayVerb,
  summary: string,
  schema: z.ZodType = ReplayCommand,
  codes: readonly ErrorCode[] = [],
): Operation {
  const id = `replay-${name}`.replaceAll(/-([a-z])/g, (_dash, letter: string) => letter.toUpperCase());
  const route = REPLAY_COMMANDS[name];
  return commands(words(`replays/{id}/${name}`, id, summary), route, schema, { query: commandQuery, codes });
}

const CHANGES: readonly Operation[] = [
  creates(
    words("replays", "draftReplay", "A new batch of the dead letters that a selection names now"),
    { action: "replay_draft" },
    DraftReplay,
    {
      query: replayQuery,
      answer: "CreatedReplay",
      codes: ["bad_selection", "bad_limit", "replay_same_cause"],
    },
  ),
  changes(
    words("replays/preview", "previewReplay", "What a selection means now; writes nothing"),
    "post",
    "replay_draft",
    {
      query: replayQuery,
      body: PreviewReplay,
      answer: "ReplayPreviewAnswer",
      codes: [...OF_ROW, "bad_selection", "bad_limit", "state_conflict"],
    },
  ),
  {
    ...commands(
      words("replays/policy", "setReplayPolicy", "The next version of the limits and thresholds of replays"),
      POLICY_COMMANDS.replay,
      SetReplayPolicy,
      { query: replayQuery, codes: ["bad_policy"] },
    ),
    note: 'Version `"0"` is the built-in policy. What is left out stays as it is in force.',
  },
  verb("inspect", "Says which sampled entries were opened", InspectReplay),
  verb("annotate", "Name, root cause, fix, checklist", AnnotateReplay),
  verb("plan", "Rate, window, stop conditions", PlanReplay, ["bad_plan"]),
  verb("remove", "Takes entries out of a draft", RemoveReplayItems, ["bad_selection"]),
  verb("submit", "Freezes it for review", ReplayCommand, [
    "replay_not_ready",
    "replay_overlap",
    "replay_same_cause",
  ]),
  verb("request-changes", "Back to a draft, without its freeze"),
  verb("cancel", "Ends it before it starts"),
  verb("approve", "The second person agrees to the frozen set", ApproveReplay),
  verb("reject", "The second person does not agree"),
  verb("break-glass", "Goes without the second person; its name is typed", BreakGlass),
  verb("start", "Sends its canary", ReplayCommand, ["bad_plan", "replay_red"]),
  verb("continue", "From the canary's hold to the rest", ReplayCommand, ["replay_red"]),
  verb("pause", "Holds it and takes back what was not sent; any version"),
  verb("resume", "Back to where it was, slowly", ReplayCommand, ["replay_red"]),
  verb("stop", "Ends it and takes back what was not sent; any version"),
  verb("rate", "A top for the rate of every lane", SetReplayRate, ["bad_limit"]),
];

export const REPLAYS: readonly Operation[] = [...READS, ...CHANGES];
