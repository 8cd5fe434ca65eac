/** A profile's own time goes to where the code stands; built-in functions count for their caller, idling for nobody. */
import path from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { sumByPlace } from "./cpu-profile.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

it("sums own time by file, package and caller", () => {
  const frame = (functionName: string, file: string) => ({
    functionName,
    url: file === "" || file.startsWith("node:") ? file : pathToFileURL(path.join(ROOT, file)).href,
    scriptId: "0",
    lineNumber: 0,
    columnNumber: 0,
  });
  const places = sumByPlace({
    startTime: 0,
    endTime: 0,
    nodes: [
      { id: 1, callFrame: frame("(root)", ""), children: [2, 3, 5] },
      { id: 2, callFrame: frame("(idle)", "") },
      { id: 3, callFrame: frame("turn", "worker/dispatch.ts"), children: [4] },
      { id: 4, callFrame: frame("stringify", "") },
      { id: 5, callFrame: frame("write", "node_modules/undici/lib/x.js"), children: [6] },
      { id: 6, callFrame: frame("emit", "node:internal/events") },
    ],
    samples: [2, 3, 4, 5, 6, 6],
    timeDeltas: [9_000, 1_000, 2_000, 4_000, 500, 500],
  });
  expect(places).toEqual([
    ["undici", 4],
    ["worker/dispatch.ts", 3],
    ["node:events", 1],
  ]);
});
