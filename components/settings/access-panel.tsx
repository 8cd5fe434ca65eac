"use client";
/** Who may do what: one's own grants for everybody, people and their grants for administrators. */
import { useQueryClient } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { PEOPLE_PATH, usePeople } from "#components/queries/shell.ts";
import { grantWords, useSignedIn } from "#components/shell/signed-in.tsx";
import { Button } from "#components/ui/button.tsx";
import { ErrorNotice } from "#components/ui/error-notice.tsx";
import { Notice } from "#components/ui/notice.tsx";
import { Panel } from "#components/ui/panel.tsx";
import type { Person, PersonGrant } from "#db/console/access/people.ts";
import { AddPersonDialog } from "./add-person-dialog.tsx";
import { GiveGrantDialog } from "./give-grant-dialog.tsx";
import { NoPermission } from "./no-permission.tsx";
import { PeopleTable } from "./people-table.tsx";
import { TakeDialog } from "./take-dialog.tsx";

type Open =
  | { kind: "add" }
  | { kind: "give" | "able"; person: Person }
  | { kind: "take"; person: Person; grant: PersonGrant }
  | null;

/** Grants that reach further than one's own are not shown: they do not exist for this person. */
export function AccessPanel() {
  const signedIn = useSignedIn();
  const allowed = signedIn?.actions.includes("access") ?? false;
  const query = usePeople(allowed);
  const client = useQueryClient();
  const [open, setOpen] = useState<Open>(null);
  const close = () => setOpen(null);
  const ways = query.data?.ways ?? [];
  const again = () => client.invalidateQueries({ queryKey: ["once", PEOPLE_PATH] });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <Panel title="Your own access" note={signedIn?.email ?? undefined}>
        <ul className="grid gap-1">
          {signedIn?.roles.map((grant) => (
            <li key={grantWords(grant)}>{grantWords(grant)}</li>
          ))}
        </ul>
      </Panel>
      <Panel
        flush={allowed}
        title="People"
        note={allowed ? "with their grants in your scope" : undefined}
        actions={
          ways.length === 0 ? undefined : <Button onClick={() => setOpen({ kind: "add" })}>Add person</Button>
        }
      >
        {allowed ? (
          (standIn(query) ?? (
            <PeopleTable
              people={query.data?.people ?? null}
              truncated={query.data?.truncated ?? false}
              own={signedIn?.email ?? null}
              onGive={(person) => setOpen({ kind: "give", person })}
              onTake={(person, grant) => setOpen({ kind: "take", person, grant })}
              onSetAble={(person) => setOpen({ kind: "able", person })}
            />
          ))
        ) : (
          <NoPermission title="People and grants need the role admin">
            Ask an administrator for another role or scope. What you may do now stands above.
          </NoPermission>
        )}
      </Panel>
      {open?.kind === "add" ? <AddPersonDialog ways={ways} onClose={close} onDone={again} /> : null}
      {open?.kind === "able" ? <AbleDialog person={open.person} onClose={close} onDone={again} /> : null}
      {open?.kind === "give" ? <GiveGrantDialog person={open.person} onClose={close} onDone={again} /> : null}
      {open?.kind === "take" ? (
        <TakeDialog
          title={`Revoke a grant of ${open.person.name}`}
          path={`${PEOPLE_PATH}/${open.person.id}/grants/${open.grant.id}`}
          button="Revoke grant"
          done={`Grant of ${open.person.name} revoked.`}
          onClose={close}
          onDone={again}
        >
          It ends with the next request of {open.person.email}. Their other grants stay.
        </TakeDialog>
      ) : null}
    </div>
  );
}

interface AbleDialogProps {
  person: Person;
  onClose: () => void;
  onDone: () => Promise<unknown>;
}

function AbleDialog({ person, onClose, onDone }: AbleDialogProps) {
  const verb = person.disabled ? "enable" : "disable";
  const word = person.disabled ? "Enable" : "Disable";
  return (
    <TakeDialog
      title={`${word} ${person.name}`}
      path={`${PEOPLE_PATH}/${person.id}/${verb}`}
      method="post"
      tone={person.disabled ? "accent" : "danger"}
      button={`${word} person`}
      done={`${person.name} is ${verb}d.`}
      onClose={onClose}
      onDone={onDone}
    >
      {person.disabled
        ? `${person.email} can sign in again, with the grants that stand beside the name.`
        : `The sessions of ${person.email} end at once, and they cannot sign in. Their grants stay, and count again when they are enabled.`}
    </TakeDialog>
  );
}

/** What stands in the place of the table, or null when there are people or they are being read. */
function standIn(query: ReturnType<typeof usePeople>): ReactNode {
  if (query.data === undefined) {
    return query.error === null ? null : (
      <ErrorNotice error={query.error} onRetry={() => void query.refetch()} />
    );
  }
  if (query.data.people.length > 0) return null;
  return (
    <Notice kind="empty" title="Nobody in your scope">
      A person appears here with their first sign-in through the identity provider, or when somebody adds
      them.
    </Notice>
  );
}
