"use client";
/** Service tokens, newest first; never the token itself. */
import { actorWords } from "#components/ui/actor-words.ts";
import { Button } from "#components/ui/button.tsx";
import { plural } from "#components/ui/format.ts";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { TokenEntry } from "#db/console/access/service-tokens.ts";
import { ROLE_WORDS } from "./grant-words.ts";

const COLUMNS: readonly Column[] = [
  { key: "name", label: "Name" },
  { key: "state", label: "State" },
  { key: "role", label: "At most" },
  { key: "scopes", label: "May" },
  { key: "where", label: "Where" },
  { key: "by", label: "Made by" },
  { key: "used", label: "Last used", align: "right" },
  { key: "end", label: "Ends", align: "right" },
  { key: "act", label: "", srLabel: "Actions", align: "right" },
];
const SKELETON_ROWS = 4;
const MAX_SHOWN_SCOPES = 3;

export interface TokensTableProps {
  /** Null while they are read. */
  tokens: readonly TokenEntry[] | null;
  onRevoke: (token: TokenEntry) => void;
}

export function TokensTable({ tokens, onRevoke }: TokensTableProps) {
  return (
    <Table caption="Service tokens, newest first" columns={COLUMNS}>
      {tokens === null ? (
        <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
      ) : (
        tokens.map((token) => <TokenLine key={token.id} token={token} onRevoke={onRevoke} />)
      )}
    </Table>
  );
}

function TokenLine({ token, onRevoke }: { token: TokenEntry; onRevoke: (token: TokenEntry) => void }) {
  const shown = token.scopes.slice(0, MAX_SHOWN_SCOPES).join(", ");
  const more = token.scopes.length - MAX_SHOWN_SCOPES;
  const where = token.regions.map((region) => region.toUpperCase()).join(" and ");
  return (
    <Row>
      <HeadCell className="font-mono">{token.name}</HeadCell>
      <Cell>
        {token.revokedAt === null ? (
          <StatusText tone="ok" label="Valid until its end" />
        ) : (
          <StatusText tone="neutral" label="Revoked" />
        )}
      </Cell>
      <Cell>{ROLE_WORDS[token.role].label}</Cell>
      <Cell className="text-muted">
        <span title={token.scopes.join(", ")}>{more > 0 ? `${shown} and ${more} more` : shown}</span>
      </Cell>
      <Cell>
        {where}
        {token.tenants === null ? "" : `, ${plural(token.tenants, "tenant")}`}
      </Cell>
      <Cell className="text-muted">{actorWords(token.createdBy)}</Cell>
      <Cell align="right" className="text-muted">
        {token.lastUsedAt === null ? "Never" : <Timestamp iso={token.lastUsedAt} plain />}
      </Cell>
      <Cell align="right" className="text-muted">
        <Timestamp iso={token.expiresAt} plain />
      </Cell>
      <Cell align="right">
        {token.revokedAt === null ? (
          <Button variant="quiet" label={`Revoke token ${token.name}`} onClick={() => onRevoke(token)}>
            Revoke
          </Button>
        ) : null}
      </Cell>
    </Row>
  );
}
