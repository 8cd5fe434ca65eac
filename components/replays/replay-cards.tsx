"use client";
/** Replay batches on a narrow screen: one card each with what decides whether one has to look. */
import { actorWords } from "#components/ui/actor-words.ts";
import { Card, CardField, CardSkeletons, Cards } from "#components/ui/cards.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { NearTimestamp } from "#components/ui/timestamp.tsx";
import { stateWords } from "./replay-words.ts";
import { type ReplaysTableProps, reviewerWords, scopeWords } from "./replays-table.tsx";
import { StoredWords } from "./stored-words.tsx";

export function ReplayCards({ caption, region, rows, asOf, busy }: ReplaysTableProps) {
  if (rows === null || asOf === null) return <CardSkeletons className="h-32" />;
  return (
    <Cards caption={caption} busy={busy}>
      {rows.map((row) => (
        <Card
          key={row.id}
          name={row.name}
          href={`/replays/${row.id}?region=${region}`}
          aside={<StatusText {...stateWords(row.state, row.pausedBy)} />}
        >
          <CardField label="Progress">{row.progress}</CardField>
          <CardField label="Scope">{scopeWords(row.scope)}</CardField>
          <CardField label="People">
            {actorWords(row.requestedBy)}, {reviewerWords(row)}
          </CardField>
          <CardField label="Updated">
            <NearTimestamp iso={row.updatedAt} asOf={asOf} />
          </CardField>
          {row.cause === null ? null : (
            <CardField label="Stop reason">
              <StoredWords text={row.cause} region={region} />
            </CardField>
          )}
        </Card>
      ))}
    </Cards>
  );
}
