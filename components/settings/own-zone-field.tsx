"use client";
/** Any IANA zone by its name. Browsers list one name of each zone, so that others of it can be typed too. */
import { type FormEvent, useId, useState, useSyncExternalStore } from "react";
import { Button } from "#components/ui/button.tsx";
import { INPUT } from "#components/ui/field.tsx";
import { isTimeZone } from "#components/ui/format.ts";
import { setPreference, usePreference } from "#components/ui/preferences.ts";

const MAX_CHARS = 60;
const never = () => () => {};

/** Empty means the browser's own. */
export function OwnZoneField() {
  const own = usePreference("ownZone");
  // The key takes over what another tab chose.
  return <Field key={own} own={own} />;
}

function Field({ own }: { own: string }) {
  const id = useId();
  const [text, setText] = useState(own === "local" ? "" : own);
  const [wrong, setWrong] = useState(false);
  const browser = useSyncExternalStore(never, browserZone, () => "");

  function submit(event: FormEvent) {
    event.preventDefault();
    const zone = text.trim();
    setWrong(zone !== "" && !isTimeZone(zone));
    if (zone === "") setPreference("ownZone", "local");
    else if (isTimeZone(zone)) setPreference("ownZone", zone);
  }

  return (
    <form onSubmit={submit} className="grid gap-1">
      <span className="flex items-center gap-2 max-sm:flex-wrap">
        <input
          aria-label="My zone"
          aria-invalid={wrong ? true : undefined}
          aria-describedby={`${id}-says`}
          list={`${id}-zones`}
          value={text}
          maxLength={MAX_CHARS}
          placeholder={browser === "" ? "The browser's own" : `${browser}, the browser's own`}
          autoComplete="off"
          spellCheck={false}
          onChange={(event) => setText(event.target.value)}
          className={`${INPUT} h-8 max-w-64 max-md:h-11`}
        />
        <datalist id={`${id}-zones`}>
          {zoneNames(browser !== "").map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <button
          type="submit"
          className="h-8 rounded-md border border-line-strong bg-surface px-2.5 font-medium text-table hover:bg-hover max-md:h-11"
        >
          Use
        </button>
        {own === "local" ? null : (
          <Button variant="quiet" onClick={() => setPreference("ownZone", "local")}>
            Use the browser's own
          </Button>
        )}
      </span>
      <span id={`${id}-says`} aria-live="polite" className="text-danger text-table empty:hidden">
        {wrong ? "No zone has this name. Names look like Asia/Kolkata or Europe/Berlin." : ""}
      </span>
    </form>
  );
}

function browserZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** The server lists none: its names and the browser's may differ. */
function zoneNames(alive: boolean): string[] {
  return alive ? Intl.supportedValuesOf("timeZone") : [];
}
