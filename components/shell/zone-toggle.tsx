"use client";
/** Switches every time on the page between UTC and the browser's zone. */
import { Clock } from "lucide-react";
import { useSyncExternalStore } from "react";
import { Button } from "#components/ui/button.tsx";
import { zoneName } from "#components/ui/format.ts";
import { setZone, useZone } from "#components/ui/zone.tsx";

const never = () => () => {};

function browserZone(): string {
  return zoneName("local", new Date().toISOString());
}

/** Shows the zone in force; UTC until a person chooses otherwise. */
export function ZoneToggle() {
  const zone = useZone();
  const local = useSyncExternalStore(never, browserZone, () => "local");
  const shown = zone === "utc" ? "UTC" : local;
  const other = zone === "utc" ? local : "UTC";
  return (
    <Button
      variant="quiet"
      label={`Times are in ${shown}. Change to ${other}`}
      onClick={() => setZone(zone === "utc" ? "local" : "utc")}
    >
      <Clock aria-hidden="true" className="size-3.5" />
      {shown}
    </Button>
  );
}
