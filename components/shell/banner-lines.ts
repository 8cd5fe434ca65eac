/**
 * What the banners under the top bar say, from one answer about active controls. Pure; ages are told against the time of
 * the answer. A pause that nobody is told of must not exist, and a region that does not answer is never "nothing paused".
 */
import { storedText } from "#components/replays/stored-text.ts";
import { actorWords } from "#components/ui/actor-words.ts";
import { plural, type Zone } from "#components/ui/format.ts";
import { ageAt } from "#components/ui/relative.ts";
import type {
  ActiveControl,
  ActiveControls,
  ActiveControlsAnswer,
} from "#db/console/list-active-controls.ts";
import type { RegionAnswer } from "#db/console/read-region.ts";
import { formatAge } from "#domain/queue-age.ts";

export interface BannerLine {
  /** Stays the same while the line speaks of the same thing. */
  key: string;
  tone: "danger" | "warn" | "held";
  text: string;
  /** The page where one can look and act. */
  link: { href: string; label: string } | null;
  /** Changes when the line is to be read aloud again. */
  step: string;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** Stopped claims are read aloud again each time that so much has passed. */
export const REMINDER_MS = 15 * MINUTE_MS;
/** A pause is pointed out when so much of it is over. */
const ENDING_SHARE = 0.8;
const MAX_NAMES = 3;
const MAX_REASON_CHARS = 120;

type Answered = RegionAnswer<ActiveControls> & { status: "ok" };

/** Stopped claims first, for they hold everything; then the newest; what is unknown last. Moments are told in `zone`. */
export function bannerLines({ regions }: ActiveControlsAnswer, zone: Zone): BannerLine[] {
  const answered = regions.filter((answer): answer is Answered => answer.status === "ok");
  const held = answered
    .flatMap((answer) => [tenantLine(answer), destinationLine(answer), replayLine(answer, zone)])
    .filter((line) => line !== null)
    .sort((a, b) => b.sinceMs - a.sinceMs);
  return [
    ...answered.flatMap((answer) => claimsLine(answer) ?? []),
    ...held.map(({ sinceMs: _, ...line }) => line),
    ...answered.flatMap(glassLines),
    ...regions.flatMap((answer) => (answer.status === "ok" ? [] : [unknownLine(answer.region)])),
  ];
}

/** "32 m", "2 h 5 m": seconds matter only in the first minute. */
export function coarseAge(ms: number): string {
  return ms >= MINUTE_MS && ms < HOUR_MS ? `${Math.floor(ms / MINUTE_MS)} m` : formatAge(ms);
}

function claimsLine({ region, asOf, data }: Answered): BannerLine | null {
  const stopped = data.claimsStopped;
  if (stopped === null) return null;
  const ageMs = stopped.since === null ? null : ageAt(stopped.since, asOf);
  const who = stopped.by === null ? "" : ` By ${actorWords(stopped.by)}: ${short(stopped.reason ?? "")}`;
  const how = ageMs === null ? "claims are stopped." : stoppedFor(ageMs);
  return {
    key: `claims-${region}`,
    tone: "danger",
    text: `${region.toUpperCase()}: ${how} Nothing new is sent.${who}`,
    link: { href: `/regions?region=${region}`, label: "Region" },
    step: String(Math.floor((ageMs ?? 0) / REMINDER_MS)),
  };
}

function stoppedFor(ageMs: number): string {
  const still = ageMs >= REMINDER_MS ? "claims are still stopped, for" : "claims are stopped, for";
  return `${still} ${coarseAge(ageMs)}.`;
}

function tenantLine(answer: Answered): (BannerLine & { sinceMs: number }) | null {
  const { region, asOf, data } = answer;
  if (data.pausedTenants === 0) return null;
  const paused = data.controls.filter(({ kind }) => kind === "tenant_paused");
  const next = nextToEnd(paused, asOf);
  const only = data.pausedTenants === 1 ? paused[0] : undefined;
  return {
    key: `tenants-${region}`,
    tone: next.ending ? "warn" : "held",
    text: `${region.toUpperCase()}: ${plural(data.pausedTenants, "tenant")} paused: ${namesOf(paused, data.pausedTenants)}.${next.words}`,
    link:
      only === undefined
        ? { href: `/tenants?region=${region}`, label: "Tenants" }
        : { href: `/tenants/${only.id}?region=${region}`, label: only.name },
    step: `${data.pausedTenants} ${next.ending}`,
    sinceMs: newest(paused),
  };
}

function destinationLine(answer: Answered): (BannerLine & { sinceMs: number }) | null {
  const { region, asOf, data } = answer;
  const total = data.pausedDestinations + data.disabledDestinations;
  if (total === 0) return null;
  const held = data.controls.filter(({ kind }) => kind !== "tenant_paused");
  const next = nextToEnd(held, asOf);
  const counts = [
    data.pausedDestinations > 0 ? `${plural(data.pausedDestinations, "destination")} paused` : "",
    data.disabledDestinations > 0 ? `${plural(data.disabledDestinations, "destination")} disabled` : "",
  ].filter((words) => words !== "");
  const only = total === 1 ? held[0] : undefined;
  return {
    key: `destinations-${region}`,
    tone: next.ending ? "warn" : "held",
    text: `${region.toUpperCase()}: ${counts.join(", ")}: ${namesOf(held, total)}.${next.words}`,
    link:
      only === undefined
        ? { href: `/destinations?region=${region}`, label: "Destinations" }
        : { href: `/destinations/${only.id}?region=${region}`, label: only.name },
    step: `${total} ${next.ending}`,
    sinceMs: newest(held),
  };
}

/** Batches that are out. One that paused by itself waits for a person; one that runs is only told. */
function replayLine({ region, data }: Answered, zone: Zone): (BannerLine & { sinceMs: number }) | null {
  const { replays, replaysRunning, replaysPaused, replaysAutoPaused } = data;
  const total = replaysRunning + replaysPaused;
  if (total === 0) return null;
  const words = [
    replaysRunning > 0 ? `${plural(replaysRunning, "replay")} running` : "",
    replaysPaused > 0 ? `${plural(replaysPaused, "replay")} paused` : "",
    replaysAutoPaused > 0 ? `${replaysAutoPaused} of them by itself` : "",
  ].filter((part) => part !== "");
  const shown = replaysAutoPaused > 0 ? replays.filter(({ pausedBy }) => pausedBy === "auto") : replays;
  const only = total === 1 ? replays[0] : undefined;
  const names = shown.slice(0, MAX_NAMES).map(({ name }) => name);
  const more = (replaysAutoPaused > 0 ? replaysAutoPaused : total) - names.length;
  const first = shown[0];
  const cause = replaysAutoPaused > 0 && first?.cause ? ` ${short(storedText(first.cause, zone))}` : "";
  return {
    key: `replays-${region}`,
    tone: replaysAutoPaused > 0 ? "warn" : "held",
    text: `${region.toUpperCase()}: ${words.join(", ")}: ${names.join(", ")}${more > 0 ? ` and ${more} more` : ""}.${cause}`,
    link:
      only === undefined
        ? { href: `/replays?region=${region}&tab=running`, label: "Replays" }
        : { href: `/replays/${only.id}?region=${region}`, label: "Replay" },
    step: `${total} ${replaysAutoPaused}`,
    sinceMs: Math.max(0, ...replays.map(({ since }) => Date.parse(since))),
  };
}

/** For a day everybody sees that a batch went without its second person. */
function glassLines({ region, data }: Answered): BannerLine[] {
  return data.breakGlass.map(({ id, name, by, reason }) => ({
    key: `glass-${id}`,
    tone: "warn",
    text: `${region.toUpperCase()}: ${actorWords(by)} started the replay ${name} without a second person.${reason === null ? "" : ` ${short(reason)}`}`,
    link: { href: `/replays/${id}?region=${region}`, label: "Replay" },
    step: id,
  }));
}

function unknownLine(region: string): BannerLine {
  return {
    key: `unknown-${region}`,
    tone: "warn",
    text: `${region.toUpperCase()}: no answer about pauses and stopped claims. They are unknown, not absent.`,
    link: null,
    step: "unknown",
  };
}

function nextToEnd(controls: readonly ActiveControl[], asOf: string): { ending: boolean; words: string } {
  const [first] = controls
    .flatMap(({ since, until }) => (until === null ? [] : [{ since, until }]))
    .sort((a, b) => Date.parse(a.until) - Date.parse(b.until));
  if (first === undefined) return { ending: false, words: "" };
  const leftMs = Math.max(0, Date.parse(first.until) - Date.parse(asOf));
  const lengthMs = Date.parse(first.until) - Date.parse(first.since);
  const ending = leftMs <= (1 - ENDING_SHARE) * lengthMs;
  const subject = controls.length === 1 ? "Ends" : "The next one ends";
  return {
    ending,
    words: ` ${subject} in ${coarseAge(leftMs)}${ending ? ", and then it is sent again" : ""}.`,
  };
}

function namesOf(controls: readonly ActiveControl[], total: number): string {
  const names = controls
    .slice(0, MAX_NAMES)
    .map((control) =>
      control.kind === "tenant_paused" ? control.name : `${control.name} of ${control.tenantSlug}`,
    );
  return total > names.length ? `${names.join(", ")} and ${total - names.length} more` : names.join(", ");
}

function newest(controls: readonly ActiveControl[]): number {
  return Math.max(0, ...controls.map(({ since }) => Date.parse(since)));
}

function short(text: string): string {
  return text.length > MAX_REASON_CHARS ? `${text.slice(0, MAX_REASON_CHARS)}…` : text;
}
