"use client";
/**
 * Runs one command for each ticked delivery and keeps the results. Each has an Idempotency-Key of its own, kept while its
 * answer is missing: to ask for the failed ones again does nothing twice. It never begins by itself.
 */
import { useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { createRepeatKeys, isDefinite, type RepeatKeys } from "#components/controls/repeat-keys.ts";
import { randomKey } from "#components/controls/use-command.ts";
import { deliveryCommandPath } from "#components/queries/deliveries.ts";
import { sendCommand } from "#components/queries/send-command.ts";
import type { CommandAnswer } from "#db/console/commands/run-command.ts";
import type { Region } from "#domain/region.ts";
import { type BulkResult, type BulkVerb, runBulk } from "./bulk.ts";

export interface Bulk {
  /** By the delivery's id; what was not asked for yet is not in it. */
  results: ReadonlyMap<string, BulkResult>;
  running: boolean;
  /** Asks for these, one after the other. */
  start: (ids: readonly string[], body: object) => void;
  /** No more are sent after the one that is out. */
  stop: () => void;
}

export function useBulk(verb: BulkVerb, region: Region): Bulk {
  const client = useQueryClient();
  const [results, setResults] = useState<ReadonlyMap<string, BulkResult>>(new Map());
  const [running, setRunning] = useState(false);
  const busy = useRef(false);
  const stopped = useRef(false);
  const [keys] = useState(() => new Map<string, RepeatKeys>());

  async function send(id: string, body: object): Promise<CommandAnswer> {
    const own = keys.get(id) ?? createRepeatKeys(randomKey);
    keys.set(id, own);
    const path = deliveryCommandPath(region, id, verb);
    try {
      const answer = await sendCommand<CommandAnswer>(path, {
        body,
        idempotencyKey: own.keyFor(JSON.stringify([path, body])),
      });
      own.settle();
      return answer;
    } catch (error) {
      if (isDefinite(error)) own.settle();
      throw error;
    }
  }

  return {
    results,
    running,
    start(ids, body) {
      if (busy.current) return;
      busy.current = true;
      stopped.current = false;
      setRunning(true);
      runBulk({
        ids,
        send: (id) => send(id, body),
        isStopped: () => stopped.current,
        onResult: (result) => setResults((before) => new Map(before).set(result.id, result)),
      })
        .finally(() => {
          busy.current = false;
          setRunning(false);
          return client.invalidateQueries({ queryKey: ["live"] });
        })
        .catch(() => undefined);
    },
    stop: () => {
      stopped.current = true;
    },
  };
}
