"use client";
/** Service tokens: which there are, a new one (shown once), and the end of one. */
import { useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type ReactNode, useState } from "react";
import { TOKENS_PATH, useTokens } from "#components/queries/shell.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { Button } from "#components/ui/button.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import type { TokenEntry } from "#db/console/access/service-tokens.ts";
import { NewTokenDialog } from "./new-token-dialog.tsx";
import { NoPermission } from "./no-permission.tsx";
import { TakeDialog } from "./take-dialog.tsx";
import { TokensTable } from "./tokens-table.tsx";

type Open = { kind: "new" } | { kind: "revoke"; token: TokenEntry } | null;

export function TokensPanel() {
  const allowed = useSignedIn()?.actions.includes("service_tokens") ?? false;
  const query = useTokens(allowed);
  const client = useQueryClient();
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const again = () => client.invalidateQueries({ queryKey: ["once", TOKENS_PATH] });
  if (!allowed) {
    return (
      <Panel title="Service tokens">
        <NoPermission title="Service tokens need the role admin">
          They let programs read and act in a scope. An administrator makes and ends them.
        </NoPermission>
      </Panel>
    );
  }
  return (
    <>
      <Panel
        flush
        title="Service tokens"
        note="of the regions that you administer as a whole"
        actions={
          <Button onClick={() => setOpen({ kind: "new" })}>
            <Plus aria-hidden="true" className="size-3.5" />
            New token
          </Button>
        }
      >
        {standIn(query) ?? (
          <TokensTable
            tokens={query.data?.tokens ?? null}
            onRevoke={(token) => setOpen({ kind: "revoke", token })}
          />
        )}
      </Panel>
      {open?.kind === "new" ? <NewTokenDialog onClose={close} onDone={again} /> : null}
      {open?.kind === "revoke" ? (
        <TakeDialog
          title={`Revoke token ${open.token.name}`}
          path={`${TOKENS_PATH}/${open.token.id}`}
          button="Revoke token"
          done={`Token ${open.token.name} revoked.`}
          onClose={close}
          onDone={again}
        >
          Programs that use it are refused from their next request on. It cannot be brought back.
        </TakeDialog>
      ) : null}
    </>
  );
}

/** What stands in the place of the table, or null when there are tokens or they are being read. */
function standIn(query: ReturnType<typeof useTokens>): ReactNode {
  if (query.data === undefined) {
    return query.error === null ? null : (
      <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
    );
  }
  if (query.data.tokens.length > 0) return null;
  return (
    <Notice kind="empty" title="No service token yet">
      A program needs one to read or act over HTTP. It is shown once, when it is made.
    </Notice>
  );
}
