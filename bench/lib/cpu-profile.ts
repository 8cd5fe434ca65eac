/**
 * A sampled CPU profile of this process, summed by where the code stands: a file of ours, a package, Node itself, the
 * garbage collector. Sampling costs a few per cent, so a profiled run is never a measured one.
 */
import { type Profiler, Session } from "node:inspector/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SAMPLE_US = 200;
const US_PER_MS = 1_000;

/** Runs `work` under the profiler. Milliseconds of own time by place, idle time left out, the dearest first. */
export async function profileCpu(work: () => Promise<void>): Promise<[string, number][]> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: SAMPLE_US });
    await session.post("Profiler.start");
    await work();
    const { profile } = await session.post("Profiler.stop");
    return sumByPlace(profile);
  } finally {
    session.disconnect();
  }
}

/** Pure. Built-in functions, which have no file, count for the place that called them. */
export function sumByPlace(profile: Profiler.Profile): [string, number][] {
  const parents = new Map<number, number>();
  for (const { id, children } of profile.nodes) for (const child of children ?? []) parents.set(child, id);
  const frames = new Map(profile.nodes.map(({ id, callFrame }) => [id, callFrame]));
  const placeOfNode = (id: number): string => {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = frames.get(at);
      if (frame === undefined) break;
      if (frame.url !== "") return placeOf(frame.url);
      if (frame.functionName.startsWith("(") && frame.functionName !== "(root)") return frame.functionName;
    }
    return "(native)";
  };
  const places = new Map(profile.nodes.map(({ id }) => [id, placeOfNode(id)]));
  const sums = new Map<string, number>();
  for (const [index, id] of (profile.samples ?? []).entries()) {
    const place = places.get(id) ?? "(native)";
    if (place === "(idle)") continue;
    const ms = (profile.timeDeltas?.[index] ?? 0) / US_PER_MS;
    sums.set(place, (sums.get(place) ?? 0) + ms);
  }
  return [...sums].sort(([, a], [, b]) => b - a);
}

function placeOf(url: string): string {
  if (url.startsWith("node:")) return url.replace(/^node:(internal\/)?/, "node:").split("/", 1)[0] ?? url;
  if (!url.startsWith("file:")) return url;
  const file = fileURLToPath(url);
  const inPackage = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];
  return inPackage ?? path.relative(ROOT, file);
}
