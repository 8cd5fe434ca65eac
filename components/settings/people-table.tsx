"use client";
/** People with their grants; each grant stands on its own line with its end and the way to take it. */
import { actorWords } from "#components/ui/actor-words.ts";
import { Button } from "#components/ui/button.tsx";
import { SkeletonRows } from "#components/ui/skeleton.tsx";
import { StatusText } from "#components/ui/status.tsx";
import { Cell, type Column, HeadCell, Row, Table } from "#components/ui/table.tsx";
import { Timestamp } from "#components/ui/timestamp.tsx";
import type { Person, PersonGrant } from "#db/console/access/people.ts";
import { scopeWords } from "./grant-words.ts";

const COLUMNS: readonly Column[] = [
  { key: "person", label: "Person" },
  { key: "grant", label: "May do, and where" },
  { key: "by", label: "Given by" },
  { key: "end", label: "Ends", align: "right" },
  { key: "act", label: "", srLabel: "Actions", align: "right" },
];
const SKELETON_ROWS = 6;

export interface PeopleTableProps {
  /** Null while they are read. */
  people: readonly Person[] | null;
  truncated: boolean;
  /** Address of the reader, whose own grants somebody else takes. */
  own: string | null;
  onGive: (person: Person) => void;
  onTake: (person: Person, grant: PersonGrant) => void;
  /** Disables a person, or enables them again. */
  onSetAble: (person: Person) => void;
}

export function PeopleTable({ people, truncated, own, onGive, onTake, onSetAble }: PeopleTableProps) {
  return (
    <>
      <Table caption="People and their grants" columns={COLUMNS}>
        {people === null ? (
          <SkeletonRows rows={SKELETON_ROWS} columns={COLUMNS.length} />
        ) : (
          people.flatMap((person) => [
            <PersonLine
              key={person.id}
              person={person}
              own={own}
              onGive={onGive}
              onTake={onTake}
              onSetAble={onSetAble}
            />,
            ...person.grants
              .slice(1)
              .map((grant) => (
                <GrantLine key={grant.id} person={person} grant={grant} own={own} onTake={onTake} />
              )),
          ])
        )}
      </Table>
      {truncated ? (
        <p className="border-line border-t px-4 py-2 text-muted text-table">
          There are more people than are shown here. The command line lists them all.
        </p>
      ) : null}
    </>
  );
}

interface LineProps extends Pick<PeopleTableProps, "own" | "onTake"> {
  person: Person;
}

/** The person and their first grant. */
function PersonLine({
  person,
  own,
  onGive,
  onTake,
  onSetAble,
}: LineProps & Pick<PeopleTableProps, "onGive" | "onSetAble">) {
  const [grant] = person.grants;
  return (
    <Row>
      <HeadCell>
        <span className="font-medium">{person.name}</span> <span className="text-muted">{person.email}</span>
        {person.disabled ? <StatusText tone="danger" label="Disabled" className="ml-2" /> : null}
      </HeadCell>
      <GrantCells grant={grant} />
      <Cell align="right">
        <span className="inline-flex items-center gap-1">
          {grant === undefined ? null : (
            <TakeButton person={person} grant={grant} own={own} onTake={onTake} />
          )}
          <Button variant="quiet" label={`Give ${person.name} a grant`} onClick={() => onGive(person)}>
            Give
          </Button>
          <AbleButton person={person} own={own} onSetAble={onSetAble} />
        </span>
      </Cell>
    </Row>
  );
}

function GrantLine({ person, grant, own, onTake }: LineProps & { grant: PersonGrant }) {
  return (
    <Row>
      <HeadCell>
        <span className="sr-only">{person.name}, another grant</span>
      </HeadCell>
      <GrantCells grant={grant} />
      <Cell align="right">
        <TakeButton person={person} grant={grant} own={own} onTake={onTake} />
      </Cell>
    </Row>
  );
}

function GrantCells({ grant }: { grant: PersonGrant | undefined }) {
  if (grant === undefined) {
    return (
      <>
        <Cell className="text-muted">No role yet: sees nothing</Cell>
        <Cell />
        <Cell />
      </>
    );
  }
  return (
    <>
      <Cell>{scopeWords(grant)}</Cell>
      <Cell className="text-muted">{actorWords(grant.grantedBy)}</Cell>
      <Cell align="right" className="text-muted">
        {grant.expiresAt === null ? "No end" : <Timestamp iso={grant.expiresAt} plain />}
      </Cell>
    </>
  );
}

function TakeButton({ person, grant, own, onTake }: LineProps & { grant: PersonGrant }) {
  const isOwn = person.email === own;
  return (
    <Button
      variant="quiet"
      disabled={isOwn}
      label={
        isOwn
          ? "Revoke: another administrator must take your own grants"
          : `Revoke ${scopeWords(grant)} of ${person.name}`
      }
      onClick={() => onTake(person, grant)}
    >
      Revoke
    </Button>
  );
}

function AbleButton({
  person,
  own,
  onSetAble,
}: Pick<PeopleTableProps, "own" | "onSetAble"> & { person: Person }) {
  const word = person.disabled ? "Enable" : "Disable";
  const isOwn = person.email === own;
  return (
    <Button
      variant="quiet"
      disabled={isOwn}
      label={isOwn ? "Disable: another administrator must do this to you" : `${word} ${person.name}`}
      onClick={() => onSetAble(person)}
    >
      {word}
    </Button>
  );
}
