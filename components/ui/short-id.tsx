/** A public id, shortened for the eye; the whole of it is in its title, in the copy button and for screen readers. */
import { CopyButton } from "./copy-button.tsx";

const HEAD_CHARS = 10;
const TAIL_CHARS = 6;

export interface ShortIdProps {
  id: string;
  /** Names the kind for the copy button: "delivery id". */
  what: string;
}

/** "dlv_01a22d…976f0e". The tail is what tells ids of one moment apart. */
export function ShortId({ id }: Pick<ShortIdProps, "id">) {
  return (
    <span className="font-mono" title={id}>
      <span aria-hidden="true">
        {id.slice(0, HEAD_CHARS)}…{id.slice(-TAIL_CHARS)}
      </span>
      <span className="sr-only">{id}</span>
    </span>
  );
}

/** A copy button that stays out of the way until its row is pointed at or has the focus. */
export function QuietCopy({ id, what }: ShortIdProps) {
  return (
    <span className="opacity-0 focus-within:opacity-100 group-hover:opacity-100 max-md:opacity-100">
      <CopyButton text={id} what={what} />
    </span>
  );
}
