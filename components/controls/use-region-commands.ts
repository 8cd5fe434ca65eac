"use client";
/**
 * Sends one command to each of several regions at the same moment and keeps a result for each. As with a single command,
 * nothing is claimed before its answer, nothing is sent twice for one press, and a repeat after a lost answer has the key
 * of the first, each region its own.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { sendCommand } from "#components/queries/send-command.ts";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { Region } from "#domain/region.ts";
import { commandPath } from "./control-request.ts";
import { mergeResults, type RegionPart, type RegionResult, withoutFailed } from "./region-parts.ts";
import { createRepeatKeys, isDefinite, type RepeatKeys } from "./repeat-keys.ts";
import { randomKey } from "./use-command.ts";

export interface RegionCommands {
  /** True while a request is out. */
  busy: boolean;
  results: readonly RegionResult[];
  /** @param onEnd hears the results of this press, and all that there are */
  send: (
    parts: readonly RegionPart[],
    onEnd: (fresh: readonly RegionResult[], all: readonly RegionResult[]) => void,
  ) => void;
  /** The values were read again: refusals are over, what is done stays. */
  clear: () => void;
}

export function useRegionCommands(newKey: () => string = randomKey): RegionCommands {
  const client = useQueryClient();
  const [results, setResults] = useState<readonly RegionResult[]>([]);
  const [busy, setBusy] = useState(false);
  const running = useRef(false);
  const [keys] = useState(() => new Map<Region, RepeatKeys>());

  async function sendOne({ request, body, version }: RegionPart): Promise<RegionResult> {
    const { region } = request.target;
    const own = keys.get(region) ?? createRepeatKeys(newKey);
    keys.set(region, own);
    const path = commandPath(request);
    const idempotencyKey = own.keyFor(JSON.stringify([path, body, version]));
    try {
      const answer = await sendCommand<CommandAnswer>(path, { body, version, idempotencyKey });
      own.settle();
      return { region, request, at: "done", answer };
    } catch (error) {
      if (isDefinite(error)) own.settle();
      return { region, request, at: "failed", error: error as Error };
    }
  }

  return {
    busy,
    results,
    send(parts, onEnd) {
      if (running.current) return;
      running.current = true;
      setBusy(true);
      void Promise.all(parts.map(sendOne)).then((fresh) => {
        running.current = false;
        setBusy(false);
        const all = mergeResults(results, fresh);
        setResults(all);
        client.invalidateQueries({ queryKey: ["live"] }).catch(() => undefined);
        onEnd(fresh, all);
      });
    },
    clear: () => setResults(withoutFailed),
  };
}
