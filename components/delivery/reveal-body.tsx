"use client";
/**
 * A body behind a button that says what pressing it does: the view is written into the audit. What comes is shown as text
 * in a text node, whatever it is; it must never become markup, and it stays only in this page's memory.
 */
import { Eye, EyeOff } from "lucide-react";
import { useState } from "react";
import { ProblemError } from "#components/queries/fetch-json.ts";
import { postJson } from "#components/queries/post-json.ts";
import { useSignedIn } from "#components/shell/signed-in.tsx";
import { AuditEntryLink } from "#components/ui/audit-entry-link.tsx";
import { Button } from "#components/ui/button.tsx";
import { CopyButton } from "#components/ui/copy-button.tsx";
import { formatBytes } from "#components/ui/format.ts";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { RevealedBody } from "#db/console/reveal-body.ts";
import { indentJson } from "#domain/json-text.ts";
import type { Region } from "#domain/region.ts";
import { TextBlock } from "./text-block.tsx";

export interface RevealBodyProps {
  region: Region;
  deliveryId: string;
  what: "payload" | "response";
  /** Number of the attempt, for a response. */
  attempt?: number;
  /** Why there is nothing to reveal; absent: there may be. */
  nothing?: string | undefined;
}

const NOT_PERMITTED =
  "Needs a grant that allows revealing bodies, with the role support, operator or admin. An administrator can give it.";

/** Give it a key of the body that it is about: another body is hidden again. */
export function RevealBody({ region, deliveryId, what, attempt, nothing }: RevealBodyProps) {
  const [body, setBody] = useState<RevealedBody | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const permitted = useSignedIn()?.actions.includes("reveal_body") ?? false;
  const refused = nothing ?? (permitted ? null : NOT_PERMITTED);

  async function reveal() {
    setBusy(true);
    setError(null);
    const path = `/api/v1/deliveries/${deliveryId}/reveal?region=${region}`;
    try {
      setBody(await postJson<RevealedBody>(path, { what, ...(attempt === undefined ? {} : { attempt }) }));
    } catch (reason) {
      setError(wordsOf(reason));
    } finally {
      setBusy(false);
    }
  }

  if (body !== null)
    return <Shown region={region} id={deliveryId} body={body} onHide={() => setBody(null)} />;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
      <Button onClick={() => void reveal()} disabled={refused !== null || busy}>
        <Eye aria-hidden="true" className="size-3.5" />
        {busy ? "Revealing" : "Reveal (audited)"}
      </Button>
      {refused === null ? (
        <span className="text-muted text-table">
          The {what === "payload" ? "payload" : "response body"} is hidden. Each view is recorded with your
          name.
        </span>
      ) : (
        <span className="text-muted text-table">{refused}</span>
      )}
      <span role="alert" className="text-danger text-table empty:hidden">
        {error}
      </span>
    </div>
  );
}

interface ShownProps {
  region: Region;
  /** `dlv_...` */
  id: string;
  body: RevealedBody;
  onHide: () => void;
}

function Shown({ region, id, body, onHide }: ShownProps) {
  const [indented, setIndented] = useState(false);
  const pretty = body.text !== null && body.isText ? indentJson(body.text) : null;
  const canIndent = pretty !== null && pretty !== body.text && !body.truncated;
  const text = indented && canIndent ? pretty : body.text;
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap items-center gap-2">
        <Button onClick={onHide}>
          <EyeOff aria-hidden="true" className="size-3.5" />
          Hide
        </Button>
        {canIndent ? (
          <Button variant="quiet" pressed={indented} onClick={() => setIndented(!indented)}>
            Indent
          </Button>
        ) : null}
        {body.text === null ? null : <CopyButton text={body.text} what="body" />}
        <span role="status" className="text-muted text-table">
          {factsOf(body)} Recorded: <AuditEntryLink region={region} target={id} auditId={body.auditId} />
        </span>
      </div>
      {body.erasedAt === null ? null : (
        <p>
          The payload was erased <Timestamp iso={body.erasedAt} form="exact" named />. No byte of it is left
          here.
        </p>
      )}
      {body.restrictedAt === null ? null : (
        <p>
          The payload is restricted since <Timestamp iso={body.restrictedAt} form="exact" named />. It is kept
          apart and shown to nobody until a person gives it back.
        </p>
      )}
      {text === null ? null : <TextBlock label="Body as text" text={text} />}
      {body.hex === null ? null : (
        <>
          <p className="text-muted text-table">
            It is not plain UTF-8 text: what cannot be shown is replaced above. The first bytes:
          </p>
          <TextBlock label="Body in hex" text={body.hex} />
        </>
      )}
    </div>
  );
}

function factsOf(body: RevealedBody): string {
  const type = body.contentType ?? "no content type";
  if (body.erasedAt !== null) return `${type}, ${formatBytes(body.sizeBytes)} before it was erased.`;
  if (body.restrictedAt !== null) return `${type}, ${formatBytes(body.sizeBytes)}.`;
  if (!body.truncated) return `${type}, ${formatBytes(body.sizeBytes)}.`;
  return `${type}, the first ${formatBytes(body.shownBytes)} of ${formatBytes(body.sizeBytes)}: truncated.`;
}

function wordsOf(error: unknown): string {
  if (!(error instanceof ProblemError)) return "The console does not answer. Nothing was shown.";
  const { title, detail, correlationId } = error.problem;
  return `${title}. ${detail} Correlation id ${correlationId}.`;
}
